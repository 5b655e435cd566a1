package driver

import (
	"sync/atomic"
	"time"

	"tpccbench/tpcc"
)

// Live is how far a run is. Its counts begin with the run: the warm-up is in them.
type Live struct {
	Elapsed      time.Duration // since the start of the measured window; negative in the warm-up
	Transactions int64         // completed
	ByType       [tpcc.NumTypes]int64
	Failures     int64
	Backlog      int64 // of an open loop: transactions that are due while no terminal is free
}

// counters are one terminal's part of Live: written by the terminal, read by anybody.
type counters struct {
	completed [tpcc.NumTypes]atomic.Int64
	failures  atomic.Int64
}

// attempts is the number of transactions that have ended.
func (c *counters) attempts() int64 {
	n := c.failures.Load()
	for i := range c.completed {
		n += c.completed[i].Load()
	}
	return n
}

func (r *run) live(now int64) Live {
	l := Live{Elapsed: time.Duration(now) - r.clock.start}
	for _, t := range r.terminals {
		for i := range t.live.completed {
			n := t.live.completed[i].Load()
			l.ByType[i] += n
			l.Transactions += n
		}
		l.Failures += t.live.failures.Load()
	}
	if r.schedule != nil {
		l.Backlog = r.schedule.backlogAt(now)
	}
	return l
}
