package study

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSearchRate: over simulated systems, an M/M/1 queue each, whose 99th percentile of the response time is known, the
// answer is the highest rate of the grid that keeps the bound, and the limit itself is within the resolution above it;
// no search makes more runs than it says.
func TestSearchRate(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 2))
		capacity := math.Pow(10, 1+5*random.Float64()) // transactions/s, of the closed loop too
		p99 := func(rate float64) float64 {
			if rate >= capacity {
				return math.Inf(1)
			}
			return math.Log(100) / (capacity - rate)
		}
		limit := capacity * (0.06 + 0.88*random.Float64()) // the rate at which the bound is met
		bound := p99(limit)
		var tried []float64
		answer, err := SearchRate(capacity, func(rate float64) (bool, error) {
			tried = append(tried, rate)
			return p99(rate) <= bound, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if !(answer.Keeps <= limit && limit < answer.Misses) {
			t.Fatalf("seed %d: %+v; the limit is %v", seed, answer, limit)
		}
		if ratio := answer.Misses / answer.Keeps; ratio > 1+RateResolution+0.002 { // rates have four digits
			t.Fatalf("seed %d: %+v are a factor of %v apart", seed, answer, ratio)
		}
		if len(tried) > RateSearchRuns || !slices.Contains(tried, answer.Keeps) || !slices.Contains(tried, answer.Misses) {
			t.Fatalf("seed %d: %+v after the runs %v", seed, answer, tried)
		}
	}
}

// TestSearchRateEnds: a bound that saturated throughput keeps takes one run, one that the lowest rate misses takes two;
// an error ends the search where it is.
func TestSearchRateEnds(t *testing.T) {
	runs := 0
	always := func(keeps bool) func(float64) (bool, error) {
		runs = 0
		return func(float64) (bool, error) { runs++; return keeps, nil }
	}
	if a, err := SearchRate(1234.56, always(true)); a != (RateAnswer{Keeps: 1235}) || err != nil || runs != 1 {
		t.Errorf("all keep: %+v, %v after %d runs; want 1235 after 1", a, err, runs)
	}
	if a, err := SearchRate(1000, always(false)); a != (RateAnswer{Misses: 44.04}) || err != nil || runs != 2 {
		t.Errorf("none keeps: %+v, %v after %d runs; want 44.04 missed after 2", a, err, runs)
	}
	broken := errors.New("broken")
	for at := 1; at <= 4; at++ {
		runs = 0
		_, err := SearchRate(1000, func(rate float64) (bool, error) {
			runs++
			if runs == at {
				return false, broken
			}
			return rate < 300, nil
		})
		if !errors.Is(err, broken) || runs != at {
			t.Errorf("an error in run %d: %v after %d runs", at, err, runs)
		}
	}
}
