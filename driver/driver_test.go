package driver

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"tpccbench/engines"
	"tpccbench/tpcc"
	"tpccbench/tpcc/consistency"
)

// fixed is a run of n transactions on the small population.
func fixed(terminals int, n int64) Config {
	return Config{Seed: 7, Scale: tpcc.TestScale(2), Weights: tpcc.StandardMix(), Terminals: terminals, StopAfter: n}
}

// timed is a run by time on the small population.
func timed(terminals int, warmUp, duration time.Duration) Config {
	return Config{
		Seed: 7, Scale: tpcc.TestScale(2), Weights: tpcc.StandardMix(), Terminals: terminals,
		WarmUp: warmUp, Duration: duration,
	}
}

func mustRun(t *testing.T, engine *fakeEngine, cfg Config) *Result {
	t.Helper()
	result, err := Run(t.Context(), engine, cfg)
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, result)
	if int(engine.closed.Load()) != engine.sessions {
		t.Errorf("%d of %d sessions were closed", engine.closed.Load(), engine.sessions)
	}
	return result
}

func sum(counts []int64) int64 {
	n := int64(0)
	for _, c := range counts {
		n += c
	}
	return n
}

// TestCounts proves that figures, ledger and acknowledgements are those of exactly the transactions that were run: the
// expected ones are drawn again from the seed.
func TestCounts(t *testing.T) {
	cfg := fixed(3, 20_000)
	cfg.Scale.Items = 100_000 // so that the unused item is the one that the engine rolls back on
	var acks [3]int64
	cfg.OnAck = func(a Ack) {
		if a.Number != acks[a.Terminal] {
			t.Errorf("terminal %d: acknowledgement %d has number %d", a.Terminal, acks[a.Terminal], a.Number)
		}
		acks[a.Terminal]++
	}
	result := mustRun(t, &fakeEngine{}, cfg)

	var want [tpcc.NumTypes]Counts
	ledger := consistency.NewLedger(cfg.Scale)
	for terminal, share := range []int64{6667, 6667, 6666} {
		if acks[terminal] != share || result.TerminalAttempts[terminal] != share {
			t.Errorf("terminal %d: %d acknowledgements, %d attempts; want %d",
				terminal, acks[terminal], result.TerminalAttempts[terminal], share)
		}
		source := tpcc.NewTerminal(cfg.Seed, terminal, cfg.Scale, cfg.Weights)
		session := &fakeSession{engine: &fakeEngine{}}
		var in tpcc.Input
		for range share {
			source.Next(&in)
			c := &want[in.Type]
			c.Attempts++
			switch in.Type {
			case tpcc.TxNewOrder:
				var out tpcc.NewOrderOutput
				session.NewOrder(&in.NewOrder, &out)
				ledger.NewOrder(&in.NewOrder, &out)
				if out.RolledBack {
					c.Rollbacks++
					continue
				}
			case tpcc.TxPayment:
				ledger.Payment(&in.Payment)
			case tpcc.TxDelivery:
				var out tpcc.DeliveryOutput
				session.Delivery(&in.Delivery, &out)
				ledger.Delivery(&in.Delivery, &out)
			}
			c.Commits++
		}
	}
	for i, w := range want {
		if result.Types[i].Counts != w {
			t.Errorf("%s: %+v; want %+v", tpcc.Type(i), result.Types[i].Counts, w)
		}
	}
	if want[tpcc.TxNewOrder].Rollbacks == 0 {
		t.Error("no New-Order was drawn to roll back: the test proves nothing of them")
	}
	if deliveries := want[tpcc.TxDelivery].Commits; result.SkippedDeliveries != 3*deliveries {
		t.Errorf("%d skipped districts; want 3 for each of %d deliveries", result.SkippedDeliveries, deliveries)
	}
	if result.Ledger.Totals() != ledger.Totals() {
		t.Errorf("the ledger is %+v; want %+v", result.Ledger.Totals(), ledger.Totals())
	}
	if result.MeasuredNS <= 0 || result.TransactionsPerSecond() <= 0 || result.NewOrdersPerMinute() <= 0 {
		t.Errorf("measured %d ns, %f transactions/s, %f nopm; want more than 0",
			result.MeasuredNS, result.TransactionsPerSecond(), result.NewOrdersPerMinute())
	}
}

