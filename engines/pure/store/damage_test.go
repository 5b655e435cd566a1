package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
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
func files(t testing.TB, dir fs.Dir, prefix string) (names []string) {
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

// TestFlippedBytes: whatever byte of the log, the image or the manifest is changed, the store opens with the same state, or says that
// and where it is damaged.
func TestFlippedBytes(t *testing.T) {
	dir, h := written(t)
	last := h.s.current.Load().sequence
	step := 1
	if testing.Short() {
		step = 37
	}
	for _, name := range append(append(files(t, dir, "log-"), files(t, dir, "image-")...), manifestName) {
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
	last := h.s.current.Load().sequence
	for cut := saves[len(saves)-1]; cut >= saves[0]; cut-- {
		if off := cut % reclog.SectorBytes; testing.Short() && off > 1 && off < reclog.SectorBytes-1 && cut%31 != 0 {
			continue
		}
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
		if r := s.Recovery(); (r.Short == name) != (cut < int64(len(dir.Bytes(name)))) {
			t.Fatalf("%s cut at %d of %d: recovery says %+v", name, cut, len(dir.Bytes(name)), r)
		}
		mustClose(t, s)
	}
}

// states gives visit copies of the directory of a busy store, as it is after each operation, in the middle of checkpoints
// and of changes of the segment too, whole and as a power cut leaves it. h knows what the store may hold then.
func states(t *testing.T, seed uint64, visit func(c *fs.Mem, what string, h *history, acknowledged uint64)) {
	dir, rng := fs.NewMem(), rand.New(rand.NewPCG(seed, 2))
	var copies []crashed
	dir.OnOp(func(op int, what string) {
		copies = append(copies, crashed{dir: dir.Live(), op: op, what: what}, crashed{dir: dir.Crash(rng), op: op, what: what + ", power cut"})
	})
	s := mustOpen(t, dir, smallOptions)
	h := newHistory(rand.New(rand.NewPCG(seed, 0)), s, newModel())
	for range 12 {
		if err := h.group(); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, s)
	dir.OnOp(nil)
	for _, c := range copies {
		visit(c.dir, fmt.Sprintf("operation %d (%s)", c.op, c.what), h, 0)
	}
	visit(dir, "the end", h, h.acknowledged.Load())
}

// TestMissingFiles: in every state of a store, each file is taken away, and some at a time. Then the store says which
// one is missing, or it opens with all that it held: what the manifest does not name, nobody misses.
func TestMissingFiles(t *testing.T) {
	seed := number(t, "CRASH_SEED", rand.Uint64N(1<<62))
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	refused, missed, tried := map[string]int{}, 0, 0
	states(t, seed, func(dir *fs.Mem, what string, h *history, acknowledged uint64) {
		if testing.Short() && rng.IntN(4) > 0 {
			return
		}
		whole := dir.Clone()
		s := mustOpen(t, whole, smallOptions)
		want := s.current.Load().sequence
		if err := h.holds(s, acknowledged); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		mustClose(t, s)
		names := files(t, dir, "")
		var sets [][]string
		for _, name := range names {
			sets = append(sets, []string{name})
		}
		for range 4 {
			var set []string
			for _, name := range names {
				if rng.IntN(2) == 0 {
					set = append(set, name)
				}
			}
			sets = append(sets, set)
		}
		for _, set := range sets {
			c := dir.Clone()
			for _, name := range set {
				if err := c.Remove(name); err != nil {
					t.Fatal(err)
				}
			}
			tried++
			s, err := Open(c, testSchema, smallOptions)
			if err != nil {
				named := false
				for _, name := range set {
					if strings.Contains(err.Error(), name) {
						named = true
						refused[strings.TrimRight(name, "-0123456789")]++
					}
				}
				if !errors.Is(err, ErrCorrupt) || !named {
					t.Fatalf("%s, without %v: the error does not say what is missing: %v", what, set, err)
				}
				continue
			}
			left, err := listFiles(c)
			if err != nil {
				t.Fatal(err)
			}
			got := s.current.Load().sequence
			if got == want {
				err = h.holds(s, acknowledged)
			}
			mustClose(t, s)
			switch {
			case err != nil:
				t.Fatalf("%s, without %v: %v", what, set, err)
			case got == want:
			case nothingOf(names, set):
				missed++ // every file of the store is gone: nothing is left that could tell
			default:
				t.Fatalf("%s, without %v: opened at save %d of %d, with %v", what, set, got, want, left)
			}
		}
	})
	t.Logf("%d sets of files taken away; refused for the want of: %v; %d times all was gone", tried, refused, missed)
	for _, kind := range []string{"log", "image", "manifest"} {
		if refused[kind] == 0 {
			t.Errorf("no store was refused for the want of a file %s", kind)
		}
	}
}

// nothingOf reports whether no file of a store is among the names but not in the set.
func nothingOf(names, set []string) bool {
	for _, name := range names {
		kept := !slices.Contains(set, name)
		if kept && (name == manifestName || fileName.MatchString(name)) {
			return false
		}
	}
	return true
}

// TestOlderManifest: a manifest that is put back to what it was before another segment was taken is found out.
func TestOlderManifest(t *testing.T) {
	dir := fs.NewMem()
	s := mustOpen(t, dir, Options{LogSegmentBytes: smallOptions.LogSegmentBytes})
	h := newHistory(rand.New(rand.NewPCG(23, 0)), s, newModel())
	older := bytes.Clone(dir.Bytes(manifestName))
	h.busy(t, 10)
	mustClose(t, s)
	dir.Truncate(manifestName, len(older))
	copy(dir.Bytes(manifestName), older)
	_, err := Open(dir.Clone(), testSchema, smallOptions)
	if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "older manifest") {
		t.Errorf("an older manifest: error %v", err)
	}
	if c := mustDump(t, dir, DumpOptions{}); len(c.Damage) != 1 || c.Damage[0].File != dir.Path(manifestName) {
		t.Errorf("an older manifest: damage %v", c.Damage)
	}
}

// TestLoadAfterUse: a store that was used and is empty again takes a load, whose image takes a sequence number, and can
// be opened again.
func TestLoadAfterUse(t *testing.T) {
	dir := fs.NewMem()
	s := mustOpen(t, dir, Options{})
	ses := s.NewSession()
	add := func(x *Tx) error { x.Insert(members, 5); return nil }
	remove := func(x *Tx) error { x.Delete(members, 5); return nil }
	for _, f := range []TxFunc{add, remove} {
		if err := ses.Do(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Load(func(o *Loader) error { o.Insert(members, 6); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := ses.Do(add); err != nil {
		t.Fatal(err)
	}
	mustClose(t, s)
	s = mustOpen(t, dir, Options{})
	defer mustClose(t, s)
	want := newModel()
	want.rows[members][5], want.rows[members][6] = []int64{}, []int64{}
	if err := s.is(want); err != nil {
		t.Fatal(err)
	}
}

// TestNamedErrors: another version, another schema, another's files and a second opener each have their error.
func TestNamedErrors(t *testing.T) {
	dir, _ := written(t)
	for _, prefix := range []string{"log-", "image-", manifestName} {
		c := dir.Clone()
		c.Bytes(files(t, dir, prefix)[0])[8] ^= 4
		if _, err := Open(c, testSchema, smallOptions); !errors.Is(err, ErrVersion) || !errors.Is(err, ErrCorrupt) {
			t.Errorf("version of %s changed: error %v", prefix, err)
		}
	}
	old := dir.Clone() // as version 1 left it
	old.Bytes(files(t, dir, "image-")[0])[8] = 1
	if err := old.Remove(manifestName); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(old, testSchema, smallOptions); !errors.Is(err, ErrVersion) {
		t.Errorf("store of version 1: error %v", err)
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
		f.Add(bytes.Clone(s.tx.payload))
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

// TestRottenSpare: what is in a spare means nothing, also when it is made into a segment later: after any number of
// transactions the store opens again.
func TestRottenSpare(t *testing.T) {
	opt := Options{LogSegmentBytes: 16 << 10}
	for transactions := range 16 {
		dir := fs.NewMem()
		s := mustOpen(t, dir, opt)
		h := newHistory(rand.New(rand.NewPCG(51, 0)), s, newModel())
		for range 20 {
			if err := h.group(); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Checkpoint(); err != nil {
			t.Fatal(err)
		}
		mustClose(t, s)
		spares := files(t, dir, "spare-")
		if len(spares) == 0 {
			t.Fatal("no spare")
		}
		for _, name := range spares {
			data := dir.Bytes(name)
			data[len(data)-reclog.SectorBytes] ^= 1 // the tag of the last sector
		}
		s = mustOpen(t, dir, opt)
		ses := s.NewSession()
		for range transactions {
			if err := ses.Do(func(x *Tx) error { x.Append(events); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		mustClose(t, s)
		s, err := Open(dir, testSchema, opt)
		if err != nil {
			t.Fatalf("%d transactions were acknowledged, and then refused (%v): %v", transactions, strings.Join(spares, " "), err)
		}
		mustClose(t, s)
	}
}
