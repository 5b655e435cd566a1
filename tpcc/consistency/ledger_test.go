package consistency

import (
	"testing"

	"tpccbench/tpcc"
)

// against checks a ledger on a database.
func (db *database) against(l *Ledger, inFlight int) []Violation {
	c := NewChecker(db.scale)
	for _, r := range db.rows {
		if err := c.Add(r); err != nil {
			panic(err)
		}
	}
	return l.Check(c, inFlight)
}

func TestLedgerAgreesWithACleanRun(t *testing.T) {
	for seed := range uint64(3) {
		db, note := afterRun(seed)
		mustBeClean(t, "exact", db.against(note.ledger, 0))
		mustBeClean(t, "nothing was in flight after all", db.against(note.ledger, 5))
	}
	mustBeClean(t, "no transactions", loaded(1, small).against(NewLedger(small), 0))
}

// One transaction of each type that is in the ledger and not in the database, or the other way round, is found.
func TestLedgerFindsOneTransactionLostOrExtra(t *testing.T) {
	for _, typ := range []tpcc.Type{tpcc.TxNewOrder, tpcc.TxPayment, tpcc.TxDelivery} {
		var w tpcc.Weights
		w[typ] = 1
		db, note := afterRun(3)
		db.do(1, 7, w, 1, note)
		mustBeClean(t, typ.String(), db.against(note.ledger, 0))

		lost, _ := afterRun(3) // has not the last one
		list := lost.against(note.ledger, 0)
		mustFind(t, typ.String()+" lost", list, acknowledged.Number, "warehouse 2")
		if lost.against(note.ledger, 100) == nil {
			t.Errorf("%s lost: in flight are only those that were not acknowledged", typ)
		}

		_, short := afterRun(3) // did not get the last acknowledgement
		mustFind(t, typ.String()+" extra", db.against(short.ledger, 0), acknowledged.Number, "warehouse 2")
		mustBeClean(t, typ.String()+" in flight", db.against(short.ledger, 1))
	}
}

// Two New-Orders in two districts and one in flight: each district alone would pass.
func TestLedgerCountsWhatWasInFlightOverAllDistricts(t *testing.T) {
	db, note := loaded(1, small), newRun(small)
	db.do(1, 0, tpcc.Weights{1, 0, 0, 0, 0}, 1, newRun(small))
	db.do(1, 1, tpcc.Weights{1, 0, 0, 0, 0}, 1, newRun(small))
	mustBeClean(t, "two in flight", db.against(note.ledger, 2))
	mustFind(t, "one in flight", db.against(note.ledger, 1), acknowledged.Number, "whole database")

	db = loaded(1, small) // one Delivery changes ten districts and is one transaction
	db.do(1, 0, tpcc.Weights{0, 0, 0, 1, 0}, 1, newRun(small))
	mustBeClean(t, "a delivery in flight", db.against(note.ledger, 1))
	db.do(1, 1, tpcc.Weights{0, 0, 0, 1, 0}, 1, newRun(small))
	mustFind(t, "two deliveries, one in flight", db.against(note.ledger, 1), acknowledged.Number, "whole database")
}

func TestLedgerFindsRowsThatAreNotThere(t *testing.T) {
	for name, change := range map[string]func(*database){
		"district 3":     without(tpcc.District, 2, 3),
		"warehouse 2":    without(tpcc.Warehouse, 2),
		"district 1":     add(tpcc.DYTD, 1, tpcc.District, 2, 1),
		"warehouse 1":    add(tpcc.WYTD, -1, tpcc.Warehouse, 1),
		", district 4":   without(tpcc.NewOrder, 1, 4, 12),
		", district 5":   without(tpcc.History, 3, 5, 1),
		"2, district 6":  insert(tpcc.OrderLine, 2, 6, 13, 1, 1, 1, 0, 5, 0),
		"1, district 10": add(tpcc.DNextOID, -1, tpcc.District, 1, 10),
	} {
		db := loaded(1, small)
		change(db)
		mustFind(t, name, db.against(NewLedger(small), 0), acknowledged.Number, name)
	}
}

func TestLedgerTotalsAndMerge(t *testing.T) {
	db := loaded(4, small)
	one, two := newRun(small), newRun(small)
	db.do(4, 0, tpcc.StandardMix(), 400, one)
	db.do(4, 1, tpcc.StandardMix(), 400, two)
	a, b := one.ledger.Totals(), two.ledger.Totals()
	one.ledger.Merge(two.ledger)
	sum := one.ledger.Totals()
	if want := (Totals{a.NewOrders + b.NewOrders, a.RolledBack + b.RolledBack, a.OrderLines + b.OrderLines, a.Payments + b.Payments,
		a.Paid + b.Paid, a.Deliveries + b.Deliveries, a.Delivered + b.Delivered, a.Skipped + b.Skipped}); sum != want {
		t.Errorf("merged: %+v, not %+v", sum, want)
	}
	if sum.Delivered+sum.Skipped != sum.Deliveries*tpcc.Districts || sum.RolledBack == 0 || sum.Skipped == 0 {
		t.Errorf("a run with rollbacks and skipped deliveries: %+v", sum)
	}
	mustBeClean(t, "merged", db.against(one.ledger, 0))
}

func TestLedgerDoesNotAllocate(t *testing.T) {
	l := NewLedger(small)
	no, noOut := &tpcc.NewOrderInput{WID: 1, DID: 1, Count: 5}, &tpcc.NewOrderOutput{}
	pay := &tpcc.PaymentInput{WID: 1, DID: 1, Amount: 1}
	del, delOut := &tpcc.DeliveryInput{WID: 1}, &tpcc.DeliveryOutput{}
	if n := testing.AllocsPerRun(1000, func() {
		l.NewOrder(no, noOut)
		l.Payment(pay)
		l.Delivery(del, delOut)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
