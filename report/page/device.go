package page

import (
	"math"
	"slices"

	"tpccbench/report"
	"tpccbench/report/plot"
	"tpccbench/report/stats"
)

// Columns that records have had only since their version 2.
const (
	checkpointBytes = "checkpoint_bytes_per_tx"
	tempBytes       = "temp_bytes_per_tx"
	gcShare         = "gc_cpu_share"
	busyApply       = "busy_apply_us_per_tx"
)

// notRecorded is said of a column that older records do not have.
const notRecorded = "not recorded"

// recorded says whether some result of the cells has the column.
func recorded(gs []group, column string) bool {
	return slices.ContainsFunc(gs, func(g group) bool {
		return slices.ContainsFunc(g.Cells, func(c *report.Cell) bool { return len(c.Values(column).Values) > 0 })
	})
}

// Parts of what goes to a device. Their inks are those of no row.
var partInks = []plot.Ink{plot.InkText, plot.InkAlarm, plot.InkFaint}

func deviceBytes(l look, gs []group) section {
	sec := section{ID: "device", Title: "Bytes written to the device"}
	disks := slices.DeleteFunc(slices.Clone(gs), func(g group) bool { return !g.disk() })
	memory := slices.DeleteFunc(slices.Clone(gs), func(g group) bool { return g.disk() })
	if len(disks) > 0 {
		sec.Blocks = append(sec.Blocks, text("Per transaction, of the whole device and all its writers. A dot is the "+
			"median of the rounds, the line from the lowest to the highest."))
		var totals, parts []figure
		for i := range disks {
			totals = append(totals, drawn(disks[i].name(), dots(&disks[i], l, "bytes", "Device bytes per transaction", "device_bytes_per_tx", plot.Bytes("device bytes per transaction"), size)))
			parts = append(parts, drawn(disks[i].name(), shares(&disks[i])))
		}
		sec.Blocks = append(sec.Blocks, block{Figures: totals}, block{Heading: "What they are"})
		known := recorded(disks, checkpointBytes)
		intro := "Log or WAL is what the engine wrote there, a checkpoint what it wrote into its database or image; " +
			"the rest is the file system's journal, padding to whole blocks and whoever else writes."
		keys := []key{keyOf(partInks[0], plot.Area, "log or WAL"), keyOf(partInks[1], plot.Area, "checkpoint"), keyOf(partInks[2], plot.Area, "the rest: journal, padding, other writers")}
		if !known {
			intro = "Log or WAL is what the engine wrote there. What checkpoints wrote was not recorded by the program " +
				"that made this study: it is in the rest, with the file system's journal and padding to whole blocks."
			keys = []key{keys[0], keyOf(partInks[2], plot.Area, "the rest: checkpoint (not recorded apart), journal, padding, other writers")}
		}
		sec.Blocks = append(sec.Blocks, text(intro), block{Keys: keys}, block{Figures: parts})
		for _, d := range devices(disks) {
			sec.Blocks = append(sec.Blocks, block{Table: bytesTable("Bytes per transaction on "+shown(disks, d)+": median of the rounds", of(disks, d), known)})
		}
	}
	if len(memory) > 0 {
		for _, d := range devices(memory) {
			known := recorded(of(memory, d), tempBytes)
			heads := []string{"device", "log or WAL"}
			if known {
				heads = append(heads, "temporary files")
			}
			t := byW("Bytes per transaction with the data on "+shown(memory, d)+", in memory. Device: that behind the temporary directory, to show what spills to it", of(memory, d), heads,
				func(t *table, c *report.Cell) []cell {
					row := []cell{middleCell(t, c.Values("device_bytes_per_tx"), digits), middleCell(t, c.Values("log_bytes_per_tx"), digits)}
					if known {
						row = append(row, middleCell(t, c.Values(tempBytes), digits))
					}
					return row
				})
			sec.Blocks = append(sec.Blocks, block{Table: t})
		}
	}
	return sec
}

// split is what a cell wrote to its device per transaction, in bytes: medians over the rounds of each.
type split struct{ total, log, checkpoint float64 } // NaN: not measured

func splitOf(c *report.Cell) split {
	median := func(column string) float64 {
		s := c.Values(column)
		if len(s.Values) == 0 {
			return math.NaN()
		}
		return stats.Summarize(s.Values).Median
	}
	return split{median("device_bytes_per_tx"), median("log_bytes_per_tx"), median(checkpointBytes)}
}

// parts are the shares of log, checkpoint and rest; nil without a total and a log. What an engine wrote shortly before
// the window's end may reach the device after it: the parts are never more than the total.
func (s split) parts() []float64 {
	if !(s.total > 0) || math.IsNaN(s.log) {
		return nil
	}
	log := math.Min(s.log/s.total, 1)
	checkpoint := 0.0
	if !math.IsNaN(s.checkpoint) {
		checkpoint = math.Min(s.checkpoint/s.total, 1-log)
	}
	return []float64{log, checkpoint, 1 - log - checkpoint}
}

func shares(g *group) *plot.Shares {
	p := &plot.Shares{Inks: partInks}
	p.ID, p.Title = "parts-"+g.id(), "What the device bytes per transaction are, "+g.name()
	var texts []string
	for _, c := range g.Cells {
		s := splitOf(c)
		row := plot.Whole{Label: label(c), Value: "n/a", Parts: s.parts()}
		if row.Parts != nil {
			row.Value = size(s.total)
			texts = append(texts, label(c)+": "+row.Value+", of it log or WAL "+percent(row.Parts[0]))
			if !math.IsNaN(s.checkpoint) {
				texts[len(texts)-1] += ", checkpoint " + percent(row.Parts[1])
			}
		}
		p.Rows = append(p.Rows, row)
	}
	p.Description = sentence(texts)
	return p
}

func bytesTable(caption string, gs []group, known bool) *table {
	heads := []string{"device", "log or WAL", "checkpoint", "rest"}
	if !known {
		heads = []string{"device", "log or WAL", "rest"}
	}
	heads = append(heads, "flushes")
	return byW(caption, gs, heads, func(t *table, c *report.Cell) []cell {
		s := splitOf(c)
		row := []cell{middleCell(t, c.Values("device_bytes_per_tx"), digits), middleCell(t, c.Values("log_bytes_per_tx"), digits)}
		if known {
			row = append(row, middleCell(t, c.Values(checkpointBytes), digits))
		}
		rest := number("n/a")
		if p := s.parts(); p != nil {
			rest = number(digits(p[2] * s.total))
		}
		return append(row, rest, middleCell(t, c.Values("device_flushes_per_tx"), digits))
	})
}
