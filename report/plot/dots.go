package plot

import (
	"math"

	"golang.org/x/image/font"
	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Dot is one row of Dots: a median, and the range that it is in the middle of.
type Dot struct {
	Label             string // at the left: pure, 64
	Value             string // at the right, in words: 214,496; or why there is none
	Ink               Ink
	Median, Low, High float64 // NaN: not measured, Value says why
	Strong            bool    // the row is set off: what was chosen
}

// Dots are medians with their ranges along one axis.
type Dots struct {
	Text
	Axis Axis
	Rows []Dot
}

const (
	rowHeight  vg.Length = 36
	sideMargin vg.Length = 24 // half of a label that stands at an end of the axis
)

// SVG draws the picture.
func (d *Dots) SVG() string {
	s := emptySpan()
	for _, r := range d.Rows {
		if !d.Axis.fits(r.Median) {
			continue
		}
		for _, v := range []float64{r.Median, r.Low, r.High} {
			if d.Axis.fits(v) {
				s.add(v)
			}
		}
	}
	if s.empty() {
		return d.nothing("Nothing was measured.")
	}
	p := newPlot()
	d.Axis.set(&p.X, s.low, s.high, 8)
	p.X.Label.Text = d.Axis.Unit.Name
	p.HideY()
	p.Y.Min, p.Y.Max = 0, float64(len(d.Rows))
	p.Add(&dotRows{d})
	rows := rowHeight * vg.Length(len(d.Rows))
	height := rows + below(p, rows)
	c := newCanvas(height)
	p.Draw(c.area(sideMargin, 0, Width-4, height))
	return d.wrap(height, c.body.String())
}

// below is the height that the x axis takes below data of that height.
func below(p *gonum.Plot, height vg.Length) vg.Length {
	area := newCanvas(2*height).area(0, 0, Width, 2*height)
	data := p.DataCanvas(area)
	return data.Min.Y - area.Min.Y
}

// dotRows draws each row as a line of text above the line of its dot.
type dotRows struct{ *Dots }

func (d *dotRows) Plot(c draw.Canvas, p *gonum.Plot) {
	trX, trY := p.Transforms(&c)
	for i, r := range d.Rows {
		top := trY(float64(len(d.Rows) - i))
		y := top - 26
		rowText(c, top, r.Label, r.Value, r.Strong)
		grid := draw.LineStyle{Color: InkGrid, Width: 1}
		c.StrokeLine2(grid, 0, y, Width, y)
		for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
			if !t.IsMinor() { // the grid ends below the texts
				c.StrokeLine2(grid, trX(t.Value), y-8, trX(t.Value), y+6)
			}
		}
		if !d.Axis.fits(r.Median) {
			continue
		}
		if d.Axis.fits(r.Low) && d.Axis.fits(r.High) && r.Low < r.High {
			line := draw.LineStyle{Color: r.Ink, Width: 2}
			low, high := trX(d.Axis.at(r.Low)), trX(d.Axis.at(r.High))
			c.StrokeLine2(line, low, y, high, y)
			c.StrokeLine2(line, low, y-4, low, y+4)
			c.StrokeLine2(line, high, y-4, high, y+4)
		}
		c.SetColor(r.Ink)
		var circle vg.Path
		x := trX(d.Axis.at(r.Median))
		circle.Move(vg.Point{X: x + 4.5, Y: y})
		circle.Arc(vg.Point{X: x, Y: y}, 4.5, 0, 2*math.Pi)
		circle.Close()
		c.Fill(circle)
	}
}

// rowText writes the label at the left of the whole picture and the value at its right, below top.
func rowText(c draw.Canvas, top vg.Length, label, value string, strong bool) {
	left, right := style(labelSize, InkText, draw.XLeft, draw.YTop), style(labelSize, InkText, draw.XRight, draw.YTop)
	if strong {
		left.Font.Weight, right.Font.Weight = font.WeightBold, font.WeightBold
	}
	c.FillText(left, vg.Point{X: 0, Y: top - 3}, label)
	c.FillText(right, vg.Point{X: Width, Y: top - 3}, value)
}
