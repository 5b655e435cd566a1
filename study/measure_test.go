package study

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"tpccbench/engines"
	"tpccbench/engines/null"
	"tpccbench/engines/pure"
	"tpccbench/procsample"
	"tpccbench/record"
)

// ask sends the request to a Child in this process and returns its answer.
func ask(t *testing.T, list []*engines.Factory, req *request) *answer {
	t.Helper()
	in, ask := io.Pipe() // stays open: its end would mean that the parent is gone
	go func() { _ = json.NewEncoder(ask).Encode(req) }()
	var out bytes.Buffer
	if err := Child(list, in, &out); err != nil {
		t.Fatal(err)
	}
	messages, done := make(chan *message), make(chan error, 1)
	go func() {
		done <- readMessages(&out, messages)
		close(messages)
	}()
	var ans *answer
	for m := range messages {
		if ans != nil {
			t.Error("something follows the answer")
		}
		ans = m.Answer
	}
	if err := <-done; err != nil || ans == nil {
		t.Fatalf("answer %v, error %v", ans, err)
	}
	return ans
}

// valid fails the test unless the run has each figure, or a reason, once it is given its identity.
func valid(t *testing.T, run *record.Run) {
	t.Helper()
	run.Study, run.Phase, run.Cell, run.Round = "s", record.PhaseCell, "c", 1
	if err := run.Validate(); err != nil {
		t.Error(err)
	}
	if len(run.Figures)+len(run.Missing) != len(record.FigureColumns()) {
		t.Errorf("%d figures and %d missing ones", len(run.Figures), len(run.Missing))
	}
}

// TestRunOfNull: a run of the engine that stores nothing measures the driver, and says why it has no store's figures.
func TestRunOfNull(t *testing.T) {
	spec := nullSpec()
	spec.Seconds = 1.2
	ans := ask(t, []*engines.Factory{&null.Factory}, &request{Op: opRun, Dir: t.TempDir(), WorkDir: t.TempDir(), Spec: spec})
	if ans.Error != "" || ans.Run == nil {
		t.Fatalf("%+v", ans)
	}
	run := ans.Run
	valid(t, run)
	if run.Status != record.OK || !strings.Contains(strings.Join(run.Warnings, "\n"), "null stores nothing") {
		t.Errorf("status %q, reason %q, warnings %q", run.Status, run.Reason, run.Warnings)
	}
	for _, column := range []string{"tx_per_s", "nopm", "commits", "count_payment", "latency_ns_p99_new_order", "cpu_us_per_tx",
		"driver_cpu_us_per_tx", "rss_bytes", "calibration_ns"} {
		if !(run.Figures[column] > 0) {
			t.Errorf("%s is %v", column, run.Figures[column])
		}
	}
	for _, column := range []string{"gc_cpu_share", "gc_cycles", "checkpoint_ns", "checkpoint_bytes_per_tx", "temp_bytes_per_tx"} {
		if v, has := run.Figures[column]; !has || v < 0 {
			t.Errorf("%s is %v, missing for %q", column, v, run.Missing[column])
		}
	}
	if !(run.Figures["latency_ns_p99_outside_checkpoint"] > 0) {
		t.Errorf("latency_ns_p99_outside_checkpoint is missing for %q; no checkpoint ran", run.Missing["latency_ns_p99_outside_checkpoint"])
	}
	for _, column := range []string{"store_bytes", "state_bytes", "owner_core_share", "latency_ns_p99_in_checkpoint", "busy_apply_us_per_tx"} {
		if run.Missing[column] == "" {
			t.Errorf("%s is %v, and must be missing", column, run.Figures[column])
		}
	}
	var sum int64
	for i, s := range run.Series {
		sum += s.Transactions
		if s.Second != i+1 {
			t.Errorf("second %d is called %d", i+1, s.Second)
		}
	}
	if total := run.Figures["attempts"]; float64(sum) != total || len(run.Series) < 2 {
		t.Errorf("%d seconds have %d transactions, the window %v", len(run.Series), sum, total)
	}
	if run.Started.IsZero() || run.Ended.Before(run.Started) || len(run.Machine) == 0 || len(run.Storage) == 0 || len(run.Histograms) == 0 {
		t.Error("times, machine, storage or histograms are missing")
	}
}

