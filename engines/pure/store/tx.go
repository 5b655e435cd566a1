package store

import "fmt"

// Tx is one transaction's view of the owner's working state, its own changes included, and its means to change it.
// It is valid during the call of its TxFunc. A transaction that returns an error, or changed something impossible,
// leaves no trace.
//
// Invariants: ops lists the changes made so far in order, with the row before and after in words; open is the index
// of the op whose row the program may still be setting, or -1. An op's effect on the indexes, and its row after, are
// completed when it is closed: before the next operation of the Tx.
type Tx struct {
	writes
	ops   []op
	words []uint64
	open  int
	row   []uint64 // of the open op
	err   error    // the first impossible change
}

type opKind uint8

const (
	opInsert opKind = iota
	opUpdate
	opDelete
)

// op is one change. Its old row (opUpdate, opDelete) and then its new one (opInsert, opUpdate) stand in Tx.words.
type op struct {
	kind  opKind
	table TableID
	key   uint64
	words int
}

// TxFunc is one transaction. It may be run once only, on the owner goroutine; it must not keep the Tx, wait for
// anything, or panic. An error that it returns aborts the transaction and is what Session.Do returns.
type TxFunc func(*Tx) error

// Mut is a row being changed: valid until the next operation of its Tx.
type Mut struct {
	t  *table
	w  []uint64
	tx *Tx
}

// Get returns a field.
func (m Mut) Get(field int) int64 { return m.t.fields[field].get(m.w) }

// Set changes a field. A value that the field cannot hold makes the transaction fail with ErrRange.
func (m Mut) Set(field int, v int64) {
	if f := &m.t.fields[field]; !f.set(m.w, v) && m.tx.err == nil {
		m.tx.err = fmt.Errorf("%w: %s.%s cannot hold %d in %d bits", ErrRange, m.t.name, f.name, v, f.bits)
	}
}

// Add adds d to a field and returns what it holds then.
func (m Mut) Add(field int, d int64) int64 {
	v := m.Get(field) + d
	m.Set(field, v)
	return v
}

func (x *Tx) begin() {
	x.ops, x.words, x.open, x.err = x.ops[:0], x.words[:0], -1, nil
}

// Get is reads.Get.
func (x *Tx) Get(t TableID, key uint64) (Row, bool) {
	x.close()
	return x.reads.Get(t, key)
}

// Scan is reads.Scan.
func (x *Tx) Scan(t TableID, from, to uint64) Cursor {
	x.close()
	return x.reads.Scan(t, from, to)
}

// ScanIndex is reads.ScanIndex.
func (x *Tx) ScanIndex(i IndexID, from, to uint64) Cursor {
	x.close()
	return x.reads.ScanIndex(i, from, to)
}

// Last is reads.Last.
func (x *Tx) Last(t TableID, from, to uint64) (key uint64, row Row, ok bool) {
	x.close()
	return x.reads.Last(t, from, to)
}

// LastIndex is reads.LastIndex.
func (x *Tx) LastIndex(i IndexID, from, to uint64) (key uint64, ok bool) {
	x.close()
	return x.reads.LastIndex(i, from, to)
}

// Edit returns the row of key for reading and changing, or false if there is none.
func (x *Tx) Edit(t TableID, key uint64) (Mut, bool) {
	x.close()
	tab := x.l.tables[t]
	w := x.edit(int(t), key)
	if w == nil {
		return Mut{}, false
	}
	x.begun(op{opUpdate, t, key, len(x.words)}, w)
	x.words = append(x.words, w...)
	return Mut{tab, w, x}, true
}

// Insert adds a row whose fields are 0, for setting, or reports false if the key is there already.
func (x *Tx) Insert(t TableID, key uint64) (Mut, bool) {
	x.close()
	tab := x.l.tables[t]
	if tab.append {
		panic("store: Insert into table " + tab.name + ", which is in append order")
	}
	return x.insert(tab, key)
}

