package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// conn is a connection of a Server: the session of its terminal, and room for one transaction, which is used again and
// again. One request is answered at a time, so that all but the atomic members are that request's own.
type conn struct {
	net.Conn
	server   *Server
	received atomic.Bool // anything at all
	late     atomic.Bool // the last read ended at its deadline

	session engines.Session // nil: none yet
	in      tpcc.Input
	out     tpcc.Output
	decoder decoder
	body    []byte // of the request
	answer  []byte
}

// connKey is the key of a request's *conn in its context.
type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && !c.received.Load() {
		c.received.Store(true)
	}
	if err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		c.late.Store(true)
	}
	return n, err
}

// Write gives up on a client that does not read.
func (c *conn) Write(p []byte) (int, error) {
	if err := c.Conn.SetWriteDeadline(time.Now().Add(c.server.limits.Write)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// CloseWrite ends the answers. net/http does so, and waits, before it closes a connection on which unread bytes lie:
// closing it at once could take away the answer that is on its way.
func (c *conn) CloseWrite() error {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		return tcp.CloseWrite()
	}
	return nil
}

// state follows net/http's view of the connection, on the goroutine that serves it (http.Server.ConnState).
func (c *conn) state(s http.ConnState) {
	switch s {
	case http.StateIdle:
		// net/http itself has ended a read while it answered.
		c.late.Store(false)
	case http.StateActive:
		// A header has been read, or could not be. net/http closes the connection without a word when it was too slow.
		if c.late.Load() {
			f := failure{Error: fmt.Sprintf("the request did not come within %v", c.server.limits.Header)}
			body := f.body()
			fmt.Fprintf(c, "HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
		}
	case http.StateClosed:
		c.server.closed(c, c.closeSession())
	}
}

// openSession opens the session unless there is one.
func (c *conn) openSession() (err error) {
	if c.session == nil {
		c.session, err = c.server.engine.NewSession()
	}
	return err
}

func (c *conn) closeSession() (err error) {
	if c.session == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{p, debug.Stack()}
		}
	}()
	s := c.session
	c.session = nil
	return s.Close()
}

// panicError is a panic of the engine. Nobody knows what it has done.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }
func (e *panicError) Unwrap() error { return engines.ErrIndeterminate }

// call runs the transaction that is in c.in.
func (c *conn) call() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{p, debug.Stack()}
		}
	}()
	return engines.Call(c.session, &c.in, &c.out)
}
