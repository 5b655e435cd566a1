package model

import (
	"errors"

	"tpccbench/tpcc"
)

// NewOrder is clause 2.4.2.2.
func (s *Store) NewOrder(in *tpcc.NewOrderInput, out *tpcc.NewOrderOutput) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	tx := s.begin()
	err := tx.newOrder(in, out)
	switch {
	case errors.Is(err, errUnusedItem):
		// Clause 2.4.2.3: the transaction is rolled back, which is what was asked for. Clause 2.4.3.4: the terminal
		// shows what was read of the warehouse, the district and the customer, and no lines.
		tx.rollback()
		*out = tpcc.NewOrderOutput{RolledBack: true, OID: out.OID, CLast: out.CLast, CCredit: out.CCredit,
			CDiscount: out.CDiscount, WTax: out.WTax, DTax: out.DTax}
		return nil
	case err != nil:
		tx.rollback()
	}
	return err
}

// errUnusedItem is the "not-found" condition of clause 2.4.2.2.
var errUnusedItem = errors.New("item number is not valid")

func (t *tx) newOrder(in *tpcc.NewOrderInput, out *tpcc.NewOrderOutput) error {
	s := t.s
	*out = tpcc.NewOrderOutput{}
	wid, did, cid := int64(in.WID), int64(in.DID), int64(in.CID)

	// The row in the WAREHOUSE table with matching W_ID is selected and W_TAX, the warehouse tax rate, is retrieved.
	warehouse, err := s.get(tpcc.Warehouse, wid)
	if err != nil {
		return err
	}
	out.WTax = warehouse.Col[tpcc.WTax]

	// The row in the DISTRICT table with matching D_W_ID and D_ID is selected, D_TAX, the district tax rate, is
	// retrieved, and D_NEXT_O_ID, the next available order number for the district, is retrieved and incremented by
	// one.
	dist, err := s.get(tpcc.District, wid, did)
	if err != nil {
		return err
	}
	out.DTax = dist.Col[tpcc.DTax]
	oid := dist.Col[tpcc.DNextOID]
	out.OID = int32(oid)
	t.change(dist).Col[tpcc.DNextOID]++

	// The row in the CUSTOMER table with matching C_W_ID, C_D_ID, and C_ID is selected and C_DISCOUNT, C_LAST and
	// C_CREDIT are retrieved.
	customer, err := s.get(tpcc.Customer, wid, did, cid)
	if err != nil {
		return err
	}
	out.CDiscount = customer.Col[tpcc.CDiscount]
	out.CLast = int32(customer.Col[tpcc.CLast])
	out.CCredit = int32(customer.Col[tpcc.CCredit])

	// A new row is inserted into both the NEW-ORDER table and the ORDER table. O_CARRIER_ID is set to a null value. If
	// the order includes only home order-lines, then O_ALL_LOCAL is set to 1, otherwise to 0. O_OL_CNT is the number
	// of items.
	if err := t.insert(row(tpcc.NewOrder, wid, did, oid)); err != nil {
		return err
	}
	order := row(tpcc.Orders, wid, did, oid, cid, in.EntryD, tpcc.Null, int64(in.Count), in.AllLocal())
	if err := t.insert(order); err != nil {
		return err
	}

	// For each O_OL_CNT item on the order:
	sum := int64(0)
	for i, l := range in.Lines[:in.Count] {
		iid, supply, quantity := int64(l.IID), int64(l.SupplyWID), int64(l.Quantity)

		// The row in the ITEM table with matching I_ID is selected and I_PRICE is retrieved. If I_ID has an unused
		// value, a "not-found" condition is signaled, resulting in a rollback of the database transaction.
		item, err := s.get(tpcc.Item, iid)
		if err != nil {
			return errUnusedItem
		}
		price := item.Col[tpcc.IPrice]

		// The row in the STOCK table with matching S_I_ID and S_W_ID is selected. If S_QUANTITY exceeds OL_QUANTITY by
		// 10 or more, it is decreased by OL_QUANTITY; otherwise it is updated to (S_QUANTITY - OL_QUANTITY) + 91.
		// S_YTD is increased by OL_QUANTITY and S_ORDER_CNT is incremented by 1. If the order-line is remote, then
		// S_REMOTE_CNT is incremented by 1.
		stock, err := s.get(tpcc.Stock, supply, iid)
		if err != nil {
			return err
		}
		t.change(stock)
		stock.Col[tpcc.SQuantity] = tpcc.StockAfter(stock.Col[tpcc.SQuantity], quantity)
		stock.Col[tpcc.SYTD] += quantity
		stock.Col[tpcc.SOrderCnt]++
		if supply != wid {
			stock.Col[tpcc.SRemoteCnt]++
		}

		// The amount for the item in the order (OL_AMOUNT) is OL_QUANTITY * I_PRICE.
		amount := quantity * price

		// A new row is inserted into the ORDER-LINE table. OL_DELIVERY_D is set to a null value, OL_NUMBER to a unique
		// value within all the order-lines that have the same OL_O_ID.
		line := row(tpcc.OrderLine, wid, did, oid, int64(i+1), iid, supply, tpcc.Null, quantity, amount)
		if err := t.insert(line); err != nil {
			return err
		}
		out.Lines[i] = tpcc.NewOrderOutputLine{Price: price, SQuantity: stock.Col[tpcc.SQuantity], Amount: amount}
		sum += amount
	}

	// The total-amount for the complete order is sum(OL_AMOUNT) * (1 - C_DISCOUNT) * (1 + W_TAX + D_TAX).
	out.TotalAmount = tpcc.TotalAmount(sum, out.CDiscount, out.WTax, out.DTax)
	return nil
}