// Append adds a row to a table in append order, for setting, and returns its arrival number.
func (x *Tx) Append(t TableID) (key uint64, m Mut) {
	x.close()
	tab := x.l.tables[t]
	if !tab.append {
		panic("store: Append to table " + tab.name + ", which has a key")
	}
	key = uint64(x.v.arrivals[t])
	x.v.arrivals[t]++
	m, _ = x.insert(tab, key)
	return key, m
}

func (x *Tx) insert(tab *table, key uint64) (Mut, bool) {
	w := x.writes.insert(int(tab.id), key)
	if w == nil {
		return Mut{}, false
	}
	if tab.keyBits < 64 && key>>tab.keyBits != 0 && x.err == nil {
		x.err = fmt.Errorf("%w: key %#x of %s has more than %d bits", ErrRange, key, tab.name, tab.keyBits)
	}
	x.v.rows[tab.id]++
	x.begun(op{opInsert, tab.id, key, len(x.words)}, w)
	return Mut{tab, w, x}, true
}

// Delete removes a row, or reports false if there is none. Rows of a table in append order stay.
func (x *Tx) Delete(t TableID, key uint64) bool {
	x.close()
	tab := x.l.tables[t]
	if tab.append {
		panic("store: Delete from table " + tab.name + ", which is in append order")
	}
	s := &x.l.tries[t]
	w := s.find(x.a, x.v.roots[t], key)
	if w == nil {
		return false
	}
	o := op{opDelete, t, key, len(x.words)}
	x.words = append(x.words, w...)
	x.ops = append(x.ops, o)
	x.delete(tab, key, x.words[o.words:])
	return true
}

// delete removes a row that is there from the table and its indexes; row is a copy.
func (x *Tx) delete(tab *table, key uint64, row []uint64) {
	x.remove(int(tab.id), key)
	x.v.rows[tab.id]--
	for _, ix := range tab.indexes {
		x.remove(ix.trie, ix.key(tab, key, row))
	}
}

func (x *Tx) begun(o op, row []uint64) {
	x.open = len(x.ops)
	x.ops = append(x.ops, o)
	x.row = row
}

// close completes the open op.
func (x *Tx) close() {
	if x.open < 0 {
		return
	}
	o := &x.ops[x.open]
	x.open = -1
	tab := x.l.tables[o.table]
	n := len(x.words)
	x.words = append(x.words, x.row...)
	if len(tab.indexes) == 0 {
		return
	}
	if o.kind == opInsert {
		x.index(tab, o.key, nil, x.words[n:])
	} else {
		x.index(tab, o.key, x.words[o.words:n], x.words[n:])
	}
}

// index brings the table's indexes from the old row (nil: a new row) to the new one.
func (x *Tx) index(tab *table, key uint64, old, row []uint64) {
	for _, ix := range tab.indexes {
		to := ix.key(tab, key, row)
		if old != nil {
			if ix.keyOnly {
				continue
			}
			from := ix.key(tab, key, old)
			if from == to {
				continue
			}
			x.remove(ix.trie, from)
		}
		if x.writes.insert(ix.trie, to) == nil {
			panic(fmt.Sprintf("store: index %s of table %s is not unique", ix.name, tab.name))
		}
	}
}

// abort undoes all ops, the last first.
func (x *Tx) abort() {
	x.close()
	for i := len(x.ops) - 1; i >= 0; i-- {
		o := &x.ops[i]
		tab := x.l.tables[o.table]
		first := x.words[o.words : o.words+tab.rowWords]
		switch o.kind {
		case opInsert:
			x.delete(tab, o.key, first)
			if tab.append {
				x.v.arrivals[o.table]--
			}
		case opUpdate:
			row := x.edit(int(o.table), o.key)
			x.index(tab, o.key, x.words[o.words+tab.rowWords:o.words+2*tab.rowWords], first)
			copy(row, first)
		case opDelete:
			copy(x.writes.insert(int(o.table), o.key), first)
			x.v.rows[o.table]++
			x.index(tab, o.key, nil, first)
		}
	}
	x.begin()
}
