package kvtpcc

import "tpccbench/tpcc"

// Payment is clause 2.5.2.2.
func (w *Work) Payment(tx Tx, in *tpcc.PaymentInput, out *tpcc.PaymentOutput) error {
	w.start()
	// W_YTD and D_YTD grow by H_AMOUNT.
	if ok, err := w.get(tx, &w.warehouse, tpcc.Warehouse, int64(in.WID)); err != nil || !ok {
		return orMissing(err, "warehouse %d", in.WID)
	}
	w.warehouse.Col[tpcc.WYTD] += in.Amount
	if ok, err := w.get(tx, &w.district, tpcc.District, int64(in.WID), int64(in.DID)); err != nil || !ok {
		return orMissing(err, "district %d of warehouse %d", in.DID, in.WID)
	}
	w.district.Col[tpcc.DYTD] += in.Amount
	// The customer by C_ID, or the middle one with that C_LAST: C_BALANCE, C_YTD_PAYMENT, C_PAYMENT_CNT.
	cid := in.CID
	if in.ByName {
		var err error
		if cid, err = w.customerByName(tx, in.CWID, in.CDID, in.CLast); err != nil {
			return err
		}
	}
	if ok, err := w.get(tx, &w.customer, tpcc.Customer, int64(in.CWID), int64(in.CDID), int64(cid)); err != nil || !ok {
		return orMissing(err, "customer %d in district %d of warehouse %d", cid, in.CDID, in.CWID)
	}
	c := &w.customer.Col
	c[tpcc.CBalance] -= in.Amount
	c[tpcc.CYTDPayment] += in.Amount
	c[tpcc.CPaymentCnt]++
	*out = tpcc.PaymentOutput{
		CID: cid, CLast: int32(c[tpcc.CLast]), CCredit: int32(c[tpcc.CCredit]), CSince: c[tpcc.CSince],
		CCreditLim: c[tpcc.CCreditLim], CDiscount: c[tpcc.CDiscount], CBalance: c[tpcc.CBalance],
	}
	if w.Shared == nil {
		var err error
		if w.Shared, err = OpenShared(tx); err != nil {
			return err
		}
	}
	for _, row := range [...]*tpcc.Row{&w.warehouse, &w.district, &w.customer} {
		if err := w.put(row); err != nil {
			return err
		}
	}
	// A new row in HISTORY.
	w.history = tpcc.Row{Table: tpcc.History, Col: [tpcc.MaxColumns]int64{int64(cid), int64(in.CDID), int64(in.CWID),
		int64(in.DID), int64(in.WID), in.Date, in.Amount}}
	w.putHistory(w.Shared.take())
	return w.flush(tx)
}

// putHistory keeps w.history back for writing.
func (w *Work) putHistory(number uint64) {
	start := len(w.bytes)
	w.bytes = appendHistoryKey(w.bytes, number)
	value := len(w.bytes)
	w.bytes = appendValue(w.bytes, &w.history)
	w.writes = append(w.writes, write{start, value, len(w.bytes), false})
}