// TestGatesOfLiars: a run whose engine fails, or acknowledges what it did not do, is a failed record that names the
// gate, with all its figures.
func TestGatesOfLiars(t *testing.T) {
	for _, c := range []struct {
		name string
		lie  func(engines.Session) engines.Session
		gate string
	}{
		{"honest", func(s engines.Session) engines.Session { return s }, ""},
		{"failing", func(s engines.Session) engines.Session { return failing{s} }, record.GateFailures},
		{"forgetful", func(s engines.Session) engines.Session { return forgetful{s} }, record.GateAcked},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			list, dir, spec := []*engines.Factory{liar(c.lie)}, t.TempDir(), nullSpec()
			spec.Engine, spec.Seconds, spec.Transactions, spec.Terminals = "liar", 0, 60, 1
			if ans := ask(t, list, &request{Op: opLoad, Dir: dir, WorkDir: t.TempDir(), Spec: spec}); ans.Error != "" {
				t.Fatal(ans.Error)
			}
			ans := ask(t, list, &request{Op: opRun, Dir: dir, WorkDir: t.TempDir(), Spec: spec})
			if ans.Run == nil {
				t.Fatalf("%+v", ans)
			}
			valid(t, ans.Run)
			if ans.Run.Gate != c.gate || (ans.Run.Status == record.OK) != (c.gate == "") {
				t.Errorf("status %q, gate %q, reason %q", ans.Run.Status, ans.Run.Gate, ans.Run.Reason)
			}
			if c.gate == "" && (ans.Run.Digests["rows"] == "" || ans.Run.Digests["inputs"] == "" || ans.Run.RowCounts["history"] <= 30_000) {
				t.Errorf("digests %v, rows %v", ans.Run.Digests, ans.Run.RowCounts)
			}
		})
	}
}

// TestBadRequests: what cannot be measured is an error in the answer; what is no request is an error.
func TestBadRequests(t *testing.T) {
	list := []*engines.Factory{&pure.Factory}
	gone, mix, op := nullSpec(), nullSpec(), nullSpec()
	mix.Engine, mix.Mix = "pure", []int{1}
	for want, req := range map[string]*request{
		`there is no engine "null"; there are: pure`: {Op: opRun, Spec: gone},
		"the mix has 1 weights, not 5":               {Op: opRun, Spec: mix},
		`unknown request "dance"`:                    {Op: "dance", Spec: op},
	} {
		req.Dir, req.WorkDir = t.TempDir(), t.TempDir()
		if ans := ask(t, list, req); ans.Error != want || ans.Run != nil {
			t.Errorf("answer %+v; want %q", ans, want)
		}
	}
	if err := Child(list, strings.NewReader("hello"), io.Discard); err == nil {
		t.Error("a request that is none was accepted")
	}
}

// TestFlushGate: on a disk, fewer flushes than durable commits break the gate, but for what may fall on the window's
// edges, a device without a volatile cache, and figures that are not there.
func TestFlushGate(t *testing.T) {
	absent := procsample.Value{Reason: "no counter"}
	for _, c := range []struct {
		name             string
		kind, cache      string
		notAStore        bool
		commits, flushes int64
		noCounter        bool
		gate             string
		warnings         int
	}{
		{name: "one each", kind: record.KindDisk, cache: "write back", commits: 100, flushes: 100},
		{name: "others flush too", kind: record.KindDisk, cache: "write back", commits: 100, flushes: 1000},
		{name: "at the edges", kind: record.KindDisk, cache: "write back", commits: 100, flushes: 98},
		{name: "too few", kind: record.KindDisk, cache: "write back", commits: 100, flushes: 97, gate: record.GateDurable},
		{name: "none", kind: record.KindDisk, cache: "write back", commits: 100, gate: record.GateDurable},
		{name: "cache not known", kind: record.KindDisk, commits: 100, gate: record.GateDurable},
		{name: "no volatile cache", kind: record.KindDisk, cache: "write through", commits: 100, warnings: 1},
		{name: "flushes in spite of it", kind: record.KindDisk, cache: "write through", commits: 100, flushes: 50, gate: record.GateDurable},
		{name: "memory", kind: record.KindMemory, commits: 100},
		{name: "no counter", kind: record.KindDisk, cache: "write back", commits: 100, noCounter: true, warnings: 1},
		{name: "commits not known", kind: record.KindDisk, cache: "write back", commits: engines.Unknown, warnings: 1},
		{name: "not a store", kind: record.KindDisk, cache: "write back", commits: 100, notAStore: true},
	} {
		m := &measurement{
			spec: &record.Spec{Kind: c.kind}, factory: &engines.Factory{NotAStore: c.notAStore}, run: record.New(), sampler: new(procsample.Sampler),
		}
		m.run.Status = record.OK
		m.sampler.Data.Blocks = []procsample.Block{{WriteCache: c.cache}}
		m.before, m.after = procsample.Sample{At: time.Now()}, procsample.Sample{At: time.Now()}
		m.before.Data.Flushes.N, m.after.Data.Flushes.N = 7, 7+c.flushes
		if c.noCounter {
			m.after.Data.Flushes = absent
		}
		m.factsBefore.Commits, m.factsAfter.Commits = 5, 5+c.commits
		if c.commits == engines.Unknown {
			m.factsBefore.Commits, m.factsAfter.Commits = engines.Unknown, engines.Unknown
		}
		m.checkFlushes()
		if m.run.Gate != c.gate || len(m.run.Warnings) != c.warnings {
			t.Errorf("%s: gate %q, warnings %q", c.name, m.run.Gate, m.run.Warnings)
		}
	}
}
