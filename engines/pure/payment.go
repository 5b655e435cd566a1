package pure

import (
	"tpccbench/engines/pure/store"
	"tpccbench/tpcc"
)

func (s *session) Payment(in *tpcc.PaymentInput, out *tpcc.PaymentOutput) error {
	s.paymentIn, s.paymentOut = in, out
	if err := s.writes.Do(s.payment); err != nil {
		return translate(err)
	}
	return nil
}

// applyPayment is clause 2.5.2.2, on the owner goroutine.
func (s *session) applyPayment(tx *store.Tx) error {
	in, out := s.paymentIn, s.paymentOut
	if !known(in.WID, warehouseBits) || !known(in.DID, districtBits) {
		return missing("district %d of warehouse %d", in.DID, in.WID)
	}
	// W_YTD and D_YTD grow by H_AMOUNT.
	w, ok := tx.Edit(warehouses, uint64(in.WID))
	if !ok {
		return missing("warehouse %d", in.WID)
	}
	w.Add(wYTD, in.Amount)
	d, ok := tx.Edit(districts, districtKey(in.WID, in.DID))
	if !ok {
		return missing("district %d of warehouse %d", in.DID, in.WID)
	}
	d.Add(dYTD, in.Amount)
	// The customer by C_ID, or the middle one with that C_LAST: C_BALANCE, C_YTD_PAYMENT, C_PAYMENT_CNT.
	cid := in.CID
	if in.ByName {
		var err error
		if cid, err = customerByName(tx, in.CWID, in.CDID, in.CLast); err != nil {
			return err
		}
	} else if !known(in.CWID, warehouseBits) || !known(in.CDID, districtBits) || !known(cid, customerBits) {
		return missing("customer %d in district %d of warehouse %d", cid, in.CDID, in.CWID)
	}
	c, ok := tx.Edit(customers, customerKey(in.CWID, in.CDID, cid))
	if !ok {
		return missing("customer %d in district %d of warehouse %d", cid, in.CDID, in.CWID)
	}
	balance := c.Add(cBalance, -in.Amount)
	c.Add(cYTDPayment, in.Amount)
	c.Add(cPaymentCnt, 1)
	*out = tpcc.PaymentOutput{
		CID: cid, CLast: int32(c.Get(cLast)), CCredit: int32(c.Get(cCredit)), CSince: c.Get(cSince),
		CCreditLim: c.Get(cCreditLim), CDiscount: c.Get(cDiscount), CBalance: balance,
	}
	// A new row in HISTORY.
	_, h := tx.Append(histories)
	h.Set(hCID, int64(cid))
	h.Set(hCDID, int64(in.CDID))
	h.Set(hCWID, int64(in.CWID))
	h.Set(hDID, int64(in.DID))
	h.Set(hWID, int64(in.WID))
	h.Set(hDate, in.Date)
	h.Set(hAmount, in.Amount)
	return nil
}
