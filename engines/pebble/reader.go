package pebble

import (
	"errors"
	"io"

	"github.com/cockroachdb/pebble/v2"
)

// view is what a Snapshot and an indexed Batch have in common.
type view interface {
	Get(key []byte) ([]byte, io.Closer, error)
	NewIter(*pebble.IterOptions) (*pebble.Iterator, error)
}

// reader is a kvtpcc.Reader over a view. It has one iterator, made at the first Scan and moved by new bounds after that.
type reader struct {
	fs   *files
	view view
	held io.Closer // of the value that Get returned last
	iter *pebble.Iterator
	opts pebble.IterOptions
}

// release gives the last value back.
func (r *reader) release() error {
	if r.held == nil {
		return nil
	}
	err := r.held.Close()
	r.held = nil
	return err
}

// Get returns the value of key, or nil; it is valid until the next call.
func (r *reader) Get(key []byte) ([]byte, error) {
	if err := r.release(); err != nil {
		return nil, r.fs.translate(err)
	}
	value, closer, err := r.view.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, r.fs.translate(err)
	}
	r.held = closer
	if value == nil {
		value = []byte{}
	}
	return value, nil
}

// Scan visits from <= key < to. SetOptions, unlike SetBounds, lets the iterator see what the batch has got since.
func (r *reader) Scan(from, to []byte, visit func(key, value []byte) bool) error {
	if err := r.release(); err != nil {
		return r.fs.translate(err)
	}
	r.opts.LowerBound, r.opts.UpperBound = from, to
	if r.iter == nil {
		var err error
		if r.iter, err = r.view.NewIter(&r.opts); err != nil {
			return r.fs.translate(err)
		}
	} else {
		r.iter.SetOptions(&r.opts)
	}
	for ok := r.iter.First(); ok; ok = r.iter.Next() {
		value, err := r.iter.ValueAndErr()
		if err != nil {
			return r.fs.translate(err)
		}
		if !visit(r.iter.Key(), value) {
			break
		}
	}
	return r.fs.translate(r.iter.Error())
}

// close gives all back but the view.
func (r *reader) close() error {
	err := r.release()
	if r.iter != nil {
		err = errors.Join(err, r.iter.Close())
		r.iter = nil
	}
	r.view = nil
	return r.fs.translate(err)
}

// tx is a kvtpcc.Tx over an indexed batch.
type tx struct {
	reader
	batch *pebble.Batch
}

func (t *tx) begin(e *engine) {
	t.batch = e.db.NewIndexedBatch()
	t.fs, t.view = e.fs, t.batch
}

// Set and Delete copy key and value into the batch.
func (t *tx) Set(key, value []byte) error { return t.batch.Set(key, value, nil) }
func (t *tx) Delete(key []byte) error     { return t.batch.Delete(key, nil) }
