package page

import (
	"tpccbench/report"
	"tpccbench/report/plot"
)

func cpu(l look, gs []group) section {
	sec := section{ID: "cpu", Title: "CPU time per transaction"}
	sec.Blocks = append(sec.Blocks, text("Of the whole process, driver included: what the driver alone takes was "+
		"measured with an engine that does nothing and is in the table."))
	var figures []figure
	for i := range gs {
		figures = append(figures, drawn(gs[i].name(), dots(&gs[i], l, "cpu", "CPU time per transaction", "cpu_us_per_tx", plot.Microseconds("CPU time per transaction"),
			func(v float64) string { return digits(v) + " µs" })))
	}
	sec.Blocks = append(sec.Blocks, block{Figures: figures})
	collector := recorded(gs, gcShare)
	if !collector {
		sec.Blocks = append(sec.Blocks, block{Note: "The garbage collector's share: " + notRecorded + " by the program that made this study."})
	}
	heads := []string{"CPU, µs", "driver, µs"}
	if collector {
		heads = append(heads, "garbage collector")
	}
	heads = append(heads, "owner or writer, of a core")
	for _, d := range devices(gs) {
		caption := "CPU time per transaction on " + shown(gs, d) + ": median (range) of the rounds, medians of the others"
		sec.Blocks = append(sec.Blocks, block{Table: byW(caption, of(gs, d), heads, func(t *table, c *report.Cell) []cell {
			row := []cell{sampleCell(t, c.Values("cpu_us_per_tx"), digits), middleCell(t, c.Values("driver_cpu_us_per_tx"), digits)}
			if collector {
				row = append(row, middleCell(t, c.Values(gcShare), percent))
			}
			return append(row, middleCell(t, c.Values("owner_core_share"), digits))
		})})
	}
	if !recorded(gs, busyApply) {
		return sec
	}
	parts := []string{"gather", "apply", "log", "sync", "publish", "answer"}
	for _, d := range devices(gs) {
		caption := "The thread that applies writes, on " + shown(gs, d) + ", µs per transaction: medians of the rounds"
		sec.Blocks = append(sec.Blocks, block{Table: byW(caption, of(gs, d), parts, func(t *table, c *report.Cell) []cell {
			var row []cell
			for _, part := range parts {
				row = append(row, middleCell(t, c.Values("busy_"+part+"_us_per_tx"), digits))
			}
			return row
		})})
	}
	return sec
}
