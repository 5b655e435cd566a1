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
type chains struct {
	tables []chain
}

type chain struct {
	key   uint64
	mask  [2]uint64 // by opInsert, opUpdate
	value []int64   // by field
}

func newChains(l *layout) chains {
	c := chains{tables: make([]chain, len(l.tables))}
	for i, t := range l.tables {
		c.tables[i].value = make([]int64, len(t.fields))
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

const (
	codeNext  = 1
	codeSame  = 2
	codeKind  = 2 // shift
	codeTable = 4 // shift
)

// appendOp appends the record of one change to dst; an update that changed nothing has none.
func (c *chains) appendOp(dst []byte, l *layout, o *op, words []uint64) []byte {
	tab := l.tables[o.table]
	ch := &c.tables[o.table]
	var old, row []uint64
	switch o.kind {
	case opInsert:
		row = words[o.words : o.words+tab.rowWords]
	case opUpdate:
		old = words[o.words : o.words+tab.rowWords]
		row = words[o.words+tab.rowWords : o.words+2*tab.rowWords]
	}
	mask := uint64(0)
	for i := range tab.fields {
		if row == nil {
			break
		}
		f := &tab.fields[i]
		was := int64(0)
		if old != nil {
			if old[f.word] == row[f.word] {
				continue
			}
			was = f.get(old)
		}
		if f.get(row) != was {
			mask |= 1 << i
		}
	}
	if o.kind == opUpdate && mask == 0 {
		return dst
	}
	code := uint64(o.table)<<codeTable | uint64(o.kind)<<codeKind
	if o.key == ch.key+1 {
		code |= codeNext
	}
	if o.kind != opDelete && mask == ch.mask[o.kind] {
		code |= codeSame
	}
	dst = binary.AppendUvarint(dst, code)
	if code&codeNext == 0 {
		dst = binary.AppendVarint(dst, int64(o.key-ch.key))
	}
	ch.key = o.key
	if o.kind == opDelete {
		return dst
	}
	if code&codeSame == 0 {
		dst = binary.AppendUvarint(dst, mask)
		ch.mask[o.kind] = mask
	}
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		f := &tab.fields[i]
		v := f.get(row)
		switch {
		case f.coding == FromLast:
			dst = binary.AppendVarint(dst, v-ch.value[i])
			ch.value[i] = v
		case old != nil:
			dst = binary.AppendVarint(dst, v-f.get(old))
		default:
			dst = binary.AppendVarint(dst, v)
		}
	}
	return dst
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
				return bad("value of %s.%s", tab.name, f.name)
			}
			p = p[n:]
			if f.coding == FromLast {
				v += ch.value[i]
				ch.value[i] = v
			} else {
				v += f.get(w) // 0 in a new row
			}
			if !f.set(w, v) {
				return bad("value %d of %s.%s", v, tab.name, f.name)
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
