package enginetest

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"tpccbench/engines"
)

// Run puts the engine, with its default settings, through every check, each a subtest. With -short it draws fewer
// transactions, from fewer seeds. Two seeds are fixed and one is new each time; ENGINETEST_SEED in the environment sets that one.
func Run(t *testing.T, f engines.Factory) {
	t.Helper()
	RunWith(t, f, nil)
}

// RunWith is Run with settings other than the defaults.
func RunWith(t *testing.T, f engines.Factory, settings map[string]string) {
	t.Helper()
	run(t, f, settings, checks)
}

// RunForm is RunWith for an engine that Run is run on too: with -short it leaves out what does not depend on settings.
func RunForm(t *testing.T, f engines.Factory, settings map[string]string) {
	t.Helper()
	list := checks
	if testing.Short() {
		list = slices.DeleteFunc(slices.Clone(checks), func(c check) bool { return c.once })
	}
	run(t, f, settings, list)
}

func run(t *testing.T, f engines.Factory, settings map[string]string, list []check) {
	t.Helper()
	fresh, err := freshSeed()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			s := &suite{factory: f, settings: settings, seeds: []uint64{1, 2, fresh}, short: testing.Short(), patience: time.Minute,
				tempDir: func() string { return tempDir(t, c) }, logf: t.Logf}
			err := c.run(s)
			var skip skipped
			if errors.As(err, &skip) {
				t.Skip(string(skip))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// tempDir is a new directory, in a short run on a memory file system if there is one: a short run is made with the race
// detector, and waits for no device.
func tempDir(t *testing.T, c check) string {
	if !testing.Short() || c.onDisk {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("/dev/shm", "enginetest-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// freshSeed is the seed that is not fixed.
func freshSeed() (uint64, error) {
	text, ok := os.LookupEnv("ENGINETEST_SEED")
	if !ok {
		return rand.Uint64(), nil
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("ENGINETEST_SEED is %q; it must be a number 0..2^64-1", text)
	}
	return seed, nil
}

// check is one thing that the suite asks of an engine: what run returns is what is wrong with it.
type check struct {
	name string
	run  func(*suite) error
	once bool // it asks for what does not depend on settings
	// onDisk: it needs a file system with attributes, which those in memory have not.
	onDisk bool
}

// checks is the suite, the simple ones first.
var checks = []check{
	{name: "settings", run: checkSettings, once: true},
	{name: "load", run: checkLoad},
	{name: "serial", run: checkSerial},
	{name: "rollback", run: checkRollback},
	{name: "wrong_input", run: checkWrongInput, once: true},
	{name: "reopen", run: checkReopen},
	{name: "copied_while_open", run: checkCopiedWhileOpen},
	{name: "concurrent", run: checkConcurrent},
	{name: "snapshot_of_one_point", run: checkSnapshotOfOnePoint},
	{name: "snapshot_beside_writers", run: checkSnapshotBesideWriters},
	{name: "snapshot_error", run: checkSnapshotError, once: true},
	{name: "own_writes", run: checkOwnWrites},
	{name: "reads_of_one_point", run: checkReadsOfOnePoint},
	{name: "facts", run: checkFacts},
	{name: "odd_path", run: checkOddPath, once: true},
	{name: "missing_directory", run: checkMissingDirectory, once: true},
	{name: "file_as_directory", run: checkFileAsDirectory, once: true},
	{name: "read_only_directory", run: checkReadOnlyDirectory, once: true, onDisk: true},
	{name: "foreign_file", run: checkForeignFile, once: true},
	{name: "damaged_files", run: checkDamagedFiles},
	{name: "locked", run: checkLocked, once: true},
	{name: "goroutines", run: checkGoroutines},
}

// suite is what a check works with.
type suite struct {
	factory  engines.Factory
	settings map[string]string
	seeds    []uint64
	short    bool
	patience time.Duration // how long to wait for what must come; what takes longer hangs
	tempDir  func() string // a new empty directory
	logf     func(format string, args ...any)
}

// skipped is a check that could not be made here, and why.
type skipped string

func (s skipped) Error() string { return "skipped: " + string(s) }

// count is n transactions, fewer in a short run.
func (s *suite) count(n int) int {
	if s.short {
		return n / 8
	}
	return n
}

// serialSeeds are the seeds of the check that takes one history after another: all, in a short run the new one alone.
func (s *suite) serialSeeds() []uint64 {
	if s.short {
		return s.seeds[len(s.seeds)-1:]
	}
	return s.seeds
}

func (s *suite) open(dir string) (engines.Engine, error) {
	return s.factory.Open(dir, engines.Options{Settings: maps.Clone(s.settings)})
}

// withEngine opens the store in dir for the time of use.
func (s *suite) withEngine(dir string, use func(engines.Engine) error) error {
	e, err := s.open(dir)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	err = use(e)
	if closeErr := e.Close(); closeErr != nil {
		err = errors.Join(err, fmt.Errorf("close: %w", closeErr))
	}
	return err
}

// withSessions gives use n sessions of e.
func withSessions(e engines.Engine, n int, use func([]engines.Session) error) (err error) {
	var sessions []engines.Session
	defer func() {
		for _, s := range slices.Backward(sessions) {
			if closeErr := s.Close(); closeErr != nil {
				err = errors.Join(err, fmt.Errorf("close a session: %w", closeErr))
			}
		}
	}()
	for range n {
		s, err := e.NewSession()
		if err != nil {
			return fmt.Errorf("session %d of %d: %w", len(sessions)+1, n, err)
		}
		sessions = append(sessions, s)
	}
	return use(sessions)
}
