package consistency

import (
	"tpccbench/tpcc"
)

// Snapshot visits every row of one commit point, table by table in the order of tpcc.Tables, within a table in key
// order; the method of engines.Engine has this form. A *Row is valid during its visit only.
type Snapshot = func(visit func(*tpcc.Row) error) error

// Conditions that Audit checks beside those of Check.
var (
	ackedOrder    = Condition{Number: 21, Clause: "3.5", Name: "an acknowledged New-Order is there with all its columns"}
	ackedPayment  = Condition{Number: 22, Clause: "3.5", Name: "an acknowledged Payment is in HISTORY"}
	ackedDelivery = Condition{Number: 23, Clause: "3.5", Name: "an acknowledged Delivery has delivered its orders"}
)

// Audit compares a store that was reopened after a kill with what was acknowledged before: acks is all since the store
// was loaded, in any order. Every acknowledged order must exist with its columns and lines, every acknowledged payment
// must have a history row of its own, every delivered order must have its carrier, its lines the date, and no
// new-order row. All Conditions must hold, and nothing may be there beyond the acknowledged transactions and inFlight
// others (Ledger.Check), of which each terminal had at most one.
//
// It keeps all acks by key. An error is the snapshot's own.
func Audit(acks []Ack, snapshot Snapshot, s tpcc.Scale, inFlight int) ([]Violation, error) {
	a := newAudit(acks, s)
	c := NewChecker(s)
	err := snapshot(func(r *tpcc.Row) error {
		a.add(r)
		return c.Add(r)
	})
	if err != nil {
		return nil, err
	}
	list := append(c.Check(), a.ledger.Check(c, inFlight)...)
	a.missing(acks)
	for _, r := range []*recorder{&a.orderFaults, &a.paymentFaults, &a.deliveryFaults} {
		list = append(list, r.finish()...)
	}
	return list, nil
}

// audit is one comparison; rows tick off what they prove.
type audit struct {
	ledger     *Ledger
	orders     map[orderKey]*auditedOrder
	deliveries map[orderKey]*auditedDelivery
	payments   map[AckPayment]int64 // acknowledged minus found

	orderFaults, paymentFaults, deliveryFaults recorder
}

type orderKey struct{ wid, did, oid int64 }

func (k orderKey) place() place { return place{warehouse: k.wid, district: k.did, order: k.oid} }

type auditedOrder struct {
	ack   *AckNewOrder
	seen  bool
	lines uint16 // bit OL_NUMBER
}

type auditedDelivery struct {
	ack  *AckDelivery
	seen bool
}

func newAudit(acks []Ack, s tpcc.Scale) *audit {
	a := &audit{
		ledger:     NewLedger(s),
		orders:     map[orderKey]*auditedOrder{},
		deliveries: map[orderKey]*auditedDelivery{},
		payments:   map[AckPayment]int64{},
	}
	a.orderFaults.start(ackedOrder)
	a.paymentFaults.start(ackedPayment)
	a.deliveryFaults.start(ackedDelivery)
	for i := range acks {
		switch ack := &acks[i]; ack.Type {
		case tpcc.TxNewOrder:
			o := &ack.NewOrder
			k := orderKey{int64(o.WID), int64(o.DID), int64(o.OID)}
			if a.orders[k] != nil {
				a.orderFaults.add(k.place(), "New-Orders that were acknowledged with this O_ID", 1, "more")
			}
			a.orders[k] = &auditedOrder{ack: o}
			a.ledger.NewOrder(&tpcc.NewOrderInput{WID: o.WID, DID: o.DID, Count: int32(len(o.Lines))}, &tpcc.NewOrderOutput{})
		case tpcc.TxPayment:
			p := &ack.Payment
			a.payments[*p]++
			a.ledger.Payment(&tpcc.PaymentInput{WID: p.WID, DID: p.DID, Amount: p.Amount})
		case tpcc.TxDelivery:
			d := &ack.Delivery
			for j, oid := range d.OID {
				if oid == 0 {
					continue
				}
				k := orderKey{int64(d.WID), int64(j) + 1, int64(oid)}
				if a.deliveries[k] != nil {
					a.deliveryFaults.add(k.place(), "Deliveries that were acknowledged with this order", 1, "more")
				}
				a.deliveries[k] = &auditedDelivery{ack: d}
			}
			a.ledger.Delivery(&tpcc.DeliveryInput{WID: d.WID}, &tpcc.DeliveryOutput{OID: d.OID})
		}
	}
	return a
}

