// Package attack runs random tests that have two lengths: a few rounds among all other tests, and as many as a given
// time allows under torture.sh. Each round has a seed of its own, so that any failure comes again from its seed alone:
//
//	a := attack.New(t, 20)
//	for seed := range a.Rounds() {
//		rng := rand.New(rand.NewPCG(seed, 0))
//		...
//		a.Count("flips", 1)
//	}
//
// Three variables of the environment change what is run:
//
//	TORTURE_SECONDS   go on for so long, instead of the number of rounds that the test names
//	TORTURE_ROUNDS    go on for so many rounds
//	TORTURE_SEED      seed of the first round; the next one's is one more. Without it, it is drawn
//
// At its end a test logs one line for torture.sh to add up, and, if it has failed, how to make the round again:
//
//	figures: seed=17 rounds=20 flips=4000
package attack

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Attack is one test's rounds and what it counted.
type Attack struct {
	t      *testing.T
	rounds uint64        // how many; 0: by time
	length time.Duration // if rounds is 0
	first  uint64
	done   uint64 // rounds that were begun
	counts []count
}

type count struct {
	what string
	n    int64
}

// New begins the attack of test t, of so many rounds when the environment does not say otherwise.
func New(t *testing.T, rounds int) *Attack {
	t.Helper()
	a := &Attack{t: t, rounds: uint64(rounds), first: number(t, "TORTURE_SEED", rand.Uint64N(1<<48))}
	if seconds := number(t, "TORTURE_SECONDS", 0); seconds > 0 {
		a.rounds, a.length = 0, time.Duration(seconds)*time.Second
	}
	if n := number(t, "TORTURE_ROUNDS", 0); n > 0 {
		a.rounds = n
	}
	t.Cleanup(a.report)
	return a
}

// number is a variable of the environment, or what it means if it is not set.
func number(t *testing.T, name string, unset uint64) uint64 {
	t.Helper()
	text, ok := os.LookupEnv(name)
	if !ok {
		return unset
	}
	n, err := strconv.ParseUint(text, 10, 48)
	if err != nil {
		t.Fatalf("%s=%q: it must be a whole number below 2^48", name, text)
	}
	return n
}

// Long reports whether the attack goes on for a given time, under torture.sh.
func (a *Attack) Long() bool { return a.rounds == 0 }

// Rounds yields the seed of each round, at least of one.
func (a *Attack) Rounds() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		end := time.Now().Add(a.length)
		for a.done == 0 || a.rounds > 0 && a.done < a.rounds || a.rounds == 0 && time.Now().Before(end) {
			a.done++
			if !yield(a.first + a.done - 1) {
				return
			}
		}
	}
}

// Count adds n to the figure of that name, which is one word in the plural.
func (a *Attack) Count(what string, n int) {
	for i := range a.counts {
		if a.counts[i].what == what {
			a.counts[i].n += int64(n)
			return
		}
	}
	a.counts = append(a.counts, count{what, int64(n)})
}

// report logs the figures, and how to replay the round that failed.
func (a *Attack) report() {
	if a.t.Skipped() {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "figures: seed=%d rounds=%d", a.first, a.done)
	for _, c := range a.counts {
		fmt.Fprintf(&b, " %s=%d", c.what, c.n)
	}
	a.t.Log(b.String())
	if a.t.Failed() && a.done > 0 {
		a.t.Logf("replay: in the folder of this test, TORTURE_SEED=%d TORTURE_ROUNDS=1 go test -count=1 -v -run '^%s$' .",
			a.first+a.done-1, strings.ReplaceAll(a.t.Name(), "/", "$/^"))
	}
}
