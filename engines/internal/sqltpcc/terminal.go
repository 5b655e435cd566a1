package sqltpcc

// #include "sqltpcc.h"
import "C"

import (
	"fmt"

	"tpccbench/tpcc"
)

// Terminal turns the five methods of engines.Session into requests. An adapter's session embeds it and sets Execute,
// its commit policy, which carries the request out and returns its error.
type Terminal struct {
	Request *Request
	Execute func(*Request) error
}

// NewOrder is engines.Session.NewOrder.
func (t *Terminal) NewOrder(in *tpcc.NewOrderInput, out *tpcc.NewOrderOutput) error {
	if in.Count < 1 || in.Count > tpcc.MaxLines {
		return fmt.Errorf("new_order: %d lines; it takes 1..%d", in.Count, tpcc.MaxLines)
	}
	t.Request.c._type = C.TPCC_NEW_ORDER
	r := &t.Request.c.new_order
	r.w_id, r.d_id, r.c_id = C.int32_t(in.WID), C.int32_t(in.DID), C.int32_t(in.CID)
	r.count, r.entry_d = C.int32_t(in.Count), C.int64_t(in.EntryD)
	for i := range in.Lines[:in.Count] {
		from, to := &in.Lines[i], &r.lines[i]
		to.i_id, to.supply_w_id, to.quantity = C.int32_t(from.IID), C.int32_t(from.SupplyWID), C.int32_t(from.Quantity)
	}
	if err := t.Execute(t.Request); err != nil {
		return err
	}
	*out = tpcc.NewOrderOutput{
		RolledBack: r.rolled_back != 0, OID: int32(r.o_id), CLast: int32(r.c_last), CCredit: int32(r.c_credit),
		CDiscount: int64(r.c_discount), WTax: int64(r.w_tax), DTax: int64(r.d_tax),
	}
	if out.RolledBack {
		return nil
	}
	out.TotalAmount = int64(r.total_amount)
	for i := range out.Lines[:in.Count] {
		from, to := &r.lines[i], &out.Lines[i]
		to.Price, to.SQuantity, to.Amount = int64(from.price), int64(from.s_quantity), int64(from.amount)
	}
	return nil
}

// Payment is engines.Session.Payment.
func (t *Terminal) Payment(in *tpcc.PaymentInput, out *tpcc.PaymentOutput) error {
	t.Request.c._type = C.TPCC_PAYMENT
	r := &t.Request.c.payment
	r.w_id, r.d_id, r.c_w_id, r.c_d_id = C.int32_t(in.WID), C.int32_t(in.DID), C.int32_t(in.CWID), C.int32_t(in.CDID)
	r.by_name, r.c_last, r.c_id = cBool(in.ByName), C.int32_t(in.CLast), C.int32_t(in.CID)
	r.amount, r.date = C.int64_t(in.Amount), C.int64_t(in.Date)
	if err := t.Execute(t.Request); err != nil {
		return err
	}
	*out = tpcc.PaymentOutput{
		CID: int32(r.c_id), CLast: int32(r.c_last), CCredit: int32(r.c_credit), CSince: int64(r.c_since),
		CCreditLim: int64(r.c_credit_lim), CDiscount: int64(r.c_discount), CBalance: int64(r.c_balance),
	}
	return nil
}

// OrderStatus is engines.Session.OrderStatus.
func (t *Terminal) OrderStatus(in *tpcc.OrderStatusInput, out *tpcc.OrderStatusOutput) error {
	t.Request.c._type = C.TPCC_ORDER_STATUS
	r := &t.Request.c.order_status
	r.w_id, r.d_id = C.int32_t(in.WID), C.int32_t(in.DID)
	r.by_name, r.c_last, r.c_id = cBool(in.ByName), C.int32_t(in.CLast), C.int32_t(in.CID)
	if err := t.Execute(t.Request); err != nil {
		return err
	}
	*out = tpcc.OrderStatusOutput{
		CID: int32(r.c_id), CLast: int32(r.c_last), CBalance: int64(r.c_balance), OID: int32(r.o_id),
		CarrierID: int32(r.carrier_id), EntryD: int64(r.entry_d), Count: int32(r.count),
	}
	for i := range out.Lines[:out.Count] {
		from, to := &r.lines[i], &out.Lines[i]
		to.IID, to.SupplyWID, to.Quantity = int32(from.i_id), int32(from.supply_w_id), int32(from.quantity)
		to.Amount, to.DeliveryD = int64(from.amount), int64(from.delivery_d)
	}
	return nil
}

// Delivery is engines.Session.Delivery.
func (t *Terminal) Delivery(in *tpcc.DeliveryInput, out *tpcc.DeliveryOutput) error {
	t.Request.c._type = C.TPCC_DELIVERY
	r := &t.Request.c.delivery
	r.w_id, r.carrier_id, r.delivery_d = C.int32_t(in.WID), C.int32_t(in.CarrierID), C.int64_t(in.DeliveryD)
	if err := t.Execute(t.Request); err != nil {
		return err
	}
	for i := range out.OID {
		out.OID[i] = int32(r.o_id[i])
	}
	return nil
}

// StockLevel is engines.Session.StockLevel.
func (t *Terminal) StockLevel(in *tpcc.StockLevelInput, out *tpcc.StockLevelOutput) error {
	t.Request.c._type = C.TPCC_STOCK_LEVEL
	r := &t.Request.c.stock_level
	r.w_id, r.d_id, r.threshold = C.int32_t(in.WID), C.int32_t(in.DID), C.int32_t(in.Threshold)
	if err := t.Execute(t.Request); err != nil {
		return err
	}
	out.LowStock = int32(r.low_stock)
	return nil
}

func cBool(b bool) C.int32_t {
	if b {
		return 1
	}
	return 0
}
