package consistency

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tpccbench/tpcc"
)

func TestAnUnbrokenDatabasePasses(t *testing.T) {
	for _, s := range []tpcc.Scale{small, tpcc.TestScale(1), tpcc.TestScale(3), {Warehouses: 1, Items: 15, Customers: 1, Orders: 1},
		{Warehouses: 1, Items: 15, Customers: 3, Orders: 2, Undelivered: 2}} {
		mustBeClean(t, "just loaded", loaded(1, s).check())
	}
	mustBeClean(t, "standard scale", checkPopulation(tpcc.StandardScale(1)).Check())
	for seed := range uint64(3) {
		db, _ := afterRun(seed)
		mustBeClean(t, "after a run", db.check())
		db.do(seed, 2, tpcc.Weights{0, 0, 0, 1, 0}, 60, newRun(small)) // until all is delivered
		if db.find(tpcc.NewOrder, 1) != nil {
			t.Fatal("warehouse 1 still has new orders")
		}
		mustBeClean(t, "without new orders", db.check())
	}
}

func checkPopulation(s tpcc.Scale) *Checker {
	c := NewChecker(s)
	for r := range tpcc.Population(1, s) {
		if err := c.Add(r); err != nil {
			panic(err)
		}
	}
	return c
}

func TestRowsMayComeInAnyOrder(t *testing.T) {
	db, _ := afterRun(5)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(db.rows), func(i, j int) { db.rows[i], db.rows[j] = db.rows[j], db.rows[i] })
	mustBeClean(t, "shuffled", db.check())
	db.find(tpcc.Orders, 1, 1, 2).Col[tpcc.OCarrierID] = tpcc.Null
	mustFind(t, "shuffled", db.check(), 5, "warehouse 1, district 1, order 2")
}

