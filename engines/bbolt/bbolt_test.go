package bbolt_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tpccbench/engines"
	"tpccbench/engines/bbolt"
	"tpccbench/engines/enginetest"
	"tpccbench/tpcc"
)

func TestEngine(t *testing.T) { enginetest.Run(t, bbolt.Factory) }

// TestGrouped is the suite with the settings of etcd: one commit for all that wait, no list of free pages.
func TestGrouped(t *testing.T) {
	enginetest.RunForm(t, bbolt.Factory, map[string]string{"commit": "grouped", "freelist_sync": "off"})
}

// makeStore loads a small store and returns its directory and file.
func makeStore(t *testing.T, settings map[string]string) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	e, err := bbolt.Factory.Open(dir, engines.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(e.Load(tpcc.Population(1, tpcc.TestScale(1))), e.Close()); err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Join(dir, "data.bbolt")
}

// readAll opens a store and reads all of it.
func readAll(dir string, settings map[string]string) error {
	e, err := bbolt.Factory.Open(dir, engines.Options{Settings: settings})
	if err != nil {
		return err
	}
	return errors.Join(e.Snapshot(func(*tpcc.Row) error { return nil }), e.Close())
}

// A store that is open is locked.
func TestLocked(t *testing.T) {
	dir := t.TempDir()
	e, err := bbolt.Factory.Open(dir, engines.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bbolt.Factory.Open(dir, engines.Options{}); !errors.Is(err, engines.ErrLocked) {
		t.Errorf("a second Open gives %v", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// A file that was cut off is refused at Open, whether or not the list of free pages is in it.
func TestTruncated(t *testing.T) {
	for _, sync := range []string{"on", "off"} {
		settings := map[string]string{"freelist_sync": sync}
		dir, path := makeStore(t, settings)
		for _, size := range []int64{5 * 4096, 4096, 100} {
			if err := os.Truncate(path, size); err != nil {
				t.Fatal(err)
			}
			_, err := bbolt.Factory.Open(dir, engines.Options{Settings: settings})
			if !errors.Is(err, engines.ErrCorrupt) || !strings.Contains(err.Error(), dir) {
				t.Errorf("freelist_sync=%s: a file of %d bytes gives %v", sync, size, err)
			}
		}
	}
}

// Pages of noise are engines.ErrCorrupt, at Open or when they are read; some damage goes unseen, since pages have no
// checksums, but nothing ends the process.
func TestDamagedPages(t *testing.T) {
	// With the first seed bbolt panics after it has mapped the file, which kept the lock.
	for _, seed := range []uint64{17514612593408107062, rand.Uint64()} {
		for _, sync := range []string{"on", "off"} {
			t.Run(fmt.Sprintf("freelist_sync=%s/seed=%d", sync, seed), func(t *testing.T) { testDamagedPages(t, sync, seed) })
		}
	}
}

func testDamagedPages(t *testing.T, sync string, seed uint64) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 0))
	settings := map[string]string{"freelist_sync": sync}
	dir, path := makeStore(t, settings)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found, rounds := 0, 40
	if testing.Short() {
		rounds = 8
	}
	for range rounds {
		damaged := append([]byte(nil), sound...)
		for page := 2; page < len(sound)/4096; page++ {
			if rnd.IntN(4) != 0 {
				continue
			}
			at := page * 4096
			for range 1 + rnd.IntN(40) {
				damaged[at+rnd.IntN(64)] = byte(rnd.Uint32())
			}
		}
		if err := os.WriteFile(path, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := readAll(dir, settings); errors.Is(err, engines.ErrCorrupt) {
			found++
		} else if err != nil {
			t.Errorf("damage gives %v", err)
		}
	}
	if found == 0 {
		t.Error("no damage was found")
	}
	if err := os.WriteFile(path, sound, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := readAll(dir, settings); err != nil {
		t.Errorf("the sound file gives %v", err)
	}
}

// Facts count two syncs per commit, and one more when the file has grown.
func TestSyncs(t *testing.T) {
	dir, _ := makeStore(t, nil)
	e, err := bbolt.Factory.Open(dir, engines.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	before, err := e.Facts()
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		in := tpcc.PaymentInput{WID: 1, DID: 1, CWID: 1, CDID: 1, CID: 1, Amount: 1, Date: tpcc.RunDate}
		if err := s.Payment(&in, new(tpcc.PaymentOutput)); err != nil {
			t.Fatal(err)
		}
	}
	after, err := e.Facts()
	if err != nil {
		t.Fatal(err)
	}
	grown := int64(0)
	if after.FileBytes["data.bbolt"] > before.FileBytes["data.bbolt"] {
		grown = 1
	}
	if after.Commits-before.Commits != 10 || after.Syncs-before.Syncs != 20+grown {
		t.Errorf("%d commits, %d syncs, file grown %d times", after.Commits-before.Commits, after.Syncs-before.Syncs, grown)
	}
	if err := errors.Join(s.Close(), e.Close()); err != nil {
		t.Error(err)
	}
}
