package wire

import (
	"math"

	"tpccbench/tpcc"
)

// Ranges of inputs. An id that the store does not have is the engine's to refuse.
const (
	maxID   = math.MaxInt32
	maxDate = 253_402_300_799_999 // the last ms of the year 9999
)

// Ranges of outputs: whatever fits. They come from a server that was asked.
const (
	min32 = math.MinInt32
	max32 = math.MaxInt32
	min64 = math.MinInt64
	max64 = math.MaxInt64
)

// Bodies of requests.
var (
	newOrderInput = object[tpcc.NewOrderInput]{
		number("w_id", 1, maxID, func(v *tpcc.NewOrderInput) *int32 { return &v.WID }),
		number("d_id", 1, tpcc.Districts, func(v *tpcc.NewOrderInput) *int32 { return &v.DID }),
		number("c_id", 1, maxID, func(v *tpcc.NewOrderInput) *int32 { return &v.CID }),
		number("entry_d", 0, maxDate, func(v *tpcc.NewOrderInput) *int64 { return &v.EntryD }),
		list("lines", tpcc.MinLines, func(v *tpcc.NewOrderInput) []tpcc.NewOrderInputLine { return v.Lines[:] },
			func(v *tpcc.NewOrderInput) int { return int(v.Count) }, func(v *tpcc.NewOrderInput, n int) { v.Count = int32(n) },
			object[tpcc.NewOrderInputLine]{
				number("i_id", 1, maxID, func(v *tpcc.NewOrderInputLine) *int32 { return &v.IID }),
				number("supply_w_id", 1, maxID, func(v *tpcc.NewOrderInputLine) *int32 { return &v.SupplyWID }),
				number("quantity", 1, 10, func(v *tpcc.NewOrderInputLine) *int32 { return &v.Quantity }),
			}),
	}
	paymentInput = object[tpcc.PaymentInput]{
		number("w_id", 1, maxID, func(v *tpcc.PaymentInput) *int32 { return &v.WID }),
		number("d_id", 1, tpcc.Districts, func(v *tpcc.PaymentInput) *int32 { return &v.DID }),
		number("c_w_id", 1, maxID, func(v *tpcc.PaymentInput) *int32 { return &v.CWID }),
		number("c_d_id", 1, tpcc.Districts, func(v *tpcc.PaymentInput) *int32 { return &v.CDID }),
		boolean("by_name", func(v *tpcc.PaymentInput) *bool { return &v.ByName }),
		number("c_last", 0, maxID, func(v *tpcc.PaymentInput) *int32 { return &v.CLast }), // with by_name; else it does not count
		number("c_id", 0, maxID, func(v *tpcc.PaymentInput) *int32 { return &v.CID }),     // without by_name; else it does not count
		number("amount", 1, tpcc.MaxPayment, func(v *tpcc.PaymentInput) *int64 { return &v.Amount }),
		number("date", 0, maxDate, func(v *tpcc.PaymentInput) *int64 { return &v.Date }),
	}
	orderStatusInput = object[tpcc.OrderStatusInput]{
		number("w_id", 1, maxID, func(v *tpcc.OrderStatusInput) *int32 { return &v.WID }),
		number("d_id", 1, tpcc.Districts, func(v *tpcc.OrderStatusInput) *int32 { return &v.DID }),
		boolean("by_name", func(v *tpcc.OrderStatusInput) *bool { return &v.ByName }),
		number("c_last", 0, maxID, func(v *tpcc.OrderStatusInput) *int32 { return &v.CLast }),
		number("c_id", 0, maxID, func(v *tpcc.OrderStatusInput) *int32 { return &v.CID }),
	}
	deliveryInput = object[tpcc.DeliveryInput]{
		number("w_id", 1, maxID, func(v *tpcc.DeliveryInput) *int32 { return &v.WID }),
		number("carrier_id", 1, 10, func(v *tpcc.DeliveryInput) *int32 { return &v.CarrierID }),
		number("delivery_d", 1, maxDate, func(v *tpcc.DeliveryInput) *int64 { return &v.DeliveryD }),
	}
	stockLevelInput = object[tpcc.StockLevelInput]{
		number("w_id", 1, maxID, func(v *tpcc.StockLevelInput) *int32 { return &v.WID }),
		number("d_id", 1, tpcc.Districts, func(v *tpcc.StockLevelInput) *int32 { return &v.DID }),
		number("threshold", 0, maxID, func(v *tpcc.StockLevelInput) *int32 { return &v.Threshold }),
	}
)

