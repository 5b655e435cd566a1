package audit_test

import (
	"errors"
	"sync"

	"tpccbench/engines"
	"tpccbench/engines/enginetest/model"
	"tpccbench/tpcc"
)

// liar is an engine that answers from memory and does to its store what lie makes of a write.
func liar(name string, lie func(l *lying, write func() error) error) engines.Factory {
	f := model.Factory
	f.Name = name
	f.Open = func(dir string, opt engines.Options) (engines.Engine, error) {
		store, err := model.Factory.Open(dir, opt)
		if err != nil {
			return nil, err
		}
		l := &lying{Engine: store, memory: model.New(), lie: lie}
		l.durable, err = store.NewSession()
		return l, errors.Join(err, l.remember())
	}
	return f
}

// buffers acknowledges a write at once and stores it when fifty have come together: a log that is flushed late.
func buffers(l *lying, write func() error) error {
	l.waiting = append(l.waiting, write)
	if len(l.waiting) < 50 {
		return nil
	}
	var errs []error
	for _, w := range l.waiting {
		errs = append(errs, w())
	}
	l.waiting = nil
	return errors.Join(errs...)
}

// drops stores all writes but every twentieth.
func drops(l *lying, write func() error) error {
	if l.writes++; l.writes%20 == 0 {
		return nil
	}
	return write()
}

// doubles stores every fifth write twice.
func doubles(l *lying, write func() error) error {
	if l.writes++; l.writes%5 == 0 {
		return errors.Join(write(), write())
	}
	return write()
}

type lying struct {
	engines.Engine
	memory *model.Store
	lie    func(l *lying, write func() error) error

	mu      sync.Mutex
	durable engines.Session
	waiting []func() error
	writes  int
}

// remember copies what is stored to memory.
func (l *lying) remember() error {
	var rows []tpcc.Row
	err := l.Engine.Snapshot(func(r *tpcc.Row) error {
		rows = append(rows, *r)
		return nil
	})
	if err != nil {
		return err
	}
	return l.memory.Load(func(yield func(*tpcc.Row) bool) {
		for i := range rows {
			if !yield(&rows[i]) {
				return
			}
		}
	})
}

func (l *lying) NewSession() (engines.Session, error) { return lyingSession{l.memory, l}, nil }

// lyingSession reads from memory.
type lyingSession struct {
	*model.Store
	l *lying
}

func (s lyingSession) Close() error { return nil }

// write does a write in memory and, as far as the lie goes, in the store.
func (s lyingSession) write(inMemory, stored func() error) error {
	s.l.mu.Lock()
	defer s.l.mu.Unlock()
	if err := inMemory(); err != nil {
		return err
	}
	return s.l.lie(s.l, stored)
}

func (s lyingSession) NewOrder(in *tpcc.NewOrderInput, out *tpcc.NewOrderOutput) error {
	again := *in
	return s.write(func() error { return s.Store.NewOrder(in, out) },
		func() error { return s.l.durable.NewOrder(&again, new(tpcc.NewOrderOutput)) })
}

func (s lyingSession) Payment(in *tpcc.PaymentInput, out *tpcc.PaymentOutput) error {
	again := *in
	return s.write(func() error { return s.Store.Payment(in, out) },
		func() error { return s.l.durable.Payment(&again, new(tpcc.PaymentOutput)) })
}

func (s lyingSession) Delivery(in *tpcc.DeliveryInput, out *tpcc.DeliveryOutput) error {
	again := *in
	return s.write(func() error { return s.Store.Delivery(in, out) },
		func() error { return s.l.durable.Delivery(&again, new(tpcc.DeliveryOutput)) })
}
