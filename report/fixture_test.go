package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"tpccbench/matrix"
	"tpccbench/record"
	"tpccbench/tpcc"
)

// smallPlan is a plan with all that a plan can have: tuning, two devices, an A/A pair, and one decision of each
// statistic. Its figures are made up; see fixture.rate.
const smallPlan = `
format = "tpccbench.plan"
version = 1
name = "small"
title = "A made-up study"
seed = 7
order_seed = 1

[[device]]
name = "ram"
kind = "memory"
seconds = 2
warm_up_seconds = 0
rounds = 3

[[device]]
name = "sd"
kind = "disk"
seconds = 3
warm_up_seconds = 1
rounds = 3

[gates]
equal_transactions = 100
equal_engines = ["pure", "sqlitegrouped"]
equal_device = "ram"
published_clauses = [1]
checked_clauses = [2]
max_failures = 0

[[tuning]]
device = "ram"
w = 1
rounds = 1
applies_to = ["sqlitegrouped"]
choose_by = "mean_tx_per_s"
choose_over = "sqlitegrouped"

[[tuning.run]]
engine = "sqlitegrouped"
terminals = [4, 8]

[[tuning.candidate]]
name = "defaults"

[[tuning.candidate]]
name = "cache"
settings = { cache_size_kib = 65_536 }

[[tuning.candidate]]
name = "strong"
extends = "cache"
settings = { reads = "writer" }
eligible = false

[[cell]]
engine = "pure"
terminals = [4, 8]
w = [1]
devices = ["ram", "sd"]

[[cell]]
engine = "pure"
label = "pure-twin"
twin_of = "pure"
terminals = [4]
w = [1]
devices = ["ram"]

[[cell]]
engine = "sqlitegrouped"
terminals = [4, 8]
w = [1]
devices = ["ram", "sd"]

[[decision]]
name = "faster"
claim = "Pure is more than twice as fast."
if_true = "It is not."
if_false = "It is."
report = ["tx_per_s"]

[[decision.condition]]
statistic = "ratio"
column = "tx_per_s"
cells = ["ram-w1-pure-4", "ram-w1-pure-8"]
over_cells = ["ram-w1-sqlitegrouped-4", "ram-w1-sqlitegrouped-8"]
holds_for = "any"
comparison = "at_most"
threshold = 2

[[decision]]
name = "owner"
claim = "The owner is not busy."
if_true = "It is busy, and more terminals gain nothing."
if_false = "It is not busy, or more terminals gain."

[[decision.condition]]
statistic = "value"
column = "owner_core_share"
cells = ["ram-w1-pure-4"]
holds_for = "all"
comparison = "at_least"
threshold = 0.9

[[decision.condition]]
statistic = "ratio"
column = "tx_per_s"
cells = ["ram-w1-pure-8"]
over_cells = ["ram-w1-pure-4"]
holds_for = "all"
comparison = "below"
threshold = 1.1

[[decision]]
name = "memory"
claim = "Memory is at most 2.5 times the state."
if_true = "It is."
if_false = "It is not."

[[decision.condition]]
statistic = "quotient"
column = "rss_bytes"
over_column = "state_bytes"
cells = ["sd-w1-pure-4", "sd-w1-pure-8"]
holds_for = "all"
comparison = "at_most"
threshold = 2.5
`

// fixture is a made-up study of smallPlan, or of a plan that was made from it.
type fixture struct {
	t           *testing.T
	plan        string
	quick       bool
	exploratory []string
	rates       map[string][]float64                   // tx_per_s by cell, per round; the default is of its label
	each        func(r *record.Run)                    // changes a run before it is written
	only        func(r *matrix.Run) bool               // the runs that are made
	gate        func(g *record.EqualGate)              // changes a gate before it is written
	figures     map[string]func(r *record.Run) float64 // other figures
	machine     string
	started     time.Time
}

func newFixture(t *testing.T) *fixture {
	return &fixture{t: t, plan: smallPlan, rates: map[string][]float64{}, figures: map[string]func(*record.Run) float64{},
		machine: `{"cpu_model":"Made-up 1","cores_usable":2,"memory_bytes":8000000000,"kernel":"6.1","arch":"amd64"}`,
		started: time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)}
}

