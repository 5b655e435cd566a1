package main

import (
	"os"
	"testing"
	"time"

	"tpccbench/audit"
	"tpccbench/tpcc"
)

// TestKill kills each engine in mid-work and finds everything that it had acknowledged: on a memory file system and in
// the tests' own folder, which is mostly on a disk. It is the short form of `tpccbench audit`.
func TestKill(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	kills := 6
	if testing.Short() {
		kills = 2
	}
	settings := stores(t)
	for _, f := range allEngines {
		if f.NotAStore || f.Missing != "" {
			continue
		}
		for i, set := range settings[f.Name] {
			for place, dir := range map[string]string{"memory": ramDir(t), "disk": t.TempDir()} {
				t.Run(f.Name+"/"+place, func(t *testing.T) {
					seed := uint64(106 + i)
					t.Logf("seed %d, settings %v", seed, set)
					res, err := audit.Run(t.Context(), audit.Config{
						Engine: *f, Settings: set, Dir: dir, Scale: tpcc.TestScale(2), Weights: tpcc.StandardMix(),
						Terminals: 8, Seed: seed, Kills: kills, MinRun: 20 * time.Millisecond, MaxRun: 300 * time.Millisecond,
						MinWrites: 20, Command: []string{exe, auditChildCommand}, Env: []string{asProgram + "=1"},
					})
					if err != nil {
						t.Fatal(err)
					}
					for _, v := range res.Violations() {
						t.Error(v)
					}
					t.Logf("%d kills, %d acknowledged writes", len(res.Kills), res.Writes())
				})
			}
		}
	}
}
