package study

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"tpccbench/engines"
	"tpccbench/wire"
)

// ServerCommand is the hidden command under which a measuring process starts the program as its server.
const ServerCommand = "serve-child"

// LoopbackAddress is an address that only this machine reaches, with a port that is free.
const LoopbackAddress = "127.0.0.1:0"

// drainTime is how long a server that is told to stop goes on answering what is in flight. A checkpoint on a slow card
// may hold an answer up for a while.
const drainTime = time.Minute

// ServeOptions say what is served and where.
type ServeOptions struct {
	Engine      *engines.Factory
	Settings    map[string]string
	Dir         string                     // of the store
	Load        func(engines.Engine) error // what to do with the opened store before it is served; may be nil
	Address     string                     // HOST:PORT; port 0: any that is free
	AllowRemote bool                       // Address need not be a loopback address
}

// Serving is what a server says once it accepts connections, one JSON line.
type Serving struct {
	Address string `json:"address"` // HOST:PORT
	URL     string `json:"url"`
	Engine  string `json:"engine"`
	PID     int    `json:"pid"`
}

// Serve opens the engine and serves it until ctx is cancelled; then it answers what is in flight, closes the engine and
// returns nil. ready is called when connections are accepted; its error ends the server.
func Serve(ctx context.Context, o ServeOptions, ready func(Serving) error) error {
	l, err := listen(o.Address, o.AllowRemote)
	if err != nil {
		return err
	}
	defer l.Close()
	e, err := o.Engine.Open(o.Dir, engines.Options{Settings: o.Settings})
	if err != nil {
		return err
	}
	if o.Load != nil {
		if err := o.Load(e); err != nil {
			return errors.Join(err, e.Close())
		}
	}
	server := wire.NewServer(e, wire.Limits{})
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	at := l.Addr().String()
	err = ready(Serving{Address: at, URL: "http://" + at, Engine: o.Engine.Name, PID: os.Getpid()})
	if err == nil {
		select {
		case <-ctx.Done():
		case err = <-ended:
		}
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	err = errors.Join(err, server.Shutdown(drain))
	if errors.Is(err, context.DeadlineExceeded) {
		return err // the engine is not to be closed; the process ends
	}
	return errors.Join(err, e.Close())
}

// listen listens at the address, which must be a loopback address unless remote ones are allowed.
func listen(address string, allowRemote bool) (net.Listener, error) {
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("address %q: it must be HOST:PORT, such as 127.0.0.1:8080; port 0 is any that is free: %w", address, err)
	}
	if !at.IP.IsLoopback() && !allowRemote {
		return nil, fmt.Errorf("address %q can be reached from other machines, and the server asks nobody who they are: use 127.0.0.1 or [::1], "+
			"or allow it by --allow-remote", address)
	}
	l, err := net.ListenTCP("tcp", at)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", address, err)
	}
	return l, nil
}

// serveRequest is what a measuring process asks of its server: one JSON line.
type serveRequest struct {
	Engine   string            `json:"engine"`
	Settings map[string]string `json:"settings"`
	Dir      string            `json:"dir"`
}

// ServeChild is the server process of a run: it reads one request from in, prints its Serving line to out and serves until
// SIGTERM. When in ends, the measuring process is gone, and it ends at once.
func ServeChild(list []*engines.Factory, in io.Reader, out io.Writer) error {
	dec := json.NewDecoder(in)
	var req serveRequest
	if err := dec.Decode(&req); err != nil {
		return fmt.Errorf("%s is started by this program itself, with a request: %w", ServerCommand, err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		os.Exit(3)
	}()
	f, err := Engine(list, req.Engine)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return Serve(ctx, ServeOptions{Engine: f, Settings: req.Settings, Dir: req.Dir, Address: LoopbackAddress}, func(s Serving) error {
		return json.NewEncoder(out).Encode(s)
	})
}
