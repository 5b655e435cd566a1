package plot

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// element is an element of a picture.
type element struct {
	name, class, data, text string
	x, y                    float64
}

// parse reads a picture, which must be well-formed XML of one svg element.
func parse(t *testing.T, svg string) []element {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	var all []element
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%v in %.300s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local}
			for _, a := range token.Attr {
				switch a.Name.Local {
				case "class":
					e.class = a.Value
				case "d":
					e.data = a.Value
				case "x":
					e.x, _ = strconv.ParseFloat(a.Value, 64)
				case "y":
					e.y, _ = strconv.ParseFloat(a.Value, 64)
				}
			}
			all = append(all, e)
		case xml.CharData:
			if len(all) > 0 {
				all[len(all)-1].text += string(token)
			}
		}
	}
}

// texts are the texts of a picture in order.
func textsOf(all []element) []string {
	var texts []string
	for _, e := range all {
		if e.name == "text" {
			texts = append(texts, strings.TrimSpace(e.text))
		}
	}
	return texts
}

var someText = Text{ID: "a-b", Title: "A <title> & more", Description: "Figures \"1\" & 2."}

func examples() map[string]interface{ SVG() string } {
	nan := math.NaN()
	long := make([]float64, 1000)
	for i := range long {
		long[i] = float64(100 + i%7)
	}
	return map[string]interface{ SVG() string }{
		"dots": &Dots{Text: someText, Axis: Axis{Count("1/s"), Log},
			Rows: []Dot{{"a <b>", "100", Series(0), 100, 90, 120, true}, {"none", "n/a", Series(1), nan, nan, nan, false}, {"c", "9,000", Series(9), 9000, 9000, 9000, false}}},
		"no dots":   &Dots{Text: someText, Rows: []Dot{{Median: nan}}},
		"shares":    &Shares{Text: someText, Inks: []Ink{InkText, InkAlarm, InkFaint}, Rows: []Whole{{"a", "1 kB", []float64{0.5, 0.001, 0.499}}, {"b", "n/a", nil}}},
		"no shares": &Shares{Text: someText},
		"lines": &Lines{Text: someText, X: Axis{Unit{Name: "percentile"}, Percentile}, Y: Axis{Nanoseconds("time"), Log},
			Lines: []Line{{X: []float64{0.5, 0.9, 0.99, 0.999}, Y: []float64{1e3, nan, 1e5, 1e6}, End: "16"}, {X: []float64{0.5, 0.9}, Y: []float64{0, 1e4}, Dash: 1, End: "64", Low: []float64{1, 2}, High: []float64{3, 4}}}},
		"points":   &Lines{Text: someText, X: Axis{Count("x"), Linear}, Y: Axis{Percent("y"), Linear}, Lines: []Line{{X: []float64{1, 2}, Y: []float64{0, 0}, Dotted: true}}},
		"no lines": &Lines{Text: someText},
		"seconds": &Seconds{Text: someText, Ink: Series(2), Runs: []Course{{Rate: long, LatencyP99: long, LatencyMax: long, CheckpointShare: append(make([]float64, 999), 1)},
			{Rate: long[:7], LatencyMax: long[:7]}}},
		"a second":   &Seconds{Text: someText, Runs: []Course{{Rate: []float64{0}, LatencyMax: []float64{1}}}},
		"no seconds": &Seconds{Text: someText},
	}
}

// Every picture, also of nothing, is well-formed, says in words what it shows, has classes in place of colours, and all
// of its texts and points are within it.
func TestPictures(t *testing.T) {
	for name, p := range examples() {
		t.Run(name, func(t *testing.T) {
			svg := p.SVG()
			all := parse(t, svg)
			if all[0].name != "svg" || all[1].name != "title" || strings.TrimSpace(all[1].text) != someText.Title || strings.TrimSpace(all[2].text) != someText.Description {
				t.Errorf("the picture begins with %v", all[:3])
			}
			var height float64
			if _, err := fmt.Sscanf(svg, `<svg class="plot" viewBox="0 0 360 %g" role="img" aria-labelledby="a-b-t a-b-d">`, &height); err != nil {
				t.Fatalf("%v in %.120s", err, svg)
			}
			if colour := regexp.MustCompile(`#[0-9a-fA-F]{6}|rgb`).FindString(svg); colour != "" {
				t.Errorf("the picture has the colour %s", colour)
			}
			for _, forbidden := range []string{"style=", "NaN", "Inf"} {
				if strings.Contains(svg, forbidden) {
					t.Errorf("the picture has %q in it", forbidden)
				}
			}
			for _, e := range all[3:] {
				if e.name == "text" && (e.x < 0 || e.x > Width || e.y < 5 || e.y > height) {
					t.Errorf("text %q is at %v, %v, outside of %d x %v", e.text, e.x, e.y, Width, height)
				}
				if e.name == "path" && e.class == "" {
					t.Errorf("a path has no class: %.80s", e.data)
				}
				if e.name == "path" && !strings.Contains(e.data, "A") {
					for i, field := range strings.FieldsFunc(e.data, func(r rune) bool { return strings.ContainsRune("MLZHV ", r) }) {
						v, err := strconv.ParseFloat(field, 64)
						if limit := []float64{Width, height}[i%2]; err != nil || v < -0.1 || v > limit+0.1 {
							t.Errorf("%q of a path is outside of %d x %v: %v", field, Width, height, err)
						}
					}
				}
			}
			if svg != p.SVG() {
				t.Error("drawn twice, it differs")
			}
		})
	}
}

