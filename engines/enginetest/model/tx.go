package model

import (
	"fmt"
	"slices"

	"tpccbench/tpcc"
)

// tx changes the store at once and remembers how to take each change back. The store's mutex is held all along.
type tx struct {
	s    *Store
	undo []func()
}

func (s *Store) begin() *tx { return &tx{s: s} }

// rollback takes all changes back, the newest first.
func (t *tx) rollback() {
	for _, u := range slices.Backward(t.undo) {
		u()
	}
	t.undo = nil
}

// change remembers the row as it is, for the caller to change columns that are not of the key.
func (t *tx) change(r *tpcc.Row) *tpcc.Row {
	old := *r
	t.undo = append(t.undo, func() { *r = old })
	return r
}

// insert adds a row.
func (t *tx) insert(row tpcc.Row) error {
	s, r := t.s, &row
	if r.Table == tpcc.History {
		s.history = append(s.history, r)
		t.undo = append(t.undo, func() { s.history = s.history[:len(s.history)-1] })
		return nil
	}
	k := keyOf(r)
	if s.rows[r.Table][k] != nil {
		return fmt.Errorf("second row with the primary key of %s", r)
	}
	s.rows[r.Table][k] = r
	t.undo = append(t.undo, func() { delete(s.rows[r.Table], k) })
	switch r.Table {
	case tpcc.Customer:
		t.index(s.customers, r)
	case tpcc.NewOrder:
		t.index(s.newOrders, r)
	}
	return nil
}

// index adds the third key column of r to the district's list.
func (t *tx) index(lists map[district][]int64, r *tpcc.Row) {
	d, id := district{r.Col[0], r.Col[1]}, r.Col[2]
	i, _ := slices.BinarySearch(lists[d], id)
	lists[d] = slices.Insert(lists[d], i, id)
	t.undo = append(t.undo, func() {
		i, _ := slices.BinarySearch(lists[d], id)
		lists[d] = slices.Delete(lists[d], i, i+1)
	})
}

// deleteNewOrder removes a row of NEW_ORDER, the only table that a transaction deletes from.
func (t *tx) deleteNewOrder(d district, oid int64) error {
	s := t.s
	r, err := s.get(tpcc.NewOrder, d.wid, d.did, oid)
	if err != nil {
		return err
	}
	k := keyOf(r)
	delete(s.rows[tpcc.NewOrder], k)
	i, _ := slices.BinarySearch(s.newOrders[d], oid)
	s.newOrders[d] = slices.Delete(s.newOrders[d], i, i+1)
	t.undo = append(t.undo, func() {
		s.rows[tpcc.NewOrder][k] = r
		s.newOrders[d] = slices.Insert(s.newOrders[d], i, oid)
	})
	return nil
}

func keyOf(r *tpcc.Row) key {
	var k key
	copy(k[:], r.Col[:r.Table.Schema().Key])
	return k
}

// row builds a row from its columns in schema order.
func row(t tpcc.Table, cols ...int64) tpcc.Row {
	r := tpcc.Row{Table: t}
	copy(r.Col[:], cols)
	return r
}
