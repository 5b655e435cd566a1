package kvtpcc

import "sync"

// oldest remembers for each district below which O_ID it has no new order any more, so that a Delivery need not look for
// its oldest from the beginning: NEW-ORDER is a queue, and in a log-structured store what was taken out of it lies there as
// tombstones until a compaction, each of which a scan has to step over.
//
// It is right because a district's orders get ascending numbers and the lowest is always taken first. What is remembered
// is an order that a transaction has found to be the oldest, not the one behind it: should that transaction be given up,
// the order is still found. One that has read what is given up with it (the members of a group) must make it forget.
type oldest struct {
	mu         sync.Mutex
	byDistrict map[[2]int32]int64 // W_ID, D_ID
}

// from is the O_ID to begin at.
func (o *oldest) from(wid, did int32) int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.byDistrict[[2]int32{wid, did}]
}

// found says that oid was the oldest in what a transaction has read.
func (o *oldest) found(wid, did int32, oid int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byDistrict == nil {
		o.byDistrict = map[[2]int32]int64{}
	}
	if district := [2]int32{wid, did}; oid > o.byDistrict[district] {
		o.byDistrict[district] = oid
	}
}

func (o *oldest) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.byDistrict)
}
