package store

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"tpccbench/engines/pure/store/fs"
	"tpccbench/engines/pure/store/reclog"
)

// written makes a directory with an image and two segments behind it, cleanly closed.
func written(t *testing.T) (dir *fs.Mem, h *history) {
	dir = fs.NewMem()
	s := mustOpen(t, dir, Options{LogSegmentBytes: smallOptions.LogSegmentBytes}) // one checkpoint, at a known place
	h = newHistory(rand.New(rand.NewPCG(21, 0)), s, newModel())
	more := func(n int) {
		for range n {
			if err := h.group(); err != nil {
				t.Fatal(err)
			}
		}
	}
	more(3)
	if err := s.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	more(4)
	mustClose(t, s)
	return dir, h
}

// files lists the names with a prefix.
func files(t *testing.T, dir fs.Dir, prefix string) (names []string) {
	list, err := dir.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if strings.HasPrefix(f.Name, prefix) {
			names = append(names, f.Name)
		}
	}
	return names
}

// TestFlippedBytes: whatever byte of the log or the image is changed, the store opens with the same state, or says that
// and where it is damaged.
func TestFlippedBytes(t *testing.T) {
	dir, h := written(t)
	last := h.s.current.Load().sequence
	step := 1
	if testing.Short() {
		step = 37
	}
	for _, name := range append(files(t, dir, "log-"), files(t, dir, "image-")...) {
		refused, size := 0, len(dir.Bytes(name))
		for i := 0; i < size; i += step {
			for _, mask := range []byte{1 << (i % 8), 0xff} {
				c := dir.Clone()
				c.Bytes(name)[i] ^= mask
				s, err := Open(c, testSchema, smallOptions)
				if err != nil {
					refused++
					if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), name) {
						t.Fatalf("%s, byte %d changed by %#x: the error does not say so: %v", name, i, mask, err)
					}
					continue
				}
				if err := h.holds(s, last); err != nil {
					t.Fatalf("%s, byte %d changed by %#x: %v", name, i, mask, err)
				}
				mustClose(t, s)
			}
		}
		if refused == 0 {
			t.Errorf("%s: no change of its %d bytes was noticed", name, size)
		}
		t.Logf("%s: %d bytes, %d changes refused", name, size, refused)
	}
}

// TestTruncated: the log cut anywhere in its last saves gives the saves before the cut, and an incomplete one is told.
func TestTruncated(t *testing.T) {
	dir, h := written(t)
	names := files(t, dir, "log-")
	name := ""
	var saves []int64 // where each save of the last segment ends
	for _, n := range names {
		data := dir.Bytes(n)
		hd, err := reclog.DecodeHeader(data)
		if err != nil {
			t.Fatal(err)
		}
		r := reclog.NewReader(hd.Generation, data)
		ends := []int64{reclog.BlockBytes}
		for {
			s, ok, err := r.Next(0)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			ends = append(ends, ends[len(ends)-1]+reclog.SaveBytes(len(s.Payload)))
		}
		if len(ends) > 1 {
			name, saves = n, ends
		}
	}
	for _, n := range names { // a segment that was prepared and holds nothing is not written yet at such a cut
		if n > name {
			if err := dir.Remove(n); err != nil {
				t.Fatal(err)
			}
		}
	}
	last := h.s.current.Load().sequence
	for cut := saves[len(saves)-1]; cut >= saves[0]; cut-- {
		c := dir.Clone()
		c.Truncate(name, int(cut))
		s, err := Open(c, testSchema, smallOptions)
		if err != nil {
			t.Fatalf("%s cut at %d: %v", name, cut, err)
		}
		whole := 0
		for whole+1 < len(saves) && saves[whole+1] <= cut {
			whole++
		}
		if want := last - uint64(len(saves)-1-whole); s.current.Load().sequence != want {
			t.Fatalf("%s cut at %d: holds save %d, want %d", name, cut, s.current.Load().sequence, want)
		}
		if err := h.holds(s, 0); err != nil {
			t.Fatalf("%s cut at %d: %v", name, cut, err)
		}
		if r := s.Recovery(); (r.Cut == name) != (cut != saves[whole]) || r.Cut != "" && r.CutOffset != saves[whole] {
			t.Fatalf("%s cut at %d: recovery says %+v", name, cut, r)
		}
		mustClose(t, s)
	}
}

