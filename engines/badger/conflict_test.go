package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// loaded opens a store of one warehouse with small memtables in a new directory.
func loaded(t *testing.T, concurrency string) (string, engines.Engine) {
	t.Helper()
	dir := t.TempDir()
	e, err := Factory.Open(dir, engines.Options{Settings: map[string]string{"concurrency": concurrency, "memtable_bytes": "16777216"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Load(tpcc.Population(1, tpcc.TestScale(1))); err != nil {
		t.Fatal(err)
	}
	return dir, e
}

// order is a New-Order of a customer of district 1, always of the same items.
func order(customer int32) *tpcc.NewOrderInput {
	in := &tpcc.NewOrderInput{WID: 1, DID: 1, CID: customer, EntryD: 1, Count: 5}
	for i := range in.Lines[:in.Count] {
		in.Lines[i] = tpcc.NewOrderInputLine{IID: int32(i) + 1, SupplyWID: 1, Quantity: 1}
	}
	return in
}

// TestConflicts proves that parallel New-Orders of one district, which all want the same rows, get each number once and
// leave no gap, whatever keeps them apart; and that with concurrency=optimistic some were refused and ran again.
func TestConflicts(t *testing.T) {
	for _, concurrency := range []string{"optimistic", "warehouse", "writer"} {
		t.Run(concurrency, func(t *testing.T) {
			_, e := loaded(t, concurrency)
			const sessions = 8
			each := 60
			if testing.Short() {
				each = 20
			}
			numbers := make([][]int32, sessions)
			var wg sync.WaitGroup
			for i := range numbers {
				wg.Go(func() {
					s, err := e.NewSession()
					if err != nil {
						t.Error(err)
						return
					}
					for range each {
						var out tpcc.NewOrderOutput
						if err := s.NewOrder(order(int32(i)+1), &out); err != nil {
							t.Error(err)
							return
						}
						numbers[i] = append(numbers[i], out.OID)
					}
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			seen := map[int32]bool{}
			for _, list := range numbers {
				for _, n := range list {
					if seen[n] {
						t.Errorf("order %d was made twice", n)
					}
					seen[n] = true
				}
			}
			first := int32(tpcc.TestScale(1).Orders) + 1
			for n := first; n < first+int32(sessions*each); n++ {
				if !seen[n] {
					t.Errorf("order %d is missing", n)
				}
			}
			f, err := e.Facts()
			if err != nil {
				t.Fatal(err)
			}
			conflicts, err := strconv.Atoi(f.Settings["conflicts"])
			if err != nil || (conflicts > 0) != (concurrency == "optimistic") {
				t.Errorf("%d conflicts, %v", conflicts, err)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestFailure proves that the lines by which Badger tells of a failed write or sync end the store: the transaction that
// Badger acknowledges all the same is indeterminate, later ones and reads are refused; other lines do no harm.
func TestFailure(t *testing.T) {
	for _, line := range failures {
		t.Run(line, func(t *testing.T) {
			_, e := loaded(t, "optimistic")
			s, err := e.NewSession()
			if err != nil {
				t.Fatal(err)
			}
			log := e.(*engine).log
			log.Errorf("While deleting file: %v", errors.New("not there"))
			if err := s.NewOrder(order(1), new(tpcc.NewOrderOutput)); err != nil {
				t.Fatal(err)
			}
			tx := &tx{}
			tx.begin(e.(*engine).db, true)
			if err := tx.Set([]byte("key"), []byte("value")); err != nil {
				t.Fatal(err)
			}
			log.Errorf(line+": %v", errors.New("the device is gone"))
			if err := e.(*engine).commit(tx); !errors.Is(err, engines.ErrIndeterminate) || !strings.Contains(err.Error(), "the device is gone") {
				t.Errorf("in flight: %v", err)
			}
			err = s.NewOrder(order(1), new(tpcc.NewOrderOutput))
			if !errors.Is(err, engines.ErrFailed) || errors.Is(err, engines.ErrIndeterminate) {
				t.Errorf("a write after the failure: %v", err)
			}
			err = s.OrderStatus(&tpcc.OrderStatusInput{WID: 1, DID: 1, CID: 1}, new(tpcc.OrderStatusOutput))
			if !errors.Is(err, engines.ErrFailed) {
				t.Errorf("a read after the failure: %v", err)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDamage proves that a table or the MANIFEST that is gone, cut or overwritten is damage, told with the directory.
func TestDamage(t *testing.T) {
	whole, e := loaded(t, "writer")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(whole)
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, file := range names {
		name := file.Name()
		if name != "MANIFEST" && !strings.HasSuffix(name, ".sst") {
			continue
		}
		tried++
		for what, damage := range map[string]func(path string) error{
			"gone":        os.Remove,
			"cut":         func(path string) error { return os.Truncate(path, 6) },
			"overwritten": func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("x", 5000)), 0o600) },
		} {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			if err := damage(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			e, err := Factory.Open(dir, engines.Options{})
			if err == nil {
				t.Errorf("%s %s: the store is opened", name, what)
				e.Close()
				continue
			}
			if !errors.Is(err, engines.ErrCorrupt) || !strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), "goroutine") {
				t.Errorf("%s %s: %v", name, what, err)
			}
		}
	}
	if tried < 2 {
		t.Errorf("only %d files were tried of %v", tried, names)
	}
}

// TestLargerWAL proves that a WAL of a larger memtable is refused with the setting that opens it: Badger would end the
// process over it.
func TestLargerWAL(t *testing.T) {
	dir := t.TempDir()
	const memtable = 16 << 20
	if err := os.WriteFile(filepath.Join(dir, "MANIFEST"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wal := filepath.Join(dir, "00001.mem")
	if err := os.WriteFile(wal, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(wal, 4*memtable); err != nil {
		t.Fatal(err)
	}
	_, err := Factory.Open(dir, engines.Options{Settings: map[string]string{"memtable_bytes": strconv.Itoa(memtable)}})
	if !errors.Is(err, engines.ErrSetting) || !strings.Contains(err.Error(), fmt.Sprintf("memtable_bytes=%d", 2*memtable)) {
		t.Errorf("%v", err)
	}
}
