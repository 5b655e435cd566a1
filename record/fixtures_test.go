package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// The fixtures of tables_test.py are records that this package writes, so that tables.py and the format stay in step:
// go test ./record -update writes them anew.

const fixturesDir = "../testdata/tables"

// fixture builds the records of one small study.
type fixture struct {
	study string
	quick bool
	runs  []*Run
	gates []*EqualGate
	start time.Time
}

func (f *fixture) registration() Registration {
	if f.quick {
		return Registration{PlanSHA256: "1f", Exploratory: true, Quick: true}
	}
	return Registration{PlanSHA256: "0123456789abcdef", PlanCommit: "c0ffee"}
}

// run adds a run that passed. rate is its tx_per_s; the other figures follow from it in round numbers.
func (f *fixture) run(phase, device, label, engine string, w, terminals, round int, candidate string, settings map[string]string, rate float64) *Run {
	r := New()
	r.Study, r.Phase, r.Label, r.Candidate, r.Round, r.Order = f.study, phase, label, candidate, round, len(f.runs)+1
	r.Cell = fmt.Sprintf("%s-w%d-%s-%d", device, w, label, terminals)
	if candidate != "" {
		r.Cell += "-" + candidate
	}
	kind, seconds := KindMemory, 20.0
	if device == "sd" {
		kind, seconds = KindDisk, 30
	}
	r.Spec = Spec{Engine: engine, Settings: settings, Device: device, Kind: kind, W: w, Terminals: terminals, Transport: TransportInProcess, Seed: 106,
		Mix: []int{45, 43, 4, 4, 4}, Seconds: seconds}
	r.Status = OK
	r.Started = f.start.Add(time.Duration(len(f.runs)) * time.Minute)
	r.Ended = r.Started.Add(time.Duration(seconds+3) * time.Second)
	for _, name := range FigureColumns() {
		r.Miss(name, "not in this fixture")
	}
	count := rate * seconds
	r.Set("seconds", seconds)
	r.Set("tx_per_s", rate)
	r.Set("nopm", rate*27)
	r.Set("attempts", count)
	r.Set("count_new_order", count*0.45)
	r.Set("rollbacks", count*0.0045)
	r.Set("commits", count*0.9955)
	r.Set("failures", 0)
	r.Set("latency_ns_p50_new_order", 0.6e9*float64(terminals)/rate)
	r.Set("latency_ns_p99_new_order", 3e9*float64(terminals)/rate)
	r.Set("cpu_us_per_tx", 250_000/rate*float64(w))
	r.Set("rss_bytes", float64(200<<20*w)+float64(rate*1000))
	r.Set("peak_rss_bytes", float64(210<<20*w)+float64(rate*1000))
	r.Set("state_bytes", float64(100<<20*w))
	r.Set("store_bytes", float64(120<<20*w))
	r.Set("device_bytes_per_tx", 0)
	r.Set("device_flushes_per_tx", 0)
	r.Set("temp_bytes_per_tx", 0)
	if engine == "sqlitegrouped" && candidate == "defaults" {
		r.Set("temp_bytes_per_tx", 41_945)
	}
	if device == "sd" {
		r.Set("device_bytes_per_tx", 4_000_000/rate)
		r.Set("device_flushes_per_tx", 1/float64(terminals))
	}
	if engine == "sqlite" {
		r.Miss("owner_core_share", "the engine has no thread that applies all writes")
		r.Miss("peak_rss_bytes", "writing /proc/self/clear_refs: permission denied")
	} else {
		r.Set("owner_core_share", 0.9)
	}
	r.Build = Build{ToolCommit: "deadbeef", GoVersion: "go1.26.8", CGOCFlags: "-g -O2 -DHAVE_FDATASYNC=1"}
	r.Registration = f.registration()
	f.runs = append(f.runs, r)
	return r
}

// fail makes a run one that broke a gate.
func fail(r *Run, gate, reason string) { r.Status, r.Gate, r.Reason = Failed, gate, reason }

func (f *fixture) gate(w int) *EqualGate {
	g := &EqualGate{Format: GateFormat, Version: GateVersion, Study: f.study, Name: fmt.Sprintf("equal-w%d", w), W: w, Seed: 106, Transactions: 20_000,
		Status: OK, Started: f.start.Add(-time.Hour), Ended: f.start.Add(-time.Hour + time.Minute), InputDigest: "1111",
		Build: Build{ToolCommit: "deadbeef", GoVersion: "go1.26.8"}, Registration: f.registration()}
	for _, e := range []string{"pure", "sqlite", "sqlitegrouped"} {
		g.Engines = append(g.Engines, EqualEngine{Engine: e, Commits: 19_909, Rollbacks: 91, RowsDigest: "2222222222222222",
			TableDigests: map[string]string{"item": "33"}, RowCounts: map[string]int64{"item": 100_000}})
	}
	f.gates = append(f.gates, g)
	return g
}

