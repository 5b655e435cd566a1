package model_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tpccbench/engines"
	"tpccbench/engines/enginetest/model"
	"tpccbench/tpcc"
)

// fill makes a journal of a population and three Payments and returns its bytes, and its length after each payment
// (0: after the population).
func fill(t *testing.T, dir string) (data []byte, lengths []int) {
	t.Helper()
	e := open(t, dir)
	path := filepath.Join(dir, "model.journal")
	mark := func() {
		var err error
		if data, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		lengths = append(lengths, len(data))
	}
	if err := e.Load(tpcc.Population(1, tpcc.Scale{Warehouses: 1, Items: 20, Customers: 1, Orders: 1})); err != nil {
		t.Fatal(err)
	}
	mark()
	s, err := e.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		in := tpcc.PaymentInput{WID: 1, DID: 1, CWID: 1, CDID: 1, CID: 1, Amount: 1}
		if err := s.Payment(&in, new(tpcc.PaymentOutput)); err != nil {
			t.Fatal(err)
		}
		mark()
	}
	if err := errors.Join(s.Close(), e.Close()); err != nil {
		t.Fatal(err)
	}
	return data, lengths
}

func open(t *testing.T, dir string) engines.Engine {
	t.Helper()
	e, err := model.Factory.Open(dir, engines.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// payments opens the journal and counts the payments in it.
func payments(dir string) (int64, error) {
	e, err := model.Factory.Open(dir, engines.Options{})
	if err != nil {
		return 0, err
	}
	var paid int64
	err = e.Snapshot(func(r *tpcc.Row) error {
		if r.Table == tpcc.Warehouse {
			paid += r.Col[tpcc.WYTD] - tpcc.Districts*tpcc.InitialPayment
		}
		return nil
	})
	return paid, errors.Join(err, e.Close())
}

// TestTruncation: a journal that ends anywhere within its payments opens with those that are whole.
func TestTruncation(t *testing.T) {
	dir := t.TempDir()
	data, lengths := fill(t, dir)
	for n := lengths[0]; n <= len(data); n++ {
		if err := os.WriteFile(filepath.Join(dir, "model.journal"), data[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		want := int64(0)
		for _, l := range lengths[1:] {
			if n >= l {
				want++
			}
		}
		if got, err := payments(dir); got != want || err != nil {
			t.Fatalf("cut after %d of %d bytes: %d payments, error %v; there must be %d", n, len(data), got, err, want)
		}
	}
}

// TestDamage: a journal with one byte changed is damaged, and says where; only a changed length may look like the end.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "model.journal")
	data, lengths := fill(t, dir)
	for at := range data {
		inLength := false
		for _, l := range lengths {
			inLength = inLength || at >= l && at < l+4
		}
		if at > 100 && at < lengths[0]-100 || inLength {
			continue // the rows between are alike
		}
		damaged := append([]byte(nil), data...)
		damaged[at] ^= 0x10
		if err := os.WriteFile(path, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		if n, err := payments(dir); !errors.Is(err, engines.ErrCorrupt) || !strings.Contains(err.Error(), path) {
			t.Fatalf("byte %d of %d changed: %d payments, error %v; it must be engines.ErrCorrupt and name the file", at, len(data), n, err)
		}
	}
}
