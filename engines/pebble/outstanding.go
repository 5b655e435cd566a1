package pebble

import "sync"

// outstanding knows the commits that may be visible and are not yet durable. A commit begins before it is applied and
// ends after its sync; whoever has read a state waits for all that had begun by then.
//
// Invariant: open holds the tickets of running commits, ascending.
type outstanding struct {
	mu      sync.Mutex
	changed *sync.Cond // the oldest ticket of open has ended
	last    uint64     // ticket drawn last
	open    []ticket
}

type ticket struct {
	number uint64
	ended  bool
}

func newOutstanding() *outstanding {
	o := &outstanding{}
	o.changed = sync.NewCond(&o.mu)
	return o
}

// begin draws a commit's ticket.
func (o *outstanding) begin() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last++
	o.open = append(o.open, ticket{number: o.last})
	return o.last
}

// end says that the commit is durable, or has failed.
func (o *outstanding) end(number uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open[number-o.open[0].number].ended = true
	n := 0
	for n < len(o.open) && o.open[n].ended {
		n++
	}
	if n > 0 {
		o.open = append(o.open[:0], o.open[n:]...)
		o.changed.Broadcast()
	}
}

// wait returns when all commits that have begun before it have ended.
func (o *outstanding) wait() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for last := o.last; len(o.open) > 0 && o.open[0].number <= last; {
		o.changed.Wait()
	}
}