// wholeStudy has all that a study can have: two devices, two W, tuning with a candidate that cannot be chosen, rounds
// that lack a run, failed runs and a failed equality gate at a W that is left out for it, figures that are missing, a
// warning.
func wholeStudy() *fixture {
	f := &fixture{study: "whole", start: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	f.gate(1)
	f.gate(4)
	broken := f.gate(2)
	broken.Status, broken.Reason, broken.Difference = Failed, "the rows of sqlite differ from those of pure", "stock(...)"
	broken.Engines[1].RowsDigest, broken.Engines[1].Rollbacks = "4444", 90

	tuned := map[string]map[string]string{"ram": {"temp_store": "memory"}, "sd": {"page_size": "1024"}}
	with := func(device string, more ...string) map[string]string {
		m := map[string]string{}
		for k, v := range tuned[device] {
			m[k] = v
		}
		for _, name := range more {
			m[name] = "x"
		}
		return m
	}
	for i, device := range []string{"ram", "sd"} {
		scale := []float64{1, 0.05}[i]
		for j, c := range []struct {
			name     string
			settings map[string]string
		}{{"defaults", nil}, {"tuned", with(device)}, {"tuned-strong", with(device, "reads", "savepoint")}} {
			rate := scale * float64(8000+1000*j)
			if c.name != "tuned-strong" {
				f.run(PhaseTuning, device, "sqlite", "sqlite", 1, 1, 1, c.name, c.settings, rate+scale*111)
			}
			f.run(PhaseTuning, device, "sqlitegrouped", "sqlitegrouped", 1, 4, 1, c.name, c.settings, rate)
			f.run(PhaseTuning, device, "sqlitegrouped", "sqlitegrouped", 1, 8, 1, c.name, c.settings, rate*1.5)
		}
		for round := 1; round <= 3; round++ {
			drift := scale * float64(100+round) / 100
			other := scale * float64(100-2*round) / 100
			f.run(PhaseMatrix, device, "pure", "pure", 1, 4, round, "", nil, 50_000*drift)
			f.run(PhaseMatrix, device, "sqlite", "sqlite", 1, 1, round, "", with(device), 11_000*other)
			f.run(PhaseMatrix, device, "sqlitegrouped", "sqlitegrouped", 1, 4, round, "", with(device), 10_000*other)
			f.run(PhaseMatrix, device, "sqlitegrouped-strong", "sqlitegrouped", 1, 4, round, "", with(device, "reads", "savepoint"), 14_000*other)
			if device == "sd" {
				continue
			}
			if round == 1 {
				f.run(PhaseMatrix, device, "pure", "pure", 1, 16, round, "", nil, 60_000*drift)
			}
			f.run(PhaseMatrix, device, "pure", "pure", 2, 4, round, "", nil, 45_000*drift)
			r := f.run(PhaseMatrix, device, "pure", "pure", 4, 4, round, "", nil, 40_000*drift)
			if round == 2 {
				r.Miss("cpu_us_per_tx", "reading /proc/self/stat: permission denied")
			}
			f.run(PhaseMatrix, device, "sqlitegrouped", "sqlitegrouped", 4, 4, round, "", with(device), 9_000*other)
		}
	}
	find := func(name string) *Run {
		return f.runs[slices.IndexFunc(f.runs, func(r *Run) bool { return r.Name() == name })]
	}
	fail(find("matrix-ram-w4-pure-4-r3"), GateConsistency, "clause 3.3.2.1 does not hold:\nwarehouse 1")
	crashed := find("matrix-sd-w1-sqlite-1-r1")
	fail(crashed, GateCrash, "the process was killed")
	for _, name := range FigureColumns() {
		crashed.Miss(name, "the process ended without a result")
	}
	find("matrix-sd-w1-pure-4-r2").Warnings = []string{"the machine was 20 % slower after the run than before"}
	return f
}

// quickStudy is exploratory and quick, and has nothing but one run of the matrix.
func quickStudy() *fixture {
	f := &fixture{study: "small-quick", quick: true, start: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)}
	f.run(PhaseMatrix, "ram", "pure", "pure", 1, 16, 1, "", nil, 1234.5)
	return f
}

func TestFixturesOfTables(t *testing.T) {
	for name, f := range map[string]*fixture{"whole": wholeStudy(), "quick": quickStudy()} {
		fresh := t.TempDir()
		for _, r := range f.runs {
			if _, err := Write(fresh, r); err != nil {
				t.Fatal(err)
			}
		}
		for _, g := range f.gates {
			if _, err := WriteGate(fresh, g); err != nil {
				t.Fatal(err)
			}
		}
		raw := filepath.Join(fixturesDir, name, "raw")
		if *update {
			if err := os.RemoveAll(raw); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(raw, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadDir(fresh)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range want {
			b, err := os.ReadFile(filepath.Join(fresh, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			var small bytes.Buffer // compact, since there are many
			if err := json.Compact(&small, b); err != nil {
				t.Fatal(err)
			}
			small.WriteByte('\n')
			path := filepath.Join(raw, e.Name())
			if *update {
				if err := os.WriteFile(path, small.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			have, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(have, small.Bytes()) {
				t.Errorf("%s is not what this package writes; go test ./record -update writes it anew", path)
			}
		}
		if have, err := os.ReadDir(raw); err != nil || len(have) != len(want) {
			t.Errorf("%s has %d files (%v), want %d", raw, len(have), err, len(want))
		}
		if runs, err := ReadDir(raw); err != nil || len(runs) != len(f.runs) {
			t.Errorf("ReadDir of %s: %d runs, %v; want %d", raw, len(runs), err, len(f.runs))
		}
	}
}
