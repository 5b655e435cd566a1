// Package sqlitegrouped is the adapter for SQLite with group commit in the application: the sessions hand their writes
// to one writer, which runs everything that waits in one transaction with one COMMIT, one sync.
//
// Each New-Order, Payment and Delivery stands in a SAVEPOINT of its own, so that what fails or rolls back takes only its
// own work back. Order-Status and Stock-Level run on the session's own connection and see the last commit
// (reads=own), or are handed to the writer too (reads=writer): they then see the state of the group that they are in,
// and are answered once it is durable. savepoint=need keeps the SAVEPOINT for New-Order, the one that rolls back in the
// ordinary course of things; should another one fail, the group is rolled back and run again with a SAVEPOINT for all.
//
// If SQLite gives up a group's transaction (disk full) or its COMMIT fails, every member gets the error.
package sqlitegrouped

import (
	"errors"
	"slices"

	"tpccbench/engines"
	"tpccbench/engines/internal/sqltpcc"
)

// Factory opens SQLite stores with one commit per group of transactions.
var Factory = engines.Factory{
	Name:   "sqlitegrouped",
	Doc:    "SQLite (WAL, synchronous=FULL), one writer thread, one commit for all transactions that wait",
	Format: sqltpcc.Format,
	Settings: append(slices.Clone(sqltpcc.Settings),
		engines.Setting{Name: "reads", Doc: "where reads run: on the session's own connection, or on the writer's in its groups",
			Default: "own", Values: []string{"own", "writer"}},
		engines.Setting{Name: "savepoint", Doc: "which transactions have a SAVEPOINT: all that write, or those that need one (New-Order)",
			Default: "all", Values: []string{"all", "need"}}),
}

func init() { Factory.Open = open } // open asks Factory what its settings are

type engine struct {
	*sqltpcc.Store
	writer        *writer
	readsOnWriter bool
}

func open(dir string, opt engines.Options) (engines.Engine, error) {
	if err := Factory.Check(opt); err != nil {
		return nil, err
	}
	store, err := sqltpcc.Open(dir, opt)
	if err != nil {
		return nil, err
	}
	e := &engine{Store: store, readsOnWriter: Factory.Get(opt, "reads") == "writer"}
	e.writer, err = startWriter(store, Factory.Get(opt, "savepoint") == "all")
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return e, nil
}

// NewSession makes a session; with reads=own it has a connection.
func (e *engine) NewSession() (engines.Session, error) {
	s := &session{engine: e, answered: make(chan struct{}, 1)}
	if !e.readsOnWriter {
		var err error
		if s.reader, err = e.Connect(); err != nil {
			return nil, err
		}
	}
	s.Terminal = sqltpcc.Terminal{Request: sqltpcc.NewRequest(), Execute: s.execute}
	return s, nil
}

// Facts are the store's and the writer's.
func (e *engine) Facts() (engines.Facts, error) {
	f, err := e.Store.Facts()
	f.OwnerTID = e.writer.tid
	f.BusyNS = e.BusyNS()
	f.BusyNS["answer"] = e.writer.answerNS.Load()
	return f, err
}

// Close ends the writer and closes the store.
func (e *engine) Close() error { return errors.Join(e.writer.close(), e.Store.Close()) }

type session struct {
	sqltpcc.Terminal
	engine   *engine
	reader   *sqltpcc.Conn // nil if reads go to the writer
	answered chan struct{} // the writer has carried the session's request out
}

func (s *session) execute(r *sqltpcc.Request) error {
	if s.reader != nil && r.Type().ReadOnly() {
		return s.reader.Run(r)
	}
	if err := s.engine.Refuses(r); err != nil {
		return err
	}
	s.engine.writer.hand(s)
	<-s.answered
	return s.engine.Outcome(r)
}

func (s *session) Close() error {
	s.Request.Free()
	if s.reader == nil {
		return nil
	}
	return s.reader.Close()
}
