package store

import "sync/atomic"

// request is one thing for the owner to do: a transaction, or a control function that runs between saves.
type request struct {
	next    *request
	run     TxFunc
	control func() error
	closing bool // the last request: the owner ends after it
	err     error
	done    chan struct{} // has room for one
}

// queue hands requests from many goroutines to the owner: a stack that the owner takes whole and turns around.
//
// Invariant: parked is true only while the owner waits for wake, or is about to look at the stack once more; who
// changes it to false sends to wake, or is the owner itself.
type queue struct {
	head   atomic.Pointer[request]
	_      [56]byte
	parked atomic.Bool
	wake   chan struct{}
}

func (q *queue) init() { q.wake = make(chan struct{}, 1) }

func (q *queue) push(r *request) {
	for {
		head := q.head.Load()
		r.next = head
		if q.head.CompareAndSwap(head, r) {
			break
		}
	}
	if q.parked.Load() && q.parked.CompareAndSwap(true, false) {
		q.wake <- struct{}{}
	}
}

// last returns how many requests the list has, and the last of them.
func (r *request) last() (n int, last *request) {
	for n = 1; r.next != nil; r = r.next {
		n++
	}
	return n, r
}

// until is how many requests the list has before end.
func (r *request) until(end *request) (n int) {
	for ; r != end; r = r.next {
		n++
	}
	return n
}

// waiting is how many requests wait; only who takes may call it.
func (q *queue) waiting() int { return q.head.Load().until(nil) }

// take returns all requests that wait, the oldest first, linked by next; nil if there are none.
func (q *queue) take() *request {
	if q.head.Load() == nil {
		return nil
	}
	var first *request
	for r := q.head.Swap(nil); r != nil; {
		next := r.next
		r.next = first
		first, r = r, next
	}
	return first
}

// park waits until there may be something to take.
func (q *queue) park() {
	q.parked.Store(true)
	if q.head.Load() != nil && q.parked.CompareAndSwap(true, false) {
		return
	}
	<-q.wake
}
