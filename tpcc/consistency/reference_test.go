package consistency

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tpccbench/tpcc"
)

// database is a plain list of rows for the tests, with the three writing transactions in their most naive form.
type database struct {
	scale tpcc.Scale
	rows  []*tpcc.Row
}

func loaded(seed uint64, s tpcc.Scale) *database {
	db := &database{scale: s}
	for r := range tpcc.Population(seed, s) {
		c := *r
		db.rows = append(db.rows, &c)
	}
	return db
}

// find returns the row of a table whose first columns are key, or nil.
func (db *database) find(t tpcc.Table, key ...int64) *tpcc.Row {
	for _, r := range db.rows {
		if r.Table == t && slices.Equal(r.Col[:len(key)], key) {
			return r
		}
	}
	return nil
}

func (db *database) insert(t tpcc.Table, columns ...int64) {
	r := &tpcc.Row{Table: t}
	copy(r.Col[:], columns)
	db.rows = append(db.rows, r)
}

func (db *database) remove(row *tpcc.Row) {
	db.rows = slices.DeleteFunc(db.rows, func(r *tpcc.Row) bool { return r == row })
}

// snapshot visits the rows in table and key order; HISTORY stays in its order.
func (db *database) snapshot(visit func(*tpcc.Row) error) error {
	sorted := slices.Clone(db.rows)
	slices.SortStableFunc(sorted, func(a, b *tpcc.Row) int {
		if a.Table != b.Table {
			return cmp.Compare(a.Table, b.Table)
		}
		return slices.Compare(a.Col[:a.Table.Schema().Key], b.Col[:b.Table.Schema().Key])
	})
	for _, r := range sorted {
		c := *r
		if err := visit(&c); err != nil {
			return err
		}
		c = tpcc.Row{Table: tpcc.Stock, Col: [tpcc.MaxColumns]int64{-1, -1, -1}} // a row is valid during its visit only
	}
	return nil
}

func (db *database) clone() *database {
	c := &database{scale: db.scale}
	for _, r := range db.rows {
		row := *r
		c.rows = append(c.rows, &row)
	}
	return c
}

func (db *database) newOrder(in *tpcc.NewOrderInput, out *tpcc.NewOrderOutput) {
	*out = tpcc.NewOrderOutput{}
	w, d := int64(in.WID), int64(in.DID)
	district := db.find(tpcc.District, w, d)
	out.OID = int32(district.Col[tpcc.DNextOID])
	for _, line := range in.Lines[:in.Count] {
		if db.find(tpcc.Item, int64(line.IID)) == nil {
			out.RolledBack = true
			return
		}
	}
	district.Col[tpcc.DNextOID]++
	oid := int64(out.OID)
	db.insert(tpcc.Orders, w, d, oid, int64(in.CID), in.EntryD, tpcc.Null, int64(in.Count), in.AllLocal())
	db.insert(tpcc.NewOrder, w, d, oid)
	for i, line := range in.Lines[:in.Count] {
		amount := int64(line.Quantity) * db.find(tpcc.Item, int64(line.IID)).Col[tpcc.IPrice]
		out.Lines[i].Amount = amount
		db.insert(tpcc.OrderLine, w, d, oid, int64(i)+1, int64(line.IID), int64(line.SupplyWID), tpcc.Null, int64(line.Quantity),
			amount)
		stock := db.find(tpcc.Stock, int64(line.SupplyWID), int64(line.IID))
		stock.Col[tpcc.SQuantity] = tpcc.StockAfter(stock.Col[tpcc.SQuantity], int64(line.Quantity))
		stock.Col[tpcc.SYTD] += int64(line.Quantity)
		stock.Col[tpcc.SOrderCnt]++
		if line.SupplyWID != in.WID {
			stock.Col[tpcc.SRemoteCnt]++
		}
	}
}

func (db *database) payment(in *tpcc.PaymentInput, out *tpcc.PaymentOutput) {
	cw, cd := int64(in.CWID), int64(in.CDID)
	customer := db.find(tpcc.Customer, cw, cd, int64(in.CID))
	if in.ByName {
		var named []*tpcc.Row
		for id := range int64(db.scale.Customers) {
			if r := db.find(tpcc.Customer, cw, cd, id+1); r.Col[tpcc.CLast] == int64(in.CLast) {
				named = append(named, r)
			}
		}
		customer = named[tpcc.MiddleOf(len(named))]
	}
	*out = tpcc.PaymentOutput{CID: int32(customer.Col[tpcc.CID])}
	customer.Col[tpcc.CBalance] -= in.Amount
	customer.Col[tpcc.CYTDPayment] += in.Amount
	customer.Col[tpcc.CPaymentCnt]++
	db.find(tpcc.Warehouse, int64(in.WID)).Col[tpcc.WYTD] += in.Amount
	db.find(tpcc.District, int64(in.WID), int64(in.DID)).Col[tpcc.DYTD] += in.Amount
	db.insert(tpcc.History, int64(out.CID), cd, cw, int64(in.DID), int64(in.WID), in.Date, in.Amount)
}

