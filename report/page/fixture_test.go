package page

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"tpccbench/matrix"
	"tpccbench/probe"
	"tpccbench/procsample"
	"tpccbench/record"
	"tpccbench/report"
	"tpccbench/tpcc"
)

// tinyPlan has all that a page can show: two devices, a tuning, an A/A pair, a decision that can be decided and one that
// cannot.
const tinyPlan = `format = "tpccbench.plan"
version = 1
name = "tiny"
title = "A made-up study"
seed = 7
order_seed = 1

[[device]]
name = "ram"
kind = "memory"
seconds = 6
warm_up_seconds = 0
rounds = 3

[[device]]
name = "sd"
kind = "disk"
seconds = 6
warm_up_seconds = 0
rounds = 3

[gates]
equal_transactions = 100
equal_engines = ["pure", "sqlitegrouped"]
equal_device = "ram"
published_clauses = [1]
checked_clauses = [2]
max_failures = 0

[[tuning]]
device = "sd"
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
report = ["tx_per_s", "rss_bytes"]

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
claim = "More terminals gain nothing."
if_true = "They gain nothing."
if_false = "They gain."

[[decision.condition]]
statistic = "ratio"
column = "tx_per_s"
cells = ["ram-w1-pure-8"]
over_cells = ["ram-w1-pure-4"]
holds_for = "all"
comparison = "below"
threshold = 1.5
`

// fixture is a made-up study of tinyPlan.
type fixture struct {
	plan        string // empty: tinyPlan
	exploratory []string
	each        func(r *record.Run) // changes a run before it is written
}

var begin = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

const machineFacts = `{"cpu_model":"Made-up 1","cores_usable":2,"memory_bytes":8000000000,"swap_bytes":{"unmeasured":"there is none"},"kernel":"6.1","arch":"amd64"}`

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write writes the study into a new folder called tiny, as tpccbench run leaves it.
func (f fixture) write(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tiny")
	raw := filepath.Join(dir, "raw")
	must(t, os.MkdirAll(raw, 0o755))
	source := cmp.Or(f.plan, tinyPlan)
	plan, err := matrix.Parse("plan.toml", []byte(source))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "plan.toml"), []byte(source), 0o644))
	reg := record.Registration{PlanSHA256: plan.SHA256(), PlanCommit: "c0ffee", Exploratory: f.exploratory != nil}
	must(t, record.WriteRegistration(dir, &record.StudyRegistration{
		Format: record.RegistrationFormat, Version: record.RegistrationVersion, Study: plan.Name, Registered: begin, Plan: reg,
		PlanForm: matrix.IdentityForm, Exploratory: f.exploratory, Build: record.Build{ToolCommit: "deadbeef", GoVersion: "go1.26.8"},
		Machine: json.RawMessage(machineFacts),
	}))
	for _, p := range plan.Gates() {
		g := &record.EqualGate{Format: record.GateFormat, Version: record.GateVersion, Study: plan.Name, Name: p.Name, W: p.W, Seed: p.Seed,
			Transactions: p.Transactions, Status: record.OK, Started: begin.Add(time.Second), Ended: begin.Add(2 * time.Second), InputDigest: "11", Registration: reg}
		for _, e := range p.Engines {
			g.Engines = append(g.Engines, record.EqualEngine{Engine: e, Commits: 99, Rollbacks: 1, RowsDigest: "2222222222222222"})
		}
		_, err := record.WriteGate(raw, g)
		must(t, err)
		must(t, record.AppendSum(dir, p.ID()+".json", ""))
	}
	var runs []*record.Run
	add := func(list []matrix.Run) {
		for i := range list {
			r := runOf(t, &list[i], reg, plan.Name, len(runs))
			if f.each != nil {
				f.each(r)
			}
			_, err := record.Write(raw, r)
			must(t, err)
			must(t, record.AppendSum(dir, r.Name()+".json", ""))
			runs = append(runs, r)
		}
	}
	add(plan.TuningRuns())
	results := map[string]float64{}
	for _, r := range runs {
		results[r.Name()] = r.Figures["tx_per_s"]
	}
	var choices []matrix.Choice
	chosen := map[string]map[string]string{}
	for i := range plan.Tunings {
		choice, err := plan.Tunings[i].Choose(results)
		must(t, err)
		choices = append(choices, choice)
		chosen[choice.Device] = choice.Settings
	}
	b, err := json.Marshal(choices)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "choices.json"), b, 0o644))
	add(plan.MatrixRuns(chosen))
	var csv bytes.Buffer
	must(t, record.WriteCSV(&csv, runs))
	must(t, os.WriteFile(filepath.Join(dir, "matrix.csv"), csv.Bytes(), 0o644))
	return dir
}

