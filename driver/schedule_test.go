package driver

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestScheduleStall proves the backlog of a stall, to the nanosecond: one terminal takes the first of a thousand
// transactions/s and comes back after a second and a half; a second later it has caught up.
func TestScheduleStall(t *testing.T) {
	cfg := timed(1, 0, 3*time.Second)
	cfg.Rate, cfg.Arrivals = 1000, FixedArrivals
	s := newSchedule(&cfg, int64(cfg.Duration))
	ms := int64(time.Millisecond)
	if at := s.take(0); at != 0 {
		t.Fatalf("the first start is at %d", at)
	}
	for i := range int64(1500) { // 1 .. 1500 were due in the meantime
		if at := s.take(1500 * ms); at != (i+1)*ms {
			t.Fatalf("start %d is at %d", i+1, at)
		}
	}
	if n := s.backlogAt(1500 * ms); n != 0 {
		t.Errorf("after that %d are due", n)
	}
	for i := int64(1501); i <= 2900; i++ { // each taken when the one before has begun
		if at := s.take((i - 1) * ms); at != i*ms {
			t.Fatalf("start %d is at %d", i, at)
		}
	}
	s.stop(3000 * ms)
	if at := s.take(2999 * ms); at != never {
		t.Errorf("after the end a start at %d was given out", at)
	}
	r := Result{Seconds: make([]Second, 3)}
	var o OpenLoop
	s.report(&r, &o)
	if want := (OpenLoop{Due: 3000, BacklogMax: 1500, BacklogEnd: 99}); o != want {
		t.Errorf("%+v; want %+v", o, want)
	}
	for i, want := range []backlog{{999, 999}, {1500, 0}, {99, 99}} {
		if got := (backlog{r.Seconds[i].BacklogMax, r.Seconds[i].BacklogEnd}); got != want {
			t.Errorf("second %d: %+v; want %+v", i, got, want)
		}
	}
}

// TestScheduleModel proves, for random takes, that the books are those of a count of every arrival and every take, with
// a warm-up and with a window that is cut short or not.
func TestScheduleModel(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		cfg := timed(1, time.Duration(random.Int64N(3*secondNS)), 1+time.Duration(random.Int64N(4*secondNS)))
		cfg.Seed, cfg.Rate, cfg.Arrivals = seed, 1+500*random.Float64(), PoissonArrivals
		start, end := int64(cfg.WarmUp), int64(cfg.WarmUp+cfg.Duration)
		s := newSchedule(&cfg, end)
		if random.IntN(2) == 0 {
			end = start + 1 + random.Int64N(end-start)
		}
		arrivals := drawn(seed, cfg.Rate, PoissonArrivals, 10_000)
		var takes []int64
		mean := 2e9 / cfg.Rate * random.Float64() // from far too fast to half as fast as they come
		for now := int64(0); ; {
			now += 1 + int64(random.ExpFloat64()*mean)
			if random.IntN(100) == 0 {
				now += random.Int64N(secondNS)
			}
			if now >= end {
				break
			}
			if at := s.take(now); at != arrivals[len(takes)] {
				t.Fatalf("seed %d: take %d is %d; want %d", seed, len(takes), at, arrivals[len(takes)])
			}
			takes = append(takes, now)
		}
		s.stop(end)
		r := Result{Seconds: make([]Second, secondsIn(end-start))}
		var o OpenLoop
		s.report(&r, &o)

		upTo := func(times []int64, at int64) int64 { // of those at or before
			n, _ := slices.BinarySearch(times, at+1)
			return int64(n)
		}
		want := OpenLoop{Due: upTo(arrivals, end-1) - upTo(arrivals, start-1)}
		for i := range r.Seconds {
			from := start + int64(i)*secondNS
			to := min(from+secondNS, end)
			b := backlog{max: max(0, upTo(arrivals, from-1)-upTo(takes, from-1))}
			for _, at := range append(slices.Clone(takes), to) { // highest just before a take, or at the end
				if at >= from && at < to || at == to {
					before := at - 1
					if at < to {
						before = at
					}
					b.max = max(b.max, upTo(arrivals, before)-upTo(takes, at-1))
				}
			}
			b.end = max(0, upTo(arrivals, to-1)-upTo(takes, to-1))
			if got := (backlog{r.Seconds[i].BacklogMax, r.Seconds[i].BacklogEnd}); got != b {
				t.Fatalf("seed %d: second %d: %+v; want %+v", seed, i, got, b)
			}
			want.BacklogMax, want.BacklogEnd = max(want.BacklogMax, b.max), b.end
		}
		if o != want {
			t.Fatalf("seed %d: %+v; want %+v", seed, o, want)
		}
	}
}

// TestKeptUp proves where the line is between an engine that keeps up and one that falls behind.
func TestKeptUp(t *testing.T) {
	result := func(due, ended int64) *Result {
		r := &Result{Terminals: 4, MeasuredNS: 2 * secondNS, OpenLoop: &OpenLoop{Due: due}}
		r.Types[1].Attempts = ended
		return r
	}
	for _, c := range []struct {
		due, ended int64
		want       bool
	}{{100, 100, true}, {100, 96, true}, {100, 95, false}, {10_000, 9_900, true}, {10_000, 9_899, false}, {100, 104, true}} {
		if got := result(c.due, c.ended).KeptUp(); got != c.want {
			t.Errorf("%d due, %d ended: kept up %t", c.due, c.ended, got)
		}
	}
	if !new(Result).KeptUp() || new(Result).OfferedPerSecond() != 0 || result(100, 0).OfferedPerSecond() != 50 {
		t.Error("a closed loop keeps up with no offer; 100 in 2 s are 50 per second")
	}
}
