package study

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tpccbench/engines"
	"tpccbench/engines/null"
	"tpccbench/engines/pure"
	"tpccbench/matrix"
	"tpccbench/record"
)

// misbehaviour, set in the environment, makes the test binary a measuring process that behaves as it says.
const misbehaviour = "TPCCBENCH_TEST_CHILD"

// serverFault, set in the environment, makes the test binary a server process that fails as it says.
const serverFault = "TPCCBENCH_TEST_SERVER"

// servedEngines are the engines of the test binary as a server process.
func servedEngines() []*engines.Factory {
	named := func(name string, lie func(engines.Session) engines.Session) *engines.Factory {
		f := liar(lie)
		f.Name = name
		return f
	}
	return []*engines.Factory{&null.Factory, &pure.Factory, named("failing", func(s engines.Session) engines.Session { return failing{s} }),
		named("forgetful", func(s engines.Session) engines.Session { return forgetful{s} })}
}

// serveAsChild is the test binary as a server process.
func serveAsChild() {
	switch os.Getenv(serverFault) {
	case "cannot":
		fmt.Fprintln(os.Stderr, "cannot open")
		os.Exit(2)
	case "dies":
		go func() {
			time.Sleep(500 * time.Millisecond)
			panic("the device is gone")
		}()
	}
	if err := ServeChild(servedEngines(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(0)
}

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == ServerCommand {
		serveAsChild()
	}
	if how := os.Getenv(misbehaviour); how != "" {
		misbehave(how)
	}
	os.Exit(m.Run())
}

func misbehave(how string) {
	switch how {
	case "panics":
		panic("the engine is broken")
	case "exits":
		os.Exit(0)
	case "complains":
		fmt.Fprintln(os.Stderr, "no more\nmemory")
		os.Exit(7)
	case "garbage":
		fmt.Println("sqlite: debugging")
		select {}
	case "hangs":
		select {}
	case "ticks": // lives, and gets nowhere
		for {
			fmt.Println(`{"live":{"step":"checking"}}`)
			time.Sleep(50 * time.Millisecond)
		}
	case "forks": // hangs, and has started another process, which holds its output open
		if os.Getenv("TPCCBENCH_TEST_GRANDCHILD") == "" {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), "TPCCBENCH_TEST_GRANDCHILD=1")
			c.Stdout = os.Stdout
			_ = c.Start()
		}
		select {}
	case "is full":
		fmt.Println(`{"answer":{"error":"cannot open: no space left on device","out_of_space":true}}`)
	case "lingers": // answers nothing, closes its output and stays
		os.Stdout.Close()
		select {}
	case "killed":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "says no":
		fmt.Println(`{"answer":{"error":"cannot"}}`)
	case "says nothing of value":
		fmt.Println(`{"answer":{}}`)
	}
	os.Exit(0)
}

// testRunner starts the test binary as the measuring process.
func testRunner(t *testing.T, how string) *Runner {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(misbehaviour, how)
	return &Runner{Exe: exe, Engines: []*engines.Factory{&null.Factory}}
}

func nullSpec() record.Spec {
	return record.Spec{Engine: "null", Device: "ram", Kind: record.KindMemory, W: 1, Terminals: 2, Transport: record.TransportInProcess, Seed: 1,
		Mix: []int{45, 43, 4, 4, 4}, Seconds: 0.1}
}

// loadedWork is a work directory in which the data for the spec is there already.
func loadedWork(t *testing.T, spec *record.Spec) *workDir {
	t.Helper()
	work, err := newWorkDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = work.remove() })
	mkdir(t, work.path, loadedName(&null.Factory, spec))
	return work
}

// TestCrashRecords: a measuring process that ends without a result, in whatever way, becomes a failed record that says
// how in one line, with each figure missing for a reason, and its copy of the data is removed.
func TestCrashRecords(t *testing.T) {
	for how, want := range map[string]string{
		"panics":    "the measuring process ended with exit status 2; it said: panic: the engine is broken",
		"exits":     "the measuring process ended without an answer",
		"complains": "the measuring process ended with exit status 7; it said: no more memory",
		"garbage":   "the measuring process's answer cannot be read: invalid character 's' looking for beginning of value",
		"hangs":     "the measuring process said nothing for 1s and was killed",
		"ticks":     `the measuring process took longer than 1s, its last step was "checking", and was killed`,
		"forks":     "the measuring process said nothing for 1s and was killed",
		"lingers":   "the measuring process ended with signal: killed",
		"killed":    "the measuring process ended with signal: killed",
		"says no":   "cannot",
	} {
		t.Run(how, func(t *testing.T) {
			r, spec := testRunner(t, how), nullSpec()
			switch how {
			case "hangs", "lingers", "forks":
				r.silence = time.Second // the others are not waited for
			case "ticks":
				r.limit = time.Second
			}
			work := loadedWork(t, &spec)
			id := Identity{Study: "s", Phase: record.PhaseMatrix, Cell: "c", Round: 1, Order: 1}
			out, err := r.single(t.Context(), work, spec, id, nil)
			if err != nil || out.interrupted || out.outOfSpace || out.slept != "" {
				t.Fatalf("%+v, error %v", out, err)
			}
			run := out.run
			if run.Status != record.Failed || run.Gate != record.GateCrash || run.Reason != want {
				t.Errorf("status %q, gate %q, reason %q; want the reason %q", run.Status, run.Gate, run.Reason, want)
			}
			for _, column := range record.FigureColumns() {
				if run.Missing[column] == "" {
					t.Errorf("%s is not missing", column)
				}
			}
			if err := run.Validate(); err != nil {
				t.Error(err)
			}
			if how == "panics" && (len(run.Warnings) != 1 || !strings.Contains(run.Warnings[0], "process_test.go")) {
				t.Errorf("the panic's stack is not kept: %q", run.Warnings)
			}
			if exists(filepath.Join(work.path, "run")) {
				t.Error("the copy of the data is left")
			}
		})
	}
}

