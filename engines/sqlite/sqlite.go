// Package sqlite is the adapter for SQLite as it comes: one transaction, one commit, a connection per session.
//
// Writes are BEGIN IMMEDIATE .. COMMIT. SQLite has one writer at a time; sessions that lose the race wait for a mutex of
// sqltpcc's instead of polling for SQLite's lock: the next one is woken at once, and none ever sees SQLITE_BUSY.
// Order-Status and Stock-Level are one read transaction each: they see one commit, beside the writer.
package sqlite

import (
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

type engine struct{ *sqltpcc.Store }

func open(dir string, opt engines.Options) (engines.Engine, error) {
	if err := Factory.Check(opt); err != nil {
		return nil, err
	}
	store, err := sqltpcc.Open(dir, opt)
	if err != nil {
		return nil, err
	}
	return &engine{store}, nil
}

// NewSession opens a connection.
func (e *engine) NewSession() (engines.Session, error) {
	conn, err := e.Connect()
	if err != nil {
		return nil, err
	}
	return &session{sqltpcc.Terminal{Request: sqltpcc.NewRequest(), Execute: conn.Run}, conn}, nil
}

type session struct {
	sqltpcc.Terminal
	conn *sqltpcc.Conn
}

func (s *session) Close() error {
	s.Request.Free()
	return s.conn.Close()
}
