package store

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tpccbench/engines/pure/store/fs"
	"tpccbench/internal/attack"
)

// lookEvery is what those who only look wait between two looks, so as not to take the processor from the owner.
const lookEvery = 200 * time.Microsecond

// fingerprint hashes all rows that a view shows, in their order, and its index.
func fingerprint(v *View) uint64 {
	h := fnv.New64a()
	for t := range testSchema.Tables {
		for c := v.Scan(TableID(t), 0, math.MaxUint64); c.Next(); {
			fmt.Fprintln(h, t, c.Key())
			for f := range testSchema.Tables[t].Fields {
				fmt.Fprintln(h, c.Row().Get(f))
			}
		}
	}
	for c := v.ScanIndex(byOwner, 0, math.MaxUint64); c.Next(); {
		fmt.Fprintln(h, c.Key())
	}
	return h.Sum64()
}

// Each transaction of TestSnapshots moves money between accounts, takes a member out and puts another in, adds an event
// and counts itself in account transferCounter. So every state has the same sum and number of members, and as many
// events as the counter says.
const (
	transferAccounts = 40
	transferSum      = transferAccounts << 30
	transferMembers  = 30
	transferCounter  = 1<<28 - 1
)

func transfer(rng *rand.Rand) TxFunc {
	from, to, d := rng.Uint64N(transferAccounts), rng.Uint64N(transferAccounts), rng.Int64N(1000)
	owner, leaves, comes, what := rng.Int64N(4096), rng.Uint64(), rng.Uint64()>>20, rng.Int64N(256)
	return func(x *Tx) error {
		a, _ := x.Edit(accounts, from)
		a.Add(1, -d)
		b, _ := x.Edit(accounts, to)
		b.Add(1, d)
		b.Set(0, owner)
		c, _ := x.Edit(accounts, transferCounter)
		c.Add(1, 1)
		key, _, ok := x.Last(members, 0, leaves)
		if !ok {
			key, _, _ = x.Last(members, 0, math.MaxUint64)
		}
		if _, ok := x.Insert(members, comes); ok {
			x.Delete(members, key)
		}
		_, e := x.Append(events)
		e.Set(0, what)
		return nil
	}
}

// sound says what is wrong with a view of a store that ran only transfers, or nil.
func sound(v *View) error {
	sum := int64(0)
	for c := v.Scan(accounts, 0, transferAccounts-1); c.Next(); {
		sum += c.Row().Get(1)
	}
	row, ok := v.Get(accounts, transferCounter)
	switch {
	case sum != transferSum:
		return fmt.Errorf("save %d: the sum is %d, not %d", v.Sequence(), sum, int64(transferSum))
	case v.Rows(members) != transferMembers:
		return fmt.Errorf("save %d: %d members, not %d", v.Sequence(), v.Rows(members), transferMembers)
	case !ok || row.Get(1) != v.Rows(events):
		return fmt.Errorf("save %d: %d events, and a counter that differs", v.Sequence(), v.Rows(events))
	}
	return nil
}

