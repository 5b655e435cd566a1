package enginetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"tpccbench/engines"
	"tpccbench/engines/enginetest/model"
	"tpccbench/tpcc"
	"tpccbench/tpcc/consistency"
)

// inParallel runs work on n sessions at once, each on its own goroutine, and returns what went wrong.
func inParallel(e engines.Engine, n int, work func(number int, session engines.Session) error) error {
	return withSessions(e, n, func(sessions []engines.Session) error {
		errs := make([]error, n)
		var wg sync.WaitGroup
		for i, session := range sessions {
			wg.Go(func() {
				if err := work(i, session); err != nil {
					errs[i] = fmt.Errorf("session %d: %w", i, err)
				}
			})
		}
		wg.Wait()
		return errors.Join(errs...)
	})
}

// crowd is a workload on many sessions at once, and what they were acknowledged.
type crowd struct {
	w       *workload
	sources []*source
	ledger  *consistency.Ledger
}

func (w *workload) crowd() *crowd {
	c := &crowd{w: w, ledger: consistency.NewLedger(w.scale)}
	for number := range concurrentSessions {
		c.sources = append(c.sources, w.source(number))
	}
	return c
}

// work runs transactions on each session as long as more, which is told how many it has had, says.
func (c *crowd) work(e engines.Engine, more func(done int) bool) error {
	ledgers := make([]*consistency.Ledger, len(c.sources))
	err := inParallel(e, len(c.sources), func(number int, session engines.Session) error {
		var in tpcc.Input
		var out tpcc.Output
		ledgers[number] = consistency.NewLedger(c.w.scale)
		for done := 0; more(done); done++ {
			c.sources[number].next(&in)
			if err := call(session, &in, &out); err != nil {
				return err
			}
			if in.Type == tpcc.TxOrderStatus {
				if err := wholeOrder(&out.OrderStatus); err != nil {
					return fmt.Errorf("%s: %w", describe(&in), err)
				}
			}
			acknowledge(ledgers[number], &in, &out)
		}
		return nil
	})
	for _, l := range ledgers {
		if l != nil {
			c.ledger.Merge(l)
		}
	}
	return err
}

func acknowledge(l *consistency.Ledger, in *tpcc.Input, out *tpcc.Output) {
	switch in.Type {
	case tpcc.TxNewOrder:
		l.NewOrder(&in.NewOrder, &out.NewOrder)
	case tpcc.TxPayment:
		l.Payment(&in.Payment)
	case tpcc.TxDelivery:
		l.Delivery(&in.Delivery, &out.Delivery)
	}
}

// check holds the store's rows to the consistency conditions and to what was acknowledged.
func (c *crowd) check(e engines.Engine) error {
	rows, err := rowsOf(e)
	if err != nil {
		return err
	}
	checker, err := checkerOf(c.w.scale, rows)
	if err != nil {
		return err
	}
	return violated(append(checker.Check(), c.ledger.Check(checker, 0)...))
}

func checkerOf(scale tpcc.Scale, rows []tpcc.Row) (*consistency.Checker, error) {
	checker := consistency.NewChecker(scale)
	return checker, snapshotOf(rows)(checker.Add)
}

// violated is an error of the violations, or nil if there are none.
func violated(list []consistency.Violation) error {
	if len(list) == 0 {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d violations", consistency.Count(list))
	for _, v := range list {
		fmt.Fprintf(&b, "\n  %s", v)
	}
	return errors.New(b.String())
}

// checkConcurrent: many sessions at once leave a consistent database that holds what was acknowledged and nothing else;
// so it is after reopening, and after more work there.
func checkConcurrent(s *suite) error {
	var newOrders, rolledBack, payments, delivered int64 // over all mixes: a short standard one may roll nothing back
	for _, w := range []*workload{s.standard(s.seeds[2], 1), s.emptying(s.seeds[2], 3), s.aborting(s.seeds[2], 2)} {
		c := w.crowd()
		more := func(done int) bool { return done < s.count(100) }
		dir := ""
		err := s.loaded(w, func(d string, e engines.Engine, _ *model.Store) error {
			dir = d
			if err := c.work(e, more); err != nil {
				return err
			}
			return c.check(e)
		})
		if err != nil {
			return err
		}
		reopened := 2
		if s.short {
			reopened = 1
		}
		for range reopened {
			err := s.withEngine(dir, func(e engines.Engine) error {
				if err := c.check(e); err != nil {
					return err
				}
				if err := c.work(e, more); err != nil {
					return err
				}
				return c.check(e)
			})
			if err != nil {
				return fmt.Errorf("%s: reopened: %w", w, err)
			}
		}
		t := c.ledger.Totals()
		newOrders, rolledBack, payments, delivered = newOrders+t.NewOrders, rolledBack+t.RolledBack, payments+t.Payments, delivered+t.Delivered
	}
	if newOrders == 0 || rolledBack == 0 || payments == 0 || delivered == 0 {
		return fmt.Errorf("the suite drew too little: %d New-Orders, %d rolled back, %d Payments, %d districts delivered", newOrders, rolledBack,
			payments, delivered)
	}
	return nil
}

// checkSnapshotBesideWriters: every snapshot that is taken while many sessions write is a consistent database, and no
// older than the one before.
func checkSnapshotBesideWriters(s *suite) error {
	w := s.emptying(s.seeds[2], 2)
	w.weights = tpcc.Weights{45, 35, 5, 10, 5}
	return s.loaded(w, func(_ string, e engines.Engine, _ *model.Store) error {
		const snapshots = 8
		c := w.crowd()
		stop := make(chan struct{})
		result := make(chan error, 1)
		go func() {
			defer close(stop)
			var last [tpcc.NumTables]int64
			for range snapshots {
				rows, err := rowsOf(e)
				if err != nil {
					result <- err
					return
				}
				checker, err := checkerOf(w.scale, rows)
				if err == nil {
					err = violated(checker.Check())
				}
				now := checker.Rows()
				if err == nil && (now[tpcc.Orders] < last[tpcc.Orders] || now[tpcc.History] < last[tpcc.History]) {
					err = fmt.Errorf("a snapshot is older than the one before: rows by table %d, then %d", last, now)
				}
				if err != nil {
					result <- fmt.Errorf("a snapshot beside writers: %w", err)
					return
				}
				last = now
			}
			result <- nil
		}()
		err := c.work(e, func(done int) bool {
			select {
			case <-stop:
				return done < 20
			default:
				return true
			}
		})
		if err = errors.Join(err, <-result); err != nil {
			return err
		}
		return c.check(e)
	})
}
