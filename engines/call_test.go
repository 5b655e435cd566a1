package engines

import (
	"errors"
	"testing"

	"tpccbench/tpcc"
)

// recorded is a session that answers with what it was asked, and fails as fail says.
type recorded struct {
	fail   error
	called []tpcc.Type
}

func (r *recorded) answer(t tpcc.Type) error {
	r.called = append(r.called, t)
	return r.fail
}

func (r *recorded) NewOrder(in *tpcc.NewOrderInput, out *tpcc.NewOrderOutput) error {
	out.OID = in.WID
	return r.answer(tpcc.TxNewOrder)
}

func (r *recorded) Payment(in *tpcc.PaymentInput, out *tpcc.PaymentOutput) error {
	out.CID = in.WID
	return r.answer(tpcc.TxPayment)
}

func (r *recorded) OrderStatus(in *tpcc.OrderStatusInput, out *tpcc.OrderStatusOutput) error {
	out.OID = in.WID
	return r.answer(tpcc.TxOrderStatus)
}

func (r *recorded) Delivery(in *tpcc.DeliveryInput, out *tpcc.DeliveryOutput) error {
	out.OID[0] = in.WID
	return r.answer(tpcc.TxDelivery)
}

func (r *recorded) StockLevel(in *tpcc.StockLevelInput, out *tpcc.StockLevelOutput) error {
	out.LowStock = in.WID
	return r.answer(tpcc.TxStockLevel)
}

func (*recorded) Close() error { return nil }

// Each type goes to its own method, from its own member of the input to its own member of the output; the session's
// error comes back; nothing is allocated.
func TestCall(t *testing.T) {
	in := tpcc.Input{
		NewOrder: tpcc.NewOrderInput{WID: 1}, Payment: tpcc.PaymentInput{WID: 2}, OrderStatus: tpcc.OrderStatusInput{WID: 3},
		Delivery: tpcc.DeliveryInput{WID: 4}, StockLevel: tpcc.StockLevelInput{WID: 5},
	}
	want := [tpcc.NumTypes]tpcc.Output{
		{NewOrder: tpcc.NewOrderOutput{OID: 1}}, {Payment: tpcc.PaymentOutput{CID: 2}}, {OrderStatus: tpcc.OrderStatusOutput{OID: 3}},
		{Delivery: tpcc.DeliveryOutput{OID: [tpcc.Districts]int32{4}}}, {StockLevel: tpcc.StockLevelOutput{LowStock: 5}},
	}
	failure := errors.New("no")
	for _, typ := range tpcc.Types {
		in.Type = typ
		for _, fail := range []error{nil, failure} {
			s := &recorded{fail: fail}
			var out tpcc.Output
			if err := Call(s, &in, &out); err != fail {
				t.Errorf("%s: %v, want %v", typ, err, fail)
			}
			if len(s.called) != 1 || s.called[0] != typ || out != want[typ] {
				t.Errorf("%s: called %v, output %+v; want one call of it and %+v", typ, s.called, out, want[typ])
			}
		}
		s := &recorded{called: make([]tpcc.Type, 0, 1000)}
		var out tpcc.Output
		if n := testing.AllocsPerRun(100, func() { _ = Call(s, &in, &out) }); n != 0 {
			t.Errorf("%s: %v allocations", typ, n)
		}
	}
}

// A type that there is not is an error, and no method is called.
func TestCallUnknownType(t *testing.T) {
	s := new(recorded)
	err := Call(s, &tpcc.Input{Type: tpcc.Type(tpcc.NumTypes)}, new(tpcc.Output))
	if err == nil || len(s.called) != 0 {
		t.Errorf("error %v, called %v; want an error and no call", err, s.called)
	}
}