func (f *fixture) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// rate is tx_per_s of a run: pure makes 30,000 with 4 terminals and 45,000 with 8, its twin 1 % less, sqlitegrouped
// 10,000 and 12,000, the candidate cache 20 % more; a tenth of that on the disk; each round 1 % more than the one
// before.
func (f *fixture) rate(r *matrix.Run) float64 {
	if rates, ok := f.rates[r.Cell]; ok {
		return rates[r.Round-1]
	}
	rate := map[string]float64{"pure": 30_000, "pure-twin": 29_700, "sqlitegrouped": 10_000}[r.Label]
	if r.Terminals == 8 {
		rate *= map[string]float64{"pure": 1.5, "sqlitegrouped": 1.2}[r.Label]
	}
	if r.Candidate == "cache" {
		rate *= 1.2
	}
	if r.Device == "sd" {
		rate /= 10
	}
	return rate * (1 + 0.01*float64(r.Round-1))
}

// latencies are histograms of made-up latencies in ns, as many as the counts say, the same for every run; of two types
// only, for the sake of speed.
var latencies = sync.OnceValue(func() map[string]*hdrhistogram.Histogram {
	m := map[string]*hdrhistogram.Histogram{}
	for _, t := range []tpcc.Type{tpcc.TxNewOrder, tpcc.TxDelivery} {
		h := hdrhistogram.New(1, 1_000_000, 3)
		for i := range counts[t] {
			_ = h.RecordValue(int64(1000 * (i + 1)))
		}
		m[t.String()] = h
	}
	return m
})

// encoded are the latencies as a record holds them.
var encoded = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for name, h := range latencies() {
		b, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		if err != nil {
			panic(err)
		}
		m[name] = string(b)
	}
	return m
})

// counts are the transactions of every run by type.
var counts = map[tpcc.Type]int{tpcc.TxNewOrder: 450, tpcc.TxPayment: 430, tpcc.TxOrderStatus: 40, tpcc.TxDelivery: 40, tpcc.TxStockLevel: 40}

// run makes the record of a run.
func (f *fixture) run(p *matrix.Run, reg record.Registration, study string, number int) *record.Run {
	r := record.New()
	r.Study, r.Phase, r.Cell, r.Label, r.Candidate, r.Round, r.Order = study, p.Phase, p.Cell, p.Label, p.Candidate, p.Round, p.Order
	r.Spec = record.Spec{Engine: p.Engine, Settings: p.Settings, Device: p.Device, Kind: p.Kind, W: p.W, Terminals: p.Terminals,
		Transport: record.TransportInProcess, Seed: p.Seed, Mix: p.Mix, Seconds: p.Seconds, WarmUp: p.WarmUpSeconds}
	r.Status = record.OK
	r.Started = f.started.Add(time.Duration(number+1) * time.Minute)
	r.Ended = r.Started.Add(10 * time.Second)
	for _, name := range record.FigureColumns() {
		r.Miss(name, "not in this fixture")
	}
	completed := 0
	r.Histograms = map[string]string{}
	for t, n := range counts {
		completed += n
		r.Set("count_"+t.String(), float64(n))
		h, ok := latencies()[t.String()]
		if !ok {
			continue
		}
		for name, percentile := range map[string]float64{"p50": 50, "p90": 90, "p99": 99, "p999": 99.9} {
			r.Set("latency_ns_"+name+"_"+t.String(), min(float64(h.ValueAtPercentile(percentile)), float64(1000*n)))
		}
		r.Set("latency_ns_max_"+t.String(), float64(1000*n))
		r.Histograms[t.String()] = encoded()[t.String()]
	}
	rate := f.rate(p)
	seconds := float64(completed) / rate
	rss, cpu := int64(100<<20), int64(1000)
	r.Series = []record.Second{{Second: 1, Transactions: int64(completed), LatencyNSMax: 450_000, RSSBytes: &rss, CPUNS: &cpu}}
	r.FileBytes = map[string]int64{"a": 1 << 20, "b": 2 << 20}
	for name, v := range map[string]float64{
		"seconds": seconds, "tx_per_s": float64(completed) / seconds, "nopm": 60 * 450 / seconds, "attempts": float64(completed),
		"commits": float64(completed - 4), "rollbacks": 4, "failures": 0, "cpu_us_per_tx": 250_000 / rate, "owner_core_share": 0.5,
		"rss_bytes": 100 << 20, "peak_rss_bytes": 110 << 20, "state_bytes": 50 << 20, "store_bytes": 3 << 20,
		"device_bytes_per_tx": 1_000_000 / rate, "device_flushes_per_tx": 0.1, "calibration_ns": 5e7,
	} {
		r.Set(name, v)
	}
	for name, figure := range f.figures {
		r.Set(name, figure(r))
	}
	r.Build = record.Build{ToolCommit: "deadbeef", GoVersion: "go1.26.8", CGOCFlags: "-O2"}
	r.Registration = reg
	r.Machine = json.RawMessage(f.machine)
	r.Storage = json.RawMessage(`{"fs_type":"tmpfs"}`)
	if f.each != nil {
		f.each(r)
	}
	return r
}

