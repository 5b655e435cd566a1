package driver

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"tpccbench/tpcc"
)

// open makes a configuration one of an open loop.
func open(cfg Config, rate float64, kind Arrivals) Config {
	cfg.Rate, cfg.Arrivals = rate, kind
	return cfg
}

// TestLatencyFromIntendedStart proves that a stall shows in the latency of every transaction that was due meanwhile, and
// in the service time of one: no coordinated omission. The bounds are below: nothing can be answered before the stall
// is over.
func TestLatencyFromIntendedStart(t *testing.T) {
	const stall = 200 * time.Millisecond
	cfg := open(fixed(1, 1000), 2500, FixedArrivals) // 400 ms
	cfg.Weights = tpcc.Weights{0, 1, 0, 0, 0}
	result := mustRun(t, &fakeEngine{call: func(_, number int, _ tpcc.Type) error {
		if number == 100 {
			time.Sleep(stall)
		}
		return nil
	}}, cfg)
	// Of the 500 that are due during the stall, the first 250 wait at least half of it: they, and the stalled one, are
	// more than a fifth of all.
	l, o := result.Latency, result.OpenLoop
	if l.P90NS < int64(stall/2) || l.MaxNS < int64(stall) {
		t.Errorf("%+v; 250 of 1000 must have waited half of the stall", l)
	}
	if o.BacklogMax < 499 {
		t.Errorf("the backlog was %d at most; 500 were due during the stall", o.BacklogMax)
	}
	if o.Due != 1000 || result.Totals().Attempts != 1000 || o.BacklogEnd != 0 || !result.KeptUp() {
		t.Errorf("%+v, %d ended; want all 1000", o, result.Totals().Attempts)
	}
	if o.ServiceP50NS > l.P50NS*33/32+1 || o.ServiceP99NS > l.P99NS*33/32+1 {
		t.Errorf("service %d and %d ns, latency %+v: the one is a part of the other", o.ServiceP50NS, o.ServiceP99NS, l)
	}
	if o.Early == 0 || o.Early > 500 || o.StartLateP99NS > o.StartLateMaxNS {
		t.Errorf("%+v; at most 500 starts were waited for, and the 100 before the stall surely", o)
	}
}

// TestSample proves what becomes of a transaction's times.
func TestSample(t *testing.T) {
	var terminal terminal
	s := terminal.sample(start{intended: 100, begun: 130, early: true}, 1000, committed)
	if s.done != 1000 || s.latency != 900 || s.wait != 30 || !s.early {
		t.Errorf("%+v; want a latency of 900 from the intended start, 30 of them before the call", s)
	}
	r := windowed(0, time.Second)
	r.clock.open = true
	r.add([]sample{s, {done: 2000, latency: 1500, wait: 500}, {done: 3000, latency: 7, wait: 7, early: true, outcome: failed}})
	var o OpenLoop
	r.reportOpen(&o)
	if o.Early != 1 || o.StartLateP99NS != 30 || o.StartLateMaxNS != 30 || o.ServiceP99NS != 1000 || o.ServiceP50NS < 870 || o.ServiceP50NS > 897 {
		t.Errorf("%+v; want one late by 30 ns, service times of 870 and 1000", o)
	}
}

// TestOpenWindow proves that what is due in the window does not depend on the engine: here one that answers nothing but
// the first transaction of each terminal before the window is over.
func TestOpenWindow(t *testing.T) {
	over := make(chan struct{})
	cfg := open(timed(3, 100*time.Millisecond, 1200*time.Millisecond), 1000, FixedArrivals)
	cfg.OnMeasureEnd = func() { close(over) }
	var backlog int64
	cfg.OnSecond = func(l Live) { backlog = l.Backlog }
	result := mustRun(t, &fakeEngine{call: func(_, number int, _ tpcc.Type) error {
		if number == 1 {
			<-over
		}
		return nil
	}}, cfg)
	// 1300 were due until the end, 100 of them in the warm-up; six were taken.
	if o := result.OpenLoop; o.Due != 1200 || o.BacklogEnd != 1294 || o.BacklogMax != 1294 || backlog != 1294 {
		t.Errorf("%+v, %d shown last; want 1200 due, 1294 waiting at the end", o, backlog)
	}
	if s := result.Seconds; len(s) != 2 || s[0].BacklogEnd < 1094 || s[1].BacklogEnd != 1294 {
		t.Errorf("%+v; want a backlog of at least 1094 after a second", s)
	}
	if result.KeptUp() || result.OfferedPerSecond() != 1000 {
		t.Errorf("kept up %t, offered %f; want false, 1000", result.KeptUp(), result.OfferedPerSecond())
	}
	if n := sum(result.TerminalAttempts); n != 6 {
		t.Errorf("%d transactions were run; those that were due at the end must not be", n)
	}
}

