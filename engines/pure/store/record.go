package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// A save's payload is its change records, one after another, with nothing between or behind them:
//
//	code uvarint | key | mask uvarint | values
//
//	code    table << 4 | kind << 2 | same << 1 | next; kind 0 insert, 1 update, 2 delete
//	key     next=1: nothing, the key is the last record's key of this table + 1
//	        next=0: zigzag varint, the difference from that key (mod 2^64)
//	mask    bit f set: a value of field f follows; same=1: nothing, the mask is that of the last record of this table
//	        and kind; none in a delete
//	values  zigzag varints in the order of the fields, each a difference (mod 2^64): of a field with coding FromOld
//	        from the old value (0 in an insert), with FromLast from the value of that field in the last record of this
//	        table that had one
//
// An insert has the fields that are not 0, an update those that changed. All that is "last" is 0 where a save begins,
// so that a save can be read without the others. A table in append order numbers its rows from 0: its keys count on.
//
// Every uvarint is at most 10 bytes and fits 64 bits.

// chains is what the next record is relative to.
//
// Invariant: between keep and the next keep, saved holds what every chain in kept was at that keep, so that undo takes
// back what was appended since.
type chains struct {
	tables []chain
	kept   uint64 // by table: it is in saved
	saved  []chain
	values []int64 // of one record, while it is made
}

type chain struct {
	key   uint64
	mask  [2]uint64 // by opInsert, opUpdate
	value []int64   // by field.last
}

func newChains(l *layout) chains {
	c := chains{tables: make([]chain, len(l.tables)), saved: make([]chain, len(l.tables)), values: make([]int64, MaxFields)}
	for i, t := range l.tables {
		c.tables[i].value = make([]int64, t.lasts)
		c.saved[i].value = make([]int64, t.lasts)
	}
	return c
}

func (c *chains) reset() {
	for i := range c.tables {
		t := &c.tables[i]
		t.key, t.mask = 0, [2]uint64{}
		clear(t.value)
	}
}

// keep makes the present state the one that undo goes back to.
func (c *chains) keep() { c.kept = 0 }

// undo goes back to the state of the last keep.
func (c *chains) undo() {
	for ; c.kept != 0; c.kept &= c.kept - 1 {
		i := bits.TrailingZeros64(c.kept)
		c.tables[i].set(&c.saved[i])
	}
}

// chain returns the table's chain, for changing.
func (c *chains) chain(t TableID) *chain {
	ch := &c.tables[t]
	if c.kept>>uint(t)&1 == 0 {
		c.kept |= 1 << uint(t)
		c.saved[t].set(ch)
	}
	return ch
}

// set makes c a copy of o.
func (c *chain) set(o *chain) {
	c.key, c.mask = o.key, o.mask
	copy(c.value, o.value)
}

const (
	codeNext  = 1
	codeSame  = 2
	codeKind  = 2 // shift
	codeTable = 4 // shift
)

// room returns dst with room for a record of n bytes behind its length.
func room(dst []byte, n int) []byte {
	if cap(dst)-len(dst) < n {
		dst = append(make([]byte, 0, 2*cap(dst)+n), dst...)
	}
	return dst
}

// putUvarint puts v at b[n:], which has room, and returns where it ends.
func putUvarint(b []byte, n int, v uint64) int {
	for v >= 0x80 {
		b[n] = byte(v) | 0x80
		v >>= 7
		n++
	}
	b[n] = byte(v)
	return n + 1
}

func zigzag(v int64) uint64 { return uint64(v)<<1 ^ uint64(v>>63) }

// appendHead puts code, key and mask of a record at b[n:].
func (ch *chain) appendHead(b []byte, n int, t TableID, kind opKind, key, mask uint64) int {
	code := uint64(t)<<codeTable | uint64(kind)<<codeKind
	delta := key - ch.key
	ch.key = key
	if delta == 1 {
		code |= codeNext
	}
	same := &ch.mask[kind]
	if mask == *same {
		code |= codeSame
	}
	n = putUvarint(b, n, code)
	if delta != 1 {
		n = putUvarint(b, n, zigzag(int64(delta)))
	}
	if mask != *same {
		n = putUvarint(b, n, mask)
		*same = mask
	}
	return n
}

// appendInsert appends the record of a new row.
func (c *chains) appendInsert(dst []byte, tab *table, key uint64, row []uint64) []byte {
	ch, values := c.chain(tab.id), c.values
	mask := uint64(0)
	for i := range tab.fields {
		f := &tab.fields[i]
		if v := f.get(row); v != 0 {
			mask |= 1 << (uint(i) & 63)
			if f.coding == FromLast {
				v, ch.value[f.last] = v-ch.value[f.last], v
			}
			values[i] = v
		}
	}
	dst = room(dst, tab.maxRecord)
	b, n := dst[:cap(dst)], len(dst)
	n = ch.appendHead(b, n, tab.id, opInsert, key, mask)
	for ; mask != 0; mask &= mask - 1 {
		n = putUvarint(b, n, zigzag(values[bits.TrailingZeros64(mask)]))
	}
	return b[:n]
}

