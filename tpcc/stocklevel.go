package tpcc

// stockLevel draws a Stock-Level (clause 2.8.1).
func (t *Terminal) stockLevel(in *StockLevelInput) {
	in.WID, in.DID, in.Threshold = t.home, t.district, int32(t.rnd.between(10, 20))
}
