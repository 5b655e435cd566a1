package consistency

import (
	"fmt"

	"tpccbench/tpcc"
)

// acknowledged is the condition that a Ledger checks.
var acknowledged = Condition{Number: 20, Clause: "3.5", Name: "what was acknowledged is there, once"}

// Ledger counts acknowledged transactions: what they must have left in a database that was just loaded. Each terminal
// has its own, without locks and without allocation per transaction; Merge makes one of them.
type Ledger struct {
	scale      tpcc.Scale
	districts  []tally // by (W_ID-1)*10 + D_ID-1
	rolledBack int64
	deliveries int64
}

// tally is what one district must have got.
type tally struct {
	newOrders int64 // New-Orders that did not roll back
	lines     int64 // their lines
	payments  int64 // Payments that were made here
	paid      int64 // their H_AMOUNT, cents
	delivered int64 // orders
	skipped   int64 // Deliveries that found no new order here
}

func (t *tally) add(u tally) {
	t.newOrders += u.newOrders
	t.lines += u.lines
	t.payments += u.payments
	t.paid += u.paid
	t.delivered += u.delivered
	t.skipped += u.skipped
}

// Totals is a Ledger summed up.
type Totals struct {
	NewOrders  int64 // that did not roll back
	RolledBack int64
	OrderLines int64
	Payments   int64
	Paid       int64 // cents
	Deliveries int64
	Delivered  int64 // orders
	Skipped    int64 // districts of Deliveries without a new order
}

// NewLedger makes an empty Ledger of a database of a valid scale.
func NewLedger(s tpcc.Scale) *Ledger {
	return &Ledger{scale: s, districts: make([]tally, s.Warehouses*tpcc.Districts)}
}

func (l *Ledger) district(w, d int32) *tally { return &l.districts[int(w-1)*tpcc.Districts+int(d-1)] }

// NewOrder counts an acknowledged New-Order.
func (l *Ledger) NewOrder(in *tpcc.NewOrderInput, out *tpcc.NewOrderOutput) {
	if out.RolledBack {
		l.rolledBack++
		return
	}
	t := l.district(in.WID, in.DID)
	t.newOrders++
	t.lines += int64(in.Count)
}

// Payment counts an acknowledged Payment.
func (l *Ledger) Payment(in *tpcc.PaymentInput) {
	t := l.district(in.WID, in.DID)
	t.payments++
	t.paid += in.Amount
}

// Delivery counts an acknowledged Delivery.
func (l *Ledger) Delivery(in *tpcc.DeliveryInput, out *tpcc.DeliveryOutput) {
	l.deliveries++
	for i, id := range out.OID {
		t := l.district(in.WID, int32(i)+1)
		if id == 0 {
			t.skipped++
		} else {
			t.delivered++
		}
	}
}

// Merge adds what other counted. Both are of one scale.
func (l *Ledger) Merge(other *Ledger) {
	l.rolledBack += other.rolledBack
	l.deliveries += other.deliveries
	for i := range other.districts {
		l.districts[i].add(other.districts[i])
	}
}

// Totals sums the Ledger up.
func (l *Ledger) Totals() Totals {
	var t tally
	for i := range l.districts {
		t.add(l.districts[i])
	}
	return Totals{t.newOrders, l.rolledBack, t.lines, t.payments, t.paid, l.deliveries, t.delivered, t.skipped}
}

// Check compares the Ledger with a database that was loaded, ran exactly the transactions that were given to the
// Ledger, and was then given to c. Per district: D_NEXT_O_ID has advanced by the New-Orders, the orders since loading
// have their lines, D_YTD and HISTORY have the Payments, NEW_ORDER has lost what was delivered; per warehouse W_YTD.
//
// inFlight is the number of transactions whose outcome is not known: 0 after a run that ended cleanly, when all must
// be equal; after a kill at most the number of terminals. Each of them may or may not have happened, once.
func (l *Ledger) Check(c *Checker, inFlight int) []Violation {
	var r recorder
	r.start(acknowledged)
	b := bounds{&r, int64(inFlight)}
	extra := int64(0) // transactions found beyond the acknowledged ones, at least
	paid := make([]int64, l.scale.Warehouses)
	extraDeliveries := make([]int64, l.scale.Warehouses)
	c.eachDistrict(func(at place, di *district) {
		t := l.district(int32(at.warehouse), int32(at.district))
		paid[at.warehouse-1] += t.paid
		if !di.seen {
			r.add(at, "row of district", aRow, noRow)
			return
		}
		newOrders := di.nextOID - 1 - int64(l.scale.Orders)
		payments := di.payments - int64(l.scale.Customers)
		delivered := int64(l.scale.Undelivered) + newOrders - di.newOrders
		b.check(at, "New-Orders, by d_next_o_id", t.newOrders, newOrders, 1)
		b.check(at, "lines of the orders since loading", t.lines, di.linesAfter(int64(l.scale.Orders)), tpcc.MaxLines)
		b.check(at, "Payments, by rows of history", t.payments, payments, 1)
		b.checkMoney(at, "paid, by d_ytd", t.paid, di.ytd-int64(l.scale.Customers)*tpcc.InitialPayment)
		b.check(at, "orders delivered, by rows of new_order", t.delivered, delivered, 1)
		extra += max(0, newOrders-t.newOrders) + max(0, payments-t.payments)
		extraDeliveries[at.warehouse-1] = max(extraDeliveries[at.warehouse-1], delivered-t.delivered)
	})
	for i := range c.warehouses {
		at, w := place{warehouse: int64(i) + 1}, &c.warehouses[i]
		if !w.seen {
			r.add(at, "row of warehouse", aRow, noRow)
			continue
		}
		initial := tpcc.Districts * int64(l.scale.Customers) * tpcc.InitialPayment
		b.checkMoney(at, "paid, by w_ytd", paid[i], w.ytd-initial)
		extra += extraDeliveries[i]
	}
	if extra > b.inFlight && b.inFlight > 0 { // with none in flight, each place has been named above
		r.add(place{}, "transactions that were not acknowledged, at most", b.inFlight, extra)
	}
	return r.finish()
}

// bounds checks figures that transactions in flight may have raised.
type bounds struct {
	r        *recorder
	inFlight int64
}

// check records a violation unless found is between low and low plus most for each transaction in flight.
func (b bounds) check(at place, what string, low, found, most int64) {
	if high := low + most*b.inFlight; found < low || found > high {
		b.r.add(at, what, span(low, high), found)
	}
}

func (b bounds) checkMoney(at place, what string, low, found int64) {
	if high := low + tpcc.MaxPayment*b.inFlight; found < low || found > high {
		b.r.add(at, what, span(cents(low), cents(high)), cents(found))
	}
}

func span[T comparable](low, high T) string {
	if low == high {
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%v to %v", low, high)
}

// linesAfter is the number of lines of orders with a larger O_ID.
func (di *district) linesAfter(oid int64) int64 {
	n := int64(0)
	for i := (oid + 1) / chunkOrders; i < int64(len(di.chunks)); i++ {
		if chunk := di.chunks[i]; chunk != nil {
			for j := range chunk {
				if i*chunkOrders+int64(j) > oid {
					n += int64(chunk[j].lines)
				}
			}
		}
	}
	return n
}
