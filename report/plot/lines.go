package plot

import (
	"cmp"
	"math"
	"slices"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Line is one curve. Points that do not fit the axes (NaN, or not above 0 on a logarithmic one) are gaps.
type Line struct {
	X, Y   []float64
	Ink    Ink
	Dash   int    // 0: drawn through; further ones are dashed in ways that differ
	Thin   bool   // in the background
	Dotted bool   // points only
	End    string // at its last point, short: 64
	// Low and High, if not nil, are a range at each point.
	Low, High []float64
}

// Lines are curves over two axes.
type Lines struct {
	Text
	X, Y   Axis
	Lines  []Line
	Height float64 // of the picture; 0: 230

	marked bars    // behind the curves
	xEnd   float64 // if not 0: where the linear x axis ends
}

// dashes are the patterns of Line.Dash; further ones begin anew.
var dashes = [][]vg.Length{nil, {6, 3}, {2, 2.5}, {9, 3, 2, 3}, {12, 4}, {1, 4}}

// maxPoints is the number of points from which on a curve is thinned.
const maxPoints = 240

// SVG draws the picture.
func (l *Lines) SVG() string {
	height := vg.Length(l.Height)
	if height == 0 {
		height = 230
	}
	c := newCanvas(height)
	p, ok := l.plot(6)
	if !ok {
		return l.nothing("Nothing was measured.")
	}
	top := vg.Length(20)
	c.top(0, l.Y.Unit.Name)
	p.X.Label.Text = l.X.Unit.Name
	p.Draw(c.area(0, top, Width-2, height-2))
	return l.wrap(height, c.body.String())
}

// top writes the unit of a y axis above its upper end, at y from the top.
func (c *canvas) top(y vg.Length, text string) {
	d := c.area(0, y, Width, c.height)
	d.FillText(style(textSize, InkMuted, draw.XLeft, draw.YTop), vg.Point{X: 0, Y: d.Max.Y}, text)
}

// plot makes gonum's plot of the curves, with about so many labels at the y axis; false if there is no point.
func (l *Lines) plot(labels int) (*gonum.Plot, bool) {
	p := newPlot()
	xs, ys := emptySpan(), emptySpan()
	for i := range l.Lines {
		k := &l.Lines[i]
		for j := range k.X {
			if l.X.fits(k.X[j]) && l.Y.fits(k.Y[j]) {
				xs.add(l.X.at(k.X[j]))
				ys.add(l.Y.at(k.Y[j]))
				if k.Low != nil && l.Y.fits(k.Low[j]) && l.Y.fits(k.High[j]) {
					ys.add(l.Y.at(k.Low[j]))
					ys.add(l.Y.at(k.High[j]))
				}
			}
		}
	}
	if xs.empty() {
		return nil, false
	}
	l.X.set(&p.X, xs.low, xs.high, 6)
	l.Y.set(&p.Y, ys.low, ys.high, labels)
	if l.xEnd != 0 {
		l.X.set(&p.X, 0, l.xEnd, 6)
		p.X.Max = l.xEnd
	}
	p.Add(l.marked)
	addGrid(p)
	for i := range l.Lines {
		l.add(p, &l.Lines[i])
	}
	p.Add(l.ends())
	return p, true
}

// add draws one curve, and its ranges behind it.
func (l *Lines) add(p *gonum.Plot, k *Line) {
	width := vg.Length(1.8)
	if k.Thin {
		width = 1
	}
	if k.Low != nil {
		for j := range k.X {
			if l.X.fits(k.X[j]) && l.Y.fits(k.Low[j]) && l.Y.fits(k.High[j]) {
				x := l.X.at(k.X[j])
				p.Add(&plotter.Line{XYs: plotter.XYs{{X: x, Y: l.Y.at(k.Low[j])}, {X: x, Y: l.Y.at(k.High[j])}},
					LineStyle: draw.LineStyle{Color: k.Ink, Width: 1}})
			}
		}
	}
	for _, part := range l.parts(k) {
		if k.Dotted || len(part) == 1 {
			p.Add(&plotter.Scatter{XYs: part, GlyphStyle: draw.GlyphStyle{Color: k.Ink, Radius: 2, Shape: draw.CircleGlyph{}}})
			continue
		}
		p.Add(&plotter.Line{XYs: part, LineStyle: draw.LineStyle{Color: k.Ink, Width: width, Dashes: dashes[k.Dash%len(dashes)]}})
	}
}

// parts cuts the curve where points are missing, and thins what is left.
func (l *Lines) parts(k *Line) []plotter.XYs {
	var parts []plotter.XYs
	var part plotter.XYs
	end := func() {
		if len(part) > 0 {
			parts = append(parts, part)
		}
		part = nil
	}
	for j := range k.X {
		if !l.X.fits(k.X[j]) || !l.Y.fits(k.Y[j]) {
			end()
			continue
		}
		part = append(part, plotter.XY{X: l.X.at(k.X[j]), Y: l.Y.at(k.Y[j])})
	}
	end()
	for i := range parts {
		if !k.Dotted {
			parts[i] = thin(parts[i], maxPoints)
		}
	}
	return parts
}

// thin leaves at most about n points of a curve: of each of n/2 stretches of as many points, the lowest and the highest,
// so that no dip and no peak is lost.
func thin(points plotter.XYs, n int) plotter.XYs {
	if len(points) <= n {
		return points
	}
	byY := func(a, b plotter.XY) int { return cmp.Compare(a.Y, b.Y) }
	var out plotter.XYs
	stretches := n / 2
	for i := range stretches {
		stretch := points[i*len(points)/stretches : (i+1)*len(points)/stretches]
		low, high := slices.MinFunc(stretch, byY), slices.MaxFunc(stretch, byY)
		switch {
		case low == high:
			out = append(out, low)
		case low.X < high.X:
			out = append(out, low, high)
		default:
			out = append(out, high, low)
		}
	}
	return out
}

// ends is the labels of the curves, each at its last point; those that would overlap are moved apart.
func (l *Lines) ends() *endLabels {
	e := &endLabels{}
	for i := range l.Lines {
		k := &l.Lines[i]
		for j := len(k.X) - 1; j >= 0 && k.End != ""; j-- {
			if l.X.fits(k.X[j]) && l.Y.fits(k.Y[j]) {
				e.labels = append(e.labels, endLabel{k.End, k.Ink, l.X.at(k.X[j]), l.Y.at(k.Y[j])})
				break
			}
		}
	}
	return e
}

type endLabel struct {
	text string
	ink  Ink
	x, y float64
}

type endLabels struct{ labels []endLabel }

func (e *endLabels) Plot(c draw.Canvas, p *gonum.Plot) {
	trX, trY := p.Transforms(&c)
	sorted := slices.Clone(e.labels)
	slices.SortStableFunc(sorted, func(a, b endLabel) int { return cmp.Compare(a.y, b.y) })
	ys := make([]vg.Length, len(sorted))
	for i, k := range sorted {
		ys[i] = trY(k.y)
	}
	spread(ys, textSize, c.Min.Y, c.Max.Y)
	x := c.Max.X + 12
	for i, k := range sorted {
		// A thin line leads from the curve's end to its label.
		end := vg.Point{X: trX(k.x), Y: trY(k.y)}
		c.StrokeLines(draw.LineStyle{Color: InkFaint, Width: 0.75}, []vg.Point{end, {X: c.Max.X, Y: end.Y}, {X: x - 2, Y: ys[i]}})
		c.FillText(style(textSize, k.ink, draw.XLeft, draw.YCenter), vg.Point{X: x, Y: ys[i] + 1}, k.text)
	}
}

// GlyphBoxes makes room at the right.
func (e *endLabels) GlyphBoxes(p *gonum.Plot) []gonum.GlyphBox {
	var boxes []gonum.GlyphBox
	for _, k := range e.labels {
		w := style(textSize, k.ink, draw.XLeft, draw.YCenter).Width(k.text)
		boxes = append(boxes, gonum.GlyphBox{X: 1, Y: p.Y.Norm(k.y), Rectangle: vg.Rectangle{Max: vg.Point{X: w + 12}}})
	}
	return boxes
}

// spread moves ascending positions apart until each is at least gap above the one before, keeping them within low..high
// where they fit, and groups that overlap around their middle.
func spread(ys []vg.Length, gap, low, high vg.Length) {
	type cluster struct {
		first, n int
		middle   vg.Length
	}
	bottom := func(k cluster) vg.Length {
		b := k.middle - gap*vg.Length(k.n-1)/2
		b = vg.Length(math.Min(float64(b), float64(high-gap*vg.Length(k.n-1))))
		return vg.Length(math.Max(float64(b), float64(low)))
	}
	var clusters []cluster
	for i, y := range ys {
		clusters = append(clusters, cluster{i, 1, y})
		for len(clusters) > 1 {
			a, b := clusters[len(clusters)-2], clusters[len(clusters)-1]
			if bottom(a)+gap*vg.Length(a.n) <= bottom(b) {
				break
			}
			middle := (a.middle*vg.Length(a.n) + b.middle*vg.Length(b.n)) / vg.Length(a.n+b.n)
			clusters = append(clusters[:len(clusters)-2], cluster{a.first, a.n + b.n, middle})
		}
	}
	for _, k := range clusters {
		for i := range k.n {
			ys[k.first+i] = bottom(k) + gap*vg.Length(i)
		}
	}
}
