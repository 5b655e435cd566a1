package study

import (
	"fmt"
	"hash/fnv"

	"tpccbench/tpcc"
)

// sum is a hash of what a transaction of the type has returned in out.
func sum(t tpcc.Type, out *tpcc.Output) uint64 {
	h := fnv.New64a()
	switch t {
	case tpcc.TxNewOrder:
		fmt.Fprint(h, out.NewOrder)
	case tpcc.TxPayment:
		fmt.Fprint(h, out.Payment)
	case tpcc.TxOrderStatus:
		o := out.OrderStatus
		clear(o.Lines[o.Count:]) // not in use
		fmt.Fprint(h, o)
	case tpcc.TxDelivery:
		fmt.Fprint(h, out.Delivery)
	case tpcc.TxStockLevel:
		fmt.Fprint(h, out.StockLevel)
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
