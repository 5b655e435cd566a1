package plot

import (
	"math"
	"slices"
	"strconv"

	gonum "gonum.org/v1/plot"
)

// Scale is how an axis runs.
type Scale int

const (
	Linear     Scale = iota // from zero
	Log                     // values must be above 0
	Percentile              // of shares 0 <= p < 1: each nine has the same length
)

// Axis describes an axis. Its ends are round values around the data.
type Axis struct {
	Unit  Unit
	Scale Scale
}

// fits says whether the value can be on the axis.
func (a *Axis) fits(v float64) bool {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return false
	case a.Scale == Log:
		return v > 0
	case a.Scale == Percentile:
		return v >= 0 && v < 1
	}
	return true
}

// at is where the value is on gonum's axis.
func (a *Axis) at(v float64) float64 {
	if a.Scale == Percentile {
		return 1 / (1 - v)
	}
	return v
}

// set prepares gonum's axis for data of the range, which is in terms of at. About that many ticks have a label.
func (a *Axis) set(to *gonum.Axis, low, high float64, labels int) {
	var ticks []gonum.Tick
	switch a.Scale {
	case Linear:
		ticks = linearTicks(math.Min(low, 0), high, labels, a.Unit.Text)
	case Log:
		to.Scale = gonum.LogScale{}
		ticks = logTicks(low, high, labels, a.Unit.Text)
	case Percentile:
		to.Scale = gonum.LogScale{}
		ticks = percentileTicks(high)
	}
	to.Min, to.Max = ticks[0].Value, ticks[len(ticks)-1].Value
	to.Tick.Marker = gonum.ConstantTicks(ticks)
}

// linearTicks are ticks at multiples of a round step, the first at or below low, the last at or above high.
func linearTicks(low, high float64, labels int, text func(float64) string) []gonum.Tick {
	if !(high > low) {
		high = low + 1
	}
	rough := (high - low) / float64(labels)
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	step := 10 * power
	for _, k := range []float64{1, 2, 2.5, 5} {
		if k*power >= rough*0.999 {
			step = k * power
			break
		}
	}
	var ticks []gonum.Tick
	for i := math.Floor(low/step + 1e-9); ; i++ {
		ticks = append(ticks, gonum.Tick{Value: i * step, Label: text(i * step)})
		if i*step >= high-step*1e-9 {
			return ticks
		}
	}
}

// logTicks are ticks at 1, 2 and 5 times powers of ten around the range. All have a label where there is room, else those
// at powers have one, or at every second power and so on; two at least.
func logTicks(low, high float64, labels int, text func(float64) string) []gonum.Tick {
	multiples := []float64{1, 2, 5}
	first := int(math.Floor(math.Log10(low))) * 3
	value := func(i int) float64 {
		return multiples[((i%3)+3)%3] * math.Pow(10, math.Floor(float64(i)/3))
	}
	for value(first+1) <= low*(1+1e-9) {
		first++
	}
	last := first + 1
	for value(last) < high*(1-1e-9) {
		last++
	}
	every := 1
	for decades := 1; (last-first)/every >= labels; decades++ {
		every = 3 * decades
	}
	var ticks []gonum.Tick
	for i := first; i <= last; i++ {
		t := gonum.Tick{Value: value(i)}
		if i%every == 0 {
			t.Label = text(t.Value)
		}
		ticks = append(ticks, t)
	}
	labelled := func(t gonum.Tick) bool { return t.Label != "" }
	if i := slices.IndexFunc(ticks, labelled); i < 0 || !slices.ContainsFunc(ticks[i+1:], labelled) {
		for i := range ticks {
			ticks[i].Label = ""
		}
		ticks[0].Label, ticks[len(ticks)-1].Label = text(value(first)), text(value(last))
	}
	return ticks
}

// percentileTicks are ticks at 0, 50, 90, 99, 99.9 per cent and so on up to the share that 1/(1-p) = high stands for.
func percentileTicks(high float64) []gonum.Tick {
	ticks := []gonum.Tick{{Value: 1}, {Value: 2, Label: "50"}, {Value: 10, Label: "90"}}
	for nines := 2; ticks[len(ticks)-1].Value < high*(1-1e-9); nines++ {
		percent := 100 - math.Pow(10, float64(2-nines))
		ticks = append(ticks, gonum.Tick{Value: math.Pow(10, float64(nines)), Label: strconv.FormatFloat(percent, 'f', max(0, nines-2), 64)})
	}
	return ticks
}

// unlabelled are the ticks of another axis, without their labels.
type unlabelled struct{ gonum.Ticker }

func (u unlabelled) Ticks(low, high float64) []gonum.Tick {
	ticks := u.Ticker.Ticks(low, high)
	out := make([]gonum.Tick, len(ticks))
	for i, t := range ticks {
		out[i].Value = t.Value
	}
	return out
}
