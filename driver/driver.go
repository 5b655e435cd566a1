// Package driver runs TPC-C against an engine: terminals in a closed or an open loop, the measured window, latencies by
// transaction type, a per-second series, exact counts, and the ledger of what was acknowledged.
//
// # Time
//
// One monotonic clock per run, in ns, starts at the moment at which all terminals are released together; their
// sessions are open by then. The measured window is [WarmUp, WarmUp+Duration) of it; of a run of StopAfter
// transactions it is [0, end of the last one]. A transaction belongs to the window, and to the second of it, in which
// it ended, and is in the figures only if that is inside. So one that was in flight at the end is finished, is in the
// ledger, and is in no figure; nor is what the warm-up did. Rates divide by the length of the window, which is cut
// short by an interruption.
//
// # Latency
//
// A latency is the terminal's view: from the call to the answer, which an engine gives when the outcome is durable. The
// draw of the input before it and the bookkeeping after it are not in it. In a closed loop a terminal that waits sends
// nothing, so a stall of the engine appears once per terminal, in the maximum and in the series, and not in the
// percentiles of an open system.
//
// In an open loop (Config.Rate) transactions have intended starts that do not depend on the engine, and a latency is
// from the intended start to the answer: all that were due during a stall show it (no coordinated omission). What is
// due while every terminal is busy is the backlog; schedule.go says whose turn it is. The draw of the input is in the
// latency then if the terminal was late for its start. The service time, from the call to the answer, is kept as well,
// and how late the driver itself began transactions that a terminal was waiting for.
//
// # Cost
//
// A transaction costs the driver a draw, two readings of the clock, an atomic addition on a cache line of the
// terminal's own, and a sample of 32 bytes in the terminal's buffer. In an open loop there is a lock around the
// schedule besides and, where the terminal is early, a sleep that takes a few system calls and no processor (alarm.go). Full buffers go, under one lock, into five
// histograms that all terminals share: a histogram per terminal and type would put more memory into the measured
// process than some engines use. Beside them there is one of 4 KiB for each second. Nothing is allocated per
// transaction.
package driver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"tpccbench/engines"
	"tpccbench/tpcc"
	"tpccbench/tpcc/consistency"
)

// ErrStuck is wrapped by the error of a run in which the engine did not answer within Config.Grace of the end.
var ErrStuck = errors.New("engine does not answer")

// Run runs cfg against the engine, which must hold a population of cfg.Scale, and closes the sessions that it opened.
//
// A Result comes back whenever terminals were started, also beside an error, and holds all that was measured. Failed
// transactions are data in it, not an error of Run: the caller decides what they mean. The error says that cfg is
// impossible, that a session could not be opened or closed, or (ErrStuck) that the engine hangs. After ErrStuck the
// last transactions of the terminals that hang, fewer than 256 each, are missing from the figures; the engine cannot be
// closed, and the process should end.
//
// When ctx is cancelled the window ends, transactions in flight are finished, and Result.Interrupted is set. A run of
// StopAfter transactions has no other limit in time, so an engine that may hang wants a ctx with a deadline.
func Run(ctx context.Context, engine engines.Engine, cfg Config) (*Result, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	r := newRun(cfg)
	if err := r.openSessions(ctx, engine); err != nil {
		return nil, errors.Join(err, r.closeSessions())
	}
	r.start()
	r.supervise(ctx)
	err := r.await()
	result, resultErr := r.result(err == nil)
	if err == nil {
		err = r.closeSessions()
	}
	return result, errors.Join(err, resultErr)
}

// run is one call of Run.
type run struct {
	cfg       Config
	clock     clock
	recorder  *recorder
	schedule  *schedule // nil: a closed loop
	terminals []*terminal
	running   atomic.Int64  // terminals that have not ended
	ended     chan struct{} // closed by the last one that ends

	interrupted bool
	started     bool          // the window has begun and OnMeasureStart was called
	startLate   time.Duration // of OnMeasureStart behind the window's start
	endLate     time.Duration // of OnMeasureEnd behind the window's end
}

// clock is the time of a run. Terminals read it, and its end, twice per transaction.
type clock struct {
	zero  time.Time     // the terminals' release
	open  bool          // the loop is open
	start time.Duration // of the window
	end   atomic.Int64  // of the window, ns; never: not known yet. It only ever gets earlier
}

// never is the end of a window that ends with its last transaction.
const never = math.MaxInt64

// now is the time since the release, by the monotonic clock.
func (c *clock) now() int64 { return int64(time.Since(c.zero)) }

func newRun(cfg Config) *run {
	r := &run{cfg: cfg, ended: make(chan struct{})}
	r.clock.start, r.clock.open = cfg.WarmUp, cfg.Rate > 0
	r.clock.end.Store(never)
	if cfg.StopAfter == 0 {
		r.clock.end.Store(int64(cfg.WarmUp + cfg.Duration))
	}
	r.recorder = newRecorder(&r.clock, cfg.Duration)
	if cfg.Rate > 0 {
		r.schedule = newSchedule(&cfg, r.clock.end.Load())
	}
	return r
}

func (r *run) openSessions(ctx context.Context, engine engines.Engine) error {
	for number := range r.cfg.Terminals {
		if ctx.Err() != nil {
			return fmt.Errorf("driver: interrupted before the first transaction: %w", context.Cause(ctx))
		}
		session, err := engine.NewSession()
		if err != nil {
			return fmt.Errorf("driver: the engine gives no session to terminal %d of %d: %w", number, r.cfg.Terminals, err)
		}
		t := newTerminal(r, number, session)
		r.terminals = append(r.terminals, t)
		if r.schedule == nil {
			continue
		}
		if t.alarm, err = newAlarm(); err != nil {
			return fmt.Errorf("driver: terminal %d of %d: %w", number, r.cfg.Terminals, err)
		}
	}
	return nil
}

