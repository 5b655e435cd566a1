package enginetest

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"tpccbench/engines"
	"tpccbench/engines/enginetest/model"
	"tpccbench/tpcc"
)

// checkReadsOfOnePoint: what Order-Status shows, balance, order and lines, is of one commit point. One session orders,
// pays and delivers for a single customer; others look at it all the time. Whatever they see must be what the customer
// looked like between two of those writes, in the model that made them before.
func checkReadsOfOnePoint(s *suite) error {
	w := s.standard(s.seeds[2], 1)
	return s.loaded(w, func(_ string, e engines.Engine, m *model.Store) error {
		ask := tpcc.OrderStatusInput{WID: 1, DID: 1, CID: 1}
		writes := writesFor(&ask, w.scale.Items, s.count(1200))
		states := map[tpcc.OrderStatusOutput]int{} // the number of writes before it
		var out tpcc.Output
		for i := range len(writes) + 1 {
			if i > 0 {
				if err := call(m, &writes[i-1], &out); err != nil {
					return err
				}
			}
			var status tpcc.OrderStatusOutput
			if err := m.OrderStatus(&ask, &status); err != nil {
				return err
			}
			states[status] = i
		}
		var written atomic.Bool
		err := inParallel(e, 4, func(number int, session engines.Session) error {
			ask := ask // an input is its session's own
			if number > 0 {
				for ; !written.Load(); runtime.Gosched() {
					var status tpcc.OrderStatusOutput
					if err := session.OrderStatus(&ask, &status); err != nil {
						return err
					}
					if _, ok := states[status]; !ok {
						return fmt.Errorf("beside the writes of another session, Order-Status shows what never was at any one point: %+v", status)
					}
				}
				return nil
			}
			defer written.Store(true)
			var out tpcc.Output
			for i := range writes {
				if err := call(session, &writes[i], &out); err != nil {
					return err
				}
				var status tpcc.OrderStatusOutput
				if err := session.OrderStatus(&ask, &status); err != nil {
					return err
				}
				if at, ok := states[status]; !ok || at < i+1 {
					return fmt.Errorf("after write %d the session's next Order-Status shows %+v, which is the state after write %d (0: of none)", i+1, status, at)
				}
			}
			return nil
		})
		if err == nil && len(states) < len(writes)/2 {
			err = errors.New("the suite's writes change too little")
		}
		if err != nil {
			return err
		}
		return sameAsModel(e, m)
	})
}

// writesFor is n writes that change what the question is about: three orders of the customer, two payments, five
// deliveries, and again.
func writesFor(ask *tpcc.OrderStatusInput, items, n int) []tpcc.Input {
	writes := make([]tpcc.Input, n)
	for i := range writes {
		in := &writes[i]
		date := tpcc.RunDate + int64(i)
		switch i % 10 {
		case 0, 3, 6:
			in.Type = tpcc.TxNewOrder
			in.NewOrder = tpcc.NewOrderInput{WID: ask.WID, DID: ask.DID, CID: ask.CID, EntryD: date, Count: int32(tpcc.MinLines + i%(tpcc.MaxLines-tpcc.MinLines+1))}
			for l := range in.NewOrder.Lines[:in.NewOrder.Count] {
				in.NewOrder.Lines[l] = tpcc.NewOrderInputLine{IID: int32((i*7+l*31)%items + 1), SupplyWID: ask.WID, Quantity: int32(l%10 + 1)}
			}
		case 1, 5:
			in.Type = tpcc.TxPayment
			in.Payment = tpcc.PaymentInput{WID: ask.WID, DID: ask.DID, CWID: ask.WID, CDID: ask.DID, CID: ask.CID, Amount: int64(100 + i), Date: date}
		default:
			in.Type = tpcc.TxDelivery
			in.Delivery = tpcc.DeliveryInput{WID: ask.WID, CarrierID: int32(i%10 + 1), DeliveryD: date}
		}
	}
	return writes
}
