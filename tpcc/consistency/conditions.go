package consistency

import (
	"math/bits"

	"tpccbench/tpcc"
)

// Condition is something that every database must fulfil at any commit point.
type Condition struct {
	Number int    // 1..12 are the specification's; the others are this project's
	Clause string // of the specification
	Name   string
	check  func(*Checker, *recorder)
}

// structure is the condition that the other ones build on: the rows' keys.
var structure = Condition{0, "1.3", "keys, counts and ranges of the rows", (*Checker).checkStructure}

// Conditions lists all that Check checks, in the order in which it lists violations.
func Conditions() []Condition {
	return []Condition{
		structure,
		{1, "3.3.2.1", "W_YTD = sum(D_YTD)", (*Checker).warehouseYTD},
		{2, "3.3.2.2", "D_NEXT_O_ID - 1 = max(O_ID) = max(NO_O_ID)", (*Checker).nextOrder},
		{3, "3.3.2.3", "max(NO_O_ID) - min(NO_O_ID) + 1 = rows of NEW_ORDER", (*Checker).newOrderRange},
		{4, "3.3.2.4", "sum(O_OL_CNT) = rows of ORDER_LINE", (*Checker).linesOfDistrict},
		{5, "3.3.2.5", "O_CARRIER_ID is null exactly where NEW_ORDER has the order", (*Checker).carrier},
		{6, "3.3.2.6", "O_OL_CNT = lines of the order", (*Checker).linesOfOrder},
		{7, "3.3.2.7", "OL_DELIVERY_D is null exactly where O_CARRIER_ID is", (*Checker).deliveryDate},
		{8, "3.3.2.8", "W_YTD = sum(H_AMOUNT)", (*Checker).warehouseHistory},
		{9, "3.3.2.9", "D_YTD = sum(H_AMOUNT)", (*Checker).districtHistory},
		{10, "3.3.2.10", "C_BALANCE = sum(delivered OL_AMOUNT) - sum(H_AMOUNT)", (*Checker).balance},
		{11, "3.3.2.11", "rows of ORDERS - rows of NEW_ORDER = initially delivered + sum(C_DELIVERY_CNT)", (*Checker).deliveries},
		{12, "3.3.2.12", "C_BALANCE + C_YTD_PAYMENT = sum(delivered OL_AMOUNT)", (*Checker).payments},
		{13, "2.5.2.2", "C_PAYMENT_CNT = rows of HISTORY of the customer", (*Checker).paymentCount},
		{14, "2.4.2.2", "S_YTD, S_ORDER_CNT and S_REMOTE_CNT = the lines ordered since loading", (*Checker).stockCounts},
		{15, "2.4.2.2", "O_ALL_LOCAL = 1 exactly where every line is from the home warehouse", (*Checker).localOrders},
	}
}

// Check checks all Conditions on the rows that were added, and lists the violations in the order of Conditions; of
// each at most Listed, the last of which counts the others. nil: the database is consistent. It may be called again.
func (c *Checker) Check() []Violation {
	c.sumDelivered()
	r := c.structure // goes on where Add ended
	r.list = append([]Violation(nil), r.list...)
	for i, condition := range Conditions() {
		if i > 0 {
			r.start(condition)
		}
		condition.check(c, &r)
	}
	return r.finish()
}

// sumDelivered fills customer.delivered.
func (c *Checker) sumDelivered() {
	for i := range c.customers {
		c.customers[i].delivered = 0
	}
	c.eachOrder(func(at place, o *order) {
		if o.customer != 0 {
			di := (at.warehouse-1)*tpcc.Districts + at.district - 1
			c.customers[di*int64(c.scale.Customers)+int64(o.customer)-1].delivered += o.amount
		}
	})
}

// checkStructure finds the rows that are not there; what is there too often or out of range, Add has recorded.
func (c *Checker) checkStructure(r *recorder) {
	missing := func(t tpcc.Table, at place) {
		at.table = t.String()
		r.add(at, "rows with this key", 1, noRow)
	}
	for i, seen := range c.item {
		if !seen {
			missing(tpcc.Item, place{item: int64(i) + 1})
		}
	}
	for i := range c.warehouses {
		if !c.warehouses[i].seen {
			missing(tpcc.Warehouse, place{warehouse: int64(i) + 1})
		}
	}
	c.eachDistrict(func(at place, di *district) {
		if !di.seen {
			missing(tpcc.District, at)
		}
	})
	c.eachCustomer(func(at place, cu *customer) {
		if !cu.seen {
			missing(tpcc.Customer, at)
		}
	})
	for i := range c.stock {
		if !c.stock[i].seen {
			missing(tpcc.Stock, place{warehouse: int64(i/c.scale.Items) + 1, item: int64(i%c.scale.Items) + 1})
		}
	}
	c.eachDistrict(func(at place, di *district) {
		at.table = tpcc.Orders.String()
		r.equal(at, "rows, if O_ID counts from 1 without a gap", di.maxOID, di.orders)
		if di.orders < int64(c.scale.Orders) {
			r.add(at, "rows, at least", int64(c.scale.Orders), di.orders)
		}
		at.table = tpcc.History.String()
		if di.payments < int64(c.scale.Customers) {
			r.add(at, "rows, at least", int64(c.scale.Customers), di.payments)
		}
	})
}

// money records a violation unless the column of a row, which may be missing, is what it must be.
func (r *recorder) money(at place, what string, expected int64, seen bool, found int64) {
	switch {
	case !seen:
		r.add(at, what, cents(expected), noRow)
	case expected != found:
		r.add(at, what, cents(expected), cents(found))
	}
}

