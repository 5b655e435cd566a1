//go:build cgo && lmdb

package lmdb_test

import (
	"errors"
	"math/rand/v2"
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
	enginetest.RunForm(t, lmdb.Factory, map[string]string{"commit": "grouped"})
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

// readAll opens a store, reads all of it, and commits one transaction, which uses the list of free pages.
func readAll(dir string) error {
	e, err := lmdb.Factory.Open(dir, engines.Options{})
	if err != nil {
		return err
	}
	err = e.Snapshot(func(*tpcc.Row) error { return nil })
	s, sessionErr := e.NewSession()
	if sessionErr == nil {
		in := tpcc.PaymentInput{WID: 1, DID: 1, CWID: 1, CDID: 1, CID: 1, Amount: 1, Date: tpcc.RunDate}
		sessionErr = errors.Join(s.Payment(&in, new(tpcc.PaymentOutput)), s.Close())
	}
	return errors.Join(err, sessionErr, e.Close())
}

// Pages of noise, cut-off files and single flipped bits in the pages' heads are engines.ErrCorrupt, at Open or when they
// are read; some damage goes unseen, since pages have no checksums, but nothing ends the process.
func TestDamagedPages(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	const pageSize = 4096
	dir, path := makeStore(t)
	for range 5 { // so that there are free pages
		if err := readAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pages := len(sound) / pageSize
	found, unseen := 0, 0
	for round := range rounds {
		damaged := append([]byte(nil), sound...)
		what := ""
		switch round % 3 {
		case 0:
			what = "noise in a quarter of the pages"
			for page := range pages {
				if rnd.IntN(4) == 0 {
					for range 1 + rnd.IntN(40) {
						damaged[page*pageSize+rnd.IntN(64)] = byte(rnd.Uint32())
					}
				}
			}
		case 1:
			what = "one bit"
			damaged[rnd.IntN(pages)*pageSize+rnd.IntN(160)] ^= 1 << rnd.IntN(8)
		case 2:
			what = "cut off"
			damaged = damaged[:rnd.IntN(len(damaged))]
		}
		if err := os.WriteFile(path, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		switch err := readAll(dir); {
		case errors.Is(err, engines.ErrCorrupt):
			found++
			if what == "cut off" && !strings.Contains(err.Error(), dir) {
				t.Errorf("%s: the error does not name the directory: %v", what, err)
			}
		case err != nil:
			t.Errorf("%s: the damage gives %v", what, err)
		default:
			unseen++
		}
	}
	t.Logf("%d damages were found, %d went unseen", found, unseen)
	if found < rounds/2 {
		t.Errorf("only %d of %d damages were found", found, rounds)
	}
	if err := os.WriteFile(path, sound, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := readAll(dir); err != nil {
		t.Errorf("the sound file gives %v", err)
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
