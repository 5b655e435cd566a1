package sqltpcc

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// rowsOf are all rows of the store.
func rowsOf(t *testing.T, s *Store) []tpcc.Row {
	t.Helper()
	var rows []tpcc.Row
	err := s.Snapshot(func(row *tpcc.Row) error {
		rows = append(rows, *row)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// sameRows compares two stores' rows.
func sameRows(t *testing.T, got, want []tpcc.Row) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d rows; want %d", len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("row %d is %s; want %s", i, got[i].String(), want[i].String())
		}
	}
}

// fill makes requests of calls of a Terminal that carries nothing out.
func fill(t *testing.T, calls []func(*Terminal) error) []*Request {
	t.Helper()
	requests := make([]*Request, len(calls))
	for i, call := range calls {
		requests[i] = NewRequest()
		t.Cleanup(requests[i].Free)
		if err := call(&Terminal{Request: requests[i], Execute: func(*Request) error { return nil }}); err != nil {
			t.Fatal(err)
		}
	}
	return requests
}

func newOrder(warehouse, lastItem, lastSupplier int32) func(*Terminal) error {
	in := tpcc.NewOrderInput{WID: warehouse, DID: 3, CID: 4, EntryD: tpcc.RunDate, Count: 5}
	for i := range in.Lines[:5] {
		in.Lines[i] = tpcc.NewOrderInputLine{IID: int32(10 + i), SupplyWID: 1, Quantity: 3}
	}
	in.Lines[4].IID, in.Lines[4].SupplyWID = lastItem, lastSupplier
	return func(t *Terminal) error { return t.NewOrder(&in, new(tpcc.NewOrderOutput)) }
}

func payment(warehouse, customer int32) func(*Terminal) error {
	in := tpcc.PaymentInput{WID: warehouse, DID: 3, CWID: 1, CDID: 3, CID: customer, Amount: 12345, Date: tpcc.RunDate}
	return func(t *Terminal) error { return t.Payment(&in, new(tpcc.PaymentOutput)) }
}

func delivery(warehouse int32) func(*Terminal) error {
	in := tpcc.DeliveryInput{WID: warehouse, CarrierID: 7, DeliveryD: tpcc.RunDate}
	return func(t *Terminal) error { return t.Delivery(&in, new(tpcc.DeliveryOutput)) }
}

func orderStatus(customer int32) func(*Terminal) error {
	in := tpcc.OrderStatusInput{WID: 1, DID: 3, CID: customer}
	return func(t *Terminal) error { return t.OrderStatus(&in, new(tpcc.OrderStatusOutput)) }
}

const nobody = 9999 // no warehouse, customer or item has this number

// TestGroupTakesBackOneAlone shows that in a group what fails or rolls back takes its own work back and nothing else:
// the rows are those of the others, run one by one. The Payment into a warehouse that there is not has paid its
// customer before it fails, and has no SAVEPOINT with savepoint=need.
func TestGroupTakesBackOneAlone(t *testing.T) {
	good := []func(*Terminal) error{payment(1, 2), newOrder(1, 20, 2), orderStatus(4), delivery(2), newOrder(2, 21, 2), payment(2, 2)}
	bad := []func(*Terminal) error{newOrder(1, 20, nobody), payment(nobody, 2), payment(1, nobody), delivery(nobody), orderStatus(nobody)}
	rolledBack := newOrder(1, nobody, 1)

	serial := loadTest(t, 2, nil)
	c := connectTest(t, serial)
	for _, r := range fill(t, good) {
		if err := c.Run(r); err != nil {
			t.Fatal(err)
		}
	}
	want := rowsOf(t, serial)

	for _, all := range []bool{true, false} {
		var calls []func(*Terminal) error
		var fails []bool
		for i := range max(len(good), len(bad)) {
			if i < len(bad) {
				calls, fails = append(calls, bad[i]), append(fails, true)
			}
			calls, fails = append(calls, rolledBack), append(fails, false)
			if i < len(good) {
				calls, fails = append(calls, good[i]), append(fails, false)
			}
		}
		s := loadTest(t, 2, nil)
		before := s.counts()
		var g Group
		requests := fill(t, calls)
		for _, r := range requests {
			g.Add(r)
		}
		connectTest(t, s).RunGroup(&g, all)
		g.Free()
		for i, r := range requests {
			if err := s.Outcome(r); (err != nil) != fails[i] {
				t.Errorf("savepoint for all %v: member %d: %v; want an error: %v", all, i, err, fails[i])
			}
		}
		after := s.counts()
		// The first commit of a WAL syncs its header, too.
		if after.Commits-before.Commits != 1 || after.Syncs-before.Syncs != 2 {
			t.Errorf("savepoint for all %v: %d commits and %d syncs; want 1 and 2", all, after.Commits-before.Commits, after.Syncs-before.Syncs)
		}
		sameRows(t, rowsOf(t, s), want)
	}
}