// TestWindow proves that transactions of the warm-up and those in flight at the end are run, acknowledged and in the
// ledger, and are in no figure.
func TestWindow(t *testing.T) {
	t.Parallel()
	measuring, over := make(chan struct{}), make(chan struct{})
	cfg := timed(1, time.Second, time.Second)
	cfg.Weights = tpcc.Weights{0, 1, 0, 0, 0}
	cfg.OnMeasureStart = func() { close(measuring) }
	cfg.OnMeasureEnd = func() { close(over) }
	acks := 0
	cfg.OnAck = func(Ack) { acks++ }
	result := mustRun(t, &fakeEngine{call: func(_, number int, _ tpcc.Type) error {
		switch {
		case number == 3:
			<-measuring // 0, 1 and 2 are in the warm-up; 3 begins in it and ends after it
		case number == 9:
			<-over
		}
		return nil
	}}, cfg)
	if got := result.Totals(); got != (Counts{Attempts: 6, Commits: 6}) {
		t.Errorf("figures are %+v; want 6 commits", got)
	}
	if acks != 10 || result.TerminalAttempts[0] != 10 || result.Ledger.Totals().Payments != 10 {
		t.Errorf("%d acknowledgements, %d attempts, %d payments in the ledger; want 10 of each",
			acks, result.TerminalAttempts[0], result.Ledger.Totals().Payments)
	}
	if result.Measured() != cfg.Duration || result.Interrupted || len(result.Seconds) != 1 {
		t.Errorf("measured %s, interrupted %t, %d seconds; want 1s, false, 1",
			result.Measured(), result.Interrupted, len(result.Seconds))
	}
	if result.StartHookLateNS < 0 || result.EndHookLateNS < 0 {
		t.Errorf("the hooks were called %d and %d ns after the edges; want 0 or more",
			result.StartHookLateNS, result.EndHookLateNS)
	}
	if got := result.TransactionsPerSecond(); got != 6 {
		t.Errorf("%f transactions/s; want 6", got)
	}
	if got := result.NewOrdersPerMinute(); got != 0 {
		t.Errorf("%f nopm; want 0", got)
	}
}

// TestManyTerminals proves that a run by time ends, with sums that agree, while the progress is read.
func TestManyTerminals(t *testing.T) {
	t.Parallel()
	cfg := timed(16, 200*time.Millisecond, 1300*time.Millisecond)
	var acks atomic.Int64
	cfg.OnAck = func(Ack) { acks.Add(1) }
	var progress []Live
	cfg.OnSecond = func(l Live) { progress = append(progress, l) }
	result := mustRun(t, &fakeEngine{}, cfg)
	if got := sum(result.TerminalAttempts); got != acks.Load() {
		t.Errorf("%d attempts, %d acknowledgements", got, acks.Load())
	}
	if got := result.Totals().Attempts; got == 0 || got > acks.Load() {
		t.Errorf("%d attempts in the window, %d in all", got, acks.Load())
	}
	if len(result.Seconds) != 2 || result.Measured() != cfg.Duration {
		t.Errorf("%d seconds of %s; want 2 of %s", len(result.Seconds), result.Measured(), cfg.Duration)
	}
	if len(progress) < 2 {
		t.Fatalf("the progress was shown %d times; want at least at a second and at the end", len(progress))
	}
	for i, l := range progress {
		if l.Transactions > acks.Load() || l.Failures != 0 {
			t.Errorf("progress %d: %+v; %d transactions were acknowledged", i, l, acks.Load())
		}
		if i > 0 && (l.Elapsed <= progress[i-1].Elapsed || l.Transactions < progress[i-1].Transactions) {
			t.Errorf("the progress goes back: %+v, then %+v", progress[i-1], l)
		}
	}
	if last := progress[len(progress)-1].Elapsed; last < cfg.Duration {
		t.Errorf("the last progress is of %s; want the end, %s or later", last, cfg.Duration)
	}
}

