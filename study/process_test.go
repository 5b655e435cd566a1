package study

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tpccbench/engines"
	"tpccbench/engines/null"
	"tpccbench/record"
)

// misbehaviour, set in the environment, makes the test binary a measuring process that behaves as it says.
const misbehaviour = "TPCCBENCH_TEST_CHILD"

func TestMain(m *testing.M) {
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
	return &Runner{Exe: exe, Engines: []*engines.Factory{&null.Factory}, silence: 2 * time.Second}
}

func nullSpec() record.Spec {
	return record.Spec{Engine: "null", Device: "ram", Kind: record.KindMemory, W: 1, Terminals: 2, Transport: "inproc", Seed: 1,
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
		"hangs":     "the measuring process said nothing for 2s and was killed",
		"lingers":   "the measuring process ended with signal: killed",
		"killed":    "the measuring process ended with signal: killed",
		"says no":   "cannot",
	} {
		t.Run(how, func(t *testing.T) {
			r, spec := testRunner(t, how), nullSpec()
			if how == "garbage" {
				r.silence = 0 // it is not waited for
			}
			work := loadedWork(t, &spec)
			id := Identity{Study: "s", Phase: record.PhaseMatrix, Cell: "c", Round: 1, Order: 1}
			run, interrupted, err := r.single(t.Context(), work, spec, id, nil)
			if err != nil || interrupted {
				t.Fatalf("interrupted %v, error %v", interrupted, err)
			}
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
	if run, _, err := r.single(t.Context(), loadedWork(t, &spec), spec, Identity{}, nil); err == nil || run != nil {
		t.Errorf("record %v, error %v", run, err)
	}
	r = testRunner(t, "complains")
	if _, err := r.Cell(t.Context(), Device{Name: "x", Dir: t.TempDir()}, spec, Identity{}, 0, nil); err == nil ||
		err.Error() != "loading null at W=1: the measuring process ended with exit status 7; it said: no more memory" {
		t.Errorf("a failed load: %v", err)
	}
	r.Exe = filepath.Join(t.TempDir(), "gone")
	if _, _, err := r.single(t.Context(), loadedWork(t, &spec), spec, Identity{}, nil); err == nil || !strings.Contains(err.Error(), r.Exe) {
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
		if _, _, err := r.single(ctx, loadedWork(t, &spec), spec, Identity{}, nil); !errors.Is(err, ErrInterrupted) {
			t.Errorf("a run after the interruption: %v", err)
		}
		cancel()
	}
}
