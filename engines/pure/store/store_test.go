package store

import (
	"errors"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"tpccbench/engines/pure/store/fs"
)

// TestHistories: random histories of transactions, aborts, checkpoints, held snapshots and reopens leave what a plain
// map has, in small arenas and files, and no node is lost or used twice.
func TestHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir := fs.NewMem()
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		s, err := Open(dir, testSchema, smallOptions)
		if err != nil {
			t.Fatal(err)
		}
		want := newModel()
		ses := s.NewSession()
		held, heldWant := s.NewReader(), want
		held.Pin()
		checkHeld := func() {
			if got, err := stateOf(&held.view.reads); err != nil {
				t.Fatal(err)
			} else if err := same(got, heldWant); err != nil {
				t.Fatal("held snapshot:", err)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				if err := s.is(want); err != nil {
					t.Fatal(err)
				}
			},
			"transactions": func(t *rapid.T) {
				for range rapid.IntRange(1, 40).Draw(t, "n") {
					tx := draw(rng)
					if err := ses.Do(tx.run); err != nil && !(tx.abort && err == errAbort) {
						t.Fatal(err)
					}
					want = want.clone()
					want.apply(tx)
				}
			},
			"checkpoint": func(t *rapid.T) {
				if err := s.Checkpoint(); err != nil {
					t.Fatal(err)
				}
			},
			"hold": func(t *rapid.T) {
				checkHeld()
				held.Unpin()
				held.Pin()
				heldWant = want
			},
			"reopen": func(t *rapid.T) {
				checkHeld()
				held.Close()
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if s, err = Open(dir, testSchema, smallOptions); err != nil {
					t.Fatal(err)
				}
				ses = s.NewSession()
				held = s.NewReader()
				held.Pin()
				heldWant = want
			},
		})
		checkHeld()
		held.Close()
		err = s.control(func() error { return s.leaks() })
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// leaks compares what the tries hold with what the arena has handed out. It runs on the owner, with no reader pinned.
func (s *Store) leaks() error {
	s.checkpoints.wait()
	s.publish() // lets go of what was held
	used := int64(0)
	for _, r := range s.work.roots {
		used += nodes(&s.arena, r)
	}
	waste := int64(0)
	handedOut := int64(s.arena.count-1)*chunkWords*8 + int64(s.arena.next)*unitWords*8 - unitWords*8
	if s.arena.count == 0 {
		handedOut = 0
	}
	if s.arena.count > 1 {
		waste = int64(s.arena.count-1) * maxNodeWords * 8 // at the end of each chunk
	}
	if lost := handedOut - used - s.arena.freeBytes; lost < 0 || lost > waste {
		return errors.New("nodes were lost or are in two places")
	}
	return nil
}

