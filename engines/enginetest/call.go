package enginetest

import (
	"fmt"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// call runs one transaction and makes sure that its input is left alone.
func call(s engines.Session, in *tpcc.Input, out *tpcc.Output) error {
	given := *in
	if err := engines.Call(s, in, out); err != nil {
		return fmt.Errorf("%s: %w", describe(in), err)
	}
	if *in != given {
		return fmt.Errorf("%s: the engine changed the input to %s", describe(&given), describe(in))
	}
	return nil
}

// of is the output of the type, to be compared or printed.
func of(t tpcc.Type, o *tpcc.Output) any {
	switch t {
	case tpcc.TxNewOrder:
		return o.NewOrder
	case tpcc.TxPayment:
		return o.Payment
	case tpcc.TxOrderStatus:
		return o.OrderStatus
	case tpcc.TxDelivery:
		return o.Delivery
	default:
		return o.StockLevel
	}
}

// describe prints the input for a message.
func describe(in *tpcc.Input) string {
	switch in.Type {
	case tpcc.TxNewOrder:
		n := in.NewOrder
		return fmt.Sprintf("new_order{w %d d %d c %d at %d, lines (item warehouse quantity) %v}", n.WID, n.DID, n.CID, n.EntryD, n.Lines[:n.Count])
	case tpcc.TxPayment:
		return fmt.Sprintf("payment%+v", in.Payment)
	case tpcc.TxOrderStatus:
		return fmt.Sprintf("order_status%+v", in.OrderStatus)
	case tpcc.TxDelivery:
		return fmt.Sprintf("delivery%+v", in.Delivery)
	default:
		return fmt.Sprintf("stock_level%+v", in.StockLevel)
	}
}

// both runs one transaction through the engine's session and the model and compares what they show.
func both(session, reference engines.Session, in *tpcc.Input, got, want *tpcc.Output) error {
	if err := call(reference, in, want); err != nil {
		return fmt.Errorf("the model refuses what a terminal drew: %w", err)
	}
	if err := call(session, in, got); err != nil {
		return err
	}
	if g, w := of(in.Type, got), of(in.Type, want); g != w {
		return fmt.Errorf("%s\n  gives   %+v\n  must be %+v", describe(in), g, w)
	}
	return nil
}
