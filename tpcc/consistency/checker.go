package consistency

import (
	"fmt"
	"math"

	"tpccbench/tpcc"
)

// Checker checks one database. It is given every row of one snapshot with Add, in any order, and then says with Check
// what is wrong. It keeps 24 bytes for each order and 32 to 72 for each row of the tables of fixed size; lines and
// history are only summed up.
//
// Duplicates, rows whose keys are outside of the scale, and columns that name no row are found while rows are added;
// such a row has no part in the sums where it has no place in them.
type Checker struct {
	scale      tpcc.Scale
	rows       [tpcc.NumTables]int64
	item       []bool      // seen, by I_ID-1
	warehouses []warehouse // by W_ID-1
	districts  []district  // by (W_ID-1)*10 + D_ID-1
	customers  []customer  // by district*Customers + C_ID-1
	stock      []stock     // by (W_ID-1)*Items + I_ID-1
	structure  recorder    // what Add found
}

type warehouse struct {
	seen bool
	ytd  int64 // W_YTD
	paid int64 // sum of H_AMOUNT with this H_W_ID
}

type district struct {
	seen      bool
	ytd       int64 // D_YTD
	nextOID   int64 // D_NEXT_O_ID
	paid      int64 // sum of H_AMOUNT with this H_W_ID and H_D_ID
	payments  int64 // rows of HISTORY with these
	orders    int64 // rows of ORDERS
	maxOID    int64
	olCnt     int64 // sum of O_OL_CNT
	lines     int64 // rows of ORDER_LINE
	newOrders int64 // rows of NEW_ORDER
	minNOOID  int64
	maxNOOID  int64
	chunks    []*[chunkOrders]order // by O_ID / chunkOrders
}

// Orders are kept in chunks, so that one absurd O_ID costs one chunk and growing copies nothing.
const (
	chunkOrders = 1024
	maxOID      = 1 << 27 // the largest O_ID that is taken for one
)

// order is what is kept of an O_ID that a row of ORDERS, NEW_ORDER or ORDER_LINE names.
type order struct {
	amount   int64  // sum of OL_AMOUNT of the delivered lines
	customer int32  // O_C_ID; 0: no such customer
	olCnt    int16  // O_OL_CNT
	numbers  uint16 // bit OL_NUMBER of each line
	nulls    uint16 // bit OL_NUMBER of each line without OL_DELIVERY_D
	lines    uint8  // rows of ORDER_LINE, at most 255
	flags    uint8
}

// flags of an order.
const (
	hasOrder     = 1 << iota // a row of ORDERS
	hasNewOrder              // a row of NEW_ORDER
	hasCarrier               // O_CARRIER_ID is not null
	allLocal                 // O_ALL_LOCAL is 1
	hasRemote                // a line's OL_SUPPLY_W_ID is not OL_W_ID
	hasDelivered             // a line's OL_DELIVERY_D is not null
)

type customer struct {
	seen        bool
	balance     int64 // C_BALANCE
	ytdPayment  int64 // C_YTD_PAYMENT
	paymentCnt  int64 // C_PAYMENT_CNT
	deliveryCnt int64 // C_DELIVERY_CNT
	paid        int64 // sum of H_AMOUNT of this customer
	payments    int64 // rows of HISTORY of this customer
	delivered   int64 // sum of OL_AMOUNT of the delivered lines of this customer's orders, by Check
}

// stock holds each counter minus what the lines of orders after the initial ones say it must be.
type stock struct {
	seen     bool
	ytd      int64 // S_YTD - sum of OL_QUANTITY
	orderCnt int64 // S_ORDER_CNT - lines
	remote   int64 // S_REMOTE_CNT - lines of other warehouses
}

// NewChecker makes a Checker of a database that began as tpcc.Population of a valid scale.
func NewChecker(s tpcc.Scale) *Checker {
	districts := s.Warehouses * tpcc.Districts
	c := &Checker{
		scale:      s,
		item:       make([]bool, s.Items),
		warehouses: make([]warehouse, s.Warehouses),
		districts:  make([]district, districts),
		customers:  make([]customer, districts*s.Customers),
		stock:      make([]stock, s.Warehouses*s.Items),
	}
	c.structure.start(structure)
	return c
}

// Rows is the number of rows that were added, by table.
func (c *Checker) Rows() [tpcc.NumTables]int64 { return c.rows }

// StateBytes is the packed size of the rows that were added: rows times Schema.StateBytes, over all tables.
func (c *Checker) StateBytes() int64 {
	n := int64(0)
	for _, t := range tpcc.Tables {
		n += c.rows[t] * int64(t.Schema().StateBytes())
	}
	return n
}

