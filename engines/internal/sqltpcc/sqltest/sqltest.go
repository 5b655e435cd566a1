// Package sqltest is the tests that both SQLite adapters pass besides enginetest.
package sqltest

import (
	"errors"
	"sync"
	"syscall"
	"testing"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// FullDisk lets the files of a store run into a limit of their size (as ulimit -f does) under several sessions. Writes
// then fail, reads go on (but those in a group of writes), nothing is acknowledged that is not there; with room again
// the same store goes on, and after reopening it holds exactly what was acknowledged.
func FullDisk(t *testing.T, f engines.Factory, settings map[string]string) {
	const terminals = 6
	scale := tpcc.TestScale(1)
	dir := t.TempDir()
	e, err := f.Open(dir, engines.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Load(tpcc.Population(1, scale)); err != nil {
		t.Fatal(err)
	}
	audits := make([]audit, terminals)
	terminal := make([]*tpcc.Terminal, terminals)
	sessions := make([]engines.Session, terminals)
	for i := range terminals {
		terminal[i] = tpcc.NewTerminal(2, i, scale, tpcc.Weights{45, 45, 5, 5, 0})
		if sessions[i], err = e.NewSession(); err != nil {
			t.Fatal(err)
		}
	}
	round := func(transactions int) {
		var all sync.WaitGroup
		for i := range terminals {
			all.Go(func() {
				for range transactions {
					audits[i].run(terminal[i], sessions[i])
				}
			})
		}
		all.Wait()
	}
	round(10)
	if n := total(audits).failed; n != 0 {
		t.Fatalf("%d writes failed before the disk was full: %v", n, audits[0].err)
	}
	withFileLimit(t, 256<<10, func() { round(300) })
	full := total(audits)
	if full.failed == 0 {
		t.Fatal("no write failed: the limit had no effect")
	}
	readsFail := settings["reads"] == "writer" // with the group that they are in
	if full.failedReads != 0 && !readsFail || errors.Is(full.err, engines.ErrIndeterminate) || errors.Is(full.err, engines.ErrFailed) {
		t.Errorf("%d reads failed; the error is %v", full.failedReads, full.err)
	}
	round(10)
	if n := total(audits).failed; n != full.failed {
		t.Errorf("%d writes failed with room again: %v", n-full.failed, total(audits).err)
	}
	for _, s := range sessions {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if e, err = f.Open(dir, engines.Options{Settings: settings}); err != nil {
		t.Fatal(err)
	}
	stored, err := auditOf(e, scale)
	if err != nil {
		t.Fatal(err)
	}
	acknowledged := total(audits)
	if stored.orders != acknowledged.orders || stored.payments != acknowledged.payments || stored.deliveries != acknowledged.deliveries {
		t.Errorf("stored: %d orders, %d payments, %d deliveries; acknowledged: %d, %d, %d", stored.orders, stored.payments,
			stored.deliveries, acknowledged.orders, acknowledged.payments, acknowledged.deliveries)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// withFileLimit runs do while no file of the process can grow beyond limit bytes.
func withFileLimit(t *testing.T, limit uint64, do func()) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
			t.Fatal(err)
		}
	}()
	do()
}

// audit is what was done, or is there, since the population.
type audit struct {
	orders, payments, deliveries int
	failed, failedReads          int
	err                          error // the last one of a write
}

func total(audits []audit) audit {
	var sum audit
	for _, a := range audits {
		sum.orders += a.orders
		sum.payments += a.payments
		sum.deliveries += a.deliveries
		sum.failed += a.failed
		sum.failedReads += a.failedReads
		if a.err != nil {
			sum.err = a.err
		}
	}
	return sum
}

// run draws and runs one transaction.
func (a *audit) run(terminal *tpcc.Terminal, s engines.Session) {
	var in tpcc.Input
	terminal.Next(&in)
	var err error
	switch in.Type {
	case tpcc.TxNewOrder:
		var out tpcc.NewOrderOutput
		if err = s.NewOrder(&in.NewOrder, &out); err == nil && !out.RolledBack {
			a.orders++
		}
	case tpcc.TxPayment:
		if err = s.Payment(&in.Payment, new(tpcc.PaymentOutput)); err == nil {
			a.payments++
		}
	case tpcc.TxDelivery:
		var out tpcc.DeliveryOutput
		if err = s.Delivery(&in.Delivery, &out); err == nil {
			a.deliveries += tpcc.Districts - out.Skipped()
		}
	case tpcc.TxOrderStatus:
		if s.OrderStatus(&in.OrderStatus, new(tpcc.OrderStatusOutput)) != nil {
			a.failedReads++
		}
	case tpcc.TxStockLevel:
		panic("not in the weights")
	}
	if err != nil {
		a.failed++
		a.err = err
	}
}

// auditOf reads from the store what was done since the population.
func auditOf(e engines.Engine, scale tpcc.Scale) (audit, error) {
	var a audit
	err := e.Snapshot(func(row *tpcc.Row) error {
		switch row.Table {
		case tpcc.District:
			a.orders += int(row.Col[tpcc.DNextOID]) - scale.Orders - 1
		case tpcc.History:
			a.payments++
		case tpcc.Customer:
			a.deliveries += int(row.Col[tpcc.CDeliveryCnt])
		}
		return nil
	})
	a.payments -= tpcc.Districts * scale.Customers
	return a, err
}
