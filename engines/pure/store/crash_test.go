package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync/atomic"
	"testing"

	"tpccbench/engines/pure/store/fs"
)

// history drives a store and knows what it should hold after each save.
type history struct {
	rng   *rand.Rand
	s     *Store
	want  *model            // after all transactions that were not refused
	saves map[uint64]*model // by sequence
	// acknowledged is the last save that a transaction was told is durable.
	acknowledged atomic.Uint64
	reqs         []request
}

func newHistory(rng *rand.Rand, s *Store, want *model) *history {
	h := &history{rng: rng, s: s, want: want, saves: map[uint64]*model{}, reqs: make([]request, 5)}
	h.saves[s.work.sequence] = want
	h.acknowledged.Store(s.work.sequence)
	for i := range h.reqs {
		h.reqs[i].done = make(chan struct{}, 1)
	}
	return h
}

// group hands a few transactions over at once, so that some become one save, and waits for all. It returns the first
// error that is not an abort.
func (h *history) group() error {
	n := 1 + h.rng.IntN(len(h.reqs))
	after := make([]uint64, n) // the save that each is part of
	want := make([]*model, n)
	for i := range n {
		tx := draw(h.rng)
		h.want = h.want.clone()
		h.want.apply(tx)
		want[i] = h.want
		r := &h.reqs[i]
		r.err = nil
		r.run = func(x *Tx) error {
			after[i] = x.v.sequence + 1
			return tx.run(x)
		}
		h.s.queue.push(r)
	}
	var failed error
	for i := range n {
		r := &h.reqs[i]
		<-r.done
		switch {
		case r.err == nil:
			h.saves[after[i]] = want[i]
			h.acknowledged.Store(max(h.acknowledged.Load(), min(after[i], h.s.current.Load().sequence)))
		case r.err == errAbort:
			h.saves[after[i]] = want[i]
		case errors.Is(r.err, ErrIndeterminate):
			h.saves[after[i]] = want[i]
			fallthrough
		default:
			if failed == nil {
				failed = r.err
			}
		}
	}
	return failed
}

// holds checks that a reopened store holds one of the saves, none older than the acknowledged one.
func (h *history) holds(s *Store, acknowledged uint64) error {
	got := s.current.Load().sequence
	want := h.saves[got]
	if got < acknowledged || want == nil {
		return fmt.Errorf("it holds save %d; acknowledged was %d", got, acknowledged)
	}
	if err := s.is(want); err != nil {
		return fmt.Errorf("save %d: %w", got, err)
	}
	return nil
}

// crashed is a directory after a power cut.
type crashed struct {
	dir          *fs.Mem
	op           int
	what         string
	acknowledged uint64
}

// schedule runs one history, with power cuts at random operations, and reopens what each leaves: the whole saves up to
// one that is not older than the acknowledged ones. It goes on from some of them to the next cuts. The store has what
// through makes of its directory.
func schedule(seed uint64, through func(fs.Dir) fs.Dir) (reopened int, err error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	dir, want := fs.NewMem(), newModel()
	for round := range 3 {
		s, err := Open(through(dir), testSchema, smallOptions)
		if err != nil {
			return reopened, fmt.Errorf("round %d: %w", round, err)
		}
		if round > 0 {
			if err := s.is(want); err != nil {
				return reopened, fmt.Errorf("round %d: %w", round, err)
			}
		}
		h := newHistory(rng, s, want)
		var cuts []crashed
		cut := rand.New(rand.NewPCG(seed, uint64(round+1)))
		dir.OnOp(func(op int, what string) {
			if cut.IntN(12) == 0 {
				cuts = append(cuts, crashed{dir.Crash(cut), op, what, h.acknowledged.Load()})
			}
		})
		for range 30 {
			if err := h.group(); err != nil {
				return reopened, fmt.Errorf("round %d: %w", round, err)
			}
		}
		if err := s.Close(); err != nil {
			return reopened, err
		}
		dir.OnOp(nil)
		for i, c := range cuts {
			s, err := Open(c.dir, testSchema, smallOptions)
			if err != nil {
				return reopened, fmt.Errorf("round %d, power cut at operation %d (%s): %w", round, c.op, c.what, err)
			}
			reopened++
			err = h.holds(s, c.acknowledged)
			if err == nil && i == len(cuts)/2 { // the next round starts from here
				dir, want = c.dir, h.saves[s.current.Load().sequence]
			}
			if cerr := s.Close(); err == nil {
				err = cerr
			}
			if err != nil {
				return reopened, fmt.Errorf("round %d, power cut at operation %d (%s): %w", round, c.op, c.what, err)
			}
		}
	}
	return reopened, nil
}

// honest is a directory as it is.
func honest(d fs.Dir) fs.Dir { return d }

// number is an environment variable, or what it means if it is not set.
func number(t *testing.T, name string, unset uint64) uint64 {
	text, ok := os.LookupEnv(name)
	if !ok {
		return unset
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q: %v", name, text, err)
	}
	return n
}

// TestPowerCut: CRASH_SCHEDULES schedules with the seeds from CRASH_SEED on. A failure tells its seed.
func TestPowerCut(t *testing.T) {
	schedules := int(number(t, "CRASH_SCHEDULES", 150))
	if testing.Short() {
		schedules = min(schedules, 30)
	}
	total := 0
	first := number(t, "CRASH_SEED", rand.Uint64N(1<<62))
	t.Logf("seeds %d..%d", first, first+uint64(schedules)-1)
	for i := range schedules {
		n, err := schedule(first+uint64(i), honest)
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
