package stats

import (
	"math"

	"golang.org/x/perf/benchmath"
)

// Outcomes of a comparison of two samples.
const (
	TooFew   = "too few rounds to tell" // even samples that do not overlap could not differ significantly
	Same     = "no difference"
	Differ   = "different"
	NoRatio  = "no ratio" // A's median is 0 and B's is not
	Unusable = "not measured"
)

// Difference compares samples A and B of the same figure that are not paired.
type Difference struct {
	A, B     Summary
	Ratio    float64   // of the medians, B / A; NaN without a ratio
	Interval *Interval // of Ratio; nil if A or B has none, or A's reaches 0
	P        float64   // of the two-sided Mann-Whitney U test; NaN if a sample is empty
	Outcome  string
}

// Compare compares two samples that are not paired. They differ if the Mann-Whitney U test says so at 1 - Confidence.
// The interval of the ratio is the quotient of the medians' intervals: both cover their medians at once with the
// product of their confidences, which is the confidence given.
func Compare(a, b []float64) Difference {
	d := Difference{A: Summarize(a), B: Summarize(b), Ratio: math.NaN(), P: math.NaN()}
	if len(a) == 0 || len(b) == 0 {
		d.Outcome = Unusable
		return d
	}
	d.P = benchmath.AssumeNothing.Compare(sample(a), sample(b)).P
	switch {
	case d.A.Median == 0 && d.B.Median == 0:
		d.Ratio = 1
	case d.A.Median != 0:
		d.Ratio = d.B.Median / d.A.Median
	}
	if x, y := d.A.Interval, d.B.Interval; x != nil && y != nil && x.Low > 0 && y.Low >= 0 {
		d.Interval = &Interval{y.Low / x.High, y.High / x.Low, x.Confidence * y.Confidence}
	}
	switch {
	case leastP(len(a), len(b)) > 1-Confidence:
		d.Outcome = TooFew
	case d.P > 1-Confidence:
		d.Outcome = Same
	case math.IsNaN(d.Ratio):
		d.Outcome = NoRatio
	default:
		d.Outcome = Differ
	}
	return d
}

// leastP is the smallest P that samples of these sizes can have: that of samples that do not overlap, two of the
// n+m over n orders that are equally likely if nothing differs.
func leastP(n, m int) float64 {
	orders := 1.0
	for i := 1; i <= n; i++ {
		orders *= float64(m+i) / float64(i)
	}
	return math.Min(1, 2/orders)
}
