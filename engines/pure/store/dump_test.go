package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tpccbench/engines/pure/store/fs"
	"tpccbench/engines/pure/store/reclog"
)

func mustDump(t *testing.T, dir fs.Dir, opt DumpOptions) *Contents {
	t.Helper()
	c, err := Dump(dir, testSchema, opt)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestDump: of a sound store it tells the state that Open builds, the saves, and as many records as Open replays.
func TestDump(t *testing.T) {
	dir, h := written(t)
	c := mustDump(t, dir, DumpOptions{Saves: true, Records: true})
	last := h.s.current.Load().sequence
	if len(c.Damage) > 0 || c.Sequence != last || !c.SchemaKnown || len(c.Images) != 1 {
		t.Fatalf("sequence %d, want %d; images %v, damage %v", c.Sequence, last, c.Images, c.Damage)
	}
	for i, r := range c.Images[0].Tables {
		if want := int64(len(h.saves[c.Images[0].Sequence].rows[i])); r.Rows != want || r.Table != testSchema.Tables[i].Name {
			t.Errorf("image: %d rows of %s, want %d", r.Rows, r.Table, want)
		}
	}
	listed, behind, records := int64(0), int64(0), int64(0)
	next := c.Segments[0].FirstSave
	for _, s := range c.Segments {
		for _, v := range s.List {
			if v.Sequence != next {
				t.Errorf("save %d is told where %d belongs", v.Sequence, next)
			}
			next++
			listed++
			if v.Sequence <= c.Images[0].Sequence {
				continue
			}
			behind++
			for _, r := range v.Records {
				records += r.Inserts + r.Updates + r.Deletes
			}
		}
		if s.Saves != int64(len(s.List)) {
			t.Errorf("%s: %d saves, %d told", s.Name, s.Saves, len(s.List))
		}
	}
	before := dir.Clone()
	s := mustOpen(t, dir, smallOptions)
	if r := s.Recovery(); r.Saves != behind || r.Records != records || next != last+1 {
		t.Errorf("Open replays %d saves and %d records; told were %d and %d, the last save %d", r.Saves, r.Records, behind, records, next-1)
	}
	if _, err := Dump(dir, testSchema, DumpOptions{}); !errors.Is(err, ErrLocked) {
		t.Errorf("dump of an open store: error %v", err)
	}
	mustClose(t, s)
	var text bytes.Buffer
	if err := c.Text(&text); err != nil || !strings.Contains(text.String(), c.Segments[0].Name) {
		t.Errorf("text: %v\n%s", err, &text)
	}
	if _, err := json.Marshal(c); err != nil {
		t.Error(err)
	}
	other, err := Dump(before, Schema{Tables: testSchema.Tables[1:2]}, DumpOptions{Records: true})
	if err != nil {
		t.Fatal(err)
	}
	if other.SchemaKnown || len(other.Damage) > 0 || other.Images[0].Tables[0].Table != "table 0" {
		t.Errorf("dump with another schema: %+v", other)
	}
	if _, err := Dump(fs.NewMem(), testSchema, DumpOptions{}); err == nil || !strings.Contains(err.Error(), "no store") {
		t.Errorf("dump of nothing: error %v", err)
	}
}

// TestDumpDamage: whatever is damaged, Dump finds damage if and only if Open refuses the store, names the same place,
// and leaves every file as it is.
func TestDumpDamage(t *testing.T) {
	seed := number(t, "CRASH_SEED", rand.Uint64N(1<<62))
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 3))
	dir, _ := written(t)
	names := files(t, dir, "")
	refused := 0
	tries := 2000
	if testing.Short() {
		tries = 150
	}
	for range tries {
		c := dir.Clone()
		what := ""
		for range 1 + rng.IntN(2) {
			name := names[rng.IntN(len(names))]
			data := c.Bytes(name)
			switch kind := rng.IntN(8); {
			case len(data) == 0:
			case kind == 0:
				what += " without " + name
				if err := c.Remove(name); err != nil {
					t.Fatal(err)
				}
			case kind == 1:
				c.Truncate(name, rng.IntN(len(data)))
				what += " cut " + name
			default:
				i := rng.IntN(len(data))
				if rng.IntN(2) == 0 {
					i = i / reclog.BlockBytes * reclog.BlockBytes
					i += rng.IntN(min(40, len(data)-i))
				}
				data[i] ^= 1 << rng.IntN(8)
				what += " changed " + name
			}
		}
		before := c.Clone()
		got := mustDump(t, c, DumpOptions{Records: true})
		for _, name := range files(t, before, "") {
			if !bytes.Equal(before.Bytes(name), c.Bytes(name)) {
				t.Fatalf("%s: Dump changed %s", what, name)
			}
		}
		s, err := Open(c, testSchema, smallOptions)
		var e *DamageError
		switch {
		case err == nil:
			if len(got.Damage) > 0 || got.Sequence != s.current.Load().sequence {
				t.Fatalf("%s: Open takes save %d; Dump says save %d, damage %v", what, s.current.Load().sequence, got.Sequence, got.Damage)
			}
			mustClose(t, s)
		case !errors.As(err, &e):
			t.Fatalf("%s: %v", what, err)
		default:
			refused++
			same := slices.ContainsFunc(got.Damage, func(d Damage) bool { return d.File == e.File && d.Offset == e.Offset })
			if !same {
				t.Fatalf("%s: Open says %v; Dump says %v", what, err, got.Damage)
			}
		}
	}
	t.Logf("%d of %d damaged stores refused", refused, tries)
	if refused == 0 {
		t.Error("no damage was noticed")
	}
}

// TestDumpGoesOn: damage in one save of a segment does not hide the saves behind it, nor damage elsewhere.
func TestDumpGoesOn(t *testing.T) {
	dir, _ := written(t)
	whole := mustDump(t, dir, DumpOptions{Saves: true})
	seg := whole.Segments[len(whole.Segments)-1]
	for _, s := range whole.Segments {
		if s.Saves > 1 {
			seg = s
		}
	}
	if seg.Saves < 2 {
		t.Fatalf("no segment with two saves: %+v", whole.Segments)
	}
	first := seg.List[0]
	dir.Bytes(seg.Name)[first.Offset+8+24] ^= 1                                // in its payload, behind tag and header
	dir.Bytes(whole.Images[0].Name)[imageHeadBytes+16*3+4+blockHeadBytes] ^= 1 // in the first row
	c := mustDump(t, dir, DumpOptions{})
	want := []Damage{{File: dir.Path(whole.Images[0].Name)}, {File: dir.Path(seg.Name), Offset: first.Offset}}
	if len(c.Damage) != 2 || c.Damage[0].File != want[0].File || c.Damage[1].File != want[1].File || c.Damage[1].Offset != want[1].Offset {
		t.Fatalf("damage %v, want %v", c.Damage, want)
	}
	for _, s := range c.Segments {
		if s.Name == seg.Name && (s.Saves != seg.Saves-1 || s.LastSave != seg.LastSave) {
			t.Errorf("%d saves up to %d behind the damage, want %d up to %d", s.Saves, s.LastSave, seg.Saves-1, seg.LastSave)
		}
	}
}
