package driver

import "sync"

// schedule is the queue of an open loop: the intended starts in their order, and how many of them are due while no
// terminal is free.
//
// There is one for all terminals, and a free terminal takes the next intended start: if it is in the future the terminal
// waits for it, else it begins at once. So a due transaction waits only while every terminal is busy, as with any pool
// of connections, and a session that stalls holds up nothing but its own transaction. The other design, a schedule per
// terminal at rate/terminals (wrk2), was rejected: there transactions queue behind one busy terminal while others are
// idle, and the latencies would be of that partition, which no user of a store has. Arrivals that do not depend on what
// has been answered make the system an open one either way (Schroeder, Wierman, Harchol-Balter: Open Versus Closed,
// NSDI 2006).
//
// Between two takes the backlog only grows, and what is due at any time can be computed. So the books are brought up to
// date at each take, exactly, without a clock of their own: the backlog is at its highest just before a take, or at the
// end.
type schedule struct {
	mu    sync.Mutex
	open  arrivals // gives out
	taken int64    // given out
	ahead arrivals // the same, further on or as far: what is due
	due   int64    // arrivals at or before the time that the books are of
	after int64    // the arrival after those
	limit int64    // arrivals that there are; never: as many as there is time for

	start, end int64 // the window, ns on the run's clock; end is never if it ends with its last transaction
	edge       int64 // where the running second of the window ends, or the warm-up does
	running    bool  // the window has begun
	over       bool
	dueBefore  int64 // arrivals before the window
	seconds    []backlog
}

// backlog is the number of transactions that are due while no terminal is free: in a second, or in the window.
type backlog struct{ max, end int64 }

func newSchedule(cfg *Config, end int64) *schedule {
	a := newArrivals(cfg.Seed, cfg.Rate, cfg.Arrivals)
	s := &schedule{open: a, ahead: a, start: int64(cfg.WarmUp), end: end, edge: int64(cfg.WarmUp)}
	s.after, s.limit = s.ahead.next(), never
	if cfg.StopAfter > 0 {
		s.limit = cfg.StopAfter
	}
	s.seconds = make([]backlog, 0, min(secondsIn(int64(cfg.Duration))+1, 3600))
	return s
}

// take gives out the next intended start, ns on the run's clock; never if the window is over.
func (s *schedule) take(now int64) (intended int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || now >= s.end {
		return never
	}
	s.advance(now)
	s.taken++
	return s.open.next()
}

// backlogAt is the backlog now.
func (s *schedule) backlogAt(now int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over && now < s.end {
		s.advance(now)
	}
	return s.waiting()
}

// stop ends the window. Nothing is given out after it.
func (s *schedule) stop(end int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	s.advance(end - 1)
	s.over, s.end = true, end
	if s.running {
		s.closeSecond()
	}
}

// advance brings the books up to date. now may be a little before the time that they are of, from a terminal that read
// the clock before another one and came after it.
func (s *schedule) advance(now int64) {
	for s.edge <= now {
		s.count(s.edge - 1)
		if s.running {
			s.closeSecond()
		} else {
			s.running, s.dueBefore = true, s.due
		}
		s.seconds = append(s.seconds, backlog{max: s.waiting()})
		s.edge += secondNS
	}
	s.count(now)
	if s.running {
		last := &s.seconds[len(s.seconds)-1]
		last.max = max(last.max, s.waiting())
	}
}

const secondNS = int64(1e9)

func (s *schedule) closeSecond() {
	last := &s.seconds[len(s.seconds)-1]
	last.max, last.end = max(last.max, s.waiting()), s.waiting()
}

// count counts what is due at the time.
func (s *schedule) count(now int64) {
	for s.after <= now && s.due < s.limit {
		s.due++
		s.after = s.ahead.next()
	}
}

// waiting is the backlog. Terminals that wait for a start in the future have taken more than is due.
func (s *schedule) waiting() int64 { return max(0, s.due-s.taken) }

// report writes the backlogs into the result, which has its seconds. The window must be over.
func (s *schedule) report(r *Result, o *OpenLoop) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.running {
		return
	}
	o.Due = s.due - s.dueBefore
	for i := range min(len(s.seconds), len(r.Seconds)) {
		b := s.seconds[i]
		r.Seconds[i].BacklogMax, r.Seconds[i].BacklogEnd = b.max, b.end
		o.BacklogMax, o.BacklogEnd = max(o.BacklogMax, b.max), b.end
	}
}
