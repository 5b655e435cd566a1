package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tpccbench/engines/pure/store/fs"
	"tpccbench/engines/pure/store/reclog"
)

// fuzzOptions keep the files of the fuzz targets small.
var fuzzOptions = Options{LogSegmentBytes: 16 << 10}

// aStore makes a directory with an image and saves behind it, cleanly closed.
func aStore(f *testing.F) *fs.Mem {
	dir := fs.NewMem()
	s := mustOpen(f, dir, fuzzOptions)
	h := newHistory(rand.New(rand.NewPCG(51, 0)), s, newModel())
	for i := range 6 {
		if err := h.group(); err != nil {
			f.Fatal(err)
		}
		if i == 3 {
			if err := s.Checkpoint(); err != nil {
				f.Fatal(err)
			}
		}
	}
	mustClose(f, s)
	return dir
}

// put makes data the content of a file, durably.
func put(t *testing.T, dir *fs.Mem, name string, data []byte) {
	dir.Truncate(name, 0)
	file, err := dir.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteAt(data, 0); err != nil {
		t.Fatal(err)
	}
	if err := file.Sync(); err != nil {
		t.Fatal(err)
	}
}

// FuzzFile: whatever stands in the manifest, the image, the last segment or a spare of a store, it opens with a sound state that
// takes transactions and is the same when opened again, or is refused as damaged.
func FuzzFile(f *testing.F) {
	dir := aStore(f)
	if len(files(f, dir, "spare-")) == 0 {
		file, err := dir.Create(spareName(1))
		if err != nil {
			f.Fatal(err)
		}
		if err := fs.Preallocate(file, reclog.BlockBytes); err != nil {
			f.Fatal(err)
		}
	}
	list, err := dir.List()
	if err != nil {
		f.Fatal(err)
	}
	names := [4]string{manifestName}
	for _, file := range list { // in the order of their names: the last one of each kind stays
		switch {
		case strings.HasPrefix(file.Name, "image-"):
			names[1] = file.Name
		case strings.HasPrefix(file.Name, "log-"):
			names[2] = file.Name
		case strings.HasPrefix(file.Name, "spare-"):
			names[3] = file.Name
		}
	}
	if slices.Contains(names[:], "") {
		f.Fatalf("the store has no file of each kind: %q", names)
	}
	for i, name := range names {
		data := dir.Bytes(name)
		f.Add(uint8(i), data)
		f.Add(uint8(i), data[:len(data)*2/3])
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		c := dir.Clone()
		put(t, c, names[which%4], data)
		soundOrRefused(t, c)
	})
}

// FuzzManifest: a manifest of any content that passes its checksum is what encode writes for it, or is refused; and a
// store that has it opens with a sound state, or is refused as damaged.
func FuzzManifest(f *testing.F) {
	l, err := newLayout(testSchema)
	if err != nil {
		f.Fatal(err)
	}
	dir := aStore(f)
	data := dir.Bytes(manifestName)
	f.Add(data)
	f.Add(data[:len(data)-manifestSegmentBytes])
	f.Add((&manifest{image: noImage}).encode(l.digest))
	f.Add((&manifest{image: 3, segments: []segment{{gen: 1, blocks: 4, last: 3}, {gen: 2, blocks: 4}}}).encode(l.digest))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= 4 { // seal it
			n := len(data) - 4
			data = binary.LittleEndian.AppendUint32(append([]byte(nil), data[:n]...), crc32.Checksum(data[:n], castagnoli))
		}
		m, schema, err := decodeManifest(data, manifestName)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("refused, but not as damaged: %v", err)
			}
			return
		}
		if again := m.encode(schema); !bytes.Equal(again, data) {
			t.Fatalf("%x was read and is written as %x", data, again)
		}
		c := dir.Clone()
		put(t, c, manifestName, data)
		soundOrRefused(t, c)
	})
}

// soundOrRefused opens what may be damaged.
func soundOrRefused(t *testing.T, dir *fs.Mem) {
	s, err := Open(dir, testSchema, fuzzOptions)
	if err != nil {
		if !errors.Is(err, ErrCorrupt) {
			t.Fatalf("refused, but not as damaged: %v", err)
		}
		return
	}
	r := s.NewReader()
	want, err := stateOf(&r.Pin().reads)
	r.Close()
	if err != nil {
		t.Fatal(err)
	}
	tx := transaction{steps: []step{{kind: opInsert, table: events}}}
	if err := s.NewSession().Do(tx.run); err != nil {
		t.Fatal(err)
	}
	want.apply(tx)
	mustClose(t, s)
	s = mustOpen(t, dir, fuzzOptions)
	if err := s.is(want); err != nil {
		t.Fatal(err)
	}
	mustClose(t, s)
}

