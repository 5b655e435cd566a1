package plot

import (
	"fmt"
	"image/color"
	"strings"
)

// Ink is what something is drawn with: a name that the page's style gives a colour. It is a color.Color so that gonum
// carries it to the canvas.
type Ink int

// Inks that are no series. Series are counted from 0: see Series.
const (
	InkText  Ink = -1 - iota // labels
	InkMuted                 // axes, units
	InkFaint                 // what is behind: other rounds
	InkGrid                  // lines that help the eye
	InkBand                  // areas that mark a time or a range
	InkAlarm                 // what must not be missed
)

// shade is one ink on a light and on a dark page.
type shade struct {
	class       string
	light, dark uint32 // 0xRRGGBB
}

// Paper is the page's background, light and dark, that the inks are chosen for.
var paper = shade{"paper", 0xffffff, 0x15191d}

var inks = map[Ink]shade{
	InkText:  {"ct", 0x1b1f24, 0xe7ebef},
	InkMuted: {"cm", 0x5c6670, 0x9aa5b0},
	InkFaint: {"cf", 0xa3abb3, 0x5f6a75},
	InkGrid:  {"cg", 0xdfe3e8, 0x2e353c},
	InkBand:  {"cb", 0xf7e3b5, 0x57461a},
	InkAlarm: {"ca", 0xb3261e, 0xff8a80},
}

// series are colours that stay apart for those who see few (after Okabe and Ito), darker and lighter than theirs so
// that a thin line has contrast with the paper.
var series = []shade{
	{"c0", 0x0b66b5, 0x5fb4f5},
	{"c1", 0xc04a00, 0xff9351},
	{"c2", 0x007a55, 0x35cf9b},
	{"c3", 0xa23c85, 0xea92cf},
	{"c4", 0x806600, 0xe6cf52},
	{"c5", 0x2a7ca9, 0xa6dcf7},
	{"c6", 0x6b4226, 0xd3a98a},
	{"c7", 0x555b61, 0xb4bcc4},
}

// Series is the ink of the i-th series, from 0; after the last one they begin anew.
func Series(i int) Ink { return Ink(i % len(series)) }

func (k Ink) shade() shade {
	if k >= 0 {
		return series[int(k)%len(series)]
	}
	return inks[k]
}

// Class is the CSS class that has the ink as its colour.
func (k Ink) Class() string { return k.shade().class }

// RGBA is the ink on light paper; see color.Color.
func (k Ink) RGBA() (r, g, b, a uint32) {
	v := k.shade().light
	return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 0xff}.RGBA()
}

// CSS is the style that the pictures need: the inks as custom properties and classes, on light and on dark paper, and
// on paper that is printed. The page's own colours may refer to the properties, --ct for InkText and so on, and
// --paper.
func CSS() string {
	all := []shade{paper, inks[InkText], inks[InkMuted], inks[InkFaint], inks[InkGrid], inks[InkBand], inks[InkAlarm]}
	all = append(all, series...)
	var light, dark, classes strings.Builder
	for _, s := range all {
		fmt.Fprintf(&light, "--%s:#%06x;", s.class, s.light)
		fmt.Fprintf(&dark, "--%s:#%06x;", s.class, s.dark)
		fmt.Fprintf(&classes, ".%s{color:var(--%s)}\n", s.class, s.class)
	}
	return fmt.Sprintf(":root{color-scheme:light dark;%s}\n@media screen and (prefers-color-scheme:dark){:root{%s}}\n%s%s",
		light.String(), dark.String(), classes.String(), textCSS)
}

// textCSS: the fonts have the widths of Liberation Sans, with which gonum lays out.
const textCSS = `svg.plot{display:block;width:100%;height:auto;font-family:Arimo,"Liberation Sans",Arial,Helvetica,sans-serif}
svg.plot .l{fill:none;stroke:currentColor;stroke-linejoin:round}
svg.plot .f,svg.plot text{fill:currentColor}
`

// Area is what Swatch takes in place of a dash: the ink as an area.
const Area = -1

// Swatch is a piece of a curve, or of an area, for a legend: it stands beside the words that say what it means.
func Swatch(ink Ink, dash int) string {
	if dash == Area {
		return fmt.Sprintf(`<svg class="plot" viewBox="0 0 30 10" aria-hidden="true"><path class="f %s" d="M0 0H30V10H0Z"/></svg>`, ink.Class())
	}
	pattern := ""
	if d := dashes[dash%len(dashes)]; d != nil {
		pattern = fmt.Sprintf(` stroke-dasharray="%s"`, dashText(d))
	}
	return fmt.Sprintf(`<svg class="plot" viewBox="0 0 30 10" aria-hidden="true"><path class="l %s" stroke-width="2.5"%s d="M0 5H30"/></svg>`, ink.Class(), pattern)
}
