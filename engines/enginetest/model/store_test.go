package model_test

import (
	"errors"
	"testing"

	"tpccbench/engines/enginetest/model"
	"tpccbench/tpcc"
)

// small is a database that fits in the head: one warehouse with 10 % tax, district 1 with 5 % and order 1 of customer 2
// undelivered, four customers of whom 1, 2 and 4 have the last name 7, two items of 1.00 and 2.50.
func small(t *testing.T) *model.Store {
	t.Helper()
	rows := []tpcc.Row{
		{Table: tpcc.Item, Col: columns(1, 0, 100)},
		{Table: tpcc.Item, Col: columns(2, 0, 250)},
		{Table: tpcc.Warehouse, Col: columns(1, 1000, 0)},
		{Table: tpcc.District, Col: columns(1, 1, 500, 0, 2)},
		{Table: tpcc.Customer, Col: columns(1, 1, 1, 7, 0, tpcc.GoodCredit, 0, 0, 0, 0, 0, 0)},
		{Table: tpcc.Customer, Col: columns(1, 1, 2, 7, 0, tpcc.BadCredit, 0, 2000, -100, 100, 1, 0)},
		{Table: tpcc.Customer, Col: columns(1, 1, 3, 8, 0, tpcc.GoodCredit, 0, 0, 0, 0, 0, 0)},
		{Table: tpcc.Customer, Col: columns(1, 1, 4, 7, 0, tpcc.GoodCredit, 0, 0, 0, 0, 0, 0)},
		{Table: tpcc.Orders, Col: columns(1, 1, 1, 2, 5, tpcc.Null, 2, 1)},
		{Table: tpcc.NewOrder, Col: columns(1, 1, 1)},
		{Table: tpcc.OrderLine, Col: columns(1, 1, 1, 1, 1, 1, tpcc.Null, 5, 40)},
		{Table: tpcc.OrderLine, Col: columns(1, 1, 1, 2, 1, 1, tpcc.Null, 5, 2)},
		{Table: tpcc.Stock, Col: columns(1, 1, 15, 0, 0, 0)},
		{Table: tpcc.Stock, Col: columns(1, 2, 14, 0, 0, 0)},
	}
	s := model.New()
	err := s.Load(func(yield func(*tpcc.Row) bool) {
		for i := range rows {
			if !yield(&rows[i]) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func columns(values ...int64) (c [tpcc.MaxColumns]int64) {
	copy(c[:], values)
	return c
}

// wantRows compares some rows of the store with what they must be, and no row of the tables may be there beside them.
func wantRows(t *testing.T, s *model.Store, tables []tpcc.Table, want ...tpcc.Row) {
	t.Helper()
	var got []tpcc.Row
	err := s.Snapshot(func(r *tpcc.Row) error {
		for _, table := range tables {
			if r.Table == table {
				got = append(got, *r)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("%s is missing", &want[i])
		case i >= len(want):
			t.Errorf("%s is too much", &got[i])
		case got[i] != want[i]:
			t.Errorf("%s must be %s", &got[i], &want[i])
		}
	}
}

// TestNewOrder: figures worked out by hand from clause 2.4.2.2. Item 1 is ordered twice in one order: the first 5 of its
// 15 leave 10, the next 5 would leave fewer, so that 91 are added: 96. Item 2 would fall to 8 and is filled up to 99.
func TestNewOrder(t *testing.T) {
	s := small(t)
	in := tpcc.NewOrderInput{WID: 1, DID: 1, CID: 2, EntryD: 9, Count: 3}
	in.Lines[0] = tpcc.NewOrderInputLine{IID: 1, SupplyWID: 1, Quantity: 5}
	in.Lines[1] = tpcc.NewOrderInputLine{IID: 2, SupplyWID: 1, Quantity: 6}
	in.Lines[2] = tpcc.NewOrderInputLine{IID: 1, SupplyWID: 1, Quantity: 5}
	var out tpcc.NewOrderOutput
	if err := s.NewOrder(&in, &out); err != nil {
		t.Fatal(err)
	}
	// 25.00 * 0.8 * 1.15 = 23.00
	want := tpcc.NewOrderOutput{OID: 2, CLast: 7, CCredit: tpcc.BadCredit, CDiscount: 2000, WTax: 1000, DTax: 500, TotalAmount: 2300}
	want.Lines[0] = tpcc.NewOrderOutputLine{Price: 100, SQuantity: 10, Amount: 500}
	want.Lines[1] = tpcc.NewOrderOutputLine{Price: 250, SQuantity: 99, Amount: 1500}
	want.Lines[2] = tpcc.NewOrderOutputLine{Price: 100, SQuantity: 96, Amount: 500}
	if out != want {
		t.Errorf("the order shows %+v; it must be %+v", out, want)
	}
	wantRows(t, s, []tpcc.Table{tpcc.District, tpcc.Orders, tpcc.NewOrder, tpcc.Stock},
		tpcc.Row{Table: tpcc.District, Col: columns(1, 1, 500, 0, 3)},
		tpcc.Row{Table: tpcc.Orders, Col: columns(1, 1, 1, 2, 5, tpcc.Null, 2, 1)},
		tpcc.Row{Table: tpcc.Orders, Col: columns(1, 1, 2, 2, 9, tpcc.Null, 3, 1)},
		tpcc.Row{Table: tpcc.NewOrder, Col: columns(1, 1, 1)},
		tpcc.Row{Table: tpcc.NewOrder, Col: columns(1, 1, 2)},
		tpcc.Row{Table: tpcc.Stock, Col: columns(1, 1, 96, 10, 2, 0)},
		tpcc.Row{Table: tpcc.Stock, Col: columns(1, 2, 99, 6, 1, 0)})

	in.Lines[2].IID = 3 // there is no item 3
	if err := s.NewOrder(&in, &out); err != nil {
		t.Fatal(err)
	}
	rolledBack := tpcc.NewOrderOutput{RolledBack: true, OID: 3, CLast: 7, CCredit: tpcc.BadCredit, CDiscount: 2000, WTax: 1000, DTax: 500}
	if out != rolledBack {
		t.Errorf("the order that is rolled back shows %+v; it must be %+v", out, rolledBack)
	}
	wantRows(t, s, []tpcc.Table{tpcc.District, tpcc.Stock},
		tpcc.Row{Table: tpcc.District, Col: columns(1, 1, 500, 0, 3)},
		tpcc.Row{Table: tpcc.Stock, Col: columns(1, 1, 96, 10, 2, 0)},
		tpcc.Row{Table: tpcc.Stock, Col: columns(1, 2, 99, 6, 1, 0)})
}

// TestPayment: of the three customers called 7, the second is taken (clause 2.5.2.2).
func TestPayment(t *testing.T) {
	s := small(t)
	in := tpcc.PaymentInput{WID: 1, DID: 1, CWID: 1, CDID: 1, ByName: true, CLast: 7, Amount: 30, Date: 9}
	var out tpcc.PaymentOutput
	if err := s.Payment(&in, &out); err != nil {
		t.Fatal(err)
	}
	if want := (tpcc.PaymentOutput{CID: 2, CLast: 7, CCredit: tpcc.BadCredit, CDiscount: 2000, CBalance: -130}); out != want {
		t.Errorf("the payment shows %+v; it must be %+v", out, want)
	}
	paid := []tpcc.Row{
		{Table: tpcc.Warehouse, Col: columns(1, 1000, 30)},
		{Table: tpcc.District, Col: columns(1, 1, 500, 30, 2)},
		{Table: tpcc.History, Col: columns(2, 1, 1, 1, 1, 9, 30)},
	}
	wantRows(t, s, []tpcc.Table{tpcc.Warehouse, tpcc.District, tpcc.History}, paid...)
	in.CLast = 9 // nobody
	if err := s.Payment(&in, &out); !errors.Is(err, model.ErrUnknown) {
		t.Errorf("a payment of nobody gives the error %v", err)
	}
	wantRows(t, s, []tpcc.Table{tpcc.Warehouse, tpcc.District, tpcc.History}, paid...)
}

// TestDelivery: the one order is delivered, nine districts are skipped; then all ten are.
func TestDelivery(t *testing.T) {
	s := small(t)
	in := tpcc.DeliveryInput{WID: 1, CarrierID: 3, DeliveryD: 11}
	for _, want := range []tpcc.DeliveryOutput{{OID: [tpcc.Districts]int32{1}}, {}} {
		var out tpcc.DeliveryOutput
		if err := s.Delivery(&in, &out); err != nil || out != want {
			t.Errorf("the delivery shows %+v, error %v; it must be %+v", out, err, want)
		}
	}
	wantRows(t, s, []tpcc.Table{tpcc.Orders, tpcc.NewOrder, tpcc.OrderLine},
		tpcc.Row{Table: tpcc.Orders, Col: columns(1, 1, 1, 2, 5, 3, 2, 1)},
		tpcc.Row{Table: tpcc.OrderLine, Col: columns(1, 1, 1, 1, 1, 1, 11, 5, 40)},
		tpcc.Row{Table: tpcc.OrderLine, Col: columns(1, 1, 1, 2, 1, 1, 11, 5, 2)})
	var status tpcc.OrderStatusOutput
	if err := s.OrderStatus(&tpcc.OrderStatusInput{WID: 1, DID: 1, ByName: true, CLast: 7}, &status); err != nil {
		t.Fatal(err)
	}
	want := tpcc.OrderStatusOutput{CID: 2, CLast: 7, CBalance: -58, OID: 1, CarrierID: 3, EntryD: 5, Count: 2}
	want.Lines[0] = tpcc.OrderStatusLine{IID: 1, SupplyWID: 1, Quantity: 5, Amount: 40, DeliveryD: 11}
	want.Lines[1] = tpcc.OrderStatusLine{IID: 1, SupplyWID: 1, Quantity: 5, Amount: 2, DeliveryD: 11}
	if status != want {
		t.Errorf("the order's status is %+v; it must be %+v", status, want)
	}
}

// TestOrderStatusWithoutOrder: a customer who never ordered has the order 0.
func TestOrderStatusWithoutOrder(t *testing.T) {
	var out tpcc.OrderStatusOutput
	err := small(t).OrderStatus(&tpcc.OrderStatusInput{WID: 1, DID: 1, CID: 3}, &out)
	if want := (tpcc.OrderStatusOutput{CID: 3, CLast: 8}); err != nil || out != want {
		t.Errorf("the status is %+v, error %v; it must be %+v", out, err, want)
	}
}

// TestStockLevel: item 1, of which there are 15, is in the order twice and counts once; item 2 is in no order.
func TestStockLevel(t *testing.T) {
	s := small(t)
	for threshold, want := range map[int32]int32{15: 0, 16: 1} {
		var out tpcc.StockLevelOutput
		if err := s.StockLevel(&tpcc.StockLevelInput{WID: 1, DID: 1, Threshold: threshold}, &out); err != nil || out.LowStock != want {
			t.Errorf("threshold %d: %d items, error %v; it must be %d", threshold, out.LowStock, err, want)
		}
	}
}
