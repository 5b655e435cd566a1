package tpcc

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"testing"
)

// rowCounts are those of clause 4.3.3.1 for one warehouse; ORDER_LINE varies.
var rowCounts = [NumTables]int64{Item: 100_000, Warehouse: 1, District: 10, Customer: 30_000, History: 30_000, Orders: 30_000,
	NewOrder: 9_000, Stock: 100_000}

// columnRanges are the values that clause 4.3.3.1 lets a column have at one warehouse, both ends of which must occur.
// Columns that depend on the row are in TestPopulationColumnsThatDependOnTheRow.
var columnRanges = [NumTables]map[int][2]int64{
	Item:      {IID: {1, 100_000}, IImID: {1, 10_000}, IPrice: {100, 10_000}},
	Warehouse: {WID: {1, 1}, WYTD: {300_000_00, 300_000_00}},
	District:  {DWID: {1, 1}, DID: {1, 10}, DYTD: {30_000_00, 30_000_00}, DNextOID: {3001, 3001}},
	Customer: {CWID: {1, 1}, CDID: {1, 10}, CID: {1, 3000}, CLast: {0, 999}, CSince: {LoadDate + 1, LoadDate + 3000},
		CCredit: {0, 1}, CCreditLim: {50_000_00, 50_000_00}, CDiscount: {0, 5000}, CBalance: {-10_00, -10_00},
		CYTDPayment: {10_00, 10_00}, CPaymentCnt: {1, 1}, CDeliveryCnt: {0, 0}},
	History: {HCID: {1, 3000}, HCDID: {1, 10}, HCWID: {1, 1}, HDID: {1, 10}, HWID: {1, 1}, HDate: {LoadDate + 1, LoadDate + 3000},
		HAmount: {10_00, 10_00}},
	Orders: {OWID: {1, 1}, ODID: {1, 10}, OID: {1, 3000}, OCID: {1, 3000}, OEntryD: {LoadDate + 1, LoadDate + 3000},
		OCarrierID: {Null, 10}, OOlCnt: {5, 15}, OAllLocal: {1, 1}},
	NewOrder: {NOWID: {1, 1}, NODID: {1, 10}, NOOID: {2101, 3000}},
	OrderLine: {OLWID: {1, 1}, OLDID: {1, 10}, OLOID: {1, 3000}, OLNumber: {1, 15}, OLIID: {1, 100_000}, OLSupplyWID: {1, 1},
		OLDeliveryD: {Null, LoadDate + 2100}, OLQuantity: {5, 5}},
	Stock: {SWID: {1, 1}, SIID: {1, 100_000}, SQuantity: {10, 100}, SYTD: {0, 0}, SOrderCnt: {0, 0}, SRemoteCnt: {0, 0}},
}

func TestPopulationCountsAndRanges(t *testing.T) {
	var counts [NumTables]int64
	var lowest, highest [NumTables][MaxColumns]int64
	last := Row{}
	for r := range Population(1, StandardScale(1)) {
		first := counts[r.Table] == 0
		counts[r.Table]++
		width := len(r.Table.Schema().Columns)
		for i, v := range r.Col {
			if i >= width && v != 0 {
				t.Fatalf("%s: column %d beyond the table's columns is %d", r, i, v)
			}
			if first || v < lowest[r.Table][i] {
				lowest[r.Table][i] = v
			}
			if first || v > highest[r.Table][i] {
				highest[r.Table][i] = v
			}
		}
		if !first || r.Table != Item {
			inOrder(t, &last, r)
		}
		last = *r
	}
	for _, table := range Tables {
		if table != OrderLine && counts[table] != rowCounts[table] {
			t.Errorf("%s has %d rows, not %d", table, counts[table], rowCounts[table])
		}
		for i, want := range columnRanges[table] {
			if got := [2]int64{lowest[table][i], highest[table][i]}; got != want {
				t.Errorf("%s.%s is within %d, not %d", table, table.Schema().Columns[i].Name, got, want)
			}
		}
	}
	if n := counts[OrderLine]; n < 295_000 || n > 305_000 {
		t.Errorf("order_line has %d rows, about 300,000 are expected", n)
	}
}

// inOrder fails unless b may follow a in a snapshot. HISTORY stands in the order of its customers' keys.
func inOrder(t *testing.T, a, b *Row) {
	t.Helper()
	if a.Table != b.Table {
		if a.Table >= b.Table {
			t.Fatalf("%s comes after %s", b, a)
		}
		return
	}
	key := []int{0, 1, 2, 3}[:b.Table.Schema().Key]
	if b.Table == History {
		key = []int{HCWID, HCDID, HCID}
	}
	for _, i := range key {
		if a.Col[i] != b.Col[i] {
			if a.Col[i] > b.Col[i] {
				t.Fatalf("%s comes after %s", b, a)
			}
			return
		}
	}
	t.Fatalf("the key of %s comes twice", b)
}