// TestMissingFiles: without its image, or without a log segment that later saves build on, a store is refused; a segment
// whose saves the image holds is not missed. Nothing tells that the newest segment with saves is gone when only a
// prepared one follows it, so the last two are left out.
func TestMissingFiles(t *testing.T) {
	dir, h := written(t)
	refused := 0
	logs := files(t, dir, "log-")
	images := files(t, dir, "image-")
	for _, name := range append(logs[:len(logs)-2], images...) {
		c := dir.Clone()
		if err := c.Remove(name); err != nil {
			t.Fatal(err)
		}
		s, err := Open(c, testSchema, smallOptions)
		switch {
		case errors.Is(err, ErrCorrupt):
			refused++
			continue
		case err != nil:
			t.Errorf("without %s: error %v, want ErrCorrupt", name, err)
			continue
		}
		if got, want := s.current.Load().sequence, h.s.current.Load().sequence; got != want {
			t.Errorf("without %s: opened at save %d of %d", name, got, want)
		}
		mustClose(t, s)
	}
	if refused < 1+len(images) {
		t.Errorf("%d of %d stores without a file were refused", refused, len(logs)-2+len(images))
	}
}

// TestNamedErrors: another version, another schema, another's files and a second opener each have their error.
func TestNamedErrors(t *testing.T) {
	dir, _ := written(t)
	for _, prefix := range []string{"log-", "image-"} {
		c := dir.Clone()
		c.Bytes(files(t, dir, prefix)[0])[8] ^= 4
		if _, err := Open(c, testSchema, smallOptions); !errors.Is(err, ErrVersion) || !errors.Is(err, ErrCorrupt) {
			t.Errorf("version of %s changed: error %v", prefix, err)
		}
	}
	other := Schema{Tables: append(testSchema.Tables[:2:2], Table{Name: "other", Key: []Part{{"k", 9}}})}
	if _, err := Open(dir.Clone(), other, smallOptions); !errors.Is(err, ErrSchema) {
		t.Errorf("another schema: error %v", err)
	}
	foreign := fs.NewMem()
	if _, err := foreign.Create("thesis.txt"); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(foreign, testSchema, smallOptions); !errors.Is(err, ErrCorrupt) {
		t.Errorf("foreign file: error %v", err)
	}
	c := dir.Clone()
	s := mustOpen(t, c, smallOptions)
	if _, err := Open(c, testSchema, smallOptions); !errors.Is(err, ErrLocked) {
		t.Errorf("second opener: error %v", err)
	}
	mustClose(t, s)
}

// FuzzRecords: no payload makes the replay panic, and what it accepts is a sound state.
func FuzzRecords(f *testing.F) {
	l, err := newLayout(testSchema)
	if err != nil {
		f.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(31, 0))
	s := mustOpen(f, fs.NewMem(), Options{})
	ses := s.NewSession()
	for range 50 {
		tx := draw(rng)
		tx.abort = false
		if err := ses.Do(tx.run); err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.Clone(s.payload))
	}
	mustClose(f, s)
	f.Fuzz(func(t *testing.T, payload []byte) {
		r := newWrites(&arena{epoch: 1}, l, newVersion(l))
		c := newChains(l)
		if _, err := c.apply(&r, payload); err != nil {
			return
		}
		if _, err := stateOf(&r.reads); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzImageBlock: no block that passed its checksum makes the reader panic, and what it accepts is a sound state.
func FuzzImageBlock(f *testing.F) {
	l, err := newLayout(testSchema)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(1), uint32(2), []byte{5, 1})
	f.Add(uint32(2), uint32(1), append([]byte{0}, make([]byte, 8)...))
	f.Fuzz(func(t *testing.T, table, rows uint32, payload []byte) {
		r := newWrites(&arena{epoch: 1}, l, newVersion(l))
		if !r.addBlock(l.tables[table%3], rows, payload) {
			return
		}
		if _, err := stateOf(&r.reads); err != nil {
			t.Fatal(err)
		}
	})
}
