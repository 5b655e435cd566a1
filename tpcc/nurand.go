package tpcc

// A of NURand for each of its three uses (clause 2.1.6).
const (
	ALast     = 255  // C_LAST
	ACustomer = 1023 // C_ID
	AItem     = 8191 // OL_I_ID
)

// Constants are the C of NURand (clause 2.1.6), one for each use. They are chosen once from the seed and never change
// while a database lives.
type Constants struct {
	LastLoad int64 // for C_LAST while loading, 0..15
	LastRun  int64 // for C_LAST while running, 80..95
	Customer int64 // for C_ID, 0..1023
	Item     int64 // for OL_I_ID, 0..8191
}

// NewConstants chooses the constants of a seed.
//
// Clause 2.1.6.1 wants |LastRun - LastLoad| within 65..119 and neither 96 nor 112. The two are drawn from 0..15 and
// 80..95: every difference is then within 65..95, also when a database that was loaded from one seed is run with
// another.
func NewConstants(seed uint64) Constants {
	s := newStream(seed, forConstants, 0)
	return Constants{
		LastLoad: s.between(0, 15),
		LastRun:  s.between(80, 95),
		Customer: s.between(0, ACustomer),
		Item:     s.between(0, AItem),
	}
}

// nuRand is NURand(a, x, y) of clause 2.1.6 with the constant c.
func (s *stream) nuRand(a, c, x, y int64) int64 {
	return ((s.between(0, a)|s.between(x, y))+c)%(y-x+1) + x
}
