package tpcc

import (
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// counter counts values from low on.
type counter struct {
	low  int64
	seen []int64
}

func newCounter(low, high int64) *counter { return &counter{low, make([]int64, high-low+1)} }

// add counts v, and fails the test at once if it is out of range.
func (c *counter) add(t *testing.T, what string, v int64) {
	t.Helper()
	if v < c.low || v >= c.low+int64(len(c.seen)) {
		t.Fatalf("%s is %d, not in %d..%d", what, v, c.low, c.low+int64(len(c.seen))-1)
	}
	c.seen[v-c.low]++
}

// reachesBounds fails unless the smallest and the largest value were seen.
func (c *counter) reachesBounds(t *testing.T, what string) {
	t.Helper()
	if c.seen[0] == 0 || c.seen[len(c.seen)-1] == 0 {
		t.Errorf("%s: the bounds %d and %d were not both drawn", what, c.low, c.low+int64(len(c.seen))-1)
	}
}

// uniform fails unless all values were equally likely.
func (c *counter) uniform(t *testing.T, what string) {
	t.Helper()
	p := make([]float64, len(c.seen))
	for i := range p {
		p[i] = 1 / float64(len(p))
	}
	c.fits(t, what, p)
}

// fits is Pearson's chi-square test against the probabilities p. Neighbouring values are taken together until 10 are
// expected. Seeds are fixed, so the outcome is too; a right generator misses the level once in 10,000 tests.
func (c *counter) fits(t *testing.T, what string, p []float64) {
	t.Helper()
	n := int64(0)
	for _, seen := range c.seen {
		n += seen
	}
	chi2, bins := 0.0, 0
	expected, observed := 0.0, 0.0
	for i := range p {
		expected += p[i] * float64(n)
		observed += float64(c.seen[i])
		if expected >= 10 || i == len(p)-1 && expected > 0 {
			chi2 += (observed - expected) * (observed - expected) / expected
			bins++
			expected, observed = 0, 0
		}
	}
	if observed > 0 {
		t.Errorf("%s: values that cannot be were drawn", what)
	}
	if bins < 2 {
		t.Fatalf("%s: too few draws (%d) for a test", what, n)
	}
	if level := (distuv.ChiSquared{K: float64(bins - 1)}).Survival(chi2); level < 1e-4 {
		t.Errorf("%s: chi-square %.1f with %d degrees of freedom, level %.2g", what, chi2, bins-1, level)
	}
}

// share fails unless hits of n is what a probability of p gives: a chi-square test with two bins.
func share(t *testing.T, what string, hits, n int64, p float64) {
	t.Helper()
	(&counter{0, []int64{n - hits, hits}}).fits(t, what, []float64{1 - p, p})
}

// nuRandProbabilities is the exact distribution of NURand(a, x, y) with the constant c, by clause 2.1.6's own formula
// over all pairs of its two uniform draws.
func nuRandProbabilities(a, c, x, y int64) []float64 {
	p := make([]float64, y-x+1)
	each := 1 / float64((a+1)*(y-x+1))
	for r := int64(0); r <= a; r++ {
		for s := x; s <= y; s++ {
			p[(((r|s)+c)%(y-x+1)+x)-x] += each
		}
	}
	return p
}
