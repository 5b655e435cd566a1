package pebble

import (
	"errors"

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
	reads      reader
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
	if s.engine.writer != nil {
		return s.engine.writer.Do(in, out)
	}
	e := s.engine
	if err := e.refuses(); err != nil {
		return err
	}
	s.warehouses = kvtpcc.Warehouses(s.warehouses[:0], in)
	e.locks.Lock(s.warehouses)
	s.Work.Shared = e.shared.Load()
	s.tx.begin(e)
	err := errors.Join(s.Work.Call(&s.tx, in, out), s.tx.close())
	if err != nil || s.tx.batch.Empty() {
		e.locks.Unlock(s.warehouses)
		if err := errors.Join(err, s.tx.batch.Close()); err != nil {
			return err
		}
		return e.durable() // of what it has read: a New-Order that rolled back, a Delivery with nothing to deliver
	}
	return e.commit(s.tx.batch, func() { e.locks.Unlock(s.warehouses) })
}

// read runs a reading transaction on a snapshot, and returns when the snapshot is durable.
func (s *session) read(run func(kvtpcc.Reader) error) error {
	e := s.engine
	if err := e.refuses(); err != nil {
		return err
	}
	snapshot := e.db.NewSnapshot()
	s.reads.fs, s.reads.view = e.fs, snapshot
	err := errors.Join(run(&s.reads), s.reads.close(), snapshot.Close())
	if err != nil {
		return err
	}
	return e.durable()
}

// group is the batch of concurrency=writer: kvtpcc.Writer runs many transactions in it.
type group struct {
	tx
	engine *engine
}

// newWriter starts the goroutine of concurrency=writer.
func newWriter(e *engine) *kvtpcc.Writer {
	g := &group{engine: e}
	return kvtpcc.NewWriter(func() (kvtpcc.Batch, error) {
		g.begin(e)
		return g, nil
	}, kvtpcc.WriterOptions{Name: threadName, Check: e.refuses})
}

// Commit makes the group durable. A group that has written nothing has read nothing that was not durable.
func (g *group) Commit() error {
	if err := g.close(); err != nil {
		return errors.Join(err, g.batch.Close())
	}
	if g.batch.Empty() {
		return g.batch.Close()
	}
	return g.engine.commit(g.batch, func() {})
}

// Abort drops the group.
func (g *group) Abort() { _ = errors.Join(g.close(), g.batch.Close()) }

var (
	_ kvtpcc.Batch  = (*group)(nil)
	_ kvtpcc.Reader = (*reader)(nil)
)
