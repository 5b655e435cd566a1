package kvtpcc

import (
	"math"
	"sync/atomic"

	"tpccbench/tpcc"
)

// Shared is what all sessions of an open store have in common: the number of the last row of HISTORY, which are numbered in
// the order of their arrival (numbers may be left out: those of transactions that were given up), and what the transactions
// remember of the NEW-ORDER queues.
type Shared struct {
	last   atomic.Uint64
	oldest oldest
}

// OpenShared finds the last number of HISTORY that r holds. Reader has no way backwards, so the search halves the range of
// numbers: 63 short scans.
func OpenShared(r Reader) (*Shared, error) {
	// The last one is in [low, high].
	low, high := uint64(0), uint64(math.MaxInt64)
	end := []byte{tableByte(tpcc.History) + 1}
	var key []byte
	for low < high {
		middle := low + (high-low)/2 + 1
		key = appendHistoryKey(key[:0], middle)
		found := false
		err := r.Scan(key, end, func(_, _ []byte) bool {
			found = true
			return false
		})
		if err != nil {
			return nil, err
		}
		if found {
			low = middle
		} else {
			high = middle - 1
		}
	}
	h := new(Shared)
	h.last.Store(low)
	return h, nil
}

// take returns the next number of HISTORY.
func (h *Shared) take() uint64 { return h.last.Add(1) }
