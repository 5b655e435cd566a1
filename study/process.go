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
	"runtime"
	"strings"
	"syscall"
	"time"
)

// maxSilence is how long a child may say nothing before it is killed. A child reports once a second while it loads,
// runs and checks.
const maxSilence = 5 * time.Minute

// ErrInterrupted: the run was ended by the user (SIGINT, SIGTERM).
var ErrInterrupted = errors.New("interrupted")

// childError is the end of a child that gave no result.
type childError struct {
	text   string
	stderr string // the beginning of what it wrote to its standard error
}

func (e *childError) Error() string { return e.text }

// runChild starts a child for the request and returns its answer. live, if not nil, gets each progress line. When ctx
// is cancelled the child is asked to end and its answer, marked as interrupted, is returned as usual; one that loads,
// of which nothing is worth keeping, is killed.
func (r *Runner) runChild(ctx context.Context, req *request, live func(Live)) (*answer, error) {
	silence := r.silence
	if silence == 0 {
		silence = maxSilence
	}
	cmd := exec.Command(r.Exe, ChildCommand)
	cmd.Args[0] = "tpccbench"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's Ctrl-C is the parent's to pass on
	cmd.Env = childEnv()
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
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start the measuring process: %w", err)
	}
	if err := json.NewEncoder(stdin).Encode(req); err != nil {
		_ = cmd.Process.Kill()
		werr := cmd.Wait()
		return nil, &childError{fmt.Sprintf("the measuring process took no request (%v) and ended with %v%s", err, werr, stderr.quoted()),
			stderr.String()}
	}

	lines := make(chan *message)
	readErr := make(chan error, 1)
	go func() {
		readErr <- readMessages(stdout, lines)
		close(lines)
	}()
	var ans *answer
	var hung bool
	timer := time.NewTimer(silence)
	defer timer.Stop()
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
			} else if m.Live != nil && live != nil {
				live(*m.Live)
			}
		case <-done:
			done = nil
			if req.Op == opLoad {
				_ = cmd.Process.Kill()
			} else {
				_ = cmd.Process.Signal(syscall.SIGINT)
			}
		case <-timer.C:
			hung = true
			_ = cmd.Process.Kill()
			timer.Reset(time.Hour)
		}
	}
	rerr := <-readErr
	if rerr != nil {
		_ = cmd.Process.Kill() // nobody reads what it says
	}
	lingering := time.AfterFunc(silence, func() { _ = cmd.Process.Kill() })
	werr := cmd.Wait()
	lingering.Stop()
	var text string
	switch {
	case ctx.Err() != nil && req.Op == opLoad:
		return nil, ErrInterrupted
	case hung:
		text = fmt.Sprintf("the measuring process said nothing for %v and was killed", silence) + stderr.quoted()
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
	return nil, &childError{text, stderr.String()}
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
// with it.
func watchParent(r io.Reader, workDir string) {
	_, _ = io.Copy(io.Discard, r)
	for range 100 { // the engine may be making a file at this moment
		if os.RemoveAll(workDir) == nil {
			break
		}
	}
	os.Exit(3)
}

// processorsPerCore is the number of Go processors (GOMAXPROCS) per core in a measuring process. A thread that is in C
// code or in fsync keeps its processor until the runtime takes it back; with one per core SQLite on several threads
// then waits for a processor while a core is idle. Two per core favour SQLite, and cost the record-log store a little.
const processorsPerCore = 2

// childEnv is the environment of a measuring process. Who sets GOMAXPROCS decides it; the record's machine facts say
// what it was.
func childEnv() []string {
	env := os.Environ()
	if os.Getenv("GOMAXPROCS") == "" {
		env = append(env, fmt.Sprintf("GOMAXPROCS=%d", processorsPerCore*runtime.NumCPU()))
	}
	return env
}