// start sets the clock to zero and releases the terminals.
func (r *run) start() {
	release := make(chan struct{})
	r.running.Store(int64(len(r.terminals)))
	for _, t := range r.terminals {
		go func() {
			<-release
			defer func() {
				t.ended.Store(true)
				if r.running.Add(-1) == 0 {
					close(r.ended)
				}
			}()
			t.run()
		}()
	}
	if r.cfg.WarmUp == 0 {
		r.measureStart()
	}
	r.clock.zero = time.Now()
	close(release)
}

// supervise keeps the time of the window: it calls the hooks, and returns when the window is over.
func (r *run) supervise(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	start := int64(r.clock.start)
	tick := start % int64(time.Second) // the next whole second of the window, or of the warm-up before it
	if tick == 0 {
		tick = int64(time.Second)
	}
	for over := false; !over; {
		now, end := r.clock.now(), r.clock.end.Load()
		switch {
		case now >= end:
			over = true
			continue
		case !r.started && now >= start:
			r.measureStart()
			r.startLate = time.Duration(now - start)
			continue
		case r.cfg.OnSecond != nil && now >= tick:
			r.cfg.OnSecond(r.live(now))
			tick += (r.clock.now() - tick + int64(time.Second)) / int64(time.Second) * int64(time.Second)
			continue
		}
		next := end
		if !r.started {
			next = min(next, start)
		}
		if r.cfg.OnSecond != nil {
			next = min(next, tick)
		}
		timer.Reset(time.Duration(next - now))
		select {
		case <-timer.C:
			continue
		case <-r.ended:
		case <-ctx.Done():
		}
		over = true
		if r.running.Load() == 0 {
			r.recorder.endWithLast()
		} else {
			r.interrupted = r.recorder.cut()
		}
	}
	if r.schedule != nil {
		r.schedule.stop(r.clock.end.Load())
		for _, t := range r.terminals {
			t.alarm.wake()
		}
	}
	if !r.started {
		return
	}
	r.endLate = time.Duration(r.clock.now() - r.clock.end.Load())
	if r.cfg.OnMeasureEnd != nil {
		r.cfg.OnMeasureEnd()
	}
	if r.cfg.OnSecond != nil {
		r.cfg.OnSecond(r.live(r.clock.now()))
	}
}

func (r *run) measureStart() {
	r.started = true
	if r.cfg.OnMeasureStart != nil {
		r.cfg.OnMeasureStart()
	}
}

// await returns when every terminal has ended, or with ErrStuck when the grace period is over.
func (r *run) await() error {
	grace := time.NewTimer(r.cfg.grace())
	defer grace.Stop()
	select {
	case <-r.ended:
		return nil
	case <-grace.C:
	}
	var stuck []string
	for _, t := range r.terminals {
		if !t.ended.Load() {
			stuck = append(stuck, fmt.Sprintf("terminal %d in its transaction %d", t.number, t.live.attempts()))
		}
	}
	if len(stuck) == 0 {
		return nil
	}
	return fmt.Errorf("driver: %w: %d of %d terminals are still waiting %s after the end: %s",
		ErrStuck, len(stuck), len(r.terminals), r.cfg.grace(), strings.Join(stuck, ", "))
}

// closeSessions closes the sessions one after the other, within one grace period.
func (r *run) closeSessions() error {
	var closing atomic.Int64
	closed := make(chan error, 1)
	go func() {
		var errs []error
		for i, t := range r.terminals {
			closing.Store(int64(i))
			errs = append(errs, t.closeSession())
		}
		closed <- errors.Join(errs...)
	}()
	grace := time.NewTimer(r.cfg.grace())
	defer grace.Stop()
	select {
	case err := <-closed:
		return err
	case <-grace.C:
		return fmt.Errorf("driver: %w: closing the session of terminal %d takes more than %s",
			ErrStuck, closing.Load(), r.cfg.grace())
	}
}

// result makes the Result. all says that every terminal has ended, without which their ledgers cannot be read.
func (r *run) result(all bool) (*Result, error) {
	result := &Result{
		Terminals:        r.cfg.Terminals,
		Interrupted:      r.interrupted,
		StartHookLateNS:  int64(r.startLate),
		EndHookLateNS:    int64(r.endLate),
		TerminalAttempts: make([]int64, len(r.terminals)),
	}
	for i, t := range r.terminals {
		result.TerminalAttempts[i] = t.live.attempts()
	}
	if err := r.recorder.report(result); err != nil {
		return result, err
	}
	if r.schedule != nil {
		result.OpenLoop = &OpenLoop{RateTxPerS: r.cfg.Rate, Arrivals: r.cfg.Arrivals}
		r.recorder.reportOpen(result.OpenLoop)
		r.schedule.report(result, result.OpenLoop)
	}
	if r.cfg.StopAfter > 0 {
		result.InputDigest = tpcc.DigestOfRun(r.cfg.Seed, r.cfg.Scale, r.cfg.Weights, result.TerminalAttempts)
	}
	if all {
		result.Ledger = consistency.NewLedger(r.cfg.Scale)
		for _, t := range r.terminals {
			result.Ledger.Merge(t.ledger)
		}
	}
	return result, nil
}
