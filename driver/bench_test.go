package driver

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"tpccbench/tpcc"
)

// prepared is a run of n transactions, ready to be started, with an engine that does nothing.
func prepared(tb testing.TB, terminals int, n int64) *run {
	tb.Helper()
	r := newRun(Config{
		Seed: 1, Scale: tpcc.StandardScale(4), Weights: tpcc.StandardMix(), Terminals: terminals, StopAfter: n,
	})
	if err := r.openSessions(tb.Context(), &fakeEngine{}); err != nil {
		tb.Fatal(err)
	}
	return r
}

// BenchmarkTransaction is what the driver costs per transaction: draw, dispatch to an engine that does nothing, and
// record. cpu-ns/op is the processor time of the whole process.
func BenchmarkTransaction(b *testing.B) {
	for _, terminals := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("terminals=%d", terminals), func(b *testing.B) {
			r := prepared(b, terminals, int64(b.N))
			b.ReportAllocs()
			b.ResetTimer()
			before := cpuTime(b)
			r.start()
			<-r.ended
			b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
		})
	}
}

// BenchmarkDraw is the part of BenchmarkTransaction that package tpcc takes.
func BenchmarkDraw(b *testing.B) {
	t := tpcc.NewTerminal(1, 0, tpcc.StandardScale(4), tpcc.StandardMix())
	var in tpcc.Input
	for b.Loop() {
		t.Next(&in)
	}
}

// BenchmarkClock is one reading of the run's clock; a transaction takes two.
func BenchmarkClock(b *testing.B) {
	c := clock{zero: time.Now()}
	for b.Loop() {
		c.now()
	}
}

// BenchmarkRecord is one sample into the buffer and, at last, into the shared figures.
func BenchmarkRecord(b *testing.B) {
	r := prepared(b, 1, 1)
	t := r.terminals[0]
	b.ReportAllocs()
	for b.Loop() {
		t.record(sample{done: 1, latency: 100_000, typ: tpcc.TxPayment})
	}
}

func cpuTime(b *testing.B) int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}
