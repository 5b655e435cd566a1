package page

import (
	"fmt"
	"slices"
	"strings"

	"tpccbench/matrix"
	"tpccbench/record"
	"tpccbench/report"
)

// verdict is how a decision is shown: the outcome first, then the words that the plan had for it.
type verdict struct {
	Name     string
	Outcome  string
	Class    string // decided, open
	Sentence string
	Claim    string
	Reasons  []string // why it cannot be decided: the first few
	More     []string // the others
	Tables   []table
}

// fewReasons is how many reasons are shown at once when there are many.
const fewReasons = 4

func verdicts(s *report.Study) section {
	sec := section{ID: "verdicts", Title: "Verdicts"}
	if len(s.Verdicts) == 0 {
		sec.Blocks = append(sec.Blocks, text("The plan has no decisions, or cannot be read."))
		return sec
	}
	sec.Blocks = append(sec.Blocks, block{Note: "Each rule stood in the plan before the run. A statistic is taken within each round; what decides is the range over " +
		"the rounds, widened by how far identical things differ here, where that is known."})
	for i := range s.Verdicts {
		sec.Blocks = append(sec.Blocks, block{Verdict: verdictOf(&s.Verdicts[i])})
	}
	return sec
}

func verdictOf(v *report.Verdict) *verdict {
	d := &verdict{Name: v.Decision.Name, Outcome: string(v.Outcome), Class: "decided", Sentence: v.Sentence, Claim: v.Decision.Claim, Reasons: v.Reasons}
	if len(d.Reasons) > 2*fewReasons {
		d.Reasons, d.More = d.Reasons[:fewReasons], d.Reasons[fewReasons:]
	}
	switch v.Outcome {
	case report.CannotDecide:
		d.Class = "open"
	case report.Holds:
		d.Outcome = "the rule's condition holds"
	default:
		d.Outcome = "the rule's condition does not hold"
	}
	for i := range v.Conditions {
		d.Tables = append(d.Tables, conditionTable(&v.Conditions[i]))
	}
	if len(v.Quoted) > 0 {
		d.Tables = append(d.Tables, quoteTable(v))
	}
	return d
}

// conditionTable has the figures that went into a condition: what they come to first, then round by round.
func conditionTable(c *report.ConditionVerdict) table {
	t := table{Caption: conditionInWords(c.Condition) + ": " + string(c.Outcome), Head: []string{"cell", "median (range)", "outcome"}}
	rounds := roundsOf(c)
	for _, r := range rounds {
		t.Head = append(t.Head, fmt.Sprintf("round %d", r))
	}
	form := digits
	if c.Condition.Statistic == matrix.StatisticValue {
		form = formOf(c.Condition.Column)
	}
	for i := range c.Evidence {
		e := &c.Evidence[i]
		name := e.Cell
		if e.Over != "" {
			name += " / " + e.Over
		}
		middle := number("–")
		if e.Summary.N > 0 {
			middle = cell{Text: spread(e.Sample, form), Strong: true}
			if e.Band != nil {
				middle.Mark = t.note(fmt.Sprintf("identical things (A/A pairs) differed by up to a factor of %s", digits(e.Band.Factor)))
			}
		}
		outcome := words(string(e.Outcome))
		switch {
		case e.Outcome == report.CannotDecide:
			outcome.Mark = t.note(e.Reason)
		case e.NoDifference:
			outcome.Text += ", no difference"
			outcome.Mark = t.note("no difference: identical things differ as much here")
		}
		row := []cell{words(name), middle, outcome}
		for _, r := range rounds {
			row = append(row, roundCell(&t, e.Sample, r, form))
		}
		t.row(row...)
	}
	return t
}

// roundCell is the figure of a round, or a dash with the reason as a note.
func roundCell(t *table, s report.Sample, round int, form func(float64) string) cell {
	if i := slices.Index(s.Rounds, round); i >= 0 {
		return number(form(s.Values[i]))
	}
	for _, l := range s.Lacking {
		if l.Round == round {
			return cell{Text: "–", Mark: t.note(l.Reason)}
		}
	}
	return number("")
}

func roundsOf(c *report.ConditionVerdict) []int {
	var rounds []int
	for i := range c.Evidence {
		rounds = append(rounds, c.Evidence[i].Sample.Rounds...)
		for _, l := range c.Evidence[i].Sample.Lacking {
			rounds = append(rounds, l.Round)
		}
	}
	slices.Sort(rounds)
	return slices.Compact(rounds)
}

// conditionInWords is the rule: tx_per_s over that of another cell, at most 2, for one of the cells.
func conditionInWords(c *matrix.Condition) string {
	what := c.Column
	switch c.Statistic {
	case matrix.StatisticRatio:
		what += " of one cell over that of another"
	case matrix.StatisticQuotient:
		what += " / " + c.OverColumn
	}
	who := "for each cell"
	switch {
	case len(c.Cells) == 1:
		who = ""
	case c.HoldsFor == "any":
		who = "for one cell at least"
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s", what, strings.ReplaceAll(c.Comparison, "_", " "), record.Number(c.Threshold), who))
}

// quoteTable has the columns that the plan wants quoted, one per column of the table.
func quoteTable(v *report.Verdict) table {
	t := table{Caption: "Quoted with it, as the plan wants: median (range)", Head: append([]string{"cell"}, v.Decision.Report...)}
	var cells []string
	for _, q := range v.Quoted {
		if !slices.Contains(cells, q.Cell) {
			cells = append(cells, q.Cell)
		}
	}
	for _, name := range cells {
		row := []cell{words(name)}
		for _, column := range v.Decision.Report {
			i := slices.IndexFunc(v.Quoted, func(q report.Quote) bool { return q.Cell == name && q.Column == column })
			if i < 0 {
				row = append(row, number("–"))
				continue
			}
			row = append(row, sampleCell(&t, v.Quoted[i].Sample, formOf(column)))
		}
		t.row(row...)
	}
	return t
}

// sampleCell is median (range) of the sample; what it lacks is a note.
func sampleCell(t *table, s report.Sample, form func(float64) string) cell {
	c := number("n/a")
	if len(s.Values) > 0 {
		c = number(spread(s, form))
	}
	if len(s.Lacking) > 0 {
		reasons := map[string]bool{}
		var texts []string
		for _, l := range s.Lacking {
			if reason := unnamed(l.Reason); !reasons[reason] {
				reasons[reason] = true
				texts = append(texts, reason)
			}
		}
		text := strings.Join(texts, "; ")
		if len(s.Values) > 0 {
			text = fmt.Sprintf("%s of %d: %s", counted(len(s.Values), "round"), len(s.Values)+len(s.Lacking), text)
		}
		c.Mark = t.note(text)
	}
	return c
}

// unnamed is a reason without the name of the column that was not measured, which stands above the figure: what several
// columns lack for one reason is one note.
func unnamed(reason string) string {
	const what = " was not measured: "
	if i := strings.Index(reason, what); i >= 0 && record.IsFigure(reason[:i]) {
		return "not measured: " + reason[i+len(what):]
	}
	return reason
}
