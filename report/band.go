package report

import (
	"math"
	"slices"
)

// Pair is an A/A pair: two cells that are the same engine with the same settings at the same place, under two labels.
type Pair struct {
	A, B *Cell
}

// Band says how far identical things differ.
type Band struct {
	Factor float64 // at least 1: identical things differed by up to this factor, either way, within a round
	Ratios int     // how many ratios of A/A pairs it was taken from
}

// Contains reports whether a ratio is one that identical things have too: 1/Factor..Factor.
func (b Band) Contains(ratio float64) bool { return ratio >= 1/b.Factor && ratio <= b.Factor }

// Band is the A/A band of the column on the device: over all A/A pairs there and all rounds, the farthest that the
// ratio of the pair's two runs of one round was from 1. ok is false if no pair on the device has the figure in a common
// round; then nobody knows how far identical things differ. A round in which one of the two is 0 has no ratio, and says
// nothing.
func (s *Study) Band(device, column string) (b Band, ok bool) {
	return s.band(device, func(p Pair) []float64 { return Ratios(column, p.B, p.A).Values })
}

// quotientBand is Band for column / over.
func (s *Study) quotientBand(device, column, over string) (b Band, ok bool) {
	return s.band(device, func(p Pair) []float64 {
		x, y := p.A.Quotients(column, over), p.B.Quotients(column, over)
		var ratios []float64
		for i, round := range x.Rounds {
			if j := slices.Index(y.Rounds, round); j >= 0 && undefined(y.Values[j], x.Values[i]) == "" {
				ratios = append(ratios, y.Values[j]/x.Values[i])
			}
		}
		return ratios
	})
}

func (s *Study) band(device string, ratios func(Pair) []float64) (b Band, ok bool) {
	b.Factor = 1
	for _, p := range s.Pairs {
		if p.A.Device != device {
			continue
		}
		for _, r := range ratios(p) {
			if r > 0 {
				b.Factor = math.Max(b.Factor, math.Max(r, 1/r))
				b.Ratios++
			}
		}
	}
	return b, b.Ratios > 0
}

// pairUp finds the plan's A/A pairs among the cells.
func (s *Study) pairUp() {
	for _, t := range s.Plan.Twins() {
		a, _ := s.Cell(t.Cell)
		b, _ := s.Cell(t.Twin)
		s.Pairs = append(s.Pairs, Pair{a, b})
	}
}
