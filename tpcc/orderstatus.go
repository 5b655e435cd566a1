package tpcc

// orderStatus draws an Order-Status (clause 2.6.1).
func (t *Terminal) orderStatus(in *OrderStatusInput) {
	in.WID, in.DID = t.home, t.anyDistrict()
	in.ByName, in.CLast, in.CID = t.customerOrName()
}