func TestPopulationColumnsThatDependOnTheRow(t *testing.T) {
	type order struct{ customer, entry, carrier, lines int64 }
	orders := map[[2]int64]order{} // by O_D_ID, O_ID
	newOrders := map[[2]int64]bool{}
	lines := map[[2]int64]int64{}
	permuted := map[[2]int64]bool{}
	for r := range Population(2, StandardScale(1)) {
		c := &r.Col
		switch r.Table {
		case Customer:
			if c[CID] <= 1000 && c[CLast] != c[CID]-1 {
				t.Fatalf("%s: customers 1 to 1000 take the last names 0 to 999 in turn", r)
			}
		case History:
			if c[HCDID] != c[HDID] || c[HCWID] != c[HWID] {
				t.Fatalf("%s: a customer's own district is expected", r)
			}
		case Orders:
			orders[[2]int64{c[ODID], c[OID]}] = order{c[OCID], c[OEntryD], c[OCarrierID], c[OOlCnt]}
			permuted[[2]int64{c[ODID], c[OCID]}] = true
			if (c[OID] < 2101) != (c[OCarrierID] != Null) {
				t.Fatalf("%s: a carrier is expected below order 2101 only", r)
			}
		case NewOrder:
			newOrders[[2]int64{c[NODID], c[NOOID]}] = true
		case OrderLine:
			k := [2]int64{c[OLDID], c[OLOID]}
			lines[k]++
			delivered := c[OLOID] < 2101
			if delivered && (c[OLDeliveryD] != orders[k].entry || c[OLAmount] != 0) {
				t.Fatalf("%s: O_ENTRY_D and 0.00 are expected", r)
			}
			if !delivered && (c[OLDeliveryD] != Null || c[OLAmount] < 1 || c[OLAmount] > 9_999_99) {
				t.Fatalf("%s: null and 0.01 to 9,999.99 are expected", r)
			}
			if c[OLNumber] != lines[k] {
				t.Fatalf("%s: line %d is expected", r, lines[k])
			}
		}
	}
	if len(permuted) != 30_000 {
		t.Errorf("O_C_ID takes %d customers, not every one once", len(permuted))
	}
	for k, o := range orders {
		if o.lines != lines[k] {
			t.Fatalf("district %d order %d has %d lines, O_OL_CNT is %d", k[0], k[1], lines[k], o.lines)
		}
		if newOrders[k] != (o.carrier == Null) {
			t.Fatalf("district %d order %d: new-order row and carrier do not agree", k[0], k[1])
		}
	}
}

