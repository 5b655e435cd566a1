package kvtpcc

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// Batch is one transaction of the store, in which a Writer runs many of the benchmark. It is used by one goroutine,
// which stays on one thread.
type Batch interface {
	Tx
	// Commit makes what was written durable. After an error nobody knows whether it is.
	Commit() error
	// Abort drops what was written.
	Abort()
}

// WriterOptions are what NewWriter is told.
type WriterOptions struct {
	Name     string // of the thread, as /proc shows it (15 bytes at most)
	MaxBatch int    // transactions in one commit at most; 0: no limit
	// Check, if it is not nil, is asked before each group; its error is the answer of all that are in the group.
	Check func() error
}

// Writer is the one goroutine that writes to a store: it runs all transactions that wait, one after the other, in one
// transaction of the store, and answers after its commit. While it commits, the next ones gather.
//
// A transaction that fails on its input has written nothing and takes no other with it. If the store fails in the
// middle of a transaction, the group is given up: all its members get the error. After a failed commit the members get
// engines.ErrIndeterminate, and the Writer refuses everything else with engines.ErrFailed.
type Writer struct {
	begin  func() (Batch, error)
	opt    WriterOptions
	tid    int
	work   Work
	failed error // of a commit

	commits                   atomic.Int64
	applyNS, syncNS, answerNS atomic.Int64

	// Invariants: a request is in waiting at most once, from Do until it is taken; wake holds a token if waiting is not
	// empty and the writer may be asleep.
	mu      sync.Mutex
	waiting []*request

	wake     chan struct{} // closed: end
	ended    chan struct{}
	requests sync.Pool
}

// request is one transaction that waits.
type request struct {
	in       *tpcc.Input
	out      *tpcc.Output
	err      error
	answered chan struct{}
}

// NewWriter starts the goroutine. begin starts a transaction of the store on the writer's thread.
func NewWriter(begin func() (Batch, error), opt WriterOptions) *Writer {
	w := &Writer{begin: begin, opt: opt, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	w.requests.New = func() any { return &request{answered: make(chan struct{}, 1)} }
	started := make(chan struct{})
	go func() {
		defer close(w.ended)
		runtime.LockOSThread() // and never unlocked: the named thread ends with the goroutine
		w.tid = unix.Gettid()
		nameThread(opt.Name)
		close(started)
		w.run()
	}()
	<-started
	return w
}

// nameThread names the calling thread. A thread without a name works as well, so an error is of no interest.
func nameThread(text string) {
	name, err := unix.BytePtrFromString(text)
	if err == nil {
		_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(name)), 0, 0, 0)
	}
}

// Do runs a transaction and returns when its outcome is durable.
func (w *Writer) Do(in *tpcc.Input, out *tpcc.Output) error {
	r := w.requests.Get().(*request)
	r.in, r.out, r.err = in, out, nil
	w.mu.Lock()
	w.waiting = append(w.waiting, r)
	first := len(w.waiting) == 1
	w.mu.Unlock()
	if first {
		select {
		case w.wake <- struct{}{}:
		default: // the token of a group that was taken before the writer slept
		}
	}
	<-r.answered
	err := r.err
	r.in, r.out = nil, nil
	w.requests.Put(r)
	return err
}

// take returns all that wait, and leaves the empty slice spare in their place.
func (w *Writer) take(spare []*request) []*request {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.waiting
	w.waiting = spare
	return taken
}

// run carries out group after group until Close.
func (w *Writer) run() {
	var taken []*request
	for {
		taken = w.take(taken[:0])
		if len(taken) == 0 {
			if _, open := <-w.wake; !open {
				return
			}
			continue
		}
		for rest := taken; len(rest) > 0; {
			n := len(rest)
			if w.opt.MaxBatch > 0 {
				n = min(n, w.opt.MaxBatch)
			}
			w.runGroup(rest[:n])
			w.answer(rest[:n])
			rest = rest[n:]
		}
		// Let the woken ones hand in their next requests before the next group is taken: it is the larger for it.
		runtime.Gosched()
	}
}

// runGroup carries out a group and leaves each member's error in it.
func (w *Writer) runGroup(group []*request) {
	started := time.Now()
	batch, err := w.beginBatch()
	if err != nil {
		fail(group, err)
		return
	}
	wrote := false
	for _, r := range group {
		r.err = w.work.Call(batch, r.in, r.out)
		if r.err != nil && w.work.Began() {
			batch.Abort()
			w.work.queues().forget() // what the group took out is there again
			fail(group, fmt.Errorf("the group's transaction was given up: %w", r.err))
			return
		}
		wrote = wrote || w.work.Began()
	}
	applied := time.Now()
	w.applyNS.Add(applied.Sub(started).Nanoseconds())
	if !wrote {
		batch.Abort()
		return
	}
	err = batch.Commit()
	w.syncNS.Add(time.Since(applied).Nanoseconds())
	if err != nil {
		w.failed = err
		if !errors.Is(err, engines.ErrIndeterminate) {
			err = fmt.Errorf("%w: %w", engines.ErrIndeterminate, err)
		}
		fail(group, err)
		return
	}
	w.commits.Add(1)
}

func (w *Writer) beginBatch() (Batch, error) {
	if w.failed != nil {
		return nil, fmt.Errorf("%w: a commit failed: %s", engines.ErrFailed, w.failed)
	}
	if w.opt.Check != nil {
		if err := w.opt.Check(); err != nil {
			return nil, err
		}
	}
	return w.begin()
}

func fail(group []*request, err error) {
	for _, r := range group {
		r.err = err
	}
}

func (w *Writer) answer(group []*request) {
	started := time.Now()
	for _, r := range group {
		r.answered <- struct{}{}
	}
	w.answerNS.Add(time.Since(started).Nanoseconds())
}

// Close ends the writer, after all calls of Do have returned.
func (w *Writer) Close() error {
	close(w.wake)
	<-w.ended
	return nil
}

// Facts sets OwnerTID, Commits (groups) and BusyNS: apply is running transactions, sync is the store's commit with its
// writes and syncs, answer is waking the sessions.
func (w *Writer) Facts(f *engines.Facts) {
	f.OwnerTID, f.Commits = w.tid, w.commits.Load()
	f.BusyNS = map[string]int64{"apply": w.applyNS.Load(), "sync": w.syncNS.Load(), "answer": w.answerNS.Load()}
}
