package store

import "fmt"

// Tx is one transaction's view of the owner's working state, its own changes included, and its means to change it.
// It is valid during the call of its TxFunc. A transaction that returns an error, or changed something impossible,
// leaves no trace.
//
// Invariants: ops lists the changes made so far in order, with the old rows in words; payload holds their records,
// and before them those of the transactions before, up to start. open is the op whose row the program may still be
// setting, if isOpen: its effect on the indexes and its record are completed when it is closed, before the next
// operation of the Tx.
type Tx struct {
	writes
	chains  chains
	payload []byte // change records of the save
	start   int    // of the transaction's in payload
	ops     []op
	words   []uint64
	isOpen  bool
	open    op
	row     []uint64 // of the open op
	err     error    // the first impossible change
}

type opKind uint8

const (
	opInsert opKind = iota
	opUpdate
	opDelete
)

// op is one change. Its old row (opUpdate, opDelete) stands in Tx.words.
type op struct {
	tab   *table
	key   uint64
	words int
	kind  opKind
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
	if !m.t.fields[field].set(m.w, v) {
		m.outOfRange(field, v)
	}
}

func (m Mut) outOfRange(field int, v int64) {
	if m.tx.err == nil {
		m.tx.err = fmt.Errorf("%w: %s.%s cannot hold %d in %d bits", ErrRange, m.t.name, m.t.names[field], v, m.t.fields[field].bits)
	}
}

// Add adds d to a field and returns what it holds then.
func (m Mut) Add(field int, d int64) int64 {
	f := &m.t.fields[field]
	v := f.get(m.w) + d
	if !f.set(m.w, v) {
		m.outOfRange(field, v)
	}
	return v
}

func (x *Tx) begin() {
	x.ops, x.words, x.isOpen, x.err = x.ops[:0], x.words[:0], false, nil
	x.start = len(x.payload)
	x.chains.keep()
}

// startSave forgets the records of the save before.
func (x *Tx) startSave() {
	x.payload = x.payload[:0]
	x.chains.reset()
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
	x.begun(op{tab, key, len(x.words), opUpdate}, w)
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
	x.begun(op{tab, key, 0, opInsert}, w)
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
	x.ops = append(x.ops, op{tab, key, len(x.words), opDelete})
	x.words = append(x.words, w...)
	x.delete(tab, key, w)
	x.payload = x.chains.appendDelete(x.payload, tab, key)
	return true
}

// delete removes a row that is there from the table and its indexes.
func (x *Tx) delete(tab *table, key uint64, row []uint64) {
	for _, ix := range tab.indexes {
		x.remove(ix.trie, ix.key(tab, key, row))
	}
	x.remove(int(tab.id), key)
	x.v.rows[tab.id]--
}

func (x *Tx) begun(o op, row []uint64) {
	x.isOpen, x.open, x.row = true, o, row
}

// close completes the open op.
func (x *Tx) close() {
	if x.isOpen {
		x.complete()
	}
}

func (x *Tx) complete() {
	x.isOpen = false
	o := &x.open
	x.ops = append(x.ops, *o)
	if o.kind == opInsert {
		x.payload = x.chains.appendInsert(x.payload, o.tab, o.key, x.row)
		if len(o.tab.indexes) > 0 {
			x.index(o.tab, o.key, nil, x.row)
		}
		return
	}
	old := x.words[o.words : o.words+o.tab.rowWords]
	x.payload = x.chains.appendUpdate(x.payload, o.tab, o.key, old, x.row)
	if len(o.tab.indexes) > 0 {
		x.index(o.tab, o.key, old, x.row)
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
		t := int(o.tab.id)
		switch o.kind {
		case opInsert:
			x.delete(o.tab, o.key, x.l.tries[t].find(x.a, x.v.roots[t], o.key))
			if o.tab.append {
				x.v.arrivals[t]--
			}
		case opUpdate:
			old, row := x.words[o.words:o.words+o.tab.rowWords], x.edit(t, o.key)
			x.index(o.tab, o.key, row, old)
			copy(row, old)
		case opDelete:
			old := x.words[o.words : o.words+o.tab.rowWords]
			copy(x.writes.insert(t, o.key), old)
			x.v.rows[t]++
			x.index(o.tab, o.key, nil, old)
		}
	}
	x.payload = x.payload[:x.start]
	x.chains.undo()
	x.begin()
}
