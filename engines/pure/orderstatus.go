package pure

import (
	"tpccbench/tpcc"
)

// OrderStatus is clause 2.6.2.2, on the last durable save's state.
func (s *session) OrderStatus(in *tpcc.OrderStatusInput, out *tpcc.OrderStatusOutput) error {
	v := s.reads.Pin()
	defer s.reads.Unpin()
	*out = tpcc.OrderStatusOutput{}
	// The customer by C_ID, or the middle one with that C_LAST.
	cid := in.CID
	if in.ByName {
		var err error
		if cid, err = customerByName(v, in.WID, in.DID, in.CLast); err != nil {
			return err
		}
	} else if !known(in.WID, warehouseBits) || !known(in.DID, districtBits) || !known(cid, customerBits) {
		return missing("customer %d in district %d of warehouse %d", cid, in.DID, in.WID)
	}
	c, ok := v.Get(customers, customerKey(in.WID, in.DID, cid))
	if !ok {
		return missing("customer %d in district %d of warehouse %d", cid, in.DID, in.WID)
	}
	out.CID, out.CLast, out.CBalance = cid, int32(c.Get(cLast)), c.Get(cBalance)
	// The customer's order with the largest O_ID, if there is one.
	last, ok := v.LastIndex(ordersByCustomer, byCustomerKey(in.WID, in.DID, cid, 0), byCustomerKey(in.WID, in.DID, cid, maxOrder))
	if !ok {
		return nil
	}
	out.OID = int32(last & maxOrder)
	order := orderKey(in.WID, in.DID, out.OID)
	o, ok := v.Get(orders, order)
	if !ok {
		return missing("order %d in district %d of warehouse %d", out.OID, in.DID, in.WID)
	}
	out.EntryD, out.CarrierID = o.Get(oEntryD), int32(o.Get(oCarrierID))
	// Its lines.
	for cur := v.Scan(orderLines, lineKey(order, 1), lineKey(order, maxLine)); cur.Next(); {
		l := cur.Row()
		out.Lines[out.Count] = tpcc.OrderStatusLine{
			IID: int32(l.Get(olIID)), SupplyWID: int32(l.Get(olSupplyWID)), Quantity: int32(l.Get(olQuantity)),
			Amount: l.Get(olAmount), DeliveryD: l.Get(olDeliveryD),
		}
		out.Count++
	}
	return nil
}
