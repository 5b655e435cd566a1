package consistency

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"tpccbench/tpcc"
)

func (n *run) read() []Ack {
	acks, err := ReadAcks(bytes.NewReader(n.acks))
	if err != nil {
		panic(err)
	}
	return acks
}

func (db *database) audit(t *testing.T, acks []Ack, inFlight int) []Violation {
	t.Helper()
	list, err := Audit(acks, db.snapshot, db.scale, inFlight)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestAuditPassesWhatIsThere(t *testing.T) {
	for seed := range uint64(3) {
		db, note := afterRun(seed)
		acks := note.read()
		mustBeClean(t, "all acknowledged", db.audit(t, acks, 0))
		slices.Reverse(acks)
		mustBeClean(t, "in another order", db.audit(t, acks, 0))
	}
	// The last one committed, but its acknowledgement did not arrive.
	for _, typ := range []tpcc.Type{tpcc.TxNewOrder, tpcc.TxPayment, tpcc.TxDelivery} {
		var w tpcc.Weights
		w[typ] = 1
		db, note := afterRun(4)
		db.do(1, 7, w, 1, newRun(small))
		mustBeClean(t, "in flight", db.audit(t, note.read(), 1))
		if db.audit(t, note.read(), 0) == nil {
			t.Errorf("%s: an unknown transaction is not found", typ)
		}
	}
}

// A store that lost its last transaction is consistent in itself; only what was acknowledged tells.
func TestAuditFindsALostTransaction(t *testing.T) {
	for typ, number := range map[tpcc.Type]int{tpcc.TxNewOrder: 21, tpcc.TxPayment: 22, tpcc.TxDelivery: 23} {
		var w tpcc.Weights
		w[typ] = 1
		lost, _ := afterRun(4)
		db, note := afterRun(4)
		db.do(1, 7, w, 1, note)
		mustBeClean(t, "by the conditions alone", lost.check())
		mustFind(t, typ.String()+" lost", lost.audit(t, note.read(), 64), number, "warehouse 2")
	}
}

// An acknowledged transaction that was lost is found although another one of the same kind, in flight, makes up for
// it in all counts.
func TestAuditIsNotSatisfiedWithAnotherTransaction(t *testing.T) {
	for typ, number := range map[tpcc.Type]int{tpcc.TxNewOrder: 21, tpcc.TxPayment: 22, tpcc.TxDelivery: 23} {
		var w tpcc.Weights
		w[typ] = 1
		db := loaded(4, small)
		db.do(1, 1, w, 1, newRun(small))
		other, note := loaded(4, small), newRun(small)
		other.do(2, 1, w, 1, note)
		mustFind(t, typ.String(), db.audit(t, note.read(), 1), number, "warehouse")
	}
}

func TestAuditFindsEveryChangedColumn(t *testing.T) {
	db, note := loaded(6, small), newRun(small)
	db.do(6, 0, tpcc.StandardMix(), 300, note)
	acks := note.read()
	mustBeClean(t, "before", db.audit(t, acks, 0))
	order := acks[slices.IndexFunc(acks, func(a Ack) bool { return a.Type == tpcc.TxNewOrder })].NewOrder
	w, d, o := int64(order.WID), int64(order.DID), int64(order.OID)
	delivery := acks[slices.IndexFunc(acks, func(a Ack) bool { return a.Type == tpcc.TxDelivery })].Delivery
	dw, do := int64(delivery.WID), int64(delivery.OID[0])
	payment := acks[slices.IndexFunc(acks, func(a Ack) bool { return a.Type == tpcc.TxPayment })].Payment
	paid := func(change func(*database, *tpcc.Row)) func(*database) {
		return func(db *database) {
			for _, r := range db.rows {
				if r.Table == tpcc.History && r.Col[tpcc.HDate] == payment.Date {
					change(db, r)
					return
				}
			}
		}
	}
	for _, m := range []struct {
		name   string
		number int
		change func(*database)
	}{
		{"o_c_id", 21, add(tpcc.OCID, 1, tpcc.Orders, w, d, o)},
		{"o_entry_d", 21, add(tpcc.OEntryD, 1, tpcc.Orders, w, d, o)},
		{"o_ol_cnt", 21, add(tpcc.OOlCnt, 1, tpcc.Orders, w, d, o)},
		{"no order", 21, without(tpcc.Orders, w, d, o)},
		{"no line", 21, without(tpcc.OrderLine, w, d, o, 1)},
		{"a line more", 21, insert(tpcc.OrderLine, w, d, o, int64(len(order.Lines))+1, 1, 1, 0, 5, 5)},
		{"ol_i_id", 21, add(tpcc.OLIID, 1, tpcc.OrderLine, w, d, o, 2)},
		{"ol_supply_w_id", 21, add(tpcc.OLSupplyWID, 1, tpcc.OrderLine, w, d, o, 2)},
		{"ol_quantity", 21, add(tpcc.OLQuantity, 1, tpcc.OrderLine, w, d, o, 2)},
		{"ol_amount", 21, add(tpcc.OLAmount, -1, tpcc.OrderLine, w, d, o, 2)},
		{"o_carrier_id", 23, set(tpcc.OCarrierID, int64(delivery.CarrierID%10)+1, tpcc.Orders, dw, 1, do)},
		{"no carrier", 23, set(tpcc.OCarrierID, tpcc.Null, tpcc.Orders, dw, 1, do)},
		{"ol_delivery_d", 23, add(tpcc.OLDeliveryD, 1, tpcc.OrderLine, dw, 1, do, 1)},
		{"ol_delivery_d null", 23, set(tpcc.OLDeliveryD, tpcc.Null, tpcc.OrderLine, dw, 1, do, 5)},
		{"new-order row again", 23, insert(tpcc.NewOrder, dw, 1, do)},
		{"delivered order gone", 23, without(tpcc.Orders, dw, 1, do)},
		{"h_amount", 22, paid(func(_ *database, r *tpcc.Row) { r.Col[tpcc.HAmount]++ })},
		{"h_date", 22, paid(func(_ *database, r *tpcc.Row) { r.Col[tpcc.HDate]++ })},
		{"h_c_id", 22, paid(func(_ *database, r *tpcc.Row) { r.Col[tpcc.HCID]++ })},
		{"h_c_d_id", 22, paid(func(_ *database, r *tpcc.Row) { r.Col[tpcc.HCDID]++ })},
		{"h_c_w_id", 22, paid(func(_ *database, r *tpcc.Row) { r.Col[tpcc.HCWID]++ })},
		{"h_d_id", 22, paid(func(_ *database, r *tpcc.Row) { r.Col[tpcc.HDID]++ })},
		{"h_w_id", 22, paid(func(_ *database, r *tpcc.Row) { r.Col[tpcc.HWID]++ })},
		{"no history row", 22, paid(func(db *database, r *tpcc.Row) { db.remove(r) })},
	} {
		broken := db.clone()
		m.change(broken)
		mustFind(t, m.name, broken.audit(t, acks, 5), m.number, "warehouse")
	}
}

// Two equal payments need two rows.
func TestAuditCountsEqualPayments(t *testing.T) {
	db, note := loaded(1, small), newRun(small)
	in := tpcc.PaymentInput{WID: 1, DID: 2, CWID: 1, CDID: 2, CID: 3, Amount: 500, Date: tpcc.RunDate}
	var out tpcc.PaymentOutput
	for range 2 {
		db.payment(&in, &out)
		note.ledger.Payment(&in)
		note.acks = AppendPaymentAck(note.acks, &in, &out)
	}
	mustBeClean(t, "two", db.audit(t, note.read(), 0))
	db.remove(db.rows[len(db.rows)-1])
	list := db.audit(t, note.read(), 5)
	mustFind(t, "one of two", list, 22, "warehouse 1, district 2, customer 3")
	list = slices.DeleteFunc(list, func(v Violation) bool { return v.Number != 22 })
	if Count(list) != 1 {
		t.Errorf("%d payments are missing, not 1", Count(list))
	}
}

func TestAuditFindsTwoAcknowledgementsOfOneOrder(t *testing.T) {
	db, note := loaded(1, small), newRun(small)
	db.do(1, 0, tpcc.Weights{1, 0, 0, 1, 0}, 4, note)
	acks := note.read()
	list := db.audit(t, append(slices.Clone(acks), acks...), 0)
	mustFind(t, "twice", list, 21, "order 13")
	mustFind(t, "twice", list, 23, "order 9")
}

func TestAuditReportsTheSnapshotsError(t *testing.T) {
	broken := errors.New("broken")
	if _, err := Audit(nil, func(func(*tpcc.Row) error) error { return broken }, small, 0); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}