// Bodies of answers.
var (
	newOrderOutput = object[tpcc.NewOrderOutput]{
		boolean("rolled_back", func(v *tpcc.NewOrderOutput) *bool { return &v.RolledBack }),
		number("o_id", min32, max32, func(v *tpcc.NewOrderOutput) *int32 { return &v.OID }),
		number("c_last", min32, max32, func(v *tpcc.NewOrderOutput) *int32 { return &v.CLast }),
		number("c_credit", min32, max32, func(v *tpcc.NewOrderOutput) *int32 { return &v.CCredit }),
		number("c_discount", min64, max64, func(v *tpcc.NewOrderOutput) *int64 { return &v.CDiscount }),
		number("w_tax", min64, max64, func(v *tpcc.NewOrderOutput) *int64 { return &v.WTax }),
		number("d_tax", min64, max64, func(v *tpcc.NewOrderOutput) *int64 { return &v.DTax }),
		number("total_amount", min64, max64, func(v *tpcc.NewOrderOutput) *int64 { return &v.TotalAmount }),
		// Lines that are zero at the end, as all are after a rollback, are not written. No line of an order is zero.
		list("lines", 0, func(v *tpcc.NewOrderOutput) []tpcc.NewOrderOutputLine { return v.Lines[:] }, shownLines,
			func(*tpcc.NewOrderOutput, int) {},
			object[tpcc.NewOrderOutputLine]{
				number("price", min64, max64, func(v *tpcc.NewOrderOutputLine) *int64 { return &v.Price }),
				number("s_quantity", min64, max64, func(v *tpcc.NewOrderOutputLine) *int64 { return &v.SQuantity }),
				number("amount", min64, max64, func(v *tpcc.NewOrderOutputLine) *int64 { return &v.Amount }),
			}),
	}
	paymentOutput = object[tpcc.PaymentOutput]{
		number("c_id", min32, max32, func(v *tpcc.PaymentOutput) *int32 { return &v.CID }),
		number("c_last", min32, max32, func(v *tpcc.PaymentOutput) *int32 { return &v.CLast }),
		number("c_credit", min32, max32, func(v *tpcc.PaymentOutput) *int32 { return &v.CCredit }),
		number("c_since", min64, max64, func(v *tpcc.PaymentOutput) *int64 { return &v.CSince }),
		number("c_credit_lim", min64, max64, func(v *tpcc.PaymentOutput) *int64 { return &v.CCreditLim }),
		number("c_discount", min64, max64, func(v *tpcc.PaymentOutput) *int64 { return &v.CDiscount }),
		number("c_balance", min64, max64, func(v *tpcc.PaymentOutput) *int64 { return &v.CBalance }),
	}
	orderStatusOutput = object[tpcc.OrderStatusOutput]{
		number("c_id", min32, max32, func(v *tpcc.OrderStatusOutput) *int32 { return &v.CID }),
		number("c_last", min32, max32, func(v *tpcc.OrderStatusOutput) *int32 { return &v.CLast }),
		number("c_balance", min64, max64, func(v *tpcc.OrderStatusOutput) *int64 { return &v.CBalance }),
		nullable("o_id", max32, func(v *tpcc.OrderStatusOutput) *int32 { return &v.OID }), // null: the customer has no order
		nullable("carrier_id", max32, func(v *tpcc.OrderStatusOutput) *int32 { return &v.CarrierID }),
		number("entry_d", min64, max64, func(v *tpcc.OrderStatusOutput) *int64 { return &v.EntryD }),
		list("lines", 0, func(v *tpcc.OrderStatusOutput) []tpcc.OrderStatusLine { return v.Lines[:] },
			func(v *tpcc.OrderStatusOutput) int { return int(v.Count) }, func(v *tpcc.OrderStatusOutput, n int) { v.Count = int32(n) },
			object[tpcc.OrderStatusLine]{
				number("i_id", min32, max32, func(v *tpcc.OrderStatusLine) *int32 { return &v.IID }),
				number("supply_w_id", min32, max32, func(v *tpcc.OrderStatusLine) *int32 { return &v.SupplyWID }),
				number("quantity", min32, max32, func(v *tpcc.OrderStatusLine) *int32 { return &v.Quantity }),
				number("amount", min64, max64, func(v *tpcc.OrderStatusLine) *int64 { return &v.Amount }),
				nullable("delivery_d", max64, func(v *tpcc.OrderStatusLine) *int64 { return &v.DeliveryD }),
			}),
	}
	deliveryOutput = object[tpcc.DeliveryOutput]{
		// The order delivered of each district; null where there was none.
		nullables("o_ids", max32, func(v *tpcc.DeliveryOutput) []int32 { return v.OID[:] }),
	}
	stockLevelOutput = object[tpcc.StockLevelOutput]{
		number("low_stock", min32, max32, func(v *tpcc.StockLevelOutput) *int32 { return &v.LowStock }),
	}
)

// shownLines is the number of lines before those at the end that are zero.
func shownLines(v *tpcc.NewOrderOutput) int {
	n := len(v.Lines)
	for n > 0 && v.Lines[n-1] == (tpcc.NewOrderOutputLine{}) {
		n--
	}
	return n
}

// readInput reads the input of in's type.
func readInput(d *decoder, body []byte, in *tpcc.Input) error {
	switch in.Type {
	case tpcc.TxNewOrder:
		return decode(d, newOrderInput, body, &in.NewOrder)
	case tpcc.TxPayment:
		return decode(d, paymentInput, body, &in.Payment)
	case tpcc.TxOrderStatus:
		return decode(d, orderStatusInput, body, &in.OrderStatus)
	case tpcc.TxDelivery:
		return decode(d, deliveryInput, body, &in.Delivery)
	}
	return decode(d, stockLevelInput, body, &in.StockLevel)
}

// writeOutput appends the output of the type.
func writeOutput(b []byte, t tpcc.Type, out *tpcc.Output) []byte {
	switch t {
	case tpcc.TxNewOrder:
		return newOrderOutput.write(b, &out.NewOrder)
	case tpcc.TxPayment:
		return paymentOutput.write(b, &out.Payment)
	case tpcc.TxOrderStatus:
		return orderStatusOutput.write(b, &out.OrderStatus)
	case tpcc.TxDelivery:
		return deliveryOutput.write(b, &out.Delivery)
	}
	return stockLevelOutput.write(b, &out.StockLevel)
}
