package enginetest

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// Bench is the standard mix on one warehouse of the specification's size, without driver and harness: on a memory file
// system and on the disk of the temporary directory, with 1 and 16 terminals. Beside the time and the allocations of a
// transaction, terminal included (it has none), it reports tx/s and, where the engine tells them, the bytes of log and
// the syncs of a transaction.
func Bench(b *testing.B, f engines.Factory, settings map[string]string) {
	for _, place := range []string{"memory", "disk"} {
		b.Run(place, func(b *testing.B) {
			dir := b.TempDir()
			if place == "memory" {
				var err error
				if dir, err = os.MkdirTemp("/dev/shm", f.Name+"-bench-"); err != nil {
					b.Skip(err)
				}
				b.Cleanup(func() { _ = os.RemoveAll(dir) }) // what is left shows in the next run
			}
			e, err := f.Open(dir, engines.Options{Settings: settings})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() {
				if err := e.Close(); err != nil {
					b.Error(err)
				}
			})
			scale := tpcc.StandardScale(1)
			if err := e.Load(tpcc.Population(1, scale)); err != nil {
				b.Fatal(err)
			}
			seed := uint64(0)
			for _, terminals := range []int{1, 16} {
				b.Run(fmt.Sprintf("terminals=%d", terminals), func(b *testing.B) {
					seed++ // other transactions than those that the store has had
					benchMix(b, e, seed, scale, terminals)
				})
			}
		})
	}
}

// benchMix runs b.N transactions.
func benchMix(b *testing.B, e engines.Engine, seed uint64, scale tpcc.Scale, terminals int) {
	err := withSessions(e, terminals, func(sessions []engines.Session) error {
		before, err := e.Facts()
		if err != nil {
			return err
		}
		var left atomic.Int64
		left.Store(int64(b.N))
		var all sync.WaitGroup
		b.ReportAllocs()
		b.ResetTimer()
		for i, session := range sessions {
			terminal := tpcc.NewTerminal(seed, i, scale, tpcc.StandardMix())
			all.Go(func() {
				var in tpcc.Input
				var out tpcc.Output
				for left.Add(-1) >= 0 {
					terminal.Next(&in)
					if err := engines.Call(session, &in, &out); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		b.StopTimer()
		after, err := e.Facts()
		if err != nil {
			return err
		}
		n := float64(b.N)
		b.ReportMetric(n/b.Elapsed().Seconds(), "tx/s")
		if after.LogBytes != engines.Unknown {
			b.ReportMetric(float64(after.LogBytes-before.LogBytes)/n, "logB/tx")
		}
		if after.Syncs != engines.Unknown {
			b.ReportMetric(float64(after.Syncs-before.Syncs)/n, "syncs/tx")
		}
		return nil
	})
	if err != nil {
		b.Error(err)
	}
}
