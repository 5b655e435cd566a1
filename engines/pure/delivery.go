package pure

import (
	"tpccbench/engines/pure/store"
	"tpccbench/tpcc"
)

func (s *session) Delivery(in *tpcc.DeliveryInput, out *tpcc.DeliveryOutput) error {
	s.deliveryIn, s.deliveryOut = in, out
	if err := s.writes.Do(s.delivery); err != nil {
		return translate(err)
	}
	return nil
}

// applyDelivery is clause 2.7.4.2, all ten districts in one transaction, on the owner goroutine.
func (s *session) applyDelivery(tx *store.Tx) error {
	in, out := s.deliveryIn, s.deliveryOut
	*out = tpcc.DeliveryOutput{}
	if !known(in.WID, warehouseBits) {
		return missing("warehouse %d", in.WID)
	}
	if _, ok := tx.Get(warehouses, uint64(in.WID)); !ok {
		return missing("warehouse %d", in.WID)
	}
	for d := int32(1); d <= tpcc.Districts; d++ {
		// The row in NEW-ORDER with the lowest NO_O_ID is taken out; a district without one is skipped.
		first := tx.Scan(newOrders, orderKey(in.WID, d, 0), orderKey(in.WID, d, maxOrder))
		if !first.Next() {
			continue
		}
		order := first.Key()
		tx.Delete(newOrders, order)
		// O_C_ID of the order; O_CARRIER_ID is set.
		o, ok := tx.Edit(orders, order)
		if !ok {
			return missing("order %d in district %d of warehouse %d", order&maxOrder, d, in.WID)
		}
		o.Set(oCarrierID, int64(in.CarrierID))
		customer, lines := int32(o.Get(oCID)), int(o.Get(oOlCnt))
		// OL_DELIVERY_D of all its lines is set, OL_AMOUNT summed up.
		sum := int64(0)
		for n := 1; n <= lines; n++ {
			ol, ok := tx.Edit(orderLines, lineKey(order, n))
			if !ok {
				return missing("line %d of order %d in district %d of warehouse %d", n, order&maxOrder, d, in.WID)
			}
			ol.Set(olDeliveryD, in.DeliveryD)
			sum += ol.Get(olAmount)
		}
		// C_BALANCE grows by the sum, C_DELIVERY_CNT by 1.
		c, ok := tx.Edit(customers, customerKey(in.WID, d, customer))
		if !ok {
			return missing("customer %d in district %d of warehouse %d", customer, d, in.WID)
		}
		c.Add(cBalance, sum)
		c.Add(cDeliveryCnt, 1)
		out.OID[d-1] = int32(order & maxOrder)
	}
	return nil
}
