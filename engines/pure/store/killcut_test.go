package store

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tpccbench/engines/pure/store/fs"
)

// killAndCut runs a store in a process that is killed at random operations, goes on with each directory that is left,
// in which much is written and not synced, and cuts the power while that runs. What either process acknowledged must
// be there, and what the second one found when it opened the store, for it has shown that to its readers.
func killAndCut(seed uint64) (reopened int, err error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	dir := fs.NewMem()
	s, err := Open(dir, testSchema, smallOptions)
	if err != nil {
		return 0, err
	}
	h := newHistory(rng, s, newModel())
	var kills []crashed
	draw := rand.New(rand.NewPCG(seed, 1))
	dir.OnOp(func(op int, what string) {
		if draw.IntN(25) == 0 {
			kills = append(kills, crashed{dir.Killed(), op, what, h.acknowledged.Load()})
		}
	})
	for range 25 {
		if err := h.group(); err != nil {
			return 0, err
		}
	}
	if err := s.Close(); err != nil {
		return 0, err
	}
	dir.OnOp(nil)
	for _, k := range kills {
		var cuts []crashed
		var second *history // once its store is open
		k.dir.OnOp(func(op int, what string) {
			if draw.IntN(6) > 0 {
				return
			}
			cut := crashed{k.dir.Crash(draw), op, what, k.acknowledged}
			if second != nil {
				cut.acknowledged = second.acknowledged.Load()
			}
			cuts = append(cuts, cut)
		})
		s, err := Open(k.dir, testSchema, smallOptions)
		if err != nil {
			return reopened, fmt.Errorf("killed at operation %d (%s): %w", k.op, k.what, err)
		}
		if err := h.holds(s, k.acknowledged); err != nil {
			return reopened, fmt.Errorf("killed at operation %d (%s): %w", k.op, k.what, err)
		}
		found := newHistory(rng, s, h.saves[s.current.Load().sequence])
		for sequence, m := range h.saves {
			if sequence <= s.current.Load().sequence {
				found.saves[sequence] = m // the power may be cut before the second process has opened the store
			}
		}
		second = found
		for range 8 {
			if err := second.group(); err != nil {
				return reopened, err
			}
		}
		if err := s.Close(); err != nil {
			return reopened, err
		}
		k.dir.OnOp(nil)
		for _, c := range cuts {
			s, err := Open(c.dir, testSchema, smallOptions)
			if err == nil {
				reopened++
				err = found.holds(s, c.acknowledged)
				if cerr := s.Close(); err == nil {
					err = cerr
				}
			}
			if err != nil {
				return reopened, fmt.Errorf("killed at operation %d (%s), power cut at operation %d (%s): %w", k.op, k.what, c.op, c.what, err)
			}
		}
	}
	return reopened, nil
}

// TestKillThenPowerCut: CRASH_SCHEDULES schedules with the seeds from CRASH_SEED on.
func TestKillThenPowerCut(t *testing.T) {
	schedules := int(number(t, "CRASH_SCHEDULES", 30))
	if testing.Short() {
		schedules = min(schedules, 6)
	}
	total := 0
	first := number(t, "CRASH_SEED", rand.Uint64N(1<<62))
	t.Logf("seeds %d..%d", first, first+uint64(schedules)-1)
	for i := range schedules {
		n, err := killAndCut(first + uint64(i))
		total += n
		if err != nil {
			t.Fatalf("seed %d: %v", first+uint64(i), err)
		}
	}
	t.Logf("%d schedules, %d reopened stores", schedules, total)
	if total == 0 {
		t.Error("no power was cut")
	}
}
