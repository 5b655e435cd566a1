package sqlitegrouped

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"tpccbench/engines/internal/sqltpcc"
)

// threadName is what the writer's thread is called in /proc (15 bytes at most).
const threadName = "sqlite-writer"

// writer is the one thread that writes. Invariants: a session is in waiting at most once, from hand until the writer
// has answered it; wake holds a token if waiting is not empty and the writer may be asleep.
type writer struct {
	conn         *sqltpcc.Conn
	savepointAll bool
	tid          int
	answerNS     atomic.Int64 // time that waking the sessions took, ns

	mu      sync.Mutex
	waiting []*session

	wake  chan struct{} // closed: end
	ended chan struct{}
}

// startWriter opens the writer's connection and starts its thread.
func startWriter(store *sqltpcc.Store, savepointAll bool) (*writer, error) {
	conn, err := store.Connect()
	if err != nil {
		return nil, err
	}
	w := &writer{conn: conn, savepointAll: savepointAll, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	started := make(chan struct{})
	go func() {
		defer close(w.ended)
		runtime.LockOSThread() // and never unlocked: the named thread ends with the goroutine
		w.tid = unix.Gettid()
		nameThread()
		close(started)
		w.run()
	}()
	<-started
	return w, nil
}

// nameThread names the calling thread. A thread without a name works as well, so an error is of no interest.
func nameThread() {
	name, err := unix.BytePtrFromString(threadName)
	if err == nil {
		_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(name)), 0, 0, 0)
	}
}

// hand gives the session's request to the writer.
func (w *writer) hand(s *session) {
	w.mu.Lock()
	w.waiting = append(w.waiting, s)
	first := len(w.waiting) == 1
	w.mu.Unlock()
	if first {
		select {
		case w.wake <- struct{}{}:
		default: // the token of a group that was taken before the writer slept
		}
	}
}

// take returns all that wait, and leaves the empty slice spare in their place.
func (w *writer) take(spare []*session) []*session {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.waiting
	w.waiting = spare
	return taken
}

// run carries out group after group until close.
func (w *writer) run() {
	var sessions []*session
	var group sqltpcc.Group
	defer group.Free()
	for {
		sessions = w.take(sessions[:0])
		if len(sessions) == 0 {
			if _, open := <-w.wake; !open {
				return
			}
			continue
		}
		for _, s := range sessions {
			group.Add(s.Request)
		}
		w.conn.RunGroup(&group, w.savepointAll)
		group.Clear()
		answering := time.Now()
		for _, s := range sessions {
			s.answered <- struct{}{}
		}
		w.answerNS.Add(time.Since(answering).Nanoseconds())
		// Let the woken ones hand in their next requests before the next group is taken: it is the larger for it.
		runtime.Gosched()
	}
}

// close ends the writer, after all sessions.
func (w *writer) close() error {
	close(w.wake)
	<-w.ended
	return w.conn.Close()
}