// Rows are labelled with their words, and the axis with its unit.
func TestLabels(t *testing.T) {
	all := examples()
	for name, want := range map[string][]string{
		"dots":    {"a <b>", "100", "none", "n/a", "c", "9,000", "1/s", "10k"},
		"lines":   {"16", "64", "percentile", "99.9", "time", "1 µs", "1 ms"},
		"seconds": {"transactions/s", "response time: p99 (thick), longest (thin)", "seconds", "1k"},
	} {
		got := textsOf(parse(t, all[name].SVG()))
		for _, text := range want {
			if !slices.Contains(got, text) {
				t.Errorf("%s has the texts %q, not %q among them", name, got, text)
			}
		}
	}
}

// Seconds with a checkpoint are marked in both parts, at the same places, as high as the part of the second in which it
// ran.
func TestCheckpointsAreMarked(t *testing.T) {
	s := Seconds{Text: someText, Runs: []Course{{Rate: []float64{900_000, 900_000, 10, 10, 900_000}, LatencyMax: []float64{1, 1, 1e9, 1e9, 1},
		CheckpointShare: []float64{0, 0.5, 1, 1, 0}}}}
	type rectangle struct{ low, high, height float64 }
	var parts [][]rectangle
	for _, e := range parse(t, s.SVG()) {
		if e.class != "f "+InkBand.Class() {
			continue
		}
		var part []rectangle
		for _, corners := range strings.Split(strings.TrimPrefix(e.data, "M"), "M") {
			var v [8]float64
			for i, field := range strings.FieldsFunc(corners, func(r rune) bool { return strings.ContainsRune("LZ ", r) })[:8] {
				v[i], _ = strconv.ParseFloat(field, 64)
			}
			part = append(part, rectangle{v[0], v[2], math.Abs(v[5] - v[1])})
		}
		parts = append(parts, part)
	}
	if len(parts) != 2 || len(parts[0]) != 2 || len(parts[1]) != 2 {
		t.Fatalf("the marked parts are %v", parts)
	}
	for i, part := range parts {
		first, second := part[0], part[1]
		if first.low != parts[0][0].low || second.high != parts[0][1].high {
			t.Errorf("part %d is marked from %v to %v, the first from %v to %v", i, first.low, second.high, parts[0][0].low, parts[0][1].high)
		}
		if first.high != second.low || math.Abs(second.high-second.low-2*(first.high-first.low)) > 0.2 || math.Abs(second.height-2*first.height) > 0.2 {
			t.Errorf("part %d is marked by %v: not one second half high and two whole ones", i, part)
		}
	}
	s.Runs[0].CheckpointShare = nil
	if strings.Contains(s.SVG(), InkBand.Class()) {
		t.Error("a mark is there though nothing was recorded")
	}
}

// Thinning a curve loses neither its highest nor its lowest point, keeps the order, and leaves few points.
func TestThinKeepsExtremes(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		n := 1 + random.IntN(3000)
		points := make(plotter.XYs, n)
		for i := range points {
			points[i] = plotter.XY{X: float64(i), Y: random.NormFloat64()}
		}
		got := thin(points, maxPoints)
		byY := func(a, b plotter.XY) int {
			if a.Y < b.Y {
				return -1
			}
			return 1
		}
		if len(got) > maxPoints || slices.MaxFunc(got, byY) != slices.MaxFunc(points, byY) || slices.MinFunc(got, byY) != slices.MinFunc(points, byY) {
			t.Fatalf("%d points became %d, or lost an end", n, len(got))
		}
		if !slices.IsSortedFunc(got, func(a, b plotter.XY) int { return int(a.X - b.X) }) {
			t.Fatalf("%d points are out of order", n)
		}
	}
}

