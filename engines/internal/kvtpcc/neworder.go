package kvtpcc

import "tpccbench/tpcc"

// NewOrder is clause 2.4.2.2. One that rolls back has written nothing.
func (w *Work) NewOrder(tx Tx, in *tpcc.NewOrderInput, out *tpcc.NewOrderOutput) error {
	w.start()
	*out = tpcc.NewOrderOutput{}
	wid, did := int64(in.WID), int64(in.DID)
	if in.Count < 1 || in.Count > tpcc.MaxLines {
		return missing("order of %d lines: there must be 1 to %d", in.Count, tpcc.MaxLines)
	}
	// W_TAX of the warehouse.
	if ok, err := w.get(tx, &w.warehouse, tpcc.Warehouse, wid); err != nil || !ok {
		return orMissing(err, "warehouse %d", in.WID)
	}
	out.WTax = w.warehouse.Col[tpcc.WTax]
	// D_TAX of the district; D_NEXT_O_ID is taken and incremented.
	if ok, err := w.get(tx, &w.district, tpcc.District, wid, did); err != nil || !ok {
		return orMissing(err, "district %d of warehouse %d", in.DID, in.WID)
	}
	oid := w.district.Col[tpcc.DNextOID]
	out.DTax, out.OID = w.district.Col[tpcc.DTax], int32(oid)
	w.district.Col[tpcc.DNextOID]++
	// C_DISCOUNT, C_LAST and C_CREDIT of the customer.
	if ok, err := w.get(tx, &w.customer, tpcc.Customer, wid, did, int64(in.CID)); err != nil || !ok {
		return orMissing(err, "customer %d in district %d of warehouse %d", in.CID, in.DID, in.WID)
	}
	c := &w.customer.Col
	out.CDiscount, out.CLast, out.CCredit = c[tpcc.CDiscount], int32(c[tpcc.CLast]), int32(c[tpcc.CCredit])

	sum, stocks := int64(0), 0
	for i := range in.Lines[:in.Count] {
		l, shown := &in.Lines[i], &out.Lines[i]
		// I_PRICE of the item; an unused number rolls back.
		ok, err := w.get(tx, &w.item, tpcc.Item, int64(l.IID))
		if err != nil {
			return err
		}
		if !ok {
			// Clause 2.4.3.4: the terminal shows the customer, the rates and the order's number, no lines.
			out.RolledBack = true
			out.Lines = [tpcc.MaxLines]tpcc.NewOrderOutputLine{}
			return nil
		}
		shown.Price = w.item.Col[tpcc.IPrice]
		// S_QUANTITY, S_YTD, S_ORDER_CNT and, of a remote line, S_REMOTE_CNT of the stock. Two lines may be of one row.
		st := w.stockOf(stocks, l)
		if st == nil {
			st = &w.stock[stocks]
			if ok, err := w.get(tx, st, tpcc.Stock, int64(l.SupplyWID), int64(l.IID)); err != nil || !ok {
				return orMissing(err, "stock of item %d in warehouse %d", l.IID, l.SupplyWID)
			}
			stocks++
		}
		shown.SQuantity = tpcc.StockAfter(st.Col[tpcc.SQuantity], int64(l.Quantity))
		st.Col[tpcc.SQuantity] = shown.SQuantity
		st.Col[tpcc.SYTD] += int64(l.Quantity)
		st.Col[tpcc.SOrderCnt]++
		if l.SupplyWID != in.WID {
			st.Col[tpcc.SRemoteCnt]++
		}
		// A new row in ORDER-LINE: OL_AMOUNT is OL_QUANTITY * I_PRICE, OL_DELIVERY_D is null.
		shown.Amount = int64(l.Quantity) * shown.Price
		sum += shown.Amount
		line := tpcc.Row{Table: tpcc.OrderLine, Col: [tpcc.MaxColumns]int64{wid, did, oid, int64(i + 1), int64(l.IID),
			int64(l.SupplyWID), tpcc.Null, int64(l.Quantity), shown.Amount}}
		if err := w.put(&line); err != nil {
			return err
		}
	}
	for i := range w.stock[:stocks] {
		if err := w.put(&w.stock[i]); err != nil {
			return err
		}
	}
	if err := w.putOrder(in, oid); err != nil {
		return err
	}
	out.TotalAmount = tpcc.TotalAmount(sum, out.CDiscount, out.WTax, out.DTax)
	return w.flush(tx)
}

// orMissing is err, or the error of a row that an input names and that there is not.
func orMissing(err error, format string, ids ...any) error {
	if err != nil {
		return err
	}
	return missing(format, ids...)
}

// stockOf finds the row of a line's stock among the first n that were read.
func (w *Work) stockOf(n int, l *tpcc.NewOrderInputLine) *tpcc.Row {
	for i := range w.stock[:n] {
		if s := &w.stock[i]; s.Col[tpcc.SIID] == int64(l.IID) && s.Col[tpcc.SWID] == int64(l.SupplyWID) {
			return s
		}
	}
	return nil
}

// putOrder keeps the new rows in ORDERS, the carrier null, and NEW_ORDER back for writing, and the district's.
func (w *Work) putOrder(in *tpcc.NewOrderInput, oid int64) error {
	wid, did, cid := int64(in.WID), int64(in.DID), int64(in.CID)
	w.order = tpcc.Row{Table: tpcc.Orders, Col: [tpcc.MaxColumns]int64{wid, did, oid, cid, in.EntryD, tpcc.Null, int64(in.Count), in.AllLocal()}}
	newOrder := tpcc.Row{Table: tpcc.NewOrder, Col: [tpcc.MaxColumns]int64{wid, did, oid}}
	for _, row := range [...]*tpcc.Row{&w.order, &newOrder, &w.district} {
		if err := w.put(row); err != nil {
			return err
		}
	}
	// The ids have their places in the key: the rows above are of them.
	start := len(w.bytes)
	w.bytes, _ = appendCustomerOrderKey(w.bytes, wid, did, cid)
	w.bytes, _ = appendNewest(w.bytes, oid)
	w.putBare(start, false)
	return nil
}
