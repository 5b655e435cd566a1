package driver

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// drawn are the first n arrivals.
func drawn(seed uint64, rate float64, kind Arrivals, n int) []int64 {
	a := newArrivals(seed, rate, kind)
	var at []int64
	for range n {
		at = append(at, a.next())
	}
	return at
}

// TestArrivals proves that the arrivals are a function of the seed, that fixed ones need none, and that both never go
// back.
func TestArrivals(t *testing.T) {
	for _, kind := range []Arrivals{FixedArrivals, PoissonArrivals} {
		a := drawn(7, 3000, kind, 1000)
		if b := drawn(7, 3000, kind, 1000); !slices.Equal(a, b) {
			t.Errorf("%s: other arrivals from the same seed", kind)
		}
		if same := slices.Equal(a, drawn(8, 3000, kind, 1000)); same != (kind == FixedArrivals) {
			t.Errorf("%s: the same arrivals from another seed: %t", kind, same)
		}
		if !slices.IsSorted(a) || a[0] < 0 {
			t.Errorf("%s: the arrivals go back", kind)
		}
	}
	fixed := drawn(7, 3, FixedArrivals, 3_000_001)
	if fixed[0] != 0 || fixed[1] != 333_333_333 || fixed[3_000_000] != 1_000_000*secondNS {
		t.Errorf("fixed arrivals are at %d, %d and, a million seconds on, %d", fixed[0], fixed[1], fixed[3_000_000])
	}
	if late := drawn(7, MinRate, FixedArrivals, 1)[0]; late != 0 {
		t.Errorf("the first fixed arrival is at %d", late)
	}
}

// TestPoisson proves that the gaps have the mean and the variance of an exponential distribution, and that the counts of
// a tenth of a second have a variance as large as their mean, each within five standard errors.
func TestPoisson(t *testing.T) {
	const n, rate = 400_000, 2000.0
	for _, seed := range []uint64{0, 1, 106, math.MaxUint64} {
		at := drawn(seed, rate, PoissonArrivals, n)
		var gaps, counts []float64
		before := int64(0)
		for _, x := range at {
			gaps = append(gaps, float64(x-before)/1e9*rate) // in means
			before = x
			tenth := int(x / int64(time.Second/10))
			for len(counts) <= tenth {
				counts = append(counts, 0)
			}
			counts[tenth]++
		}
		counts = counts[:len(counts)-1] // not whole
		check := func(what string, got, want, standardError float64) {
			if math.Abs(got-want) > 5*standardError {
				t.Errorf("seed %d: the %s is %.4f; it must be %.4f within 5 x %.4f", seed, what, got, want, standardError)
			}
		}
		mean, variance := moments(gaps)
		check("mean of the gaps", mean, 1, 1/math.Sqrt(n))
		check("variance of the gaps", variance, 1, math.Sqrt(8.0/n)) // the fourth central moment is 9
		mean, variance = moments(counts)
		check("variance of the counts over their mean", variance/mean, 1, math.Sqrt(2/float64(len(counts))))
	}
}

func moments(xs []float64) (mean, variance float64) {
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	for _, x := range xs {
		variance += (x - mean) * (x - mean) / float64(len(xs)-1)
	}
	return mean, variance
}

// TestValidateArrivals proves that a rate without arrivals, arrivals without a rate, and a rate that is none are refused.
func TestValidateArrivals(t *testing.T) {
	for _, c := range []struct {
		rate float64
		kind Arrivals
		want string
	}{
		{0, "", ""}, {MinRate, FixedArrivals, ""}, {MaxRate, PoissonArrivals, ""},
		{0, FixedArrivals, `arrivals is "fixed" without a rate`},
		{5, "", `arrivals is ""; it must be "fixed" or "poisson"`},
		{5, "bursts", `arrivals is "bursts"`},
		{-1, FixedArrivals, "the rate is -1 transactions/s; it must be 0.001..10000000"},
		{MaxRate + 1, FixedArrivals, "the rate is 1.0000001e+07"},
		{math.NaN(), FixedArrivals, "the rate is NaN"},
	} {
		cfg := timed(1, 0, time.Second)
		cfg.Rate, cfg.Arrivals = c.rate, c.kind
		err := cfg.Validate()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("rate %v, %q: %v; want %q", c.rate, c.kind, err, c.want)
		}
	}
}
