package enginetest

import (
	"fmt"
	"math"

	"tpccbench/engines"
	"tpccbench/engines/enginetest/model"
	"tpccbench/tpcc"
)

// wrong is a transaction whose input names a row that there is not.
type wrong struct {
	name string
	in   tpcc.Input
	// mayPass: nothing in the specification's text looks for the missing row, so that "no work to do" is an answer too.
	mayPass bool
}

// wrongInputs gives inputs that are right but for one id each. In the New-Orders the lines before the wrong one, and in
// the Payments warehouse and district, are there to be worked on first.
func wrongInputs(id int32) []wrong {
	order := func(change func(*tpcc.NewOrderInput)) tpcc.Input {
		in := tpcc.NewOrderInput{WID: 1, DID: 1, CID: 1, EntryD: tpcc.RunDate, Count: 5}
		for i := range in.Lines[:in.Count] {
			in.Lines[i] = tpcc.NewOrderInputLine{IID: int32(i + 1), SupplyWID: 1, Quantity: 5}
		}
		change(&in)
		return tpcc.Input{Type: tpcc.TxNewOrder, NewOrder: in}
	}
	pay := func(change func(*tpcc.PaymentInput)) tpcc.Input {
		in := tpcc.PaymentInput{WID: 1, DID: 1, CWID: 1, CDID: 1, CID: 1, Amount: 100, Date: tpcc.RunDate}
		change(&in)
		return tpcc.Input{Type: tpcc.TxPayment, Payment: in}
	}
	ask := func(in tpcc.OrderStatusInput) tpcc.Input {
		return tpcc.Input{Type: tpcc.TxOrderStatus, OrderStatus: in}
	}
	level := func(in tpcc.StockLevelInput) tpcc.Input {
		return tpcc.Input{Type: tpcc.TxStockLevel, StockLevel: in}
	}
	return []wrong{
		{"new_order warehouse", order(func(in *tpcc.NewOrderInput) { in.WID = id }), false},
		{"new_order district", order(func(in *tpcc.NewOrderInput) { in.DID = id }), false},
		{"new_order customer", order(func(in *tpcc.NewOrderInput) { in.CID = id }), false},
		{"new_order supplying warehouse", order(func(in *tpcc.NewOrderInput) { in.Lines[4].SupplyWID = id }), false},
		{"payment warehouse", pay(func(in *tpcc.PaymentInput) { in.WID = id }), false},
		{"payment district", pay(func(in *tpcc.PaymentInput) { in.DID = id }), false},
		{"payment customer", pay(func(in *tpcc.PaymentInput) { in.CID = id }), false},
		{"payment customer's warehouse", pay(func(in *tpcc.PaymentInput) { in.CWID = id }), false},
		{"payment customer's district", pay(func(in *tpcc.PaymentInput) { in.CDID = id }), false},
		{"payment last name", pay(func(in *tpcc.PaymentInput) { in.ByName, in.CLast, in.CID = true, noName(id), 0 }), false},
		{"order_status customer", ask(tpcc.OrderStatusInput{WID: 1, DID: 1, CID: id}), false},
		{"order_status warehouse", ask(tpcc.OrderStatusInput{WID: id, DID: 1, CID: 1}), false},
		{"order_status last name", ask(tpcc.OrderStatusInput{WID: 1, DID: 1, ByName: true, CLast: noName(id)}), false},
		{"stock_level warehouse", level(tpcc.StockLevelInput{WID: id, DID: 1, Threshold: 20}), false},
		{"stock_level district", level(tpcc.StockLevelInput{WID: 1, DID: id, Threshold: 20}), false},
		{"delivery warehouse", tpcc.Input{Type: tpcc.TxDelivery, Delivery: tpcc.DeliveryInput{WID: id, CarrierID: 1, DeliveryD: tpcc.RunDate}}, true},
	}
}

// noName turns an id that no row has into a last name that no customer has: 0 is one that there is.
func noName(id int32) int32 {
	if id == 0 {
		return 999
	}
	return id
}

// checkWrongInput: an input that names a row that there is not is an error, whatever the number; it leaves nothing
// behind and nothing broken.
func checkWrongInput(s *suite) error {
	w := s.standard(s.seeds[0], 1)
	return s.loaded(w, func(_ string, e engines.Engine, m *model.Store) error {
		return withHistory(e, m, w.stream(), func(h *history) error {
			before, err := rowsOf(e)
			if err != nil {
				return err
			}
			for _, id := range []int32{31, 0, -1, 5000, math.MaxInt32, math.MinInt32} {
				for _, x := range wrongInputs(id) {
					var out tpcc.Output
					err = call(h.sessions[0], &x.in, &out)
					if err == nil && !x.mayPass {
						return fmt.Errorf("%s %d, which there is not, is no error: %s gives %+v", x.name, id, describe(&x.in), of(x.in.Type, &out))
					}
					after, err := rowsOf(e)
					if err != nil {
						return err
					}
					if err := sameRows(after, before); err != nil {
						return fmt.Errorf("%s %d, which there is not, left something: %w", x.name, id, err)
					}
				}
				if err := h.run(20); err != nil {
					return fmt.Errorf("after inputs with the id %d, which there is not: %w", id, err)
				}
				if before, err = rowsOf(e); err != nil {
					return err
				}
			}
			return sameAsModel(e, m)
		})
	})
}
