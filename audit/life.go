package audit

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
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"tpccbench/tpcc/consistency"
)

// patience is how long a child may take from its start to being ready, and from there to MinWrites.
const patience = 5 * time.Minute

// life runs one child until its time has come, and returns what it acknowledged. kill says when that is; its OpenNS is
// filled in.
func (c *Config) life(ctx context.Context, kill *Kill) (acks []consistency.Ack, err error) {
	input, err := json.Marshal(spec{Engine: c.Engine.Name, Settings: c.Settings, Dir: c.Dir, Scale: c.Scale, Weights: c.Weights,
		Seed: c.Seed, Terminals: c.Terminals, Life: kill.Life})
	if err != nil {
		return nil, err
	}
	in, toChild, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer toChild.Close() // what ends a child that outlives its parent; open until the child is dead
	fromChild, out, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	defer fromChild.Close()

	stdout, stderr := newReadyWriter(), &tail{}
	command := c.Command
	if c.Under != nil {
		command = append(slices.Clone(c.Under(kill.Life)), command...)
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = in, stdout, stderr, []*os.File{out}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C is the parent's; it ends the child
	started := time.Now()
	err = cmd.Start()
	err = errors.Join(err, in.Close(), out.Close())
	if err != nil {
		return nil, fmt.Errorf("start the child: %w", err)
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how it ended is in cmd.ProcessState
		close(exited)
	}()
	enough, drained := make(chan struct{}), make(chan error, 1)
	go func() {
		var err error
		acks, err = drain(bufio.NewReader(fromChild), c.MinWrites, enough)
		drained <- err
	}()
	_, err = toChild.Write(append(input, '\n'))
	if err == nil {
		err = kill.await(ctx, started, stdout.ready, enough, exited)
	}
	select {
	case <-exited:
	default:
		// The whole group, so that what runs under another program ends with that. An error means that all have ended
		// already: seen below.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	<-exited
	err = errors.Join(err, <-drained)
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		err = errors.Join(err, fmt.Errorf("the child ended by itself, %s: %s", cmd.ProcessState, stderr))
	}
	return acks, err
}

// drain reads acknowledgements until their stream ends, and closes enough when there are so many. One that is torn was
// being written when the child was killed: it does not count.
func drain(r io.Reader, count int, enough chan<- struct{}) ([]consistency.Ack, error) {
	var acks []consistency.Ack
	for {
		if len(acks) == count {
			close(enough)
		}
		ack, err := consistency.ReadAck(r)
		switch {
		case err == io.EOF || errors.Is(err, consistency.ErrTornAck):
			return acks, nil
		case err != nil:
			return acks, fmt.Errorf("acknowledgement %d: %w", len(acks)+1, err)
		}
		acks = append(acks, ack)
	}
}

// await returns when the child is to be killed, or with an error when there is nothing more to wait for.
func (k *Kill) await(ctx context.Context, started time.Time, isReady, enough, exited <-chan struct{}) error {
	if !k.WhileOpening {
		if err := wait(ctx, patience, isReady, exited); err == errTime {
			return fmt.Errorf("the child has not opened the store in %v", patience)
		} else if err != nil {
			return err
		}
		select {
		case <-isReady:
			k.OpenNS = time.Since(started).Nanoseconds()
		default: // it has ended before
			return nil
		}
	}
	if err := wait(ctx, time.Duration(k.AfterNS), nil, exited); err != errTime {
		return err
	}
	if k.WhileOpening {
		return nil
	}
	err := wait(ctx, patience, enough, exited)
	if err == errTime {
		err = fmt.Errorf("the child has not been acknowledged enough writes in %v", patience)
	}
	return err
}

// errTime is what wait returns when the time is up.
var errTime = errors.New("time is up")

// wait waits for done (nil), for the child's end (nil as well: the caller looks at how it ended), for the time, or for
// ctx.
func wait(ctx context.Context, d time.Duration, done, exited <-chan struct{}) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-exited:
		return nil
	case <-timer.C:
		return errTime
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// readyWriter closes ready when the child has said that it is.
type readyWriter struct {
	ready chan struct{}
	seen  []byte
}

func newReadyWriter() *readyWriter { return &readyWriter{ready: make(chan struct{})} }

func (w *readyWriter) Write(p []byte) (int, error) {
	if len(w.seen) < len(ready) {
		w.seen = append(w.seen, p...)
		if bytes.HasPrefix(w.seen, []byte(ready)) {
			close(w.ready)
		}
	}
	return len(p), nil
}

// tail keeps the end of what the child writes to its standard error.
type tail struct {
	mu   sync.Mutex
	text []byte
}

var _ io.Writer = (*tail)(nil)

const tailBytes = 4096

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-tailBytes):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.text) == 0 {
		return "it said nothing"
	}
	return strings.TrimSpace(string(t.text))
}
