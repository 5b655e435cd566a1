package pure

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tpccbench/engines"
	"tpccbench/engines/pure/store"
	"tpccbench/engines/pure/store/fs"
	"tpccbench/tpcc"
)

// benchDir is a directory on the RAM file system or on disk (the temporary directory).
func benchDir(b *testing.B, ram bool) string {
	b.Helper()
	if !ram {
		return b.TempDir()
	}
	dir, err := os.MkdirTemp("/dev/shm", "pure-bench-")
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// inputs draws n transactions of terminal number t.
func inputs(t, n int, scale tpcc.Scale) []tpcc.Input {
	term := tpcc.NewTerminal(1, t, scale, tpcc.StandardMix())
	in := make([]tpcc.Input, n)
	for i := range in {
		term.Next(&in[i])
	}
	return in
}

// BenchmarkMix is the standard mix end to end, by terminals that do nothing else. It reports tx/s besides.
func BenchmarkMix(b *testing.B) {
	for _, ram := range []bool{true, false} {
		for _, w := range []int{1, 4} {
			for _, terminals := range []int{16, 64} {
				name := map[bool]string{true: "ram", false: "disk"}[ram]
				b.Run(fmt.Sprintf("%s/w=%d/terminals=%d", name, w, terminals), func(b *testing.B) {
					benchmarkMix(b, benchDir(b, ram), tpcc.StandardScale(w), terminals, b.N)
				})
			}
		}
	}
}

// benchmarkMix loads a store in dir, runs the transactions, and closes it.
func benchmarkMix(b *testing.B, dir string, scale tpcc.Scale, terminals, transactions int) {
	e, err := Factory.Open(dir, engines.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	if err := e.Load(tpcc.Population(1, scale)); err != nil {
		b.Fatal(err)
	}
	var left atomic.Int64
	left.Store(int64(transactions))
	var wg sync.WaitGroup
	terms := make([]*tpcc.Terminal, terminals)
	sessions := make([]engines.Session, terminals)
	for t := range terms {
		terms[t] = tpcc.NewTerminal(1, t, scale, tpcc.StandardMix())
		if sessions[t], err = e.NewSession(); err != nil {
			b.Fatal(err)
		}
	}
	before, _ := e.Facts()
	b.ReportAllocs()
	b.ResetTimer()
	for t := range terms {
		wg.Go(func() {
			var in tpcc.Input
			var out tpcc.Output
			for left.Add(-1) >= 0 {
				terms[t].Next(&in)
				if err := engines.Call(sessions[t], &in, &out); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	after, _ := e.Facts()
	n := float64(transactions)
	b.ReportMetric(n/b.Elapsed().Seconds(), "tx/s")
	b.ReportMetric(float64(after.LogBytes-before.LogBytes)/n, "logB/tx")
	b.ReportMetric(n/float64(after.Commits-before.Commits), "tx/save")
	for part, ns := range after.BusyNS {
		b.ReportMetric(float64(ns-before.BusyNS[part])/n/1000, part+"_us/tx")
	}
	for _, s := range sessions {
		s.Close()
	}
}

// BenchmarkLoad is loading a population, and then opening it again.
func BenchmarkLoad(b *testing.B) {
	for _, ram := range []bool{true, false} {
		for _, w := range []int{1, 4} {
			b.Run(fmt.Sprintf("ram=%v/w=%d", ram, w), func(b *testing.B) {
				var load, open time.Duration
				for b.Loop() {
					dir := benchDir(b, ram)
					e, err := Factory.Open(dir, engines.Options{})
					if err != nil {
						b.Fatal(err)
					}
					start := time.Now()
					if err := e.Load(tpcc.Population(1, tpcc.StandardScale(w))); err != nil {
						b.Fatal(err)
					}
					load += time.Since(start)
					if err := e.Close(); err != nil {
						b.Fatal(err)
					}
					start = time.Now()
					if e, err = Factory.Open(dir, engines.Options{}); err != nil {
						b.Fatal(err)
					}
					open += time.Since(start)
					st := e.(*engine).s.Stats()
					b.ReportMetric(float64(st.ArenaBytes-st.ArenaFreeBytes)/(1<<20), "arena_MiB")
					if err := e.Close(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(load.Seconds()/float64(b.N), "load_s")
				b.ReportMetric(open.Seconds()/float64(b.N), "open_s")
			})
		}
	}
}

// BenchmarkRecovery is opening a store behind whose image the log has about 4 million records.
func BenchmarkRecovery(b *testing.B) {
	dir := benchDir(b, true)
	benchmarkMix(b, dir, tpcc.StandardScale(1), 64, 260_000)
	var records int64
	b.ResetTimer()
	b.StartTimer()
	for b.Loop() {
		e, err := Factory.Open(dir, engines.Options{})
		if err != nil {
			b.Fatal(err)
		}
		records = e.(*engine).s.Recovery().Records
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(records), "records")
	b.ReportMetric(float64(records)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkApply is the work of the owner without a log on a device: transactions applied one by one, saves of 64, a
// file system in memory, one thread.
func BenchmarkApply(b *testing.B) {
	for _, w := range []int{1, 4} {
		b.Run(fmt.Sprintf("w=%d", w), func(b *testing.B) {
			scale := tpcc.StandardScale(w)
			s, err := store.Open(fs.NewMem(), schema, store.Options{CheckpointMinBytes: 1 << 40})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			e := &engine{s: s}
			if err := e.Load(tpcc.Population(1, scale)); err != nil {
				b.Fatal(err)
			}
			ses, err := e.NewSession()
			if err != nil {
				b.Fatal(err)
			}
			x := ses.(*session)
			in := make([][]tpcc.Input, 64)
			for t := range in {
				in[t] = inputs(t, b.N/64+1, scale)
			}
			next, last := 0, 0
			var out tpcc.Output
			var failed error
			// One save carries out the transactions next..last. The 1 % that roll back would take the others along: they are
			// left out.
			batch := func(tx *store.Tx) error {
				for ; next < last; next++ {
					switch in := &in[next%64][next/64]; in.Type {
					case tpcc.TxNewOrder:
						if in.NewOrder.Lines[in.NewOrder.Count-1].IID == scale.UnusedItem() {
							continue
						}
						x.newOrderIn, x.newOrderOut = &in.NewOrder, &out.NewOrder
						failed = x.applyNewOrder(tx)
					case tpcc.TxPayment:
						x.paymentIn, x.paymentOut = &in.Payment, &out.Payment
						failed = x.applyPayment(tx)
					case tpcc.TxDelivery:
						x.deliveryIn, x.deliveryOut = &in.Delivery, &out.Delivery
						failed = x.applyDelivery(tx)
					default:
						failed = engines.Call(x, in, &out)
					}
					if failed != nil {
						return failed
					}
				}
				return nil
			}
			before := s.Stats()
			b.ReportAllocs()
			b.ResetTimer()
			for next < b.N {
				last = min(next+64, b.N)
				if err := x.writes.Do(batch); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			st := s.Stats()
			b.ReportMetric(float64(st.Apply-before.Apply)/float64(b.N)/1000, "apply_us/tx")
			b.ReportMetric(float64(st.Publish-before.Publish)/float64(b.N)/1000, "publish_us/tx")
			b.ReportMetric(float64(st.LogBytes-before.LogBytes)/float64(b.N), "logB/tx")
			b.ReportMetric(float64(st.ArenaBytes-st.ArenaFreeBytes)/(1<<20), "arena_MiB")
		})
	}
}
