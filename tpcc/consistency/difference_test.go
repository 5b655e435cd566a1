package consistency

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"tpccbench/tpcc"
)

func firstDifference(t *testing.T, a, b *database) *Difference {
	t.Helper()
	d, err := FirstDifference(a.snapshot, b.snapshot)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestEqualDatabasesHaveNoDifference(t *testing.T) {
	a, _ := afterRun(1)
	b, _ := afterRun(1)
	if d := firstDifference(t, a, b); d != nil {
		t.Error(d)
	}
	empty := &database{}
	if d := firstDifference(t, empty, empty); d != nil {
		t.Error(d)
	}
}

func TestFirstDifferenceNamesTableKeyAndColumn(t *testing.T) {
	for want, change := range map[string]func(*database){
		"district (d_w_id=2 d_id=3): d_ytd is 12000 in the first, 12001 in the second":                                              add(tpcc.DYTD, 1, tpcc.District, 2, 3),
		"orders (o_w_id=1 o_d_id=1 o_id=12): o_carrier_id is null in the first, 9 in the second":                                    set(tpcc.OCarrierID, 9, tpcc.Orders, 1, 1, 12),
		"new_order (no_w_id=1 no_d_id=1 no_o_id=9): only the first has new_order(no_w_id=1 no_d_id=1 no_o_id=9)":                    without(tpcc.NewOrder, 1, 1, 9),
		"new_order (no_w_id=2 no_d_id=10 no_o_id=12): only the first has new_order(no_w_id=2 no_d_id=10 no_o_id=12)":                without(tpcc.NewOrder, 2, 10, 12),
		"new_order (no_w_id=1 no_d_id=1 no_o_id=8): only the second has new_order(no_w_id=1 no_d_id=1 no_o_id=8)":                   insert(tpcc.NewOrder, 1, 1, 8),
		"new_order (no_w_id=2 no_d_id=10 no_o_id=13): only the second has new_order(no_w_id=2 no_d_id=10 no_o_id=13)":               insert(tpcc.NewOrder, 2, 10, 13),
		"item (i_id=41): only the second has item(i_id=41 i_im_id=1 i_price=2)":                                                     insert(tpcc.Item, 41, 1, 2),
		"stock (s_w_id=3 s_i_id=1): only the second has stock(s_w_id=3 s_i_id=1 s_quantity=0 s_ytd=0 s_order_cnt=0 s_remote_cnt=0)": insert(tpcc.Stock, 3, 1),
		"history (row 3): h_amount is 1000 in the first, 999 in the second":                                                         add(tpcc.HAmount, -1, tpcc.History, 3, 1, 1),
		"history (row 3): only the first has history(h_c_id=3 ":                                                                     without(tpcc.History, 3, 1, 1),
		"history (row 240): only the first has history(h_c_id=12 ":                                                                  without(tpcc.History, 12, 10, 2),
		"history (row 241): only the second has history(h_c_id=1 h_c_d_id=1 h_c_w_id=1 h_d_id=1 h_w_id=1 h_date=5 h_amount=7)":      insert(tpcc.History, 1, 1, 1, 1, 1, 5, 7),
	} {
		a, b := loaded(1, small), loaded(1, small)
		change(b)
		if d := firstDifference(t, a, b); d == nil || !strings.HasPrefix(d.String(), want) {
			t.Errorf("%v, not %s", d, want)
		}
		swapped := strings.NewReplacer("only the first", "only the second", "only the second", "only the first").Replace(want)
		if d := firstDifference(t, b, a); d == nil || !strings.Contains(want, " is ") && !strings.HasPrefix(d.String(), swapped) {
			t.Errorf("swapped: %v, not %s", d, swapped)
		}
	}
}

// A row of HISTORY in the middle that only the second has is told from one that was changed.
func TestFirstDifferenceInHistory(t *testing.T) {
	a, b := loaded(1, small), loaded(1, small)
	row := *b.find(tpcc.History, 5, 1, 1)
	row.Col[tpcc.HAmount] = 77
	at := 0
	for b.rows[at].Table != tpcc.History {
		at++
	}
	at += 100
	b.rows = append(b.rows[:at], append([]*tpcc.Row{&row}, b.rows[at:]...)...)
	d := firstDifference(t, a, b)
	if d == nil || d.A != nil || d.B == nil || *d.B != row || d.Key != "row 101" {
		t.Errorf("%v, not the row that was inserted", d)
	}
}

// Every place within and at the edges of a chunk of rows is compared.
func TestFirstDifferenceFindsEveryRow(t *testing.T) {
	a := loaded(1, small)
	n := 0
	_ = a.snapshot(func(*tpcc.Row) error { n++; return nil })
	for i := 0; i < n; i += 37 {
		at := -1
		changed := func(visit func(*tpcc.Row) error) error {
			at = -1
			return a.snapshot(func(r *tpcc.Row) error {
				if at++; at == i {
					if r.Table == tpcc.NewOrder { // all of it is key: leave it out
						return nil
					}
					c := *r
					c.Col[len(r.Table.Schema().Columns)-1]--
					return visit(&c)
				}
				return visit(r)
			})
		}
		if d, err := FirstDifference(a.snapshot, changed); err != nil || d == nil {
			t.Errorf("row %d of %d: %v, %v", i, n, d, err)
		}
	}
}

func TestFirstDifferenceReportsErrorsAndEndsBothSnapshots(t *testing.T) {
	a := loaded(1, tpcc.TestScale(1))
	broken := errors.New("broken")
	for after := range 3 {
		n := 0
		failing := func(visit func(*tpcc.Row) error) error {
			return a.snapshot(func(r *tpcc.Row) error {
				if n++; n > after*600 {
					return broken
				}
				return visit(r)
			})
		}
		if _, err := FirstDifference(a.snapshot, failing); !errors.Is(err, broken) || !strings.Contains(err.Error(), "second") {
			t.Errorf("after %d rows: %v", after*600, err)
		}
		n = 0
		if _, err := FirstDifference(failing, a.snapshot); !errors.Is(err, broken) || !strings.Contains(err.Error(), "first") {
			t.Errorf("after %d rows: %v", after*600, err)
		}
	}
	before := runtime.NumGoroutine()
	ended := 0
	counted := func(visit func(*tpcc.Row) error) error {
		defer func() { ended++ }()
		return a.snapshot(visit)
	}
	b := loaded(1, tpcc.TestScale(1))
	add(tpcc.IPrice, 1, tpcc.Item, 1)(b)
	if d, err := FirstDifference(counted, b.snapshot); err != nil || d == nil || ended != 1 {
		t.Errorf("%v, %v, %d snapshots ended", d, err, ended)
	}
	if now := runtime.NumGoroutine(); now > before+1 { // one may not have left the scheduler yet
		t.Errorf("%d goroutines, %d before", now, before)
	}
}

func TestFirstDifferenceRefusesRowsOutOfOrder(t *testing.T) {
	a := loaded(1, small)
	disordered := func(visit func(*tpcc.Row) error) error {
		for _, r := range []*tpcc.Row{a.find(tpcc.Item, 2), a.find(tpcc.Item, 1)} {
			if err := visit(r); err != nil {
				return err
			}
		}
		return nil
	}
	_, err := FirstDifference(disordered, disordered)
	if err == nil || !strings.Contains(err.Error(), "item(i_id=1 ") {
		t.Errorf("%v", err)
	}
}

// BenchmarkFirstDifference compares two equal populations of one warehouse, about 600,000 rows.
func BenchmarkFirstDifference(b *testing.B) {
	population := func(visit func(*tpcc.Row) error) error {
		for r := range tpcc.Population(1, tpcc.StandardScale(1)) {
			if err := visit(r); err != nil {
				return err
			}
		}
		return nil
	}
	b.ReportAllocs()
	for b.Loop() {
		if d, err := FirstDifference(population, population); d != nil || err != nil {
			b.Fatal(d, err)
		}
	}
}
