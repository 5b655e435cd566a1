//go:build cgo && lmdb

package lmdb

import (
	"runtime"

	"tpccbench/engines"
	"tpccbench/engines/internal/kvtpcc"
	"tpccbench/tpcc"
)

// session is one terminal, with a reading transaction that is reset between uses.
type session struct {
	kvtpcc.Terminal
	engine *engine
	reads  *transaction
	writes transaction
}

// NewSession makes a session and takes one of LMDB's places for readers.
func (e *engine) NewSession() (engines.Session, error) {
	s := &session{engine: e}
	var err error
	if s.reads, err = e.env.begin(false); err != nil {
		return nil, err
	}
	s.reads.reset()
	s.View = s.view
	if s.Write = s.write; e.writer != nil {
		s.Write = e.writer.Do
	}
	return s, nil
}

// Close gives the place back.
func (s *session) Close() error {
	s.reads.abort()
	return nil
}

// view runs a reading transaction on the last durable commit.
func (s *session) view(run func(kvtpcc.Reader) error) error {
	if err := s.engine.refuses(); err != nil {
		return err
	}
	if err := s.reads.renew(); err != nil {
		return err
	}
	defer s.reads.reset()
	return run(s.reads)
}

// lockThread keeps the goroutine on its thread, which LMDB's lock of writers belongs to, until unlock.
func lockThread() (unlock func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// write runs one transaction with a commit of its own.
func (s *session) write(in *tpcc.Input, out *tpcc.Output) error {
	e := s.engine
	unlock := lockThread()
	defer unlock()
	// LMDB lets the next one begin when a commit has returned within; a failed one is known a little later. What begins
	// in between works on the state before the failure.
	if err := s.writes.start(e.env, true); err != nil {
		return err
	}
	if err := e.refuses(); err != nil {
		s.writes.abort()
		return err
	}
	s.Work.Shared = e.shared.Load()
	err := s.Work.Call(&s.writes, in, out)
	if err != nil || !s.Work.Began() {
		s.writes.abort()
		return err
	}
	return e.commit(&s.writes)
}

// group is the transaction of commit=grouped.
type group struct {
	transaction
	engine *engine
}

func (e *engine) newWriter() *kvtpcc.Writer {
	g := &group{engine: e}
	return kvtpcc.NewWriter(func() (kvtpcc.Batch, error) { return g, g.start(e.env, true) },
		kvtpcc.WriterOptions{Name: threadName, Check: e.refuses})
}

// Commit makes the group durable.
func (g *group) Commit() error { return g.engine.commit(&g.transaction) }

// Abort drops the group.
func (g *group) Abort() { g.abort() }
