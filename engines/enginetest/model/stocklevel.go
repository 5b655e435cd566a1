package model

import "tpccbench/tpcc"

// StockLevel is clause 2.8.2.2.
func (s *Store) StockLevel(in *tpcc.StockLevelInput, out *tpcc.StockLevelOutput) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	wid, did := int64(in.WID), int64(in.DID)

	// The row in the DISTRICT table with matching D_W_ID and D_ID is selected and D_NEXT_O_ID is retrieved.
	dist, err := s.get(tpcc.District, wid, did)
	if err != nil {
		return err
	}
	next := dist.Col[tpcc.DNextOID]

	// All rows in the ORDER-LINE table with matching OL_W_ID (equals W_ID), OL_D_ID (equals D_ID), and OL_O_ID (lower
	// than D_NEXT_O_ID and greater than or equal to D_NEXT_O_ID minus 20) are selected.
	items := map[int64]bool{}
	for oid := max(1, next-tpcc.Last20); oid < next; oid++ {
		order, err := s.get(tpcc.Orders, wid, did, oid)
		if err != nil {
			return err
		}
		for n := int64(1); n <= order.Col[tpcc.OOlCnt]; n++ {
			line, err := s.get(tpcc.OrderLine, wid, did, oid, n)
			if err != nil {
				return err
			}
			items[line.Col[tpcc.OLIID]] = true
		}
	}

	// All rows in the STOCK table with matching S_I_ID (equals OL_I_ID) and S_W_ID (equals W_ID) from the list of
	// distinct item numbers and with S_QUANTITY lower than threshold are counted.
	*out = tpcc.StockLevelOutput{}
	for iid := range items {
		stock, err := s.get(tpcc.Stock, wid, iid)
		if err != nil {
			return err
		}
		if stock.Col[tpcc.SQuantity] < int64(in.Threshold) {
			out.LowStock++
		}
	}
	return nil
}
