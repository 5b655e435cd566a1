package bbolt

import (
	"bytes"

	"go.etcd.io/bbolt"

	"tpccbench/engines"
	"tpccbench/engines/internal/kvtpcc"
	"tpccbench/tpcc"
)

// maxTable is more than any first byte of kvtpcc's keys.
const maxTable = 0x42

// transaction is a kvtpcc.Tx over one of bbolt's.
type transaction struct {
	tx      *bbolt.Tx
	fill    float64 // FillPercent, if it is not 0
	buckets [maxTable]*bbolt.Bucket
	values  []byte // what Set was given: bbolt keeps the slice until the commit
}

// reset goes over to another transaction, after the end of the one before.
func (t *transaction) reset(tx *bbolt.Tx) {
	t.tx = tx
	clear(t.buckets[:])
	t.values = t.values[:0]
}

// bucket returns the bucket of a table, or nil if there is none yet.
func (t *transaction) bucket(table byte) *bbolt.Bucket {
	b := t.buckets[table]
	if b == nil {
		if b = t.tx.Bucket([]byte{table}); b != nil {
			t.buckets[table] = b
		}
	}
	return b
}

// Get returns the value of key, or nil.
func (t *transaction) Get(key []byte) ([]byte, error) {
	b := t.bucket(key[0])
	if b == nil {
		return nil, nil
	}
	return b.Get(key), nil
}

// Scan visits from <= key < to, bucket after bucket.
func (t *transaction) Scan(from, to []byte, visit func(key, value []byte) bool) error {
	for table := int(from[0]); table <= int(to[0]) && table < maxTable; table++ {
		b := t.bucket(byte(table))
		if b == nil {
			continue
		}
		c := b.Cursor()
		for key, value := c.Seek(from); key != nil && bytes.Compare(key, to) < 0; key, value = c.Next() {
			if !visit(key, value) {
				return nil
			}
		}
	}
	return nil
}

// Set stores a copy of value under a copy of key.
func (t *transaction) Set(key, value []byte) error {
	b := t.bucket(key[0])
	if b == nil {
		var err error
		if b, err = t.tx.CreateBucket(key[:1:1]); err != nil {
			return err
		}
		t.buckets[key[0]] = b
	}
	if t.fill != 0 {
		b.FillPercent = t.fill
	}
	start := len(t.values)
	t.values = append(t.values, value...)
	return b.Put(key, t.values[start:len(t.values):len(t.values)])
}

// Delete removes key.
func (t *transaction) Delete(key []byte) error {
	b := t.bucket(key[0])
	if b == nil {
		return nil
	}
	return b.Delete(key)
}

// session is one terminal.
type session struct {
	kvtpcc.Terminal
	engine *engine
	tx     transaction
}

// NewSession makes a session; there may be any number.
func (e *engine) NewSession() (engines.Session, error) {
	s := &session{engine: e}
	s.View = e.view
	if s.Write = s.write; e.writer != nil {
		s.Write = e.writer.Do
	}
	return s, nil
}

// Close has nothing to give back.
func (s *session) Close() error { return nil }

// write is DB.Update.
func (s *session) write(in *tpcc.Input, out *tpcc.Output) error {
	e := s.engine
	e.writing.Lock()
	defer e.writing.Unlock()
	tx, err := e.begin()
	if err != nil {
		return err
	}
	s.tx.reset(tx)
	s.Work.Shared = e.shared.Load()
	err = guarded(func() error { return s.Work.Call(&s.tx, in, out) })
	if err != nil || !s.Work.Began() {
		drop(tx)
		return err
	}
	return e.commit(tx)
}

// group is the transaction of commit=grouped.
type group struct {
	transaction
	engine *engine
}

func (e *engine) newWriter() *kvtpcc.Writer {
	g := &group{engine: e}
	return kvtpcc.NewWriter(g.begin, kvtpcc.WriterOptions{Name: threadName})
}

func (g *group) begin() (kvtpcc.Batch, error) {
	g.engine.writing.Lock()
	tx, err := g.engine.begin()
	if err != nil {
		g.engine.writing.Unlock()
		return nil, err
	}
	g.reset(tx)
	return g, nil
}

// Get, Scan, Set and Delete are those of transaction under the guard: the writer's goroutine has no other.

func (g *group) Get(key []byte) (value []byte, err error) {
	err = guarded(func() error {
		value, err = g.transaction.Get(key)
		return err
	})
	return value, err
}

func (g *group) Scan(from, to []byte, visit func(key, value []byte) bool) error {
	return guarded(func() error { return g.transaction.Scan(from, to, visit) })
}

func (g *group) Set(key, value []byte) error {
	return guarded(func() error { return g.transaction.Set(key, value) })
}

func (g *group) Delete(key []byte) error {
	return guarded(func() error { return g.transaction.Delete(key) })
}

// Commit makes the group durable.
func (g *group) Commit() error {
	defer g.engine.writing.Unlock()
	return g.engine.commit(g.tx)
}

// Abort drops the group.
func (g *group) Abort() {
	defer g.engine.writing.Unlock()
	drop(g.tx)
}
