package plot

import (
	"fmt"
	"html"
	"math"
	"strings"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Width is the width of every picture, in the units of its view box: CSS pixels on a phone.
const Width = 360

// Sizes of text, in the same units.
const (
	textSize  vg.Length = 11.5
	labelSize vg.Length = 12.5
)

// Text is what is read out in place of a picture.
type Text struct {
	ID          string // unique in the page: letters, digits and hyphens
	Title       string // one line: what the picture shows
	Description string // the figures in it, in words
}

// wrap makes the picture an SVG element that stands by itself in HTML.
func (t *Text) wrap(height vg.Length, body string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="plot" viewBox="0 0 %d %s" role="img" aria-labelledby="%s-t %s-d">`, Width, number(height), t.ID, t.ID)
	fmt.Fprintf(&b, "<title id=\"%s-t\">%s</title><desc id=\"%s-d\">%s</desc>\n", t.ID, html.EscapeString(t.Title), t.ID, html.EscapeString(t.Description))
	b.WriteString(body)
	b.WriteString("</svg>")
	return b.String()
}

// area is the canvas from the top left corner (x0, y0) to the bottom right one, y downward.
func (c *canvas) area(x0, y0, x1, y1 vg.Length) draw.Canvas {
	return draw.Canvas{Canvas: c, Rectangle: vg.Rectangle{Min: vg.Point{X: x0, Y: c.height - y1}, Max: vg.Point{X: x1, Y: c.height - y0}}}
}

// newPlot is a plot with quiet axes: labels, a base line, and no frame.
func newPlot() *gonum.Plot {
	p := gonum.New()
	p.BackgroundColor = nil
	p.TextHandler = texts
	p.X.Tick.Label = style(textSize, InkMuted, draw.XCenter, draw.YTop)
	p.Y.Tick.Label = style(textSize, InkMuted, draw.XRight, draw.YCenter)
	p.X.Label.TextStyle = style(textSize, InkMuted, draw.XCenter, draw.YBottom)
	p.Y.Label.TextStyle = p.X.Label.TextStyle
	p.Legend.TextStyle = p.X.Label.TextStyle
	p.Title.TextStyle = p.X.Label.TextStyle
	for _, a := range []*gonum.Axis{&p.X, &p.Y} {
		a.Padding = 0
		a.LineStyle = draw.LineStyle{Color: InkMuted, Width: 1}
		a.Tick.LineStyle = draw.LineStyle{Color: InkMuted, Width: 1}
		a.Tick.Length = 3
	}
	p.Y.LineStyle.Width = 0
	p.Y.Tick.LineStyle.Width = 0
	return p
}

// addGrid draws a thin line at each labelled tick of the y axis.
func addGrid(p *gonum.Plot) {
	grid := plotter.NewGrid()
	grid.Vertical, grid.Horizontal = draw.LineStyle{}, draw.LineStyle{Color: InkGrid, Width: 1}
	p.Add(grid)
}

// span is a range of values.
type span struct{ low, high float64 }

func emptySpan() span { return span{math.Inf(1), math.Inf(-1)} }

func (s *span) add(v float64) {
	s.low, s.high = math.Min(s.low, v), math.Max(s.high, v)
}

func (s *span) empty() bool { return s.low > s.high }

// nothing is a picture that says that there is nothing to show.
func (t *Text) nothing(why string) string {
	c := newCanvas(40)
	d := c.area(0, 0, Width, 40)
	d.FillText(style(labelSize, InkMuted, draw.XLeft, draw.YCenter), vg.Point{X: 0, Y: 20}, why)
	return t.wrap(40, c.body.String())
}