// Rows of the small database at which the mutations below are made: in warehouse 1, district 1 order 2 is one of those
// loaded as delivered, order 12 is undelivered in a database that was just loaded.
var mutations = []struct {
	name   string
	change func(db *database)
	found  map[int]string // condition: where
}{
	// 1, 8
	{"w_ytd one cent more", add(tpcc.WYTD, 1, tpcc.Warehouse, 1), map[int]string{1: "warehouse 1", 8: "warehouse 1"}},
	{"w_ytd one cent less", add(tpcc.WYTD, -1, tpcc.Warehouse, 2), map[int]string{1: "warehouse 2", 8: "warehouse 2"}},
	{"no warehouse row", without(tpcc.Warehouse, 2), map[int]string{0: "warehouse 2", 1: "warehouse 2", 8: "warehouse 2"}},
	{"warehouse row twice", twice(tpcc.Warehouse, 1), map[int]string{0: "warehouse 1", 1: "warehouse 1", 8: "warehouse 1"}},
	{"a third warehouse", insert(tpcc.Warehouse, 3, 0, 0), map[int]string{0: "warehouse 3"}},

	// 1, 9
	{"d_ytd one cent more", add(tpcc.DYTD, 1, tpcc.District, 1, 2), map[int]string{1: "warehouse 1", 9: "warehouse 1, district 2"}},
	{"d_ytd one cent less", add(tpcc.DYTD, -1, tpcc.District, 1, 2), map[int]string{1: "warehouse 1", 9: "warehouse 1, district 2"}},
	{"no district row", without(tpcc.District, 2, 10), map[int]string{0: "warehouse 2, district 10", 1: "warehouse 2",
		2: "warehouse 2, district 10", 9: "warehouse 2, district 10"}},
	{"district row twice", twice(tpcc.District, 2, 3), map[int]string{0: "warehouse 2, district 3", 1: "warehouse 2",
		9: "warehouse 2, district 3"}},
	{"an eleventh district", insert(tpcc.District, 1, 11, 0, 0, 13), map[int]string{0: "warehouse 1, district 11"}},
	{"a district without a warehouse", insert(tpcc.District, 3, 1, 0, 0, 13), map[int]string{0: "warehouse 3, district 1"}},

	// 2
	{"d_next_o_id one more", add(tpcc.DNextOID, 1, tpcc.District, 1, 1), map[int]string{2: "warehouse 1, district 1"}},
	{"d_next_o_id one less", add(tpcc.DNextOID, -1, tpcc.District, 1, 1), map[int]string{2: "warehouse 1, district 1"}},
	{"the last order is missing", without(tpcc.Orders, 1, 1, 12), map[int]string{0: "orders, warehouse 1, district 1",
		2: "warehouse 1, district 1", 4: "warehouse 1, district 1", 5: "district 1, order 12", 6: "district 1, order 12",
		7: "district 1, order 12", 11: "warehouse 1, district 1"}},
	{"the last new order is missing", without(tpcc.NewOrder, 1, 1, 12), map[int]string{2: "warehouse 1, district 1",
		5: "district 1, order 12", 11: "warehouse 1, district 1"}},
	{"a new order beyond the last", insert(tpcc.NewOrder, 1, 1, 13), map[int]string{2: "warehouse 1, district 1",
		5: "district 1, order 13", 11: "warehouse 1, district 1"}},
	{"an order beyond the last", insert(tpcc.Orders, 1, 1, 13, 1, 1, 1, 5, 1), map[int]string{2: "warehouse 1, district 1",
		4: "warehouse 1, district 1", 6: "district 1, order 13", 11: "warehouse 1, district 1"}},
	{"a gap before the last order", insert(tpcc.Orders, 1, 1, 14, 1, 1, 1, 5, 1), map[int]string{0: "orders, warehouse 1, district 1",
		2: "warehouse 1, district 1"}},
	{"an absurd o_id", insert(tpcc.Orders, 1, 1, 1<<40, 1, 1, 1, 5, 1), map[int]string{0: "order 1099511627776"}},
	{"o_id 0", insert(tpcc.Orders, 1, 1, 0, 1, 1, 1, 5, 1), map[int]string{0: "orders, warehouse 1, district 1"}},

	// 3
	{"a new order in the middle is missing", without(tpcc.NewOrder, 1, 1, 10), map[int]string{3: "warehouse 1, district 1",
		5: "district 1, order 10", 11: "warehouse 1, district 1"}},
	{"a new order too early", insert(tpcc.NewOrder, 1, 1, 5), map[int]string{3: "warehouse 1, district 1",
		5: "district 1, order 5", 11: "warehouse 1, district 1"}},
	{"new order twice", twice(tpcc.NewOrder, 1, 1, 10), map[int]string{0: "district 1, order 10", 3: "warehouse 1, district 1",
		11: "warehouse 1, district 1"}},
	{"no_o_id one more", add(tpcc.NOOID, 1, tpcc.NewOrder, 1, 1, 12), map[int]string{2: "warehouse 1, district 1",
		3: "warehouse 1, district 1", 5: "district 1, order 13"}},

	// 4, 6
	{"o_ol_cnt one more", add(tpcc.OOlCnt, 1, tpcc.Orders, 1, 1, 2), map[int]string{4: "warehouse 1, district 1", 6: "order 2"}},
	{"o_ol_cnt one less", add(tpcc.OOlCnt, -1, tpcc.Orders, 1, 1, 2), map[int]string{4: "warehouse 1, district 1", 6: "order 2"}},
	{"a line is missing", without(tpcc.OrderLine, 1, 1, 2, 3), map[int]string{4: "warehouse 1, district 1", 6: "district 1, order 2"}},
	{"a line more", insert(tpcc.OrderLine, 1, 1, 2, 15, 1, 1, 5, 5, 0), map[int]string{4: "warehouse 1, district 1",
		6: "district 1, order 2"}},
	{"line twice", twice(tpcc.OrderLine, 1, 1, 2, 3), map[int]string{0: "district 1, order 2, line 3", 4: "warehouse 1, district 1",
		6: "district 1, order 2"}},
	{"a line in the place of another", func(db *database) {
		db.remove(db.find(tpcc.OrderLine, 1, 1, 2, 3))
		db.insert(tpcc.OrderLine, 1, 1, 2, 15, 1, 1, 5, 5, 0)
	}, map[int]string{6: "district 1, order 2"}},
	{"a line of no order", insert(tpcc.OrderLine, 1, 1, 999, 1, 1, 1, tpcc.Null, 5, 0), map[int]string{4: "warehouse 1, district 1",
		6: "district 1, order 999", 7: "district 1, order 999"}},
	{"a line of another order of the district", add(tpcc.OLOID, 1, tpcc.OrderLine, 1, 1, 2, 3), map[int]string{6: "order 2"}},
	{"an order in the middle is missing", without(tpcc.Orders, 2, 3, 7), map[int]string{0: "orders, warehouse 2, district 3",
		4: "warehouse 2, district 3", 6: "district 3, order 7", 7: "district 3, order 7", 11: "warehouse 2, district 3"}},
	{"order twice", twice(tpcc.Orders, 2, 3, 7), map[int]string{0: "warehouse 2, district 3, order 7", 4: "warehouse 2, district 3",
		11: "warehouse 2, district 3"}},

	// 5, 7
	{"o_carrier_id null of a delivered order", set(tpcc.OCarrierID, tpcc.Null, tpcc.Orders, 1, 1, 2),
		map[int]string{5: "district 1, order 2", 7: "district 1, order 2, line 1"}},
	{"o_carrier_id set of an undelivered order", set(tpcc.OCarrierID, 1, tpcc.Orders, 1, 1, 12),
		map[int]string{5: "district 1, order 12", 7: "district 1, order 12, line 1"}},
	{"o_carrier_id 11", set(tpcc.OCarrierID, 11, tpcc.Orders, 1, 1, 2), map[int]string{0: "district 1, order 2"}},
	{"ol_delivery_d null of a delivered line", set(tpcc.OLDeliveryD, tpcc.Null, tpcc.OrderLine, 1, 1, 2, 3),
		map[int]string{7: "district 1, order 2, line 3"}},
	{"ol_delivery_d set of an undelivered line", set(tpcc.OLDeliveryD, 1, tpcc.OrderLine, 1, 1, 12, 3),
		map[int]string{7: "district 1, order 12, line 3", 10: "warehouse 1, district 1", 12: "warehouse 1, district 1"}},

	// 8, 9, 10, 13
	{"h_amount one cent more", add(tpcc.HAmount, 1, tpcc.History, 3, 1, 2), map[int]string{8: "warehouse 2", 9: "district 1",
		10: "warehouse 2, district 1, customer 3"}},
	{"a history row is missing", without(tpcc.History, 3, 1, 2), map[int]string{0: "history, warehouse 2, district 1",
		8: "warehouse 2", 9: "warehouse 2, district 1", 10: "district 1, customer 3", 13: "district 1, customer 3"}},
	{"history row twice", twice(tpcc.History, 3, 1, 2), map[int]string{8: "warehouse 2", 9: "warehouse 2, district 1",
		10: "district 1, customer 3", 13: "district 1, customer 3"}},
	{"a payment in another district", set(tpcc.HDID, 2, tpcc.History, 3, 1, 2), map[int]string{9: "warehouse 2, district 2"}},
	{"a payment in another warehouse", set(tpcc.HWID, 1, tpcc.History, 3, 1, 2), map[int]string{8: "warehouse 1",
		9: "warehouse 1, district 1"}},
	{"a payment of another customer", set(tpcc.HCID, 4, tpcc.History, 3, 1, 2), map[int]string{10: "customer 4", 13: "customer 3"}},
	{"a payment of no customer", set(tpcc.HCID, 13, tpcc.History, 3, 1, 2), map[int]string{0: "history, warehouse 2, district 1, customer 13",
		10: "customer 3"}},

	// 10, 12
	{"c_balance one cent more", add(tpcc.CBalance, 1, tpcc.Customer, 1, 4, 5), map[int]string{10: "district 4, customer 5",
		12: "district 4, customer 5"}},
	{"c_balance one cent less", add(tpcc.CBalance, -1, tpcc.Customer, 1, 4, 5), map[int]string{10: "district 4, customer 5",
		12: "district 4, customer 5"}},
	{"c_ytd_payment one cent more", add(tpcc.CYTDPayment, 1, tpcc.Customer, 1, 4, 5), map[int]string{12: "district 4, customer 5"}},
	{"a delivered ol_amount one cent more", add(tpcc.OLAmount, 1, tpcc.OrderLine, 1, 4, 5, 1), map[int]string{10: "warehouse 1, district 4",
		12: "warehouse 1, district 4"}},
	{"a delivered order of another customer", func(db *database) {
		db.find(tpcc.OrderLine, 1, 4, 5, 1).Col[tpcc.OLAmount] = 7
		o := db.find(tpcc.Orders, 1, 4, 5)
		db.find(tpcc.Customer, 1, 4, o.Col[tpcc.OCID]).Col[tpcc.CBalance] += 7
		o.Col[tpcc.OCID] = o.Col[tpcc.OCID]%12 + 1
	}, map[int]string{10: "warehouse 1, district 4", 12: "warehouse 1, district 4"}},
	{"an order of no customer", set(tpcc.OCID, 13, tpcc.Orders, 1, 4, 5), map[int]string{0: "orders, warehouse 1, district 4, order 5"}},
	{"no customer row", without(tpcc.Customer, 1, 4, 5), map[int]string{0: "customer, warehouse 1, district 4, customer 5",
		10: "district 4, customer 5", 12: "district 4, customer 5"}},
	{"customer row twice", twice(tpcc.Customer, 1, 4, 5), map[int]string{0: "district 4, customer 5", 10: "district 4, customer 5"}},
	{"a customer more", insert(tpcc.Customer, 1, 4, 13), map[int]string{0: "customer, warehouse 1, district 4, customer 13"}},

	// 11
	{"c_delivery_cnt one more", add(tpcc.CDeliveryCnt, 1, tpcc.Customer, 2, 4, 5), map[int]string{11: "warehouse 2, district 4"}},
	{"c_delivery_cnt one less", add(tpcc.CDeliveryCnt, -1, tpcc.Customer, 2, 4, 5), map[int]string{11: "warehouse 2, district 4"}},
	{"a delivery that the customer does not know of", func(db *database) {
		db.remove(db.find(tpcc.NewOrder, 1, 1, 9))
		db.find(tpcc.Orders, 1, 1, 9).Col[tpcc.OCarrierID] = 1
	}, map[int]string{7: "district 1, order 9", 11: "warehouse 1, district 1"}},

	// 13, 14, 15
	{"c_payment_cnt one more", add(tpcc.CPaymentCnt, 1, tpcc.Customer, 2, 4, 5), map[int]string{13: "district 4, customer 5"}},
	{"s_ytd one more", add(tpcc.SYTD, 1, tpcc.Stock, 2, 4), map[int]string{14: "warehouse 2, item 4"}},
	{"s_order_cnt one less", add(tpcc.SOrderCnt, -1, tpcc.Stock, 2, 4), map[int]string{14: "warehouse 2, item 4"}},
	{"s_remote_cnt one more", add(tpcc.SRemoteCnt, 1, tpcc.Stock, 2, 4), map[int]string{14: "warehouse 2, item 4"}},
	{"o_all_local wrong", set(tpcc.OAllLocal, 0, tpcc.Orders, 1, 1, 2), map[int]string{15: "district 1, order 2"}},
	{"a remote line of a local order", set(tpcc.OLSupplyWID, 2, tpcc.OrderLine, 1, 1, 2, 3), map[int]string{15: "district 1, order 2"}},

	// 0
	{"no item row", without(tpcc.Item, 40), map[int]string{0: "item, item 40"}},
	{"item row twice", twice(tpcc.Item, 7), map[int]string{0: "item, item 7"}},
	{"an item more", insert(tpcc.Item, 41, 1, 100), map[int]string{0: "item, item 41"}},
	{"no stock row", without(tpcc.Stock, 2, 7), map[int]string{0: "stock, warehouse 2, item 7"}},
	{"stock row twice", twice(tpcc.Stock, 2, 7), map[int]string{0: "stock, warehouse 2, item 7"}},
	{"stock of no warehouse", insert(tpcc.Stock, 3, 7, 50), map[int]string{0: "stock, warehouse 3, item 7"}},
	{"a line of no item", set(tpcc.OLIID, 41, tpcc.OrderLine, 1, 1, 2, 3), map[int]string{0: "district 1, order 2, line 3"}},
	{"a line from no warehouse", set(tpcc.OLSupplyWID, 3, tpcc.OrderLine, 1, 1, 2, 3), map[int]string{0: "order 2, line 3"}},
	{"quantity 11", set(tpcc.OLQuantity, 11, tpcc.OrderLine, 1, 1, 2, 3), map[int]string{0: "order 2, line 3"}},
	{"ol_number 0", set(tpcc.OLNumber, 0, tpcc.OrderLine, 1, 1, 2, 3), map[int]string{0: "order_line, warehouse 1, district 1, order 2",
		6: "district 1, order 2"}},
	{"16 lines", set(tpcc.OOlCnt, 16, tpcc.Orders, 1, 1, 2), map[int]string{0: "district 1, order 2", 4: "warehouse 1, district 1",
		6: "district 1, order 2"}},

	// tables
	{"ITEM empty", emptied(tpcc.Item), map[int]string{0: "item, item 1"}},
	{"WAREHOUSE empty", emptied(tpcc.Warehouse), map[int]string{0: "warehouse 1", 1: "warehouse 1", 8: "warehouse 1"}},
	{"DISTRICT empty", emptied(tpcc.District), map[int]string{0: "district 1", 1: "warehouse 1", 2: "district 1", 9: "district 1"}},
	{"CUSTOMER empty", emptied(tpcc.Customer), map[int]string{0: "customer 1", 10: "customer 1", 12: "customer 1"}},
	{"HISTORY empty", emptied(tpcc.History), map[int]string{0: "history", 8: "warehouse 1", 9: "district 1", 10: "customer 1"}},
	{"ORDERS empty", emptied(tpcc.Orders), map[int]string{0: "orders", 2: "district 1", 4: "district 1", 5: "order 9",
		6: "order 1", 7: "order 1", 11: "district 1"}},
	{"NEW_ORDER empty", emptied(tpcc.NewOrder), map[int]string{5: "order 9", 11: "district 1"}},
	{"ORDER_LINE empty", emptied(tpcc.OrderLine), map[int]string{4: "district 1", 6: "order 1"}},
	{"STOCK empty", emptied(tpcc.Stock), map[int]string{0: "stock, warehouse 1, item 1"}},
	{"everything empty", func(db *database) { db.rows = nil }, map[int]string{0: "item 1", 1: "warehouse 1", 10: "customer 1"}},
}

