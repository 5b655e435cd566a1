package driver

import (
	"time"

	"tpccbench/tpcc"
	"tpccbench/tpcc/consistency"
)

// MaxFailures is the number of failures that a Result describes; it counts all of them.
const MaxFailures = 20

// Result is what a run measured. Figures are those of the measured window unless they say otherwise.
type Result struct {
	Terminals   int   `json:"terminals"`
	MeasuredNS  int64 `json:"measured_ns"` // length of the window
	Interrupted bool  `json:"interrupted"` // ctx was cancelled before the window's end

	Types   [tpcc.NumTypes]TypeResult `json:"types"`             // by tpcc.Type
	Latency *Latency                  `json:"latency,omitempty"` // of all types together; nil if none completed
	// OpenLoop is what only an open loop has; nil in a closed one.
	OpenLoop *OpenLoop `json:"open_loop,omitempty"`

	// SkippedDeliveries is the number of districts in which a Delivery found no new order (clause 2.7.4.2).
	SkippedDeliveries int64 `json:"skipped_deliveries"`

	// Seconds is the series, second by second from the window's start; the last one may be less than a whole second.
	// Its sums are the totals.
	Seconds []Second `json:"seconds"`

	// FailuresOfRun counts the failed transactions of the whole run: the warm-up and what was in flight at the end
	// too. Failures describes the first MaxFailures of them. TerminalsEnded counts the terminals that ended
	// early because of one.
	FailuresOfRun  int64     `json:"failures_of_run"`
	Failures       []Failure `json:"failures,omitempty"`
	TerminalsEnded int       `json:"terminals_ended"`
	// DeviceFull: a transaction of the whole run, described or not, failed because the device was full.
	DeviceFull bool `json:"device_full"`

	// TerminalAttempts is, by terminal, the number of transactions that it ran in the whole run: with them,
	// tpcc.DigestOfRun gives the digest of any run's inputs. Of a terminal that is stuck, the last one is not in it.
	TerminalAttempts []int64 `json:"terminal_attempts"`
	// InputDigest is tpcc.DigestOfRun of a run of StopAfter transactions; else empty.
	InputDigest string `json:"input_digest,omitempty"`

	// StartHookLateNS and EndHookLateNS say how long after the window's edge OnMeasureStart and OnMeasureEnd were called.
	StartHookLateNS int64 `json:"start_hook_late_ns"`
	EndHookLateNS   int64 `json:"end_hook_late_ns"`

	latencies []*distribution // of each of Seconds

	// Ledger is what was acknowledged in the whole run; nil after ErrStuck.
	Ledger *consistency.Ledger `json:"-"`
}

// Counts counts transactions by what became of them: Attempts = Commits + Rollbacks + Failures.
type Counts struct {
	Attempts  int64 `json:"attempts"`
	Commits   int64 `json:"commits"`
	Rollbacks int64 `json:"rollbacks"` // those that the specification wants (clause 2.4.1.4)
	Failures  int64 `json:"failures"`
}

// Completed is the number of transactions that succeeded: commits, and rollbacks by specification.
func (c Counts) Completed() int64 { return c.Commits + c.Rollbacks }

// TypeResult is the figures of one transaction type.
type TypeResult struct {
	Type string `json:"type"` // its name, as tpcc.Type prints it
	Counts
	Latency *Latency `json:"latency,omitempty"` // of the completed ones; nil if there are none
}

// OpenLoop is what only an open loop has, of the measured window. Times are those of completed transactions of all
// types together, percentiles up to 3.1 % too long; 0 if there are none.
type OpenLoop struct {
	RateTxPerS float64  `json:"rate_tx_per_s"` // that was asked for
	Arrivals   Arrivals `json:"arrivals"`
	Due        int64    `json:"due"` // transactions whose intended start is in the window
	// The backlog is the number of transactions that are due while no terminal is free.
	BacklogMax int64 `json:"backlog_max"`
	BacklogEnd int64 `json:"backlog_end"`
	// The service time is from the call to the durable answer, without the wait before it.
	ServiceP50NS int64 `json:"service_ns_p50"`
	ServiceP99NS int64 `json:"service_ns_p99"`
	// Early counts the transactions that a terminal was waiting for; StartLate is how long after their intended start
	// they were begun: the driver's own imprecision, and that of the scheduler under it. It is in their latency.
	Early          int64 `json:"early"`
	StartLateP99NS int64 `json:"start_late_ns_p99"`
	StartLateMaxNS int64 `json:"start_late_ns_max"`
}

