package study

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tpccbench/engines"
	"tpccbench/engines/pure"
	"tpccbench/matrix"
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
	t.Setenv("TMPDIR", t.TempDir()) // the machine's lock: other tests make studies too
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
			Terminals: run.Terminals, Transport: record.TransportInProcess, Seed: run.Seed, Mix: run.Mix, Seconds: run.Seconds}
		rec.Status, rec.Registration = record.OK, s.reg
		for _, column := range record.FigureColumns() {
			rec.Miss(column, "made for a test")
		}
		if _, err := record.Write(s.rawDir(), rec); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range s.locks {
		f.Close()
	}
	rewriteSums(t, o.Out)
	o.Resume = true
	return r, o
}

// rewriteSums makes raw.sha256 anew from the records that are there.
func rewriteSums(t *testing.T, out string) {
	t.Helper()
	if err := os.Remove(filepath.Join(out, record.SumsName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(out, "raw"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := record.AppendSum(out, e.Name(), ""); err != nil {
			t.Fatal(err)
		}
	}
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
	if err := r.Run(t.Context(), o); err != nil || !strings.Contains(log.String(), "\n2 runs in ") || strings.Contains(log.String(), "matrix-") {
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
	refused(t, r, o, "raw/matrix-ram-w1-pure-2-r1.json was written and is gone; put it back")
	rewriteSums(t, o.Out)
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
	refused(t, r, o, "plan.toml was changed since it was registered in "+o.Out+": seed was 1, is now 2; a changed plan is another study")
	write(t, o.PlanPath, strings.Replace(testPlan, "seconds = 1", "seconds = 1.5", 1))
	refused(t, r, o, ": device[0].seconds was 1, is now 1.5; a changed plan")
	write(t, o.PlanPath, "# a comment\n"+testPlan) // the same plan
	if err := r.Run(t.Context(), o); err != nil {
		t.Errorf("with a comment: %v", err)
	}
	write(t, filepath.Join(o.Out, "plan.toml"), strings.Replace(testPlan, "seed = 1", "seed = 2", 1))
	refused(t, r, o, "plan.toml was altered since it was registered")
	write(t, filepath.Join(o.Out, "plan.toml"), testPlan)
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
		refused(t, r, o, "raw/"+name+" was altered since it was written")
		rewriteSums(t, o.Out) // a change that is hidden in raw.sha256 too
		return func() { write(t, path, string(b)); rewriteSums(t, o.Out) }
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

// TestKilledBeforeRegistration: the folder of a study that was killed before it was registered is used again, unless
// somebody's records are in it.
func TestKilledBeforeRegistration(t *testing.T) {
	_, o := resumable(t)
	plan, err := matrix.Read(o.PlanPath)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"": "", ".tmp-123": "", "plan.toml": "", "raw/matrix-a-r1.json": "holds no study, but records", "notes": "is not empty and holds no study"} {
		o.Out = filepath.Join(t.TempDir(), "o")
		mkdir(t, filepath.Dir(o.Out), "o")
		if err := errors.Join(os.Remove(filepath.Join(o.Out, "data")), os.Mkdir(filepath.Join(o.Out, "raw"), 0o755)); err != nil {
			t.Fatal(err)
		}
		if name != "" {
			write(t, filepath.Join(o.Out, name), "x")
		}
		err := (&Study{o: o, plan: plan}).register()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q in it: %v; want %q", name, err, want)
		}
		if name != "" && exists(filepath.Join(o.Out, name)) != (want != "" || name == "plan.toml") {
			t.Errorf("%q in it: it is there afterwards: %v", name, exists(filepath.Join(o.Out, name)))
		}
	}
}

// TestSumsOnResume: a record whose line was not written, because the study was killed in between, gets it under a note; a
// torn line is cut off; a line of another form is refused.
func TestSumsOnResume(t *testing.T) {
	r, o := resumable(t)
	path := filepath.Join(o.Out, record.SumsName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	last := lines[len(lines)-2]
	for name, torn := range map[string]string{"not written": "", "torn": last[:len(last)/2], "torn before its line feed": last[:len(last)-1]} {
		write(t, path, strings.Join(lines[:len(lines)-2], "")+torn)
		if err := r.Run(t.Context(), o); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if text := string(b); !strings.HasSuffix(text, "was there without one when the study was resumed\n"+last) {
			t.Errorf("%s:\n%s", name, text)
		}
		if sums, err := record.ReadSums(o.Out); err != nil || len(sums.Names) != 3 || len(sums.Notes) != 1 {
			t.Errorf("%s: %+v %v", name, sums, err)
		}
	}
	write(t, path, string(whole)+"x\n")
	refused(t, r, o, `raw.sha256:4: "x" is no line of it`)
	write(t, path, string(whole)+last)
	refused(t, r, o, "raw.sha256:4: matrix-ram-w1-pure-2-r1.json is there twice")
}

// TestFirstVersion: a study that was registered by the first version of this program, with the plan's hash in the first
// form and without raw.sha256, goes on.
func TestFirstVersion(t *testing.T) {
	r, o := resumable(t)
	plan, err := matrix.Read(o.PlanPath)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := plan.SHA256Form(matrix.IdentityForm1)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(o.Out, record.RegistrationName), `{"format":"tpccbench.registration","version":1,"study":"mini",
		"registered":"2026-11-30T20:56:11Z","plan":{"plan_sha256":"`+sum+`","exploratory":true,"quick":false},"build":{},"machine":{}}`)
	if err := os.Remove(filepath.Join(o.Out, record.SumsName)); err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context(), o); err != nil {
		t.Error(err)
	}
	if sums, err := record.ReadSums(o.Out); err != nil || len(sums.Names) != 3 || len(sums.Notes) != 3 {
		t.Errorf("%+v %v", sums, err)
	}
}

// TestOneStudyPerMachine: a study does not begin while another one goes on, in whatever folder.
func TestOneStudyPerMachine(t *testing.T) {
	r, o := resumable(t)
	lock, err := lockMachine(machineLockPath(), "elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	refused(t, r, o, fmt.Sprintf("a study or a cell is being carried out on this machine already, by process %d in ", os.Getpid()))
	lock.Close()
	if err := r.Run(t.Context(), o); err != nil {
		t.Error(err)
	}
}
