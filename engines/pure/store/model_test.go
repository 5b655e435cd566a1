package store

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"tpccbench/engines/pure/store/fs"
)

// The tables of the tests: accounts with an index over a field, a set without fields, and events in order of arrival.
const (
	accounts = TableID(iota)
	members
	events
)

const byOwner = IndexID(0)

var testSchema = Schema{Tables: []Table{
	{
		Name: "account",
		Key:  []Part{{"branch", 4}, {"number", 28}},
		Fields: []Field{{"owner", 12, false, FromOld}, {"balance", 64, true, FromOld}, {"opened", 44, false, FromLast},
			{"flag", 1, false, FromOld}, {"small", 7, true, FromLast}},
		Indexes: []Index{{"by_owner", []string{"owner", "branch", "number"}}},
	},
	{Name: "member", Key: []Part{{"group", 20}, {"member", 44}}},
	{Name: "event", Append: true, Fields: []Field{{"what", 8, false, FromOld}, {"when", 48, true, FromLast}}},
}}

// model is the state that a store of testSchema should have, as plain maps.
type model struct {
	rows   [3]map[uint64][]int64
	events uint64
}

func newModel() *model {
	m := &model{}
	for i := range m.rows {
		m.rows[i] = map[uint64][]int64{}
	}
	return m
}

func (m *model) clone() *model {
	c := &model{events: m.events}
	for i, rows := range m.rows {
		c.rows[i] = maps.Clone(rows) // rows are replaced, never changed
	}
	return c
}

// step is one change of a transaction.
type step struct {
	kind   opKind
	table  TableID
	key    uint64
	fields []int   // to set
	values []int64 // of the fields
}

// transaction is what tests run: steps, and whether it aborts after them.
type transaction struct {
	steps []step
	abort bool
}

var errAbort = errors.New("abort, as the test wants")

// apply carries t out on m.
func (m *model) apply(t transaction) {
	if t.abort {
		return
	}
	for _, s := range t.steps {
		rows := m.rows[s.table]
		old, there := rows[s.key]
		switch {
		case s.table == events:
			s.key, old, there = m.events, nil, false
			m.events++
		case s.kind == opDelete:
			delete(rows, s.key)
			continue
		}
		if there != (s.kind == opUpdate) {
			continue
		}
		row := make([]int64, len(testSchema.Tables[s.table].Fields))
		copy(row, old)
		for i, f := range s.fields {
			row[f] = s.values[i]
		}
		rows[s.key] = row
	}
}

// run carries t out on the store.
func (t transaction) run(x *Tx) error {
	for _, s := range t.steps {
		var m Mut
		ok := true
		switch {
		case s.table == events:
			_, m = x.Append(events)
		case s.kind == opInsert:
			m, ok = x.Insert(s.table, s.key)
		case s.kind == opUpdate:
			m, ok = x.Edit(s.table, s.key)
		default:
			x.Delete(s.table, s.key)
			continue
		}
		if ok {
			for i, f := range s.fields {
				m.Set(f, s.values[i])
			}
		}
	}
	if t.abort {
		return errAbort
	}
	return nil
}

// draw draws a transaction. Keys are few and clustered, so that steps meet, and some far away.
func draw(rng *rand.Rand) transaction {
	t := transaction{abort: rng.IntN(6) == 0}
	for range 1 + rng.IntN(8) {
		s := step{kind: []opKind{opInsert, opInsert, opUpdate, opUpdate, opDelete}[rng.IntN(5)], table: TableID(rng.IntN(3))}
		switch s.table {
		case accounts:
			s.key = uint64(rng.IntN(3))<<28 | uint64(rng.IntN(20))
			if rng.IntN(20) == 0 {
				s.key = rng.Uint64() & math.MaxUint32
			}
		case members:
			s.key = uint64(rng.IntN(2))<<44 | uint64(rng.IntN(70))
			if rng.IntN(10) == 0 {
				s.key = rng.Uint64()
			}
		case events:
			s.kind = opInsert
		}
		for f := range testSchema.Tables[s.table].Fields {
			if rng.IntN(2) == 0 {
				s.fields = append(s.fields, f)
				s.values = append(s.values, drawValue(rng, testSchema.Tables[s.table].Fields[f]))
			}
		}
		t.steps = append(t.steps, s)
	}
	return t
}

