package kvtpcc

import (
	"slices"

	"tpccbench/tpcc"
)

// Warehouses appends the warehouses that a transaction that writes touches, ascending and without duplicates: home and
// supplying ones of a New-Order, home and the customer's of a Payment, home of a Delivery. dst must be empty.
func Warehouses(dst []int32, in *tpcc.Input) []int32 {
	switch in.Type {
	case tpcc.TxNewOrder:
		dst = append(dst, in.NewOrder.WID)
		for i := range in.NewOrder.Lines[:min(max(in.NewOrder.Count, 0), tpcc.MaxLines)] {
			dst = append(dst, in.NewOrder.Lines[i].SupplyWID)
		}
	case tpcc.TxPayment:
		dst = append(dst, in.Payment.WID, in.Payment.CWID)
	case tpcc.TxDelivery:
		dst = append(dst, in.Delivery.WID)
	}
	slices.Sort(dst)
	return slices.Compact(dst)
}

// ReadOnly says whether transactions of the type write nothing.
func ReadOnly(t tpcc.Type) bool { return t.ReadOnly() }
