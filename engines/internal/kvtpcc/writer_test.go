package kvtpcc

import (
	"errors"
	"maps"
	"sync"
	"testing"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// store is a memory that a Writer writes to: begin copies nothing, Abort puts the values back.
type store struct {
	*memory
	savedKeys   []string
	savedValues map[string]string
	commits     int
	commitError error
}

func (s *store) begin() (Batch, error) {
	s.savedKeys, s.savedValues = append([]string(nil), s.keys...), maps.Clone(s.values)
	return s, nil
}

func (s *store) Commit() error {
	s.commits++
	return s.commitError
}

func (s *store) Abort() { s.keys, s.values = s.savedKeys, s.savedValues }

func paymentInput(cid int32) *tpcc.Input {
	return &tpcc.Input{Type: tpcc.TxPayment, Payment: tpcc.PaymentInput{WID: 1, DID: 1, CWID: 1, CDID: 1, CID: cid, Amount: 1}}
}

// Payments of several goroutines are all done, in no more commits than there are of them; one that names no customer
// fails alone.
func TestWriter(t *testing.T) {
	const goroutines, rounds = 8, 20
	s := &store{memory: loaded(t, 1)}
	w := NewWriter(s.begin, WriterOptions{Name: "test-writer", MaxBatch: 5})
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range rounds {
				if err := w.Do(paymentInput(1), new(tpcc.Output)); err != nil {
					t.Error(err)
				}
				if err := w.Do(paymentInput(9999), new(tpcc.Output)); err == nil || errors.Is(err, engines.ErrFailed) {
					t.Errorf("a customer that there is not gives %v", err)
				}
			}
		})
	}
	wg.Wait()
	var f engines.Facts
	w.Facts(&f)
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if f.OwnerTID == 0 || f.Commits != int64(s.commits) || f.Commits == 0 || f.Commits > goroutines*rounds {
		t.Errorf("thread %d, %d commits, of the store %d", f.OwnerTID, f.Commits, s.commits)
	}
	var work Work
	var out tpcc.OrderStatusOutput
	before := loaded(t, 1)
	if err := work.OrderStatus(before, &tpcc.OrderStatusInput{WID: 1, DID: 1, CID: 1}, &out); err != nil {
		t.Fatal(err)
	}
	want := out.CBalance - goroutines*rounds
	if err := work.OrderStatus(s, &tpcc.OrderStatusInput{WID: 1, DID: 1, CID: 1}, &out); err != nil || out.CBalance != want {
		t.Errorf("balance %d, want %d: %v", out.CBalance, want, err)
	}
}

// A store that fails in the middle of a transaction costs its group, and nothing of it stays; the next one is done.
func TestWriterGivesGroupUp(t *testing.T) {
	s := &store{memory: loaded(t, 1)}
	w := NewWriter(s.begin, WriterOptions{Name: "test-writer"})
	whole := maps.Clone(s.values)
	s.failAfter = 2
	if err := w.Do(paymentInput(1), new(tpcc.Output)); !errors.Is(err, errFull) || errors.Is(err, engines.ErrIndeterminate) {
		t.Errorf("a store that is full gives %v", err)
	}
	if !maps.Equal(whole, s.values) {
		t.Error("something of the group stayed")
	}
	if err := w.Do(paymentInput(1), new(tpcc.Output)); err != nil {
		t.Errorf("the next one: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// After a failed commit its members do not know, and all others are refused. Check is asked before a group.
func TestWriterFails(t *testing.T) {
	s := &store{memory: loaded(t, 1), commitError: errors.New("the device is gone")}
	var refused error
	w := NewWriter(s.begin, WriterOptions{Name: "test-writer", Check: func() error { return refused }})
	refused = errFull
	if err := w.Do(paymentInput(1), new(tpcc.Output)); err != errFull || s.commits != 0 {
		t.Errorf("refused: %v, %d commits", err, s.commits)
	}
	refused = nil
	if err := w.Do(paymentInput(1), new(tpcc.Output)); !errors.Is(err, engines.ErrIndeterminate) || !errors.Is(err, s.commitError) {
		t.Errorf("the failed commit gives %v", err)
	}
	if err := w.Do(paymentInput(1), new(tpcc.Output)); !errors.Is(err, engines.ErrFailed) || errors.Is(err, engines.ErrIndeterminate) {
		t.Errorf("after it: %v", err)
	}
	if s.commits != 1 {
		t.Errorf("%d commits", s.commits)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