// TestNoRecord: without a run in the answer, and when loading fails, there is an error and no record.
func TestNoRecord(t *testing.T) {
	spec := nullSpec()
	r := testRunner(t, "says nothing of value")
	if out, err := r.single(t.Context(), loadedWork(t, &spec), spec, Identity{}, nil); err == nil || out.run != nil {
		t.Errorf("record %v, error %v", out.run, err)
	}
	// A crash in loading is a crash: exit code 1, not that of bad arguments.
	r = testRunner(t, "complains")
	if _, err := r.Cell(t.Context(), Device{Name: "x", Dir: t.TempDir()}, spec, Identity{}, 0, nil); !errors.Is(err, ErrGate) ||
		err.Error() != "loading null at W=1: the measuring process ended with exit status 7; it said: no more memory" {
		t.Errorf("a failed load: %v", err)
	}
	r.Exe = filepath.Join(t.TempDir(), "gone")
	if _, err := r.single(t.Context(), loadedWork(t, &spec), spec, Identity{}, nil); err == nil || !strings.Contains(err.Error(), r.Exe) {
		t.Errorf("a program that is gone: %v", err)
	}
}

// TestInterruptedChild: after an interruption, a child that crashes or loads is an interrupted run, not a crash.
func TestInterruptedChild(t *testing.T) {
	r, spec := testRunner(t, "hangs"), nullSpec()
	for _, op := range []string{opLoad, opRun} {
		ctx, cancel := context.WithCancel(t.Context())
		timer := time.AfterFunc(300*time.Millisecond, cancel)
		_, err := r.runChild(ctx, &request{Op: op, Spec: spec}, nil)
		timer.Stop()
		if ctx.Err() == nil {
			t.Fatalf("%s ended before the interruption: %v", op, err)
		}
		if op == opLoad && !errors.Is(err, ErrInterrupted) {
			t.Errorf("%s: %v", op, err)
		}
		if _, err := r.single(ctx, loadedWork(t, &spec), spec, Identity{}, nil); !errors.Is(err, ErrInterrupted) {
			t.Errorf("a run after the interruption: %v", err)
		}
		cancel()
	}
}

// TestOutOfSpace: a device that is full is no gate that was broken, in loading and in a run, whoever says it.
func TestOutOfSpace(t *testing.T) {
	for _, err := range []error{syscall.ENOSPC, syscall.EDQUOT, fmt.Errorf("copy: %w", &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}),
		fmt.Errorf("loading: %w", &childError{outOfSpace: true})} {
		if !outOfSpace(err) || errors.Is(err, ErrGate) {
			t.Errorf("%v: out of space %v, a gate %v", err, outOfSpace(err), errors.Is(err, ErrGate))
		}
	}
	for _, err := range []error{nil, syscall.EIO, &childError{text: "no space left on device"}} {
		if outOfSpace(err) {
			t.Errorf("%v is out of space", err)
		}
	}
	r, spec := testRunner(t, "is full"), nullSpec()
	if _, err := r.Cell(t.Context(), Device{Name: "x", Dir: t.TempDir()}, spec, Identity{}, 0, nil); !outOfSpace(err) || errors.Is(err, ErrGate) {
		t.Errorf("in loading: %v", err)
	}
	if out, err := r.single(t.Context(), loadedWork(t, &spec), spec, Identity{}, nil); err != nil || !out.outOfSpace {
		t.Errorf("in a run: %+v, %v", out, err)
	}
}

// TestSleep: a run during which the machine slept is made again, and the log says so; on a machine that goes on sleeping
// there is no run.
func TestSleep(t *testing.T) {
	r, spec := testRunner(t, "complains"), nullSpec()
	var readings, sleeps int // the clocks are read before and after each run
	r.clocks = func() instant {
		i := now()
		if readings++; readings%2 == 0 && sleeps > 0 {
			sleeps--
			i.boot += time.Minute
			i.wall += time.Minute
		}
		return i
	}
	var log strings.Builder
	s := &Study{runner: r, o: Options{Out: t.TempDir(), Log: &log}, progress: NewProgress(nil, 0)}
	run := func() (*record.Run, error) {
		return s.awake(t.Context(), loadedWork(t, &spec), matrix.Run{Phase: "matrix", Cell: "c", Round: 1}, spec, Identity{})
	}
	const line = "the machine slept for 1m0s during it: its figures say nothing, it is made again"
	sleeps = maxSleeps - 1
	if rec, err := run(); err != nil || rec == nil || strings.Count(log.String(), line) != maxSleeps-1 {
		t.Errorf("%d sleeps: %v, %v, log %s", maxSleeps-1, rec, err, log.String())
	}
	sleeps = maxSleeps
	if rec, err := run(); rec != nil || err == nil || err.Error() != "in each of 3 tries the machine slept for 1m0s: keep it awake" {
		t.Errorf("%d sleeps: %v, %v", maxSleeps, rec, err)
	}
	kept, err := os.ReadFile(filepath.Join(s.o.Out, logName))
	if err != nil || strings.Count(string(kept), line) != 2*maxSleeps-1 {
		t.Errorf("%s: %v: %s", logName, err, kept)
	}
}