// TestInterrupted proves that after a cancelled context the transaction in flight is finished, that what had ended is
// measured, and that the hooks come in a pair.
func TestInterrupted(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  Config
	}{{"timed", timed(1, 0, time.Hour)}, {"fixed", fixed(1, 1000)}} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			over := make(chan struct{})
			starts := 0
			c.cfg.OnMeasureStart = func() { starts++ }
			c.cfg.OnMeasureEnd = func() { close(over) }
			engine := &fakeEngine{call: func(_, number int, _ tpcc.Type) error {
				if number == 10 {
					cancel()
					<-over
				}
				return nil
			}}
			result, err := Run(ctx, engine, c.cfg)
			if err != nil {
				t.Fatal(err)
			}
			checkSums(t, result)
			if !result.Interrupted || result.Totals().Attempts != 10 || result.TerminalAttempts[0] != 11 {
				t.Errorf("interrupted %t, %d attempts measured, %d in all; want true, 10, 11",
					result.Interrupted, result.Totals().Attempts, result.TerminalAttempts[0])
			}
			if starts != 1 || result.MeasuredNS <= 0 || result.Measured() >= time.Hour || engine.closed.Load() != 1 {
				t.Errorf("%d starts, measured %s, %d sessions closed; want 1, less than an hour, 1",
					starts, result.Measured(), engine.closed.Load())
			}
		})
	}
}

// TestInterruptedWarmUp proves that an interruption before the window leaves no figures, but the ledger.
func TestInterruptedWarmUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg := timed(1, time.Hour, time.Hour)
	cfg.Weights = tpcc.Weights{0, 1, 0, 0, 0}
	hook := func() { t.Error("a hook of the measured window was called") }
	cfg.OnMeasureStart, cfg.OnMeasureEnd, cfg.OnSecond = hook, hook, func(l Live) {
		if l.Elapsed >= 0 {
			t.Errorf("progress %+v; want a time before the window", l)
		}
	}
	result, err := Run(ctx, &fakeEngine{call: func(_, number int, _ tpcc.Type) error {
		if number == 5 {
			cancel()
		}
		return nil
	}}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, result)
	if !result.Interrupted || result.Totals() != (Counts{}) || result.MeasuredNS != 0 ||
		result.TransactionsPerSecond() != 0 {
		t.Errorf("interrupted %t, %+v in %s; want true and nothing", result.Interrupted, result.Totals(), result.Measured())
	}
	if got := result.Ledger.Totals().Payments; got < 6 || got != result.TerminalAttempts[0] {
		t.Errorf("%d payments in the ledger, %d attempts; want the same, at least 6", got, result.TerminalAttempts[0])
	}
}

// TestCancelledBefore proves that nothing is run with a context that is cancelled already.
func TestCancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("stop")
	cancel(reason)
	result, err := Run(ctx, &fakeEngine{}, fixed(1, 1))
	if result != nil || !errors.Is(err, reason) {
		t.Errorf("result %v, error %v; want none, and the context's cause", result, err)
	}
}

// TestFailures proves that failed transactions are counted and described, that a terminal goes on after one unless the
// error is final or they come in a row, and that the others go on in any case.
func TestFailures(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name     string
		fails    func(number int) error
		failures int64
		attempts int64 // of terminal 1
		ended    int
	}{
		{"once", at(7, broken), 1, 50, 0},
		{"failed store", at(7, fmt.Errorf("sync of log: %w", engines.ErrFailed)), 1, 8, 1},
		{"indeterminate", at(7, fmt.Errorf("sync of log: %w", engines.ErrIndeterminate)), 1, 8, 1},
		{"always", func(int) error { return broken }, maxConsecutiveFailures, maxConsecutiveFailures, 1},
		{"every other", func(number int) error {
			if number%2 == 1 {
				return broken
			}
			return nil
		}, 25, 50, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := mustRun(t, &fakeEngine{call: func(terminal, number int, _ tpcc.Type) error {
				if terminal == 1 {
					return c.fails(number)
				}
				return nil
			}}, fixed(2, 100))
			totals := result.Totals()
			if totals.Failures != c.failures || result.FailuresOfRun != c.failures {
				t.Errorf("%d failures measured, %d in all; want %d", totals.Failures, result.FailuresOfRun, c.failures)
			}
			if !slices.Equal(result.TerminalAttempts, []int64{50, c.attempts}) || totals.Attempts != 50+c.attempts {
				t.Errorf("attempts are %v, %d measured; want 50 and %d", result.TerminalAttempts, totals.Attempts, c.attempts)
			}
			if result.TerminalsEnded != c.ended {
				t.Errorf("%d terminals ended; want %d", result.TerminalsEnded, c.ended)
			}
			if want := min(c.failures, MaxFailures); int64(len(result.Failures)) != want {
				t.Fatalf("%d failures are described; want %d", len(result.Failures), want)
			}
			source, drawn := tpcc.NewTerminal(7, 1, tpcc.TestScale(2), tpcc.StandardMix()), int64(-1)
			var in tpcc.Input
			for i, f := range result.Failures {
				for ; drawn < f.Number; drawn++ {
					source.Next(&in)
				}
				if f.Terminal != 1 || f.Type != in.Type.String() || f.AtNS < 0 ||
					f.Error != c.fails(int(f.Number)).Error() {
					t.Errorf("failure %+v; want one of terminal 1, %s, with its error", f, in.Type)
				}
				if last := i == len(result.Failures)-1; f.EndedTerminal != (last && c.ended == 1) {
					t.Errorf("failure %+v: ended the terminal %t", f, f.EndedTerminal)
				}
			}
		})
	}
}

