package study

import (
	"errors"

	"tpccbench/engines"
	"tpccbench/engines/pure"
	"tpccbench/tpcc"
)

// liar is engine pure under another name with sessions that lie made.
func liar(lie func(engines.Session) engines.Session) *engines.Factory {
	f := pure.Factory
	f.Name = "liar"
	open := f.Open
	f.Open = func(dir string, opt engines.Options) (engines.Engine, error) {
		e, err := open(dir, opt)
		if err != nil {
			return nil, err
		}
		return &lyingEngine{e, lie}, nil
	}
	return &f
}

type lyingEngine struct {
	engines.Engine
	lie func(engines.Session) engines.Session
}

func (e *lyingEngine) NewSession() (engines.Session, error) {
	s, err := e.Engine.NewSession()
	if err != nil {
		return nil, err
	}
	return e.lie(s), nil
}

// latePayments stores another date than it was told.
type latePayments struct{ engines.Session }

func (s latePayments) Payment(in *tpcc.PaymentInput, out *tpcc.PaymentOutput) error {
	later := *in
	later.Date++
	return s.Session.Payment(&later, out)
}

// wrongAnswers shows a balance that is not the customer's.
type wrongAnswers struct{ engines.Session }

func (s wrongAnswers) Payment(in *tpcc.PaymentInput, out *tpcc.PaymentOutput) error {
	err := s.Session.Payment(in, out)
	out.CBalance++
	return err
}

// failing fails each Payment.
type failing struct{ engines.Session }

func (failing) Payment(*tpcc.PaymentInput, *tpcc.PaymentOutput) error {
	return errors.New("no payments today")
}

// forgetful acknowledges each Payment and carries out none.
type forgetful struct{ engines.Session }

func (forgetful) Payment(_ *tpcc.PaymentInput, out *tpcc.PaymentOutput) error {
	*out = tpcc.PaymentOutput{}
	return nil
}
