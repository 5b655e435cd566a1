package kvtpcc

import (
	"math/rand/v2"
	"sync"
	"testing"
)

// TestLocks proves that no two holders of a warehouse run at once, and that holders of several never wait for each
// other for ever: unprotected counters come out right under the race detector.
func TestLocks(t *testing.T) {
	const warehouses, goroutines, rounds = 5, 8, 400
	var locks Locks
	var counts [warehouses]int
	var wanted [goroutines][warehouses]int
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(seed, uint64(g)))
			var held []int32
			for range rounds {
				held = held[:0]
				for w := range int32(warehouses) {
					if rnd.IntN(2) == 0 {
						held = append(held, w)
					}
				}
				locks.Lock(held)
				for _, w := range held {
					counts[w]++
					wanted[g][w]++
				}
				locks.Unlock(held)
			}
		})
	}
	wg.Wait()
	for w := range warehouses {
		sum := 0
		for g := range goroutines {
			sum += wanted[g][w]
		}
		if counts[w] != sum {
			t.Errorf("warehouse %d: counted %d, locked %d times", w, counts[w], sum)
		}
	}
}
