package model

import "tpccbench/tpcc"

// Delivery is clause 2.7.4.2, the ten districts in one transaction.
func (s *Store) Delivery(in *tpcc.DeliveryInput, out *tpcc.DeliveryOutput) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	tx := s.begin()
	err := tx.delivery(in, out)
	if err != nil {
		tx.rollback()
	}
	return err
}

func (t *tx) delivery(in *tpcc.DeliveryInput, out *tpcc.DeliveryOutput) error {
	s := t.s
	*out = tpcc.DeliveryOutput{}
	wid := int64(in.WID)
	if _, err := s.get(tpcc.Warehouse, wid); err != nil {
		return err
	}

	// For a given warehouse number (W_ID), for each of the 10 districts (D_W_ID, D_ID) within that warehouse, and for a
	// given carrier number (O_CARRIER_ID):
	for did := int64(1); did <= tpcc.Districts; did++ {
		// The row in the NEW-ORDER table with matching NO_W_ID and NO_D_ID and with the lowest NO_O_ID value is
		// selected: the oldest undelivered order of that district. If no matching row is found, then the delivery of
		// an order for this district is skipped. The selected row is deleted.
		waiting := s.newOrders[district{wid, did}]
		if len(waiting) == 0 {
			continue
		}
		oid := waiting[0]
		if err := t.deleteNewOrder(district{wid, did}, oid); err != nil {
			return err
		}

		// The row in the ORDER table with matching O_W_ID, O_D_ID and O_ID is selected, O_C_ID, the customer number, is
		// retrieved, and O_CARRIER_ID is updated.
		order, err := s.get(tpcc.Orders, wid, did, oid)
		if err != nil {
			return err
		}
		t.change(order).Col[tpcc.OCarrierID] = int64(in.CarrierID)

		// All rows in the ORDER-LINE table with matching OL_W_ID, OL_D_ID, OL_O_ID are selected. All OL_DELIVERY_D are
		// updated and the sum of all OL_AMOUNT is retrieved.
		sum := int64(0)
		for n := int64(1); n <= order.Col[tpcc.OOlCnt]; n++ {
			line, err := s.get(tpcc.OrderLine, wid, did, oid, n)
			if err != nil {
				return err
			}
			t.change(line).Col[tpcc.OLDeliveryD] = in.DeliveryD
			sum += line.Col[tpcc.OLAmount]
		}

		// The row in the CUSTOMER table with matching C_W_ID, C_D_ID and C_ID is selected and C_BALANCE is increased by
		// the sum of all order-line amounts previously retrieved. C_DELIVERY_CNT is incremented by 1.
		customer, err := s.get(tpcc.Customer, wid, did, order.Col[tpcc.OCID])
		if err != nil {
			return err
		}
		t.change(customer)
		customer.Col[tpcc.CBalance] += sum
		customer.Col[tpcc.CDeliveryCnt]++
		out.OID[did-1] = int32(oid)
	}
	return nil
}
