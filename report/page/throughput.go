package page

import (
	"fmt"
	"math"
	"slices"

	"tpccbench/report"
	"tpccbench/report/plot"
)

func throughput(s *report.Study, l look, gs []group) section {
	sec := section{ID: "throughput", Title: "Throughput"}
	sec.Blocks = append(sec.Blocks, text("Transactions per second of the whole mix: commits, and rollbacks by "+
		"specification. A dot is the median of the rounds, the line from the lowest to the highest."))
	var figures []figure
	for i := range gs {
		figures = append(figures, drawn(gs[i].name(), dots(&gs[i], l, "tx", "Transactions per second", "tx_per_s", plot.Count("transactions/s"), whole)))
	}
	sec.Blocks = append(sec.Blocks, block{Figures: figures})
	sec.Blocks = append(sec.Blocks, scaling(l, gs)...)
	for _, device := range devices(gs) {
		sec.Blocks = append(sec.Blocks, block{Table: rateTable(of(gs, device))})
	}
	if t := ratioTable(s, gs); len(t.Rows) > 0 {
		sec.Blocks = append(sec.Blocks, block{Table: t})
	}
	return sec
}

// dots shows one column of a group's cells: medians with ranges, on a logarithmic axis if they span more than a factor
// of five.
func dots(g *group, l look, id, title, column string, unit plot.Unit, form func(float64) string) *plot.Dots {
	d := &plot.Dots{Axis: plot.Axis{Unit: unit, Scale: plot.Linear}}
	d.ID, d.Title = id+"-"+g.id(), title+", "+g.name()
	low, high := math.Inf(1), 0.0
	var parts []string
	for _, c := range g.Cells {
		row := plot.Dot{Label: label(c), Value: "n/a", Ink: l.ink(c.Label), Median: math.NaN(), Low: math.NaN(), High: math.NaN()}
		if sum := c.Values(column).Summary(); sum.N > 0 {
			row.Median, row.Low, row.High, row.Value = sum.Median, sum.Min, sum.Max, form(sum.Median)
			low, high = math.Min(low, sum.Min), math.Max(high, sum.Max)
		}
		parts = append(parts, row.Label+": "+row.Value)
		d.Rows = append(d.Rows, row)
	}
	if low > 0 && high/low > 5 {
		d.Axis.Scale = plot.Log
	}
	d.Description = "Medians of the rounds by engine and terminals. " + sentence(parts)
	return d
}

// devices are the groups' devices, each once.
func devices(gs []group) []string {
	var names []string
	for i := range gs {
		if !slices.Contains(names, gs[i].Device) {
			names = append(names, gs[i].Device)
		}
	}
	return names
}

// shown is the device's name with the emulated card if it was one.
func shown(gs []group, device string) string { return of(gs, device)[0].Shown }

// of are the groups at the device, one per W.
func of(gs []group, device string) []group {
	return slices.DeleteFunc(slices.Clone(gs), func(g group) bool { return g.Device != device })
}

// find is the group's cell of the label and terminals, or nil.
func (g *group) find(label string, terminals int) *report.Cell {
	for _, c := range g.Cells {
		if c.Label == label && c.Terminals == terminals {
			return c
		}
	}
	return nil
}

// rowsOf are the rows of a table over the groups: labels with terminals, in the groups' order.
func rowsOf(gs []group) []*report.Cell {
	var rows []*report.Cell
	for i := range gs {
		for _, c := range gs[i].Cells {
			if !slices.ContainsFunc(rows, func(r *report.Cell) bool { return label(r) == label(c) }) {
				rows = append(rows, c)
			}
		}
	}
	return rows
}

// byW is a table with a row per label and terminals and, for each W, the columns that fields gives.
func byW(caption string, gs []group, heads []string, fields func(t *table, c *report.Cell) []cell) *table {
	t := &table{Caption: caption, Head: []string{"engine, terminals"}}
	for i := range gs {
		for _, h := range heads {
			t.Head = append(t.Head, fmt.Sprintf("%s, W=%d", h, gs[i].W))
		}
	}
	for _, r := range rowsOf(gs) {
		row := []cell{words(label(r))}
		for i := range gs {
			c := gs[i].find(r.Label, r.Terminals)
			if c == nil {
				row = append(row, make([]cell, len(heads))...)
				continue
			}
			row = append(row, fields(t, c)...)
		}
		t.row(row...)
	}
	return t
}

func rateTable(gs []group) *table {
	caption := fmt.Sprintf("Transactions per second on %s, %g s a run: median (range) of %s", gs[0].Shown, gs[0].Cells[0].Seconds,
		counted(len(gs[0].Cells[0].Rounds), "round"))
	heads := []string{"transactions/s"}
	drifts := slices.ContainsFunc(gs, func(g group) bool {
		return slices.ContainsFunc(g.Cells, func(c *report.Cell) bool { return !math.IsNaN(c.Values("tx_per_s").Drift()) })
	})
	if drifts {
		caption += "; drift is from the first to the last round"
		heads = append(heads, "drift")
	}
	return byW(caption, gs, heads, func(t *table, c *report.Cell) []cell {
		s := c.Values("tx_per_s")
		rate := sampleCell(t, s, whole)
		if i := s.Summary().Interval; i != nil {
			rate.Mark = t.note("95 % interval of the median from six rounds on")
			rate.Text += fmt.Sprintf(" [%s–%s]", whole(i.Low), whole(i.High))
		}
		if !drifts {
			return []cell{rate}
		}
		drift := number("")
		if d := s.Drift(); !math.IsNaN(d) {
			drift = number(fmt.Sprintf("%+.1f %%", d*100))
		}
		return []cell{rate, drift}
	})
}

