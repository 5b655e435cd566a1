package tpcc

// Output has room for the output of each type; that of the transaction's type counts, the others hold what earlier
// transactions left there. It is used again and again, so that a transaction allocates nothing.
type Output struct {
	NewOrder    NewOrderOutput
	Payment     PaymentOutput
	OrderStatus OrderStatusOutput
	Delivery    DeliveryOutput
	StockLevel  StockLevelOutput
}