// counts are Facts without the files.
func (s *Store) counts() engines.Facts {
	f, err := s.Facts()
	if err != nil {
		panic(err)
	}
	return f
}

// TestGroupLost shows that when SQLite gives the whole transaction up, here for want of pages, every member gets the
// error and nothing is left, and that the next group finds the store in order.
func TestGroupLost(t *testing.T) {
	s := loadTest(t, 1, nil)
	before := rowsOf(t, s)
	c := connectTest(t, s)
	pages, err := c.text("PRAGMA page_count")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.text("PRAGMA max_page_count=" + pages); err != nil {
		t.Fatal(err)
	}
	var g Group
	defer g.Free()
	requests := fill(t, slices.Repeat([]func(*Terminal) error{payment(1, 2), newOrder(1, 20, 1), orderStatus(4)}, 500))
	for _, r := range requests {
		g.Add(r)
	}
	for _, all := range []bool{true, false} {
		c.RunGroup(&g, all)
		for i, r := range requests {
			err := s.Outcome(r)
			if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "database or disk is full") {
				t.Fatalf("savepoint for all %v: member %d: %v; want that the database is full", all, i, err)
			}
			if errors.Is(err, engines.ErrIndeterminate) {
				t.Fatalf("savepoint for all %v: member %d: %v; the outcome is certain", all, i, err)
			}
		}
		sameRows(t, rowsOf(t, s), before)
	}
	if _, err := c.text("PRAGMA max_page_count=1000000"); err != nil {
		t.Fatal(err)
	}
	c.RunGroup(&g, true)
	for i, r := range requests {
		if err := s.Outcome(r); err != nil {
			t.Fatalf("member %d, with room again: %v", i, err)
		}
	}
}

// TestWritersWaitForSQLite shows that a writer that finds SQLite's own lock taken waits for it.
func TestWritersWaitForSQLite(t *testing.T) {
	s := loadTest(t, 1, nil)
	c := connectTest(t, s)
	r := fill(t, []func(*Terminal) error{payment(1, 2)})[0]
	if err := s.keeper.exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() { answered <- c.Run(r) }()
	select {
	case err := <-answered:
		t.Errorf("a write beside another one's transaction is answered: %v", err)
	case <-time.After(20 * time.Millisecond):
		if err := s.keeper.exec("COMMIT"); err != nil {
			t.Error(err)
		}
		if err := <-answered; err != nil {
			t.Error(err)
		}
	}
}