// appendUpdate appends the record of a changed row; one that changed nothing has none.
func (c *chains) appendUpdate(dst []byte, tab *table, key uint64, old, row []uint64) []byte {
	values := c.values
	mask, last := uint64(0), false
	for i := range tab.fields {
		f := &tab.fields[i]
		if old[f.word] == row[f.word] {
			continue
		}
		if v, was := f.get(row), f.get(old); v != was {
			mask |= 1 << (uint(i) & 63)
			if f.coding == FromLast {
				last = true
				values[i] = v
			} else {
				values[i] = v - was
			}
		}
	}
	if mask == 0 {
		return dst
	}
	ch := c.chain(tab.id)
	if last {
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m)
			if f := &tab.fields[i]; f.coding == FromLast {
				v := values[i]
				values[i], ch.value[f.last] = v-ch.value[f.last], v
			}
		}
	}
	dst = room(dst, tab.maxRecord)
	b, n := dst[:cap(dst)], len(dst)
	n = ch.appendHead(b, n, tab.id, opUpdate, key, mask)
	for ; mask != 0; mask &= mask - 1 {
		n = putUvarint(b, n, zigzag(values[bits.TrailingZeros64(mask)]))
	}
	return b[:n]
}

// appendDelete appends the record of a row that is gone.
func (c *chains) appendDelete(dst []byte, tab *table, key uint64) []byte {
	ch := c.chain(tab.id)
	dst = room(dst, tab.maxRecord)
	b, n := dst[:cap(dst)], len(dst)
	code := uint64(tab.id)<<codeTable | uint64(opDelete)<<codeKind
	if key == ch.key+1 {
		code |= codeNext
	}
	n = putUvarint(b, n, code)
	if key != ch.key+1 {
		n = putUvarint(b, n, zigzag(int64(key-ch.key)))
	}
	ch.key = key
	return b[:n]
}

// errRecord is what a payload that passed its checksum and yet cannot be applied gives.
var errRecord = errors.New("impossible change record")

// apply carries the records of one save out on x's working state. It checks everything, so that no payload makes it
// panic or leaves a state that the records do not say. After an error the state is to be thrown away.
func (c *chains) apply(x *writes, payload []byte) (records int, err error) {
	c.reset()
	p := payload
	bad := func(format string, args ...any) (int, error) {
		return records, fmt.Errorf("%w %d at byte %d of its save: %s", errRecord, records+1, len(payload)-len(p), fmt.Sprintf(format, args...))
	}
	for len(p) > 0 {
		code, n := binary.Uvarint(p)
		kind := opKind(code >> codeKind & 3)
		if n <= 0 || code>>codeTable >= uint64(len(x.l.tables)) || kind > opDelete {
			return bad("code")
		}
		p = p[n:]
		tab := x.l.tables[code>>codeTable]
		ch := &c.tables[tab.id]
		key := ch.key + 1
		if code&codeNext == 0 {
			d, n := binary.Varint(p)
			if n <= 0 {
				return bad("key")
			}
			p = p[n:]
			key = ch.key + uint64(d)
		}
		ch.key = key
		if tab.keyBits < 64 && key>>tab.keyBits != 0 {
			return bad("key %#x of %s", key, tab.name)
		}
		if kind == opDelete {
			w := x.l.tries[tab.id].find(x.a, x.v.roots[tab.id], key)
			if w == nil || tab.append || code&codeSame != 0 {
				return bad("delete of %s %#x", tab.name, key)
			}
			if !x.unindex(tab, key, w) || !x.remove(int(tab.id), key) {
				return bad("delete of %s %#x", tab.name, key)
			}
			x.v.rows[tab.id]--
			records++
			continue
		}
		mask := ch.mask[kind]
		if code&codeSame == 0 {
			m, n := binary.Uvarint(p)
			if n <= 0 {
				return bad("mask")
			}
			p = p[n:]
			mask = m
			ch.mask[kind] = m
		}
		if len(tab.fields) < 64 && mask>>len(tab.fields) != 0 {
			return bad("mask %#x of %s", mask, tab.name)
		}
		var w []uint64
		if kind == opInsert {
			if tab.append && key != uint64(x.v.arrivals[tab.id]) {
				return bad("arrival %d of %s, %d is next", key, tab.name, x.v.arrivals[tab.id])
			}
			w = x.insert(int(tab.id), key)
			if tab.append {
				x.v.arrivals[tab.id]++
			}
			x.v.rows[tab.id]++
		} else {
			w = x.edit(int(tab.id), key)
		}
		if w == nil {
			return bad("row %#x of %s is there already, or is not", key, tab.name)
		}
		if kind == opUpdate {
			for _, ix := range tab.indexes {
				if ix.fieldMask&mask != 0 && !x.remove(ix.trie, ix.key(tab, key, w)) {
					return bad("index %s", ix.name)
				}
			}
		}
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m)
			f := &tab.fields[i]
			v, n := binary.Varint(p)
			if n <= 0 {
				return bad("value of %s.%s", tab.name, tab.names[i])
			}
			p = p[n:]
			if f.coding == FromLast {
				v += ch.value[f.last]
				ch.value[f.last] = v
			} else {
				v += f.get(w) // 0 in a new row
			}
			if !f.set(w, v) {
				return bad("value %d of %s.%s", v, tab.name, tab.names[i])
			}
		}
		for _, ix := range tab.indexes {
			if (kind == opInsert || ix.fieldMask&mask != 0) &&
				x.insert(ix.trie, ix.key(tab, key, w)) == nil {
				return bad("index %s", ix.name)
			}
		}
		records++
	}
	return records, nil
}

// unindex removes a row's entries from the table's indexes.
func (x *writes) unindex(tab *table, key uint64, row []uint64) bool {
	for _, ix := range tab.indexes {
		if !x.remove(ix.trie, ix.key(tab, key, row)) {
			return false
		}
	}
	return true
}