// drawValue draws a value that f can hold, its bounds now and then.
func drawValue(rng *rand.Rand, f Field) int64 {
	v := int64(rng.Uint64() >> rng.IntN(64))
	switch rng.IntN(8) {
	case 0:
		v = math.MaxInt64
	case 1:
		v = math.MinInt64
	case 2:
		v = 0
	}
	if f.Signed {
		return v << (64 - f.Bits) >> (64 - f.Bits)
	}
	return int64(uint64(v) << (64 - f.Bits) >> (64 - f.Bits))
}

// stateOf reads everything that v holds, tables by scanning, and checks the index and the counts against it.
func stateOf(v *reads) (*model, error) {
	m := newModel()
	var index []uint64
	for t := range m.rows {
		last, n := uint64(0), int64(0)
		for c := v.Scan(TableID(t), 0, math.MaxUint64); c.Next(); n++ {
			if n > 0 && c.Key() <= last {
				return nil, fmt.Errorf("table %d: key %#x after %#x", t, c.Key(), last)
			}
			last = c.Key()
			row := make([]int64, len(testSchema.Tables[t].Fields))
			for f := range row {
				row[f] = c.Row().Get(f)
			}
			m.rows[t][c.Key()] = row
			if TableID(t) == accounts {
				index = append(index, uint64(row[0])<<32|c.Key())
			}
		}
		if n != v.Rows(TableID(t)) {
			return nil, fmt.Errorf("table %d has %d rows, the count says %d", t, n, v.Rows(TableID(t)))
		}
	}
	m.events = uint64(len(m.rows[events]))
	slices.Sort(index)
	var found []uint64
	for c := v.ScanIndex(byOwner, 0, math.MaxUint64); c.Next(); {
		found = append(found, c.Key())
	}
	if !slices.Equal(index, found) {
		return nil, fmt.Errorf("the index has %d entries, the table gives %d, or they differ", len(found), len(index))
	}
	return m, nil
}

// same says how two states differ, or nil.
func same(got, want *model) error {
	for t := range want.rows {
		for k, w := range want.rows[t] {
			if g, ok := got.rows[t][k]; !ok || !slices.Equal(g, w) {
				return fmt.Errorf("table %d, key %#x: %v, want %v", t, k, g, w)
			}
		}
		if len(got.rows[t]) != len(want.rows[t]) {
			return fmt.Errorf("table %d has %d rows, want %d", t, len(got.rows[t]), len(want.rows[t]))
		}
	}
	return nil
}

// is checks that the store's durable state is want.
func (s *Store) is(want *model) error {
	r := s.NewReader()
	defer r.Close()
	got, err := stateOf(&r.Pin().reads)
	if err != nil {
		return err
	}
	return same(got, want)
}

// smallOptions make segments and checkpoints happen all the time.
var smallOptions = Options{LogSegmentBytes: 12 << 10, CheckpointMinBytes: 24 << 10, CheckpointLogRatio: 0.01, LogReserveBytes: 40 << 10}

func mustOpen(t testing.TB, dir fs.Dir, opt Options) *Store {
	t.Helper()
	s, err := Open(dir, testSchema, opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustClose(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// nodes counts the bytes of all nodes that can be reached from v.
func nodes(a *arena, r ref) int64 {
	if r == 0 {
		return 0
	}
	n := a.node(r)
	total := int64(classUnits[nodeClass(n)]) * unitWords * 8
	if !r.leaf() {
		for i := range bits.OnesCount64(n[2]) {
			total += nodes(a, child(n, i))
		}
	}
	return total
}
