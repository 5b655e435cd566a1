package wire

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"tpccbench/engines"
	"tpccbench/engines/enginetest"
	"tpccbench/engines/pure"
)

// overWire is an engine of which the sessions and facts come over HTTP, and the rest, which is not served, from itself.
type overWire struct {
	*Client
	engine engines.Engine
	server *Server
}

func (e *overWire) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return errors.Join(e.Client.Close(), e.server.Shutdown(ctx), e.engine.Close())
}

// notServed are the methods of overWire that are those of the engine itself.
type notServed struct {
	*overWire
	engines.Engine
}

func (e notServed) NewSession() (engines.Session, error) { return e.overWire.NewSession() }
func (e notServed) Facts() (engines.Facts, error)        { return e.overWire.Facts() }
func (e notServed) Close() error                         { return e.overWire.Close() }

// TestConformance puts engine pure through the conformance suite with its sessions over HTTP: what a session promises holds
// at the other end of the wire too.
func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long; what races there are, TestStopInMidLoad and TestCrowd find")
	}
	f := pure.Factory
	open := f.Open
	f.Open = func(dir string, opt engines.Options) (engines.Engine, error) {
		e, err := open(dir, opt)
		if err != nil {
			return nil, err
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, errors.Join(err, e.Close())
		}
		s := NewServer(e, Limits{})
		go func() { _ = s.Serve(l) }()
		c, err := NewClient(l.Addr().String())
		if err != nil {
			return nil, errors.Join(err, e.Close())
		}
		o := &overWire{c, e, s}
		return notServed{o, e}, nil
	}
	if shm, err := os.MkdirTemp("/dev/shm", "tpccbench-test-"); err == nil {
		t.Cleanup(func() { os.RemoveAll(shm) })
		t.Setenv("TMPDIR", shm) // where t.TempDir makes its directories
	}
	enginetest.RunWith(t, f, map[string]string{"log_segment_bytes": "1048576", "checkpoint_min_bytes": "1048576", "log_reserve_bytes": "0"})
}
