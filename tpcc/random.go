package tpcc

import (
	"math/bits"
	"math/rand/v2"
)

// stream is one sequence of random numbers: PCG-DXSM (math/rand/v2), started from a seed and a stream's number.
// Streams of one seed with different numbers start at different states; nothing else of the package holds randomness.
type stream struct {
	pcg rand.PCG
}

// purpose keeps the streams of one seed apart: each user of randomness has its own.
type purpose uint64

const (
	forConstants purpose = iota + 1
	forItem
	forWarehouse
	forDistrict
	forCustomer
	forOrders
	forLineCount
	forOrderLine
	forStock
	forTerminal
)

// newStream starts stream (p, number) of the seed. number is below 1<<56.
func newStream(seed uint64, p purpose, number uint64) stream {
	// Both words go through mix, so that neighbouring seeds and numbers start far from each other. mix is a bijection:
	// for one seed, no two streams start at the same state.
	hi := mix(seed)
	return stream{*rand.NewPCG(hi, mix(hi+(uint64(p)<<56|number)))}
}

// mix is the finalizer of SplitMix64, a bijection.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below draws uniformly from 0..n-1, n at least 1, without bias (Lemire's multiplication with rejection).
func (s *stream) below(n int64) int64 {
	u := uint64(n)
	hi, lo := bits.Mul64(s.pcg.Uint64(), u)
	if lo < u {
		for reject := -u % u; lo < reject; {
			hi, lo = bits.Mul64(s.pcg.Uint64(), u)
		}
	}
	return int64(hi)
}

// between draws uniformly from x..y, both included: random(x, y) of clause 2.1.4.
func (s *stream) between(x, y int64) int64 { return x + s.below(y-x+1) }

// percent is true in p of 100 draws.
func (s *stream) percent(p int64) bool { return s.below(100) < p }

// other draws uniformly from 1..n without home, n at least 2, by one draw.
func (s *stream) other(home, n int32) int32 {
	o := 1 + int32(s.below(int64(n-1)))
	if o >= home {
		o++
	}
	return o
}
