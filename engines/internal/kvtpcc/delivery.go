package kvtpcc

import "tpccbench/tpcc"

// Delivery is clause 2.7.4.2, all ten districts in one transaction.
func (w *Work) Delivery(tx Tx, in *tpcc.DeliveryInput, out *tpcc.DeliveryOutput) error {
	w.start()
	*out = tpcc.DeliveryOutput{}
	for d := int32(1); d <= tpcc.Districts; d++ {
		if err := w.deliver(tx, in, d, &out.OID[d-1]); err != nil {
			return err
		}
	}
	return w.flush(tx)
}

// deliver delivers the oldest new order of a district, if there is one.
func (w *Work) deliver(tx Tx, in *tpcc.DeliveryInput, d int32, delivered *int32) error {
	wid, did := int64(in.WID), int64(d)
	// The row in NEW-ORDER with the lowest NO_O_ID is taken out; a district without one is skipped.
	queues := w.queues()
	key, ok := appendKey(w.key[:0], tpcc.NewOrder, wid, did)
	if !ok {
		return missing("warehouse %d", in.WID)
	}
	w.to = appendAfter(w.to[:0], key)
	w.key, _ = appendKey(key[:0], tpcc.NewOrder, wid, did, queues.from(in.WID, d))
	w.found.key = w.found.key[:0]
	if err := w.scanTo(tx, w.found.visitFirst); err != nil || len(w.found.key) == 0 {
		return err
	}
	row := tpcc.Row{Table: tpcc.NewOrder}
	if !readKey(w.found.key, &row) {
		return damaged(tpcc.NewOrder, w.found.key, nil)
	}
	oid := row.Col[tpcc.NOOID]
	queues.found(in.WID, d, oid)
	start := len(w.bytes)
	w.bytes = append(w.bytes, w.found.key...)
	w.putBare(start, true)
	// O_C_ID of the order; O_CARRIER_ID is set.
	if ok, err := w.get(tx, &w.order, tpcc.Orders, wid, did, oid); err != nil {
		return err
	} else if !ok {
		return lost("order %d in district %d of warehouse %d", oid, d, in.WID)
	}
	w.order.Col[tpcc.OCarrierID] = int64(in.CarrierID)
	if err := w.put(&w.order); err != nil {
		return err
	}
	// OL_DELIVERY_D of all its lines is set, OL_AMOUNT summed up.
	if err := w.lines(tx, &w.order); err != nil {
		return err
	}
	sum := int64(0)
	for i := range w.found.lines {
		line := &w.found.lines[i]
		line.Col[tpcc.OLDeliveryD] = in.DeliveryD
		sum += line.Col[tpcc.OLAmount]
		if err := w.put(line); err != nil {
			return err
		}
	}
	// C_BALANCE grows by the sum, C_DELIVERY_CNT by 1.
	cid := w.order.Col[tpcc.OCID]
	if ok, err := w.get(tx, &w.customer, tpcc.Customer, wid, did, cid); err != nil {
		return err
	} else if !ok {
		return lost("customer %d in district %d of warehouse %d", cid, d, in.WID)
	}
	w.customer.Col[tpcc.CBalance] += sum
	w.customer.Col[tpcc.CDeliveryCnt]++
	*delivered = int32(oid)
	return w.put(&w.customer)
}
