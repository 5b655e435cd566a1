package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tpccbench/matrix"
	"tpccbench/report/stats"
)

// Outcome of a decision, of one of its conditions, or of one figure of a condition.
type Outcome string

// Outcomes.
const (
	Holds        Outcome = "holds"
	HoldsNot     Outcome = "does not hold"
	CannotDecide Outcome = "cannot decide"
)

// Verdict is what a decision of the plan came to.
type Verdict struct {
	Decision   *matrix.Decision
	Outcome    Outcome  // Holds: all conditions hold
	Sentence   string   // the plan's, for the outcome; empty if it is CannotDecide
	Reasons    []string // why it is CannotDecide
	Conditions []ConditionVerdict
	Quoted     []Quote // the plan's report columns, of each cell of the conditions
	// Times says, of each report column and each two cells that a condition compares by their ratio, how many times the
	// one is the other within a round: the one with the greater median over the other. The compared column itself is
	// left out.
	Times []Quote
}

// ConditionVerdict is what one condition came to.
type ConditionVerdict struct {
	Condition *matrix.Condition
	Outcome   Outcome
	Evidence  []Evidence // one per cell of the condition, in its order
}

// Evidence is the statistic of one cell, or of one cell over another, with all figures that went into it.
type Evidence struct {
	Cell    string
	Over    string // of a ratio; else empty
	Sample  Sample
	Summary stats.Summary
	// Band is that of the statistic's column on the cell's device; nil if no A/A pair tells. Low and High are the range of
	// the rounds, widened by it both ways.
	Band      *Band
	Low, High float64
	Outcome   Outcome
	Reason    string // why it is CannotDecide
	// NoDifference: a ratio whose median is inside the band, as that of identical things may be.
	NoDifference bool
}

// Quote is a column of a cell, or of one cell over another, that the plan wants quoted with the decision.
type Quote struct {
	Column  string
	Cell    string
	Over    string // of Verdict.Times; else empty
	Sample  Sample
	Summary stats.Summary
}

// Undecided lists the verdicts that are CannotDecide.
func (s *Study) Undecided() []*Verdict {
	var open []*Verdict
	for i := range s.Verdicts {
		if s.Verdicts[i].Outcome == CannotDecide {
			open = append(open, &s.Verdicts[i])
		}
	}
	return open
}

// decide evaluates the plan's decisions by the rule in the package's comment.
func (s *Study) decide() {
	for i := range s.Plan.Decisions {
		s.Verdicts = append(s.Verdicts, s.verdict(&s.Plan.Decisions[i]))
	}
}

func (s *Study) verdict(d *matrix.Decision) Verdict {
	v := Verdict{Decision: d}
	var outcomes []Outcome
	for i := range d.Conditions {
		v.Conditions = append(v.Conditions, s.condition(&d.Conditions[i]))
		outcomes = append(outcomes, v.Conditions[i].Outcome)
	}
	if s.invalid != "" {
		v.Reasons = append(v.Reasons, s.invalid)
	}
	v.Reasons = append(v.Reasons, v.lacking()...)
	v.Reasons = append(v.Reasons, v.short()...)
	v.Outcome = all(outcomes)
	if v.Outcome == CannotDecide && len(v.Reasons) == 0 {
		v.Reasons = v.noisy()
	}
	switch {
	case len(v.Reasons) > 0:
		v.Outcome = CannotDecide
	case v.Outcome == Holds:
		v.Sentence = d.IfTrue
	default:
		v.Sentence = d.IfFalse
	}
	v.Quoted, v.Times = s.quotes(d), s.times(d)
	return v
}

// lacking says which rounds of which cells have no result, one reason per cell and cause.
func (v *Verdict) lacking() []string {
	rounds := map[string][]int{} // by "CELL: CAUSE"
	var order []string
	for _, c := range v.Conditions {
		for _, e := range c.Evidence {
			for _, l := range e.Sample.Lacking {
				text := l.Reason
				if e.Over == "" {
					text = e.Cell + ": " + text
				}
				if rounds[text] == nil {
					order = append(order, text)
				}
				if !slices.Contains(rounds[text], l.Round) {
					rounds[text] = append(rounds[text], l.Round)
				}
			}
		}
	}
	var reasons []string
	for _, text := range order {
		cell, cause, _ := strings.Cut(text, ": ")
		reasons = append(reasons, fmt.Sprintf("%s, %s: %s", cell, roundsText(rounds[text]), cause))
	}
	return reasons
}

// short says which cells have fewer rounds than the decision wants, one reason per number of rounds.
func (v *Verdict) short() []string {
	cells := map[int][]string{} // by number of rounds
	for _, c := range v.Conditions {
		for _, e := range c.Evidence {
			if n := len(e.Sample.Rounds) + len(e.Sample.Lacking); n < v.Decision.MinRounds {
				cells[n] = append(cells[n], e.name())
			}
		}
	}
	var reasons []string
	for _, n := range slices.Sorted(maps.Keys(cells)) {
		verb := "has"
		if len(cells[n]) > 1 {
			verb = "have"
		}
		reasons = append(reasons, fmt.Sprintf("%s %s %s, and the plan wants %d at least", someOf(cells[n]), verb, counted(n, "round"), v.Decision.MinRounds))
	}
	return reasons
}

// noisy says for which cells, of the conditions that hang on them, the noise exceeds the effect.
func (v *Verdict) noisy() []string {
	var reasons []string
	for _, c := range v.Conditions {
		for _, e := range c.Evidence {
			if c.Outcome == CannotDecide && e.Outcome == CannotDecide {
				reasons = append(reasons, e.name()+": "+e.Reason)
			}
		}
	}
	return reasons
}

