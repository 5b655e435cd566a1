package driver

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"tpccbench/engines"
	"tpccbench/tpcc"
	"tpccbench/tpcc/consistency"
)

// maxConsecutiveFailures is the number of failed transactions in a row with which a terminal ends.
const maxConsecutiveFailures = 10

// cacheLines keeps what one terminal writes off the cache lines of others: two lines, since processors fetch pairs.
type cacheLines [128]byte

// terminal draws inputs and hands them to its session, one at a time. All but live and ended is its goroutine's own,
// until the run has ended.
type terminal struct {
	_             cacheLines
	number        int
	left          int64 // transactions still to do; never: as many as there is time for
	clock         *clock
	recorder      *recorder
	schedule      *schedule // nil: a closed loop
	alarm         *alarm    // of an open loop
	onAck         func(Ack)
	source        tpcc.Terminal // by value: its state changes with each draw
	session       engines.Session
	ledger        *consistency.Ledger
	in            tpcc.Input
	out           tpcc.Output
	samples       [bufferedSamples]sample
	buffered      int // samples in use
	failuresInRow int
	live          counters
	ended         atomic.Bool
	_             cacheLines
}

func newTerminal(r *run, number int, session engines.Session) *terminal {
	t := &terminal{
		number:   number,
		left:     never,
		clock:    &r.clock,
		recorder: r.recorder,
		schedule: r.schedule,
		onAck:    r.cfg.OnAck,
		source:   *tpcc.NewTerminal(r.cfg.Seed, number, r.cfg.Scale, r.cfg.Weights),
		session:  session,
		ledger:   consistency.NewLedger(r.cfg.Scale),
	}
	if r.cfg.StopAfter > 0 {
		t.left = r.cfg.share(number)
	}
	return t
}

// run is the loop: closed, or open if there is a schedule.
func (t *terminal) run() {
	for ; t.left > 0; t.left-- {
		t.source.Next(&t.in)
		at, ok := t.begin()
		if !ok {
			break
		}
		err := t.call()
		done := t.clock.now()
		if err != nil {
			if t.failed(err, at, done) {
				break
			}
			continue
		}
		t.acknowledged(at, done)
	}
	t.flush()
}

// start is when a transaction begins, ns on the run's clock.
type start struct {
	intended int64 // from which latency counts; in a closed loop, begun
	begun    int64
	early    bool // the terminal waited for the intended start
}

// wakeLead is how long before the intended start a terminal ends its sleep and yields instead: a wake-up takes longer
// than that, so that it hardly ever has to.
const wakeLead = 10 * time.Microsecond

// begin waits for the start of the next transaction; !ok if the window is over.
func (t *terminal) begin() (at start, ok bool) {
	if t.schedule == nil {
		now := t.clock.now()
		return start{intended: now, begun: now}, now < t.clock.end.Load()
	}
	at.intended = t.schedule.take(t.clock.now())
	for {
		at.begun = t.clock.now()
		if end := t.clock.end.Load(); at.begun >= end || at.intended >= end {
			return at, false
		}
		left := time.Duration(at.intended - at.begun)
		switch {
		case left <= 0:
			return at, true
		case left > wakeLead:
			t.alarm.sleep(left - wakeLead)
		default:
			runtime.Gosched()
		}
		at.early = true
	}
}

// call hands the input to the session. A panic of the engine becomes an error.
func (t *terminal) call() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{value: p, stack: debug.Stack()}
		}
	}()
	return engines.Call(t.session, &t.in, &t.out)
}

// acknowledged keeps the books of a transaction that the engine has answered.
func (t *terminal) acknowledged(at start, done int64) {
	t.failuresInRow = 0
	s := t.sample(at, done, committed)
	switch t.in.Type {
	case tpcc.TxNewOrder:
		if t.out.NewOrder.RolledBack {
			s.outcome = rolledBack
		}
		t.ledger.NewOrder(&t.in.NewOrder, &t.out.NewOrder)
	case tpcc.TxPayment:
		t.ledger.Payment(&t.in.Payment)
	case tpcc.TxDelivery:
		s.skipped = uint8(t.out.Delivery.Skipped())
		t.ledger.Delivery(&t.in.Delivery, &t.out.Delivery)
	}
	if t.onAck != nil {
		t.onAck(Ack{Terminal: t.number, Number: t.live.attempts(), Input: &t.in, Output: &t.out})
	}
	t.live.completed[t.in.Type].Add(1)
	t.record(s)
}

// failed keeps the books of a transaction that failed, and says whether the terminal ends with it.
func (t *terminal) failed(err error, at start, done int64) (ends bool) {
	t.failuresInRow++
	var panicked *panicError
	ends = errors.Is(err, engines.ErrFailed) || errors.Is(err, engines.ErrIndeterminate) || errors.As(err, &panicked) ||
		t.failuresInRow >= maxConsecutiveFailures
	t.recorder.fail(Failure{
		Terminal:      t.number,
		Number:        t.live.attempts(),
		Type:          t.in.Type.String(),
		AtNS:          done - int64(t.clock.start),
		Error:         err.Error(),
		DeviceFull:    errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG),
		EndedTerminal: ends,
	})
	t.live.failures.Add(1)
	t.record(t.sample(at, done, failed))
	return ends
}

func (t *terminal) sample(at start, done int64, o outcome) sample {
	return sample{done: done, latency: done - at.intended, wait: at.begun - at.intended, early: at.early, typ: t.in.Type, outcome: o}
}

func (t *terminal) record(s sample) {
	t.samples[t.buffered] = s
	t.buffered++
	if t.buffered == len(t.samples) {
		t.flush()
	}
}

func (t *terminal) flush() {
	t.recorder.add(t.samples[:t.buffered])
	t.buffered = 0
}

// closeSession closes the session, and what the terminal has beside it. A panic of the engine becomes an error.
func (t *terminal) closeSession() (err error) {
	if t.alarm != nil {
		defer t.alarm.close()
	}
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{value: p, stack: debug.Stack()}
		}
		if err != nil {
			err = fmt.Errorf("driver: closing the session of terminal %d: %w", t.number, err)
		}
	}()
	return t.session.Close()
}

// panicError is a panic of an engine.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }
