// Package stats summarises the few figures that a study has of one thing: a median with its range, an order-statistic
// interval from six figures on, the drift over rounds, and whether two samples differ. Nothing is assumed of the
// distribution. The statistics are those of golang.org/x/perf/benchmath and gonum.org/v1/gonum/stat.
package stats

import (
	"slices"

	"golang.org/x/perf/benchmath"
)

const (
	// Confidence is the confidence level that is asked for, of intervals and (1 - Confidence) of comparisons.
	Confidence = 0.95
	// MinInterval is the least number of figures that have an interval at Confidence: with five, even the whole range
	// covers the median with 0.9375 only.
	MinInterval = 6
)

// Summary is what a few figures of one thing come to. With no figures all is 0.
type Summary struct {
	N        int       `json:"n"`
	Median   float64   `json:"median"`
	Min      float64   `json:"min"`
	Max      float64   `json:"max"`
	Interval *Interval `json:"interval,omitempty"` // of the median; nil below MinInterval figures
}

// Interval covers the true value with at least Confidence (0..1).
type Interval struct {
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
}

// Summarize summarises the figures. They must be finite.
func Summarize(values []float64) Summary {
	if len(values) == 0 {
		return Summary{}
	}
	s := benchmath.AssumeNothing.Summary(sample(values), Confidence)
	sum := Summary{N: len(values), Median: s.Center, Min: slices.Min(values), Max: slices.Max(values)}
	if sum.N >= MinInterval {
		sum.Interval = &Interval{s.Lo, s.Hi, s.Confidence}
	}
	return sum
}

// sample is a sample of its own: benchmath sorts in place.
func sample(values []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
}
