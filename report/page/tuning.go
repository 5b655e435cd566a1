package page

import (
	"fmt"
	"math"

	"tpccbench/matrix"
	"tpccbench/record"
	"tpccbench/report"
	"tpccbench/report/plot"
)

func tuning(s *report.Study, l look) section {
	sec := section{ID: "tuning", Title: "Tuning"}
	if len(s.Tunings) == 0 {
		sec.Blocks = append(sec.Blocks, text("The plan has no tuning: engines ran with their defaults and what its rows say."))
		return sec
	}
	var figures []figure
	var blocks []block
	for _, t := range s.Tunings {
		chosen := "nothing could be chosen: " + t.Lacks
		if t.Choice != nil {
			chosen = fmt.Sprintf("%s (%s)", t.Choice.Candidate, settingsInWords(t.Choice.Settings))
		}
		blocks = append(blocks, block{Bullets: []string{fmt.Sprintf("%s, W=%d: by the plan's rule, the highest mean of %s's transactions per second, chosen for %s: %s.", t.Name, t.Plan.W,
			t.Plan.ChooseOver, list(t.Plan.AppliesTo), chosen)}})
		figures = append(figures, drawn(t.Name, tuningDots(t, l)))
	}
	sec.Blocks = append(sec.Blocks, blocks...)
	sec.Blocks = append(sec.Blocks, block{Note: "A dot is the mean that the rule compares, the line its runs from the lowest to the highest."}, block{Figures: figures})
	for _, t := range s.Tunings {
		sec.Blocks = append(sec.Blocks, block{Table: tuningTable(t)})
	}
	return sec
}

func settingsInWords(m map[string]string) string {
	if len(m) == 0 {
		return "defaults"
	}
	return record.SettingsText(m)
}

// tuningDots are the candidates by what the rule compares.
func tuningDots(t *report.Tuning, l look) *plot.Dots {
	d := &plot.Dots{Axis: plot.Axis{Unit: plot.Count("transactions/s, " + t.Plan.ChooseOver), Scale: plot.Linear}}
	d.ID, d.Title = "tuning-"+t.Name, fmt.Sprintf("Tuning on %s: mean transactions per second of %s by candidate", t.Device, t.Plan.ChooseOver)
	var parts []string
	for i := range t.Candidates {
		k := &t.Candidates[i]
		row := plot.Dot{Label: k.Name, Value: "n/a", Ink: l.ink(t.Plan.ChooseOver), Median: math.NaN(), Low: math.NaN(), High: math.NaN(), Strong: k.Chosen}
		sum, n := 0.0, 0
		for _, c := range k.Cells {
			if c.Engine != t.Plan.ChooseOver {
				continue
			}
			for _, v := range c.Values("tx_per_s").Values {
				if n == 0 {
					row.Low, row.High = v, v
				}
				row.Low, row.High = math.Min(row.Low, v), math.Max(row.High, v)
				sum, n = sum+v, n+1
			}
		}
		if n > 0 {
			row.Median = sum / float64(n)
			row.Value = whole(row.Median)
		}
		switch {
		case k.Chosen:
			row.Label += " (chosen)"
		case !k.Eligible:
			row.Label += " (shown only)"
		}
		parts = append(parts, row.Label+": "+row.Value)
		d.Rows = append(d.Rows, row)
	}
	d.Description = sentence(parts)
	return d
}

func tuningTable(t *report.Tuning) *table {
	d := &table{Caption: fmt.Sprintf("Tuning on %s, W=%d: transactions/s", t.Device, t.Plan.W), Head: []string{"candidate"}}
	type column struct {
		engine    string
		terminals int
	}
	var columns []column
	disk := false
	for _, g := range t.Plan.Groups {
		for _, n := range g.Terminals {
			columns = append(columns, column{g.Engine, n})
			d.Head = append(d.Head, fmt.Sprintf("%s, %d", g.Engine, n))
		}
	}
	for i := range t.Candidates {
		for _, c := range t.Candidates[i].Cells {
			disk = disk || c.Kind == matrix.KindDisk
		}
	}
	if disk {
		d.Caption += " [device bytes per transaction]"
	}
	d.Head = append(d.Head, "settings")
	for i := range t.Candidates {
		k := &t.Candidates[i]
		name := words(k.Name)
		if k.Chosen {
			name.Text, name.Strong = name.Text+" (chosen)", true
		}
		if !k.Eligible {
			name.Mark = d.note("measured and shown, but not to be chosen: the plan says so")
		}
		row := []cell{name}
		for _, col := range columns {
			f := cell{}
			for _, c := range k.Cells {
				if c.Engine != col.engine || c.Terminals != col.terminals {
					continue
				}
				f = sampleCell(d, c.Values("tx_per_s"), whole)
				if bytes := c.Values("device_bytes_per_tx"); disk && len(bytes.Values) > 0 {
					f.Text += " [" + size(bytes.Summary().Median) + "]"
				}
			}
			row = append(row, f)
		}
		d.row(append(row, words(settingsInWords(k.Settings)))...)
	}
	return d
}
