package pure

import (
	"tpccbench/tpcc"
)

// StockLevel is clause 2.8.2.2, on the last durable save's state.
func (s *session) StockLevel(in *tpcc.StockLevelInput, out *tpcc.StockLevelOutput) error {
	v := s.reads.Pin()
	defer s.reads.Unpin()
	*out = tpcc.StockLevelOutput{}
	if !known(in.WID, warehouseBits) || !known(in.DID, districtBits) {
		return missing("district %d of warehouse %d", in.DID, in.WID)
	}
	d, ok := v.Get(districts, districtKey(in.WID, in.DID))
	if !ok {
		return missing("district %d of warehouse %d", in.DID, in.WID)
	}
	// The distinct items of the lines with OL_O_ID in [D_NEXT_O_ID-20, D_NEXT_O_ID) whose S_QUANTITY is below the threshold.
	next := int32(d.Get(dNextOID))
	from := orderKey(in.WID, in.DID, max(next-tpcc.Last20, 0))
	to := orderKey(in.WID, in.DID, next) - 1
	s.seen.clear()
	for cur := v.Scan(orderLines, lineKey(from, 0), lineKey(to, maxLine)); cur.Next(); {
		item := int32(cur.Row().Get(olIID))
		if !s.seen.add(item) {
			continue
		}
		st, ok := v.Get(stocks, stockKey(in.WID, item))
		if !ok {
			return missing("stock of item %d in warehouse %d", item, in.WID)
		}
		if st.Get(sQuantity) < int64(in.Threshold) {
			out.LowStock++
		}
	}
	return nil
}

// itemSet is a set of at most Last20 * MaxLines item numbers from 1: an open hash table with linear probing, that is
// emptied by counting on.
type itemSet struct {
	item  [512]int32
	round [512]uint32 // the slot is in use if it is now
	now   uint32
}

func (s *itemSet) clear() {
	if s.now++; s.now == 0 {
		*s = itemSet{now: 1}
	}
}

// add reports whether the item is new in the set.
func (s *itemSet) add(item int32) bool {
	i := uint32(item) * 0x9e3779b1 >> 23
	for s.round[i] == s.now {
		if s.item[i] == item {
			return false
		}
		i = (i + 1) % uint32(len(s.item))
	}
	s.item[i], s.round[i] = item, s.now
	return true
}
