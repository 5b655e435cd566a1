package store

import (
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"tpccbench/engines/pure/store/reclog"
)

// The owner is the one goroutine that changes the store. It takes all that waits, applies it, writes the change
// records of all of it as one save, publishes the version, and only then answers:
//
//	sessions --push--> queue --take--> gather -> apply + encode -> write + fdatasync -> publish -> answer
//	                     ^                                                                    |
//	                     +------------------------- next batch <------------------------------+
//
// Invariants: only the owner touches the working state, the arena's free lists and the log; between batches the working
// state is the current version, unless the store has failed; a request is answered once, and is not looked at after.
//
// It is locked to an OS thread of the name OwnerThread, so that its share of a core can be read from the system. When
// it finds no work it looks again for a moment (Options.OwnerSpins), then yields, then parks: giving a locked thread's
// processor away and getting it back costs more than a batch. (Measured on two cores, in memory, transactions/s at 16
// and 64 terminals against yielding at once: 98-115k and 214-236k so, 140-159k and 192-246k with the pauses. Having
// the sessions wake one another in chains, or look for their answer before they park, gave less.)

// ownerYields is how often the idle owner yields before it parks.
const ownerYields = 100

// OwnerThread is the name of the owner's thread.
const OwnerThread = "pure-owner"

// minGather is the least time worth waiting for, and maxGather the most that is waited: see gather.
const (
	minGather = 20 * time.Microsecond
	maxGather = 5 * time.Millisecond
)

// maxBatchBytes is when a batch takes no more requests: its records reach this size.
const maxBatchBytes = 4 << 20

// Session hands transactions over, one at a time.
type Session struct {
	s   *Store
	req request
}

// NewSession returns a session; it needs no closing.
func (s *Store) NewSession() *Session {
	return &Session{s: s, req: request{done: make(chan struct{}, 1)}}
}

// Do runs f on the owner goroutine and returns when its changes, and all that f has seen, are durable, or with an
// error: f's own, ErrRange, ErrFailed, ErrClosed. Any error that does not wrap ErrIndeterminate means that nothing of
// it is left. Do allocates nothing.
func (c *Session) Do(f TxFunc) error {
	c.req.run = f
	return c.s.hand(&c.req)
}

// hand has the owner carry out r and waits for it.
func (s *Store) hand(r *request) error {
	if err := s.Failed(); err != nil {
		return err
	}
	s.queue.push(r)
	if s.closed.Load() {
		s.refuse()
	}
	<-r.done
	return r.err
}

// refuse answers what came too late for the owner. Who pushes looks at closed afterwards, and the owner refuses once
// more after setting it: so nobody waits in vain.
func (s *Store) refuse() {
	for r := s.queue.take(); r != nil; {
		next := r.next
		r.err = ErrClosed
		r.done <- struct{}{}
		r = next
	}
}

// control runs f on the owner goroutine, between saves.
func (s *Store) control(f func() error) error {
	return s.hand(&request{control: f, done: make(chan struct{}, 1)})
}

// own is the owner's loop.
func (s *Store) own(started chan<- struct{}) {
	runtime.LockOSThread() // never unlocked: the thread, with its name, ends with the goroutine
	defer close(s.stopped)
	s.stats.ownerTID.Store(int64(unix.Gettid()))
	name := [16]byte{}
	copy(name[:len(name)-1], OwnerThread)
	// A thread without its name is no reason to fail; its TID is known.
	_, _, _ = unix.RawSyscall(unix.SYS_PRCTL, unix.PR_SET_NAME, uintptr(unsafe.Pointer(&name)), 0)
	close(started)

	idle, processors := 0, runtime.GOMAXPROCS(0)
	for !s.closed.Load() {
		batch := s.queue.take()
		if batch == nil {
			switch idle++; {
			case idle < s.opt.OwnerSpins && processors > 1:
				pause()
			case idle < s.opt.OwnerSpins+ownerYields:
				runtime.Gosched()
			default:
				s.queue.park()
			}
			continue
		}
		idle = 0
		for batch = s.gather(batch); batch != nil; {
			batch = s.save(batch)
		}
	}
	s.refuse()
}

