package report

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"tpccbench/matrix"
	"tpccbench/record"
	"tpccbench/report/stats"
)

// Cell is a cell of the matrix with its runs.
type Cell struct {
	Name          string // DEVICE-wW-LABEL-TERMINALS, followed by -LOAD if there is one
	Label         string // row of the matrix, followed by -LOAD: see RowName
	Load          string // rate and transport as in matrix.Run.Load; empty: a closed loop in-process
	Engine        string
	Settings      map[string]string // that the plan and its tuning give to the engine; nil if nothing could be chosen
	Device        string
	Kind          string // matrix.KindMemory or matrix.KindDisk
	W             int
	Terminals     int
	Seconds       float64
	WarmUpSeconds float64
	Rounds        []Round // one per round of the plan, in order
}

// RowName names a row of the matrix with how transactions come to it, since rows of one label may differ in that alone:
// pure-rate500-http. load may be empty.
func RowName(label, load string) string {
	if load == "" {
		return label
	}
	return label + "-" + load
}

// Round is what a cell has of one round.
type Round struct {
	Number int         // from 1
	Run    *record.Run // nil if there is no record
	Lacks  string      // why Run is no result; empty: it is one
}

// Cell returns the matrix's cell of that name.
func (s *Study) Cell(name string) (*Cell, bool) {
	for _, c := range s.Cells {
		if c.Name == name {
			return c, true
		}
	}
	return nil, false
}

// Results lists the cell's runs that are results, in the order of the rounds.
func (c *Cell) Results() []*record.Run {
	var runs []*record.Run
	for _, r := range c.Rounds {
		if r.Lacks == "" {
			runs = append(runs, r.Run)
		}
	}
	return runs
}

// Sample is a figure of a cell, or of two cells, by round.
type Sample struct {
	Rounds  []int     // that have it, ascending
	Values  []float64 // of Rounds
	Lacking []Lack    // the other rounds of the plan
}

// Lack says why a round has no figure.
type Lack struct {
	Round  int    `json:"round"`
	Reason string `json:"reason"`
}

// Summary is the sample's median, range and, from stats.MinInterval rounds on, interval.
func (s Sample) Summary() stats.Summary { return stats.Summarize(s.Values) }

// Drift is the change from the first to the last round as a share of the mean; NaN with fewer than three rounds.
func (s Sample) Drift() float64 {
	rounds := make([]float64, len(s.Rounds))
	for i, r := range s.Rounds {
		rounds[i] = float64(r)
	}
	return stats.Drift(rounds, s.Values)
}

func (s *Sample) add(round int, v float64, lacks string) {
	if lacks != "" {
		s.Lacking = append(s.Lacking, Lack{round, lacks})
		return
	}
	s.Rounds = append(s.Rounds, round)
	s.Values = append(s.Values, v)
}

// figure is the column of the round's run; lacks says why there is none.
func (r *Round) figure(column string) (v float64, lacks string) {
	if r.Lacks != "" {
		return 0, r.Lacks
	}
	if v, ok := r.Run.Figures[column]; ok {
		return v, ""
	}
	if reason := r.Run.Missing[column]; reason != "" {
		return 0, fmt.Sprintf("%s was not measured: %s", column, reason)
	}
	return 0, column + " is not in the record"
}

// Values is the column by round.
func (c *Cell) Values(column string) Sample {
	var s Sample
	for i := range c.Rounds {
		v, lacks := c.Rounds[i].figure(column)
		s.add(c.Rounds[i].Number, v, lacks)
	}
	return s
}

// Quotients is column / over of the same run, by round.
func (c *Cell) Quotients(column, over string) Sample {
	var s Sample
	for i := range c.Rounds {
		r := &c.Rounds[i]
		x, lacks := r.figure(column)
		y, lacksOver := r.figure(over)
		s.add(r.Number, x/y, firstOf(lacks, lacksOver, undefined(x, y)))
	}
	return s
}

// Ratios is the column of cell / that of over in the same round, by round of cell. The reason why a round has none
// begins with the name of the cell that lacks it and a colon.
func Ratios(column string, cell, over *Cell) Sample {
	var s Sample
	for i := range cell.Rounds {
		r := &cell.Rounds[i]
		x, lacks := r.figure(column)
		y, lacksOver := 0.0, "the plan has no such round"
		if i < len(over.Rounds) {
			y, lacksOver = over.Rounds[i].figure(column)
		}
		no := undefined(x, y)
		for _, reason := range []struct {
			text *string
			of   string
		}{{&lacks, cell.Name}, {&lacksOver, over.Name}, {&no, cell.Name + " over " + over.Name}} {
			if *reason.text != "" {
				*reason.text = reason.of + ": " + *reason.text
			}
		}
		s.add(r.Number, x/y, firstOf(lacks, lacksOver, no))
	}
	return s
}

// Level is how a round of a device was, relative to the others: the median over the cells of the matrix there of the
// figure divided by the cell's own median. Only cells that have the figure in every round count, lest a round's level
// depend on which cells it has.
func (s *Study) Level(device, column string) Sample {
	byRound := map[int][]float64{}
	for _, c := range s.Cells {
		if c.Device != device {
			continue
		}
		sample := c.Values(column)
		median := sample.Summary().Median
		if len(sample.Lacking) > 0 || median == 0 {
			continue
		}
		for i, round := range sample.Rounds {
			byRound[round] = append(byRound[round], sample.Values[i]/median)
		}
	}
	var level Sample
	for _, round := range slices.Sorted(maps.Keys(byRound)) {
		level.add(round, stats.Summarize(byRound[round]).Median, "")
	}
	return level
}

// undefined says why x / y is no number, or nothing.
func undefined(x, y float64) string {
	if q := x / y; math.IsNaN(q) || math.IsInf(q, 0) {
		return fmt.Sprintf("%s / %s is no number", record.Number(x), record.Number(y))
	}
	return ""
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// chosenSettings holds what the tunings chose, by their names, for matrix.Plan.MatrixRuns; nil if a tuning could not choose, for then
// only the outline of the matrix is known.
func (s *Study) chosenSettings() map[string]map[string]string {
	chosen := map[string]map[string]string{}
	for _, t := range s.Tunings {
		if t.Choice == nil {
			return nil
		}
		chosen[t.Name] = t.Choice.Settings
	}
	return chosen
}

// fillCells sorts the runs of the matrix into the cells of the plan. chosen is what chosenSettings says.
func (s *Study) fillCells(chosen map[string]map[string]string) {
	byName := map[string]*Cell{}
	for _, run := range s.Plan.MatrixRuns(chosen) {
		c := byName[run.Cell]
		if c == nil {
			d, _ := s.Plan.Device(run.Device)
			c = &Cell{
				Name: run.Cell, Label: RowName(run.Label, run.Load), Load: run.Load, Engine: run.Engine, Device: run.Device, Kind: run.Kind, W: run.W,
				Terminals: run.Terminals, Seconds: run.Seconds, WarmUpSeconds: run.WarmUpSeconds, Rounds: make([]Round, d.Rounds),
			}
			if chosen != nil {
				c.Settings = run.Settings
			}
			byName[run.Cell] = c
		}
		c.Rounds[run.Round-1] = s.round(&run)
	}
	for _, name := range s.Plan.CellNames() {
		s.Cells = append(s.Cells, byName[name])
	}
}

func (s *Study) round(run *matrix.Run) Round {
	rec, _ := s.Run(run.ID())
	return Round{Number: run.Round, Run: rec, Lacks: s.Excluded(run.ID())}
}
