package store

import (
	"math/rand/v2"
	"os"
	"testing"

	"tpccbench/engines/pure/store/fs"
	"tpccbench/internal/attack"
)

// ramDir is a new directory on a memory file system, removed after the test; where there is none, a temporary one.
func ramDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "store-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func openDir(t *testing.T, path string) fs.Dir {
	t.Helper()
	dir, err := fs.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// copied is a copy of a directory with its files.
func copied(t *testing.T, path string) string {
	t.Helper()
	to := ramDir(t)
	if err := os.CopyFS(to, os.DirFS(path)); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestKilledAtOperation: a process that is killed before the Nth operation on its files, or in the middle of a write,
// loses nothing that it acknowledged and leaves no part of a transaction, over several lives on one store, on a memory
// file system and on the disk, in recovery and checkpoint too. Each life's files are checked in a copy, so that the
// next life has to deal with what the last one left.
func TestKilledAtOperation(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 2
	}
	a := attack.New(t, rounds)
	for seed := range a.Rounds() {
		rng := rand.New(rand.NewPCG(seed, 0))
		dir, place := ramDir(t), "memory"
		if seed%2 == 0 {
			dir, place = t.TempDir(), "disk"
		}
		state := newModel()
		for number := range 6 {
			l := life{Dir: dir, Seed: seed<<8 + uint64(number), Transactions: 60, Options: smallOptions,
				KillAt: 1 + rng.IntN(200), Torn: rng.IntN(2) == 0}
			if rng.IntN(4) == 0 {
				l.KillAt = 1 + rng.IntN(25) // while it opens
			}
			e := l.run(t)
			if e.killed {
				a.Count("kills", 1)
			} else if e.message != "" {
				t.Fatalf("seed %d, life %d, on %s: %+v: %s", seed, number, place, l, e.message)
			}
			check := copied(t, dir)
			s, err := Open(openDir(t, check), testSchema, smallOptions)
			if err != nil {
				t.Fatalf("seed %d, life %d, on %s, killed at operation %d: %v", seed, number, place, l.KillAt, err)
			}
			a.Count("reopened", 1)
			a.Count("acknowledged", max(e.acknowledged, 0))
			if state, err = l.after(s, state, e.acknowledged); err != nil {
				t.Fatalf("seed %d, life %d, on %s, killed at operation %d: %v", seed, number, place, l.KillAt, err)
			}
			mustClose(t, s)
			if err := os.RemoveAll(check); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}