// at fails the transaction of that number.
func at(number int, err error) func(int) error {
	return func(n int) error {
		if n == number {
			return err
		}
		return nil
	}
}

// TestResultDeviceFull proves that the result knows of a full device even if other failures were described before it.
func TestResultDeviceFull(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{{fmt.Errorf("write log: %w", syscall.ENOSPC), true}, {syscall.EDQUOT, true}, {syscall.EIO, false}} {
		result := mustRun(t, &fakeEngine{call: func(_, number int, _ tpcc.Type) error {
			switch {
			case number == 99:
				return c.err
			case number%2 == 1:
				return errors.New("another")
			}
			return nil
		}}, fixed(1, 100))
		if result.DeviceFull != c.want || result.FailuresOfRun != 50 || len(result.Failures) != MaxFailures {
			t.Errorf("%v: full %t, want %t; %d failures", c.err, result.DeviceFull, c.want, result.FailuresOfRun)
		}
	}
}

// TestAllFail proves that a run by time ends when its last terminal does, and says so in the length of its window.
func TestAllFail(t *testing.T) {
	result := mustRun(t, &fakeEngine{call: func(_, number int, _ tpcc.Type) error {
		if number == 20 {
			return engines.ErrFailed
		}
		return nil
	}}, timed(4, 0, time.Hour))
	if got := result.Totals(); got.Attempts != 4*21 || got.Failures != 4 || result.TerminalsEnded != 4 {
		t.Errorf("%+v, %d terminals ended; want 84 attempts, 4 failures, 4 ended", got, result.TerminalsEnded)
	}
	if result.MeasuredNS <= 0 || result.Measured() >= time.Hour || result.Interrupted {
		t.Errorf("measured %s, interrupted %t; want less than an hour, false", result.Measured(), result.Interrupted)
	}
}

// TestPanic proves that a panic of the engine is a failure that names the terminal, the type and where it was, and
// ends that terminal only.
func TestPanic(t *testing.T) {
	cfg := fixed(3, 300)
	cfg.Weights = tpcc.Weights{0, 0, 0, 1, 0}
	result := mustRun(t, &fakeEngine{call: func(terminal, number int, _ tpcc.Type) error {
		if terminal == 2 && number == 3 {
			panic("index out of range")
		}
		return nil
	}}, cfg)
	if !slices.Equal(result.TerminalAttempts, []int64{100, 100, 4}) || len(result.Failures) != 1 {
		t.Fatalf("attempts are %v, failures %+v; want 100, 100, 4 and one", result.TerminalAttempts, result.Failures)
	}
	f := result.Failures[0]
	if f.Terminal != 2 || f.Number != 3 || f.Type != "delivery" || !f.EndedTerminal ||
		!strings.HasPrefix(f.Error, "panic: index out of range\n") || !strings.Contains(f.Error, "fakeSession") {
		t.Errorf("failure %+v", f)
	}
}

// TestSessionErrors proves that sessions which cannot be opened or closed are an error that names the terminal, that
// the others are closed, and that figures survive.
func TestSessionErrors(t *testing.T) {
	engine := &fakeEngine{refuse: 3}
	result, err := Run(t.Context(), engine, fixed(4, 4))
	if result != nil || !errors.Is(err, errRefused) || !strings.Contains(err.Error(), "terminal 2 of 4") ||
		engine.closed.Load() != 2 {
		t.Errorf("result %v, error %v, %d sessions closed; want none, terminal 2 of 4, 2", result, err, engine.closed.Load())
	}

	broken := errors.New("broken")
	engine = &fakeEngine{onClose: func(terminal int) error {
		switch terminal {
		case 0:
			return broken
		case 1:
			panic("closed twice")
		}
		return nil
	}}
	result, err = Run(t.Context(), engine, fixed(3, 300))
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "terminal 0: broken") ||
		!strings.Contains(err.Error(), "terminal 1: panic: closed twice") {
		t.Errorf("error %v; want those of terminals 0 and 1", err)
	}
	if result == nil || result.Totals().Commits+result.Totals().Rollbacks != 300 || engine.closed.Load() != 3 {
		t.Errorf("result %+v, %d sessions closed; want 300 transactions, 3", result, engine.closed.Load())
	}
}