func add(column int, by int64, t tpcc.Table, key ...int64) func(*database) {
	return func(db *database) { must(db, t, key).Col[column] += by }
}

func set(column int, to int64, t tpcc.Table, key ...int64) func(*database) {
	return func(db *database) { must(db, t, key).Col[column] = to }
}

func without(t tpcc.Table, key ...int64) func(*database) {
	return func(db *database) { db.remove(must(db, t, key)) }
}

func twice(t tpcc.Table, key ...int64) func(*database) {
	return func(db *database) {
		r := *must(db, t, key)
		db.rows = append(db.rows, &r)
	}
}

func insert(t tpcc.Table, columns ...int64) func(*database) {
	return func(db *database) { db.insert(t, columns...) }
}

func emptied(t tpcc.Table) func(*database) {
	return func(db *database) {
		for _, r := range slices.Clone(db.rows) {
			if r.Table == t {
				db.remove(r)
			}
		}
	}
}

func must(db *database, t tpcc.Table, key []int64) *tpcc.Row {
	r := db.find(t, key...)
	if r == nil {
		panic("the test's database has no such row")
	}
	return r
}

func TestEveryMutationIsFoundAndNamed(t *testing.T) {
	broken := map[int]bool{}
	for _, m := range mutations {
		db := loaded(1, small)
		m.change(db)
		list := db.check()
		for number, where := range m.found {
			mustFind(t, m.name, list, number, where)
			broken[number] = true
		}
	}
	for _, c := range Conditions() {
		if !broken[c.Number] {
			t.Errorf("no mutation breaks condition %d", c.Number)
		}
	}
}

