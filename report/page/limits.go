package page

import (
	"fmt"
	"math"

	"tpccbench/probe"
	"tpccbench/report"
	"tpccbench/report/plot"
)

// limits sets what each engine made of a device against what a probe found that the device can do.
func limits(l look, gs []group, probes map[string]*probe.Result) section {
	sec := section{ID: "limits", Title: "Share of the device's limits"}
	var found bool
	for i := range gs {
		g := &gs[i]
		p := probes[g.Device]
		if !g.disk() || p == nil {
			continue
		}
		if !found {
			found = true
			sec.Blocks = append(sec.Blocks, text("What the device can do was probed before the runs: how many small "+
				"writes it makes durable in a second, one after the other, and how many bytes it takes. "+
				"Durable commits per second and device bytes per second of each cell are shares of that. A share above "+
				"100 % is possible: the device may combine writes that the probe makes one by one."))
		}
		if i == 0 || gs[i-1].Device != g.Device {
			sec.Blocks = append(sec.Blocks, probed(g.Shown, p)...)
		}
		sync := p.FastestSync()
		if sync == nil || !(p.Write.BytesPerS > 0) {
			continue
		}
		commits := limitDots(g, l, "commits", "Durable commits per second as a share of the device's syncs per second", "share of the syncs per second",
			perSecond(func(r map[string]float64) (float64, bool) {
				n, ok := r["commits_durable"]
				return n / r["seconds"] / sync.SyncsPerS, ok
			}))
		bytes := limitDots(g, l, "written", "Device bytes per second as a share of the device's write rate", "share of the write rate",
			perSecond(func(r map[string]float64) (float64, bool) {
				n, ok := r["device_bytes_per_tx"]
				return n * r["tx_per_s"] / p.Write.BytesPerS, ok
			}))
		sec.Blocks = append(sec.Blocks, block{Figures: []figure{drawn(g.name()+": commits", commits), drawn(g.name()+": bytes", bytes)}})
	}
	if !found {
		sec.Blocks = append(sec.Blocks, text("What the devices can do: "+notRecorded+" with this study. tpccbench probe DIR measures it."))
	}
	return sec
}

// perSecond is a figure of each result of a cell.
func perSecond(of func(figures map[string]float64) (float64, bool)) func(c *report.Cell) report.Sample {
	return func(c *report.Cell) report.Sample {
		var s report.Sample
		for _, r := range c.Results() {
			if v, ok := of(r.Figures); ok && !math.IsNaN(v) && !math.IsInf(v, 0) {
				s.Rounds, s.Values = append(s.Rounds, r.Round), append(s.Values, v)
			}
		}
		return s
	}
}

func limitDots(g *group, l look, id, title, axis string, of func(*report.Cell) report.Sample) *plot.Dots {
	d := &plot.Dots{Axis: plot.Axis{Unit: plot.Percent(axis), Scale: plot.Log}}
	d.ID, d.Title = id+"-"+g.id(), title+", "+g.name()
	var parts []string
	for _, c := range g.Cells {
		row := plot.Dot{Label: label(c), Value: "n/a", Ink: l.ink(c.Label), Median: math.NaN(), Low: math.NaN(), High: math.NaN()}
		if sum := of(c).Summary(); sum.N > 0 {
			row.Median, row.Low, row.High, row.Value = sum.Median, sum.Min, sum.Max, percent(sum.Median)
		}
		parts = append(parts, row.Label+": "+row.Value)
		d.Rows = append(d.Rows, row)
	}
	d.Description = "Medians of the rounds. " + sentence(parts)
	return d
}

// probed is the probe's result.
func probed(device string, p *probe.Result) []block {
	t := &table{Caption: fmt.Sprintf("%s: a block written and made durable (write and fdatasync); large writes at %s/s", device, size(p.Write.BytesPerS)),
		Head: []string{"block, file", "syncs/s", "p50, ms", "p99, ms", "max, ms", "device bytes per sync", "flushes per sync"}}
	for _, s := range p.Syncs {
		bytes, flushes := number("n/a"), number("n/a")
		if sectors := s.DeviceSectorsPerSync; sectors.OK() {
			bytes = number(size(sectors.F * 512))
		} else {
			bytes.Mark = t.note(sectors.Reason)
		}
		if f := s.DeviceFlushesPerSync; f.OK() {
			flushes = number(digits(f.F))
		} else {
			flushes.Mark = t.note(f.Reason)
		}
		t.row(words(fmt.Sprintf("%s B, %s", whole(float64(s.BlockBytes)), s.File)), number(whole(s.SyncsPerS)), number(milliseconds(float64(s.LatencyNSP50))),
			number(milliseconds(float64(s.LatencyNSP99))), number(milliseconds(float64(s.LatencyNSMax))), bytes, flushes)
	}
	blocks := []block{{Table: t}}
	if p.Emulation != nil {
		blocks = append([]block{{Alarm: []string{fmt.Sprintf("No real card: it is %s.", p.Emulation)}}}, blocks...)
	}
	return blocks
}