// write writes the whole study into a new folder, as tpccbench run leaves it.
func (f *fixture) write() string {
	f.t.Helper()
	dir := f.t.TempDir()
	plan, err := matrix.Parse("plan.toml", []byte(f.plan))
	f.check(err)
	f.check(os.WriteFile(filepath.Join(dir, "plan.toml"), []byte(f.plan), 0o644))
	if f.quick {
		plan = plan.Quick()
	}
	reg := record.Registration{PlanSHA256: plan.SHA256(), PlanCommit: "c0ffee", Exploratory: f.exploratory != nil, Quick: f.quick}
	f.check(record.WriteRegistration(dir, &record.StudyRegistration{
		Format: record.RegistrationFormat, Version: record.RegistrationVersion, Study: plan.Name, Registered: f.started, Plan: reg,
		PlanForm: matrix.IdentityForm, Exploratory: f.exploratory, Build: record.Build{ToolCommit: "deadbeef", GoVersion: "go1.26.8"},
		Machine: json.RawMessage(f.machine),
	}))
	raw := filepath.Join(dir, "raw")
	f.check(os.Mkdir(raw, 0o755))
	sums := ""
	for _, p := range plan.Gates() {
		g := &record.EqualGate{Format: record.GateFormat, Version: record.GateVersion, Study: plan.Name, Name: p.Name, W: p.W, Seed: p.Seed,
			Transactions: p.Transactions, Status: record.OK, Started: f.started.Add(time.Second), Ended: f.started.Add(2 * time.Second),
			InputDigest: "11", Registration: reg}
		for _, e := range p.Engines {
			g.Engines = append(g.Engines, record.EqualEngine{Engine: e, Commits: 99, Rollbacks: 1, RowsDigest: "22"})
		}
		if f.gate != nil {
			f.gate(g)
		}
		f.check(g.Validate())
		sums += f.writeRecord(raw, p.ID(), g)
	}
	var runs []*record.Run
	add := func(list []matrix.Run) {
		for i := range list {
			if f.only != nil && !f.only(&list[i]) {
				continue
			}
			r := f.run(&list[i], reg, plan.Name, len(runs))
			f.check(r.Validate())
			sums += f.writeRecord(raw, r.Name(), r)
			runs = append(runs, r)
		}
	}
	add(plan.TuningRuns())
	results := map[string]float64{}
	for _, r := range runs {
		if r.Status == record.OK {
			results[r.Name()] = r.Figures["tx_per_s"]
		}
	}
	chosen := map[string]map[string]string{}
	var choices []matrix.Choice
	for i := range plan.Tunings {
		choice, err := plan.Tunings[i].Choose(results)
		if err != nil {
			chosen = nil
			break
		}
		chosen[choice.Device] = choice.Settings
		choices = append(choices, choice)
	}
	if chosen != nil {
		b, err := json.Marshal(choices)
		f.check(err)
		f.check(os.WriteFile(filepath.Join(dir, "choices.json"), b, 0o644))
	}
	add(plan.MatrixRuns(chosen))
	f.check(os.WriteFile(filepath.Join(dir, record.SumsName), []byte(sums), 0o644))
	var csv bytes.Buffer
	f.check(record.WriteCSV(&csv, runs))
	f.check(os.WriteFile(filepath.Join(dir, "matrix.csv"), csv.Bytes(), 0o644))
	f.check(os.Mkdir(filepath.Join(dir, "series"), 0o755))
	for _, r := range runs {
		text := fmt.Sprintf("second,transactions,latency_ns_max,rss_bytes,cpu_ns,device_bytes\n1,1000,450000,%d,1000,\n", 100<<20)
		f.check(os.WriteFile(filepath.Join(dir, "series", r.Name()+".csv"), []byte(text), 0o644))
	}
	return dir
}