// TestStuck proves that a run does not wait for ever for an engine that hangs, names the terminal and its transaction,
// and keeps what the others measured; and that an answer that comes later does no harm.
func TestStuck(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hangs, release, answered := make(chan struct{}), make(chan struct{}), make(chan struct{})
	cfg := fixed(2, 1000)
	cfg.Grace = 20 * time.Millisecond
	cfg.OnAck = func(a Ack) {
		if a.Terminal == 1 && a.Number == 4 {
			close(answered)
		}
	}
	engine := &fakeEngine{call: func(terminal, number int, _ tpcc.Type) error {
		switch {
		case terminal == 0 && number == 300:
			<-hangs
			cancel()
		case terminal == 1 && number == 4:
			close(hangs)
			<-release
		}
		return nil
	}}
	result, err := Run(ctx, engine, cfg)
	if !errors.Is(err, ErrStuck) || !strings.Contains(err.Error(), "1 of 2 terminals") ||
		!strings.Contains(err.Error(), "terminal 1 in its transaction 4") {
		t.Errorf("error %v; want ErrStuck with terminal 1 in its transaction 4", err)
	}
	if result == nil || result.Totals().Attempts < 300 || result.Ledger != nil || !result.Interrupted {
		t.Fatalf("result %+v; want at least the 300 transactions of terminal 0, no ledger, interrupted", result)
	}
	checkSums(t, result)
	before := result.Totals()
	close(release)
	<-answered
	if result.Totals() != before || engine.closed.Load() != 0 {
		t.Errorf("after the late answer: %+v, was %+v; %d sessions closed", result.Totals(), before, engine.closed.Load())
	}
}

// TestStuckClose proves that a session that does not close is an error, beside a whole result.
func TestStuckClose(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	cfg := fixed(3, 30)
	cfg.Grace = 20 * time.Millisecond
	result, err := Run(t.Context(), &fakeEngine{onClose: func(terminal int) error {
		if terminal == 1 {
			<-release
		}
		return nil
	}}, cfg)
	if !errors.Is(err, ErrStuck) || !strings.Contains(err.Error(), "session of terminal 1") {
		t.Errorf("error %v; want ErrStuck with terminal 1", err)
	}
	if result == nil || result.Totals().Attempts != 30 || result.Ledger == nil {
		t.Errorf("result %+v; want 30 transactions and a ledger", result)
	}
}

// TestLatency proves that a latency is at least the engine's time, is of the right type, and is not above the time that
// the run took.
func TestLatency(t *testing.T) {
	const pause = 3 * time.Millisecond
	result := mustRun(t, &fakeEngine{call: func(_, _ int, typ tpcc.Type) error {
		if typ == tpcc.TxPayment {
			time.Sleep(pause)
		}
		return nil
	}}, fixed(4, 400))
	payment := result.Types[tpcc.TxPayment].Latency
	if payment.P50NS < int64(pause) {
		t.Errorf("p50 of payment is %d ns; the engine took %d", payment.P50NS, pause)
	}
	for _, typ := range result.Types {
		if typ.Latency != nil && typ.Latency.MaxNS > result.MeasuredNS {
			t.Errorf("%s: a latency of %d ns in a run of %d", typ.Type, typ.Latency.MaxNS, result.MeasuredNS)
		}
	}
	if floor := result.Types[tpcc.TxPayment].Commits * int64(pause) / 4; result.MeasuredNS < floor {
		t.Errorf("measured %d ns; four terminals need at least %d for their payments", result.MeasuredNS, floor)
	}
}

