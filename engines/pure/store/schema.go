package store

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
)

// Schema describes the tables of a store. It cannot change during a store's life: its digest is in every file.
type Schema struct {
	Tables []Table
}

// Table describes one table: a composite key of unsigned integers that is packed into 64 bits, and integer fields.
type Table struct {
	Name string
	// Key lists the parts of the key, the most significant first; their bits add up to at most 64. Rows stand in the
	// order of the packed key, PackKey(parts...). A table in Append order has no Key: its rows are numbered from 0 as
	// they come.
	Key    []Part
	Append bool
	// Fields lists the columns that are not in the key.
	Fields  []Field
	Indexes []Index
}

// Part is one part of a key: an unsigned integer of so many bits.
type Part struct {
	Name string
	Bits int
}

// Field is one integer column.
type Field struct {
	Name   string
	Bits   int // 1..64, the sign included
	Signed bool
	Coding Coding
}

// Coding says what a change record holds of a field. It decides the log's size, not what can be stored.
type Coding uint8

const (
	// FromOld: the difference from the field's old value, 0 in a new row. For counters, sums and anything small.
	FromOld Coding = iota
	// FromLast: the difference from the value that the save's last record of this table and field had. For dates, and
	// for what tends to be alike in neighbouring rows.
	FromLast
)

// Index is a second order of a table's rows: by a packed key of fields and key parts, named in Parts. The parts must
// make it unique, so most indexes end with the table's own key.
type Index struct {
	Name  string
	Parts []string
}

// TableID is the position of a table in Schema.Tables.
type TableID int

// IndexID numbers the indexes of all tables in the order of the schema, from 0.
type IndexID int

// Limits of a schema.
const (
	MaxTables = 64
	MaxFields = 64
	// appendBits is the width of an arrival number.
	appendBits = 48
)

// table is a Table made ready.
type table struct {
	name      string
	id        TableID
	append    bool
	keyBits   int
	parts     []part
	fields    []field
	names     []string // of the fields
	rowWords  int
	leafShift uint // log2 of the rows of a leaf
	indexes   []*index
	lasts     int // fields of coding FromLast
	// maxRecord is what a change record of the table takes at most, in bytes.
	maxRecord int
}

// field is where a field lies in a row: bits of one word, so that a read is one load and two shifts. It is small:
// every access to a row reads one.
type field struct {
	word   uint8
	left   uint8 // shift that brings the field to the top of the word
	right  uint8 // shift that brings it down again
	bits   uint8
	signed bool
	coding Coding
	last   uint8 // of coding FromLast: its number among them
}

// part is where a part lies in a packed key.
type part struct {
	name  string
	shift uint
	bits  uint
}

type index struct {
	name  string
	id    IndexID
	trie  int // position of the index's trie in a version
	parts []indexPart
	// keyOnly: no field is part of it, so that changing a row leaves the index alone.
	keyOnly bool
	// fieldMask has the bits of the fields that are part of it.
	fieldMask uint64
}

type indexPart struct {
	field int  // of the table, or -1
	from  part // of the table's key, if field is -1
	shift uint // in the index's key
	bits  uint
}

// layout is a schema made ready.
type layout struct {
	tables  []*table
	indexes []*index
	tries   []trieShape // of the tables, then of the indexes
	digest  uint64
}

// newLayout checks and compiles a schema.
func newLayout(s Schema) (*layout, error) {
	if len(s.Tables) == 0 || len(s.Tables) > MaxTables {
		return nil, fmt.Errorf("schema has %d tables; it must have 1..%d", len(s.Tables), MaxTables)
	}
	l := &layout{}
	names := map[string]bool{}
	for i := range s.Tables {
		t, err := newTable(TableID(i), &s.Tables[i])
		if err != nil {
			return nil, fmt.Errorf("table %q: %w", s.Tables[i].Name, err)
		}
		if names[t.name] {
			return nil, fmt.Errorf("two tables are named %q", t.name)
		}
		names[t.name] = true
		l.tables = append(l.tables, t)
		l.tries = append(l.tries, trieShape{leafShift: t.leafShift, rowWords: uint32(t.rowWords)})
	}
	for i, t := range l.tables {
		for _, ix := range s.Tables[i].Indexes {
			x, err := newIndex(t, &ix)
			if err != nil {
				return nil, fmt.Errorf("index %q of table %q: %w", ix.Name, t.name, err)
			}
			x.id, x.trie = IndexID(len(l.indexes)), len(l.tries)
			t.indexes = append(t.indexes, x)
			l.indexes = append(l.indexes, x)
			l.tries = append(l.tries, trieShape{leafShift: maxLeafShift})
		}
	}
	l.digest = s.digest()
	return l, nil
}

