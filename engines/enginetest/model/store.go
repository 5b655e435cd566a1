package model

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// ErrUnknown is wrapped by the error of a transaction whose input names a row that there is not.
var ErrUnknown = errors.New("no such row")

// Store is the database. Its methods may be called by several goroutines; each is one transaction.
type Store struct {
	mu      sync.Mutex
	rows    [tpcc.NumTables]map[key]*tpcc.Row // by primary key; HISTORY has none
	history []*tpcc.Row                       // in order of arrival

	// The two access paths beside the primary keys, both ascending.
	customers map[district][]int64 // C_ID
	newOrders map[district][]int64 // NO_O_ID
}

// key is a primary key, the columns beyond Schema.Key zero.
type key [4]int64

type district struct{ wid, did int64 }

// New returns an empty store.
func New() *Store {
	s := &Store{customers: map[district][]int64{}, newOrders: map[district][]int64{}}
	for _, t := range tpcc.Tables {
		s.rows[t] = map[key]*tpcc.Row{}
	}
	return s
}

// Close does nothing. With it a Store is an engines.Session, one for all who use it.
func (s *Store) Close() error { return nil }

// Load fills an empty store. It fails with engines.ErrNotEmpty on one that has rows, and on a second row with the same
// primary key.
func (s *Store) Load(rows iter.Seq[*tpcc.Row]) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.empty() {
		return fmt.Errorf("load the model: %w", engines.ErrNotEmpty)
	}
	tx := s.begin()
	for r := range rows {
		if err := tx.insert(*r); err != nil {
			tx.rollback()
			return fmt.Errorf("load the model: %w", err)
		}
	}
	return nil
}

func (s *Store) empty() bool {
	for _, t := range tpcc.Tables {
		if len(s.rows[t]) > 0 {
			return false
		}
	}
	return len(s.history) == 0
}

// Snapshot visits a copy of all rows, table by table, in key order (HISTORY in order of arrival). It ends at the first
// error of visit and returns it as it is.
func (s *Store) Snapshot(visit func(*tpcc.Row) error) error {
	for _, r := range s.copyRows() {
		if err := visit(&r); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) copyRows() []tpcc.Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []tpcc.Row
	for _, t := range tpcc.Tables {
		if t == tpcc.History {
			for _, r := range s.history {
				all = append(all, *r)
			}
			continue
		}
		first := len(all)
		for _, r := range s.rows[t] {
			all = append(all, *r)
		}
		slices.SortFunc(all[first:], func(a, b tpcc.Row) int { return slices.Compare(a.Col[:], b.Col[:]) })
	}
	return all
}

// get returns the row with that primary key.
func (s *Store) get(t tpcc.Table, k ...int64) (*tpcc.Row, error) {
	var full key
	copy(full[:], k)
	r := s.rows[t][full]
	if r == nil {
		return nil, fmt.Errorf("%w: %s %d", ErrUnknown, t, k)
	}
	return r, nil
}

// customer selects a customer by C_ID or by last name (clauses 2.5.2.2 and 2.6.2.2): of those with the name, sorted by
// C_ID, row ceil(n/2).
func (s *Store) customer(wid, did int32, byName bool, last, cid int32) (*tpcc.Row, error) {
	if !byName {
		return s.get(tpcc.Customer, int64(wid), int64(did), int64(cid))
	}
	var named []*tpcc.Row
	for _, id := range s.customers[district{int64(wid), int64(did)}] {
		c, err := s.get(tpcc.Customer, int64(wid), int64(did), id)
		if err != nil {
			return nil, err
		}
		if c.Col[tpcc.CLast] == int64(last) {
			named = append(named, c)
		}
	}
	if len(named) == 0 {
		return nil, fmt.Errorf("%w: customer with last name %d in district %d of warehouse %d", ErrUnknown, last, did, wid)
	}
	return named[tpcc.MiddleOf(len(named))], nil
}
