package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"tpccbench/engines"
	"tpccbench/internal/attack"
	"tpccbench/tpcc"
	"tpccbench/tpcc/consistency"
)

// mountSmallDisk mounts a new memory file system of so many MiB and unmounts it after the test. It needs root.
func mountSmallDisk(t *testing.T, mib int) (path string, resize func(mib int)) {
	t.Helper()
	path = t.TempDir()
	if err := unix.Mount("tmpfs", path, "tmpfs", 0, fmt.Sprintf("size=%dm", mib)); err != nil {
		t.Skipf("cannot mount a small file system (it needs root): %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(path, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return path, func(mib int) {
		t.Helper()
		if err := unix.Mount("tmpfs", path, "tmpfs", unix.MS_REMOUNT, fmt.Sprintf("size=%dm", mib)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDiskFull runs each engine on a file system of 4 MiB (Badger, which keeps room for its memtables, 72) until it is full: the transactions fail with an error that
// says so, and when there is room again, all that was acknowledged is there and all conditions hold.
func TestDiskFull(t *testing.T) {
	settings := map[string]map[string]string{
		"pure": {"log_segment_bytes": "65536", "checkpoint_min_bytes": "262144"}, "sqlite": nil, "sqlitegrouped": nil,
		"bbolt": {"alloc_size_bytes": "65536"}, "lmdb": {"commit": "grouped"},
		"pebble": {"memtable_bytes": "262144"}, "badger": {"memtable_bytes": "16777216", "value_log_file_bytes": "1048576"},
	}
	a := attack.New(t, 1)
	for seed := range a.Rounds() {
		for _, f := range allEngines {
			if f.NotAStore || f.Missing != "" {
				continue
			}
			set, known := settings[f.Name]
			if !known {
				t.Errorf("engine %s is not run on a full disk: give it settings here", f.Name)
			}
			mib := 4
			if f.Name == "badger" {
				mib = 72
			}
			dir, resize := mountSmallDisk(t, mib)
			acks, failed, err := runFull(f, dir, set, seed)
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, f.Name, err)
			}
			for _, err := range failed {
				if text := err.Error(); !strings.Contains(text, "no space left on device") && !strings.Contains(text, "disk is full") ||
					strings.Contains(text, "\n") {
					t.Errorf("seed %d, %s: the error does not say that the disk is full: %v", seed, f.Name, err)
				}
			}
			resize(mib + 64)
			violations, err := auditAfter(f, dir, set, acks, len(failed))
			if err != nil {
				t.Fatalf("seed %d, %s, when there is room again: %v", seed, f.Name, err)
			}
			for _, v := range violations {
				t.Errorf("seed %d, %s: %v", seed, f.Name, v)
			}
			if t.Failed() {
				return
			}
			a.Count("full", 1)
			a.Count("errors", len(failed))
			a.Count("acknowledged", len(acks))
			a.Count("reopened", 1)
		}
	}
}

// runFull loads a store and runs terminals on it until each has failed. It returns what was acknowledged, and the
// errors.
func runFull(f *engines.Factory, dir string, set map[string]string, seed uint64) (acks []consistency.Ack, failed []error, err error) {
	const terminals = 4
	scale := tpcc.TestScale(1)
	e, err := f.Open(dir, engines.Options{Settings: set})
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = e.Close() }() // of a store on a full disk: what counts is what opening it again finds
	if err := e.Load(tpcc.Population(seed, scale)); err != nil {
		return nil, nil, err
	}
	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		records bytes.Buffer
	)
	for i := range terminals {
		session, err := e.NewSession()
		if err != nil {
			return nil, nil, err
		}
		terminal := tpcc.NewTerminal(seed, i, scale, tpcc.StandardMix())
		wg.Go(func() {
			var in tpcc.Input
			var out tpcc.Output
			for {
				terminal.Next(&in)
				err := engines.Call(session, &in, &out)
				mu.Lock()
				if err != nil {
					failed = append(failed, err)
					mu.Unlock()
					return
				}
				var b []byte
				switch in.Type {
				case tpcc.TxNewOrder:
					b = consistency.AppendNewOrderAck(b, &in.NewOrder, &out.NewOrder)
				case tpcc.TxPayment:
					b = consistency.AppendPaymentAck(b, &in.Payment, &out.Payment)
				case tpcc.TxDelivery:
					b = consistency.AppendDeliveryAck(b, &in.Delivery, &out.Delivery)
				}
				records.Write(b)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	acks, err = consistency.ReadAcks(&records)
	return acks, failed, err
}

func auditAfter(f *engines.Factory, dir string, set map[string]string, acks []consistency.Ack, inFlight int) ([]consistency.Violation, error) {
	e, err := f.Open(dir, engines.Options{Settings: set})
	if err != nil {
		return nil, err
	}
	defer func() { _ = e.Close() }() // it was only read
	return consistency.Audit(acks, e.Snapshot, tpcc.TestScale(1), inFlight)
}

// TestCommandsOnLimits: the commands end with one line that says what is missing, and leave nothing behind, on a file
// system that is too small, under a limit of the file size (ulimit -f), and in a directory that cannot be written to.
func TestCommandsOnLimits(t *testing.T) {
	ulimit := []string{"bash", "-c", `ulimit -f 4096; exec "$@"`, "bash"} // 4 MiB
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is missing")
	}
	t.Setenv("GOTRACEBACK", "single")
	list := []string{"pure", "sqlite", "sqlitegrouped"}
	if testing.Short() {
		list = list[:1]
	}
	for _, engine := range list {
		for _, command := range [][]string{
			{"audit", "--kills", "2"},
			{"cell", "--seconds", "1", "--terminals", "2"},
		} {
			for _, c := range []struct {
				limit  string
				before []string
				words  []string // one of them must be in the message
			}{
				{limit: "small", words: []string{"space", "full", "needs", "free"}},
				{limit: "ulimit", before: ulimit, words: []string{"file too large", "disk I/O error", "disk is full", "file size"}},
				{limit: "readonly", words: []string{"read-only", "permission denied"}},
			} {
				t.Run(engine+"/"+command[0]+"/"+c.limit, func(t *testing.T) {
					dir := ""
					switch c.limit {
					case "small":
						dir, _ = mountSmallDisk(t, 4)
					case "ulimit":
						dir = ramDir(t)
					case "readonly":
						dir, _ = mountSmallDisk(t, 1024) // so that room is not what is missing
						if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, "size=1024m"); err != nil {
							t.Fatal(err)
						}
					}
					args := append([]string{command[0], "--engine", engine, "--device", "ram=" + dir}, command[1:]...)
					_, message, code := program(t, c.before, nil, args...)
					named := false
					for _, w := range c.words {
						named = named || strings.Contains(message, w)
					}
					if code == exitOK || !named || strings.Count(message, "\n") != 1 || strings.Contains(message, "goroutine") {
						t.Errorf("exit code %d: %s", code, message)
					}
					left, err := os.ReadDir(dir)
					if err != nil || len(left) > 0 {
						t.Errorf("left behind: %v %v", left, err)
					}
					t.Logf("exit code %d: %s", code, message)
				})
			}
		}
	}
}
