package store

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tpccbench/internal/attack"
)

// smallDisk is a new memory file system of so many bytes, unmounted after the test. It needs root.
type smallDisk struct{ path string }

func mountSmallDisk(t *testing.T, bytes int) smallDisk {
	t.Helper()
	d := smallDisk{t.TempDir()}
	if err := unix.Mount("tmpfs", d.path, "tmpfs", 0, fmt.Sprintf("size=%d", bytes)); err != nil {
		t.Skipf("cannot mount a small file system (it needs root): %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(d.path, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return d
}

// remount changes its size or makes it read-only.
func (d smallDisk) remount(t *testing.T, flags uintptr, bytes int) {
	t.Helper()
	if err := unix.Mount("tmpfs", d.path, "tmpfs", unix.MS_REMOUNT|flags, fmt.Sprintf("size=%d", bytes)); err != nil {
		t.Fatal(err)
	}
}

// fill is a transaction that makes the log grow: it adds so many events, to m too.
func fill(rng *rand.Rand, m *model, n int) TxFunc {
	first := m.events
	for range n {
		m.rows[events][m.events] = []int64{rng.Int64N(256), rng.Int64() >> 17}
		m.events++
	}
	return func(x *Tx) error {
		for i := range uint64(n) {
			row := m.rows[events][first+i]
			_, e := x.Append(events)
			e.Set(0, row[0])
			e.Set(1, row[1])
		}
		return nil
	}
}

// forget takes the events from the number n on out of m.
func (m *model) forget(n uint64) {
	for m.events > n {
		m.events--
		delete(m.rows[events], m.events)
	}
}

// TestDiskFull: on a file system of 4 MiB the store runs full with one error that says so, goes on reading, and holds
// all that it acknowledged when it is opened again: as soon as there is room, and without room if it opens at all.
func TestDiskFull(t *testing.T) {
	const disk = 4 << 20
	a := attack.New(t, 1)
	for seed := range a.Rounds() {
		rng := rand.New(rand.NewPCG(seed, 0))
		d := mountSmallDisk(t, disk)
		opt := Options{LogSegmentBytes: 64<<10 + rng.Int64N(1<<20), CheckpointMinBytes: 256 << 10 << rng.IntN(4), CheckpointLogRatio: 0.5}
		s := mustOpen(t, openDir(t, d.path), opt)
		ses, next, acknowledged := s.NewSession(), newModel(), uint64(0)
		var failed error
		for {
			if failed = ses.Do(fill(rng, next, 1+rng.IntN(3000))); failed != nil {
				break
			}
			acknowledged = next.events
			a.Count("acknowledged", 1)
		}
		want := next.clone()
		want.forget(acknowledged)
		where := fmt.Sprintf("seed %d, %+v", seed, opt)
		if !errors.Is(failed, ErrFailed) || !errors.Is(failed, syscall.ENOSPC) || strings.Contains(failed.Error(), "\n") {
			t.Fatalf("%s: the error does not say that the disk is full: %v", where, failed)
		}
		if err := ses.Do(func(x *Tx) error { x.Append(events); return nil }); !errors.Is(err, ErrFailed) || errors.Is(err, ErrIndeterminate) {
			t.Fatalf("%s: a transaction after the failure gives %v", where, err)
		}
		if err := s.is(want); err != nil {
			t.Fatalf("%s: reading after the failure: %v", where, err)
		}
		mustClose(t, s)
		a.Count("full", 1)
		holds := func(s *Store) error {
			err := s.is(want)
			if err != nil && errors.Is(failed, ErrIndeterminate) {
				err = s.is(next)
			}
			return errors.Join(err, s.Close())
		}
		if s, err := Open(openDir(t, d.path), testSchema, opt); err == nil {
			a.Count("reopened", 1)
			if err := holds(s); err != nil {
				t.Fatalf("%s: opened on the full disk: %v", where, err)
			}
		} else if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("%s: open on the full disk: %v", where, err)
		}
		d.remount(t, 0, 4*disk)
		s, err := Open(openDir(t, d.path), testSchema, opt)
		if err != nil {
			t.Fatalf("%s: open after the disk has grown: %v", where, err)
		}
		a.Count("reopened", 1)
		if err := s.NewSession().Do(fill(rng, next, 0)); err != nil {
			t.Fatalf("%s: a transaction after the disk has grown: %v", where, err)
		}
		if err := holds(s); err != nil {
			t.Fatalf("%s: opened after the disk has grown: %v", where, err)
		}
	}
}

// TestLoadOnFullDisk: a load that does not fit fails with one error, and leaves an empty store.
func TestLoadOnFullDisk(t *testing.T) {
	d := mountSmallDisk(t, 1<<20)
	opt := Options{LogSegmentBytes: 64 << 10}
	s := mustOpen(t, openDir(t, d.path), opt)
	err := s.Load(func(l *Loader) error {
		for range 200_000 {
			l.Append(events)
		}
		return nil
	})
	if !errors.Is(err, syscall.ENOSPC) || !errors.Is(err, ErrFailed) {
		t.Errorf("a load of more than the disk takes: error %v", err)
	}
	mustClose(t, s)
	s = mustOpen(t, openDir(t, d.path), opt)
	defer mustClose(t, s)
	if err := s.is(newModel()); err != nil {
		t.Errorf("after a load that failed: %v", err)
	}
}

// TestFileSizeLimit: a process whose files must not grow past a limit (ulimit -f) gets one error and no signal when a
// segment or a save meets it, and none when only images do; and nothing that it acknowledged is missing for one without
// the limit.
func TestFileSizeLimit(t *testing.T) {
	a := attack.New(t, 3) // one of each kind
	for seed := range a.Rounds() {
		rng := rand.New(rand.NewPCG(seed, 0))
		l := life{Dir: ramDir(t), Seed: seed, Transactions: 400, Options: Options{LogSegmentBytes: 16 << 10, CheckpointMinBytes: 16 << 10, CheckpointLogRatio: 0.01}}
		what := ""
		switch seed % 3 {
		case 0:
			what, l.FileBytes = "segments", 4096+rng.Uint64N(12<<10)
		case 1:
			what, l.FileBytes, l.Growing, l.Options.LogSegmentBytes = "saves", 8<<10+rng.Uint64N(4<<10), true, 8<<10
		case 2:
			what, l.FileBytes = "images", 16<<10+rng.Uint64N(8<<10)
		}
		e := l.run(t)
		where := fmt.Sprintf("seed %d, %s, %+v", seed, what, l)
		switch {
		case e.killed:
			t.Fatalf("%s: killed", where)
		case what == "images":
			if e.message != "" || e.acknowledged != l.Transactions {
				t.Fatalf("%s: %d transactions were acknowledged: %s", where, e.acknowledged, e.message)
			}
		case !strings.Contains(e.message, syscall.EFBIG.Error()) || strings.Count(e.message, "\n") != 1:
			t.Fatalf("%s: the error does not say that a file is too large: %q", where, e.message)
		}
		s := mustOpen(t, openDir(t, l.Dir), l.Options)
		if _, err := l.after(s, newModel(), e.acknowledged); err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		mustClose(t, s)
		a.Count(what, 1)
		a.Count("acknowledged", max(e.acknowledged, 0))
		a.Count("reopened", 1)
		if err := os.RemoveAll(l.Dir); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadOnly: a store in a directory that cannot be written to is refused with one error that says why, and is not
// touched.
func TestReadOnly(t *testing.T) {
	path := t.TempDir()
	var protect, unprotect func()
	if os.Getuid() == 0 { // permissions do not bind root; a read-only file system does
		d := mountSmallDisk(t, 4<<20)
		path = d.path
		protect = func() { d.remount(t, unix.MS_RDONLY, 4<<20) }
		unprotect = func() { d.remount(t, 0, 4<<20) }
	} else {
		chmod := func(mode fs.FileMode, files fs.FileMode) {
			entries, err := os.ReadDir(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if err := os.Chmod(path+"/"+e.Name(), files); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
		protect, unprotect = func() { chmod(0o555, 0o444) }, func() { chmod(0o755, 0o644) }
	}
	refused := func(what string) {
		t.Helper()
		before := list(t, path)
		_, err := Open(openDir(t, path), testSchema, smallOptions)
		if !errors.Is(err, syscall.EROFS) && !errors.Is(err, syscall.EACCES) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: the error does not say why and where: %v", what, err)
		}
		if after := list(t, path); after != before {
			t.Errorf("%s: the files were %s and are %s", what, before, after)
		}
	}
	protect()
	refused("an empty directory")
	unprotect()
	s := mustOpen(t, openDir(t, path), smallOptions)
	h := newHistory(rand.New(rand.NewPCG(3, 0)), s, newModel())
	for range 20 {
		if err := h.group(); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, s)
	protect()
	refused("a store")
	unprotect()
	s = mustOpen(t, openDir(t, path), smallOptions)
	defer mustClose(t, s)
	if err := s.is(h.want); err != nil {
		t.Error(err)
	}
}

// list is a directory's names and sizes.
func list(t *testing.T, path string) string {
	t.Helper()
	files, err := openDir(t, path).List()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(files)
}

// TestSecondProcess: a store that another process has open is refused by name and not touched; when that process has
// been killed, it opens with all that was acknowledged.
func TestSecondProcess(t *testing.T) {
	l := life{Dir: ramDir(t), Seed: 5, Transactions: 100, Options: smallOptions, Stay: true}
	cmd := l.command(t)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	end := func() {
		if !ended {
			ended = true
			_ = cmd.Process.Kill()
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) {
				t.Errorf("the other process ended with %v", err)
			}
		}
	}
	defer end()
	for done := -1; done < l.Transactions; {
		if _, err := fmt.Fscan(out, &done); err != nil {
			t.Fatal(err)
		}
	}
	before := list(t, l.Dir)
	for last := ""; before != last; { // its last checkpoint may still be at work
		time.Sleep(50 * time.Millisecond)
		last, before = before, list(t, l.Dir)
	}
	for range 3 {
		if _, err := Open(openDir(t, l.Dir), testSchema, smallOptions); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), l.Dir) {
			t.Errorf("a second process gets the error %v", err)
		}
	}
	if after := list(t, l.Dir); after != before {
		t.Errorf("the refused opener has changed the files from %s to %s", before, after)
	}
	end()
	s := mustOpen(t, openDir(t, l.Dir), smallOptions)
	defer mustClose(t, s)
	if _, err := l.after(s, newModel(), l.Transactions); err != nil {
		t.Error(err)
	}
}
