package study

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// The watchdog ends a child that hangs, which a study of hours must not wait for. A child that lives reports once a second
// while it loads, runs and checks, so one that has said nothing for maxSilence is dead (closing a store, which reports
// nothing, may write a whole WAL to a slow card). But one whose engine hangs in loading or checking goes on reporting: so
// it may not take longer than its request's limit in all either. Both are generous: they tell a fault from slowness.
const maxSilence = 5 * time.Minute

// limit is how long a child may take for the request: the length of the run and, per engine, time to open, load, close
// and check on a slow card.
func (req *request) limit() time.Duration {
	// serialRate is the number of transactions per second that a run of so many makes at least.
	const serialRate = 10
	around := func(w int) time.Duration { return maxSilence + time.Duration(w)*2*time.Minute }
	if req.Op == opEqual {
		o := req.Equal
		return time.Duration(len(o.Engines)) * (around(o.W) + seconds(float64(o.Transactions)/serialRate))
	}
	limit := around(req.Spec.W)
	if req.Op == opRun {
		limit += seconds(req.Spec.WarmUp + req.Spec.Seconds + float64(req.Spec.Transactions)/serialRate)
	}
	return limit
}

// ErrInterrupted: the run was ended by the user (SIGINT, SIGTERM).
var ErrInterrupted = errors.New("interrupted")

// childError is the end of a child that gave no result.
type childError struct {
	text       string
	stderr     string // the beginning of what it wrote to its standard error
	outOfSpace bool   // the device was full
}

func (e *childError) Error() string { return e.text }

// Is makes it an ErrGate, also where there is no run to record (in loading): something ran and broke. A full device is
// nothing that ran.
func (e *childError) Is(target error) bool { return target == ErrGate && !e.outOfSpace }

// runChild starts a child for the request and returns its answer. live, if not nil, gets each progress line. When ctx
// is cancelled the child is asked to end and its answer, marked as interrupted, is returned as usual; one that loads,
// of which nothing is worth keeping, is killed. A child that hangs is killed, too, with all that it may have started.
func (r *Runner) runChild(ctx context.Context, req *request, live func(Live)) (*answer, error) {
	silence, limit := r.silence, r.limit
	if silence == 0 {
		silence = maxSilence
	}
	if limit == 0 {
		limit = req.limit()
	}
	at, err := req.place()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(r.Exe, ChildCommand)
	cmd.Args[0] = "tpccbench"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's Ctrl-C is the parent's to pass on
	cmd.Env = append(os.Environ(), at.environment())
	var stderr head
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := onCPUs(at.CPUs, cmd.Start); err != nil {
		return nil, fmt.Errorf("cannot start the measuring process: %w", err)
	}
	if err := json.NewEncoder(stdin).Encode(req); err != nil {
		_ = cmd.Process.Kill()
		werr := cmd.Wait()
		return nil, &childError{text: fmt.Sprintf("the measuring process took no request (%v) and ended with %v%s", err, werr, stderr.quoted()),
			stderr: stderr.String()}
	}

	lines := make(chan *message)
	readErr := make(chan error, 1)
	go func() {
		readErr <- readMessages(stdout, lines)
		close(lines)
	}()
	// Until Wait, the process is there, dead or alive, and so its group is its own.
	kill := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var ans *answer
	var step string // that it is in
	var hung string // how, if the watchdog has bitten
	timer, overdue := time.NewTimer(silence), time.NewTimer(limit)
	defer timer.Stop()
	defer overdue.Stop()
	done := ctx.Done()
loop:
	for {
		select {
		case m, ok := <-lines:
			if !ok {
				break loop
			}
			timer.Reset(silence)
			if m.Answer != nil {
				ans = m.Answer
			} else if m.Live != nil {
				step = m.Live.Step
				if live != nil {
					live(*m.Live)
				}
			}
		case <-done:
			done = nil
			if req.Op == opLoad {
				kill()
			} else {
				// Not SIGINT: who is started in the background of a script inherits that it is ignored.
				_ = cmd.Process.Signal(syscall.SIGTERM)
			}
		case <-timer.C:
			hung = fmt.Sprintf("the measuring process said nothing for %v and was killed", silence)
			kill()
		case <-overdue.C:
			if hung == "" {
				hung = fmt.Sprintf("the measuring process took longer than %v, its last step was %q, and was killed", limit, step)
			}
			kill()
		}
	}
	rerr := <-readErr
	if rerr != nil {
		kill() // nobody reads what it says
	}
	lingering := time.AfterFunc(silence, func() { _ = cmd.Process.Kill() })
	werr := cmd.Wait()
	lingering.Stop()
	var text string
	switch {
	case ctx.Err() != nil && req.Op == opLoad:
		return nil, ErrInterrupted
	case hung != "":
		text = hung + stderr.quoted()
	case rerr != nil:
		text = fmt.Sprintf("the measuring process's answer cannot be read: %v", rerr) + stderr.quoted()
	case werr != nil:
		text = fmt.Sprintf("the measuring process ended with %v", werr) + stderr.quoted()
	case ans == nil:
		text = "the measuring process ended without an answer" + stderr.quoted()
	case ans.Error != "":
		text = ans.Error
	default:
		return ans, nil
	}
	return nil, &childError{text, stderr.String(), ans != nil && ans.OutOfSpace}
}

func readMessages(r io.Reader, to chan<- *message) error {
	br := bufio.NewReader(r)
	for {
		line, err := br.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			m := new(message)
			if jerr := json.Unmarshal(line, m); jerr != nil {
				return jerr
			}
			to <- m
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// maxStderr is how much of what a child writes to its standard error is kept, bytes: the beginning, where a panic says
// what it is.
const maxStderr = 16 << 10

// head keeps the beginning of what is written to it.
type head struct{ b []byte }

func (h *head) Write(p []byte) (int, error) {
	h.b = append(h.b, p[:min(len(p), maxStderr-len(h.b))]...)
	return len(p), nil
}

func (h *head) String() string { return strings.TrimSpace(string(h.b)) }

// quoted is the message in it, for an error's text: without the stacks of a panic, as one line.
func (h *head) quoted() string {
	s := h.String()
	for _, stacks := range [...]string{"\ngoroutine ", "\nruntime stack:", "\n[signal "} {
		s, _, _ = strings.Cut(s, stacks)
	}
	if s == "" {
		return ""
	}
	return "; it said: " + strings.Join(strings.Fields(s), " ")
}

// watchParent ends this process when r, the pipe from the parent, does: the parent is gone. The work directory goes
// with it, after what orphaned does.
func watchParent(r io.Reader, workDir string, orphaned func()) {
	_, _ = io.Copy(io.Discard, r)
	orphaned()
	_ = removeAll(workDir)
	os.Exit(3)
}
