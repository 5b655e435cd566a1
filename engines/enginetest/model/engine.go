package model

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strconv"
	"sync"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// Factory is the model with a journal, so that suites and audits have an engine that is known to be right. It writes
// and syncs one record per transaction, and replays all of them when it is opened.
var Factory = opening(description)

// description is Factory without Open, which reads it.
var description = engines.Factory{
	Name:   "model",
	Doc:    "reference for tests, no contestant: maps in memory, a journal of inputs, one fsync per commit",
	Format: "model-journal-1",
	Settings: []engines.Setting{
		{Name: "sync", Doc: "fsync each commit; off loses the last ones with the power, not with the process", Default: "on", Values: []string{"on", "off"}},
	},
}

func opening(f engines.Factory) engines.Factory {
	f.Open = open
	return f
}

// engine applies a write to the store, then makes it durable, before anybody else sees it.
type engine struct {
	mu      sync.RWMutex // readers: reads of store. writer: store and all below
	store   *Store
	journal *journal
	facts   engines.Facts
	failed  error // of the journal
}

// Kinds of a journal's payloads; a transaction's is kindTransaction plus its type.
const (
	kindRow = iota
	kindLoaded
	kindTransaction
)

func open(dir string, opt engines.Options) (engines.Engine, error) {
	if err := description.Check(opt); err != nil {
		return nil, err
	}
	sync := description.Get(opt, "sync") == "on"
	r := replay{store: New()}
	j, err := openJournal(dir, sync, r.payload)
	if err != nil {
		return nil, err
	}
	err = r.finish()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %s: %w", engines.ErrCorrupt, j.file.Name(), err), j.close())
	}
	e := &engine{store: r.store, journal: j}
	e.facts.Settings = map[string]string{"sync": description.Get(opt, "sync"), "go_version": runtime.Version(),
		"cut_off_bytes": strconv.FormatInt(j.cut, 10)}
	return e, nil
}

// replay turns a journal's payloads into a store.
type replay struct {
	store  *Store
	rows   []*tpcc.Row
	loaded bool
}

func (r *replay) payload(p []byte) error {
	if len(p) == 0 {
		return errors.New("empty payload")
	}
	kind, fields := int(p[0]), p[1:]
	switch {
	case kind == kindRow && !r.loaded:
		var row tpcc.Row
		r.rows = append(r.rows, &row)
		return decode(fields, &row)
	case kind == kindLoaded && !r.loaded:
		r.loaded = true
		return r.store.Load(func(yield func(*tpcc.Row) bool) {
			for _, row := range r.rows {
				if !yield(row) {
					return
				}
			}
		})
	case !r.loaded:
		return errors.New("transaction before the population")
	}
	switch tpcc.Type(kind - kindTransaction) {
	case tpcc.TxNewOrder:
		var in tpcc.NewOrderInput
		if err := decode(fields, &in); err != nil {
			return err
		}
		return r.store.NewOrder(&in, new(tpcc.NewOrderOutput))
	case tpcc.TxPayment:
		var in tpcc.PaymentInput
		if err := decode(fields, &in); err != nil {
			return err
		}
		return r.store.Payment(&in, new(tpcc.PaymentOutput))
	case tpcc.TxDelivery:
		var in tpcc.DeliveryInput
		if err := decode(fields, &in); err != nil {
			return err
		}
		return r.store.Delivery(&in, new(tpcc.DeliveryOutput))
	}
	return fmt.Errorf("payload of unknown kind %d", kind)
}

// finish says what is missing at the journal's end.
func (r *replay) finish() error {
	if len(r.rows) > 0 && !r.loaded {
		return errors.New("the population is incomplete")
	}
	return nil
}

func decode(b []byte, into any) error {
	n, err := binary.Decode(b, binary.LittleEndian, into)
	if err == nil && n != len(b) {
		err = fmt.Errorf("%d bytes too many", len(b)-n)
	}
	return err
}

