package driver

import (
	"errors"
	"iter"
	"sync/atomic"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// fakeEngine answers every transaction as call says.
type fakeEngine struct {
	// call is told the terminal, the transaction's number in its session, from 0, and the type; nil: all succeed.
	call     func(terminal, number int, typ tpcc.Type) error
	sessions int // given so far
	refuse   int // the session, from 1, that is refused; 0: none
	onClose  func(terminal int) error
	closed   atomic.Int64
}

var errRefused = errors.New("too many sessions")

func (e *fakeEngine) NewSession() (engines.Session, error) {
	e.sessions++
	if e.sessions == e.refuse {
		return nil, errRefused
	}
	return &fakeSession{engine: e, terminal: e.sessions - 1}, nil
}

func (*fakeEngine) Load(iter.Seq[*tpcc.Row]) error       { return nil }
func (*fakeEngine) Snapshot(func(*tpcc.Row) error) error { return nil }
func (*fakeEngine) Facts() (engines.Facts, error)        { return engines.Facts{}, nil }
func (*fakeEngine) Close() error                         { return nil }

type fakeSession struct {
	engine   *fakeEngine
	terminal int
	number   int
	oid      int32
}

func (s *fakeSession) answer(typ tpcc.Type) error {
	s.number++
	if s.engine.call == nil {
		return nil
	}
	return s.engine.call(s.terminal, s.number-1, typ)
}

// NewOrder rolls back where the last item is the unused one, which is above every item of the scales in these tests.
func (s *fakeSession) NewOrder(in *tpcc.NewOrderInput, out *tpcc.NewOrderOutput) error {
	s.oid++
	out.RolledBack = in.Lines[in.Count-1].IID > 100_000
	out.OID = s.oid
	return s.answer(tpcc.TxNewOrder)
}

func (s *fakeSession) Payment(*tpcc.PaymentInput, *tpcc.PaymentOutput) error {
	return s.answer(tpcc.TxPayment)
}

func (s *fakeSession) OrderStatus(*tpcc.OrderStatusInput, *tpcc.OrderStatusOutput) error {
	return s.answer(tpcc.TxOrderStatus)
}

// Delivery skips three districts.
func (s *fakeSession) Delivery(_ *tpcc.DeliveryInput, out *tpcc.DeliveryOutput) error {
	out.OID = [tpcc.Districts]int32{1, 2, 3, 4, 5, 6, 7}
	return s.answer(tpcc.TxDelivery)
}

func (s *fakeSession) StockLevel(*tpcc.StockLevelInput, *tpcc.StockLevelOutput) error {
	return s.answer(tpcc.TxStockLevel)
}

func (s *fakeSession) Close() error {
	s.engine.closed.Add(1)
	if s.engine.onClose != nil {
		return s.engine.onClose(s.terminal)
	}
	return nil
}
