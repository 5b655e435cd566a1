// Package matrix is the registered plan of a study: a TOML file that says, before anything is measured, what will be
// run, in which order, how the settings of the engines are chosen, which gates a run must pass, and what will be
// decided by which rule. The package reads and checks the file, expands it into runs and applies the choice rule. It
// knows engines, settings and columns by name only; CheckNames and CheckColumns let the program that knows them say
// which exist.
//
// The parts of a plan, in the order in which they are carried out:
//
//	[[device]]    where data lies, and how long and how often each cell runs there
//	[gates]       what must hold before the timed runs (the engines' rows are equal) and after each of them
//	[[tuning]]    per device and engines: candidates of settings, the runs that compare them, and the rule that chooses one
//	[[cell]]      rows of the matrix; each is the product of its lists of terminals, w and devices; a twin_of another row
//	              is the same again under another name, an A/A pair. A row with rates is an open loop, with one more factor
//	              of the product: rates = [500, 1000] are transactions/s over all terminals, arrivals = "poisson" (that
//	              unless it says "fixed") how they follow each other. transport = "http" puts the engine into a server
//	              process; cpus = "0" and load_cpus = "1" are then the processors of the server and of the terminals
//	[[decision]]  what the result changes, by which statistic of which cells and which threshold, and from how many rounds
//
// preregistered.toml is the plan of the study that this project re-implements, quick.toml its cells for two seconds each;
// scaling.toml and long.toml are plans of their own. A plan's identity is drawn in canonical.go.
package matrix

import (
	"maps"
	"slices"
	"strings"
)

// Format and Version identify the format of a plan file.
const (
	Format  = "tpccbench.plan"
	Version = 1
)

// Kinds of device.
const (
	KindMemory = "memory" // tmpfs or ramfs
	KindDisk   = "disk"   // a file system on a block device
)

// Phases in which runs are made. They are the first part of a run's ID.
const (
	PhaseTuning = "tuning"
	PhaseMatrix = "matrix"
)

// Plan is a plan that has been read and checked. It must not be changed.
type Plan struct {
	Name      string // of the study
	Title     string
	Seed      uint64 // of the population and of the terminals' streams, the same in every run
	OrderSeed uint64 // of the order of the runs within a round
	Mix       []int  // weights of new_order, payment, order_status, delivery, stock_level
	IsQuick   bool   // key quick, or derived by Quick: for trying out, not a result
	Devices   []Device
	Gate      GateRules
	Tunings   []Tuning // at most one that applies to an engine on a device
	Rows      []Row
	Decisions []Decision

	file   string
	source []byte
	lines  map[string]int // line of each key, by its path: cell[0].engine
}

// Device is a place where data lies.
type Device struct {
	Name          string
	Kind          string  // KindMemory or KindDisk
	Seconds       float64 // length of the measured window of each run
	WarmUpSeconds float64 // before the window, not measured
	Rounds        int     // each cell runs once per round
	KeepFreeBytes int64   // that must stay free beside what a run may need
}

// GateRules say what must hold for a run to be a result.
type GateRules struct {
	// Before the timed runs, for every W among the rows: this many transactions from one seed, one after the other,
	// through each of EqualEngines on EqualDevice; every row of every table must be equal.
	EqualTransactions int64
	EqualEngines      []string
	EqualDevice       string
	// After every run: clauses 3.3.2.1 to 3.3.2.12 by number. A run that misses one is not published, be it of the
	// published gate or one that is checked too.
	PublishedClauses []int
	CheckedClauses   []int
	MaxFailures      int64 // transactions of a run that may fail
}

// Tuning says how the settings of some engines are chosen on one device.
type Tuning struct {
	Name       string `json:"-"` // the device's name if the plan gives none, which it must where a device has several
	Device     string
	W          int
	Rounds     int
	AppliesTo  []string // engines whose rows on the device get the chosen settings
	ChooseBy   string   // ChooseMeanTxPerS
	ChooseOver string   // the engine whose runs are compared
	Groups     []TuningGroup
	Candidates []Candidate

	path string
}

// ChooseMeanTxPerS is the choice rule: the eligible candidate with the highest mean of tx_per_s over the runs of
// ChooseOver is chosen; of equal ones, the first in the plan.
const ChooseMeanTxPerS = "mean_tx_per_s"

// TuningGroup is an engine, and the numbers of terminals at which each candidate is run with it.
type TuningGroup struct {
	Engine    string
	Terminals []int

	path string
}

// Candidate is a set of settings that a tuning compares.
type Candidate struct {
	Name     string
	Extends  string            // the candidate whose settings it adds to, or empty
	Own      map[string]string // settings of its own
	Settings map[string]string // all: those of Extends, overlaid with Own
	// Eligible candidates can be chosen. The others are measured and shown only.
	Eligible bool
	Engines  []string // with which it is run; all those of the tuning's groups unless it is not eligible

	path string
}