// gather waits for the sessions that are about to come back before their requests would just miss a save that has a sync
// to pay: without it sessions without think time fall into two halves that take turns, each with a sync of its own. It
// waits until as many requests are there as were answered and were waiting when the last save ended, an eighth less,
// but no longer than half the time that a sync has taken lately, and not at all where a sync costs next to nothing.
func (s *Store) gather(list *request) *request {
	patience := min(s.syncTime/2, maxGather)
	if patience < minGather {
		return list
	}
	start := time.Now()
	n, last := list.last()
	for n < s.expected-s.expected/8 && time.Since(start) < patience {
		runtime.Gosched()
		if more := s.queue.take(); more != nil {
			var m int
			last.next = more
			m, last = more.last()
			n += m
		}
	}
	s.stats.gather.add(int64(time.Since(start)))
	return list
}

// save carries out requests from the list, as many as one save takes, and returns the others.
func (s *Store) save(list *request) (rest *request) {
	if list.run == nil {
		rest = list.next
		if list.closing {
			s.closed.Store(true)
		} else if list.err = s.Failed(); list.err == nil {
			list.err = list.control()
		}
		list.done <- struct{}{}
		return rest
	}
	clock := time.Now()
	lap := func(part *counter) time.Duration {
		now := time.Now()
		d := now.Sub(clock)
		part.add(int64(d))
		clock = now
		return d
	}
	failed := s.Failed()
	s.tx.startSave()
	committed := uint32(0)
	r := list
	for ; r != nil && r.run != nil && len(s.tx.payload) < maxBatchBytes; r = r.next {
		if failed != nil {
			r.err = failed
			continue
		}
		if r.err = s.apply(r.run); r.err == nil {
			committed++
		}
	}
	rest = r
	lap(&s.stats.apply)
	if len(s.tx.payload) > 0 {
		err := s.persist(committed, lap)
		if err != nil {
			for r := list; r != rest; r = r.next {
				if r.err == nil {
					r.err = err
				} else {
					r.err = s.Failed() // it was to be answered after the save that did not come
				}
			}
		} else {
			s.publish()
			s.stats.transactions.add(int64(committed))
		}
		lap(&s.stats.publish)
	}
	if s.syncTime >= 2*minGather {
		s.expected = list.until(rest) + s.queue.waiting()
	}
	for r := list; r != rest; {
		next := r.next // r is its session's again once answered
		r.done <- struct{}{}
		r = next
	}
	lap(&s.stats.answer)
	if len(s.tx.payload) > 0 {
		s.mayCheckpoint()
	}
	return rest
}

// apply runs one transaction on the working state, which appends its records to the save's payload.
func (s *Store) apply(run TxFunc) error {
	x := &s.tx
	x.begin()
	err := run(x)
	x.close()
	if err == nil {
		err = x.err
	}
	if err != nil {
		x.abort()
		return err
	}
	return nil
}

// persist makes the batch durable, or fails the store for good: the working state is ahead of what is durable, and
// what the failed write left only opening again can tell.
func (s *Store) persist(committed uint32, lap func(*counter) time.Duration) error {
	sequence := s.work.sequence + 1
	bytes, started, err := s.log.write(reclog.Save{Sequence: sequence, Transactions: committed, Payload: s.tx.payload},
		func() { lap(&s.stats.write) })
	if err != nil {
		return s.fail(err, started)
	}
	s.syncTime += (lap(&s.stats.sync) - s.syncTime) / 8
	s.work.sequence = sequence
	s.stats.saves.add(1)
	s.stats.logBytes.add(int64(len(s.tx.payload)))
	s.stats.logFileBytes.add(bytes)
	s.checkpoints.logBytes += bytes
	return nil
}

// fail latches the failure and returns the error of the transactions in flight.
func (s *Store) fail(err error, indeterminate bool) error {
	failed := fmt.Errorf("%w: %w; nothing more is written, open it again", ErrFailed, err)
	s.failed.Store(&failed)
	if indeterminate {
		return fmt.Errorf("%w: %w", ErrIndeterminate, failed)
	}
	return failed
}

// publish makes the working state the current version, and goes on to the next epoch.
func (s *Store) publish() {
	v := newVersion(s.layout)
	v.set(s.work)
	v.epoch = s.arena.epoch
	s.current.Store(v)
	s.reclaimer.reclaim(&s.arena, s.arena.epoch, *s.readers.Load())
	s.arena.epoch++
	s.stats.freeBytes.Store(s.arena.freeBytes)
}
