package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"tpccbench/audit"
	"tpccbench/internal/attack"
	"tpccbench/tpcc"
)

// stores are the engines that keep their rows, with the settings under which they are killed: those that bring most
// checkpoints and segments, and those that take the other paths.
func stores(t *testing.T) map[string][]map[string]string {
	t.Helper()
	settings := map[string][]map[string]string{
		"pure":          {{}, {"checkpoint_min_bytes": "4096", "checkpoint_log_ratio": "0.1", "log_segment_bytes": "65536"}},
		"sqlite":        {{}},
		"sqlitegrouped": {{}, {"reads": "writer", "savepoint": "need"}},
		"bbolt":         {{}, {"commit": "grouped", "alloc_size_bytes": "65536", "freelist_sync": "off"}},
		"lmdb":          {{}, {"commit": "grouped"}},
		"pebble":        {{}, {"concurrency": "writer", "memtable_bytes": "262144"}},
		"badger":        {{}, {"concurrency": "warehouse", "memtable_bytes": "16777216"}},
	}
	for _, f := range allEngines {
		if !f.NotAStore && len(settings[f.Name]) == 0 {
			t.Errorf("engine %s is not audited: give it settings here", f.Name)
		}
	}
	return settings
}

// killCalls are the calls at whose Nth entry a process is killed, sync and write to a file, of engines that have others
// than fdatasync and pwrite64: Badger's files are mapped, Pebble's are written by write, as acknowledgements are.
var killCalls = map[string][2]string{"badger": {"msync", "msync"}, "pebble": {"fdatasync", "fdatasync"}}

// TestKilledAtCall kills each engine's process when one of its threads enters its Nth sync of or write to a file, by
// means of strace, and finds everything that it had acknowledged; over several lives on one store, on a memory file
// system and on the disk.
func TestKilledAtCall(t *testing.T) {
	// Not with --seccomp-bpf: strace 6.1 then injects no signal.
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	if out, err := exec.Command(strace, "-f", "-qqq", "-e", "trace=fdatasync", "-o", filepath.Join(t.TempDir(), "log"), "true").CombinedOutput(); err != nil {
		t.Skipf("strace cannot trace here: %v: %s", err, out)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	rounds, kills := 2, 4
	if testing.Short() {
		rounds, kills = 1, 2
	}
	settings := stores(t)
	a := attack.New(t, rounds)
	for seed := range a.Rounds() {
		rng := rand.New(rand.NewPCG(seed, 0))
		for _, f := range allEngines {
			if f.NotAStore || f.Missing != "" {
				continue
			}
			set := settings[f.Name][rng.IntN(len(settings[f.Name]))]
			dir, place := ramDir(t), "memory"
			if rng.IntN(2) == 0 {
				dir, place = t.TempDir(), "disk"
			}
			where := ""
			res, err := audit.Run(t.Context(), audit.Config{
				Engine: *f, Settings: set, Dir: dir, Scale: tpcc.TestScale(2), Weights: tpcc.StandardMix(), Terminals: 8,
				Seed: seed, Kills: kills, MinRun: 20 * time.Second, MaxRun: 20 * time.Second,
				Command: []string{exe, auditChildCommand}, Env: []string{asProgram + "=1"},
				Under: func(int) []string {
					calls, known := killCalls[f.Name]
					if !known {
						calls = [2]string{"fdatasync", "pwrite64"}
					}
					call, n := calls[0], 1+rng.IntN(60)
					if rng.IntN(3) == 0 {
						call, n = calls[1], 1+rng.IntN(150)
					}
					where = fmt.Sprintf("%s %d", call, n)
					return []string{strace, "-f", "-qqq", "-o", filepath.Join(t.TempDir(), "log"),
						"-e", "trace=" + call, "-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", call, n)}
				},
			})
			what := fmt.Sprintf("%s on %s, settings %v, seed %d, life %d, killed at %s", f.Name, place, set, seed, len(res.Kills), where)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			for _, v := range res.Violations() {
				t.Errorf("%s: %v", what, v)
			}
			if t.Failed() {
				return
			}
			a.Count("kills", len(res.Kills))
			a.Count("reopened", len(res.Kills))
			a.Count("acknowledged", int(res.Writes()))
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
	}
}
