package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"tpccbench/engines"
)

// Limits bound what one client can hold, in time. A zero limit means that of DefaultLimits.
type Limits struct {
	Header time.Duration // from the first byte of a request to the end of its header
	Body   time.Duration // from the first byte of a request to its last
	Idle   time.Duration // between two requests of a connection
	Write  time.Duration // for the client to take an answer
}

// DefaultLimits are what a server has that is told no others. A terminal of a slow open loop is idle for long; that a
// client's machine is gone shows by TCP's own keep-alive.
var DefaultLimits = Limits{Header: 10 * time.Second, Body: 10 * time.Second, Idle: 24 * time.Hour, Write: 10 * time.Second}

// Bounds in bytes. The longest body that is one, a New-Order of 15 lines, has less than 1,100 bytes.
const (
	MaxBody   = 4 << 10
	maxHeader = 8 << 10
)

// ErrCut is wrapped by the error of a Shutdown whose time was over before all requests were answered.
var ErrCut = errors.New("requests were cut off")

// Server answers for an engine, which it neither opens nor closes. It must not be copied.
//
// Invariants: a connection's session is used and closed by the goroutine that serves the connection. A connection is in
// conns from its Accept until its session is closed. Once draining is set no connection is added.
type Server struct {
	engine engines.Engine
	limits Limits
	http   http.Server

	mu       sync.Mutex
	conns    map[*conn]struct{}
	draining bool
	none     chan struct{} // closed when draining and conns is empty
	errs     []error       // of closing sessions
}

// NewServer makes a server for the engine.
func NewServer(e engines.Engine, limits Limits) *Server {
	for _, l := range []struct {
		limit *time.Duration
		value time.Duration
	}{
		{&limits.Header, DefaultLimits.Header}, {&limits.Body, DefaultLimits.Body}, {&limits.Idle, DefaultLimits.Idle}, {&limits.Write, DefaultLimits.Write},
	} {
		if *l.limit == 0 {
			*l.limit = l.value
		}
	}
	s := &Server{engine: e, limits: limits, conns: map[*conn]struct{}{}, none: make(chan struct{})}
	s.http = http.Server{
		Handler:           s,
		ReadHeaderTimeout: limits.Header,
		ReadTimeout:       limits.Body,
		IdleTimeout:       limits.Idle,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(io.Discard, "", 0), // what clients do wrong is theirs to know
		ConnContext:       withConn,
		ConnState:         func(c net.Conn, state http.ConnState) { c.(*conn).state(state) },
	}
	return s
}

// Serve accepts connections until Shutdown. It returns nil then.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(&listener{l, s}); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// listener makes conns of connections.
type listener struct {
	net.Listener
	server *Server
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: nc, server: l.server}
		if l.server.add(c) {
			return c, nil
		}
		nc.Close()
	}
}

// add takes in a connection, unless the server is draining.
func (s *Server) add(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return false
	}
	s.conns[c] = struct{}{}
	return true
}

// closed lets go of a connection whose session was closed with err.
func (s *Server) closed(c *conn, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	if err != nil {
		s.errs = append(s.errs, fmt.Errorf("closing a session: %w", err))
	}
	if s.draining && len(s.conns) == 0 {
		close(s.none)
	}
}

// lastGrace is how long a Shutdown waits for handlers after it has cut their connections off.
const lastGrace = 5 * time.Second

// Shutdown drains the server: no new connection is accepted, those without a request end, requests that have begun to
// come are answered, and every session is closed. It is called once. When ctx is over first, it cuts off the rest and
// returns an error that wraps ErrCut; if the engine answers even then not, the error wraps context.DeadlineExceeded too,
// and the engine must not be closed.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.draining = true
	for c := range s.conns {
		if !c.received.Load() {
			c.Conn.Close() // net/http would wait for the request for seconds
		}
	}
	if len(s.conns) == 0 {
		close(s.none)
	}
	s.mu.Unlock()

	var err error
	if serr := s.http.Shutdown(ctx); serr != nil {
		s.mu.Lock()
		err = fmt.Errorf("%w: %d connections had a request when the time for them was over", ErrCut, len(s.conns))
		s.mu.Unlock()
		_ = s.http.Close()
	}
	grace := time.NewTimer(lastGrace)
	defer grace.Stop()
	select {
	case <-s.none:
	case <-grace.C:
		return errors.Join(err, fmt.Errorf("%w: the engine does not answer", context.DeadlineExceeded))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(append(s.errs, err)...)
}
