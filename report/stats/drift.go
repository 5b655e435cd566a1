package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// Drift is the change of a figure over rounds: that of the least-squares line from the first to the last round, as a
// share of the mean (0.02: 2 % more at the end). It is NaN with fewer than three rounds, of which any two make a line,
// and if the mean is 0.
func Drift(rounds, values []float64) float64 {
	mean := stat.Mean(values, nil)
	if len(values) < 3 || mean == 0 {
		return math.NaN()
	}
	_, slope := stat.LinearRegression(rounds, values, nil, false)
	return slope * (rounds[len(rounds)-1] - rounds[0]) / mean
}