// name is the cell, or CELL over CELL.
func (e *Evidence) name() string {
	if e.Over == "" {
		return e.Cell
	}
	return e.Cell + " over " + e.Over
}

func (s *Study) condition(c *matrix.Condition) ConditionVerdict {
	v := ConditionVerdict{Condition: c}
	var outcomes []Outcome
	for i := range c.Cells {
		e := s.evidence(c, i)
		v.Evidence = append(v.Evidence, e)
		outcomes = append(outcomes, e.Outcome)
	}
	if c.HoldsFor == "any" {
		v.Outcome = some(outcomes)
	} else {
		v.Outcome = all(outcomes)
	}
	return v
}

// evidence evaluates the condition's statistic for its i-th cell.
func (s *Study) evidence(c *matrix.Condition, i int) Evidence {
	e := Evidence{Cell: c.Cells[i]}
	cell, _ := s.Cell(e.Cell)
	var band Band
	var known bool
	switch c.Statistic {
	case matrix.StatisticRatio:
		e.Over = c.OverCells[i]
		over, _ := s.Cell(e.Over)
		e.Sample = Ratios(c.Column, cell, over)
		band, known = s.widest(c.Column, cell.Device, over.Device)
	case matrix.StatisticQuotient:
		e.Sample = cell.Quotients(c.Column, c.OverColumn)
		band, known = s.quotientBand(cell.Device, c.Column, c.OverColumn)
	default:
		e.Sample = cell.Values(c.Column)
		band, known = s.Band(cell.Device, c.Column)
	}
	e.Summary = e.Sample.Summary()
	if known {
		e.Band = &band
	}
	if e.Summary.N == 0 {
		e.Outcome, e.Reason = CannotDecide, "no round has a result"
		return e
	}
	e.Low, e.High = e.Summary.Min/band.Factor, e.Summary.Max*band.Factor
	e.NoDifference = known && c.Statistic == matrix.StatisticRatio && band.Contains(e.Summary.Median)
	low, high := compares(c, e.Low), compares(c, e.High)
	switch {
	case low != high:
		e.Outcome = CannotDecide
		e.Reason = fmt.Sprintf("noise exceeds the effect: the threshold %s lies within %s to %s, %s",
			number(c.Threshold), three(e.Low), three(e.High), e.rangeWords())
	case low:
		e.Outcome = Holds
	default:
		e.Outcome = HoldsNot
	}
	return e
}

func (e *Evidence) rangeWords() string {
	text := "the range of " + counted(e.Summary.N, "round")
	if e.Band != nil {
		text += fmt.Sprintf(" widened by the A/A band (x%.3f)", e.Band.Factor)
	}
	return text
}

// widest is the wider of the column's bands on two devices; ok only if both are known.
func (s *Study) widest(column, device, other string) (Band, bool) {
	a, okA := s.Band(device, column)
	b, okB := s.Band(other, column)
	if !okA || !okB {
		return Band{Factor: 1}, false
	}
	if b.Factor > a.Factor {
		return b, true
	}
	return a, true
}

// compares reports whether the condition holds for the value. It is monotonic in the value.
func compares(c *matrix.Condition, value float64) bool {
	switch c.Comparison {
	case "at_most":
		return value <= c.Threshold
	case "at_least":
		return value >= c.Threshold
	case "below":
		return value < c.Threshold
	case "above":
		return value > c.Threshold
	}
	panic("report: comparison " + strconv.Quote(c.Comparison)) // matrix.Parse lets no other through
}

// all is the outcome of "all hold": one that does not hold decides, whatever the undecided ones are.
func all(outcomes []Outcome) Outcome {
	switch {
	case slices.Contains(outcomes, HoldsNot):
		return HoldsNot
	case slices.Contains(outcomes, CannotDecide):
		return CannotDecide
	}
	return Holds
}

// some is the outcome of "one holds": one that holds decides, whatever the undecided ones are.
func some(outcomes []Outcome) Outcome {
	switch {
	case slices.Contains(outcomes, Holds):
		return Holds
	case slices.Contains(outcomes, CannotDecide):
		return CannotDecide
	}
	return HoldsNot
}

// quotes lists the decision's report columns for each cell of its conditions, column by column.
func (s *Study) quotes(d *matrix.Decision) []Quote {
	var cells []string
	for _, c := range d.Conditions {
		for i := range c.Cells {
			cells = append(cells, c.Cells[i])
			if c.OverCells != nil {
				cells = append(cells, c.OverCells[i])
			}
		}
	}
	var quotes []Quote
	seen := map[string]bool{}
	for _, column := range d.Report {
		clear(seen)
		for _, name := range cells {
			if seen[name] {
				continue
			}
			seen[name] = true
			cell, _ := s.Cell(name)
			sample := cell.Values(column)
			quotes = append(quotes, Quote{Column: column, Cell: name, Sample: sample, Summary: sample.Summary()})
		}
	}
	return quotes
}

// times lists the ratios of the decision's report columns, column by column, for the cells that its conditions compare.
// One that no round has, as where nothing was written, is left out.
func (s *Study) times(d *matrix.Decision) []Quote {
	var quotes []Quote
	for _, column := range d.Report {
		for _, c := range d.Conditions {
			if column == c.Column {
				continue // it is the evidence
			}
			for i, name := range c.OverCells {
				a, _ := s.Cell(c.Cells[i])
				b, _ := s.Cell(name)
				sample := Ratios(column, a, b)
				if sum := sample.Summary(); sum.N > 0 && sum.Median < 1 {
					a, b = b, a
					sample = Ratios(column, a, b)
				}
				if sum := sample.Summary(); sum.N > 0 {
					quotes = append(quotes, Quote{column, a.Name, b.Name, sample, sum})
				}
			}
		}
	}
	return quotes
}