// KeptUp reports whether the engine kept up with the schedule of an open loop: all but 1 % of what was due in the window
// had ended in it, or as many as the terminals may have in flight. A closed loop has no schedule, and keeps up.
func (r *Result) KeptUp() bool {
	o := r.OpenLoop
	return o == nil || o.Due-r.Totals().Attempts <= max(o.Due/100, int64(r.Terminals))
}

// OfferedPerSecond is the rate of transactions whose intended start is in the window; 0 in a closed loop, or if nothing
// was measured.
func (r *Result) OfferedPerSecond() float64 {
	if r.OpenLoop == nil {
		return 0
	}
	return r.perSecond(r.OpenLoop.Due)
}

// Latency describes the latencies of completed transactions, in ns, from the call, or in an open loop from the intended
// start, to the durable answer. P50NS <= P90NS <= P99NS <= P999NS <= MaxNS. The percentiles have three significant digits, the maximum is
// exact.
type Latency struct {
	P50NS  int64 `json:"latency_ns_p50"`
	P90NS  int64 `json:"latency_ns_p90"`
	P99NS  int64 `json:"latency_ns_p99"`
	P999NS int64 `json:"latency_ns_p999"`
	MaxNS  int64 `json:"latency_ns_max"`
	// HistogramV2 is the HdrHistogram, ns, in its V2 compressed encoding in base64, which all its libraries read. A
	// latency above 100 s is in it as 100 s.
	HistogramV2 string `json:"histogram_v2"`
}

// Second is one second of the series: the transactions that ended in it.
type Second struct {
	Transactions int64                `json:"transactions"` // completed
	ByType       [tpcc.NumTypes]int64 `json:"by_type"`      // of Transactions, by tpcc.Type
	Failures     int64                `json:"failures"`
	P99LatencyNS int64                `json:"latency_ns_p99"` // of Transactions, up to 3.1 % too long; 0 if there are none
	MaxLatencyNS int64                `json:"latency_ns_max"` // of Transactions
	// Of an open loop: the most transactions that were due while no terminal was free, and how many at the second's end.
	BacklogMax int64 `json:"backlog_max,omitempty"`
	BacklogEnd int64 `json:"backlog_end,omitempty"`
}

// Failure describes a failed transaction.
type Failure struct {
	Terminal int    `json:"terminal"`
	Number   int64  `json:"number"` // of its input in the terminal's stream, from 0
	Type     string `json:"type"`
	AtNS     int64  `json:"at_ns"` // since the window's start; negative in the warm-up
	Error    string `json:"error"` // of a panic: its value, and the stack on the lines after it
	// DeviceFull: the operating system gave no room (ENOSPC, EDQUOT, EFBIG). That says nothing of the engine.
	DeviceFull bool `json:"device_full"`
	// EndedTerminal: the terminal stopped with it, because the engine has failed, does not know the outcome, or
	// panicked, or because too many transactions in a row have failed.
	EndedTerminal bool `json:"ended_terminal"`
}

// P99LatencyNS is the 99th percentile of the latencies of all completed transactions that ended in the seconds that are
// chosen, by index in Seconds, up to 3.1 % too long, and their number; 0 if there are none. What it is computed from is
// not in JSON.
func (r *Result) P99LatencyNS(chosen func(second int) bool) (ns, transactions int64) {
	var latencies []*distribution
	var longest int64
	for i, d := range r.latencies {
		if chosen(i) {
			latencies = append(latencies, d)
			longest = max(longest, r.Seconds[i].MaxLatencyNS)
		}
	}
	ns, transactions = percentile(99, latencies)
	return min(ns, longest), transactions
}

// Measured is the length of the window.
func (r *Result) Measured() time.Duration { return time.Duration(r.MeasuredNS) }

// Totals is the counts of all types together.
func (r *Result) Totals() Counts {
	var sum Counts
	for i := range r.Types {
		c := r.Types[i].Counts
		sum.Attempts += c.Attempts
		sum.Commits += c.Commits
		sum.Rollbacks += c.Rollbacks
		sum.Failures += c.Failures
	}
	return sum
}

// TransactionsPerSecond is the rate of completed transactions; 0 if nothing was measured.
func (r *Result) TransactionsPerSecond() float64 { return r.perSecond(r.Totals().Completed()) }

// NewOrdersPerMinute is the rate of completed New-Orders (nopm), rollbacks by specification included; 0 if nothing was
// measured. It is not a tpmC.
func (r *Result) NewOrdersPerMinute() float64 {
	return 60 * r.perSecond(r.Types[tpcc.TxNewOrder].Completed())
}

func (r *Result) perSecond(n int64) float64 {
	if r.MeasuredNS == 0 {
		return 0
	}
	return float64(n) / r.Measured().Seconds()
}