// load writes the study and loads it.
func (f fixture) load(t *testing.T) *report.Study {
	t.Helper()
	s, err := report.Load(f.write(t))
	must(t, err)
	return s
}

// runOf makes the record of a run of six seconds: pure makes 2,000 transactions a second with 4 terminals and 50 % more
// with 8, its twin 1 % less, sqlitegrouped 500 and 600, the candidate cache 20 % more; half of that on the disk; each
// round 1 % more than the one before. In the fourth second a checkpoint runs and a quarter is made.
func runOf(t *testing.T, p *matrix.Run, reg record.Registration, study string, n int) *record.Run {
	t.Helper()
	rate := map[string]float64{"pure": 2000, "pure-twin": 1980, "sqlitegrouped": 500, "sqlite": 300, "sqlitegrouped-tuned": 550}[p.Label]
	if p.Terminals == 8 {
		rate *= map[string]float64{"pure": 1.5, "sqlitegrouped": 1.2}[p.Engine]
	}
	if p.Candidate == "cache" {
		rate *= 1.2
	}
	disk := p.Kind == matrix.KindDisk
	if disk {
		rate /= 2
	}
	rate *= 1 + 0.01*float64(p.Round-1)

	r := record.New()
	r.Study, r.Phase, r.Cell, r.Label, r.Candidate, r.Round, r.Order = study, p.Phase, p.Cell, p.Label, p.Candidate, p.Round, p.Order
	r.Spec = record.Spec{Engine: p.Engine, Settings: p.Settings, Device: p.Device, Kind: p.Kind, W: p.W, Terminals: p.Terminals,
		Transport: record.TransportInProcess, Seed: p.Seed, Mix: p.Mix, Seconds: p.Seconds, WarmUp: p.WarmUpSeconds}
	r.Status = record.OK
	r.Started = begin.Add(time.Duration(n+1) * time.Minute)
	r.Ended = r.Started.Add(10 * time.Second)
	for _, name := range record.FigureColumns() {
		r.Miss(name, "not in this fixture")
	}
	var completed int64
	for i := range 6 {
		k := int64(rate)
		s := record.Second{Second: i + 1, LatencyNSMax: 900_000}
		p99, rss, none := int64(400_000), int64(100+10*i)<<20, int64(0)
		s.LatencyNSP99, s.RSSBytes, s.CheckpointBytes, s.CheckpointNS = &p99, &rss, &none, &none
		if i == 3 {
			k /= 4
			bytes, ns := int64(1<<20), int64(800_000_000)
			s.CheckpointBytes, s.CheckpointNS = &bytes, &ns
		}
		s.Transactions = k
		completed += k
		r.Series = append(r.Series, s)
	}
	counts := map[tpcc.Type]int64{tpcc.TxPayment: completed * 43 / 100, tpcc.TxOrderStatus: completed / 25, tpcc.TxDelivery: completed / 25, tpcc.TxStockLevel: completed / 25}
	counts[tpcc.TxNewOrder] = completed - counts[tpcc.TxPayment] - 3*(completed/25)
	longest := 0.0
	r.Histograms = map[string]string{}
	for _, typ := range tpcc.Types {
		h := hdrhistogram.New(1, int64(100*time.Second), 3)
		highest := int64(0)
		for i := range counts[typ] {
			// The share 1/k of the transactions takes at least 20 us times the square root of k.
			v := int64(20_000 * math.Sqrt(float64(counts[typ])/float64(i+1)) * (1 + float64(p.Terminals)/8))
			highest = max(highest, v)
			must(t, h.RecordValue(v))
		}
		encoded, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		must(t, err)
		r.Histograms[typ.String()] = string(encoded)
		r.Set("count_"+typ.String(), float64(counts[typ]))
		r.Set("latency_ns_max_"+typ.String(), float64(highest))
		for name, percentile := range map[string]float64{"p50": 50, "p90": 90, "p99": 99, "p999": 99.9} {
			r.Set("latency_ns_"+name+"_"+typ.String(), math.Min(float64(h.ValueAtPercentile(percentile)), float64(highest)))
		}
		longest = math.Max(longest, float64(highest))
	}
	r.Series[3].LatencyNSMax = int64(longest)
	for i := range r.Series {
		r.Series[i].LatencyNSMax = min(r.Series[i].LatencyNSMax, int64(longest))
	}
	figures := map[string]float64{
		"seconds": 6, "tx_per_s": float64(completed) / 6, "nopm": 60 * float64(counts[tpcc.TxNewOrder]) / 6, "attempts": float64(completed),
		"commits": float64(completed - 4), "rollbacks": 4, "failures": 0, "cpu_us_per_tx": 250_000 / rate, "driver_cpu_us_per_tx": 0.2,
		"rss_bytes": 150 << 20, "peak_rss_bytes": 160 << 20, "state_bytes": 50 << 20, "checkpoints": 1, "checkpoint_ns": 8e8, "calibration_ns": 5e7 + float64(n)*1e5,
		"psi_cpu_share": 0.1, "steal_share": 0, "gc_cpu_share": 0.02, "log_bytes_per_tx": 120, "latency_ns_p99_in_checkpoint": 9e5,
		"latency_ns_p99_outside_checkpoint": 4e5, "commits_durable": float64(completed) / float64(p.Terminals),
	}
	if disk {
		figures["device_bytes_per_tx"], figures["checkpoint_bytes_per_tx"], figures["device_flushes_per_tx"] = 1_000_000/rate, 200, 0.1
	}
	if p.Engine == "pure" {
		figures["owner_core_share"] = 0.9
	}
	for name, v := range figures {
		r.Set(name, v)
	}
	r.EngineSettings = map[string]string{"version": "1", "page_size": "4096"}
	if p.Label == "sqlitegrouped" && disk {
		r.EngineSettings["page_size"] = "1024"
	}
	r.Build = record.Build{ToolCommit: "deadbeef", GoVersion: "go1.26.8", CGOCFlags: "-O2"}
	r.Registration = reg
	r.Machine = json.RawMessage(machineFacts)
	r.Storage = json.RawMessage(fmt.Sprintf(`{"fs_type":%q}`, map[bool]string{true: "ext4", false: "tmpfs"}[disk]))
	return r
}

// probes is what the fixture's disk can do.
func probes() map[string]*probe.Result {
	return map[string]*probe.Result{"sd": {
		Format: probe.Format, Version: probe.Version, Write: probe.Write{BytesPerS: 5e6},
		Syncs: []probe.Sync{{File: probe.Preallocated, BlockBytes: 4096, Syncs: 100, SyncsPerS: 1000, LatencyNSP50: 900_000, LatencyNSP90: 1_000_000,
			LatencyNSP99: 2_000_000, LatencyNSMax: 5_000_000, DeviceFlushesPerSync: procsample.Share{F: 1}, DeviceWritesPerSync: procsample.Share{F: 1},
			DeviceSectorsPerSync: procsample.Share{Reason: "the device does not count"}}},
	}}
}