// In a database after a run, every column that a condition speaks of is found when it is off by one, and every row when
// it is missing or there twice.
func TestEveryRowMattersAfterARun(t *testing.T) {
	db, _ := afterRun(7)
	checked := [tpcc.NumTables][]int{
		tpcc.Warehouse: {tpcc.WID, tpcc.WYTD},
		tpcc.District:  {tpcc.DWID, tpcc.DID, tpcc.DYTD, tpcc.DNextOID},
		tpcc.Customer:  {tpcc.CWID, tpcc.CDID, tpcc.CID, tpcc.CBalance, tpcc.CYTDPayment, tpcc.CPaymentCnt, tpcc.CDeliveryCnt},
		tpcc.History:   {tpcc.HCID, tpcc.HCDID, tpcc.HCWID, tpcc.HDID, tpcc.HWID, tpcc.HAmount},
		tpcc.Orders:    {tpcc.OWID, tpcc.ODID, tpcc.OID, tpcc.OOlCnt, tpcc.OAllLocal},
		tpcc.NewOrder:  {tpcc.NOWID, tpcc.NODID, tpcc.NOOID},
		tpcc.OrderLine: {tpcc.OLWID, tpcc.OLDID, tpcc.OLOID, tpcc.OLNumber},
		tpcc.Stock:     {tpcc.SWID, tpcc.SIID, tpcc.SYTD, tpcc.SOrderCnt, tpcc.SRemoteCnt},
	}
	const seed = 7
	rnd := rand.New(rand.NewPCG(seed, seed))
	var sample []*tpcc.Row // three of each table
	for _, table := range tpcc.Tables {
		var of []*tpcc.Row
		for _, r := range db.rows {
			if r.Table == table {
				of = append(of, r)
			}
		}
		for range 3 {
			sample = append(sample, of[rnd.IntN(len(of))])
		}
	}
	for _, r := range sample {
		before := *r
		for _, column := range checked[r.Table] {
			for _, by := range []int64{1, -1} {
				r.Col[column] += by
				if db.check() == nil {
					t.Errorf("seed %d: %s: %s changed by %d is not found", seed, &before, r.Table.Schema().Columns[column].Name, by)
				}
				*r = before
			}
		}
		all := db.rows
		db.rows = append(slices.Clone(all), &before)
		if db.check() == nil {
			t.Errorf("seed %d: %s: found twice is not found", seed, r)
		}
		db.rows = slices.Clone(all)
		db.remove(r)
		if db.check() == nil {
			t.Errorf("seed %d: %s: its absence is not found", seed, r)
		}
		db.rows = all
	}
	mustBeClean(t, "after all mutations were undone", db.check())
}

