package enginetest

import (
	"errors"
	"fmt"

	"tpccbench/engines"
	"tpccbench/engines/enginetest/model"
	"tpccbench/tpcc"
)

// serialSessions is how many sessions a serial history goes through.
const serialSessions = 3

// history is a serial one: each transaction goes through the engine, then the model, and must show the same. Writes
// take the sessions in turn; a read takes that of the last write, whose state it must see.
type history struct {
	sessions  []engines.Session
	model     *model.Store
	stream    *stream
	writes    int
	in        tpcc.Input
	got, want tpcc.Output
	seen      coverage
}

// coverage counts what a history must have had for its check to mean something.
type coverage struct {
	types                                     [tpcc.NumTypes]int
	rollbacks, skipped, remote, byName, again int
}

func (h *history) step() error {
	h.stream.next(&h.in)
	return h.do()
}

// do runs the transaction that was drawn last.
func (h *history) do() error {
	if !h.in.Type.ReadOnly() {
		h.writes++
	}
	if err := both(h.sessions[h.writes%len(h.sessions)], h.model, &h.in, &h.got, &h.want); err != nil {
		return fmt.Errorf("transaction %d: %w", h.stream.drawn, err)
	}
	h.seen.add(&h.in, &h.want)
	return nil
}

func (h *history) run(n int) error {
	for range n {
		if err := h.step(); err != nil {
			return err
		}
	}
	return nil
}

func (c *coverage) add(in *tpcc.Input, out *tpcc.Output) {
	c.types[in.Type]++
	switch in.Type {
	case tpcc.TxNewOrder:
		if out.NewOrder.RolledBack {
			c.rollbacks++
		}
		if in.NewOrder.AllLocal() == 0 {
			c.remote++
		}
		items := map[int32]bool{}
		for _, l := range in.NewOrder.Lines[:in.NewOrder.Count] {
			if items[l.IID] {
				c.again++
				break
			}
			items[l.IID] = true
		}
	case tpcc.TxPayment:
		if in.Payment.ByName {
			c.byName++
		}
	case tpcc.TxDelivery:
		c.skipped += out.Delivery.Skipped()
	}
}

// missing says what the histories did not have and should, so that a change of the generator cannot hollow the check.
func (c *coverage) missing() error {
	for _, t := range tpcc.Types {
		if c.types[t] == 0 {
			return fmt.Errorf("the suite drew no %s", t)
		}
	}
	if c.rollbacks == 0 || c.skipped == 0 || c.remote == 0 || c.byName == 0 || c.again == 0 {
		return fmt.Errorf("the suite drew too little: %+v", *c)
	}
	return nil
}

func (c *coverage) join(o coverage) {
	for t, n := range o.types {
		c.types[t] += n
	}
	c.rollbacks += o.rollbacks
	c.skipped += o.skipped
	c.remote += o.remote
	c.byName += o.byName
	c.again += o.again
}

// withHistory gives use a serial history over the engine's sessions.
func withHistory(e engines.Engine, m *model.Store, st *stream, use func(*history) error) error {
	return withSessions(e, serialSessions, func(sessions []engines.Session) error {
		return use(&history{sessions: sessions, model: m, stream: st})
	})
}

// checkSerial: after the same transactions in the same order every output and every row are those of the model. The
// mixes are the standard one, one that empties districts, and one that rolls many New-Orders back.
func checkSerial(s *suite) error {
	var seen coverage
	for _, seed := range s.serialSeeds() {
		for _, warehouses := range []int{1, 3} {
			for _, mix := range []func(uint64, int) *workload{s.standard, s.emptying, s.aborting} {
				w := mix(seed, warehouses)
				err := s.loaded(w, func(_ string, e engines.Engine, m *model.Store) error {
					err := withHistory(e, m, w.stream(), func(h *history) error {
						err := h.run(s.count(600))
						seen.join(h.seen)
						return err
					})
					if err != nil {
						return err
					}
					return sameAsModel(e, m)
				})
				if err != nil {
					return err
				}
			}
		}
	}
	return seen.missing()
}

// checkRollback: a New-Order that is rolled back leaves no row changed, D_NEXT_O_ID included, wherever in the session's
// history it comes; the next order takes the number that it had.
func checkRollback(s *suite) error {
	w := s.aborting(s.seeds[2], 2)
	w.remote, w.terminals = 50, 1
	rollbacks := 0
	err := s.loaded(w, func(_ string, e engines.Engine, m *model.Store) error {
		return withHistory(e, m, w.stream(), func(h *history) error {
			for rollbacks < 12 && h.stream.drawn < 1000 {
				h.stream.next(&h.in)
				if in := &h.in.NewOrder; h.in.Type != tpcc.TxNewOrder || in.Lines[in.Count-1].IID != w.scale.UnusedItem() {
					if err := h.do(); err != nil {
						return err
					}
					continue
				}
				rollbacks++
				before, err := rowsOf(e)
				if err != nil {
					return err
				}
				if err := h.do(); err != nil {
					return err
				}
				after, err := rowsOf(e)
				if err != nil {
					return err
				}
				if err := sameRows(after, before); err != nil {
					return fmt.Errorf("transaction %d was rolled back and left something: %w", h.stream.drawn, err)
				}
				valid := h.in
				valid.NewOrder.Lines[valid.NewOrder.Count-1].IID = 1
				if err := both(h.sessions[h.writes%len(h.sessions)], h.model, &valid, &h.got, &h.want); err != nil {
					return fmt.Errorf("the order after a rollback: %w", err)
				}
			}
			return sameAsModel(e, m)
		})
	})
	if err == nil && rollbacks == 0 {
		err = errors.New("the suite drew no rollback")
	}
	return err
}
