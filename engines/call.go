package engines

import (
	"fmt"

	"tpccbench/tpcc"
)

// Call runs the transaction in, whatever its type is, on s and leaves its output in the member of out that the type
// names. It allocates nothing.
func Call(s Session, in *tpcc.Input, out *tpcc.Output) error {
	switch in.Type {
	case tpcc.TxNewOrder:
		return s.NewOrder(&in.NewOrder, &out.NewOrder)
	case tpcc.TxPayment:
		return s.Payment(&in.Payment, &out.Payment)
	case tpcc.TxOrderStatus:
		return s.OrderStatus(&in.OrderStatus, &out.OrderStatus)
	case tpcc.TxDelivery:
		return s.Delivery(&in.Delivery, &out.Delivery)
	case tpcc.TxStockLevel:
		return s.StockLevel(&in.StockLevel, &out.StockLevel)
	}
	return fmt.Errorf("engines: there is no transaction type %d", in.Type)
}