// FuzzSchema: no schema makes its check panic, and one that passes stores the bounds of each of its fields and keys, in
// the log and in an image.
func FuzzSchema(f *testing.F) {
	f.Add([]byte{3, 2, 4, 28, 5, 12, 0, 64, 1, 44, 2, 1, 0, 7, 3, 1, 0})
	f.Add([]byte{1, 0, 2, 8, 0, 48, 3, 0})
	f.Add([]byte{1, 1, 64, 1, 64, 1, 1, 1})
	f.Add([]byte{2, 3, 20, 20, 25, 0, 0, 1, 63, 2, 1, 0, 1, 0, 1})
	f.Fuzz(func(t *testing.T, p []byte) {
		schema := schemaOf(p)
		if _, err := newLayout(schema); err != nil {
			return
		}
		dir := fs.NewMem()
		s, err := Open(dir, schema, fuzzOptions)
		if err != nil {
			t.Fatalf("%+v: %v", schema, err)
		}
		store := func(s *Store) {
			for table := range schema.Tables {
				if err := s.NewSession().Do(func(x *Tx) error { return storeBounds(x, &schema, table) }); err != nil {
					t.Fatalf("%+v: %v", schema, err)
				}
			}
		}
		check := func() {
			r := s.NewReader()
			defer r.Close()
			for table := range schema.Tables {
				if err := checkBounds(r.Pin(), &schema, table); err != nil {
					t.Fatalf("%+v: %v", schema, err)
				}
			}
		}
		reopen := func() {
			mustClose(t, s)
			if s, err = Open(dir, schema, fuzzOptions); err != nil {
				t.Fatalf("%+v: %v", schema, err)
			}
		}
		store(s)
		check()
		reopen()
		check()
		if err := s.Checkpoint(); err != nil {
			t.Fatal(err)
		}
		reopen()
		check()
		mustClose(t, s)
	})
}

// schemaOf makes a schema of any bytes. Few of its numbers are impossible.
func schemaOf(p []byte) (s Schema) {
	next := func() int {
		if len(p) == 0 {
			return 0
		}
		b := p[0]
		p = p[1:]
		return int(b)
	}
	for i := range next() % 5 {
		t := Table{Name: fmt.Sprint("t", i)}
		parts := next() % 5
		t.Append = parts == 0
		for j := range parts {
			t.Key = append(t.Key, Part{fmt.Sprint("k", j), next() % 66})
		}
		for j := range next() % 9 {
			bits, how := next()%66, next()
			t.Fields = append(t.Fields, Field{fmt.Sprint("f", j), bits, how&1 != 0, Coding(how >> 1 & 1)})
		}
		for j := range next() % 3 {
			x := Index{Name: fmt.Sprint("x", j)}
			for range 1 + next()%3 {
				x.Parts = append(x.Parts, fmt.Sprint([]string{"f", "k"}[next()%2], next()%4))
			}
			for k := range t.Key { // mostly unique
				if next()%8 > 0 {
					x.Parts = append(x.Parts, t.Key[k].Name)
				}
			}
			t.Indexes = append(t.Indexes, x)
		}
		s.Tables = append(s.Tables, t)
	}
	return s
}

// boundsKeys are the least and the largest key of a table, one if they are the same; of one in append order, arrivals.
func boundsKeys(t *Table) []uint64 {
	if t.Append {
		return []uint64{0, 1}
	}
	largest := make([]uint64, len(t.Key))
	for i, p := range t.Key {
		largest[i] = math.MaxUint64 >> (64 - p.Bits)
	}
	return []uint64{0, t.PackKey(largest...)}
}

// bounds are the least and the largest value of a field.
func bounds(f Field) [2]int64 {
	if f.Signed {
		return [2]int64{math.MinInt64 >> (64 - f.Bits), math.MaxInt64 >> (64 - f.Bits)}
	}
	return [2]int64{0, int64(uint64(math.MaxUint64) >> (64 - f.Bits))}
}

// storeBounds adds a row with the least values, and one with the largest. The two differ in all fields and parts, so no
// index finds them alike.
func storeBounds(x *Tx, s *Schema, table int) error {
	t := &s.Tables[table]
	for i, key := range boundsKeys(t) {
		var m Mut
		ok := true
		if t.Append {
			_, m = x.Append(TableID(table))
		} else if m, ok = x.Insert(TableID(table), key); !ok {
			return fmt.Errorf("no insert of %#x", key)
		}
		for f := range t.Fields {
			m.Set(f, bounds(t.Fields[f])[i])
		}
	}
	return nil
}

func checkBounds(v *View, s *Schema, table int) error {
	t := &s.Tables[table]
	keys := boundsKeys(t)
	if n := v.Rows(TableID(table)); n != int64(len(keys)) {
		return fmt.Errorf("%d rows, want %d", n, len(keys))
	}
	i := 0
	for c := v.Scan(TableID(table), 0, math.MaxUint64); c.Next(); i++ {
		if c.Key() != keys[i] {
			return fmt.Errorf("row %d has key %#x, want %#x", i, c.Key(), keys[i])
		}
		for f := range t.Fields {
			if got, want := c.Row().Get(f), bounds(t.Fields[f])[i]; got != want {
				return fmt.Errorf("row %d: %s is %d, want %d", i, t.Fields[f].Name, got, want)
			}
		}
	}
	if i != len(keys) {
		return fmt.Errorf("a scan gives %d rows, want %d", i, len(keys))
	}
	return nil
}