// TestDeterminism proves that the inputs of a run of a number of transactions, and what an engine makes of them, depend
// on the seed alone: not on the progress display, not on who is faster.
func TestDeterminism(t *testing.T) {
	inputs := func(terminals int, seed uint64, display bool, jitter bool) (seen string, digest string) {
		cfg := fixed(terminals, 2000)
		cfg.Seed = seed
		shown := 0
		if display {
			cfg.OnSecond = func(Live) { shown++ }
		}
		sums := make([][]byte, terminals)
		var mu sync.Mutex
		cfg.OnAck = func(a Ack) {
			mu.Lock()
			defer mu.Unlock()
			h := sha256.New()
			fmt.Fprintf(h, "%x %d %v", sums[a.Terminal], a.Number, *a.Input)
			sums[a.Terminal] = h.Sum(nil)
		}
		result := mustRun(t, &fakeEngine{call: func(terminal, number int, _ tpcc.Type) error {
			if jitter && number%100 == terminal {
				time.Sleep(time.Millisecond)
			}
			return nil
		}}, cfg)
		if display && shown == 0 {
			t.Error("the progress was never shown")
		}
		return fmt.Sprintf("%x", sums), result.InputDigest
	}
	for _, terminals := range []int{1, 3} {
		seen, digest := inputs(terminals, 7, false, false)
		for _, other := range []struct{ display, jitter bool }{{true, false}, {false, true}} {
			if s, d := inputs(terminals, 7, other.display, other.jitter); s != seen || d != digest {
				t.Errorf("%d terminals: other inputs with %+v", terminals, other)
			}
		}
		if s, d := inputs(terminals, 8, false, false); s == seen || d == digest {
			t.Errorf("%d terminals: seeds 7 and 8 have the same inputs", terminals)
		}
	}
}

// TestDigestOnlyOfFixed proves that a run by time has no digest, but all that is needed to make one.
func TestDigestOnlyOfFixed(t *testing.T) {
	cfg := fixed(2, 501)
	result := mustRun(t, &fakeEngine{}, cfg)
	if want := tpcc.DigestOfRun(cfg.Seed, cfg.Scale, cfg.Weights, []int64{251, 250}); result.InputDigest != want {
		t.Errorf("the digest is %s; want %s", result.InputDigest, want)
	}
	if result := mustRun(t, &fakeEngine{}, timed(2, 0, 10*time.Millisecond)); result.InputDigest != "" {
		t.Errorf("a run by time has the digest %s", result.InputDigest)
	}
}

// TestNoAllocation proves that a transaction allocates nothing, whatever its type, the flush of the buffer included.
func TestNoAllocation(t *testing.T) {
	r := prepared(t, 1, 1)
	r.clock.zero = time.Now()
	terminal := r.terminals[0]
	if n := testing.AllocsPerRun(10, func() {
		terminal.left = 10 * bufferedSamples
		terminal.run()
	}); n >= 1 {
		t.Errorf("%v allocations in %d transactions", n, 10*bufferedSamples)
	}
}

// TestDeviceFull proves that a failure for want of space is marked, however deep the error lies, and no other one is.
func TestDeviceFull(t *testing.T) {
	for err, want := range map[error]bool{
		fmt.Errorf("%w: write log: %w", engines.ErrFailed, &os.PathError{Op: "write", Path: "log", Err: syscall.ENOSPC}): true,
		fmt.Errorf("write log: %w", syscall.EDQUOT): true,
		fmt.Errorf("write log: %w", syscall.EFBIG):  true,
		fmt.Errorf("write log: %w", syscall.EIO):    false,
		errors.New("no space left on device"):       false, // a text says nothing
	} {
		fails := at(5, err)
		result := mustRun(t, &fakeEngine{call: func(_, number int, _ tpcc.Type) error { return fails(number) }}, fixed(1, 20))
		if len(result.Failures) != 1 || result.Failures[0].DeviceFull != want || result.DeviceFull != want {
			t.Errorf("%v: failures %+v, DeviceFull %v; want one, and %v", err, result.Failures, result.DeviceFull, want)
		}
	}
}

// TestResultJSON proves that a result survives JSON under the names that reports use.
func TestResultJSON(t *testing.T) {
	fails := at(5, errors.New("broken"))
	result := mustRun(t, &fakeEngine{call: func(_, number int, _ tpcc.Type) error { return fails(number) }}, fixed(2, 500))
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"measured_ns", "new_order", "commits", "rollbacks", "skipped_deliveries",
		"failures_of_run", "latency_ns_p50", "latency_ns_p90", "latency_ns_p99", "latency_ns_p999", "latency_ns_max",
		"histogram_v2", "input_digest"} {
		if !strings.Contains(string(text), `"`+key+`"`) {
			t.Errorf("no %q in the result", key)
		}
	}
	var back Result
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	back.Ledger, back.latencies = result.Ledger, result.latencies // not in it
	if !reflect.DeepEqual(*result, back) {
		t.Errorf("read back: %+v; was %+v", back, *result)
	}
}
