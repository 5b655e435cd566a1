package badger

import (
	"errors"

	"github.com/dgraph-io/badger/v4"

	"tpccbench/engines"
	"tpccbench/engines/internal/kvtpcc"
	"tpccbench/tpcc"
)

// session is one terminal.
type session struct {
	kvtpcc.Terminal
	engine     *engine
	warehouses []int32
	tx         tx
}

// NewSession makes a session; there may be any number.
func (e *engine) NewSession() (engines.Session, error) {
	s := &session{engine: e}
	s.Write, s.View = s.write, s.read
	return s, nil
}

// Close has nothing to give back.
func (s *session) Close() error { return nil }

// write runs in, and returns when it is durable.
func (s *session) write(in *tpcc.Input, out *tpcc.Output) error {
	e := s.engine
	switch e.concurrency {
	case "writer":
		return e.writer.Do(in, out)
	case "warehouse":
		s.warehouses = kvtpcc.Warehouses(s.warehouses[:0], in)
		e.locks.Lock(s.warehouses)
		defer e.locks.Unlock(s.warehouses)
		return s.attempt(in, out)
	}
	for range maxConflicts {
		e.alone.RLock()
		err := s.attempt(in, out)
		e.alone.RUnlock()
		if !errors.Is(err, badger.ErrConflict) {
			return err
		}
		e.conflicts.Add(1)
	}
	e.alone.Lock()
	defer e.alone.Unlock()
	return s.attempt(in, out)
}

// attempt runs in once, as a transaction of Badger.
func (s *session) attempt(in *tpcc.Input, out *tpcc.Output) error {
	e := s.engine
	s.tx.begin(e.db, true)
	defer s.tx.txn.Discard()
	// A transaction waits at its beginning for the commits before it: one of them may have failed.
	if err := e.accepts(); err != nil {
		return err
	}
	s.Work.Shared = e.shared.Load()
	if err := s.Work.Call(&s.tx, in, out); err != nil {
		return err
	}
	if !s.tx.wrote {
		return e.refuses()
	}
	return e.commit(&s.tx)
}

// read runs a reading transaction on the last durable commit.
func (s *session) read(run func(kvtpcc.Reader) error) error {
	s.tx.begin(s.engine.db, false)
	defer s.tx.txn.Discard()
	if err := s.engine.refuses(); err != nil {
		return err
	}
	return run(&s.tx)
}

// group is the transaction of concurrency=writer: kvtpcc.Writer runs many transactions of the benchmark in it.
type group struct {
	tx
	engine *engine
}

// newWriter starts the goroutine of concurrency=writer.
func newWriter(e *engine) *kvtpcc.Writer {
	g := &group{engine: e}
	return kvtpcc.NewWriter(func() (kvtpcc.Batch, error) {
		g.begin(e.db, true)
		return g, nil
	}, kvtpcc.WriterOptions{
		Name:     threadName,
		Check:    e.accepts,
		MaxBatch: int(min(e.db.MaxBatchCount()/txEntries, e.db.MaxBatchSize()/txBytes)),
	})
}

// Commit makes the group durable.
func (g *group) Commit() error {
	defer g.txn.Discard()
	if !g.wrote {
		return nil
	}
	return g.engine.commit(&g.tx)
}

// Abort drops the group.
func (g *group) Abort() { g.txn.Discard() }

var _ kvtpcc.Batch = (*group)(nil)
