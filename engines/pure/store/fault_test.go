package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"tpccbench/engines/pure/store/fs"
)

// injured runs a history over a directory whose operation number n fails, once or from then on, and checks that the
// store says so, that reads go on, and that what was acknowledged is there when it is opened again: after a crash of
// the program, and after a power cut. It returns the number of operations.
func injured(seed uint64, n int, lasting bool, cause error) (ops int, err error) {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	mem := fs.NewMem()
	dir := fs.NewFault(mem, func(i int, op fs.Op) error {
		if i == n || lasting && i > n {
			return fmt.Errorf("injected into %s: %w", op, cause)
		}
		return nil
	})
	reopened := func(h *history, m *fs.Mem, what string) error {
		s, err := Open(m, testSchema, smallOptions)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		defer s.Close()
		if h == nil {
			h = newHistory(rng, s, newModel())
		}
		if err := h.holds(s, h.acknowledged.Load()); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	}
	s, err := Open(dir, testSchema, smallOptions)
	if err != nil {
		if !errors.Is(err, cause) {
			return dir.Ops(), fmt.Errorf("open does not say why: %w", err)
		}
		return dir.Ops(), reopened(nil, mem.Crash(rng), "after an open that failed")
	}
	h := newHistory(rng, s, newModel())
	var failed error
	for range 25 {
		if failed = h.group(); failed != nil {
			break
		}
	}
	if failed != nil {
		if !errors.Is(failed, ErrFailed) || !errors.Is(failed, cause) {
			return dir.Ops(), fmt.Errorf("the failure does not say what it is: %w", failed)
		}
		if err := h.group(); !errors.Is(err, ErrFailed) || errors.Is(err, ErrIndeterminate) {
			return dir.Ops(), fmt.Errorf("a transaction after the failure gives %v", err)
		}
		if err := s.is(h.saves[h.acknowledged.Load()]); err != nil {
			return dir.Ops(), fmt.Errorf("reading after the failure: %w", err)
		}
	}
	acknowledged := h.acknowledged.Load()
	if err := s.Close(); err != nil && !errors.Is(err, cause) {
		return dir.Ops(), err
	}
	h.acknowledged.Store(acknowledged)
	if err := reopened(h, mem.Crash(rng), "after a power cut"); err != nil {
		return dir.Ops(), err
	}
	return dir.Ops(), reopened(h, mem.Clone(), "after the program ended")
}

// TestFailingDevice: an error in each operation in turn, once and for good.
func TestFailingDevice(t *testing.T) {
	const seed = 11
	step := 1
	if testing.Short() {
		step = 7
	}
	for _, cause := range []error{syscall.EIO, syscall.ENOSPC} {
		for _, lasting := range []bool{false, true} {
			for n := 1; ; n += step {
				ops, err := injured(seed, n, lasting, cause)
				if err != nil {
					t.Fatalf("seed %d, operation %d, lasting %v, %v: %v", seed, n, lasting, cause, err)
				}
				if ops < n {
					t.Logf("lasting %v, %v: each of %d operations failed", lasting, cause, n-1)
					break
				}
			}
		}
	}
}
