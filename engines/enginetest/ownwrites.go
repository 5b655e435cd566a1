package enginetest

import (
	"fmt"
	"sync/atomic"

	"tpccbench/engines"
	"tpccbench/engines/enginetest/model"
	"tpccbench/tpcc"
)

// concurrentSessions is the number of sessions that work at once.
const concurrentSessions = 12

// checkOwnWrites: while others write, a session's next Order-Status shows the order that it was just acknowledged, or a
// newer one of that customer; and what an Order-Status shows is one order, whole, at one point of its life.
func checkOwnWrites(s *suite) error {
	w := s.standard(s.seeds[2], 2)
	w.weights = tpcc.Weights{60, 15, 0, 20, 5}
	return s.loaded(w, func(_ string, e engines.Engine, _ *model.Store) error {
		var own atomic.Int64
		err := inParallel(e, concurrentSessions, func(number int, session engines.Session) error {
			src := w.source(number)
			var in tpcc.Input
			var out tpcc.Output
			for range s.count(200) {
				src.next(&in)
				if err := call(session, &in, &out); err != nil {
					return err
				}
				if in.Type != tpcc.TxNewOrder || out.NewOrder.RolledBack {
					continue
				}
				is, err := askForOrder(session, &in.NewOrder, &out.NewOrder)
				if err != nil {
					return err
				}
				if is {
					own.Add(1)
				}
			}
			return nil
		})
		if err == nil && own.Load() == 0 {
			err = fmt.Errorf("no session found its own order")
		}
		return err
	})
}

// askForOrder asks for the newest order of the customer who has just ordered, and reports whether it is that one.
func askForOrder(session engines.Session, in *tpcc.NewOrderInput, placed *tpcc.NewOrderOutput) (bool, error) {
	var status tpcc.OrderStatusOutput
	if err := session.OrderStatus(&tpcc.OrderStatusInput{WID: in.WID, DID: in.DID, CID: in.CID}, &status); err != nil {
		return false, err
	}
	if err := wholeOrder(&status); err != nil {
		return false, err
	}
	if status.OID < placed.OID || status.CID != in.CID || status.CLast != placed.CLast {
		return false, fmt.Errorf("customer %d of district %d of warehouse %d was acknowledged order %d; the session's next Order-Status shows %+v",
			in.CID, in.DID, in.WID, placed.OID, status)
	}
	if status.OID > placed.OID {
		return false, nil
	}
	want := tpcc.OrderStatusOutput{CID: status.CID, CLast: status.CLast, CBalance: status.CBalance, CarrierID: status.CarrierID,
		OID: placed.OID, EntryD: in.EntryD, Count: in.Count}
	for i, l := range in.Lines[:in.Count] {
		want.Lines[i] = tpcc.OrderStatusLine{IID: l.IID, SupplyWID: l.SupplyWID, Quantity: l.Quantity,
			Amount: placed.Lines[i].Amount, DeliveryD: status.Lines[i].DeliveryD}
	}
	if status != want {
		return false, fmt.Errorf("order %d as placed is not as Order-Status shows it\n  gives   %+v\n  must be %+v", placed.OID, status, want)
	}
	return true, nil
}

// wholeOrder says what is torn about an order as shown: it has all its lines and no others, each amount and quantity is
// there, and the lines are delivered when, and only when, the order has a carrier.
func wholeOrder(o *tpcc.OrderStatusOutput) error {
	if o.Count < tpcc.MinLines || o.Count > tpcc.MaxLines {
		return fmt.Errorf("order %d is shown with %d lines", o.OID, o.Count)
	}
	for i, l := range o.Lines {
		switch {
		case i >= int(o.Count) && l != tpcc.OrderStatusLine{}:
			return fmt.Errorf("order %d has %d lines and is shown with a line %d: %+v", o.OID, o.Count, i+1, l)
		case i < int(o.Count) && (l.IID == 0 || l.SupplyWID == 0 || l.Quantity == 0):
			return fmt.Errorf("order %d has %d lines and is shown without line %d", o.OID, o.Count, i+1)
		case i < int(o.Count) && (l.DeliveryD == tpcc.Null) != (o.CarrierID == tpcc.Null):
			return fmt.Errorf("order %d is shown half delivered: carrier %d, delivery date %d in line %d", o.OID, o.CarrierID, l.DeliveryD, i+1)
		}
	}
	return nil
}
