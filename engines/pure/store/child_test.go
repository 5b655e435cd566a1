package store

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tpccbench/engines/pure/store/fs"
)

// life is what a child process does: it opens the store, runs transactions one after the other, says on its standard
// output after each how many are durable, and closes the store. It is this test's program again.
type life struct {
	Dir          string
	Seed         uint64 // of the transactions
	Transactions int
	// Growing: the transactions grow, by one draw each.
	Growing bool
	Options Options
	// KillAt is the operation on files before which the child kills itself (SIGKILL), 0: none. With Torn, a write there
	// is done by half first.
	KillAt int
	Torn   bool
	// FileBytes is the limit of a file's size that the child sets itself (RLIMIT_FSIZE), 0: none.
	FileBytes uint64
	// Stay: it does not close the store, but waits to be killed.
	Stay bool
}

// lifeVariable in the environment holds the life that makes this test's program a child.
const lifeVariable = "STORE_TEST_LIFE"

func TestMain(m *testing.M) {
	text := os.Getenv(lifeVariable)
	if text == "" {
		os.Exit(m.Run())
	}
	var l life
	err := json.Unmarshal([]byte(text), &l)
	if err == nil {
		err = l.live()
	}
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// transactions yields the life's transactions.
func (l *life) transactions(yield func(transaction) bool) {
	rng := rand.New(rand.NewPCG(l.Seed, 0))
	for i := range l.Transactions {
		tx := draw(rng)
		if l.Growing {
			for range i {
				tx.steps = append(tx.steps, draw(rng).steps...)
			}
		}
		if !yield(tx) {
			return
		}
	}
}

func kill() {
	_ = unix.Kill(unix.Getpid(), unix.SIGKILL)
	select {} // until it arrives
}

var errTorn = errors.New("torn, and then killed")

func (l *life) live() error {
	if l.FileBytes > 0 {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: l.FileBytes, Max: l.FileBytes}); err != nil {
			return err
		}
	}
	dir, err := fs.OpenDir(l.Dir)
	if err != nil {
		return err
	}
	if l.KillAt > 0 {
		dir = fs.NewFault(dir, func(n int, op fs.Op) error {
			if n == l.KillAt && op == fs.OpWrite && l.Torn {
				return errTorn
			}
			if n >= l.KillAt {
				kill()
			}
			return nil
		})
	}
	s, err := Open(dir, testSchema, l.Options)
	if err != nil {
		if errors.Is(err, errTorn) {
			kill()
		}
		return err
	}
	fmt.Println(0)
	ses, done := s.NewSession(), 0
	for tx := range l.transactions {
		if err := ses.Do(tx.run); errors.Is(err, errTorn) {
			kill()
		} else if err != nil && err != errAbort {
			return errors.Join(err, readable(s), s.Close())
		}
		done++
		fmt.Println(done)
	}
	if l.Stay {
		time.Sleep(time.Hour)
	}
	return s.Close()
}

// readable checks that a store that failed still shows a sound state, and takes no more transactions.
func readable(s *Store) error {
	if err := s.NewSession().Do(func(x *Tx) error { x.Append(events); return nil }); !errors.Is(err, ErrFailed) {
		return fmt.Errorf("BROKEN: a transaction after the failure gives %v", err)
	}
	r := s.NewReader()
	defer r.Close()
	if _, err := stateOf(&r.Pin().reads); err != nil {
		return fmt.Errorf("BROKEN: reading after the failure: %w", err)
	}
	return nil
}

// ended is how a life ended.
type ended struct {
	acknowledged int // transactions that were said to be durable; -1: the store was not open yet
	killed       bool
	message      string // the error, if it ended by one
}

// command is the life as a process that has not started yet.
func (l *life) command(t *testing.T) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), lifeVariable+"="+string(text))
	cmd.Stderr = os.Stderr
	return cmd
}

// run lives the life to its end.
func (l *life) run(t *testing.T) (e ended) {
	t.Helper()
	out, err := l.command(t).Output()
	e.acknowledged = -1
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	for lines.Scan() {
		if n, err := strconv.Atoi(lines.Text()); err == nil {
			e.acknowledged = n
		} else {
			e.message += lines.Text() + "\n"
		}
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status := exit.Sys().(syscall.WaitStatus)
		e.killed = status.Signaled() && status.Signal() == syscall.SIGKILL
		if e.killed || e.message != "" && !strings.Contains(e.message, "BROKEN") {
			return e
		}
	}
	if err != nil {
		t.Fatalf("life %+v: %v: %s", *l, err, e.message)
	}
	return e
}

// after finds which state a store has that lived l from the state from: one after at least the acknowledged
// transactions, and at most one more, which was in flight.
func (l *life) after(s *Store, from *model, acknowledged int) (*model, error) {
	m, n := from.clone(), 0
	acknowledged = max(acknowledged, 0)
	var differs error
	check := func() bool {
		if n < acknowledged || n > acknowledged+1 {
			return false
		}
		differs = s.is(m)
		return differs == nil
	}
	if check() {
		return m, nil
	}
	for tx := range l.transactions {
		m = m.clone()
		m.apply(tx)
		if n++; check() {
			return m, nil
		}
		if n > acknowledged {
			break
		}
	}
	return nil, fmt.Errorf("the store holds neither the state after the %d acknowledged transactions nor after one more: %w", acknowledged, differs)
}
