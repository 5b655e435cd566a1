package model

import "tpccbench/tpcc"

// OrderStatus is clause 2.6.2.2.
func (s *Store) OrderStatus(in *tpcc.OrderStatusInput, out *tpcc.OrderStatusOutput) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	wid, did := int64(in.WID), int64(in.DID)

	// The customer is selected by C_ID or by C_LAST; C_BALANCE and C_LAST are retrieved.
	c, err := s.customer(in.WID, in.DID, in.ByName, in.CLast, in.CID)
	if err != nil {
		return err
	}
	*out = tpcc.OrderStatusOutput{CID: int32(c.Col[tpcc.CID]), CLast: int32(c.Col[tpcc.CLast]), CBalance: c.Col[tpcc.CBalance]}

	// The row in the ORDER table with matching O_W_ID, O_D_ID, O_C_ID and with the largest existing O_ID is selected.
	// This is the most recent order placed by that customer.
	dist, err := s.get(tpcc.District, wid, did)
	if err != nil {
		return err
	}
	for oid := dist.Col[tpcc.DNextOID] - 1; oid >= 1; oid-- {
		order, err := s.get(tpcc.Orders, wid, did, oid)
		if err != nil {
			return err
		}
		if order.Col[tpcc.OCID] == c.Col[tpcc.CID] {
			return s.showOrder(order, out)
		}
	}
	return nil
}

// showOrder retrieves O_ID, O_ENTRY_D and O_CARRIER_ID, and of each row of ORDER-LINE with the order's number OL_I_ID,
// OL_SUPPLY_W_ID, OL_QUANTITY, OL_AMOUNT and OL_DELIVERY_D.
func (s *Store) showOrder(order *tpcc.Row, out *tpcc.OrderStatusOutput) error {
	out.OID = int32(order.Col[tpcc.OID])
	out.EntryD = order.Col[tpcc.OEntryD]
	out.CarrierID = int32(order.Col[tpcc.OCarrierID])
	out.Count = int32(order.Col[tpcc.OOlCnt])
	for i := range out.Count {
		l, err := s.get(tpcc.OrderLine, order.Col[tpcc.OWID], order.Col[tpcc.ODID], order.Col[tpcc.OID], int64(i+1))
		if err != nil {
			return err
		}
		out.Lines[i] = tpcc.OrderStatusLine{
			IID: int32(l.Col[tpcc.OLIID]), SupplyWID: int32(l.Col[tpcc.OLSupplyWID]), Quantity: int32(l.Col[tpcc.OLQuantity]),
			Amount: l.Col[tpcc.OLAmount], DeliveryD: l.Col[tpcc.OLDeliveryD],
		}
	}
	return nil
}
