package study

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"tpccbench/procsample"
	"tpccbench/record"
	"tpccbench/wire"
)

// served is the engine of a run over HTTP: a server process that this measuring process has started, and the client of
// it. Close ends the process.
type served struct {
	*wire.Client
	pid   int
	end   func() error // asks the process to end, and waits for it
	start *wire.Status // when it began
}

// startServer starts the server of the request's Spec on its own processors, and waits until it serves.
func (c *child) startServer() (*served, error) {
	spec, place := &c.req.Spec, c.req.Server
	if place == nil {
		return nil, fmt.Errorf("a run with transport %q needs to be told the processors of its server", spec.Transport)
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe, ServerCommand)
	cmd.Args[0] = "tpccbench"
	cmd.Env = append(os.Environ(), place.environment())
	var stderr head
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe() // while it is open, the server knows that this process lives
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := onCPUs(place.CPUs, cmd.Start); err != nil {
		return nil, fmt.Errorf("cannot start the server process: %w", err)
	}
	end := sync.OnceValue(func() error {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("the server process ended with %w%s", err, stderr.quoted())
		}
		return nil
	})
	c.setServer(cmd.Process)
	client, err := connect(stdin, stdout, &serveRequest{Engine: spec.Engine, Settings: spec.Settings, Dir: c.req.Dir})
	if err != nil {
		return nil, errors.Join(end(), err)
	}
	s := &served{Client: client, pid: cmd.Process.Pid, end: end}
	if s.start, err = client.Status(); err != nil {
		return nil, errors.Join(s.Close(), err)
	}
	return s, nil
}

// connect sends the request to a server process and makes a client of what it answers.
func connect(stdin io.Writer, stdout io.Reader, req *serveRequest) (*wire.Client, error) {
	if err := json.NewEncoder(stdin).Encode(req); err != nil {
		return nil, fmt.Errorf("the server process took no request: %w", err)
	}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		return nil, errors.New("the server process said no address")
	}
	var at Serving
	if err := json.Unmarshal(line, &at); err != nil {
		return nil, fmt.Errorf("the server process said %.200q, which is no address: %w", line, err)
	}
	return wire.NewClient(at.Address)
}

// Close ends the server, which closes the engine.
func (s *served) Close() error { return errors.Join(s.Client.Close(), s.end()) }

// gc is what the garbage collector of the server's process has cost, which only that process knows.
func (s *served) gc() procsample.GC {
	st, err := s.Status()
	if err != nil {
		unread := procsample.Value{Reason: "the server does not say: " + err.Error()}
		return procsample.GC{CPUNS: unread, Cycles: unread}
	}
	return st.GC
}

// setServer says which process is to be killed with this one.
func (c *child) setServer(p *os.Process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.server = p
}

// killServer kills the server process, if there is one, so that nobody writes to the work directory any more.
func (c *child) killServer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endServer()
}

// orphaned kills the server process when the parent is gone. It keeps mu, so that Child, whose run ends with the server,
// does not end this process before the work directory is removed.
func (c *child) orphaned() {
	c.mu.Lock()
	c.endServer()
}

func (c *child) endServer() {
	if c.server != nil {
		_ = c.server.Kill()
		_, _ = c.server.Wait()
	}
}

// checkTransport refuses processors that this program may not use, before anything is made for the run.
func checkTransport(spec *record.Spec) error {
	if spec.InProcess() {
		return nil
	}
	for _, c := range []struct{ name, list string }{{"cpus", spec.CPUs}, {"load_cpus", spec.LoadCPUs}} {
		if _, err := cpusOf(c.list); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}