// TestWritersWaitForEachOther shows that connections that write at the same time wait for each other: no error, no lost
// update.
func TestWritersWaitForEachOther(t *testing.T) {
	const writers, each = 6, 40
	s := loadTest(t, 1, nil)
	var all sync.WaitGroup
	for range writers {
		c := connectTest(t, s)
		requests := fill(t, []func(*Terminal) error{newOrder(1, 20, 1), payment(1, 2)})
		all.Go(func() {
			for range each {
				for _, r := range requests {
					if err := c.Run(r); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	all.Wait()
	got, err := s.keeper.texts("SELECT d_next_o_id,(SELECT count(*) FROM history),(SELECT c_payment_cnt FROM customer " +
		"WHERE c_w_id=1 AND c_d_id=3 AND c_id=2) FROM district WHERE d_w_id=1 AND d_id=3")
	if err != nil {
		t.Fatal(err)
	}
	want := [3]string{itoa(31 + writers*each), itoa(300 + writers*each), itoa(1 + writers*each)}
	if [3]string(got[0]) != want {
		t.Errorf("next order, payments, the customer's payments: %v; want %v", got[0], want)
	}
}

// TestCounts shows what a commit counts: one sync, one frame header and page per changed page of WAL, no checkpoint;
// what reads or rolls back counts nothing; and a checkpoint counts as one.
func TestCounts(t *testing.T) {
	s := loadTest(t, 1, nil)
	c := connectTest(t, s)
	run := func(call func(*Terminal) error) engines.Facts {
		t.Helper()
		before := s.counts()
		if err := c.Run(fill(t, []func(*Terminal) error{call})[0]); err != nil {
			t.Fatal(err)
		}
		after := s.counts()
		return engines.Facts{Commits: after.Commits - before.Commits, Syncs: after.Syncs - before.Syncs,
			Checkpoints: after.Checkpoints - before.Checkpoints, LogBytes: after.LogBytes - before.LogBytes}
	}
	run(payment(1, 2)) // begins a WAL: its header is 32 bytes and has a sync of its own
	for range 3 {
		d := run(payment(1, 2))
		if d.Commits != 1 || d.Syncs != 1 || d.Checkpoints != 0 || d.LogBytes == 0 || d.LogBytes%(24+4096) != 0 {
			t.Errorf("a Payment counts as %+v", d)
		}
	}
	for _, call := range []func(*Terminal) error{orderStatus(4), newOrder(1, nobody, 1)} {
		if d := run(call); d.Commits != 0 || d.Syncs != 0 || d.LogBytes != 0 {
			t.Errorf("a transaction that changes nothing counts as %+v", d)
		}
	}
	before := s.counts()
	if err := c.exec("PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
		t.Fatal(err)
	}
	after := s.counts()
	if d := after.Checkpoints - before.Checkpoints; d != 1 {
		t.Errorf("a checkpoint counts as %d", d)
	}
	if d := after.CheckpointBytes - before.CheckpointBytes; d <= 0 || d%4096 != 0 || d > after.LogBytes {
		t.Errorf("a checkpoint writes %d bytes; want whole pages, and no more than the WAL of %d bytes has", d, after.LogBytes)
	}
	if after.CheckpointNS <= before.CheckpointNS {
		t.Errorf("the time in checkpoints was %d ns and is %d ns after one", before.CheckpointNS, after.CheckpointNS)
	}
	if before.TempBytes != 0 || after.TempBytes != 0 {
		t.Errorf("%d bytes in temporary files, then %d; nothing here needs any", before.TempBytes, after.TempBytes)
	}
}

// TestUnfinishedCheckpoint shows that a checkpoint that a reader holds up counts what it wrote and its time, but is not
// among the finished ones until another one copies the rest.
func TestUnfinishedCheckpoint(t *testing.T) {
	s := loadTest(t, 1, nil)
	c, reader := connectTest(t, s), connectTest(t, s)
	writes := fill(t, []func(*Terminal) error{newOrder(1, 20, 1), payment(1, 2)}) // to different pages
	steps := func(c *Conn, all ...string) {
		t.Helper()
		for _, sql := range all {
			if err := c.exec(sql); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := c.Run(writes[0]); err != nil {
		t.Fatal(err)
	}
	steps(reader, "BEGIN", "SELECT count(*) FROM warehouse") // holds on to what the WAL has now
	if err := c.Run(writes[1]); err != nil {
		t.Fatal(err)
	}
	checkpoints := func() [3]int64 {
		f := s.counts()
		return [3]int64{f.Checkpoints, f.CheckpointBytes, f.CheckpointNS}
	}
	before := checkpoints()
	steps(c, "PRAGMA wal_checkpoint(PASSIVE)")
	part := checkpoints()
	if part[0] != before[0] || part[1] <= before[1] || part[2] <= before[2] {
		t.Errorf("a checkpoint beside a reader: finished ones, bytes and ns were %d and are %d", before, part)
	}
	steps(reader, "COMMIT")
	steps(c, "PRAGMA wal_checkpoint(PASSIVE)")
	whole := checkpoints()
	if whole[0] != before[0]+1 || whole[1] <= part[1] || whole[2] <= part[2] {
		t.Errorf("the rest of it: finished ones, bytes and ns were %d and are %d", part, whole)
	}
}

// TestCheckpointTimeOfRunning shows that the time in checkpoints, read while they run, never falls and is never longer
// than the time that has passed.
func TestCheckpointTimeOfRunning(t *testing.T) {
	s := loadTest(t, 1, nil)
	c := connectTest(t, s)
	pay := fill(t, []func(*Terminal) error{payment(1, 2)})[0]
	began, first := time.Now(), s.checkpointNS()
	ended := make(chan error, 1)
	go func() {
		for range 100 {
			if err := errors.Join(c.Run(pay), c.exec("PRAGMA wal_checkpoint(PASSIVE)")); err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	for last := first; ; {
		ns := s.checkpointNS()
		if passed := time.Since(began).Nanoseconds(); ns < last || ns-first > passed {
			t.Errorf("%d ns in checkpoints, %d ns before, %d ns of them before the test, and %d ns have passed", ns, last, first, passed)
		}
		last = ns
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
			if last == first {
				t.Error("no time passed in 100 checkpoints")
			}
			return
		default:
		}
	}
}

// TestTempBytes shows that the statement journals that groups of Deliveries spill are counted, and that there are none
// with temp_store=memory.
func TestTempBytes(t *testing.T) {
	for store, spills := range map[string]bool{"default": true, "memory": false} {
		s := loadTest(t, 1, map[string]string{"temp_store": store})
		c := connectTest(t, s)
		var g Group
		defer g.Free()
		for _, r := range fill(t, slices.Repeat([]func(*Terminal) error{delivery(1)}, 5)) {
			g.Add(r)
		}
		c.RunGroup(&g, true)
		if n := s.counts().TempBytes; (n > 0) != spills {
			t.Errorf("temp_store=%s: %d bytes in temporary files; want some: %v", store, n, spills)
		}
	}
}

// TestFailedSync shows what a COMMIT whose sync failed does, alone and in a group: the outcome is indeterminate, the
// store takes no more writes, though syncs would work again, but goes on reading; and the store can be opened again.
func TestFailedSync(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, engines.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Load(tpcc.Population(1, tpcc.TestScale(1))); err != nil {
		t.Fatal(err)
	}
	c, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	r := fill(t, []func(*Terminal) error{payment(1, 2), payment(1, 2), orderStatus(4), payment(1, 2)})
	if err := c.Run(r[3]); err != nil { // begins the WAL, whose header has a sync of its own
		t.Fatal(err)
	}
	s.failSyncs(true)
	var g Group
	defer g.Free()
	for _, r := range r[:3] {
		g.Add(r)
	}
	c.RunGroup(&g, true)
	for i, r := range r[:3] {
		if err := s.Outcome(r); !errors.Is(err, engines.ErrIndeterminate) || !strings.Contains(err.Error(), s.path) {
			t.Errorf("member %d: %v; want engines.ErrIndeterminate and the file", i, err)
		}
	}
	s.failSyncs(false)
	if err := c.Run(r[1]); !errors.Is(err, engines.ErrFailed) {
		t.Errorf("a write after that: %v; want engines.ErrFailed", err)
	}
	if err := c.Run(r[2]); err != nil {
		t.Errorf("a read after that: %v", err)
	}
	if err := errors.Join(c.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, dir, nil)
	c = connectTest(t, s)
	if err := c.Run(r[1]); err != nil {
		t.Errorf("a write after opening it again: %v", err)
	}
	s.failSyncs(true)
	if err := c.Run(r[0]); !errors.Is(err, engines.ErrIndeterminate) {
		t.Errorf("one transaction, one commit: %v; want engines.ErrIndeterminate", err)
	}
	s.failSyncs(false)
}