// Row is a row of the matrix: the product of Terminals, W and Devices is its cells.
type Row struct {
	Label     string // the engine's name unless the row has settings of its own
	Engine    string
	Settings  map[string]string // on top of those that the device's tuning chose for the engine
	Terminals []int
	W         []int
	Devices   []string
	// TwinOf, if not empty, is the label of another row with the same engine and settings: each cell of this one is the
	// twin of that row's cell on the same device at the same W with as many terminals, an A/A pair. What a pair's cells
	// differ by is what identical things differ by here. See Twins.
	TwinOf string `json:"-"`
	// Rates, if there are any, make the row an open loop: transactions/s over all terminals, a factor of the product.
	Rates    []int  `json:"-"`
	Arrivals string `json:"-"` // ArrivalsFixed or ArrivalsPoisson; empty in a closed loop
	// Transport is what is between terminals and engine: TransportInProcess or TransportHTTP. CPUs and LoadCPUs, of HTTP
	// only, list the processors of the server and of the terminals as taskset does; empty: all.
	Transport      string `json:"-"`
	CPUs, LoadCPUs string `json:"-"`

	path string
}

// Values of Row.Arrivals and Row.Transport.
const (
	ArrivalsFixed      = "fixed"   // evenly spaced
	ArrivalsPoisson    = "poisson" // independent of each other
	TransportInProcess = "in-process"
	TransportHTTP      = "http"
)

// Twin is an A/A pair: two cells that are the same but for their names.
type Twin struct {
	Cell string // of the row that TwinOf names
	Twin string
}

// DefaultMinRounds is the MinRounds of a decision that says nothing.
const DefaultMinRounds = 3

// Decision is what the result changes: if all of Conditions hold, IfTrue, else IfFalse. It cannot be decided, whatever the
// figures are, if a round of one of its cells has no result (the run is missing, or broke a gate) or if there are fewer
// rounds than MinRounds; nor if noise exceeds the effect where the outcome hangs on it: the rounds, widened by the factor
// that the cells of an A/A pair of the device differ by, lie on both sides of the threshold.
type Decision struct {
	Name       string
	Claim      string // what was held before the run
	Conditions []Condition
	IfTrue     string
	IfFalse    string
	Report     []string // columns that are quoted, for each of the cells, beside the outcome
	MinRounds  int      `json:"-"` // with fewer it is not decided

	path string
}

// Statistics of a Condition. Each is computed for a cell within every round; the median over the rounds is compared.
const (
	StatisticValue    = "value"    // Column
	StatisticQuotient = "quotient" // Column / OverColumn of the same run
	StatisticRatio    = "ratio"    // Column of Cells[i] / Column of OverCells[i] in the same round
)

// Condition compares a statistic of some cells with a threshold.
type Condition struct {
	Statistic  string
	Column     string
	OverColumn string   // of StatisticQuotient
	Cells      []string // names of cells
	OverCells  []string // of StatisticRatio: one for each of Cells
	HoldsFor   string   // "any": one of Cells suffices; "all"
	Comparison string   // at_most, at_least, below, above
	Threshold  float64

	path string
}

// Values of Condition.HoldsFor and Condition.Comparison.
var (
	holdsFor    = []string{"any", "all"}
	comparisons = []string{"at_most", "at_least", "below", "above"}
)

// Source is the text of the file that the plan was read from.
func (p *Plan) Source() []byte { return slices.Clone(p.source) }

// Device returns the plan's device of that name.
func (p *Plan) Device(name string) (*Device, bool) {
	i := slices.IndexFunc(p.Devices, func(d Device) bool { return d.Name == name })
	if i < 0 {
		return nil, false
	}
	return &p.Devices[i], true
}

// Tuning returns the tuning that chooses the engine's settings on the device, if there is one.
func (p *Plan) Tuning(device, engine string) (*Tuning, bool) {
	i := slices.IndexFunc(p.Tunings, func(t Tuning) bool { return t.Device == device && slices.Contains(t.AppliesTo, engine) })
	if i < 0 {
		return nil, false
	}
	return &p.Tunings[i], true
}

// overlay is base with the entries of top in place of its own; neither is changed.
func overlay(base, top map[string]string) map[string]string {
	m := make(map[string]string, len(base)+len(top))
	maps.Copy(m, base)
	maps.Copy(m, top)
	return m
}

// settingsText renders settings as name=value in name order, separated by blanks.
func settingsText(m map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, k+"="+m[k])
	}
	return strings.Join(parts, " ")
}
