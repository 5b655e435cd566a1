package page

import (
	"fmt"
	"math"

	"tpccbench/record"
	"tpccbench/report"
	"tpccbench/report/plot"
)

func memory(l look, gs []group) section {
	sec := section{ID: "memory", Title: "Memory over time"}
	sec.Blocks = append(sec.Blocks, text("Resident memory of the process, driver included, second by second: the round whose throughput is the median. "+
		"State is the live rows at their packed width, by one definition for all engines. File pages that SQLite has mapped count as resident."),
		block{Keys: l.keys()})
	var figures []figure
	for i := range gs {
		figures = append(figures, drawn(gs[i].name(), resident(&gs[i], l)))
	}
	sec.Blocks = append(sec.Blocks, block{Figures: figures})
	for _, d := range devices(gs) {
		caption := "At the end of the window on " + shown(gs, d) + ", MiB: medians of the rounds"
		heads := []string{"resident", "peak", "state", "resident / state", "files"}
		t := byW(caption, of(gs, d), heads, func(t *table, c *report.Cell) []cell {
			return []cell{middleCell(t, c.Values("rss_bytes"), mib), middleCell(t, c.Values("peak_rss_bytes"), mib), middleCell(t, c.Values("state_bytes"), mib),
				middleCell(t, c.Quotients("rss_bytes", "state_bytes"), digits), middleCell(t, c.Values("store_bytes"), mib)}
		})
		sec.Blocks = append(sec.Blocks, block{Table: t})
	}
	return sec
}

func resident(g *group, l look) *plot.Lines {
	f := &plot.Lines{X: plot.Axis{Unit: plot.Count("seconds"), Scale: plot.Linear}, Y: plot.Axis{Unit: plot.Bytes("resident memory"), Scale: plot.Log}, Height: 250}
	f.ID, f.Title = "rss-"+g.id(), "Resident memory over time, "+g.name()
	var parts []string
	for _, c := range g.Cells {
		r := typical(c)
		if r == nil {
			continue
		}
		k := plot.Line{Ink: l.ink(c.Label), Dash: l.dash(c), End: fmt.Sprint(c.Terminals)}
		first, last := math.NaN(), math.NaN()
		for _, s := range r.Series {
			k.X = append(k.X, float64(s.Second))
			v := math.NaN()
			if s.RSSBytes != nil {
				v = float64(*s.RSSBytes)
				if math.IsNaN(first) {
					first = v
				}
				last = v
			}
			k.Y = append(k.Y, v)
		}
		if !math.IsNaN(last) {
			parts = append(parts, fmt.Sprintf("%s: from %s to %s", label(c), size(first), size(last)))
		}
		f.Lines = append(f.Lines, k)
	}
	f.Description = sentence(parts)
	return f
}

// typical is the result of the cell whose throughput is the median, of an even number the lower of the middle two; nil
// without a result.
func typical(c *report.Cell) *record.Run {
	runs := byRate(c)
	if len(runs) == 0 {
		return nil
	}
	return runs[(len(runs)-1)/2]
}
