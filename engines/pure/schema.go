package pure

import (
	"fmt"

	"tpccbench/engines/pure/store"
	"tpccbench/tpcc"
)

// Widths of key parts, in bits. Each holds every id that tpcc's column of that name can have; an order number has room
// for 268 million orders of a district.
const (
	warehouseBits = 13
	districtBits  = 4
	customerBits  = 16
	orderBits     = 28
	lineBits      = 4
	itemBits      = 24
	lastBits      = 16
	dateBits      = 44 // ms: up to the year 2527
)

// Fields of the tables, in the order of schema; the columns before them are in the key.
const (
	iImID = iota
	iPrice
)
const (
	wTax = iota
	wYTD
)
const (
	dTax = iota
	dYTD
	dNextOID
)
const (
	cLast = iota
	cSince
	cCredit
	cCreditLim
	cDiscount
	cBalance
	cYTDPayment
	cPaymentCnt
	cDeliveryCnt
)
const (
	hCID = iota
	hCDID
	hCWID
	hDID
	hWID
	hDate
	hAmount
)
const (
	oCID = iota
	oEntryD
	oCarrierID
	oOlCnt
	oAllLocal
)
const (
	olIID = iota
	olSupplyWID
	olDeliveryD
	olQuantity
	olAmount
)
const (
	sQuantity = iota
	sYTD
	sOrderCnt
	sRemoteCnt
)

// The tables have the numbers of tpcc.Table.
const (
	items      = store.TableID(tpcc.Item)
	warehouses = store.TableID(tpcc.Warehouse)
	districts  = store.TableID(tpcc.District)
	customers  = store.TableID(tpcc.Customer)
	histories  = store.TableID(tpcc.History)
	orders     = store.TableID(tpcc.Orders)
	newOrders  = store.TableID(tpcc.NewOrder)
	orderLines = store.TableID(tpcc.OrderLine)
	stocks     = store.TableID(tpcc.Stock)
)

// The indexes, in the order of schema.
const (
	customersByName  store.IndexID = iota // C_W_ID, C_D_ID, C_LAST, C_ID
	ordersByCustomer                      // O_W_ID, O_D_ID, O_C_ID, O_ID
)

func key(name string, bits int) store.Part       { return store.Part{Name: name, Bits: bits} }
func unsigned(name string, bits int) store.Field { return store.Field{Name: name, Bits: bits} }
func signed(name string, bits int) store.Field {
	return store.Field{Name: name, Bits: bits, Signed: true}
}

// like is unsigned for what tends to be as in the row before.
func like(name string, bits int) store.Field {
	return store.Field{Name: name, Bits: bits, Coding: store.FromLast}
}

// schema is the nine tables of clause 1.3 as the store keeps them.
var schema = store.Schema{Tables: []store.Table{
	{
		Name:   "item",
		Key:    []store.Part{key("i_id", itemBits)},
		Fields: []store.Field{unsigned("i_im_id", 16), unsigned("i_price", 16)},
	}, {
		Name:   "warehouse",
		Key:    []store.Part{key("w_id", warehouseBits)},
		Fields: []store.Field{unsigned("w_tax", 16), signed("w_ytd", 64)},
	}, {
		Name:   "district",
		Key:    []store.Part{key("d_w_id", warehouseBits), key("d_id", districtBits)},
		Fields: []store.Field{unsigned("d_tax", 16), signed("d_ytd", 64), unsigned("d_next_o_id", 32)},
	}, {
		Name: "customer",
		Key:  []store.Part{key("c_w_id", warehouseBits), key("c_d_id", districtBits), key("c_id", customerBits)},
		Fields: []store.Field{unsigned("c_last", lastBits), like("c_since", dateBits), unsigned("c_credit", 1), signed("c_credit_lim", 48),
			unsigned("c_discount", 16), signed("c_balance", 64), signed("c_ytd_payment", 64), unsigned("c_payment_cnt", 32),
			unsigned("c_delivery_cnt", 32)},
		Indexes: []store.Index{{Name: "by_name", Parts: []string{"c_w_id", "c_d_id", "c_last", "c_id"}}},
	}, {
		Name:   "history",
		Append: true,
		Fields: []store.Field{unsigned("h_c_id", customerBits), like("h_c_d_id", districtBits), like("h_c_w_id", warehouseBits),
			like("h_d_id", districtBits), like("h_w_id", warehouseBits), like("h_date", dateBits), signed("h_amount", 32)},
	}, {
		Name: "orders",
		Key:  []store.Part{key("o_w_id", warehouseBits), key("o_d_id", districtBits), key("o_id", orderBits)},
		Fields: []store.Field{unsigned("o_c_id", customerBits), like("o_entry_d", dateBits), unsigned("o_carrier_id", 8),
			unsigned("o_ol_cnt", 8), unsigned("o_all_local", 1)},
		Indexes: []store.Index{{Name: "by_customer", Parts: []string{"o_w_id", "o_d_id", "o_c_id", "o_id"}}},
	}, {
		Name: "new_order",
		Key:  []store.Part{key("no_w_id", warehouseBits), key("no_d_id", districtBits), key("no_o_id", orderBits)},
	}, {
		Name: "order_line",
		Key: []store.Part{key("ol_w_id", warehouseBits), key("ol_d_id", districtBits), key("ol_o_id", orderBits),
			key("ol_number", lineBits)},
		Fields: []store.Field{unsigned("ol_i_id", itemBits), like("ol_supply_w_id", warehouseBits), like("ol_delivery_d", dateBits),
			signed("ol_quantity", 8), signed("ol_amount", 32)},
	}, {
		Name: "stock",
		Key:  []store.Part{key("s_w_id", warehouseBits), key("s_i_id", itemBits)},
		Fields: []store.Field{signed("s_quantity", 16), signed("s_ytd", 32), unsigned("s_order_cnt", 32),
			unsigned("s_remote_cnt", 32)},
	},
}}