// add compares one row with what was acknowledged.
func (a *audit) add(r *tpcc.Row) {
	col := &r.Col
	switch r.Table {
	case tpcc.History:
		p := AckPayment{int32(col[tpcc.HWID]), int32(col[tpcc.HDID]), int32(col[tpcc.HCWID]), int32(col[tpcc.HCDID]),
			int32(col[tpcc.HCID]), col[tpcc.HAmount], col[tpcc.HDate]}
		if _, ok := a.payments[p]; ok {
			a.payments[p]--
		}
	case tpcc.Orders:
		k := orderKey{col[tpcc.OWID], col[tpcc.ODID], col[tpcc.OID]}
		if o := a.orders[k]; o != nil {
			o.seen = true
			f := &a.orderFaults
			f.equal(k.place(), "o_c_id", int64(o.ack.CID), col[tpcc.OCID])
			f.equal(k.place(), "o_entry_d", o.ack.EntryD, col[tpcc.OEntryD])
			f.equal(k.place(), "o_ol_cnt", int64(len(o.ack.Lines)), col[tpcc.OOlCnt])
		}
		if d := a.deliveries[k]; d != nil {
			d.seen = true
			a.deliveryFaults.equal(k.place(), "o_carrier_id", int64(d.ack.CarrierID), col[tpcc.OCarrierID])
		}
	case tpcc.NewOrder:
		k := orderKey{col[tpcc.NOWID], col[tpcc.NODID], col[tpcc.NOOID]}
		if a.deliveries[k] != nil {
			a.deliveryFaults.add(k.place(), "row of new_order", noRow, aRow)
		}
	case tpcc.OrderLine:
		a.addLine(col, orderKey{col[tpcc.OLWID], col[tpcc.OLDID], col[tpcc.OLOID]})
	}
}

func (a *audit) addLine(col *[tpcc.MaxColumns]int64, k orderKey) {
	at := k.place()
	at.number = col[tpcc.OLNumber]
	if o := a.orders[k]; o != nil {
		f := &a.orderFaults
		if at.number < 1 || at.number > int64(len(o.ack.Lines)) {
			f.add(at, "row of order_line", noRow, aRow)
		} else {
			o.lines |= 1 << at.number
			line := &o.ack.Lines[at.number-1]
			f.equal(at, "ol_i_id", int64(line.IID), col[tpcc.OLIID])
			f.equal(at, "ol_supply_w_id", int64(line.SupplyWID), col[tpcc.OLSupplyWID])
			f.equal(at, "ol_quantity", int64(line.Quantity), col[tpcc.OLQuantity])
			if line.Amount != col[tpcc.OLAmount] {
				f.add(at, "ol_amount", cents(line.Amount), cents(col[tpcc.OLAmount]))
			}
		}
	}
	if d := a.deliveries[k]; d != nil {
		a.deliveryFaults.equal(at, "ol_delivery_d", d.ack.DeliveryD, col[tpcc.OLDeliveryD])
	}
}

// missing records what no row has ticked off, in the order of acks.
func (a *audit) missing(acks []Ack) {
	for i := range acks {
		switch ack := &acks[i]; ack.Type {
		case tpcc.TxNewOrder:
			k := orderKey{int64(ack.NewOrder.WID), int64(ack.NewOrder.DID), int64(ack.NewOrder.OID)}
			o := a.orders[k]
			if !o.seen {
				a.orderFaults.add(k.place(), "row of orders", aRow, noRow)
			}
			for n := range o.ack.Lines {
				if o.lines&(2<<n) == 0 {
					at := k.place()
					at.number = int64(n) + 1
					a.orderFaults.add(at, "row of order_line", aRow, noRow)
				}
			}
		case tpcc.TxPayment:
			p := &ack.Payment
			if n := a.payments[*p]; n > 0 {
				a.payments[*p]--
				a.paymentFaults.add(place{warehouse: int64(p.CWID), district: int64(p.CDID), customer: int64(p.CID)},
					"row of history of "+cents(p.Amount).String(), aRow, noRow)
			}
		case tpcc.TxDelivery:
			for j, oid := range ack.Delivery.OID {
				k := orderKey{int64(ack.Delivery.WID), int64(j) + 1, int64(oid)}
				if oid != 0 && !a.deliveries[k].seen {
					a.deliveryFaults.add(k.place(), "row of orders", aRow, noRow)
				}
			}
		}
	}
}
