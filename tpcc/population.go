package tpcc

import "iter"

// Dates of the workload, in ms since the Unix epoch. They are logical: a row of the population is dated LoadDate plus
// its number in its district, a transaction RunDate plus its number in its terminal's stream.
const (
	LoadDate = 1_767_225_600_000 // 2026-01-01 00:00:00 UTC
	RunDate  = 1_767_312_000_000 // 2026-01-02 00:00:00 UTC
)

// Amounts of the initial population (clause 4.3.3.1), in cents.
const (
	InitialPayment   = 10_00     // H_AMOUNT, C_YTD_PAYMENT and -C_BALANCE of each customer
	InitialCreditLim = 50_000_00 // C_CREDIT_LIM
)

// Population yields all rows of the initial database of clause 4.3.3.1: table by table in the order of Tables, within
// a table in key order, HISTORY in the order of its customers' keys. The *Row is valid until the next one. The rows
// are a function of seed and scale. Each table (of each district, where it has districts) has a stream of its own, so
// the draws of one decide nothing in another; only O_OL_CNT is drawn twice alike, for ORDERS and for ORDER_LINE.
//
// The scale must be valid. W_YTD and D_YTD are the sums of the initial payments, 300,000.00 and 30,000.00 at the
// standard scale.
func Population(seed uint64, s Scale) iter.Seq[*Row] {
	return func(yield func(*Row) bool) {
		p := population{seed: seed, scale: s, constants: NewConstants(seed), yield: yield}
		for _, fill := range [NumTables]func() bool{p.items, p.warehouses, p.districts, p.customers, p.history, p.orders,
			p.newOrders, p.orderLines, p.stock} {
			if !fill() {
				return
			}
		}
	}
}

// population is one walk over the rows. Its methods fill one table each and return false when the walk was ended.
type population struct {
	seed      uint64
	scale     Scale
	constants Constants
	row       Row
	yield     func(*Row) bool
}

// eachDistrict calls fill for every district in key order until one returns false.
func (p *population) eachDistrict(fill func(w, d int64) bool) bool {
	for w := int64(1); w <= int64(p.scale.Warehouses); w++ {
		for d := int64(1); d <= Districts; d++ {
			if !fill(w, d) {
				return false
			}
		}
	}
	return true
}

// districtStream starts the stream of one table of one district.
func (p *population) districtStream(u purpose, w, d int64) stream {
	return newStream(p.seed, u, uint64(w)<<8|uint64(d))
}

// delivered is the number of orders of a district that are delivered: 2,100 at the standard scale.
func (s Scale) delivered() int64 { return int64(s.Orders - s.Undelivered) }

func (p *population) items() bool {
	rnd := newStream(p.seed, forItem, 0)
	p.row = Row{Table: Item}
	c := &p.row.Col
	for i := int64(1); i <= int64(p.scale.Items); i++ {
		c[IID], c[IImID], c[IPrice] = i, rnd.between(1, 10_000), rnd.between(1_00, 100_00)
		if !p.yield(&p.row) {
			return false
		}
	}
	return true
}

func (p *population) warehouses() bool {
	p.row = Row{Table: Warehouse}
	c := &p.row.Col
	for w := int64(1); w <= int64(p.scale.Warehouses); w++ {
		rnd := newStream(p.seed, forWarehouse, uint64(w))
		c[WID], c[WTax], c[WYTD] = w, rnd.between(0, 2000), Districts*int64(p.scale.Customers)*InitialPayment
		if !p.yield(&p.row) {
			return false
		}
	}
	return true
}

func (p *population) districts() bool {
	p.row = Row{Table: District}
	c := &p.row.Col
	return p.eachDistrict(func(w, d int64) bool {
		rnd := p.districtStream(forDistrict, w, d)
		c[DWID], c[DID], c[DTax] = w, d, rnd.between(0, 2000)
		c[DYTD] = int64(p.scale.Customers) * InitialPayment
		c[DNextOID] = int64(p.scale.Orders) + 1
		return p.yield(&p.row)
	})
}