// TestOpenInputs proves that the inputs are those of the closed loop: each terminal's stream, of the seed.
func TestOpenInputs(t *testing.T) {
	want := mustRun(t, &fakeEngine{}, fixed(3, 500))
	for _, kind := range []Arrivals{FixedArrivals, PoissonArrivals} {
		got := mustRun(t, &fakeEngine{}, open(fixed(3, 500), 20_000, kind))
		if got.InputDigest != want.InputDigest || got.Totals() != want.Totals() || got.Ledger.Totals() != want.Ledger.Totals() {
			t.Errorf("%s: other transactions than in a closed loop", kind)
		}
	}
}

// TestOpenInterrupted proves that terminals which wait for a start far off are woken.
func TestOpenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cfg := open(timed(3, 0, time.Hour), MinRate, FixedArrivals) // the second start is after 1000 s
	result, err := Run(ctx, &fakeEngine{call: func(int, int, tpcc.Type) error { cancel(); return nil }}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if !result.Interrupted || sum(result.TerminalAttempts) != 1 || result.OpenLoop.Due != 1 {
		t.Errorf("interrupted %t, %v attempts, %+v; want true, one, one due", result.Interrupted, result.TerminalAttempts, result.OpenLoop)
	}
}

// TestClosedLoop proves that a closed loop has nothing of an open one.
func TestClosedLoop(t *testing.T) {
	result := mustRun(t, &fakeEngine{}, fixed(2, 500))
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	if result.OpenLoop != nil || strings.Contains(string(text), "open_loop") || strings.Contains(string(text), "backlog") {
		t.Errorf("a closed loop has %+v", result.OpenLoop)
	}
	var most int64
	for _, typ := range result.Types {
		if typ.Latency != nil {
			most = max(most, typ.Latency.MaxNS)
		}
	}
	if result.Latency.MaxNS != most || result.Latency.P50NS > result.Latency.P99NS {
		t.Errorf("the latency of all types is %+v; the longest of a type is %d", result.Latency, most)
	}
}

// TestAlarm proves that a sleep is no shorter than it should be, that wake ends it and later ones, and that it allocates
// nothing.
func TestAlarm(t *testing.T) {
	a, err := newAlarm()
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	const pause = 2 * time.Millisecond
	before := time.Now()
	a.sleep(pause)
	if took := time.Since(before); took < pause {
		t.Errorf("a sleep of %s took %s", pause, took)
	}
	if n := testing.AllocsPerRun(20, func() { a.sleep(time.Microsecond) }); n >= 1 {
		t.Errorf("%v allocations in a sleep", n)
	}
	asleep := make(chan struct{})
	go func() { close(asleep); a.wake() }()
	<-asleep
	a.sleep(time.Hour)
	a.sleep(time.Hour)
}

// TestOpenNoAllocation proves that a transaction of an open loop allocates nothing in the driver.
func TestOpenNoAllocation(t *testing.T) {
	r := newRun(open(Config{
		Seed: 1, Scale: tpcc.StandardScale(4), Weights: tpcc.StandardMix(), Terminals: 1, StopAfter: 1,
	}, MaxRate, PoissonArrivals))
	if err := r.openSessions(t.Context(), &fakeEngine{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.closeSessions() })
	r.clock.zero = time.Now()
	terminal := r.terminals[0]
	if n := testing.AllocsPerRun(10, func() {
		terminal.left = 10 * bufferedSamples
		terminal.run()
	}); n >= 1 {
		t.Errorf("%v allocations in %d transactions", n, 10*bufferedSamples)
	}
}
