package kvtpcc

import "tpccbench/tpcc"

// Terminal turns the five methods of engines.Session into two: one for what writes, one for what reads. An adapter's
// session embeds it and adds Close.
type Terminal struct {
	Work Work // the session's own; used by View, and by Write if the adapter wants
	// Write runs the transaction and returns when it is durable.
	Write func(in *tpcc.Input, out *tpcc.Output) error
	// View runs the transaction on one durable state of the store.
	View func(run func(Reader) error) error

	in  tpcc.Input
	out tpcc.Output
}

// NewOrder runs a New-Order.
func (t *Terminal) NewOrder(in *tpcc.NewOrderInput, out *tpcc.NewOrderOutput) error {
	t.in.Type, t.in.NewOrder = tpcc.TxNewOrder, *in
	err := t.Write(&t.in, &t.out)
	*out = t.out.NewOrder
	return err
}

// Payment runs a Payment.
func (t *Terminal) Payment(in *tpcc.PaymentInput, out *tpcc.PaymentOutput) error {
	t.in.Type, t.in.Payment = tpcc.TxPayment, *in
	err := t.Write(&t.in, &t.out)
	*out = t.out.Payment
	return err
}

// Delivery runs a Delivery.
func (t *Terminal) Delivery(in *tpcc.DeliveryInput, out *tpcc.DeliveryOutput) error {
	t.in.Type, t.in.Delivery = tpcc.TxDelivery, *in
	err := t.Write(&t.in, &t.out)
	*out = t.out.Delivery
	return err
}

// OrderStatus runs an Order-Status.
func (t *Terminal) OrderStatus(in *tpcc.OrderStatusInput, out *tpcc.OrderStatusOutput) error {
	return t.View(func(r Reader) error { return t.Work.OrderStatus(r, in, out) })
}

// StockLevel runs a Stock-Level.
func (t *Terminal) StockLevel(in *tpcc.StockLevelInput, out *tpcc.StockLevelOutput) error {
	return t.View(func(r Reader) error { return t.Work.StockLevel(r, in, out) })
}
