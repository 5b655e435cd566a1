package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tpccbench/record"
	"tpccbench/report"
	"tpccbench/report/plot"
)

func course(l look, gs []group) section {
	sec := section{ID: "course", Title: "Second by second"}
	marked := slices.ContainsFunc(gs, func(g group) bool {
		return slices.ContainsFunc(g.Cells, func(c *report.Cell) bool { return slices.ContainsFunc(c.Results(), hasCheckpoints) })
	})
	intro := "Transactions per second above, and below it the response times of the same second: a stall is a dip above and a peak below. " +
		"In colour, the round whose throughput is the median; the other rounds are thin and grey."
	if marked {
		intro += " Behind both, a bar is as high as the part of its second in which a checkpoint ran."
	}
	sec.Blocks = append(sec.Blocks, text(intro))
	if !marked {
		sec.Blocks = append(sec.Blocks, block{Note: "When checkpoints ran: " + notRecorded + " by the program that made this study; " +
			"the number per run is in the description of each picture."})
	}
	for i := range gs {
		var figures []figure
		for _, c := range gs[i].Cells {
			figures = append(figures, drawn(label(c), seconds(&gs[i], l, c)))
		}
		sec.Blocks = append(sec.Blocks, block{Heading: gs[i].name()}, block{Figures: figures})
	}
	for _, d := range devices(gs) {
		sec.Blocks = append(sec.Blocks, block{Table: checkpointTable(of(gs, d))})
	}
	return sec
}

// checkpointTable has what checkpoints cost: how many there were and how response times in their seconds compare.
func checkpointTable(gs []group) *table {
	heads := []string{"checkpoints"}
	known := recorded(gs, "checkpoint_ns")
	if known {
		heads = append(heads, "of the time", "p99 with, ms", "p99 without, ms")
	}
	return byW("Checkpoints on "+gs[0].Shown+": medians of the rounds; p99 of all types, of the seconds with and without a checkpoint", gs, heads, func(t *table, c *report.Cell) []cell {
		row := []cell{middleCell(t, c.Values("checkpoints"), whole)}
		if known {
			share := perSecond(func(f map[string]float64) (float64, bool) {
				ns, ok := f["checkpoint_ns"]
				return ns / 1e9 / f["seconds"], ok
			})
			row = append(row, middleCell(t, share(c), percent), middleCell(t, c.Values("latency_ns_p99_in_checkpoint"), milliseconds),
				middleCell(t, c.Values("latency_ns_p99_outside_checkpoint"), milliseconds))
		}
		return row
	})
}

func seconds(g *group, l look, c *report.Cell) *plot.Seconds {
	f := &plot.Seconds{Ink: l.ink(c.Label)}
	f.ID, f.Title = "course-"+c.Name, fmt.Sprintf("Second by second: %s, %s", g.name(), label(c))
	front := typical(c)
	if front == nil {
		f.Description = "No round has a result."
		return f
	}
	runs := []*record.Run{front}
	for _, r := range c.Results() {
		if r != front {
			runs = append(runs, r)
		}
	}
	for _, r := range runs {
		f.Runs = append(f.Runs, courseOf(r))
	}
	low, high, longest := math.Inf(1), 0.0, int64(0)
	for _, s := range wholeSeconds(front) {
		low, high = math.Min(low, float64(s.Transactions)), math.Max(high, float64(s.Transactions))
		longest = max(longest, s.LatencyNSMax)
	}
	if high > 0 {
		parts := []string{fmt.Sprintf("Round %d: between %s and %s transactions in a second, longest response time %s ms",
			front.Round, whole(low), whole(high), milliseconds(float64(longest)))}
		if n, ok := front.Figures["checkpoints"]; ok {
			parts = append(parts, counted(int(n), "checkpoint"))
		}
		f.Description = strings.Join(parts, ", ") + "."
	}
	return f
}

// wholeSeconds is the run's series without a last second that is cut off: its rate would be a dip that there was not.
func wholeSeconds(r *record.Run) []record.Second {
	n := len(r.Series)
	if seconds, ok := r.Figures["seconds"]; ok {
		n = min(n, int(seconds+0.01))
	}
	return r.Series[:n]
}

// courseOf is the run's series as it is drawn.
func courseOf(r *record.Run) plot.Course {
	var k plot.Course
	series := wholeSeconds(r)
	p99 := slices.ContainsFunc(series, func(s record.Second) bool { return s.LatencyNSP99 != nil })
	for _, s := range series {
		k.Rate = append(k.Rate, float64(s.Transactions))
		k.LatencyMax = append(k.LatencyMax, float64(s.LatencyNSMax))
		if p99 {
			k.LatencyP99 = append(k.LatencyP99, optional(s.LatencyNSP99))
		}
		if hasCheckpoints(r) {
			k.CheckpointShare = append(k.CheckpointShare, optional(s.CheckpointNS)/1e9)
		}
	}
	return k
}

// optional is a figure of the series, NaN if it was not measured.
func optional(v *int64) float64 {
	if v == nil {
		return math.NaN()
	}
	return float64(*v)
}

// hasCheckpoints says whether the run's series tells when checkpoints ran.
func hasCheckpoints(r *record.Run) bool {
	return slices.ContainsFunc(r.Series, func(s record.Second) bool { return s.CheckpointNS != nil })
}

// byRate is the cell's results in ascending order of throughput.
func byRate(c *report.Cell) []*record.Run {
	runs := c.Results()
	slices.SortStableFunc(runs, func(a, b *record.Run) int { return cmp.Compare(a.Figures["tx_per_s"], b.Figures["tx_per_s"]) })
	return runs
}
