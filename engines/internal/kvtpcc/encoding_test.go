package kvtpcc

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// newRand draws a seed and prints it.
func newRand(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// randomRow draws a row: ids from all that their widths hold, the rest from all numbers.
func randomRow(rnd *rand.Rand, table tpcc.Table) tpcc.Row {
	row := tpcc.Row{Table: table}
	s := table.Schema()
	for i, c := range s.Columns {
		if i < s.Key {
			row.Col[i] = rnd.Int64N(1 << (8 * c.Bytes))
		} else {
			row.Col[i] = int64(rnd.Uint64()) >> rnd.IntN(64)
		}
	}
	return row
}

// rowKey is the key of a row of a table that has keys.
func rowKey(t *testing.T, row *tpcc.Row) []byte {
	t.Helper()
	key, ok := appendKey(nil, row.Table, row.Col[:row.Table.Schema().Key]...)
	if !ok {
		t.Fatalf("no key for %v", row)
	}
	return key
}

// Every row comes back from its key and value as it was.
func TestRowsComeBack(t *testing.T) {
	rnd := newRand(t)
	for _, table := range tpcc.Tables {
		for range 500 {
			row := randomRow(rnd, table)
			key := appendHistoryKey(nil, rnd.Uint64())
			if table != tpcc.History {
				key = rowKey(t, &row)
			}
			got := tpcc.Row{Table: table}
			if !readKey(key, &got) || !readValue(appendValue(nil, &row), &got) || got != row {
				t.Fatalf("%v came back as %v", &row, &got)
			}
		}
	}
}

// The order of keys is the order of ids, in every table and in both indexes (newest order first in the second).
func TestKeysSortAsIDs(t *testing.T) {
	rnd := newRand(t)
	small := func(width int) int64 { return rnd.Int64N(1<<(8*width)) >> rnd.IntN(8*width) } // so that prefixes are alike at times
	for _, table := range tpcc.Tables {
		s := table.Schema()
		for range 500 {
			var a, b tpcc.Row
			a.Table, b.Table = table, table
			for i, c := range s.Columns[:s.Key] {
				a.Col[i] = small(c.Bytes)
				if b.Col[i] = a.Col[i]; rnd.IntN(2) == 0 {
					b.Col[i] = small(c.Bytes)
				}
			}
			if table == tpcc.History {
				x, y := rnd.Uint64(), rnd.Uint64()
				if (bytes.Compare(appendHistoryKey(nil, x), appendHistoryKey(nil, y)) < 0) != (x < y) {
					t.Fatalf("history %d and %d are in the wrong order", x, y)
				}
				continue
			}
			if got, want := bytes.Compare(rowKey(t, &a), rowKey(t, &b)), slices.Compare(a.Col[:], b.Col[:]); got != want {
				t.Fatalf("keys of %v and %v compare as %d, want %d", &a, &b, got, want)
			}
		}
	}
	for range 500 {
		x, y := rnd.Int64N(1<<32), rnd.Int64N(1<<32)
		a, _ := appendNewest(nil, x)
		b, _ := appendNewest(nil, y)
		if (bytes.Compare(a, b) < 0) != (x > y) || newest(a) != x {
			t.Fatalf("orders %d and %d: %x and %x; the newest must come first", x, y, a, b)
		}
	}
}

// An id that has no place in a key gives no key, rather than another row's.
func TestIDsOutOfRange(t *testing.T) {
	for _, id := range []int64{-1, -1 << 31, 1 << 16, 1<<31 - 1} {
		if _, ok := appendKey(nil, tpcc.Warehouse, id); ok {
			t.Errorf("warehouse %d has a key", id)
		}
		if _, ok := appendNameKey(nil, 1, 1, id); ok {
			t.Errorf("last name %d has a key", id)
		}
		if _, ok := appendCustomerOrderKey(nil, 1, 1, id); ok {
			t.Errorf("customer %d has a key", id)
		}
	}
	if _, ok := appendNewest(nil, 1<<32); ok {
		t.Error("order 2^32 has a key")
	}
}

// appendAfter is larger than all that begin with the prefix and not larger than any that is beyond them.
func TestAppendAfter(t *testing.T) {
	for _, c := range [][2]string{{"a", "b"}, {"a\xff", "b"}, {"\x01\xff\xff", "\x02"}, {"\x01\xfe", "\x01\xff"}} {
		if got := string(appendAfter(nil, []byte(c[0]))); got != c[1] {
			t.Errorf("after %q comes %q, want %q", c[0], got, c[1])
		}
	}
}

// What is loaded is what Rows gives; the history's last number is found; a load that was broken off and another format
// are refused.
func TestLoad(t *testing.T) {
	m := newMemory()
	if empty, err := Empty(m); err != nil || !empty {
		t.Errorf("a new store: empty %v, %v", empty, err)
	}
	scale := tpcc.TestScale(2)
	if err := Load(tpcc.Population(1, scale), m.Set); err != nil {
		t.Fatal(err)
	}
	if empty, err := Empty(m); err != nil || empty {
		t.Errorf("a loaded store: empty %v, %v", empty, err)
	}
	if err := CheckFormat(m); err != nil {
		t.Error(err)
	}
	var got []tpcc.Row
	if err := Rows(m, func(r *tpcc.Row) error { got = append(got, *r); return nil }); err != nil {
		t.Fatal(err)
	}
	i := 0
	for want := range tpcc.Population(1, scale) {
		if i >= len(got) || got[i] != *want {
			t.Fatalf("row %d is not %v", i, want)
		}
		i++
	}
	if i != len(got) {
		t.Errorf("%d rows, want %d", len(got), i)
	}
	h, err := OpenShared(m)
	if want := uint64(2 * tpcc.Districts * scale.Customers); err != nil || h.take() != want+1 {
		t.Errorf("the next number of history is not %d: %v", want+1, err)
	}
	m.values[string(formatKey)] = "another"
	if err := CheckFormat(m); !errors.Is(err, engines.ErrCorrupt) {
		t.Errorf("another format gives %v", err)
	}
	if err := m.Delete(formatKey); err != nil {
		t.Fatal(err)
	}
	if err := CheckFormat(m); !errors.Is(err, engines.ErrCorrupt) {
		t.Errorf("a load that was broken off gives %v", err)
	}
}

// An error of visit ends Rows and is returned as it is.
func TestRowsError(t *testing.T) {
	m := newMemory()
	if err := Load(tpcc.Population(1, tpcc.TestScale(1)), m.Set); err != nil {
		t.Fatal(err)
	}
	n := 0
	err := Rows(m, func(*tpcc.Row) error {
		if n++; n == 3 {
			return errFull
		}
		return nil
	})
	if err != errFull || n != 3 {
		t.Errorf("%v after %d rows", err, n)
	}
}

// FuzzValue: whatever lies in a value is a row, which is then written as a value that reads the same, or refused.
func FuzzValue(f *testing.F) {
	for row := range tpcc.Population(1, tpcc.Scale{Warehouses: 1, Items: 15, Customers: 1, Orders: 1, Undelivered: 1}) {
		f.Add(byte(row.Table), appendValue(nil, row))
	}
	f.Add(byte(tpcc.Customer), []byte{0x80})
	f.Add(byte(tpcc.Stock), bytes.Repeat([]byte{0xff}, 40))
	f.Fuzz(func(t *testing.T, table byte, value []byte) {
		row := tpcc.Row{Table: tpcc.Table(table % byte(tpcc.NumTables))}
		if !readValue(value, &row) {
			return
		}
		again := tpcc.Row{Table: row.Table}
		if !readValue(appendValue(nil, &row), &again) || again != row {
			t.Errorf("%x reads as %v, which is written and read as %v", value, &row, &again)
		}
	})
}