// Packed keys, in the widths of schema. The parts must be in range: see known.

func districtKey(w, d int32) uint64           { return uint64(w)<<districtBits | uint64(d) }
func customerKey(w, d, c int32) uint64        { return districtKey(w, d)<<customerBits | uint64(c) }
func orderKey(w, d, o int32) uint64           { return districtKey(w, d)<<orderBits | uint64(o) }
func lineKey(order uint64, number int) uint64 { return order<<lineBits | uint64(number) }
func stockKey(w, i int32) uint64              { return uint64(w)<<itemBits | uint64(i) }
func nameKey(w, d, last, c int32) uint64 {
	return (districtKey(w, d)<<lastBits|uint64(last))<<customerBits | uint64(c)
}
func byCustomerKey(w, d, c, order int32) uint64 {
	return customerKey(w, d, c)<<orderBits | uint64(order)
}

const (
	maxOrder    = 1<<orderBits - 1
	maxCustomer = 1<<customerBits - 1
	maxLine     = 1<<lineBits - 1
)

// known reports whether an id fits its width; one that does not is in no row.
func known(id int32, bits int) bool { return uint32(id) < 1<<bits }

// column says where a column of tpcc lies: in the key, or in a field.
type column struct {
	field int // -1: in the key
	shift int
	bits  int
}

func (c column) get(key uint64, fields store.Row) int64 {
	if c.field >= 0 {
		return fields.Get(c.field)
	}
	return int64(key >> c.shift & (1<<c.bits - 1))
}

// columns are those of each table, as schema has them.
var columns = func() (out [tpcc.NumTables][]column) {
	for i := range schema.Tables {
		t := &schema.Tables[i]
		shift := 0
		for _, p := range t.Key {
			shift += p.Bits
		}
		for _, p := range t.Key {
			shift -= p.Bits
			out[i] = append(out[i], column{-1, shift, p.Bits})
		}
		for f := range t.Fields {
			out[i] = append(out[i], column{field: f})
		}
	}
	return out
}()

// addRow loads one row.
func addRow(l *store.Loader, r *tpcc.Row) error {
	var key uint64
	cols := columns[r.Table]
	for i, c := range cols {
		if c.field < 0 {
			v := r.Col[i]
			if v < 0 || v>>c.bits != 0 {
				return fmt.Errorf("load %v: column %s does not fit %d bits", r, r.Table.Schema().Columns[i].Name, c.bits)
			}
			key |= uint64(v) << c.shift
		}
	}
	var m store.Mut
	if r.Table == tpcc.History {
		m = l.Append(histories)
	} else {
		var ok bool
		if m, ok = l.Insert(store.TableID(r.Table), key); !ok {
			return fmt.Errorf("load %v: there is a row with this key", r)
		}
	}
	for i, c := range cols {
		if c.field >= 0 {
			m.Set(c.field, r.Col[i])
		}
	}
	return nil
}
