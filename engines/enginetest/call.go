package enginetest

import (
	"fmt"

	"tpccbench/tpcc"
)

// transactor runs the five transactions: a session, or the model.
type transactor interface {
	NewOrder(*tpcc.NewOrderInput, *tpcc.NewOrderOutput) error
	Payment(*tpcc.PaymentInput, *tpcc.PaymentOutput) error
	OrderStatus(*tpcc.OrderStatusInput, *tpcc.OrderStatusOutput) error
	Delivery(*tpcc.DeliveryInput, *tpcc.DeliveryOutput) error
	StockLevel(*tpcc.StockLevelInput, *tpcc.StockLevelOutput) error
}

// output has room for the output of each type. It is used again and again: what an engine does not overwrite shows.
type output struct {
	newOrder    tpcc.NewOrderOutput
	payment     tpcc.PaymentOutput
	orderStatus tpcc.OrderStatusOutput
	delivery    tpcc.DeliveryOutput
	stockLevel  tpcc.StockLevelOutput
}

// dispatch runs one transaction.
func dispatch(t transactor, in *tpcc.Input, out *output) error {
	switch in.Type {
	case tpcc.TxNewOrder:
		return t.NewOrder(&in.NewOrder, &out.newOrder)
	case tpcc.TxPayment:
		return t.Payment(&in.Payment, &out.payment)
	case tpcc.TxOrderStatus:
		return t.OrderStatus(&in.OrderStatus, &out.orderStatus)
	case tpcc.TxDelivery:
		return t.Delivery(&in.Delivery, &out.delivery)
	default:
		return t.StockLevel(&in.StockLevel, &out.stockLevel)
	}
}

// call runs one transaction and makes sure that its input is left alone.
func call(t transactor, in *tpcc.Input, out *output) error {
	given := *in
	if err := dispatch(t, in, out); err != nil {
		return fmt.Errorf("%s: %w", describe(in), err)
	}
	if *in != given {
		return fmt.Errorf("%s: the engine changed the input to %s", describe(&given), describe(in))
	}
	return nil
}

// of is the output of that type, to be compared or printed.
func (o *output) of(t tpcc.Type) any {
	switch t {
	case tpcc.TxNewOrder:
		return o.newOrder
	case tpcc.TxPayment:
		return o.payment
	case tpcc.TxOrderStatus:
		return o.orderStatus
	case tpcc.TxDelivery:
		return o.delivery
	default:
		return o.stockLevel
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
func both(session transactor, reference transactor, in *tpcc.Input, got, want *output) error {
	if err := call(reference, in, want); err != nil {
		return fmt.Errorf("the model refuses what a terminal drew: %w", err)
	}
	if err := call(session, in, got); err != nil {
		return err
	}
	if g, w := got.of(in.Type), want.of(in.Type); g != w {
		return fmt.Errorf("%s\n  gives   %+v\n  must be %+v", describe(in), g, w)
	}
	return nil
}
