package sqltpcc

import (
	"strings"
	"testing"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// openTest opens a store in dir that the test closes.
func openTest(t *testing.T, dir string, settings map[string]string) *Store {
	t.Helper()
	s, err := Open(dir, engines.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// loadTest is openTest with the test population of w warehouses.
func loadTest(t *testing.T, w int, settings map[string]string) *Store {
	t.Helper()
	s := openTest(t, t.TempDir(), settings)
	if err := s.Load(tpcc.Population(1, tpcc.TestScale(w))); err != nil {
		t.Fatal(err)
	}
	return s
}

// connectTest opens a connection that the test closes.
func connectTest(t *testing.T, s *Store) *Conn {
	t.Helper()
	c, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// plans are EXPLAIN QUERY PLAN's details of every statement that has a plan.
var plans = map[string]string{
	"WAREHOUSE_TAX":     "SEARCH warehouse USING INTEGER PRIMARY KEY (rowid=?)",
	"WAREHOUSE_PAY":     "SEARCH warehouse USING INTEGER PRIMARY KEY (rowid=?)",
	"DISTRICT_NEXT":     "SEARCH district USING PRIMARY KEY (d_w_id=? AND d_id=?)",
	"DISTRICT_TAX":      "SEARCH district USING PRIMARY KEY (d_w_id=? AND d_id=?)",
	"DISTRICT_ORDER":    "SEARCH district USING PRIMARY KEY (d_w_id=? AND d_id=?)",
	"DISTRICT_PAY":      "SEARCH district USING PRIMARY KEY (d_w_id=? AND d_id=?)",
	"CUSTOMER_DISCOUNT": "SEARCH customer USING PRIMARY KEY (c_w_id=? AND c_d_id=? AND c_id=?)",
	"CUSTOMER_BY_NAME":  "SEARCH customer USING COVERING INDEX customer_name (c_w_id=? AND c_d_id=? AND c_last=?)",
	"CUSTOMER_BALANCE":  "SEARCH customer USING PRIMARY KEY (c_w_id=? AND c_d_id=? AND c_id=?)",
	"CUSTOMER_ACCOUNT":  "SEARCH customer USING PRIMARY KEY (c_w_id=? AND c_d_id=? AND c_id=?)",
	"CUSTOMER_PAY":      "SEARCH customer USING PRIMARY KEY (c_w_id=? AND c_d_id=? AND c_id=?)",
	"CUSTOMER_DELIVER":  "SEARCH customer USING PRIMARY KEY (c_w_id=? AND c_d_id=? AND c_id=?)",
	"ORDERS_NEWEST":     "SEARCH orders USING INDEX orders_customer (o_w_id=? AND o_d_id=? AND o_c_id=?)",
	"ORDERS_CUSTOMER":   "SEARCH orders USING PRIMARY KEY (o_w_id=? AND o_d_id=? AND o_id=?)",
	"ORDERS_DELIVER":    "SEARCH orders USING PRIMARY KEY (o_w_id=? AND o_d_id=? AND o_id=?)",
	"NEW_ORDER_OLDEST":  "SEARCH new_order USING PRIMARY KEY (no_w_id=? AND no_d_id=?)",
	"NEW_ORDER_DELETE":  "SEARCH new_order USING PRIMARY KEY (no_w_id=? AND no_d_id=? AND no_o_id=?)",
	"LINES_OF_ORDER":    "SEARCH order_line USING PRIMARY KEY (ol_w_id=? AND ol_d_id=? AND ol_o_id=?)",
	"LINES_SUM":         "SEARCH order_line USING PRIMARY KEY (ol_w_id=? AND ol_d_id=? AND ol_o_id=?)",
	"LINES_DELIVER":     "SEARCH order_line USING PRIMARY KEY (ol_w_id=? AND ol_d_id=? AND ol_o_id=?)",
	"ITEM_PRICE":        "SEARCH item USING INTEGER PRIMARY KEY (rowid=?)",
	"STOCK_QUANTITY":    "SEARCH stock USING PRIMARY KEY (s_w_id=? AND s_i_id=?)",
	"STOCK_ORDER":       "SEARCH stock USING PRIMARY KEY (s_w_id=? AND s_i_id=?)",
	"STOCK_LEVEL": "USE TEMP B-TREE FOR count(DISTINCT)\n" +
		"SEARCH order_line USING PRIMARY KEY (ol_w_id=? AND ol_d_id=? AND ol_o_id>? AND ol_o_id<?)\n" +
		"SEARCH stock USING PRIMARY KEY (s_w_id=? AND s_i_id=?)",
}

// TestPlans shows that every statement seeks by the index that it should, on an empty store, on a loaded one, and
// whatever ANALYZE may say.
func TestPlans(t *testing.T) {
	s := openTest(t, t.TempDir(), nil)
	verify := func(when string) {
		c := connectTest(t, s)
		seen := 0
		for _, st := range statements() {
			rows, err := c.texts("EXPLAIN QUERY PLAN " + st[1])
			if err != nil {
				t.Fatalf("%s: %v", st[0], err)
			}
			details := make([]string, len(rows))
			for i, row := range rows {
				details[i] = row[3]
			}
			got := strings.Join(details, "\n")
			if got != plans[st[0]] {
				t.Errorf("%s: plan of %s:\n%s\nwant\n%s", when, st[0], got, plans[st[0]])
			}
			if got != "" {
				seen++
			}
		}
		if seen != len(plans) {
			t.Errorf("%s: %d statements have a plan, %d are expected", when, seen, len(plans))
		}
	}
	verify("empty")
	if err := s.Load(tpcc.Population(1, tpcc.TestScale(2))); err != nil {
		t.Fatal(err)
	}
	verify("loaded")
	if err := s.keeper.exec("ANALYZE"); err != nil {
		t.Fatal(err)
	}
	verify("analysed")
}

// TestOldestNewOrderIsOneSeek shows that min(no_o_id) does not walk over a district's new orders: the number of
// instructions of SQLite's virtual machine does not depend on their number.
func TestOldestNewOrderIsOneSeek(t *testing.T) {
	s := openTest(t, t.TempDir(), nil)
	program := func() []string {
		rows, err := s.keeper.texts("EXPLAIN SELECT min(no_o_id) FROM new_order WHERE no_w_id=1 AND no_d_id=1")
		if err != nil {
			t.Fatal(err)
		}
		ops := make([]string, len(rows))
		for i, row := range rows {
			ops[i] = row[1]
		}
		return ops
	}
	// After the first row the loop is left by a Goto between AggStep and Next.
	ops := strings.Join(program(), " ")
	if !strings.Contains(ops, "AggStep Goto Next") {
		t.Errorf("the loop of min(no_o_id) has no way out after its first row: %s", ops)
	}
}

// TestSchema shows that the tables have the columns, the keys and the nulls of tpcc.Schema.
func TestSchema(t *testing.T) {
	s := openTest(t, t.TempDir(), nil)
	for _, table := range tpcc.Tables {
		rows, err := s.keeper.texts("SELECT name,type,\"notnull\",pk FROM pragma_table_info('" + table.String() + "')")
		if err != nil {
			t.Fatal(err)
		}
		schema := table.Schema()
		if len(rows) != len(schema.Columns) {
			t.Fatalf("%s has %d columns, tpcc.Schema %d", table, len(rows), len(schema.Columns))
		}
		for i, c := range schema.Columns {
			key := "0"
			if i < schema.Key {
				key = string(rune('1' + i))
			}
			notNull := "1"
			if c.Nullable || schema.Key == 1 && i == 0 { // an INTEGER PRIMARY KEY is never null, and not told so
				notNull = "0"
			}
			want := [4]string{c.Name, "INTEGER", notNull, key}
			if got := [4]string(rows[i]); got != want {
				t.Errorf("%s, column %d: %v; want %v", table, i, got, want)
			}
		}
	}
}

// TestNulls shows that what is null in the population is NULL in the tables, and comes back as tpcc.Null.
func TestNulls(t *testing.T) {
	s := loadTest(t, 1, nil)
	want := 0
	for row := range tpcc.Population(1, tpcc.TestScale(1)) {
		if row.Table == tpcc.Orders && row.Col[tpcc.OCarrierID] == tpcc.Null {
			want++
		}
		if row.Table == tpcc.OrderLine && row.Col[tpcc.OLDeliveryD] == tpcc.Null {
			want++
		}
	}
	got, err := s.keeper.texts("SELECT (SELECT count(*) FROM orders WHERE o_carrier_id IS NULL)+" +
		"(SELECT count(*) FROM order_line WHERE ol_delivery_d IS NULL)," +
		"(SELECT count(*) FROM orders WHERE o_carrier_id=0)+(SELECT count(*) FROM order_line WHERE ol_delivery_d=0)")
	if err != nil {
		t.Fatal(err)
	}
	if got[0][0] != itoa(want) || got[0][1] != "0" || want == 0 {
		t.Errorf("%s columns are NULL and %s are 0; want %d and 0", got[0][0], got[0][1], want)
	}
}