func (db *database) delivery(in *tpcc.DeliveryInput, out *tpcc.DeliveryOutput) {
	*out = tpcc.DeliveryOutput{}
	w := int64(in.WID)
	for d := int64(1); d <= tpcc.Districts; d++ {
		var oldest *tpcc.Row
		for _, r := range db.rows {
			if r.Table == tpcc.NewOrder && r.Col[tpcc.NOWID] == w && r.Col[tpcc.NODID] == d &&
				(oldest == nil || r.Col[tpcc.NOOID] < oldest.Col[tpcc.NOOID]) {
				oldest = r
			}
		}
		if oldest == nil {
			continue
		}
		oid := oldest.Col[tpcc.NOOID]
		out.OID[d-1] = int32(oid)
		db.remove(oldest)
		order := db.find(tpcc.Orders, w, d, oid)
		order.Col[tpcc.OCarrierID] = int64(in.CarrierID)
		customer := db.find(tpcc.Customer, w, d, order.Col[tpcc.OCID])
		customer.Col[tpcc.CDeliveryCnt]++
		for n := int64(1); n <= order.Col[tpcc.OOlCnt]; n++ {
			line := db.find(tpcc.OrderLine, w, d, oid, n)
			line.Col[tpcc.OLDeliveryD] = in.DeliveryD
			customer.Col[tpcc.CBalance] += line.Col[tpcc.OLAmount]
		}
	}
}

// run is what was acknowledged, in both forms.
type run struct {
	ledger *Ledger
	acks   []byte
}

// do runs n transactions of one terminal and notes those that write.
func (db *database) do(seed uint64, terminal int, w tpcc.Weights, n int, note *run) {
	term := tpcc.NewTerminal(seed, terminal, db.scale, w)
	var in tpcc.Input
	for range n {
		term.Next(&in)
		switch in.Type {
		case tpcc.TxNewOrder:
			var out tpcc.NewOrderOutput
			db.newOrder(&in.NewOrder, &out)
			note.ledger.NewOrder(&in.NewOrder, &out)
			note.acks = AppendNewOrderAck(note.acks, &in.NewOrder, &out)
		case tpcc.TxPayment:
			var out tpcc.PaymentOutput
			db.payment(&in.Payment, &out)
			note.ledger.Payment(&in.Payment)
			note.acks = AppendPaymentAck(note.acks, &in.Payment, &out)
		case tpcc.TxDelivery:
			var out tpcc.DeliveryOutput
			db.delivery(&in.Delivery, &out)
			note.ledger.Delivery(&in.Delivery, &out)
			note.acks = AppendDeliveryAck(note.acks, &in.Delivery, &out)
		}
	}
}

func newRun(s tpcc.Scale) *run { return &run{ledger: NewLedger(s)} }

// small is the scale of most tests here: few rows, all tables, two warehouses.
var small = tpcc.Scale{Warehouses: 2, Items: 40, Customers: 12, Orders: 12, Undelivered: 4}

// afterRun is a small database after 160 transactions of two terminals, and what they were.
func afterRun(seed uint64) (*database, *run) {
	db, note := loaded(seed, small), newRun(small)
	db.do(seed, 0, tpcc.StandardMix(), 80, note)
	db.do(seed, 1, tpcc.StandardMix(), 80, note)
	return db, note
}

func (db *database) check() []Violation {
	c := NewChecker(db.scale)
	for _, r := range db.rows {
		if err := c.Add(r); err != nil {
			panic(err)
		}
	}
	return c.Check()
}

// mustBeClean fails if there are violations.
func mustBeClean(t *testing.T, what string, list []Violation) {
	t.Helper()
	for _, v := range list {
		t.Errorf("%s: %s", what, v)
	}
}

// mustFind fails unless a violation of the condition is in the list, at a place that contains where.
func mustFind(t *testing.T, what string, list []Violation, number int, where string) {
	t.Helper()
	for _, v := range list {
		if v.Number == number && strings.Contains(v.Where, where) {
			if v.Expected == v.Found || v.Clause == "" || v.Name == "" || v.What == "" {
				t.Errorf("%s: a violation that says nothing: %+v", what, v)
			}
			return
		}
	}
	t.Errorf("%s: no violation of condition %d at %q; found %s", what, number, where, summary(list))
}

func summary(list []Violation) string {
	if list == nil {
		return "none"
	}
	return fmt.Sprintf("%d, the first: %s", Count(list), list[0])
}