// Add takes one row, which it does not keep. Its error is nil unless the row is of no table; violations come from
// Check. It has the form of a snapshot's visit function.
func (c *Checker) Add(r *tpcc.Row) error {
	if int(r.Table) >= tpcc.NumTables {
		return fmt.Errorf("a row of %s, which is no table", r.Table)
	}
	c.rows[r.Table]++
	col := &r.Col
	switch r.Table {
	case tpcc.Item:
		if i := col[tpcc.IID]; c.has(r, i, c.scale.Items) {
			c.once(r, &c.item[i-1])
		}
	case tpcc.Warehouse:
		if w := col[tpcc.WID]; c.has(r, w, c.scale.Warehouses) {
			c.once(r, &c.warehouses[w-1].seen)
			c.warehouses[w-1].ytd += col[tpcc.WYTD]
		}
	case tpcc.District:
		if di := c.district(r, col[tpcc.DWID], col[tpcc.DID]); di != nil {
			c.once(r, &di.seen)
			di.ytd += col[tpcc.DYTD]
			di.nextOID = col[tpcc.DNextOID]
		}
	case tpcc.Customer:
		if cu := c.customer(r, col[tpcc.CWID], col[tpcc.CDID], col[tpcc.CID]); cu != nil {
			c.once(r, &cu.seen)
			cu.balance += col[tpcc.CBalance]
			cu.ytdPayment += col[tpcc.CYTDPayment]
			cu.paymentCnt += col[tpcc.CPaymentCnt]
			cu.deliveryCnt += col[tpcc.CDeliveryCnt]
		}
	case tpcc.History:
		c.addHistory(r)
	case tpcc.Orders:
		c.addOrder(r)
	case tpcc.NewOrder:
		c.addNewOrder(r)
	case tpcc.OrderLine:
		c.addLine(r)
	case tpcc.Stock:
		w, i := col[tpcc.SWID], col[tpcc.SIID]
		if c.has(r, w, c.scale.Warehouses) && c.has(r, i, c.scale.Items) {
			s := c.stockOf(w, i)
			c.once(r, &s.seen)
			s.ytd += col[tpcc.SYTD]
			s.orderCnt += col[tpcc.SOrderCnt]
			s.remote += col[tpcc.SRemoteCnt]
		}
	}
	return nil
}

func (c *Checker) addHistory(r *tpcc.Row) {
	col := &r.Col
	amount := col[tpcc.HAmount]
	if cu := c.customer(r, col[tpcc.HCWID], col[tpcc.HCDID], col[tpcc.HCID]); cu != nil {
		cu.paid += amount
		cu.payments++
	}
	w := col[tpcc.HWID]
	if di := c.district(r, w, col[tpcc.HDID]); di != nil {
		di.paid += amount
		di.payments++
		c.warehouses[w-1].paid += amount
	}
}

func (c *Checker) addOrder(r *tpcc.Row) {
	col := &r.Col
	oid := col[tpcc.OID]
	di, o := c.order(r, col[tpcc.OWID], col[tpcc.ODID], oid)
	if o == nil {
		return
	}
	c.onceFlag(r, o, hasOrder)
	di.orders++
	di.maxOID = max(di.maxOID, oid)
	cnt := col[tpcc.OOlCnt]
	di.olCnt += cnt
	c.within(r, tpcc.OOlCnt, tpcc.MinLines, tpcc.MaxLines)
	o.olCnt = int16(max(math.MinInt16, min(cnt, math.MaxInt16)))
	if c.within(r, tpcc.OCID, 1, c.scale.Customers) {
		o.customer = int32(col[tpcc.OCID])
	}
	if col[tpcc.OCarrierID] != tpcc.Null {
		c.within(r, tpcc.OCarrierID, 1, 10)
		o.flags |= hasCarrier
	}
	if c.within(r, tpcc.OAllLocal, 0, 1) && col[tpcc.OAllLocal] == 1 {
		o.flags |= allLocal
	}
}

func (c *Checker) addNewOrder(r *tpcc.Row) {
	oid := r.Col[tpcc.NOOID]
	di, o := c.order(r, r.Col[tpcc.NOWID], r.Col[tpcc.NODID], oid)
	if o == nil {
		return
	}
	c.onceFlag(r, o, hasNewOrder)
	if di.newOrders == 0 {
		di.minNOOID, di.maxNOOID = oid, oid
	}
	di.newOrders++
	di.minNOOID, di.maxNOOID = min(di.minNOOID, oid), max(di.maxNOOID, oid)
}

