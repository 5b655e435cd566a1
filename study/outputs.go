package study

import (
	"fmt"
	"hash/fnv"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// call runs inputs of any type on a session and holds the outputs.
type call struct {
	newOrder    tpcc.NewOrderOutput
	payment     tpcc.PaymentOutput
	orderStatus tpcc.OrderStatusOutput
	delivery    tpcc.DeliveryOutput
	stockLevel  tpcc.StockLevelOutput
}

func (c *call) do(s engines.Session, in *tpcc.Input) error {
	switch in.Type {
	case tpcc.TxNewOrder:
		return s.NewOrder(&in.NewOrder, &c.newOrder)
	case tpcc.TxPayment:
		return s.Payment(&in.Payment, &c.payment)
	case tpcc.TxOrderStatus:
		return s.OrderStatus(&in.OrderStatus, &c.orderStatus)
	case tpcc.TxDelivery:
		return s.Delivery(&in.Delivery, &c.delivery)
	case tpcc.TxStockLevel:
		return s.StockLevel(&in.StockLevel, &c.stockLevel)
	}
	panic(fmt.Sprintf("study: transaction type %d", in.Type))
}

// sum is a hash of all that the last call of the type returned.
func (c *call) sum(t tpcc.Type) uint64 {
	h := fnv.New64a()
	switch t {
	case tpcc.TxNewOrder:
		fmt.Fprint(h, c.newOrder)
	case tpcc.TxPayment:
		fmt.Fprint(h, c.payment)
	case tpcc.TxOrderStatus:
		o := c.orderStatus
		clear(o.Lines[o.Count:]) // not in use
		fmt.Fprint(h, o)
	case tpcc.TxDelivery:
		fmt.Fprint(h, c.delivery)
	case tpcc.TxStockLevel:
		fmt.Fprint(h, c.stockLevel)
	}
	return h.Sum64()
}

// outputs is a hash of the output of each transaction of a serial history.
type outputs []uint64

// firstDifference is the index of the first transaction that was answered otherwise; ok if there is none.
func (a outputs) firstDifference(b outputs) (i int, ok bool) {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i, false
		}
	}
	return min(len(a), len(b)), len(a) == len(b)
}
