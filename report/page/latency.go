package page

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"tpccbench/report"
	"tpccbench/report/plot"
	"tpccbench/tpcc"
)

// pointsPerNine is how many points a percentile curve has between 90 and 99 %, and so on.
const pointsPerNine = 8

// lastNine is where the curves end: 99.999 %. The longest response time is in the table.
const lastNine = 5

func latency(l look, gs []group) section {
	sec := section{ID: "latency", Title: "Response times"}
	sec.Blocks = append(sec.Blocks,
		text("At the terminal, from the request to the durable answer, in a closed loop: a terminal that waits sends nothing. A curve is all rounds of a cell together; "+
			"at 99 % it shows the time that one transaction in a hundred exceeds."),
		block{Keys: l.keys()})
	if slices.ContainsFunc(gs, hasOpenLoop) {
		sec.Blocks = append(sec.Blocks, text("Rows with a rate in their names are open loops: their response times are from the intended start, which does "+
			"not depend on the engine, and those of an engine that fell behind grow with the length of the run."))
	}
	for _, t := range tpcc.Types {
		name := typeName(t)
		var figures []figure
		var problems []string
		for i := range gs {
			f, found := percentiles(&gs[i], l, t)
			problems = append(problems, found...)
			figures = append(figures, drawn(gs[i].name(), f))
		}
		blocks := []block{{Figures: figures}}
		if len(problems) > 0 {
			blocks = append(blocks, block{Alarm: problems})
		}
		for _, device := range devices(gs) {
			blocks = append(blocks, block{Table: latencyTable(of(gs, device), t)})
		}
		if t == tpcc.TxNewOrder {
			sec.Blocks = append(sec.Blocks, block{Heading: name})
			sec.Blocks = append(sec.Blocks, blocks...)
			continue
		}
		sec.Blocks = append(sec.Blocks, block{Details: &details{name, blocks}})
	}
	return sec
}

// hasOpenLoop says whether a cell of the group is of an open loop.
func hasOpenLoop(g group) bool {
	return slices.ContainsFunc(g.Cells, func(c *report.Cell) bool { return strings.HasPrefix(c.Load, "rate") })
}

// typeName is the type's name in the specification.
func typeName(t tpcc.Type) string {
	parts := strings.Split(t.String(), "_")
	for i, p := range parts {
		parts[i] = strings.ToUpper(p[:1]) + p[1:]
	}
	return strings.Join(parts, "-")
}

// percentiles draws the curves of a transaction type, one per cell, and says which histograms cannot be read.
func percentiles(g *group, l look, t tpcc.Type) (*plot.Lines, []string) {
	f := &plot.Lines{X: plot.Axis{Unit: plot.Unit{Name: "percentile"}, Scale: plot.Percentile},
		Y: plot.Axis{Unit: plot.Nanoseconds("response time"), Scale: plot.Log}, Height: 250}
	f.ID, f.Title = fmt.Sprintf("%s-%s", strings.ReplaceAll(t.String(), "_", "-"), g.id()), fmt.Sprintf("Response times of %s by percentile, %s", typeName(t), g.name())
	var parts, problems []string
	for _, c := range g.Cells {
		h, err := merged(c, t)
		if err != nil {
			problems = append(problems, err.Error())
		}
		if h == nil || h.TotalCount() == 0 {
			continue
		}
		k := plot.Line{Ink: l.ink(c.Label), Dash: l.dash(c), End: fmt.Sprint(c.Terminals)}
		var percents []float64
		for i := 1; ; i++ { // from 25 % on: the fastest ones would be most of a logarithmic axis
			over := math.Pow(10, -float64(i)/pointsPerNine) // share of the transactions that take longer
			if over*float64(h.TotalCount()) < 1 || i > lastNine*pointsPerNine {
				break
			}
			k.X = append(k.X, 1-over)
			percents = append(percents, 100*(1-over))
		}
		at := h.ValueAtPercentiles(percents)
		for _, p := range percents {
			k.Y = append(k.Y, float64(at[p]))
		}
		f.Lines = append(f.Lines, k)
		at = h.ValueAtPercentiles([]float64{50, 99, 99.9})
		parts = append(parts, fmt.Sprintf("%s: %s, %s, %s", label(c), milliseconds(float64(at[50])), milliseconds(float64(at[99])), milliseconds(float64(at[99.9]))))
	}
	f.Description = "p50, p99 and p99.9 in ms, all rounds together. " + sentence(parts)
	return f, problems
}

// merged is the histogram of all results of the cell; nil if there is none.
func merged(c *report.Cell, t tpcc.Type) (*hdrhistogram.Histogram, error) {
	var sum *hdrhistogram.Histogram
	for _, r := range c.Results() {
		h, err := report.Histogram(r, t)
		switch {
		case err != nil:
			return sum, err
		case h == nil:
		case sum == nil:
			sum = h
		default:
			sum.Merge(h)
		}
	}
	return sum, nil
}

func latencyTable(gs []group, t tpcc.Type) *table {
	n := t.String()
	caption := fmt.Sprintf("%s on %s, ms: median of the rounds' percentiles", typeName(t), gs[0].Shown)
	return byW(caption, gs, []string{"p50", "p99", "p99.9", "max"}, func(tab *table, c *report.Cell) []cell {
		var row []cell
		for _, p := range []string{"p50", "p99", "p999", "max"} {
			row = append(row, middleCell(tab, c.Values("latency_ns_"+p+"_"+n), milliseconds))
		}
		return row
	})
}

// middleCell is the median of the sample; what it lacks is a note.
func middleCell(t *table, s report.Sample, form func(float64) string) cell {
	c := sampleCell(t, s, form)
	if len(s.Values) > 0 {
		c.Text = form(s.Summary().Median)
	}
	return c
}
