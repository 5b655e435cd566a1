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
// transactions. Two seeds are fixed and one is new each time; ENGINETEST_SEED in the environment sets that one.
func Run(t *testing.T, f engines.Factory) {
	t.Helper()
	RunWith(t, f, nil)
}

// RunWith is Run with settings other than the defaults.
func RunWith(t *testing.T, f engines.Factory, settings map[string]string) {
	t.Helper()
	fresh, err := freshSeed()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			s := &suite{factory: f, settings: settings, seeds: []uint64{1, 2, fresh}, short: testing.Short(), patience: time.Minute,
				tempDir: t.TempDir, logf: t.Logf}
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
}

// checks is the suite, the simple ones first.
var checks = []check{
	{"settings", checkSettings},
	{"load", checkLoad},
	{"serial", checkSerial},
	{"rollback", checkRollback},
	{"wrong_input", checkWrongInput},
	{"reopen", checkReopen},
	{"copied_while_open", checkCopiedWhileOpen},
	{"concurrent", checkConcurrent},
	{"snapshot_of_one_point", checkSnapshotOfOnePoint},
	{"snapshot_beside_writers", checkSnapshotBesideWriters},
	{"snapshot_error", checkSnapshotError},
	{"own_writes", checkOwnWrites},
	{"reads_of_one_point", checkReadsOfOnePoint},
	{"facts", checkFacts},
	{"odd_path", checkOddPath},
	{"missing_directory", checkMissingDirectory},
	{"file_as_directory", checkFileAsDirectory},
	{"read_only_directory", checkReadOnlyDirectory},
	{"foreign_file", checkForeignFile},
	{"damaged_files", checkDamagedFiles},
	{"locked", checkLocked},
	{"goroutines", checkGoroutines},
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
		return n / 4
	}
	return n
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