// Labels that would overlap are moved apart within the area, and those that would not stay where they are.
func TestSpread(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 500 {
		ys := make([]vg.Length, 1+random.IntN(12))
		for i := range ys {
			ys[i] = vg.Length(random.Float64() * 200)
		}
		slices.Sort(ys)
		before := slices.Clone(ys)
		spread(ys, 12, 0, 200)
		apart := true
		for i := range ys {
			apart = apart && (i == 0 || before[i]-before[i-1] >= 12)
			if ys[i] < -1e-9 || ys[i] > 200+1e-9 || i > 0 && ys[i]-ys[i-1] < 12-1e-9 {
				t.Fatalf("%v became %v", before, ys)
			}
		}
		if apart && !slices.Equal(before, ys) {
			t.Fatalf("%v were apart and became %v", before, ys)
		}
	}
}

// Ticks surround the data, ascend, and have two labels at least and not many more than asked for.
func TestTicks(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	plain := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	for range 2000 {
		low := math.Pow(10, random.Float64()*12-3)
		high := low * math.Pow(10, random.Float64()*random.Float64()*8)
		n := 3 + random.IntN(6)
		for _, scale := range []Scale{Linear, Log} {
			ticks := logTicks(low, high, n, plain)
			if scale == Linear {
				ticks = linearTicks(0, high, n, plain)
			}
			labels := 0
			for i, tick := range ticks {
				if tick.Label != "" {
					labels++
				}
				if i > 0 && tick.Value <= ticks[i-1].Value {
					t.Fatalf("scale %d, %v..%v: ticks %v", scale, low, high, ticks)
				}
			}
			if first, last := ticks[0].Value, ticks[len(ticks)-1].Value; last < high*(1-1e-9) || scale == Log && first > low*(1+1e-9) {
				t.Fatalf("scale %d: ticks %v..%v do not surround %v..%v", scale, first, last, low, high)
			}
			if labels < 2 || labels > n+2 {
				t.Fatalf("scale %d, %v..%v: %d labels, asked for %d", scale, low, high, labels, n)
			}
		}
	}
}

// Units are short, with at most three significant digits.
func TestUnits(t *testing.T) {
	for _, c := range []struct {
		unit Unit
		v    float64
		want string
	}{
		{Count(""), 0, "0"}, {Count(""), 12_500, "12.5k"}, {Count(""), 999_999, "1M"}, {Count(""), 50, "50"}, {Count(""), 2e9, "2G"}, {Count(""), 5e12, "5000G"},
		{Nanoseconds(""), 200, "200 ns"}, {Nanoseconds(""), 1e6, "1 ms"}, {Nanoseconds(""), 2e9, "2 s"}, {Microseconds(""), 0.5, "0.5 µs"},
		{Bytes(""), 999.7, "1 kB"}, {Bytes(""), 1e12, "1 TB"}, {Percent(""), 0.025, "2.5 %"}, {Percent(""), 0, "0 %"},
	} {
		if got := c.unit.Text(c.v); got != c.want {
			t.Errorf("%v is %q, not %q", c.v, got, c.want)
		}
	}
}

// luminance is the relative luminance of a colour (WCAG 2.2).
func luminance(rgb uint32) float64 {
	part := func(shift int) float64 {
		v := float64(rgb>>shift&0xff) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
}

func contrast(a, b uint32) float64 {
	x, y := luminance(a)+0.05, luminance(b)+0.05
	return math.Max(x, y) / math.Min(x, y)
}

// On light and on dark paper text has a contrast of 4.5 at least and curves of 3 (WCAG 2.2, 1.4.3 and 1.4.11): the
// labels of curves' ends have their ink, so all series are held to what text needs.
func TestContrast(t *testing.T) {
	check := func(name string, s shade, least float64) {
		for page, pair := range map[string][2]uint32{"light": {s.light, paper.light}, "dark": {s.dark, paper.dark}} {
			if c := contrast(pair[0], pair[1]); c < least {
				t.Errorf("%s on %s paper has a contrast of %.2f, less than %v", name, page, c, least)
			}
		}
	}
	for i, s := range series {
		check(fmt.Sprintf("series %d", i), s, 4.5)
	}
	check("text", inks[InkText], 7)
	check("muted", inks[InkMuted], 4.5)
	check("alarm", inks[InkAlarm], 4.5)
	check("faint", inks[InkFaint], 2)
}

// The style has each ink twice, light and dark, and a class for it.
func TestCSS(t *testing.T) {
	css := CSS()
	for _, ink := range []Ink{InkText, InkMuted, InkFaint, InkGrid, InkBand, InkAlarm, Series(0), Series(len(series) + 3)} {
		if n := strings.Count(css, "--"+ink.Class()+":#"); n != 2 {
			t.Errorf("ink %d is defined %d times", ink, n)
		}
		if !strings.Contains(css, "."+ink.Class()+"{color:var(--"+ink.Class()+")}") {
			t.Errorf("ink %d has no class", ink)
		}
	}
}
