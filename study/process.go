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

// silence is how long a child may say nothing before it is killed. A child reports once a second while it loads, runs
// and checks.
const silence = 5 * time.Minute

// ErrInterrupted: the run was ended by the user (SIGINT, SIGTERM).
var ErrInterrupted = errors.New("interrupted")

// childError is the end of a child that gave no result.
type childError struct{ text string }

func (e *childError) Error() string { return e.text }

// runChild starts a child for the request and returns its answer. live, if not nil, gets each progress line. When ctx
// is cancelled the child is asked to end and its answer, marked as interrupted, is returned as usual.
func (r *Runner) runChild(ctx context.Context, req *request, live func(Live)) (*answer, error) {
	cmd := exec.Command(r.Exe, ChildCommand)
	cmd.Args[0] = "tpccbench"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's Ctrl-C is the parent's to pass on
	var stderr tail
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
		return nil, errors.Join(fmt.Errorf("cannot hand the request to the measuring process: %w", err), cmd.Wait())
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
			_ = cmd.Process.Signal(syscall.SIGINT)
		case <-timer.C:
			hung = true
			_ = cmd.Process.Kill()
			timer.Reset(time.Hour)
		}
	}
	rerr := <-readErr
	werr := cmd.Wait()
	switch {
	case hung:
		return nil, &childError{fmt.Sprintf("the measuring process said nothing for %v and was killed%s", silence, stderr.quoted())}
	case werr != nil:
		return nil, &childError{fmt.Sprintf("the measuring process ended with %v%s", werr, stderr.quoted())}
	case rerr != nil:
		return nil, &childError{fmt.Sprintf("the measuring process's answer cannot be read: %v", rerr)}
	case ans == nil:
		return nil, &childError{"the measuring process ended without an answer" + stderr.quoted()}
	case ans.Error != "":
		return nil, &childError{ans.Error}
	}
	return ans, nil
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

// tail keeps the end of what a child wrote to its standard error.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if cut := len(t.b) - 4096; cut > 0 {
		t.b = t.b[cut:]
	}
	return len(p), nil
}

func (t *tail) quoted() string {
	s := strings.TrimSpace(string(t.b))
	if s == "" {
		return ""
	}
	return "; it said: " + s
}

// watchParent ends this process when r, the pipe from the parent, does: the parent is gone. The work directory goes
// with it.
func watchParent(r io.Reader, workDir string) {
	_, _ = io.Copy(io.Discard, r)
	_ = os.RemoveAll(workDir)
	os.Exit(3)
}
