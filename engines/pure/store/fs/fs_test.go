package fs

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"testing"
)

// TestDir: the real directory and the one in memory do the same.
func TestDir(t *testing.T) {
	real, err := OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string]Dir{"real": real, "memory": NewMem()} {
		t.Run(name, func(t *testing.T) {
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			f, err := d.Create("a")
			must(err)
			if _, err := d.Create("a"); !errors.Is(err, fs.ErrExist) {
				t.Errorf("create what is there: %v", err)
			}
			if _, err := d.Open("b"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("open what is not there: %v", err)
			}
			_, err = f.WriteAt([]byte("hello"), 3)
			must(err)
			must(Preallocate(f, 3<<20))
			must(Preallocate(f, 1<<20)) // shorter: nothing happens
			must(f.Sync())
			got := make([]byte, 8)
			if _, err := f.ReadAt(got, 0); err != nil || !bytes.Equal(got, []byte("\x00\x00\x00hello")) {
				t.Errorf("read %q, %v", got, err)
			}
			must(f.Close())
			must(d.Rename("a", "b"))
			must(d.Sync())
			l, err := d.List()
			must(err)
			if len(l) != 1 || l[0] != (Info{"b", 3 << 20}) {
				t.Errorf("list is %v", l)
			}
			must(d.Remove("b"))
			if err := d.Remove("b"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("remove what is not there: %v", err)
			}
			lock, err := d.Lock("lock")
			must(err)
			if _, err := d.Lock("lock"); !errors.Is(err, ErrLocked) {
				t.Errorf("second lock: %v", err)
			}
			must(lock.Unlock())
			lock, err = d.Lock("lock")
			must(err)
			must(lock.Unlock())
		})
	}
}

// TestCrash: synced bytes of synced names always survive; of all else every outcome comes up, whole sectors at a time.
func TestCrash(t *testing.T) {
	m := NewMem()
	f, _ := m.Create("kept")
	old := bytes.Repeat([]byte{1}, 4*SectorBytes)
	f.WriteAt(old, 0)
	f.Sync()
	m.Sync()
	f.WriteAt(bytes.Repeat([]byte{2}, 4*SectorBytes), 0)
	m.Create("new")
	m.Rename("kept", "renamed")
	rng := rand.New(rand.NewPCG(1, 1))
	seen := map[string]bool{}
	for range 500 {
		c := m.Crash(rng)
		l, _ := c.List()
		name := "kept"
		if c.Bytes("renamed") != nil {
			name = "renamed"
			seen["renamed"] = true
		}
		if len(l) == 2 {
			seen["new"] = true
		}
		data := c.Bytes(name)
		if len(data) != len(old) {
			t.Fatalf("%s has %d bytes, want %d", name, len(data), len(old))
		}
		pattern := ""
		for s := 0; s < len(data); s += SectorBytes {
			if !bytes.Equal(data[s:s+SectorBytes], bytes.Repeat(data[s:s+1], SectorBytes)) {
				t.Fatalf("sector %d is torn", s/SectorBytes)
			}
			pattern += string('0' + data[s])
		}
		seen[pattern] = true
	}
	for _, want := range []string{"renamed", "new", "1111", "2222", "1212", "2111"} {
		if !seen[want] {
			t.Errorf("no crash left %s", want)
		}
	}
}

// TestFault: the operation that was chosen fails, a write of it by half, and no other.
func TestFault(t *testing.T) {
	m := NewMem()
	broken := errors.New("broken")
	d := NewFault(m, func(n int, op Op) error {
		if n == 2 {
			return broken
		}
		return nil
	})
	f, err := d.Create("a")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := f.WriteAt([]byte("abcd"), 0); n != 2 || err != broken || string(m.Bytes("a")) != "ab" {
		t.Errorf("failing write: %d, %v, file %q", n, err, m.Bytes("a"))
	}
	if _, err := f.WriteAt([]byte("abcd"), 0); err != nil || d.Ops() != 3 {
		t.Errorf("write after it: %v, %d operations", err, d.Ops())
	}
}

// TestReadOnly: a directory for reading can be listed and read, and not changed; its readers share it and keep writers out.
func TestReadOnly(t *testing.T) {
	path := t.TempDir()
	d, err := OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	if l, err := r.Lock("lock"); err != nil || l.Unlock() != nil {
		t.Errorf("lock where no lock file is: %v", err)
	}
	f, err := d.Create("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("hello"), 0); err != nil {
		t.Fatal(err)
	}
	writer, err := d.Lock("lock")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Lock("lock"); !errors.Is(err, ErrLocked) {
		t.Errorf("lock beside a writer: %v", err)
	}
	if err := writer.Unlock(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // they stay open to the end of the test
		l, err := r.Lock("lock")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Unlock()
	}
	if _, err := d.Lock("lock"); !errors.Is(err, ErrLocked) {
		t.Errorf("a writer beside readers: %v", err)
	}
	g, err := r.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	got := make([]byte, 5)
	if _, err := g.ReadAt(got, 0); err != nil || string(got) != "hello" {
		t.Errorf("read %q, %v", got, err)
	}
	if _, err := g.WriteAt([]byte("x"), 0); err == nil {
		t.Error("a write did not fail")
	}
	if _, err := r.Create("b"); err == nil {
		t.Error("Create did not fail")
	}
	if r.Rename("a", "b") == nil || r.Remove("a") == nil {
		t.Error("Rename or Remove did not fail")
	}
	if l, err := r.List(); err != nil || len(l) != 2 {
		t.Errorf("list is %v, %v", l, err)
	}
}