func encode(kind int, value any) []byte {
	var b bytes.Buffer
	b.WriteByte(byte(kind))
	if err := binary.Write(&b, binary.LittleEndian, value); err != nil {
		panic(err) // value is none of this package's fixed-size structs
	}
	return b.Bytes()
}

func (e *engine) Load(rows iter.Seq[*tpcc.Row]) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.failed != nil {
		return fmt.Errorf("load the model: %w: %w", engines.ErrFailed, e.failed)
	}
	var records []byte
	err := e.store.Load(func(yield func(*tpcc.Row) bool) {
		for r := range rows {
			records = record(records, encode(kindRow, r))
			if !yield(r) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	return e.commit(record(records, []byte{kindLoaded}))
}

// commit makes records durable, with mu held for writing. After an error nobody knows whether they are.
func (e *engine) commit(records []byte) error {
	if err := e.journal.append(records); err != nil {
		e.failed = fmt.Errorf("write %s: %w", e.journal.file.Name(), err)
		return fmt.Errorf("%w: %w", engines.ErrIndeterminate, e.failed)
	}
	e.facts.Commits++
	e.facts.LogBytes += int64(len(records))
	if e.journal.sync {
		e.facts.Syncs++
	}
	return nil
}

func (e *engine) NewSession() (engines.Session, error) { return session{e}, nil }

// read runs a read of the store, which holds nothing that is not durable unless the journal has failed.
func (e *engine) read(read func() error) error {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.failed != nil {
		return fmt.Errorf("%w: %w", engines.ErrFailed, e.failed)
	}
	return read()
}

func (e *engine) Snapshot(visit func(*tpcc.Row) error) error {
	var rows []tpcc.Row
	err := e.read(func() error {
		rows = e.store.copyRows()
		return nil
	})
	if err != nil {
		return err
	}
	for i := range rows {
		if err := visit(&rows[i]); err != nil {
			return err
		}
	}
	return nil
}

func (e *engine) Facts() (engines.Facts, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	f := e.facts
	f.FileBytes = map[string]int64{journalName: e.journal.size}
	return f, nil
}

func (e *engine) Close() error { return e.journal.close() }

// session has no state of its own.
type session struct{ e *engine }

// write runs apply, which changes the store, and makes the input durable that it was made from; changed reports
// afterwards whether there was a change.
func (s session) write(t tpcc.Type, in any, apply func() error, changed func() bool) error {
	e := s.e
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.failed != nil {
		return fmt.Errorf("%w: %w", engines.ErrFailed, e.failed)
	}
	if err := apply(); err != nil {
		return err
	}
	if !changed() {
		return nil
	}
	return e.commit(record(nil, encode(kindTransaction+int(t), in)))
}

func (s session) NewOrder(in *tpcc.NewOrderInput, out *tpcc.NewOrderOutput) error {
	return s.write(tpcc.TxNewOrder, in, func() error { return s.e.store.NewOrder(in, out) }, func() bool { return !out.RolledBack })
}

func (s session) Payment(in *tpcc.PaymentInput, out *tpcc.PaymentOutput) error {
	return s.write(tpcc.TxPayment, in, func() error { return s.e.store.Payment(in, out) }, func() bool { return true })
}

func (s session) Delivery(in *tpcc.DeliveryInput, out *tpcc.DeliveryOutput) error {
	return s.write(tpcc.TxDelivery, in, func() error { return s.e.store.Delivery(in, out) }, func() bool { return out.Skipped() < tpcc.Districts })
}

func (s session) OrderStatus(in *tpcc.OrderStatusInput, out *tpcc.OrderStatusOutput) error {
	return s.e.read(func() error { return s.e.store.OrderStatus(in, out) })
}

func (s session) StockLevel(in *tpcc.StockLevelInput, out *tpcc.StockLevelOutput) error {
	return s.e.read(func() error { return s.e.store.StockLevel(in, out) })
}

func (s session) Close() error { return nil }
