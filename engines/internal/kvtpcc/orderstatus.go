package kvtpcc

import (
	"fmt"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// OrderStatus is clause 2.6.2.2.
func (w *Work) OrderStatus(r Reader, in *tpcc.OrderStatusInput, out *tpcc.OrderStatusOutput) error {
	w.start()
	*out = tpcc.OrderStatusOutput{}
	wid, did := int64(in.WID), int64(in.DID)
	// The customer by C_ID, or the middle one with that C_LAST.
	cid := in.CID
	if in.ByName {
		var err error
		if cid, err = w.customerByName(r, in.WID, in.DID, in.CLast); err != nil {
			return err
		}
	}
	if ok, err := w.get(r, &w.customer, tpcc.Customer, wid, did, int64(cid)); err != nil || !ok {
		return orMissing(err, "customer %d in district %d of warehouse %d", cid, in.DID, in.WID)
	}
	out.CID, out.CLast, out.CBalance = cid, int32(w.customer.Col[tpcc.CLast]), w.customer.Col[tpcc.CBalance]
	// The customer's order with the largest O_ID, if there is one. The ids have their places in the key: the customer is there.
	w.key, _ = appendCustomerOrderKey(w.key[:0], wid, did, int64(cid))
	prefix := len(w.key)
	w.found.key = w.found.key[:0]
	if err := w.scan(r, w.found.visitFirst); err != nil || len(w.found.key) == 0 {
		return err
	}
	if len(w.found.key) != prefix+orderBytes {
		return fmt.Errorf("%w: the index of orders by customer has the key %x", engines.ErrCorrupt, w.found.key)
	}
	oid := newest(w.found.key[prefix:])
	if ok, err := w.get(r, &w.order, tpcc.Orders, wid, did, oid); err != nil {
		return err
	} else if !ok {
		return lost("order %d in district %d of warehouse %d", oid, in.DID, in.WID)
	}
	o := &w.order.Col
	out.OID, out.EntryD, out.CarrierID = int32(oid), o[tpcc.OEntryD], int32(o[tpcc.OCarrierID])
	// Its lines.
	if err := w.lines(r, &w.order); err != nil {
		return err
	}
	for i := range w.found.lines {
		l := &w.found.lines[i].Col
		out.Lines[i] = tpcc.OrderStatusLine{
			IID: int32(l[tpcc.OLIID]), SupplyWID: int32(l[tpcc.OLSupplyWID]), Quantity: int32(l[tpcc.OLQuantity]),
			Amount: l[tpcc.OLAmount], DeliveryD: l[tpcc.OLDeliveryD],
		}
	}
	out.Count = int32(len(w.found.lines))
	return nil
}
