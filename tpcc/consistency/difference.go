package consistency

import (
	"errors"
	"fmt"
	"strings"

	"tpccbench/tpcc"
)

// Difference is the first place where two databases differ.
type Difference struct {
	Table  tpcc.Table
	Key    string    // of the row: "d_w_id=1 d_id=2"; of a row of HISTORY: "row 17"
	A, B   *tpcc.Row // the row in each; nil where it is missing
	Column int       // the first column that differs, if both have the row
}

// String names the table, the row, the column and both values.
func (d *Difference) String() string {
	at := fmt.Sprintf("%s (%s)", d.Table, d.Key)
	switch {
	case d.B == nil:
		return fmt.Sprintf("%s: only the first has %s", at, d.A)
	case d.A == nil:
		return fmt.Sprintf("%s: only the second has %s", at, d.B)
	}
	return fmt.Sprintf("%s: %s is %s in the first, %s in the second", at, d.Table.Schema().Columns[d.Column].Name,
		d.value(d.A), d.value(d.B))
}

func (d *Difference) value(r *tpcc.Row) string {
	v := r.Col[d.Column]
	if v == tpcc.Null && d.Table.Schema().Columns[d.Column].Nullable {
		return null
	}
	return fmt.Sprint(v)
}

// FirstDifference returns the first difference between two databases in snapshot order, or nil if all rows are equal.
// A row whose key only one of them has is missing in the other. HISTORY has no key: its rows are compared by position,
// and a row is missing in one if the row after it is what the other has in its place.
//
// Both snapshots run at the same time, each on a goroutine of its own, and have ended when it returns. An error is a
// snapshot's own, or says that its rows are out of order.
func FirstDifference(a, b Snapshot) (*Difference, error) {
	ca, cb := newCursor(a), newCursor(b)
	defer ca.close()
	defer cb.close()
	position := int64(0) // in HISTORY
	for {
		ra, rb := ca.at(0), cb.at(0)
		if err := errors.Join(named("first", ca.err), named("second", cb.err)); err != nil {
			return nil, err
		}
		if ra == nil && rb == nil {
			return nil, nil
		}
		if ra != nil && ra.Table == tpcc.History || rb != nil && rb.Table == tpcc.History {
			position++
		}
		if ra != nil && rb != nil && *ra == *rb {
			ca.next()
			cb.next()
			continue
		}
		switch order := compareKeys(ra, rb); {
		case order < 0 || order == 0 && ra.Table == tpcc.History && equalRows(ca.at(1), rb):
			return difference(ra, nil, position), nil
		case order > 0 || order == 0 && ra.Table == tpcc.History && equalRows(ra, cb.at(1)):
			return difference(nil, rb, position), nil
		}
		return difference(ra, rb, position), nil
	}
}

func named(which string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the %s database: %w", which, err)
}

func equalRows(a, b *tpcc.Row) bool { return a != nil && b != nil && *a == *b }

// compareKeys orders two rows by table and key; nil is after all rows.
func compareKeys(a, b *tpcc.Row) int {
	switch {
	case b == nil:
		return -1
	case a == nil:
		return 1
	case a.Table != b.Table:
		return int(a.Table) - int(b.Table)
	}
	for i := range a.Table.Schema().Key {
		switch {
		case a.Col[i] < b.Col[i]:
			return -1
		case a.Col[i] > b.Col[i]:
			return 1
		}
	}
	return 0
}

// difference makes a Difference of copies of the rows, one of which may be nil.
func difference(a, b *tpcc.Row, position int64) *Difference {
	d := &Difference{A: copyOf(a), B: copyOf(b)}
	row := d.A
	if row == nil {
		row = d.B
	}
	d.Table = row.Table
	schema := row.Table.Schema()
	d.Key = fmt.Sprintf("row %d", position)
	if schema.Key > 0 {
		key := make([]string, schema.Key)
		for i := range key {
			key[i] = fmt.Sprintf("%s=%d", schema.Columns[i].Name, row.Col[i])
		}
		d.Key = strings.Join(key, " ")
	}
	if a != nil && b != nil {
		for d.A.Col[d.Column] == d.B.Col[d.Column] {
			d.Column++
		}
	}
	return d
}

func copyOf(r *tpcc.Row) *tpcc.Row {
	if r == nil {
		return nil
	}
	c := *r
	return &c
}

// cursor reads a snapshot row by row. The snapshot runs on a goroutine of its own and hands over copies of its rows in
// chunks. (iter.Pull would be simpler, but it cannot switch away from a visit that C code calls, as an engine's may.)
type cursor struct {
	chunks chan []tpcc.Row
	stop   chan struct{}
	result error // of the snapshot, once chunks is closed

	rows []tpcc.Row // received and not passed
	last tpcc.Row   // received last; meaningful if any is true
	any  bool
	err  error // why there are no more rows, if not because the snapshot has ended
}

// chunkRows is the number of rows of a chunk.
const chunkRows = 512

// errStopped ends a snapshot that nobody reads on.
var errStopped = errors.New("stopped")

func newCursor(s Snapshot) *cursor {
	c := &cursor{chunks: make(chan []tpcc.Row, 1), stop: make(chan struct{})}
	go func() {
		defer close(c.chunks)
		var chunk []tpcc.Row
		send := func() error {
			select {
			case c.chunks <- chunk:
				chunk = make([]tpcc.Row, 0, chunkRows)
				return nil
			case <-c.stop:
				return errStopped
			}
		}
		c.result = s(func(r *tpcc.Row) error {
			if chunk = append(chunk, *r); len(chunk) < chunkRows {
				return nil
			}
			return send()
		})
		if c.result == nil {
			c.result = send()
		}
	}()
	return c
}

// at returns the row that is i rows ahead, or nil if there is none or err is set. The row stays valid.
func (c *cursor) at(i int) *tpcc.Row {
	for len(c.rows) <= i {
		chunk, ok := <-c.chunks
		if !ok {
			if c.err == nil {
				c.err = c.result
			}
			return nil
		}
		for j := range chunk {
			r := &chunk[j]
			if order := compareKeys(&c.last, r); c.any && (order > 0 || order == 0 && r.Table.Schema().Key > 0) {
				c.err = fmt.Errorf("its snapshot is out of order: %s comes after %s", r, &c.last)
				return nil
			}
			c.last, c.any = *r, true
		}
		// The full slice expression leaves rows that were handed out where they are.
		c.rows = append(c.rows[:len(c.rows):len(c.rows)], chunk...)
	}
	return &c.rows[i]
}

// next passes the row at(0).
func (c *cursor) next() { c.rows = c.rows[1:] }

// close ends the snapshot and waits for that.
func (c *cursor) close() {
	close(c.stop)
	for range c.chunks {
	}
}
