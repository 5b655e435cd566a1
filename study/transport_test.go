package study

import (
	"context"
	"errors"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"tpccbench/engines"
	"tpccbench/engines/null"
	"tpccbench/engines/pure"
	"tpccbench/record"
)

// TestTransport: a run over HTTP is refused by a program that has no such transport, and handed with its loaded data to
// the one that it has; what that returns becomes the run's record, its error that of the run.
func TestTransport(t *testing.T) {
	spec := nullSpec()
	spec.Transport, spec.CPUs, spec.LoadCPUs = record.TransportHTTP, "0", "1"
	r := testRunner(t, "complains") // its child is not asked
	work := loadedWork(t, &spec)
	if _, err := r.single(t.Context(), work, spec, Identity{}, nil); err == nil ||
		err.Error() != `transport "http" is not built into this program yet; it has "in-process"` {
		t.Errorf("without a transport: %v", err)
	}
	r.Transport = func(_ context.Context, got record.Spec, dir string, live func(Live)) (*TransportOutcome, error) {
		if got.CPUs != "0" || got.LoadCPUs != "1" || filepath.Dir(dir) != work.path {
			t.Errorf("%+v in %s", got, dir)
		}
		live(Live{Step: "serving"})
		run := record.New()
		run.Spec, run.Status = got, record.OK
		return &TransportOutcome{Run: run, Interrupted: true}, nil
	}
	shown := ""
	out, err := r.single(t.Context(), work, spec, Identity{Cell: "c"}, func(l Live) { shown = l.Step })
	if err != nil || out.run.Cell != "c" || !out.interrupted || shown != "serving" {
		t.Errorf("%+v, %v; shown %q", out, err, shown)
	}
	broken := errors.New("broken")
	r.Transport = func(context.Context, record.Spec, string, func(Live)) (*TransportOutcome, error) { return nil, broken }
	if _, err := r.single(t.Context(), work, spec, Identity{}, nil); !errors.Is(err, broken) {
		t.Errorf("the transport's error: %v", err)
	}
}

// TestPlanTransport: a plan with a run over HTTP is refused before anything is made, with the run's name; one with a list of
// processors that is none, with its line.
func TestPlanTransport(t *testing.T) {
	dir := t.TempDir()
	r := testRunner(t, "complains")
	o := Options{PlanPath: filepath.Join(dir, "plan.toml"), Out: filepath.Join(dir, "out"), Log: io.Discard}
	r.Engines = []*engines.Factory{&pure.Factory, liar(func(s engines.Session) engines.Session { return s })}
	plan := func(cpus string) string {
		return strings.Replace(testPlan, "[[cell]]\n", "[[cell]]\ntransport = \"http\"\ncpus = \""+cpus+"\"\n", 1)
	}
	write(t, o.PlanPath, plan("0"))
	refused(t, r, o, `transport "http" is not built into this program yet`)
	write(t, o.PlanPath, plan("0,0"))
	refused(t, r, o, `cpus: "0,0" names processor 0 twice`)
}

// TestOpenRun: a run of an open loop has what a closed one has and the columns that only it has, with a series of its
// backlog; one whose engine cannot keep up says so.
func TestOpenRun(t *testing.T) {
	spec := nullSpec()
	spec.Seconds, spec.RateTxPerS, spec.Arrivals = 1.2, 500, record.ArrivalsFixed
	list := []*engines.Factory{&null.Factory}
	ans := ask(t, list, &request{Op: opRun, Dir: t.TempDir(), WorkDir: t.TempDir(), Spec: spec})
	if ans.Error != "" || ans.Run == nil {
		t.Fatalf("%+v", ans)
	}
	run := ans.Run
	valid(t, run)
	// What is due in a window is a whole number: at most one from the rate times the window's length by the clock.
	due := (run.Figures["offered_tx_per_s"] - 500) * run.Figures["seconds"]
	if run.Status != record.OK || math.Abs(due) > 1.001 || !(run.Figures["latency_ns_p99"] > 0) || !(run.Figures["service_ns_p99"] > 0) {
		t.Errorf("status %s, %v", run.Status, run.Figures)
	}
	for i, s := range run.Series {
		if s.BacklogMax == nil || s.BacklogEnd == nil || *s.BacklogMax < *s.BacklogEnd {
			t.Errorf("second %d has the backlogs %v and %v", i+1, s.BacklogMax, s.BacklogEnd)
		}
	}

	// No engine runs ten million transactions in a second with one terminal.
	spec.Seconds, spec.RateTxPerS, spec.Terminals = 0.2, record.MaxRate, 1
	ans = ask(t, list, &request{Op: opRun, Dir: t.TempDir(), WorkDir: t.TempDir(), Spec: spec})
	if ans.Error != "" || ans.Run == nil {
		t.Fatalf("%+v", ans)
	}
	run = ans.Run
	valid(t, run)
	if run.Figures["kept_up"] != 0 || !(run.Figures["backlog_end"] > 0) || !strings.Contains(strings.Join(run.Warnings, "\n"), "the engine did not keep up: 10000000 transactions/s were offered") {
		t.Errorf("kept_up %v, backlog_end %v, warnings %q", run.Figures["kept_up"], run.Figures["backlog_end"], run.Warnings)
	}
}
