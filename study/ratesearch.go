package study

import (
	"math"
	"strconv"
)

// The search for the highest rate that keeps a bound: the rates are the throughput of a closed loop, which no open loop
// of the same terminals can exceed for long, divided by the powers of 1 + RateResolution, down to rateSpan of them. The
// ends are tried first; between them the number of candidates is halved with each run. Whether a rate keeps the bound is
// taken to be monotonic; noise near the limit can move the answer by a step or two, since no run is repeated.
const (
	// RateResolution is how far two neighbouring rates are apart.
	RateResolution = 0.05
	// rateSpan steps of RateResolution are between the highest and the lowest rate: 1.05^64 = 22.7.
	rateSpan = 64
	// RateSearchRuns is the most runs that a search makes, without that of the closed loop: both ends, and log2(rateSpan).
	RateSearchRuns = 2 + 6
)

// RateAnswer is the outcome of a search. Rates are in transactions/s; 0: none.
type RateAnswer struct {
	Keeps  float64 // the highest rate that kept the bound; 0: even the lowest missed it
	Misses float64 // the lowest rate above Keeps that missed it; 0: even the closed loop's throughput kept it
}

// SearchRate looks for the highest rate that keeps a bound. saturated is the throughput of a closed loop; try makes a run
// at a rate and says whether it kept the bound. An error of try ends the search.
func SearchRate(saturated float64, try func(rate float64) (keeps bool, err error)) (RateAnswer, error) {
	at := func(step int) float64 { return roundRate(saturated / math.Pow(1+RateResolution, float64(step))) }
	misses, keeps := 0, rateSpan // steps downward
	if ok, err := try(at(misses)); err != nil || ok {
		return RateAnswer{Keeps: at(misses)}, err
	}
	if ok, err := try(at(keeps)); err != nil || !ok {
		return RateAnswer{Misses: at(keeps)}, err
	}
	for keeps-misses > 1 {
		middle := (misses + keeps) / 2
		ok, err := try(at(middle))
		switch {
		case err != nil:
			return RateAnswer{Keeps: at(keeps), Misses: at(misses)}, err
		case ok:
			keeps = middle
		default:
			misses = middle
		}
	}
	return RateAnswer{Keeps: at(keeps), Misses: at(misses)}, nil
}

// roundRate rounds a rate to four digits, which can be typed again.
func roundRate(rate float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(rate, 'e', 3, 64), 64)
	if err != nil {
		return rate
	}
	return rounded
}
