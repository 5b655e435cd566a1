package record

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tpccbench/tpcc"
)

// Spec says what to run; the same Spec gives the same inputs.
type Spec struct {
	Engine    string            `json:"engine"`
	Settings  map[string]string `json:"settings"`
	Device    string            `json:"device"`      // its name in the plan
	Kind      string            `json:"device_kind"` // KindMemory or KindDisk
	W         int               `json:"w"`
	Terminals int               `json:"terminals"`
	Transport string            `json:"transport"` // TransportInProcess or TransportHTTP
	Seed      uint64            `json:"seed"`      // of the population, the terminals' streams and the arrivals
	Mix       []int             `json:"mix"`       // weights in the order of tpcc.Types
	Seconds   float64           `json:"seconds"`   // of the measured window; 0 with Transactions
	WarmUp    float64           `json:"warm_up_seconds"`
	// Transactions, if not 0, ends the run after that many transactions instead of after Seconds.
	Transactions int64 `json:"transactions,omitempty"`
	// RateTxPerS, if not 0, makes the loop an open one: so many transactions/s over all terminals have an intended start,
	// by Arrivals. 0: a closed loop, without Arrivals.
	RateTxPerS float64 `json:"rate_tx_per_s,omitempty"`
	Arrivals   string  `json:"arrivals,omitempty"` // ArrivalsFixed or ArrivalsPoisson
	// CPUs and LoadCPUs are the processors of the server and of the process with the terminals, as ParseCPUs reads them;
	// empty: all. Only where these are two processes, which is not so with TransportInProcess.
	CPUs     string `json:"cpus,omitempty"`
	LoadCPUs string `json:"load_cpus,omitempty"`
}

// Kinds of device.
const (
	KindMemory = "memory" // tmpfs or ramfs
	KindDisk   = "disk"   // a file system on a block device
)

// Values of Spec.Transport: what is between terminals and engine.
const (
	TransportInProcess = "in-process" // a call
	TransportHTTP      = "http"       // HTTP/1.1 and JSON to a server process
	inproc             = "inproc"     // what versions 1 and 2 call TransportInProcess
)

// Values of Spec.Arrivals.
const (
	ArrivalsFixed   = "fixed"   // evenly spaced
	ArrivalsPoisson = "poisson" // independent of each other
)

// Bounds of Spec.RateTxPerS; beyond them lies a slip of the pen.
const (
	MinRate = 0.001
	MaxRate = 10_000_000
)

// maxCPU bounds the numbers in a list of processors.
const maxCPU = 4095

// InProcess reports whether terminals and engine are one process.
func (s *Spec) InProcess() bool { return s.Transport == TransportInProcess || s.Transport == inproc }

// Validate says what no run can have been made with, or nil. Whether the engine and its settings are there is not
// looked at.
func (s *Spec) Validate() error {
	switch {
	case s.Engine == "" || s.Device == "":
		return fmt.Errorf("engine %q, device %q: each must be given", s.Engine, s.Device)
	case s.Kind != KindMemory && s.Kind != KindDisk:
		return fmt.Errorf("device_kind is %q; it must be %q or %q", s.Kind, KindMemory, KindDisk)
	case s.W < 1 || s.Terminals < 1:
		return fmt.Errorf("w is %d, terminals is %d; each must be at least 1", s.W, s.Terminals)
	case s.Transactions < 0 || s.Seconds < 0 || s.WarmUp < 0:
		return fmt.Errorf("transactions is %d, seconds is %v, warm_up_seconds is %v; none may be negative", s.Transactions, s.Seconds, s.WarmUp)
	case (s.Transactions == 0) == (s.Seconds == 0):
		return fmt.Errorf("transactions is %d, seconds is %v; one of them must say the length", s.Transactions, s.Seconds)
	}
	if err := s.validateLoad(); err != nil {
		return err
	}
	if len(s.Mix) != tpcc.NumTypes {
		return fmt.Errorf("mix has %d weights, not %d", len(s.Mix), tpcc.NumTypes)
	}
	return tpcc.Weights(s.Mix).Validate()
}

// validateLoad says what is wrong with how transactions come to the engine, or nil.
func (s *Spec) validateLoad() error {
	if err := ValidateRate(s.RateTxPerS, s.Arrivals); err != nil {
		return err
	}
	if !s.InProcess() && s.Transport != TransportHTTP {
		return fmt.Errorf("transport is %q; it must be %q or %q", s.Transport, TransportInProcess, TransportHTTP)
	}
	for _, c := range []struct{ name, list string }{{"cpus", s.CPUs}, {"load_cpus", s.LoadCPUs}} {
		if c.list == "" {
			continue
		}
		if _, err := ParseCPUs(c.list); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if s.InProcess() {
			return fmt.Errorf("%s is %q, and the transport %q: terminals and engine are one process there; taskset chooses its processors",
				c.name, c.list, s.Transport)
		}
	}
	return nil
}

// ValidateRate says what is wrong with the rate and arrivals of a loop, or nil.
func ValidateRate(rateTxPerS float64, arrivals string) error {
	switch {
	case rateTxPerS == 0 && arrivals == "":
		return nil
	case rateTxPerS == 0:
		return fmt.Errorf("arrivals is %q without a rate; a closed loop has none", arrivals)
	case !(rateTxPerS >= MinRate && rateTxPerS <= MaxRate):
		return fmt.Errorf("the rate is %v transactions/s; it must be %v..%d", rateTxPerS, MinRate, MaxRate)
	case arrivals != ArrivalsFixed && arrivals != ArrivalsPoisson:
		return fmt.Errorf("arrivals is %q; it must be %q or %q", arrivals, ArrivalsFixed, ArrivalsPoisson)
	}
	return nil
}

// ParseCPUs reads a list of processors as taskset has it: numbers and ranges from 0, separated by commas, such as 0-1,3.
// It returns them in ascending order. A list that is empty, names one twice or is of another form is an error.
func ParseCPUs(list string) ([]int, error) {
	var cpus []int
	for part := range strings.SplitSeq(list, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		from, to := cpu(low), cpu(high)
		if from < 0 || to < from {
			return nil, fmt.Errorf("%q is no list of processors; it must be numbers 0..%d and ranges of them, such as 0 or 0-1,3", list, maxCPU)
		}
		for n := from; n <= to; n++ {
			if slices.Contains(cpus, n) {
				return nil, fmt.Errorf("%q names processor %d twice", list, n)
			}
			cpus = append(cpus, n)
		}
	}
	slices.Sort(cpus)
	return cpus, nil
}

// cpu is the number of a processor; -1 if the text is none.
func cpu(text string) int {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return -1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n > maxCPU {
		return -1
	}
	return n
}

// RateText is the rate of an open loop, transactions/s; empty for a closed one.
func (s *Spec) RateText() string {
	if s.RateTxPerS == 0 {
		return ""
	}
	return strconv.FormatFloat(s.RateTxPerS, 'f', -1, 64)
}

// ArrivalsText is the kind of loop: closed, or the arrivals of an open one.
func (s *Spec) ArrivalsText() string {
	if s.RateTxPerS == 0 {
		return "closed"
	}
	return s.Arrivals
}
