package tpcc

import "fmt"

// Table names one of the nine tables of clause 1.3. Its values order the tables as Tables does.
type Table uint8

// The nine tables, in the order in which a snapshot visits them.
const (
	Item Table = iota
	Warehouse
	District
	Customer
	History
	Orders
	NewOrder
	OrderLine
	Stock
	NumTables int = iota
)

// Tables lists the nine tables in snapshot order.
var Tables = [NumTables]Table{Item, Warehouse, District, Customer, History, Orders, NewOrder, OrderLine, Stock}

// MaxColumns is the width of the widest table.
const MaxColumns = 12

// Null is the value of a nullable column (O_CARRIER_ID, OL_DELIVERY_D) that is null. Neither column has 0 among its
// values. An engine that has a null of its own stores that.
const Null = 0

// Columns of ITEM.
const (
	IID = iota
	IImID
	IPrice // cents
)

// Columns of WAREHOUSE.
const (
	WID  = iota
	WTax // basis points
	WYTD // cents
)

// Columns of DISTRICT.
const (
	DWID = iota
	DID
	DTax // basis points
	DYTD // cents
	DNextOID
)

// Columns of CUSTOMER.
const (
	CWID = iota
	CDID
	CID
	CLast       // number of the last name, 0..999
	CSince      // ms since the Unix epoch
	CCredit     // GoodCredit or BadCredit
	CCreditLim  // cents
	CDiscount   // basis points
	CBalance    // cents
	CYTDPayment // cents
	CPaymentCnt
	CDeliveryCnt
)

// Columns of HISTORY. The table has no primary key (clause 1.3.1): its rows stand in the order in which they came.
const (
	HCID = iota
	HCDID
	HCWID
	HDID
	HWID
	HDate   // ms since the Unix epoch
	HAmount // cents
)

// Columns of ORDERS (the specification's ORDER).
const (
	OWID = iota
	ODID
	OID
	OCID
	OEntryD    // ms since the Unix epoch
	OCarrierID // 1..10, or Null until delivered
	OOlCnt
	OAllLocal // 1 or 0
)

// Columns of NEW_ORDER.
const (
	NOWID = iota
	NODID
	NOOID
)

// Columns of ORDER_LINE.
const (
	OLWID = iota
	OLDID
	OLOID
	OLNumber
	OLIID
	OLSupplyWID
	OLDeliveryD // ms since the Unix epoch, or Null until delivered
	OLQuantity
	OLAmount // cents
)

// Columns of STOCK.
const (
	SWID = iota
	SIID
	SQuantity
	SYTD
	SOrderCnt
	SRemoteCnt
)

// Values of C_CREDIT.
const (
	GoodCredit = 0 // "GC"
	BadCredit  = 1 // "BC"
)

// Column describes one column. Bytes is the smallest whole width that holds every value that the workload can give
// it; the sum over a row is what the project calls the row's state bytes, the same for every engine.
type Column struct {
	Name     string // as in the specification, lower case
	Bytes    int
	Nullable bool
}

// Schema describes one table: its columns in row order, the first Key of which are the primary key, in key order.
// HISTORY has Key 0.
type Schema struct {
	Name    string
	Columns []Column
	Key     int
}

// StateBytes is the packed width of one row in bytes, key columns included, indexes not.
func (s *Schema) StateBytes() int {
	n := 0
	for _, c := range s.Columns {
		n += c.Bytes
	}
	return n
}

var schemas = [NumTables]Schema{
	Item:      {"item", []Column{{"i_id", 3, false}, {"i_im_id", 2, false}, {"i_price", 2, false}}, 1},
	Warehouse: {"warehouse", []Column{{"w_id", 2, false}, {"w_tax", 2, false}, {"w_ytd", 8, false}}, 1},
	District: {"district", []Column{{"d_w_id", 2, false}, {"d_id", 1, false}, {"d_tax", 2, false}, {"d_ytd", 8, false},
		{"d_next_o_id", 4, false}}, 2},
	Customer: {"customer", []Column{{"c_w_id", 2, false}, {"c_d_id", 1, false}, {"c_id", 2, false}, {"c_last", 2, false},
		{"c_since", 8, false}, {"c_credit", 1, false}, {"c_credit_lim", 8, false}, {"c_discount", 2, false},
		{"c_balance", 8, false}, {"c_ytd_payment", 8, false}, {"c_payment_cnt", 4, false}, {"c_delivery_cnt", 4, false}}, 3},
	History: {"history", []Column{{"h_c_id", 2, false}, {"h_c_d_id", 1, false}, {"h_c_w_id", 2, false}, {"h_d_id", 1, false},
		{"h_w_id", 2, false}, {"h_date", 8, false}, {"h_amount", 4, false}}, 0},
	Orders: {"orders", []Column{{"o_w_id", 2, false}, {"o_d_id", 1, false}, {"o_id", 4, false}, {"o_c_id", 2, false},
		{"o_entry_d", 8, false}, {"o_carrier_id", 1, true}, {"o_ol_cnt", 1, false}, {"o_all_local", 1, false}}, 3},
	NewOrder: {"new_order", []Column{{"no_w_id", 2, false}, {"no_d_id", 1, false}, {"no_o_id", 4, false}}, 3},
	OrderLine: {"order_line", []Column{{"ol_w_id", 2, false}, {"ol_d_id", 1, false}, {"ol_o_id", 4, false}, {"ol_number", 1, false},
		{"ol_i_id", 3, false}, {"ol_supply_w_id", 2, false}, {"ol_delivery_d", 8, true}, {"ol_quantity", 1, false},
		{"ol_amount", 4, false}}, 4},
	Stock: {"stock", []Column{{"s_w_id", 2, false}, {"s_i_id", 3, false}, {"s_quantity", 2, false}, {"s_ytd", 4, false},
		{"s_order_cnt", 4, false}, {"s_remote_cnt", 4, false}}, 2},
}

// Schema returns the table's description, which the caller must not change.
func (t Table) Schema() *Schema { return &schemas[t] }

// String is the table's name in lower case.
func (t Table) String() string {
	if int(t) >= NumTables {
		return fmt.Sprintf("table(%d)", uint8(t))
	}
	return schemas[t].Name
}

// Row is one row of one table: its columns in schema order, the rest of Col zero. Nullable columns hold Null when
// they are null.
type Row struct {
	Table Table
	Col   [MaxColumns]int64
}

// String renders the row as table(column=value, ...), for messages.
func (r *Row) String() string {
	s := r.Table.Schema()
	b := []byte(s.Name)
	for i, c := range s.Columns {
		sep := byte(' ')
		if i == 0 {
			sep = '('
		}
		b = append(b, sep)
		if c.Nullable && r.Col[i] == Null {
			b = fmt.Appendf(b, "%s=null", c.Name)
		} else {
			b = fmt.Appendf(b, "%s=%d", c.Name, r.Col[i])
		}
	}
	return string(append(b, ')'))
}
