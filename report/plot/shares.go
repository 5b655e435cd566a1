package plot

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Whole is one row of Shares.
type Whole struct {
	Label string
	Value string    // of the whole, in words
	Parts []float64 // shares, 0..1, of at most 1 together; nil: not known
}

// Shares show what wholes of very different sizes are made of: each is a bar of the same length.
type Shares struct {
	Text
	Inks []Ink // of the parts, in the order of Parts
	Rows []Whole
}

// SVG draws the picture.
func (s *Shares) SVG() string {
	if len(s.Rows) == 0 {
		return s.nothing("Nothing was measured.")
	}
	height := rowHeight * vg.Length(len(s.Rows))
	c := newCanvas(height)
	d := c.area(0, 0, Width, height)
	for i, r := range s.Rows {
		top := height - rowHeight*vg.Length(i)
		rowText(d, top, r.Label, r.Value, false)
		y0, y1 := top-32, top-21
		x := vg.Length(0)
		for j, part := range r.Parts {
			w := vg.Length(part) * Width
			if w <= 0 {
				continue
			}
			d.SetColor(s.Inks[j])
			gap := vg.Length(1) // between parts, so that colour is not all that tells them apart
			if w <= 2 {
				gap = 0
			}
			d.Fill(vg.Rectangle{Min: vg.Point{X: x, Y: y0}, Max: vg.Point{X: x + w - gap, Y: y1}}.Path())
			x += w
		}
		if r.Parts == nil {
			d.StrokeLine2(draw.LineStyle{Color: InkGrid, Width: 1}, 0, (y0+y1)/2, Width, (y0+y1)/2)
		}
	}
	return s.wrap(height, c.body.String())
}