func TestPopulationDistributions(t *testing.T) {
	const seed = 3
	imID, price := newCounter(1, 10_000), newCounter(100, 10_000)
	discount, quantity := newCounter(0, 5000), newCounter(10, 100)
	carrier, lines, item := newCounter(1, 10), newCounter(5, 15), newCounter(1, 100_000)
	last := newCounter(0, 999)
	amount := newCounter(0, 99) // in 10,000 cents
	tax := newCounter(0, 20)    // in 100 basis points
	var badOf [Districts + 1]int64
	fixedPoints := int64(0)
	for r := range Population(seed, StandardScale(1)) {
		c := &r.Col
		switch r.Table {
		case Item:
			imID.add(t, "i_im_id", c[IImID])
			price.add(t, "i_price", c[IPrice])
		case Customer:
			discount.add(t, "c_discount", c[CDiscount])
			if c[CID] > 1000 {
				last.add(t, "c_last", c[CLast])
			}
			if c[CCredit] == BadCredit {
				badOf[c[CDID]]++
			}
		case Orders:
			if c[OCarrierID] != Null {
				carrier.add(t, "o_carrier_id", c[OCarrierID])
			}
			lines.add(t, "o_ol_cnt", c[OOlCnt])
			if c[OCID] == c[OID] {
				fixedPoints++
			}
		case OrderLine:
			item.add(t, "ol_i_id", c[OLIID])
			if c[OLDeliveryD] == Null {
				amount.add(t, "ol_amount", c[OLAmount]/10_000)
			}
		case Stock:
			quantity.add(t, "s_quantity", c[SQuantity])
		}
	}
	for r := range Population(seed, Scale{Warehouses: 300, Items: 15, Customers: 1, Orders: 1}) {
		switch r.Table {
		case Warehouse:
			tax.add(t, "w_tax", r.Col[WTax]/100)
		case District:
			tax.add(t, "d_tax", r.Col[DTax]/100)
		}
	}
	imID.uniform(t, "i_im_id")
	price.uniform(t, "i_price")
	discount.uniform(t, "c_discount")
	carrier.uniform(t, "o_carrier_id")
	lines.uniform(t, "o_ol_cnt")
	item.uniform(t, "ol_i_id")
	amount.uniform(t, "ol_amount")
	quantity.uniform(t, "s_quantity")
	last.fits(t, "c_last", nuRandProbabilities(ALast, NewConstants(seed).LastLoad, 0, 999))
	taxes := make([]float64, 21) // 20 whole hundreds and 2000 itself
	for i := range 20 {
		taxes[i] = 100.0 / 2001
	}
	taxes[20] = 1.0 / 2001
	tax.fits(t, "taxes", taxes)
	total := int64(0)
	for d := 1; d <= Districts; d++ {
		share(t, "bad credit in a district", badOf[d], 3000, 0.1)
		total += badOf[d]
	}
	share(t, "bad credit", total, 30_000, 0.1)
	if total == 3_000 {
		t.Error("bad credit is exactly 10 %: it must be drawn per customer")
	}
	// A random permutation has one fixed point on average, whatever its size: ten districts have 10, with variance 10.
	if fixedPoints > 25 {
		t.Errorf("O_C_ID is O_ID in %d orders: that is no random permutation", fixedPoints)
	}
}

// digestOf is a digest of rows, for comparisons within this test.
func digestOf(keep func(*Row) bool, seed uint64, s Scale) string {
	sum := sha256.New()
	buf := make([]byte, 0, 8*(1+MaxColumns))
	for r := range Population(seed, s) {
		if keep(r) {
			buf = append(buf[:0], byte(r.Table))
			for _, v := range r.Col {
				buf = binary.LittleEndian.AppendUint64(buf, uint64(v))
			}
			sum.Write(buf)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// The digests are of the rows that this version makes. They change only if the population does, and then results of
// before and after cannot be compared.
func TestPopulationIsTheSameForever(t *testing.T) {
	all := func(*Row) bool { return true }
	for _, g := range []struct {
		seed uint64
		s    Scale
		want string
	}{
		{1, TestScale(2), goldenPopulationTest},
		{1, StandardScale(1), goldenPopulationStandard},
	} {
		if got := digestOf(all, g.seed, g.s); got != g.want {
			t.Errorf("seed %d, %+v: digest %s, not %s", g.seed, g.s, got, g.want)
		}
	}
	if digestOf(all, 1, TestScale(1)) == digestOf(all, 2, TestScale(1)) {
		t.Error("two seeds give the same rows")
	}
}

func TestPopulationOfAWarehouseDoesNotDependOnTheOthers(t *testing.T) {
	first := func(r *Row) bool {
		switch r.Table {
		case Item:
			return true
		case History:
			return r.Col[HWID] == 1
		}
		return r.Col[0] == 1
	}
	if digestOf(first, 5, TestScale(1)) != digestOf(first, 5, TestScale(3)) {
		t.Error("warehouse 1 of three differs from the only one")
	}
}

func TestPopulationOfATableDoesNotDependOnTheOthers(t *testing.T) {
	only := func(tables ...Table) func(*Row) bool {
		return func(r *Row) bool {
			for _, table := range tables {
				if r.Table == table {
					return true
				}
			}
			return false
		}
	}
	s, items, undelivered := TestScale(1), TestScale(1), TestScale(1)
	items.Items = 500
	undelivered.Undelivered = 0
	if keep := only(Warehouse, District, Customer, History, Orders, NewOrder); digestOf(keep, 5, s) != digestOf(keep, 5, items) {
		t.Error("the number of items changes other tables")
	}
	if keep := only(Item, Warehouse, District, Customer, History, Stock); digestOf(keep, 5, s) != digestOf(keep, 5, undelivered) {
		t.Error("the orders change other tables")
	}
}

func TestPopulationStopsWhenAsked(t *testing.T) {
	total := 0
	for range Population(1, TestScale(1)) {
		total++
	}
	for stop := 1; stop <= total; stop += 97 {
		n := 0
		for range Population(1, TestScale(1)) {
			if n++; n == stop { // a row after the break would panic
				break
			}
		}
	}
}
