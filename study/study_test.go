package study

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tpccbench/engines"
	"tpccbench/engines/pure"
	"tpccbench/record"
)

// resumable makes a study's folder in which the gate and both runs of testPlan are done, and the options to go on.
func resumable(t *testing.T) (*Runner, Options) {
	t.Helper()
	var fs unix.Statfs_t
	if err := unix.Statfs("/dev/shm", &fs); err != nil || fs.Type != unix.TMPFS_MAGIC {
		t.Skip("no memory file system")
	}
	ram, err := os.MkdirTemp("/dev/shm", "tpccbench-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if entries, err := os.ReadDir(ram); err != nil || len(entries) > 0 {
			t.Errorf("left behind: %v %v", entries, err)
		}
		os.RemoveAll(ram)
	})
	dir := t.TempDir()
	r := testRunner(t, "complains") // a run that is not done already ends in a crash record
	r.Engines = []*engines.Factory{&pure.Factory, liar(func(s engines.Session) engines.Session { return s })}
	o := Options{PlanPath: filepath.Join(dir, "plan.toml"), Out: filepath.Join(dir, "o"), Dirs: map[string]string{"ram": ram}, Log: io.Discard}
	write(t, o.PlanPath, testPlan)

	s := &Study{runner: r, o: o, devices: map[string]Device{}, works: map[string]*workDir{}}
	if err := errors.Join(s.readPlan(), s.openOut()); err != nil {
		t.Fatal(err)
	}
	gate := &record.EqualGate{Format: record.GateFormat, Version: record.GateVersion, Name: "equal-w1", W: 1, Status: record.OK}
	if _, err := record.WriteGate(s.rawDir(), gate); err != nil {
		t.Fatal(err)
	}
	for _, run := range s.selectedRuns() {
		rec := record.New()
		rec.Study, rec.Phase, rec.Cell, rec.Round, rec.Order = "mini", run.Phase, run.Cell, run.Round, run.Order
		rec.Spec = record.Spec{Engine: run.Engine, Settings: run.Settings, Device: run.Device, Kind: run.Kind, W: run.W,
			Terminals: run.Terminals, Transport: "inproc", Seed: run.Seed, Mix: run.Mix, Seconds: run.Seconds}
		rec.Status, rec.Registration = record.OK, s.reg
		for _, column := range record.FigureColumns() {
			rec.Miss(column, "made for a test")
		}
		if _, err := record.Write(s.rawDir(), rec); err != nil {
			t.Fatal(err)
		}
	}
	s.lock.Close()
	o.Resume = true
	return r, o
}

// refused fails the test unless going on with the study ends with the error.
func refused(t *testing.T, r *Runner, o Options, want string) {
	t.Helper()
	if err := r.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

// TestResume: a study that is done runs nothing again; one of which a record is missing runs that one only. (Here each
// run that is made crashes in loading, so that the study stops there.)
func TestResume(t *testing.T) {
	r, o := resumable(t)
	var log strings.Builder
	o.Log = &log
	if err := r.Run(t.Context(), o); err != nil || !strings.HasPrefix(log.String(), "2 runs in ") {
		t.Fatalf("%v: %s", err, log.String())
	}
	for _, name := range []string{"matrix.csv", "plan.toml", "registration.json", "series/matrix-ram-w1-pure-1-r1.csv"} {
		if !exists(filepath.Join(o.Out, name)) {
			t.Errorf("%s is missing", name)
		}
	}
	if err := os.Remove(filepath.Join(o.Out, "raw", "matrix-ram-w1-pure-2-r1.json")); err != nil {
		t.Fatal(err)
	}
	refused(t, r, o, "stopped at run matrix-ram-w1-pure-2-r1: loading pure at W=1: the measuring process ended with exit status 7")
	refused(t, r, o, "go on with --resume --out "+o.Out)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Run(ctx, o); !errors.Is(err, ErrInterrupted) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestResumeRefuses: nothing goes on with a study that was changed, that is another one, or that is being carried out.
func TestResumeRefuses(t *testing.T) {
	r, o := resumable(t)
	fresh := o
	fresh.Resume = false
	refused(t, r, fresh, "holds the study mini already; go on with it by --resume")

	lock, err := lockDir(o.Out)
	if err != nil {
		t.Fatal(err)
	}
	refused(t, r, o, "another study is being carried out in it")
	lock.Close()

	write(t, o.PlanPath, strings.Replace(testPlan, "seed = 1", "seed = 2", 1))
	refused(t, r, o, "was registered with another plan")
	write(t, o.PlanPath, testPlan)

	quick := o
	quick.Quick = true
	refused(t, r, quick, "holds a study that is no quick run")

	raw := filepath.Join(o.Out, "raw")
	rewrite := func(name string, change func(m map[string]any)) (undo func()) {
		t.Helper()
		path := filepath.Join(raw, name)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		change(m)
		changed, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, string(changed))
		return func() { write(t, path, string(b)) }
	}
	run := "matrix-ram-w1-pure-1-r1.json"
	undo := rewrite(run, func(m map[string]any) { m["cell"] = "other" })
	refused(t, r, o, run+": the record inside is matrix-other-r1")
	undo()
	undo = rewrite(run, func(m map[string]any) { m["spec"].(map[string]any)["settings"] = map[string]string{"sync": "off"} })
	refused(t, r, o, "the records were changed")
	undo()
	undo = rewrite(run, func(m map[string]any) { m["status"], m["gate"], m["reason"] = "failed", "crash", "x" })
	if err := r.Run(t.Context(), o); !errors.Is(err, ErrGate) {
		t.Errorf("a failed run: %v", err)
	}
	undo()
	undo = rewrite("gate-equal-w1.json", func(m map[string]any) { m["status"], m["reason"] = "failed", "rows differ" })
	if err := r.Run(t.Context(), o); !errors.Is(err, ErrGate) || !strings.Contains(err.Error(), "rows differ") {
		t.Errorf("a broken gate: %v", err)
	}
	undo()
	write(t, filepath.Join(o.Out, "registration.json"), "{")
	refused(t, r, o, "registration.json: not a registration, or cut short")
	write(t, filepath.Join(o.Out, "registration.json"), `{"format":"x","version":1}`)
	refused(t, r, o, `registration.json: format "x" version 1`)
	if err := os.Remove(filepath.Join(o.Out, "registration.json")); err != nil {
		t.Fatal(err)
	}
	refused(t, r, o, "is not empty and holds no study")
}