func (p *population) customers() bool {
	p.row = Row{Table: Customer}
	c := &p.row.Col
	c[CCreditLim], c[CBalance], c[CYTDPayment], c[CPaymentCnt] = InitialCreditLim, -InitialPayment, InitialPayment, 1
	names := int64(p.scale.LastNames())
	return p.eachDistrict(func(w, d int64) bool {
		rnd := p.districtStream(forCustomer, w, d)
		c[CWID], c[CDID] = w, d
		for i := int64(1); i <= int64(p.scale.Customers); i++ {
			c[CID], c[CSince] = i, LoadDate+i
			c[CLast] = i - 1
			if i > names { // customers after the first 1,000
				c[CLast] = rnd.nuRand(ALast, p.constants.LastLoad, 0, names-1)
			}
			c[CCredit] = GoodCredit
			if rnd.percent(10) {
				c[CCredit] = BadCredit
			}
			c[CDiscount] = rnd.between(0, 5000)
			if !p.yield(&p.row) {
				return false
			}
		}
		return true
	})
}

func (p *population) history() bool {
	p.row = Row{Table: History}
	c := &p.row.Col
	c[HAmount] = InitialPayment
	return p.eachDistrict(func(w, d int64) bool {
		c[HCWID], c[HCDID], c[HWID], c[HDID] = w, d, w, d
		for i := int64(1); i <= int64(p.scale.Customers); i++ {
			c[HCID], c[HDate] = i, LoadDate+i
			if !p.yield(&p.row) {
				return false
			}
		}
		return true
	})
}

func (p *population) orders() bool {
	p.row = Row{Table: Orders}
	c := &p.row.Col
	c[OAllLocal] = 1
	customers := make([]int64, p.scale.Customers)
	return p.eachDistrict(func(w, d int64) bool {
		rnd := p.districtStream(forOrders, w, d)
		counts := p.districtStream(forLineCount, w, d)
		for i := range customers {
			customers[i] = int64(i) + 1
		}
		c[OWID], c[ODID] = w, d
		for o := int64(1); o <= int64(p.scale.Orders); o++ {
			// O_C_ID is a random permutation of the customers (Fisher and Yates, one step per order).
			at := o - 1 + rnd.below(int64(len(customers))-o+1)
			customers[o-1], customers[at] = customers[at], customers[o-1]
			c[OID], c[OCID], c[OEntryD] = o, customers[o-1], LoadDate+o
			c[OCarrierID] = Null
			if o <= p.scale.delivered() {
				c[OCarrierID] = rnd.between(1, 10)
			}
			c[OOlCnt] = counts.between(MinLines, MaxLines)
			if !p.yield(&p.row) {
				return false
			}
		}
		return true
	})
}

func (p *population) newOrders() bool {
	p.row = Row{Table: NewOrder}
	c := &p.row.Col
	return p.eachDistrict(func(w, d int64) bool {
		c[NOWID], c[NODID] = w, d
		for o := p.scale.delivered() + 1; o <= int64(p.scale.Orders); o++ {
			c[NOOID] = o
			if !p.yield(&p.row) {
				return false
			}
		}
		return true
	})
}

func (p *population) orderLines() bool {
	p.row = Row{Table: OrderLine}
	c := &p.row.Col
	c[OLQuantity] = 5
	return p.eachDistrict(func(w, d int64) bool {
		rnd := p.districtStream(forOrderLine, w, d)
		counts := p.districtStream(forLineCount, w, d)
		c[OLWID], c[OLDID], c[OLSupplyWID] = w, d, w
		for o := int64(1); o <= int64(p.scale.Orders); o++ {
			c[OLOID] = o
			delivered := o <= p.scale.delivered()
			for n, count := int64(1), counts.between(MinLines, MaxLines); n <= count; n++ {
				c[OLNumber], c[OLIID] = n, rnd.between(1, int64(p.scale.Items))
				if delivered {
					c[OLDeliveryD], c[OLAmount] = LoadDate+o, 0 // O_ENTRY_D
				} else {
					c[OLDeliveryD], c[OLAmount] = Null, rnd.between(1, 9_999_99)
				}
				if !p.yield(&p.row) {
					return false
				}
			}
		}
		return true
	})
}

func (p *population) stock() bool {
	p.row = Row{Table: Stock}
	c := &p.row.Col
	for w := int64(1); w <= int64(p.scale.Warehouses); w++ {
		rnd := newStream(p.seed, forStock, uint64(w))
		c[SWID] = w
		for i := int64(1); i <= int64(p.scale.Items); i++ {
			c[SIID], c[SQuantity] = i, rnd.between(10, 100)
			if !p.yield(&p.row) {
				return false
			}
		}
	}
	return true
}