func TestViolationsAreCappedAndCounted(t *testing.T) {
	db := loaded(1, small)
	emptied(tpcc.Stock)(db)
	list := db.check()
	if len(list) != Listed || list[Listed-1].More != 80-Listed || Count(list) != 80 {
		t.Errorf("%d listed, %d counted, of 80", len(list), Count(list))
	}
	if s := list[Listed-1].String(); !strings.Contains(s, "70 more") {
		t.Errorf("%q does not say that there are 70 more", s)
	}
	want := "clause 1.3 (keys, counts and ranges of the rows): stock, warehouse 1, item 1: rows with this key: expected 1, found no row"
	if list[0].String() != want {
		t.Errorf("%q, not %q", list[0], want)
	}
	db = loaded(1, small)
	add(tpcc.WYTD, -1, tpcc.Warehouse, 1)(db)
	want = "clause 3.3.2.1 (W_YTD = sum(D_YTD)): warehouse 1: w_ytd: expected 1200.00, found 1199.99"
	if list = db.check(); list[0].String() != want {
		t.Errorf("%q, not %q", list[0], want)
	}
}

func TestCheckMayBeCalledAgain(t *testing.T) {
	db, _ := afterRun(1)
	c := NewChecker(small)
	for i, r := range db.rows {
		if i == len(db.rows)/2 {
			c.Check()
		}
		_ = c.Add(r)
	}
	mustBeClean(t, "first", c.Check())
	mustBeClean(t, "second", c.Check())
	_ = c.Add(db.find(tpcc.Item, 1))
	if a, b := Count(c.Check()), Count(c.Check()); a != 1 || b != 1 {
		t.Errorf("%d and %d violations, not 1", a, b)
	}
	for range 3 {
		_ = c.Add(db.find(tpcc.Item, 1))
	}
	_ = c.Add(db.find(tpcc.Warehouse, 1))
	list := c.Check()
	before := slices.Clone(list)
	_ = c.Add(db.find(tpcc.Item, 2))
	c.Check()
	if !slices.Equal(list, before) {
		t.Error("a second Check has changed the list of the first")
	}
}

