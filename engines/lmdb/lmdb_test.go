//go:build cgo && lmdb

package lmdb_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tpccbench/engines"
	"tpccbench/engines/enginetest"
	"tpccbench/engines/lmdb"
	"tpccbench/tpcc"
)

func TestEngine(t *testing.T) { enginetest.Run(t, lmdb.Factory) }

func TestGrouped(t *testing.T) {
	enginetest.RunWith(t, lmdb.Factory, map[string]string{"commit": "grouped"})
}

// makeStore loads a small store and returns its directory and file.
func makeStore(t *testing.T) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	e, err := lmdb.Factory.Open(dir, engines.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(e.Load(tpcc.Population(1, tpcc.TestScale(1))), e.Close()); err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Join(dir, "data.mdb")
}

// A store that is open is locked.
func TestLocked(t *testing.T) {
	dir := t.TempDir()
	e, err := lmdb.Factory.Open(dir, engines.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lmdb.Factory.Open(dir, engines.Options{}); !errors.Is(err, engines.ErrLocked) {
		t.Errorf("a second Open gives %v", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// A file that was cut off, and one whose head is damaged, are refused at Open.
func TestDamagedFile(t *testing.T) {
	dir, path := makeStore(t)
	if err := os.Truncate(path, 3*4096); err != nil {
		t.Fatal(err)
	}
	if _, err := lmdb.Factory.Open(dir, engines.Options{}); !errors.Is(err, engines.ErrCorrupt) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a file that was cut off gives %v", err)
	}
	dir, path = makeStore(t)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(make([]byte, 2*4096), 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := lmdb.Factory.Open(dir, engines.Options{}); !errors.Is(err, engines.ErrCorrupt) {
		t.Errorf("a damaged head gives %v", err)
	}
}

// A map that is full fails the transaction and nothing else: the same store goes on with reads, and with a larger map.
func TestFullMap(t *testing.T) {
	dir := t.TempDir()
	settings := map[string]string{"map_size_bytes": "262144"}
	e, err := lmdb.Factory.Open(dir, engines.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	small := tpcc.Scale{Warehouses: 1, Items: 100, Customers: 5, Orders: 5, Undelivered: 2}
	if err := e.Load(tpcc.Population(1, small)); err != nil {
		t.Fatal(err)
	}
	s, err := e.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	in := tpcc.NewOrderInput{WID: 1, DID: 1, CID: 1, EntryD: tpcc.RunDate, Count: tpcc.MaxLines}
	for i := range in.Lines {
		in.Lines[i] = tpcc.NewOrderInputLine{IID: int32(i + 1), SupplyWID: 1, Quantity: 1}
	}
	done := 0
	for err == nil {
		if err = s.NewOrder(&in, new(tpcc.NewOrderOutput)); err == nil {
			done++
		}
		if done > 5000 {
			t.Fatal("the map is never full")
		}
	}
	t.Logf("after %d orders: %v", done, err)
	if err := errors.Join(s.Close(), e.Close()); err != nil {
		t.Error(err)
	}
	if e, err = lmdb.Factory.Open(dir, engines.Options{}); err != nil {
		t.Fatal(err)
	}
	orders := 0
	err = e.Snapshot(func(r *tpcc.Row) error {
		if r.Table == tpcc.Orders {
			orders++
		}
		return nil
	})
	if want := done + small.Orders*tpcc.Districts; err != nil || orders != want {
		t.Errorf("%d orders, want %d: %v", orders, want, err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
