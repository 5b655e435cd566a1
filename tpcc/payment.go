package tpcc

// Smallest and largest H_AMOUNT that a Payment is drawn with, in cents (clause 2.5.1.3).
const (
	MinPayment = 1_00
	MaxPayment = 5_000_00
)

// payment draws a Payment (clause 2.5.1).
func (t *Terminal) payment(in *PaymentInput) {
	in.WID, in.DID = t.home, t.anyDistrict()
	in.CWID, in.CDID = in.WID, in.DID
	if t.scale.Warehouses > 1 && t.rnd.percent(15) { // clause 2.5.1.2: a remote customer
		in.CWID, in.CDID = t.rnd.other(t.home, int32(t.scale.Warehouses)), t.anyDistrict()
	}
	in.ByName, in.CLast, in.CID = t.customerOrName()
	in.Amount = t.rnd.between(MinPayment, MaxPayment)
	in.Date = t.date
}