// TestSnapshots: sessions, snapshots, checkpoints, statistics and the end of the store side by side. A snapshot shows
// whole transactions only, the last ones that its goroutine was answered included, and never an older state than the
// one before; one that is held through thousands of saves stays the same to the last bit; and what was answered when
// the store was closed in the middle of it all is there, and no more. It is meant for the race detector.
func TestSnapshots(t *testing.T) {
	rounds, saves := 4, int64(4000)
	if testing.Short() {
		rounds, saves = 1, 1500
	}
	a := attack.New(t, rounds)
	for seed := range a.Rounds() {
		if err := snapshots(a, seed, saves); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func snapshots(a *attack.Attack, seed uint64, saves int64) error {
	rng := rand.New(rand.NewPCG(seed, 0))
	dir := fs.NewMem()
	opt := Options{LogSegmentBytes: 32<<10 + rng.Int64N(256<<10), CheckpointMinBytes: 64<<10 + rng.Int64N(512<<10), CheckpointLogRatio: 0.1}
	s, err := Open(dir, testSchema, opt)
	if err != nil {
		return err
	}
	if err := s.Load(func(l *Loader) error {
		for i := range uint64(transferAccounts) {
			m, _ := l.Insert(accounts, i)
			m.Set(1, transferSum/transferAccounts)
		}
		l.Insert(accounts, transferCounter)
		for i := range uint64(transferMembers) {
			l.Insert(members, i<<30)
		}
		return nil
	}); err != nil {
		return err
	}
	var (
		wg                    sync.WaitGroup
		answered, views, held atomic.Int64
		failed                = make(chan error, 100)
		closed                = make(chan struct{})
	)
	fail := func(format string, args ...any) {
		select {
		case failed <- fmt.Errorf(format, args...):
		default:
		}
	}
	open := func() bool {
		select {
		case <-closed:
			return false
		default:
			return true
		}
	}
	for g := range 2 + rng.IntN(6) { // sessions; each looks at the state after each of its transactions
		rng := rand.New(rand.NewPCG(seed, uint64(g+1)))
		wg.Go(func() {
			ses, r := s.NewSession(), s.NewReader()
			defer r.Close()
			mine := int64(0)
			for {
				err := ses.Do(transfer(rng))
				if errors.Is(err, ErrClosed) {
					return
				}
				if err != nil {
					fail("session %d: %w", g, err)
					return
				}
				mine++
				answered.Add(1)
				if rng.IntN(8) > 0 {
					continue
				}
				v := r.Pin()
				if err := sound(v); err != nil {
					fail("session %d: %w", g, err)
				}
				if n := v.Rows(events); n < mine {
					fail("session %d: %d of its own transactions were answered, a view shows %d in all", g, mine, n)
				}
				r.Unpin()
				views.Add(1)
			}
		})
	}
	for g := range 1 + rng.IntN(3) { // holders; each keeps a view through many saves
		rng := rand.New(rand.NewPCG(seed, uint64(g+101)))
		wg.Go(func() {
			r := s.NewReader()
			defer r.Close()
			last := uint64(0)
			for open() {
				v := r.Pin()
				if v.Sequence() < last {
					fail("holder %d: save %d was shown after save %d", g, v.Sequence(), last)
				}
				last = v.Sequence()
				before := fingerprint(v)
				until := s.Stats().Saves + rng.Int64N(2000)
				for open() && s.Stats().Saves < until {
					if err := sound(v); err != nil {
						fail("holder %d: %w", g, err)
					}
					time.Sleep(lookEvery)
				}
				if after := fingerprint(v); after != before {
					fail("holder %d: save %d has changed while it was held", g, last)
				}
				r.Unpin()
				held.Add(1)
			}
		})
	}
	wg.Go(func() { // checkpoints, besides those that the log's size starts
		for {
			if err := s.Checkpoint(); err != nil {
				if !errors.Is(err, ErrClosed) {
					fail("checkpoint: %w", err)
				}
				return
			}
			time.Sleep(lookEvery)
		}
	})
	old := s.NewReader() // held through all of it
	first := old.Pin()
	before := fingerprint(first)
	for s.Stats().Saves < saves && len(failed) == 0 {
		r := s.NewReader() // readers come and go
		if err := sound(r.Pin()); err != nil {
			fail("%w", err)
		}
		r.Close()
		views.Add(1)
		time.Sleep(lookEvery)
	}
	if after := fingerprint(first); after != before {
		fail("save %d has changed while it was held through %d saves", first.Sequence(), s.Stats().Saves)
	}
	old.Close()
	checkpoints := s.Stats().Checkpoints
	if err := s.Close(); err != nil {
		fail("close: %w", err)
	}
	close(closed)
	wg.Wait()
	a.Count("saves", int(s.Stats().Saves))
	a.Count("views", int(views.Load()))
	a.Count("held", int(held.Load())+1)
	a.Count("checkpoints", int(checkpoints))
	if len(failed) > 0 {
		return <-failed
	}
	if checkpoints == 0 {
		return errors.New("there was no checkpoint")
	}
	if s, err = Open(dir, testSchema, opt); err != nil {
		return fmt.Errorf("reopen: %w", err)
	}
	r := s.NewReader()
	v := r.Pin()
	err = sound(v)
	if n := v.Rows(events); err == nil && n != answered.Load() {
		err = fmt.Errorf("%d transactions were answered, the reopened store has %d", answered.Load(), n)
	}
	r.Close()
	a.Count("reopened", 1)
	return errors.Join(err, s.Close())
}
