package study

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// Child is the measuring process: it reads one request from in, carries it out and writes progress and the answer to
// out. What cannot be measured at all is an Error in the answer. It returns an error only if the answer cannot be given.
func Child(list []*engines.Factory, in io.Reader, out io.Writer) error {
	dec := json.NewDecoder(in)
	req := new(request)
	if err := dec.Decode(req); err != nil {
		return fmt.Errorf("%s is started by this program itself, with a request: %w", ChildCommand, err)
	}
	c := &child{list: list, req: req, out: json.NewEncoder(out)}
	go watchParent(in, req.WorkDir, c.orphaned)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	ans, err := c.do(ctx)
	c.killServer() // if it hangs
	if err != nil {
		ans = &answer{Error: err.Error()}
		c.saw(err)
	}
	ans.OutOfSpace = c.outOfSpace
	ans.Interrupted = ans.Interrupted || ctx.Err() != nil
	return c.send(&message{Answer: ans})
}

type child struct {
	list []*engines.Factory
	req  *request
	mu   sync.Mutex // of out and server
	out  *json.Encoder

	server     *os.Process // of a run over HTTP
	outOfSpace bool        // the device was full
}

// saw looks at an error for what is the device's fault.
func (c *child) saw(err error) { c.outOfSpace = c.outOfSpace || outOfSpace(err) }

// outOfSpace reports whether the error, or one that it wraps, is that the device, or the user's share of it, is full.
func outOfSpace(err error) bool {
	var crash *childError
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) ||
		(errors.As(err, &crash) && crash.outOfSpace)
}

func (c *child) send(m *message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.Encode(m)
}

func (c *child) live(l Live) { _ = c.send(&message{Live: &l}) }

// during reports step once a second while f runs, so that the parent sees that the process lives.
func (c *child) during(step string, f func() error) error {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		start := time.Now()
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		c.live(Live{Step: step})
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				c.live(Live{Step: step, Seconds: time.Since(start).Seconds()})
			}
		}
	}()
	defer func() { close(stop); <-stopped }()
	return f()
}

func (c *child) do(ctx context.Context) (*answer, error) {
	switch c.req.Op {
	case opLoad:
		return new(answer), c.during("loading", c.load)
	case opRun:
		run, interrupted, err := c.run(ctx)
		return &answer{Run: run, Interrupted: interrupted}, err
	case opEqual:
		var ans answer
		err := c.during("checking equality", func() (err error) {
			ans.Gate, err = Equal(ctx, c.list, c.req.Dir, *c.req.Equal)
			return err
		})
		if errors.Is(err, ErrInterrupted) {
			return &answer{Interrupted: true}, nil
		}
		return &ans, err
	}
	return nil, fmt.Errorf("unknown request %q", c.req.Op)
}

// load fills the directory of the request with the population.
func (c *child) load() error {
	f, err := Engine(c.list, c.req.Spec.Engine)
	if err != nil {
		return err
	}
	return loadInto(f, c.req.Dir, c.req.Spec.Settings, c.req.Spec.W, c.req.Spec.Seed)
}

func loadInto(f *engines.Factory, dir string, settings map[string]string, w int, seed uint64) error {
	e, err := f.Open(dir, engines.Options{Settings: settings})
	if err != nil {
		return err
	}
	err = e.Load(tpcc.Population(seed, tpcc.StandardScale(w)))
	return errors.Join(err, e.Close())
}
