package plot

import (
	"fmt"
	"html"
	"image"
	"image/color"
	"math"
	"strconv"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// canvas is a vg.Canvas that writes the body of an SVG picture, in units of one CSS pixel with y downward. Nothing in
// this package turns or scales what it draws, and no picture has images in it: those methods panic.
type canvas struct {
	height vg.Length
	body   strings.Builder
	stack  []pen
}

type pen struct {
	ink   Ink
	width vg.Length
	dash  []vg.Length
}

func newCanvas(height vg.Length) *canvas {
	return &canvas{height: height, stack: []pen{{ink: InkText, width: 1}}}
}

func (c *canvas) pen() *pen { return &c.stack[len(c.stack)-1] }

func (c *canvas) SetLineWidth(w vg.Length) { c.pen().width = w }

func (c *canvas) SetLineDash(pattern []vg.Length, _ vg.Length) { c.pen().dash = pattern }

// SetColor takes inks. Any other colour would not change with the page: it is that of text.
func (c *canvas) SetColor(k color.Color) {
	ink, ok := k.(Ink)
	if !ok {
		ink = InkText
	}
	c.pen().ink = ink
}

func (c *canvas) Push() { c.stack = append(c.stack, *c.pen()) }

func (c *canvas) Pop() { c.stack = c.stack[:len(c.stack)-1] }

func (c *canvas) Rotate(float64) { panic("plot: no picture has turned parts") }

func (c *canvas) Translate(vg.Point) { panic("plot: no picture has moved parts") }

func (c *canvas) Scale(float64, float64) { panic("plot: no picture has scaled parts") }

func (c *canvas) DrawImage(vg.Rectangle, image.Image) { panic("plot: no picture has images in it") }

func (c *canvas) Stroke(p vg.Path) {
	k := c.pen()
	if k.width <= 0 || len(p) == 0 {
		return
	}
	fmt.Fprintf(&c.body, `<path class="l %s"`, k.ink.Class())
	if k.width != 1 {
		fmt.Fprintf(&c.body, ` stroke-width="%s"`, number(k.width))
	}
	if len(k.dash) > 0 {
		fmt.Fprintf(&c.body, ` stroke-dasharray="%s"`, dashText(k.dash))
	}
	fmt.Fprintf(&c.body, " d=\"%s\"/>\n", c.path(p))
}

func dashText(pattern []vg.Length) string {
	parts := make([]string, len(pattern))
	for i, d := range pattern {
		parts[i] = number(d)
	}
	return strings.Join(parts, " ")
}

func (c *canvas) Fill(p vg.Path) {
	if len(p) > 0 {
		fmt.Fprintf(&c.body, "<path class=\"f %s\" d=\"%s\"/>\n", c.pen().ink.Class(), c.path(p))
	}
}

// FillString is how gonum's own text handlers draw; see handler, which knows the alignment too.
func (c *canvas) FillString(f font.Face, pt vg.Point, s string) {
	c.text(f.Font.Size, pt, "start", "", s)
}

// text writes one line; weight is an attribute, or empty.
func (c *canvas) text(size vg.Length, pt vg.Point, anchor, weight, s string) {
	fmt.Fprintf(&c.body, `<text class="%s" x="%s" y="%s" font-size="%s"`, c.pen().ink.Class(), number(pt.X), number(c.height-pt.Y), number(size))
	if anchor != "start" {
		fmt.Fprintf(&c.body, ` text-anchor="%s"`, anchor)
	}
	fmt.Fprintf(&c.body, "%s>%s</text>\n", weight, html.EscapeString(s))
}

// path is the data of a path element: lines and whole circles, which is all that the figures are made of.
func (c *canvas) path(p vg.Path) string {
	var b strings.Builder
	last := byte(0)
	point := func(command byte, x, y vg.Length) {
		if command != last || command == 'M' {
			b.WriteByte(command)
		} else {
			b.WriteByte(' ')
		}
		last = command
		b.WriteString(number(x) + " " + number(c.height-y))
	}
	for _, k := range p {
		switch k.Type {
		case vg.MoveComp:
			point('M', k.Pos.X, k.Pos.Y)
		case vg.LineComp:
			point('L', k.Pos.X, k.Pos.Y)
		case vg.ArcComp:
			if math.Abs(k.Angle) < 2*math.Pi-1e-9 {
				panic("plot: no picture has arcs that are not whole circles")
			}
			point('M', k.Pos.X-k.Radius, k.Pos.Y)
			r := number(k.Radius)
			for _, x := range []vg.Length{k.Pos.X + k.Radius, k.Pos.X - k.Radius} {
				fmt.Fprintf(&b, "A%s %s 0 1 0 %s %s", r, r, number(x), number(c.height-k.Pos.Y))
			}
			last = 'A'
		case vg.CloseComp:
			b.WriteByte('Z')
			last = 'Z'
		default:
			panic("plot: no picture has curves")
		}
	}
	return b.String()
}

// number renders a coordinate to a tenth of a unit.
func number(v vg.Length) string {
	s := strconv.FormatFloat(math.Round(v.Points()*10)/10, 'f', -1, 64)
	if s == "-0" {
		return "0"
	}
	return s
}

// handler lays text out by the metrics of Liberation Sans, and tells the picture how it is aligned, so that a page with
// another font has it begin or end at the right place all the same.
type handler struct{ text.Plain }

var fonts = font.NewCache(liberation.Collection())

var texts = handler{text.Plain{Fonts: fonts}}

// style is that of a text of the size, in px.
func style(size vg.Length, ink Ink, x text.XAlignment, y text.YAlignment) draw.TextStyle {
	return draw.TextStyle{Color: ink, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		XAlign: x, YAlign: y, Handler: texts}
}

// unwrap finds the canvas beneath the areas of it that gonum draws to.
func unwrap(to vg.Canvas) *canvas {
	for {
		switch outer := to.(type) {
		case *draw.Canvas:
			to = outer.Canvas
		case draw.Canvas:
			to = outer.Canvas
		default:
			return to.(*canvas)
		}
	}
}

// Box leaves room for fonts that are wider than Liberation Sans.
func (h handler) Box(s string, f font.Font) (width, height, depth vg.Length) {
	width, height, depth = h.Plain.Box(s, f)
	return width * 1.15, height, depth
}

// Draw draws one line of text.
func (h handler) Draw(to vg.Canvas, s string, sty text.Style, pt vg.Point) {
	if s == "" {
		return
	}
	c := unwrap(to)
	c.SetColor(sty.Color)
	weight := ""
	if sty.Font.Weight == xfont.WeightBold {
		weight = ` font-weight="bold"`
	}
	anchor := map[text.XAlignment]string{draw.XLeft: "start", draw.XCenter: "middle", draw.XRight: "end"}[sty.XAlign]
	face := h.Fonts.Lookup(sty.Font, sty.Font.Size)
	// As text.Plain does: pt is the aligned corner of the line's box, the baseline is what is drawn at.
	pt.Y += sty.Height(s)*vg.Length(sty.YAlign) - face.Extents().Ascent + sty.Font.Size
	c.text(sty.Font.Size, pt, anchor, weight, s)
}
