package model

import "tpccbench/tpcc"

// Payment is clause 2.5.2.2.
func (s *Store) Payment(in *tpcc.PaymentInput, out *tpcc.PaymentOutput) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	tx := s.begin()
	err := tx.payment(in, out)
	if err != nil {
		tx.rollback()
	}
	return err
}

func (t *tx) payment(in *tpcc.PaymentInput, out *tpcc.PaymentOutput) error {
	s := t.s
	wid, did := int64(in.WID), int64(in.DID)

	// The row in the WAREHOUSE table with matching W_ID is selected; W_YTD is increased by H_AMOUNT.
	warehouse, err := s.get(tpcc.Warehouse, wid)
	if err != nil {
		return err
	}
	t.change(warehouse).Col[tpcc.WYTD] += in.Amount

	// The row in the DISTRICT table with matching D_W_ID and D_ID is selected; D_YTD is increased by H_AMOUNT.
	dist, err := s.get(tpcc.District, wid, did)
	if err != nil {
		return err
	}
	t.change(dist).Col[tpcc.DYTD] += in.Amount

	// The customer is selected by C_ID or by C_LAST. C_BALANCE is decreased by H_AMOUNT, C_YTD_PAYMENT is increased by
	// H_AMOUNT, C_PAYMENT_CNT is incremented by 1. (C_DATA of customers with bad credit is text: not in this profile.)
	c, err := s.customer(in.CWID, in.CDID, in.ByName, in.CLast, in.CID)
	if err != nil {
		return err
	}
	t.change(c)
	c.Col[tpcc.CBalance] -= in.Amount
	c.Col[tpcc.CYTDPayment] += in.Amount
	c.Col[tpcc.CPaymentCnt]++

	// A new row is inserted into the HISTORY table with H_C_ID = C_ID, H_C_D_ID = C_D_ID, H_C_W_ID = C_W_ID, H_D_ID =
	// D_ID, and H_W_ID = W_ID.
	paid := row(tpcc.History, c.Col[tpcc.CID], int64(in.CDID), int64(in.CWID), did, wid, in.Date, in.Amount)
	if err := t.insert(paid); err != nil {
		return err
	}

	*out = tpcc.PaymentOutput{
		CID: int32(c.Col[tpcc.CID]), CLast: int32(c.Col[tpcc.CLast]), CCredit: int32(c.Col[tpcc.CCredit]),
		CSince: c.Col[tpcc.CSince], CCreditLim: c.Col[tpcc.CCreditLim], CDiscount: c.Col[tpcc.CDiscount],
		CBalance: c.Col[tpcc.CBalance],
	}
	return nil
}
