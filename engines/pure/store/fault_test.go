package store

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"

	"tpccbench/engines/pure/store/fs"
	"tpccbench/internal/attack"
)

// injury says which operations on files fail with cause.
type injury struct {
	from, to int   // the numbers of the first and the last
	only     fs.Op // none but these; "": all
	cause    error
}

func (in injury) String() string {
	only := "any operation"
	if in.only != "" {
		only = string(in.only)
	}
	return fmt.Sprintf("%v in %s from operation %d to %d", in.cause, only, in.from, in.to)
}

const forGood = math.MaxInt

// injured runs a history over a directory that fails, and checks that the store says so, that reads go on, and that
// what was acknowledged is there when it is opened again: after a crash of the program, and after a power cut. It
// returns the number of operations and of those that failed.
func injured(seed uint64, in injury) (ops, hits int, err error) {
	rng := rand.New(rand.NewPCG(seed, uint64(in.from)))
	mem := fs.NewMem()
	dir := fs.NewFault(mem, func(i int, op fs.Op) error {
		if i >= in.from && i <= in.to && (in.only == "" || in.only == op) {
			hits++
			return fmt.Errorf("injected into %s: %w", op, in.cause)
		}
		return nil
	})
	err = hurt(rng, mem, dir, in.cause)
	return dir.Ops(), hits, err
}

func hurt(rng *rand.Rand, mem *fs.Mem, dir *fs.Fault, cause error) error {
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
			return fmt.Errorf("open does not say why: %w", err)
		}
		return reopened(nil, mem.Crash(rng), "after an open that failed")
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
			return fmt.Errorf("the failure does not say what it is: %w", failed)
		}
		if err := h.group(); !errors.Is(err, ErrFailed) || errors.Is(err, ErrIndeterminate) {
			return fmt.Errorf("a transaction after the failure gives %v", err)
		}
		if err := s.is(h.saves[h.acknowledged.Load()]); err != nil {
			return fmt.Errorf("reading after the failure: %w", err)
		}
	}
	acknowledged := h.acknowledged.Load()
	if err := s.Close(); err != nil && !errors.Is(err, cause) {
		return err
	}
	h.acknowledged.Store(acknowledged)
	if err := reopened(h, mem.Crash(rng), "after a power cut"); err != nil {
		return err
	}
	return reopened(h, mem.Clone(), "after the program ended")
}

// TestFailingDevice: an error in each operation in turn, once and for good.
func TestFailingDevice(t *testing.T) {
	const seed = 11
	step := 1
	if testing.Short() {
		step = 7
	}
	histories, errs := 0, 0
	for _, cause := range []error{syscall.EIO, syscall.ENOSPC} {
		for _, lasting := range []bool{false, true} {
			for n := 1; ; n += step {
				in := injury{from: n, to: n, cause: cause}
				if lasting {
					in.to = forGood
				}
				ops, hits, err := injured(seed, in)
				if err != nil {
					t.Fatalf("seed %d, %v: %v", seed, in, err)
				}
				histories, errs = histories+1, errs+hits
				if ops < n {
					t.Logf("lasting %v, %v: each of %d operations failed", lasting, cause, n-1)
					break
				}
			}
		}
	}
	t.Logf("figures: histories=%d errors=%d reopened=%d", histories, errs, 2*histories)
}

// TestFailingNowAndThen: other histories, with errors in one operation, in a few after one another, in all from one on,
// or in those of one kind alone: in every sync but in no write, say.
func TestFailingNowAndThen(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 20
	}
	a := attack.New(t, rounds)
	for seed := range a.Rounds() {
		rng := rand.New(rand.NewPCG(seed, 1))
		in := injury{from: 1 + rng.IntN(180), cause: []error{syscall.EIO, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EFBIG}[rng.IntN(5)]}
		in.to = []int{in.from, in.from + 1 + rng.IntN(10), forGood}[rng.IntN(3)]
		if rng.IntN(2) == 0 {
			in.only = []fs.Op{fs.OpCreate, fs.OpOpen, fs.OpRename, fs.OpRemove, fs.OpList, fs.OpSyncDir, fs.OpRead, fs.OpWrite, fs.OpSync, fs.OpSize}[rng.IntN(10)]
			in.to = []int{in.from + rng.IntN(30), forGood}[rng.IntN(2)]
		}
		_, hits, err := injured(seed, in)
		if err != nil {
			t.Fatalf("seed %d, %v: %v", seed, in, err)
		}
		a.Count("histories", 1)
		a.Count("errors", hits)
		a.Count("reopened", 2)
	}
}