// writeRecord writes a raw record as package record does, but without waiting for the device, and returns its line of
// raw.sha256.
func (f *fixture) writeRecord(raw, name string, r any) string {
	f.t.Helper()
	b, err := json.MarshalIndent(r, "", " ")
	f.check(err)
	b = append(b, '\n')
	f.check(os.WriteFile(filepath.Join(raw, name+".json"), b, 0o644))
	return fmt.Sprintf("%x  raw/%s.json\n", sha256.Sum256(b), name)
}

// load writes the study and loads it.
func (f *fixture) load() *Study {
	f.t.Helper()
	s, err := Load(f.write())
	f.check(err)
	return s
}

// replace replaces the first occurrence of a text in a file of a study, which must be there.
func replace(t *testing.T, dir, file, old, text string) {
	t.Helper()
	path := filepath.Join(dir, file)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), old) {
		t.Fatalf("%s does not contain %q", file, old)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(b), old, text, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// older makes the study one of the first version: no hashes, the plan registered by the older form of its identity.
func older(t *testing.T, dir string) {
	t.Helper()
	plan, err := matrix.Read(filepath.Join(dir, "plan.toml"))
	if err != nil {
		t.Fatal(err)
	}
	old, err := plan.SHA256Form(matrix.IdentityForm1)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, record.SumsName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	replace(t, dir, record.RegistrationName, `"version": 2`, `"version": 1`)
	replace(t, dir, record.RegistrationName, fmt.Sprintf(",\n \"plan_form\": %d", matrix.IdentityForm), "")
	files := []string{record.RegistrationName, "matrix.csv"}
	entries, err := os.ReadDir(filepath.Join(dir, "raw"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		files = append(files, filepath.Join("raw", e.Name()))
	}
	for _, name := range files {
		path := filepath.Join(dir, name)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.ReplaceAll(b, []byte(plan.SHA256()), []byte(old)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// withoutTwin is smallPlan without the A/A pair.
func withoutTwin(t *testing.T) string {
	t.Helper()
	i, j := strings.Index(smallPlan, "[[cell]]\nengine = \"pure\"\nlabel"), strings.Index(smallPlan, "[[cell]]\nengine = \"sqlitegrouped\"")
	if i < 0 || j < i {
		t.Fatal("smallPlan has changed")
	}
	return smallPlan[:i] + smallPlan[j:]
}

// outcomes are the verdicts' outcomes by decision.
func outcomes(s *Study) map[string]Outcome {
	m := map[string]Outcome{}
	for _, v := range s.Verdicts {
		m[v.Decision.Name] = v.Outcome
	}
	return m
}

func (s *Study) verdictOf(t *testing.T, name string) *Verdict {
	t.Helper()
	i := slices.IndexFunc(s.Verdicts, func(v Verdict) bool { return v.Decision.Name == name })
	if i < 0 {
		t.Fatalf("there is no decision %s, only %v", name, slices.Sorted(maps.Keys(outcomes(s))))
	}
	return &s.Verdicts[i]
}
