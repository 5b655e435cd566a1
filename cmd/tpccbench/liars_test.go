package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tpccbench/engines"
	"tpccbench/engines/pure"
	"tpccbench/engines/pure/store/fs"
	"tpccbench/record"
)

// liarsVariable, set in the environment, gives the program engines that acknowledge before they sync.
const liarsVariable = "TPCCBENCH_TEST_LIARS"

func init() {
	if os.Getenv(liarsVariable) != "" {
		allEngines = append(allEngines, liar("unsynced", false), liar("late", true))
	}
}

// liar is engine pure on a directory whose files say that they are synced and are not: never, or a tenth of a second
// later. So it acknowledges before its sync.
func liar(name string, late bool) *engines.Factory {
	f := pure.Factory
	f.Name = name
	f.Open = func(path string, opt engines.Options) (engines.Engine, error) {
		d, err := fs.OpenDir(path)
		if err != nil {
			return nil, err
		}
		return pure.Open(unsyncedDir{d, late}, opt)
	}
	return &f
}

type unsyncedDir struct {
	fs.Dir
	late bool
}

func (d unsyncedDir) Create(name string) (fs.File, error) { return d.file(d.Dir.Create(name)) }
func (d unsyncedDir) Open(name string) (fs.File, error)   { return d.file(d.Dir.Open(name)) }

func (d unsyncedDir) file(f fs.File, err error) (fs.File, error) {
	if err != nil {
		return nil, err
	}
	return &unsyncedFile{File: f, late: d.late}, nil
}

type unsyncedFile struct {
	fs.File
	late bool

	mu    sync.Mutex
	timer *time.Timer // of the sync that is owed
	err   error       // of the last one
}

func (f *unsyncedFile) Sync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.late && f.timer == nil {
		f.timer = time.AfterFunc(100*time.Millisecond, func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.timer, f.err = nil, f.File.Sync()
		})
	}
	return f.err
}

func (f *unsyncedFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.timer != nil {
		f.timer.Stop()
	}
	return f.File.Close()
}

// TestFlushesOfLiars: on a real disk, the count of the device's flushes catches an engine that acknowledges before it
// syncs, in a timed run of the command itself, and lets the honest one pass.
func TestFlushesOfLiars(t *testing.T) {
	dir := t.TempDir()
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	} else if st.Type == unix.TMPFS_MAGIC || st.Type == unix.RAMFS_MAGIC {
		t.Skip("the temporary directory is on no disk, so nothing is flushed")
	}
	for engine, gate := range map[string]string{"pure": "", "unsynced": record.GateDurable, "late": record.GateDurable} {
		t.Run(engine, func(t *testing.T) {
			out, message, code := program(t, nil, []string{liarsVariable + "=1"},
				"cell", "--engine", engine, "--device", "disk="+dir, "--seconds", "1", "--terminals", "8", "--json")
			var cell struct {
				Warnings []string `json:"warnings"`
			}
			if err := json.Unmarshal([]byte(out), &cell); err != nil {
				t.Fatalf("exit code %d: %v: %s%s", code, err, out, message)
			}
			for _, w := range cell.Warnings {
				if strings.Contains(w, "durability was not checked") || strings.Contains(w, "do not show durability") {
					t.Skip(w)
				}
			}
			if gate == "" && code != exitOK || gate != "" && (code != exitGate || !strings.Contains(message, gate)) {
				t.Errorf("exit code %d, want gate %q: %s", code, gate, message)
			}
			t.Logf("exit code %d: %s", code, message)
		})
	}
}

// program runs the program itself as a process, with the command before its own name if there is one, and returns what
// it printed and its exit code.
func program(t *testing.T, before, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args = append(append(before, exe), args...)
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	var out, message strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &message
	// A TMPDIR of its own: the machine's lock is there, and other tests run cells too.
	cmd.Env = append(append(os.Environ(), asProgram+"=1", "TMPDIR="+t.TempDir()), env...)
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), message.String(), cmd.ProcessState.ExitCode()
}