func TestRowsAndStateBytes(t *testing.T) {
	c := checkPopulation(tpcc.StandardScale(1))
	rows := c.Rows()
	lines := rows[tpcc.OrderLine]
	if want := [tpcc.NumTables]int64{100_000, 1, 10, 30_000, 30_000, 30_000, 9_000, lines, 100_000}; rows != want {
		t.Errorf("rows are %d, not %d", rows, want)
	}
	want := 100_000*7 + 1*12 + 10*17 + 30_000*50 + 30_000*20 + 30_000*20 + 9_000*7 + lines*26 + 100_000*19
	if c.StateBytes() != want {
		t.Errorf("state is %d bytes, not %d", c.StateBytes(), want)
	}
}

func TestAddRefusesARowOfNoTable(t *testing.T) {
	if err := NewChecker(small).Add(&tpcc.Row{Table: 9}); err == nil {
		t.Error("no error")
	}
}

// BenchmarkAdd is the rows of one warehouse, and BenchmarkCheck the conditions on them.
func BenchmarkAdd(b *testing.B) {
	s := tpcc.StandardScale(1)
	var rows []tpcc.Row
	for r := range tpcc.Population(1, s) {
		rows = append(rows, *r)
	}
	b.ReportAllocs()
	for b.Loop() {
		c := NewChecker(s)
		for i := range rows {
			_ = c.Add(&rows[i])
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(rows)), "ns/row")
}

func BenchmarkCheck(b *testing.B) {
	c := checkPopulation(tpcc.StandardScale(1))
	b.ReportAllocs()
	for b.Loop() {
		if c.Check() != nil {
			b.Fatal("violations")
		}
	}
}