// TestAbort: a transaction that fails for a value out of range, or by its own error, leaves no trace, not even beside
// others of the same save.
func TestAbort(t *testing.T) {
	s := mustOpen(t, fs.NewMem(), Options{})
	defer mustClose(t, s)
	ses := s.NewSession()
	if err := ses.Do(func(x *Tx) error {
		m, _ := x.Insert(accounts, 5)
		m.Set(0, 4095)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, v := range []int64{-1, 4096} {
		err := ses.Do(func(x *Tx) error {
			x.Delete(accounts, 5)
			m, _ := x.Insert(accounts, 6)
			m.Set(0, v)
			return nil
		})
		if !errors.Is(err, ErrRange) {
			t.Errorf("owner %d in 12 bits: error %v, want ErrRange", v, err)
		}
	}
	if err := ses.Do(func(x *Tx) error { x.Insert(accounts, 1<<32); return nil }); !errors.Is(err, ErrRange) {
		t.Errorf("key of 33 bits in 32: error %v, want ErrRange", err)
	}
	want := newModel()
	want.rows[accounts][5] = []int64{4095, 0, 0, 0, 0}
	if err := s.is(want); err != nil {
		t.Error(err)
	}
}

// TestAbortIndex: an aborted transaction leaves the indexes as they were, whatever it did to a row and in which order.
func TestAbortIndex(t *testing.T) {
	s := mustOpen(t, fs.NewMem(), Options{})
	defer mustClose(t, s)
	ses := s.NewSession()
	want := newModel()
	set := func(x *Tx, key uint64, owner int64) {
		m, ok := x.Edit(accounts, key)
		if !ok {
			m, _ = x.Insert(accounts, key)
		}
		m.Set(0, owner)
	}
	for key := range uint64(3) {
		if err := ses.Do(func(x *Tx) error { set(x, key, 7); return nil }); err != nil {
			t.Fatal(err)
		}
		want.rows[accounts][key] = []int64{7, 0, 0, 0, 0}
	}
	for name, change := range map[string]func(*Tx){
		"update":               func(x *Tx) { set(x, 0, 8) },
		"two updates":          func(x *Tx) { set(x, 0, 8); set(x, 0, 9) },
		"update, delete":       func(x *Tx) { set(x, 0, 8); x.Delete(accounts, 0) },
		"delete, insert":       func(x *Tx) { x.Delete(accounts, 0); set(x, 0, 8) },
		"insert, update":       func(x *Tx) { set(x, 5, 1); set(x, 5, 2) },
		"insert, delete, read": func(x *Tx) { set(x, 5, 1); x.Delete(accounts, 5); x.Get(accounts, 5) },
	} {
		if err := ses.Do(func(x *Tx) error { change(x); return errAbort }); err != errAbort {
			t.Fatalf("%s: error %v", name, err)
		}
		// What was aborted is published with the next save only.
		if err := ses.Do(func(x *Tx) error { x.Append(events); return nil }); err != nil {
			t.Fatal(err)
		}
		want.rows[events][want.events] = []int64{0, 0}
		want.events++
		if err := s.is(want); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAbortInFailedSave: a transaction that aborted is answered with its save, and gets no answer of its own when that
// fails: what it has seen may not be durable.
func TestAbortInFailedSave(t *testing.T) {
	broken := false
	s := mustOpen(t, fs.NewFault(fs.NewMem(), func(_ int, op fs.Op) error {
		if broken && op == fs.OpSync {
			return syscall.EIO
		}
		return nil
	}), Options{})
	defer mustClose(t, s)
	// Held up by the first request, the owner finds the other two together.
	hold := make(chan struct{})
	reqs := []*request{
		{run: func(*Tx) error { <-hold; return nil }},
		{run: func(x *Tx) error { x.Append(events); return nil }},
		{run: func(x *Tx) error { x.Insert(accounts, 1); return errAbort }},
	}
	for _, r := range reqs {
		r.done = make(chan struct{}, 1)
		s.queue.push(r)
	}
	broken = true // the owner syncs after hold is closed
	close(hold)
	for _, r := range reqs {
		<-r.done
	}
	if err := reqs[1].err; !errors.Is(err, ErrIndeterminate) || !errors.Is(err, ErrFailed) {
		t.Errorf("transaction in the failed save: error %v", err)
	}
	if err := reqs[2].err; !errors.Is(err, ErrFailed) || errors.Is(err, ErrIndeterminate) {
		t.Errorf("aborted transaction in the failed save: error %v", err)
	}
}

// TestConcurrent: sessions, snapshots, checkpoints and segment switches side by side. Each transaction moves money
// between accounts, so that every snapshot must show the same sum, and a session its own last write. It is meant for
// the race detector.
func TestConcurrent(t *testing.T) {
	dir := fs.NewMem()
	s := mustOpen(t, dir, smallOptions)
	const n, sum = 64, 64_000
	if err := s.Load(func(l *Loader) error {
		for i := range uint64(n) {
			m, _ := l.Insert(accounts, i)
			m.Set(1, sum/n)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	rounds := 2000
	if testing.Short() {
		rounds = 300
	}
	total := func(v *View) (sum int64) {
		for c := v.Scan(accounts, 0, n); c.Next(); {
			sum += c.Row().Get(1)
		}
		return sum
	}
	var wg sync.WaitGroup
	stop := make(chan struct{})
	old := s.NewReader() // held through all of it
	first := old.Pin()
	for g := range 6 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 1))
			ses, r := s.NewSession(), s.NewReader()
			defer r.Close()
			for i := range rounds {
				from, to, d := rng.Uint64N(n), rng.Uint64N(n), rng.Int64N(100)
				number := int64(0)
				if err := ses.Do(func(x *Tx) error {
					a, _ := x.Edit(accounts, from)
					a.Add(1, -d)
					b, _ := x.Edit(accounts, to)
					b.Add(1, d)
					k, e := x.Append(events)
					e.Set(0, int64(g))
					number = int64(k)
					return nil
				}); err != nil {
					t.Error(err)
					return
				}
				v := r.Pin()
				if got := total(v); got != sum {
					t.Errorf("session %d, round %d: sum %d, want %d", g, i, got, sum)
				}
				if row, ok := v.Get(events, uint64(number)); !ok || row.Get(0) != int64(g) {
					t.Errorf("session %d, round %d: its own event %d is not there", g, i, number)
				}
				r.Unpin()
			}
		})
	}
	var checks sync.WaitGroup
	checks.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := s.Checkpoint(); err != nil {
				t.Error(err)
				return
			}
			if got := total(first); got != sum || first.Rows(events) != 0 {
				t.Errorf("the snapshot held since the start: sum %d, %d events", got, first.Rows(events))
			}
		}
	})
	wg.Wait()
	close(stop)
	checks.Wait()
	old.Close()
	mustClose(t, s)
	s = mustOpen(t, dir, smallOptions)
	defer mustClose(t, s)
	r := s.NewReader()
	defer r.Close()
	if v := r.Pin(); total(v) != sum || v.Rows(events) != int64(6*rounds) {
		t.Errorf("reopened: sum %d, %d events; want %d, %d", total(v), v.Rows(events), sum, 6*rounds)
	}
}

// TestLoad: a load is durable when it returns, and only an empty store takes one.
func TestLoad(t *testing.T) {
	dir := fs.NewMem()
	s := mustOpen(t, dir, smallOptions)
	fill := func(l *Loader) error {
		for i := range uint64(5000) {
			m, _ := l.Insert(accounts, i*7)
			m.Set(0, int64(i%9))
			l.Append(events)
		}
		return nil
	}
	if err := s.Load(fill); err != nil {
		t.Fatal(err)
	}
	if err := s.Load(fill); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("second load: error %v, want ErrNotEmpty", err)
	}
	crashed := dir.Crash(rand.New(rand.NewPCG(1, 1)))
	mustClose(t, s)
	s = mustOpen(t, crashed, smallOptions)
	defer mustClose(t, s)
	want := newModel()
	for i := range uint64(5000) {
		want.rows[accounts][i*7] = []int64{int64(i % 9), 0, 0, 0, 0}
		want.rows[events][i] = []int64{0, 0}
	}
	if err := s.is(want); err != nil {
		t.Error(err)
	}
}

// TestClosed: who comes after Close is told so.
func TestClosed(t *testing.T) {
	s := mustOpen(t, fs.NewMem(), Options{})
	ses := s.NewSession()
	mustClose(t, s)
	if err := ses.Do(func(*Tx) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("Do after Close: error %v, want ErrClosed", err)
	}
}