func (c *Checker) warehouseYTD(r *recorder) {
	sums := make([]int64, len(c.warehouses))
	c.eachDistrict(func(at place, di *district) { sums[at.warehouse-1] += di.ytd })
	for i := range c.warehouses {
		r.money(place{warehouse: int64(i) + 1}, "w_ytd", sums[i], c.warehouses[i].seen, c.warehouses[i].ytd)
	}
}

func (c *Checker) nextOrder(r *recorder) {
	c.eachDistrict(func(at place, di *district) {
		if !di.seen {
			r.add(at, "d_next_o_id", di.maxOID+1, noRow)
			return
		}
		r.equal(at, "max(o_id)", di.nextOID-1, di.maxOID)
		if di.newOrders > 0 {
			r.equal(at, "max(no_o_id)", di.nextOID-1, di.maxNOOID)
		}
	})
}

func (c *Checker) newOrderRange(r *recorder) {
	c.eachDistrict(func(at place, di *district) {
		if di.newOrders > 0 {
			r.equal(at, "rows of new_order", di.maxNOOID-di.minNOOID+1, di.newOrders)
		}
	})
}

func (c *Checker) linesOfDistrict(r *recorder) {
	c.eachDistrict(func(at place, di *district) { r.equal(at, "rows of order_line", di.olCnt, di.lines) })
}

func (c *Checker) carrier(r *recorder) {
	c.eachOrder(func(at place, o *order) {
		switch o.flags & (hasOrder | hasNewOrder | hasCarrier) {
		case hasOrder:
			r.add(at, "row of new_order, o_carrier_id being null", aRow, noRow)
		case hasOrder | hasNewOrder | hasCarrier:
			r.add(at, "o_carrier_id, new_order having the order", null, value)
		case hasNewOrder:
			r.add(at, "row of orders, new_order having the order", aRow, noRow)
		}
	})
}

func (c *Checker) linesOfOrder(r *recorder) {
	c.eachOrder(func(at place, o *order) {
		switch {
		case o.flags&hasOrder == 0:
			if o.lines > 0 {
				r.add(at, "row of orders, order_line having the order", aRow, noRow)
			}
		case int(o.olCnt) != int(o.lines):
			r.add(at, "o_ol_cnt", o.lines, o.olCnt)
		case bits.OnesCount16(o.numbers) != int(o.lines) || bits.Len16(o.numbers) != int(o.lines)+1:
			r.add(at, "ol_number", "1 to o_ol_cnt, once each", "others")
		}
	})
}

func (c *Checker) deliveryDate(r *recorder) {
	c.eachOrder(func(at place, o *order) {
		switch {
		case o.lines == 0: // condition 6
		case o.flags&hasOrder == 0:
			r.add(at, "row of orders, order_line having the order", aRow, noRow)
		case o.flags&hasCarrier != 0 && o.nulls != 0:
			at.number = int64(bits.TrailingZeros16(o.nulls))
			r.add(at, "ol_delivery_d, o_carrier_id being set", value, null)
		case o.flags&hasCarrier == 0 && o.flags&hasDelivered != 0:
			if set := o.numbers &^ o.nulls; set != 0 {
				at.number = int64(bits.TrailingZeros16(set))
			}
			r.add(at, "ol_delivery_d, o_carrier_id being null", null, value)
		}
	})
}

func (c *Checker) warehouseHistory(r *recorder) {
	for i := range c.warehouses {
		w := &c.warehouses[i]
		r.money(place{warehouse: int64(i) + 1}, "w_ytd", w.paid, w.seen, w.ytd)
	}
}

func (c *Checker) districtHistory(r *recorder) {
	c.eachDistrict(func(at place, di *district) { r.money(at, "d_ytd", di.paid, di.seen, di.ytd) })
}

func (c *Checker) balance(r *recorder) {
	c.eachCustomer(func(at place, cu *customer) { r.money(at, "c_balance", cu.delivered-cu.paid, cu.seen, cu.balance) })
}

func (c *Checker) deliveries(r *recorder) {
	sums := make([]int64, len(c.districts))
	for i := range c.customers {
		sums[i/c.scale.Customers] += c.customers[i].deliveryCnt
	}
	initially := int64(c.scale.Orders - c.scale.Undelivered)
	c.eachDistrict(func(at place, di *district) {
		expected := initially + sums[(at.warehouse-1)*tpcc.Districts+at.district-1]
		r.equal(at, "rows of orders - rows of new_order", expected, di.orders-di.newOrders)
	})
}

func (c *Checker) payments(r *recorder) {
	c.eachCustomer(func(at place, cu *customer) {
		r.money(at, "c_balance + c_ytd_payment", cu.delivered, cu.seen, cu.balance+cu.ytdPayment)
	})
}

func (c *Checker) paymentCount(r *recorder) {
	c.eachCustomer(func(at place, cu *customer) {
		if cu.seen {
			r.equal(at, "c_payment_cnt", cu.payments, cu.paymentCnt)
		}
	})
}

func (c *Checker) stockCounts(r *recorder) {
	for i := range c.stock {
		s := &c.stock[i]
		if s.ytd|s.orderCnt|s.remote == 0 {
			continue
		}
		at := place{warehouse: int64(i/c.scale.Items) + 1, item: int64(i%c.scale.Items) + 1}
		r.equal(at, "s_ytd - sum(ol_quantity)", 0, s.ytd)
		r.equal(at, "s_order_cnt - lines", 0, s.orderCnt)
		r.equal(at, "s_remote_cnt - lines of other warehouses", 0, s.remote)
	}
}

func (c *Checker) localOrders(r *recorder) {
	c.eachOrder(func(at place, o *order) {
		switch o.flags & (hasOrder | allLocal | hasRemote) {
		case hasOrder:
			r.add(at, "o_all_local", 1, 0)
		case hasOrder | allLocal | hasRemote:
			r.add(at, "o_all_local", 0, 1)
		}
	})
}
