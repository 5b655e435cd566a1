package tpcc

// delivery draws a Delivery (clause 2.7.1).
func (t *Terminal) delivery(in *DeliveryInput) {
	in.WID, in.CarrierID, in.DeliveryD = t.home, int32(t.rnd.between(1, 10)), t.date
}