// ratioTable compares the plan's first row with each other one at the same number of terminals, within rounds.
func ratioTable(s *report.Study, gs []group) *table {
	t := &table{Head: []string{"device, W, terminals", "against", "transactions/s", "device bytes per transaction", "CPU per transaction"}}
	if len(gs) == 0 {
		return t
	}
	first := s.Plan.Rows[0].Label
	t.Caption = fmt.Sprintf("%s against the others at the same number of terminals: ratios within rounds, median (range). Above 1: %s has more transactions, "+
		"and the other more bytes and CPU time", first, first)
	for i := range gs {
		g := &gs[i]
		for _, c := range g.Cells {
			base := g.find(report.RowName(first, c.Load), c.Terminals)
			if base == nil || base == c {
				continue
			}
			ratio := func(column string, over, under *report.Cell) cell {
				s := report.Ratios(column, over, under)
				if len(s.Values) == 0 {
					return cell{Text: "n/a", Mark: t.note("no round has the figure of both: the table of the figure itself, and Gates, say why")}
				}
				return number(spread(s, digits))
			}
			rate := ratio("tx_per_s", base, c)
			if band, ok := s.Band(g.Device, "tx_per_s"); ok {
				if sum := report.Ratios("tx_per_s", base, c).Summary(); sum.N > 0 && band.Contains(sum.Median) {
					rate.Text += ", no difference"
					rate.Mark = t.note(fmt.Sprintf("identical things differ by up to a factor of %s here", digits(band.Factor)))
				}
			}
			bytes := number("–")
			if g.disk() {
				bytes = ratio("device_bytes_per_tx", c, base)
			}
			t.row(words(fmt.Sprintf("%s, %d", g.name(), c.Terminals)), words(c.Label), rate, bytes, ratio("cpu_us_per_tx", c, base))
		}
	}
	return t
}

// scaling draws throughput over terminals, and over W, where a row of the plan has at least three of them.
func scaling(l look, gs []group) []block {
	var figures []figure
	for i := range gs {
		g := &gs[i]
		f := &plot.Lines{X: plot.Axis{Unit: plot.Count("terminals"), Scale: plot.Log}, Y: plot.Axis{Unit: plot.Count("transactions/s"), Scale: plot.Log}}
		f.ID, f.Title = "terminals-"+g.id(), "Transactions per second over terminals, "+g.name()
		for _, name := range l.labels {
			if len(l.terminals[name]) < 3 {
				continue
			}
			var cells []*report.Cell
			var at []float64
			for _, n := range l.terminals[name] {
				if c := g.find(name, n); c != nil {
					cells, at = append(cells, c), append(at, float64(n))
				}
			}
			f.Lines = append(f.Lines, scalingLine(name, l, cells, at))
		}
		if len(f.Lines) > 0 {
			f.Description = "Medians of the rounds; the figures are in the table below."
			figures = append(figures, drawn("over terminals, "+g.name(), f))
		}
	}
	for _, device := range devices(gs) {
		at := of(gs, device)
		if len(at) < 3 {
			continue
		}
		f := &plot.Lines{X: plot.Axis{Unit: plot.Count("warehouses, W"), Scale: plot.Log}, Y: plot.Axis{Unit: plot.Count("transactions/s"), Scale: plot.Log}}
		f.ID, f.Title = "w-"+device, "Transactions per second over W, "+device
		f.Description = "Medians of the rounds, each row of the plan at its largest number of terminals; the figures are in the table below."
		for _, name := range l.labels {
			n := slices.Max(l.terminals[name])
			var cells []*report.Cell
			var ws []float64
			for i := range at {
				if c := at[i].find(name, n); c != nil {
					cells, ws = append(cells, c), append(ws, float64(at[i].W))
				}
			}
			f.Lines = append(f.Lines, scalingLine(fmt.Sprintf("%s, %d", name, n), l, cells, ws))
			f.Lines[len(f.Lines)-1].Ink = l.ink(name)
		}
		figures = append(figures, drawn("over W, "+device, f))
	}
	if len(figures) == 0 {
		return nil
	}
	return []block{{Figures: figures}}
}

func scalingLine(name string, l look, cells []*report.Cell, at []float64) plot.Line {
	k := plot.Line{End: name, X: at}
	for _, c := range cells {
		k.Ink = l.ink(c.Label)
		sum := c.Values("tx_per_s").Summary()
		if sum.N == 0 {
			sum.Median, sum.Min, sum.Max = math.NaN(), math.NaN(), math.NaN()
		}
		k.Y, k.Low, k.High = append(k.Y, sum.Median), append(k.Low, sum.Min), append(k.High, sum.Max)
	}
	return k
}
