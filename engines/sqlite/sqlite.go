// Package sqlite is the adapter for SQLite as it comes: one transaction, one commit, a connection per session.
//
// Writes are BEGIN IMMEDIATE .. COMMIT. SQLite has one writer at a time; those that lose the race wait in a queue of
// this package instead of polling for SQLite's lock, which wakes the next one at once and never ends in SQLITE_BUSY.
// Order-Status and Stock-Level are one read transaction each: they see one commit, beside the writer.
package sqlite

import (
	"sync"

	"tpccbench/engines"
	"tpccbench/engines/internal/sqltpcc"
)

// Factory opens SQLite stores with one commit per transaction.
var Factory = engines.Factory{
	Name:     "sqlite",
	Doc:      "SQLite (WAL, synchronous=FULL), one transaction per commit, a connection per session",
	Format:   sqltpcc.Format,
	Settings: sqltpcc.Settings,
}

func init() { Factory.Open = open } // open asks Factory what its settings are

type engine struct {
	*sqltpcc.Store
	writing sync.Mutex // held by the session that writes
}

func open(dir string, opt engines.Options) (engines.Engine, error) {
	if err := Factory.Check(opt); err != nil {
		return nil, err
	}
	store, err := sqltpcc.Open(dir, opt)
	if err != nil {
		return nil, err
	}
	return &engine{Store: store}, nil
}

// NewSession opens a connection.
func (e *engine) NewSession() (engines.Session, error) {
	conn, err := e.Connect()
	if err != nil {
		return nil, err
	}
	s := &session{engine: e, conn: conn}
	s.Terminal = sqltpcc.Terminal{Request: sqltpcc.NewRequest(), Execute: s.execute}
	return s, nil
}

type session struct {
	sqltpcc.Terminal
	engine *engine
	conn   *sqltpcc.Conn
}

func (s *session) execute(r *sqltpcc.Request) error {
	if !r.Type().ReadOnly() {
		s.engine.writing.Lock()
		defer s.engine.writing.Unlock()
	}
	return s.conn.Run(r)
}

func (s *session) Close() error {
	s.Request.Free()
	return s.conn.Close()
}
