package badger

import (
	"bytes"
	"errors"

	"github.com/dgraph-io/badger/v4"
)

// tx is a kvtpcc.Tx over a transaction of Badger.
type tx struct {
	txn   *badger.Txn
	wrote bool
	value []byte // that Get returned last
	// kept is the memory of keys and values that were written: Badger keeps what it is given until the commit has been
	// answered. It is used again by the next transaction.
	kept []byte
}

func (t *tx) begin(db *badger.DB, write bool) {
	t.txn = db.NewTransaction(write)
	t.wrote = false
	t.kept = t.kept[:0]
}

// Get returns the value of key, or nil; it is valid until the next call.
func (t *tx) Get(key []byte) ([]byte, error) {
	item, err := t.txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if t.value, err = item.ValueCopy(t.value); err != nil {
		return nil, err
	}
	if t.value == nil {
		t.value = []byte{}
	}
	return t.value, nil
}

// Scan visits from <= key < to. Values are not fetched ahead: most scans end after a few entries, and values lie
// beside their keys.
func (t *tx) Scan(from, to []byte, visit func(key, value []byte) bool) error {
	n := 0
	for n < len(from) && n < len(to) && from[n] == to[n] {
		n++
	}
	it := t.txn.NewIterator(badger.IteratorOptions{Prefix: from[:n]})
	defer it.Close()
	for it.Seek(from); it.Valid(); it.Next() {
		item := it.Item()
		if bytes.Compare(item.Key(), to) >= 0 {
			return nil
		}
		more := false
		err := item.Value(func(value []byte) error {
			more = visit(item.Key(), value)
			return nil
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// Set writes copies of key and value.
func (t *tx) Set(key, value []byte) error {
	t.wrote = true
	return t.txn.Set(t.keep(key), t.keep(value))
}

// Delete deletes a copy of key.
func (t *tx) Delete(key []byte) error {
	t.wrote = true
	return t.txn.Delete(t.keep(key))
}

// keep copies b to memory that stays as it is until the next begin. When it grows, earlier copies stay where they are.
func (t *tx) keep(b []byte) []byte {
	if cap(t.kept)-len(t.kept) < len(b) {
		t.kept = make([]byte, 0, max(2*cap(t.kept), 16<<10, len(b)))
	}
	n := len(t.kept)
	t.kept = append(t.kept, b...)
	return t.kept[n:len(t.kept):len(t.kept)]
}