func newTable(id TableID, s *Table) (*table, error) {
	t := &table{name: s.Name, id: id, append: s.Append}
	names := map[string]bool{}
	take := func(name string, bits, most int) error {
		if name == "" || names[name] {
			return fmt.Errorf("column name %q is empty or used twice", name)
		}
		names[name] = true
		if bits < 1 || bits > most {
			return fmt.Errorf("column %q has %d bits; it must have 1..%d", name, bits, most)
		}
		return nil
	}
	switch {
	case s.Name == "":
		return nil, fmt.Errorf("it has no name")
	case s.Append && len(s.Key) > 0:
		return nil, fmt.Errorf("a table in append order has no key of its own")
	case s.Append:
		t.keyBits = appendBits
		t.parts = []part{{name: "", bits: appendBits}}
	case len(s.Key) == 0:
		return nil, fmt.Errorf("it has no key")
	}
	for _, p := range s.Key {
		if err := take(p.Name, p.Bits, 64); err != nil {
			return nil, err
		}
		t.keyBits += p.Bits
	}
	if t.keyBits > 64 {
		return nil, fmt.Errorf("the key has %d bits, more than 64", t.keyBits)
	}
	at := t.keyBits
	for _, p := range s.Key {
		at -= p.Bits
		t.parts = append(t.parts, part{p.Name, uint(at), uint(p.Bits)})
	}
	if len(s.Fields) > MaxFields {
		return nil, fmt.Errorf("it has %d fields, more than %d", len(s.Fields), MaxFields)
	}
	for _, f := range s.Fields {
		if err := take(f.Name, f.Bits, 64); err != nil {
			return nil, err
		}
	}
	t.fields, t.rowWords = pack(s.Fields)
	for i := range t.fields {
		t.names = append(t.names, s.Fields[i].Name)
		if f := &t.fields[i]; f.coding == FromLast {
			f.last = uint8(t.lasts)
			t.lasts++
		}
	}
	t.maxRecord = (3 + len(t.fields)) * binary.MaxVarintLen64
	t.leafShift = leafShiftFor(t.rowWords)
	return t, nil
}

// pack lays fields out in words, none across two: the widest first, each in the first word with room for it.
func pack(fs []Field) ([]field, int) {
	var used []int
	out := make([]field, len(fs))
	for bits := 64; bits > 0; bits-- {
		for i, f := range fs {
			if f.Bits != bits {
				continue
			}
			w := 0
			for w < len(used) && used[w]+bits > 64 {
				w++
			}
			if w == len(used) {
				used = append(used, 0)
			}
			out[i] = field{word: uint8(w), left: uint8(64 - used[w] - bits), right: uint8(64 - bits), bits: uint8(bits),
				signed: f.Signed, coding: f.Coding}
			used[w] += bits
		}
	}
	return out, len(used)
}

func newIndex(t *table, s *Index) (*index, error) {
	x := &index{name: s.Name, keyOnly: true}
	total := 0
	for _, name := range s.Parts {
		p := indexPart{field: -1}
		for i, f := range t.fields {
			if t.names[i] == name {
				if f.signed {
					return nil, fmt.Errorf("field %q is signed; an index takes unsigned ones", name)
				}
				p.field, p.bits = i, uint(f.bits)
				x.keyOnly = false
				x.fieldMask |= 1 << i
			}
		}
		for _, k := range t.parts {
			if k.name == name && name != "" {
				p.from, p.bits = k, k.bits
			}
		}
		if p.bits == 0 {
			return nil, fmt.Errorf("the table has no column %q", name)
		}
		total += int(p.bits)
		x.parts = append(x.parts, p)
	}
	if total == 0 || total > 64 {
		return nil, fmt.Errorf("the key has %d bits; it must have 1..64", total)
	}
	at := uint(total)
	for i := range x.parts {
		at -= x.parts[i].bits
		x.parts[i].shift = at
	}
	return x, nil
}

// key is the index's key of a row.
func (x *index) key(t *table, key uint64, row []uint64) uint64 {
	k := uint64(0)
	for i := range x.parts {
		p := &x.parts[i]
		if p.field >= 0 {
			k |= uint64(t.fields[p.field].get(row)) << p.shift
		} else {
			k |= p.from.get(key) << p.shift
		}
	}
	return k
}

func (p *part) get(key uint64) uint64 { return key >> p.shift & (1<<p.bits - 1) }

func (f *field) get(row []uint64) int64 {
	v := row[f.word] << (f.left & 63)
	if f.signed {
		return int64(v) >> (f.right & 63)
	}
	return int64(v >> (f.right & 63))
}

// set stores v, or reports false if it does not fit.
func (f *field) set(row []uint64, v int64) bool {
	u := uint64(v) << (f.right & 63)
	if f.signed && int64(u)>>(f.right&63) != v || !f.signed && int64(u>>(f.right&63)) != v {
		return false
	}
	mask := ^uint64(0) << (f.right & 63) >> (f.left & 63)
	row[f.word] = row[f.word]&^mask | u>>(f.left&63)
	return true
}

// digest hashes everything of the schema that the stored bytes depend on, names included.
func (s *Schema) digest() uint64 {
	h := fnv.New64a()
	num := func(ns ...int) {
		for _, n := range ns {
			h.Write(binary.LittleEndian.AppendUint64(nil, uint64(n)))
		}
	}
	flag := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	str := func(s string) { num(len(s)); h.Write([]byte(s)) }
	num(len(s.Tables))
	for _, t := range s.Tables {
		str(t.Name)
		num(flag(t.Append), len(t.Key), len(t.Fields))
		for _, p := range t.Key {
			str(p.Name)
			num(p.Bits)
		}
		for _, f := range t.Fields {
			str(f.Name)
			num(f.Bits, flag(f.Signed), int(f.Coding))
		}
	}
	return h.Sum64()
}

// PackKey packs the parts of a table's key, the most significant first, as the table's Key lists them. It panics if
// there are too few or many, or one does not fit: keys come from the program. Programs with a hot path shift by hand.
func (t *Table) PackKey(parts ...uint64) uint64 {
	if len(parts) != len(t.Key) {
		panic(fmt.Sprintf("store: %d parts for the key of table %q, which has %d", len(parts), t.Name, len(t.Key)))
	}
	k := uint64(0)
	for i, p := range t.Key {
		if p.Bits < 64 && parts[i]>>p.Bits != 0 {
			panic(fmt.Sprintf("store: key part %s=%d of table %q does not fit %d bits", p.Name, parts[i], t.Name, p.Bits))
		}
		k = k<<(p.Bits&63) | parts[i]
	}
	return k
}
