package driver

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Arrivals says how the transactions of an open loop follow each other.
type Arrivals string

// Kinds of Arrivals. The zero value is for the closed loop, which has none.
const (
	// FixedArrivals are evenly spaced, the first at the terminals' release.
	FixedArrivals Arrivals = "fixed"
	// PoissonArrivals are those of many users who know nothing of each other: the gaps are exponential.
	PoissonArrivals Arrivals = "poisson"
)

// Bounds of Config.Rate, transactions/s.
const (
	MinRate = 0.001
	MaxRate = 10_000_000
)

// arrivalsStream is the second word of the generator's seed; the first is the run's seed. Package tpcc mixes both words
// of its streams, so that none of them begins at this state.
const arrivalsStream = 0x6172726976616c73

// validateArrivals says what is wrong with a rate and its arrivals, or nil.
func validateArrivals(rate float64, a Arrivals) error {
	switch {
	case rate == 0 && a == "":
		return nil
	case rate == 0:
		return fmt.Errorf("driver: arrivals is %q without a rate; a closed loop has none", string(a))
	case !(rate >= MinRate && rate <= MaxRate):
		return fmt.Errorf("driver: the rate is %v transactions/s; it must be %v..%d", rate, MinRate, MaxRate)
	case a != FixedArrivals && a != PoissonArrivals:
		return fmt.Errorf("driver: arrivals is %q; it must be %q or %q", string(a), string(FixedArrivals), string(PoissonArrivals))
	}
	return nil
}

// arrivals draws the intended starts of an open loop, one after the other: a function of seed, rate and kind alone.
type arrivals struct {
	gap     float64 // mean, ns
	poisson bool
	drawn   int64
	at      float64 // the last one, ns since the release
	random  rand.PCG
}

func newArrivals(seed uint64, rate float64, kind Arrivals) arrivals {
	return arrivals{gap: 1e9 / rate, poisson: kind == PoissonArrivals, random: *rand.NewPCG(seed, arrivalsStream)}
}

// next is the intended start of the next transaction, ns since the release.
func (a *arrivals) next() int64 {
	if a.poisson {
		uniform := float64(a.random.Uint64()>>11) * 0x1p-53 // 0 <= uniform < 1
		a.at -= math.Log1p(-uniform) * a.gap
	} else {
		a.at = float64(a.drawn) * a.gap // no sum, which would gather the rounding of each gap
	}
	a.drawn++
	return int64(min(a.at, 1<<62))
}
