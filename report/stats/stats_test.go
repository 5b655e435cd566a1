package stats

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A summary is the median, the range, and an interval from six figures on, whatever their order, which it leaves alone.
func TestSummarize(t *testing.T) {
	for _, c := range []struct {
		values           []float64
		median, min, max float64
		interval         *Interval
	}{
		{nil, 0, 0, 0, nil},
		{[]float64{5}, 5, 5, 5, nil},
		{[]float64{4, 1}, 2.5, 1, 4, nil},
		{[]float64{3, 1, 2}, 2, 1, 3, nil},
		{[]float64{5, 4, 3, 2, 1}, 3, 1, 5, nil},
		// Of six, lowest to highest: 1 - 2 * (1/2)^6.
		{[]float64{6, 5, 4, 3, 2, 1}, 3.5, 1, 6, &Interval{1, 6, 0.96875}},
		// Of nine, the second to the eighth: 1 - 2 * (1 + 9) / 2^9.
		{[]float64{9, 8, 7, 6, 5, 4, 3, 2, 1}, 5, 1, 9, &Interval{2, 8, 0.9609375}},
	} {
		before := slices.Clone(c.values)
		s := Summarize(c.values)
		if s.N != len(c.values) || s.Median != c.median || s.Min != c.min || s.Max != c.max {
			t.Errorf("%v: %+v", c.values, s)
		}
		if (s.Interval == nil) != (c.interval == nil) || s.Interval != nil &&
			(s.Interval.Low != c.interval.Low || s.Interval.High != c.interval.High || math.Abs(s.Interval.Confidence-c.interval.Confidence) > 1e-12) {
			t.Errorf("%v: interval %+v, want %+v", c.values, s.Interval, c.interval)
		}
		if !slices.Equal(before, c.values) {
			t.Errorf("the figures were put in another order: %v", c.values)
		}
	}
}

// The median lies in the interval and the interval in the range; scaling the figures scales all of it.
func TestSummaryIsOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0, 1e9), 1, 40).Draw(t, "values")
		s := Summarize(values)
		if s.Min > s.Median || s.Median > s.Max {
			t.Fatalf("%+v", s)
		}
		if i := s.Interval; (i != nil) != (len(values) >= MinInterval) ||
			i != nil && (i.Low < s.Min || i.Low > s.Median || i.High < s.Median || i.High > s.Max || i.Confidence < Confidence) {
			t.Fatalf("%d figures: %+v in %+v", len(values), i, s)
		}
		for i := range values {
			values[i] *= 2
		}
		if d := Summarize(values); d.Median != 2*s.Median || d.Min != 2*s.Min || d.Max != 2*s.Max {
			t.Fatalf("%+v doubled is %+v", s, d)
		}
	})
}

// What two samples come to: the outcome, the ratio and p, which for samples that do not overlap is two over the number
// of orders in which their figures can stand.
func TestCompare(t *testing.T) {
	low, high := []float64{1, 1.01, 1.02, 1.03, 1.04, 1.05}, []float64{2, 2.02, 2.04, 2.06, 2.08, 2.1}
	for _, c := range []struct {
		name     string
		a, b     []float64
		outcome  string
		ratio, p float64
		interval *Interval
	}{
		{"apart", low, high, Differ, 2, 2.0 / 924, &Interval{2 / 1.05, 2.1, 0.96875 * 0.96875}},
		{"apart, four each", low[:4], high[:4], Differ, 2, 2.0 / 70, nil},
		{"apart, three each", low[:3], high[:3], TooFew, 2, 2.0 / 20, nil},
		{"apart, one against many", low[:1], high, TooFew, 2.05, 2.0 / 7, nil},
		{"apart, three against six", low[:3], high, Differ, 2.05 / 1.01, 2.0 / 84, nil},
		{"the same", low, low, Same, 1, 1, &Interval{1 / 1.05, 1.05, 0.96875 * 0.96875}},
		{"nothing on one side", nil, high, Unusable, math.NaN(), math.NaN(), nil},
		{"all zeros", make([]float64, 6), make([]float64, 6), Same, 1, 1, nil},
		{"from zero", make([]float64, 6), high, NoRatio, math.NaN(), 0.002, nil},
	} {
		d := Compare(c.a, c.b)
		if d.Outcome != c.outcome {
			t.Errorf("%s: %s, want %s (p %v)", c.name, d.Outcome, c.outcome, d.P)
		}
		near := func(x, y float64) bool { return math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) < 1e-9 }
		if !near(d.Ratio, c.ratio) {
			t.Errorf("%s: ratio %v, want %v", c.name, d.Ratio, c.ratio)
		}
		if c.name != "from zero" && !near(d.P, c.p) {
			t.Errorf("%s: p is %v, want %v", c.name, d.P, c.p)
		}
		if (d.Interval == nil) != (c.interval == nil) || d.Interval != nil &&
			(!near(d.Interval.Low, c.interval.Low) || !near(d.Interval.High, c.interval.High) || !near(d.Interval.Confidence, c.interval.Confidence)) {
			t.Errorf("%s: interval %+v, want %+v", c.name, d.Interval, c.interval)
		}
	}
}

// The drift is that of the line through the rounds, as a share of the mean; two rounds have none.
func TestDrift(t *testing.T) {
	for _, c := range []struct {
		rounds, values []float64
		want           float64
	}{
		{[]float64{1, 2, 3}, []float64{99, 100, 101}, 0.02},
		{[]float64{1, 3, 5}, []float64{110, 100, 90}, -0.2},
		{[]float64{1, 2, 3, 4}, []float64{7, 7, 7, 7}, 0},
		{[]float64{1, 2, 3}, []float64{100, 130, 100}, 0},
		{[]float64{1, 2}, []float64{1, 2}, math.NaN()},
		{[]float64{1, 2, 3}, []float64{0, 0, 0}, math.NaN()},
		{nil, nil, math.NaN()},
	} {
		got := Drift(c.rounds, c.values)
		if math.IsNaN(got) != math.IsNaN(c.want) || math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v at %v: %v, want %v", c.values, c.rounds, got, c.want)
		}
	}
}
