package pure

import (
	"errors"

	"tpccbench/engines/pure/store"
	"tpccbench/tpcc"
)

// errUnusedItem is clause 2.4.2.2's "not-found" condition: the transaction is rolled back, as it was asked for.
var errUnusedItem = errors.New("unused item number")

func (s *session) NewOrder(in *tpcc.NewOrderInput, out *tpcc.NewOrderOutput) error {
	s.newOrderIn, s.newOrderOut = in, out
	err := s.writes.Do(s.newOrder)
	if err == errUnusedItem {
		// Clause 2.4.3.4: the terminal shows the customer, the rates and the order's number, no lines.
		out.RolledBack = true
		out.TotalAmount = 0
		out.Lines = [tpcc.MaxLines]tpcc.NewOrderOutputLine{}
		return nil
	}
	if err != nil {
		return translate(err)
	}
	return nil
}

// prefetchLines names the rows of ITEM and STOCK that the lines will need.
func (s *session) prefetchLines(tx *store.Tx, in *tpcc.NewOrderInput) {
	var item, stock [tpcc.MaxLines]uint64
	for i := range in.Lines[:in.Count] {
		l := &in.Lines[i]
		item[i], stock[i] = uint64(l.IID), stockKey(l.SupplyWID, l.IID)
	}
	tx.Prefetch(items, item[:in.Count])
	tx.Prefetch(stocks, stock[:in.Count])
}

// applyNewOrder is clause 2.4.2.2, on the owner goroutine.
func (s *session) applyNewOrder(tx *store.Tx) error {
	in, out := s.newOrderIn, s.newOrderOut
	*out = tpcc.NewOrderOutput{}
	if !known(in.WID, warehouseBits) || !known(in.DID, districtBits) || !known(in.CID, customerBits) ||
		in.Count < 1 || in.Count > tpcc.MaxLines {
		return missing("customer %d in district %d of warehouse %d, or %d lines are too few or many", in.CID, in.DID, in.WID, in.Count)
	}
	s.prefetchLines(tx, in)
	// W_TAX of the warehouse.
	w, ok := tx.Get(warehouses, uint64(in.WID))
	if !ok {
		return missing("warehouse %d", in.WID)
	}
	out.WTax = w.Get(wTax)
	// C_DISCOUNT, C_LAST and C_CREDIT of the customer.
	c, ok := tx.Get(customers, customerKey(in.WID, in.DID, in.CID))
	if !ok {
		return missing("customer %d in district %d of warehouse %d", in.CID, in.DID, in.WID)
	}
	out.CDiscount, out.CLast, out.CCredit = c.Get(cDiscount), int32(c.Get(cLast)), int32(c.Get(cCredit))
	// D_TAX of the district; D_NEXT_O_ID is taken and incremented.
	d, ok := tx.Edit(districts, districtKey(in.WID, in.DID))
	if !ok {
		return missing("district %d of warehouse %d", in.DID, in.WID)
	}
	out.DTax = d.Get(dTax)
	out.OID = int32(d.Add(dNextOID, 1) - 1)
	// New rows in NEW-ORDER and ORDER, the carrier null.
	order := orderKey(in.WID, in.DID, out.OID)
	if _, ok := tx.Insert(newOrders, order); !ok {
		return missing("room for order %d in district %d of warehouse %d: it has a new-order row", out.OID, in.DID, in.WID)
	}
	o, ok := tx.Insert(orders, order)
	if !ok {
		return missing("room for order %d in district %d of warehouse %d: it is there", out.OID, in.DID, in.WID)
	}
	o.Set(oCID, int64(in.CID))
	o.Set(oEntryD, in.EntryD)
	o.Set(oOlCnt, int64(in.Count))
	o.Set(oAllLocal, in.AllLocal())

	sum := int64(0)
	for i := range in.Lines[:in.Count] {
		l, shown := &in.Lines[i], &out.Lines[i]
		// I_PRICE of the item; an unused number rolls back, after the lines before it were worked on.
		if !known(l.IID, itemBits) {
			return errUnusedItem
		}
		item, ok := tx.Get(items, uint64(l.IID))
		if !ok {
			return errUnusedItem
		}
		shown.Price = item.Get(iPrice)
		// S_QUANTITY, S_YTD, S_ORDER_CNT and, of a remote line, S_REMOTE_CNT of the stock.
		if !known(l.SupplyWID, warehouseBits) {
			return missing("warehouse %d", l.SupplyWID)
		}
		st, ok := tx.Edit(stocks, stockKey(l.SupplyWID, l.IID))
		if !ok {
			return missing("stock of item %d in warehouse %d", l.IID, l.SupplyWID)
		}
		shown.SQuantity = tpcc.StockAfter(st.Get(sQuantity), int64(l.Quantity))
		st.Set(sQuantity, shown.SQuantity)
		st.Add(sYTD, int64(l.Quantity))
		st.Add(sOrderCnt, 1)
		if l.SupplyWID != in.WID {
			st.Add(sRemoteCnt, 1)
		}
		// A new row in ORDER-LINE: OL_AMOUNT is OL_QUANTITY * I_PRICE, OL_DELIVERY_D is null.
		shown.Amount = int64(l.Quantity) * shown.Price
		sum += shown.Amount
		ol, ok := tx.Insert(orderLines, lineKey(order, i+1))
		if !ok {
			return missing("room for line %d of order %d in district %d of warehouse %d: it is there", i+1, out.OID, in.DID, in.WID)
		}
		ol.Set(olIID, int64(l.IID))
		ol.Set(olSupplyWID, int64(l.SupplyWID))
		ol.Set(olQuantity, int64(l.Quantity))
		ol.Set(olAmount, shown.Amount)
	}
	out.TotalAmount = tpcc.TotalAmount(sum, out.CDiscount, out.WTax, out.DTax)
	return nil
}
