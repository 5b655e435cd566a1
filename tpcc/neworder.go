package tpcc

// newOrder draws a New-Order (clause 2.4.1).
func (t *Terminal) newOrder(in *NewOrderInput) {
	in.WID, in.DID, in.CID = t.home, t.anyDistrict(), t.customer()
	in.EntryD = t.date
	in.Count = int32(t.rnd.between(MinLines, MaxLines))
	rollback := t.rnd.percent(1) // clause 2.4.1.4
	for i := range in.Lines[:in.Count] {
		line := &in.Lines[i]
		line.IID = int32(t.rnd.nuRand(AItem, t.constants.Item, 1, int64(t.scale.Items)))
		line.SupplyWID = t.home
		if t.scale.Warehouses > 1 && t.rnd.percent(1) {
			line.SupplyWID = t.rnd.other(t.home, int32(t.scale.Warehouses))
		}
		line.Quantity = int32(t.rnd.between(1, 10))
	}
	if rollback {
		in.Lines[in.Count-1].IID = t.scale.UnusedItem()
	}
}

// UnusedItem is an I_ID that no item has: the unused value of clause 2.4.1.5.
func (s Scale) UnusedItem() int32 { return int32(s.Items) + 1 }
