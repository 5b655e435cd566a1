package page

import (
	"fmt"
	"math"
	"slices"

	"tpccbench/record"
	"tpccbench/report"
	"tpccbench/report/plot"
	"tpccbench/report/stats"
)

func noise(s *report.Study) section {
	sec := section{ID: "noise", Title: "Noise"}
	sec.Blocks = append(sec.Blocks, block{Heading: "How far identical things differ"})
	sec.Blocks = append(sec.Blocks, pairs(s)...)
	sec.Blocks = append(sec.Blocks, block{Heading: "The machine during the study"},
		text("One dot is one run, over the hours of the study. The calibration is a fixed loop before and after each run: where it is slower, the machine was. "+
			"Waiting for a CPU counts the engine's own threads too; stolen time is what the host gave to others."))
	first, _ := times(s.Runs)
	var figures []figure
	t := &table{Caption: "The machine, over all timed runs", Head: []string{"figure", "lowest", "median", "highest", "runs"}}
	for _, c := range []struct {
		id, title, column string
		unit              plot.Unit
		form              func(float64) string
	}{
		{"calibration", "Calibration", "calibration_ns", plot.Nanoseconds("time of the fixed loop"), func(v float64) string { return milliseconds(v) + " ms" }},
		{"psi", "Waiting for a CPU", "psi_cpu_share", plot.Percent("share of the time in which a task waited for a CPU"), percent},
		{"steal", "Stolen by the host", "steal_share", plot.Percent("share of all CPU time that the host took"), percent},
	} {
		f := &plot.Lines{X: plot.Axis{Unit: plot.Count("minutes since the first run"), Scale: plot.Linear}, Y: plot.Axis{Unit: c.unit, Scale: plot.Linear}, Height: 180}
		k := plot.Line{Ink: plot.Series(0), Dotted: true}
		for _, r := range s.Runs {
			if v, ok := r.Figures[c.column]; ok {
				k.X, k.Y = append(k.X, r.Started.Sub(first).Minutes()), append(k.Y, v)
			}
		}
		f.ID, f.Title, f.Lines = "noise-"+c.id, c.title+" over the study", []plot.Line{k}
		if len(k.Y) == 0 {
			t.row(words(c.title), number("n/a"), number("n/a"), number("n/a"), cell{Text: "0", Mark: t.note(c.column + ": " + missing(s.Runs, c.column))})
			continue
		}
		sum := stats.Summarize(k.Y)
		f.Description = fmt.Sprintf("Lowest %s, median %s, highest %s, over %s.", c.form(sum.Min), c.form(sum.Median), c.form(sum.Max), counted(sum.N, "run"))
		figures = append(figures, drawn(c.title, f))
		t.row(words(c.title), number(c.form(sum.Min)), number(c.form(sum.Median)), number(c.form(sum.Max)), number(whole(float64(sum.N))))
	}
	sec.Blocks = append(sec.Blocks, block{Figures: figures}, block{Table: t})
	return sec
}

// missing is why the first run that lacks the column lacks it.
func missing(runs []*record.Run, column string) string {
	i := slices.IndexFunc(runs, func(r *record.Run) bool { return r.Missing[column] != "" })
	if i < 0 {
		return notRecorded
	}
	return runs[i].Missing[column]
}

// pairs are the A/A pairs and the bands that follow from them.
func pairs(s *report.Study) []block {
	if len(s.Pairs) == 0 {
		return []block{text("The plan has no A/A pair, the same engine twice under two names, so how far identical things differ here is not known.")}
	}
	t := &table{Caption: "A/A pairs: the same engine with the same settings under two names; ratio of the two within a " +
		"round", Head: []string{"pair", "transactions/s", "CPU per transaction", "New-Order p99"}}
	for _, p := range s.Pairs {
		row := []cell{words(p.A.Name + " / " + p.B.Name)}
		for _, column := range []string{"tx_per_s", "cpu_us_per_tx", "latency_ns_p99_new_order"} {
			row = append(row, sampleCell(t, report.Ratios(column, p.A, p.B), digits))
		}
		t.row(row...)
	}
	var bullets []string
	if s.Plan != nil {
		for _, d := range s.Plan.Devices {
			if b, ok := s.Band(d.Name, "tx_per_s"); ok {
				bullets = append(bullets, fmt.Sprintf("On %s, transactions per second of identical things differed by "+
					"up to a factor of %s (%s of A/A pairs): a ratio between %s and %s is called no difference.",
					d.Name, digits(b.Factor), counted(b.Ratios, "ratio"), digits(1/b.Factor), digits(math.Max(b.Factor, 1))))
			}
		}
	}
	return []block{{Bullets: bullets}, {Table: t}}
}
