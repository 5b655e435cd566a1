package plot

import (
	"math"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Course is one run of Seconds, second by second. A value that is NaN was not measured.
type Course struct {
	Rate       []float64 // transactions/s
	LatencyP99 []float64 // ns; nil: not recorded
	LatencyMax []float64 // ns
	// CheckpointShare is the part of each second in which a checkpoint ran, 0..1; nil: not recorded.
	CheckpointShare []float64
}

// Seconds shows the course of the runs of a cell: transactions/s above, and below it, over the same time, the longest
// response time of each second, in which a stall shows. Behind both, a bar is as high as the part of its second in which
// a checkpoint ran. The first run is in front, the others thin behind it.
type Seconds struct {
	Text
	Ink  Ink
	Runs []Course
}

// SVG draws the picture.
func (s *Seconds) SVG() string {
	const height, split = 228, 118
	rate := s.lines(func(r *Course) []float64 { return r.Rate }, Axis{Count("transactions/s"), Linear})
	latency := s.lines(func(r *Course) []float64 { return r.LatencyMax }, Axis{Nanoseconds("longest response time"), Log})
	if len(s.Runs) > 0 && s.Runs[0].LatencyP99 != nil {
		latency.Y.Unit.Name = "response time: p99 (thick), longest (thin)"
		latency.Lines[len(latency.Lines)-1].Thin = true
		latency.Lines = append(latency.Lines, s.line(s.Runs[0].LatencyP99, false))
	}
	upper, ok := rate.plot(4)
	lower, both := latency.plot(3)
	if !ok || !both {
		return s.nothing("Nothing was recorded second by second.")
	}
	c := newCanvas(height)
	c.top(0, rate.Y.Unit.Name)
	c.top(split, latency.Y.Unit.Name)
	upper.X.Tick.Marker = unlabelled{upper.X.Tick.Marker} // the seconds stand below the lower part
	lower.X.Label.Text = "seconds"
	upperArea, lowerArea := c.area(0, 18, Width-8, split-4), c.area(0, split+18, Width-8, height-2)
	align(upper, lower, &upperArea, &lowerArea)
	upper.Draw(upperArea)
	lower.Draw(lowerArea)
	return s.wrap(height, c.body.String())
}

// align narrows the areas until the data of both plots begin and end above each other. What gonum leaves at the sides
// depends a little on the width, so one step is not enough.
func align(a, b *gonum.Plot, areaA, areaB *draw.Canvas) {
	for range 5 {
		dataA, dataB := a.DataCanvas(*areaA), b.DataCanvas(*areaB)
		left, right := dataA.Min.X-dataB.Min.X, dataA.Max.X-dataB.Max.X
		areaB.Min.X += max(left, 0)
		areaA.Min.X += max(-left, 0)
		areaA.Max.X -= max(right, 0)
		areaB.Max.X -= max(-right, 0)
	}
}

// lines are the curves of one figure over the seconds, those behind first.
func (s *Seconds) lines(of func(*Course) []float64, y Axis) *Lines {
	l := &Lines{X: Axis{Count(""), Linear}, Y: y}
	for i := len(s.Runs) - 1; i >= 0; i-- {
		l.Lines = append(l.Lines, s.line(of(&s.Runs[i]), i > 0))
		l.xEnd = max(l.xEnd, float64(len(s.Runs[i].Rate)))
	}
	if len(s.Runs) > 0 {
		l.marked = s.Runs[0].checkpoints()
	}
	return l
}

// line is a curve whose i-th value stands in the middle of the i-th second.
func (s *Seconds) line(values []float64, behind bool) Line {
	k := Line{Y: values, Ink: s.Ink, Thin: behind}
	if behind {
		k.Ink = InkFaint
	}
	for i := range values {
		k.X = append(k.X, float64(i)+0.5)
	}
	return k
}

// checkpoints are the seconds in which a checkpoint ran, those of the same tenth together.
func (r *Course) checkpoints() bars {
	var out bars
	for i, share := range r.CheckpointShare {
		if !(share > 0) {
			continue
		}
		share = math.Ceil(math.Min(share, 1)*10) / 10
		if n := len(out); n > 0 && out[n-1].high == float64(i) && out[n-1].share == share {
			out[n-1].high++
			continue
		}
		out = append(out, bar{float64(i), float64(i + 1), share})
	}
	return out
}

// bar marks a range of the x axis, over a share of the height.
type bar struct{ low, high, share float64 }

type bars []bar

// Plot fills all bars as one path.
func (b bars) Plot(c draw.Canvas, p *gonum.Plot) {
	trX, _ := p.Transforms(&c)
	var path vg.Path
	for _, k := range b {
		low, high := trX(math.Max(k.low, p.X.Min)), trX(math.Min(k.high, p.X.Max))
		high = max(high, low+1) // of many seconds, each is seen
		top := c.Min.Y + vg.Length(k.share)*(c.Max.Y-c.Min.Y)
		path = append(path, vg.Rectangle{Min: vg.Point{X: low, Y: c.Min.Y}, Max: vg.Point{X: high, Y: top}}.Path()...)
	}
	c.SetColor(InkBand)
	c.Fill(path)
}