func (c *Checker) addLine(r *tpcc.Row) {
	col := &r.Col
	w, supply, oid := col[tpcc.OLWID], col[tpcc.OLSupplyWID], col[tpcc.OLOID]
	di, o := c.order(r, w, col[tpcc.OLDID], oid)
	if o == nil {
		return
	}
	di.lines++
	if o.lines < math.MaxUint8 {
		o.lines++
	}
	if c.within(r, tpcc.OLNumber, 1, tpcc.MaxLines) {
		bit := uint16(1) << col[tpcc.OLNumber]
		if o.numbers&bit != 0 {
			c.duplicate(r)
		}
		o.numbers |= bit
		if col[tpcc.OLDeliveryD] == tpcc.Null {
			o.nulls |= bit
		}
	}
	if col[tpcc.OLDeliveryD] != tpcc.Null {
		o.flags |= hasDelivered
		o.amount += col[tpcc.OLAmount]
	}
	if supply != w {
		o.flags |= hasRemote
	}
	c.within(r, tpcc.OLQuantity, 1, 10)
	if c.within(r, tpcc.OLIID, 1, c.scale.Items) && c.within(r, tpcc.OLSupplyWID, 1, c.scale.Warehouses) &&
		oid > int64(c.scale.Orders) {
		s := c.stockOf(supply, col[tpcc.OLIID])
		s.ytd -= col[tpcc.OLQuantity]
		s.orderCnt--
		if supply != w {
			s.remote--
		}
	}
}

// has reports whether an id of a row is in 1..n, and records a violation if it is not.
func (c *Checker) has(r *tpcc.Row, id int64, n int) bool {
	if id >= 1 && id <= int64(n) {
		return true
	}
	c.structure.add(placeOf(r), "row that names what is outside of the scale", noRow, r)
	return false
}

// within reports whether a column is in low..high, and records a violation if it is not.
func (c *Checker) within(r *tpcc.Row, column, low, high int) bool {
	v := r.Col[column]
	if v >= int64(low) && v <= int64(high) {
		return true
	}
	c.structure.add(placeOf(r), r.Table.Schema().Columns[column].Name, fmt.Sprintf("%d..%d", low, high), v)
	return false
}

func (c *Checker) once(r *tpcc.Row, seen *bool) {
	if *seen {
		c.duplicate(r)
	}
	*seen = true
}

func (c *Checker) onceFlag(r *tpcc.Row, o *order, flag uint8) {
	if o.flags&flag != 0 {
		c.duplicate(r)
	}
	o.flags |= flag
}

func (c *Checker) duplicate(r *tpcc.Row) {
	c.structure.add(placeOf(r), "rows with this key", 1, "more")
}

// district is a district that a row names, or nil after recording that there is none in the scale.
func (c *Checker) district(r *tpcc.Row, w, d int64) *district {
	if !c.has(r, w, c.scale.Warehouses) || !c.has(r, d, tpcc.Districts) {
		return nil
	}
	return &c.districts[(w-1)*tpcc.Districts+d-1]
}

// customer is a customer that a row names, or nil after recording that there is none in the scale.
func (c *Checker) customer(r *tpcc.Row, w, d, id int64) *customer {
	if c.district(r, w, d) == nil || !c.has(r, id, c.scale.Customers) {
		return nil
	}
	return &c.customers[((w-1)*tpcc.Districts+d-1)*int64(c.scale.Customers)+id-1]
}

// stockOf is the stock of an item; both are in the scale.
func (c *Checker) stockOf(w, i int64) *stock { return &c.stock[(w-1)*int64(c.scale.Items)+i-1] }

// order is an order that a row names, made if it is new; nil after recording that it cannot be one.
func (c *Checker) order(r *tpcc.Row, w, d, oid int64) (*district, *order) {
	di := c.district(r, w, d)
	if di == nil || !c.has(r, oid, maxOID) {
		return nil, nil
	}
	i := int(oid / chunkOrders)
	for len(di.chunks) <= i {
		di.chunks = append(di.chunks, nil)
	}
	if di.chunks[i] == nil {
		di.chunks[i] = new([chunkOrders]order)
	}
	return di, &di.chunks[i][oid%chunkOrders]
}

// eachDistrict calls f for every district of the scale, in key order.
func (c *Checker) eachDistrict(f func(at place, di *district)) {
	for i := range c.districts {
		f(place{warehouse: int64(i/tpcc.Districts) + 1, district: int64(i%tpcc.Districts) + 1}, &c.districts[i])
	}
}

// eachOrder calls f for every O_ID that a row names, in key order.
func (c *Checker) eachOrder(f func(at place, o *order)) {
	c.eachDistrict(func(at place, di *district) {
		for i, chunk := range di.chunks {
			if chunk == nil {
				continue
			}
			for j := range chunk {
				if o := &chunk[j]; o.flags != 0 || o.lines != 0 {
					at.order = int64(i*chunkOrders + j)
					f(at, o)
				}
			}
		}
	})
}

// eachCustomer calls f for every customer of the scale, in key order.
func (c *Checker) eachCustomer(f func(at place, cu *customer)) {
	c.eachDistrict(func(at place, _ *district) {
		of := c.customers[((at.warehouse-1)*tpcc.Districts+at.district-1)*int64(c.scale.Customers):][:c.scale.Customers]
		for i := range of {
			at.customer = int64(i) + 1
			f(at, &of[i])
		}
	})
}
