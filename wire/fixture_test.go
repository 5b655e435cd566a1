package wire

import (
	"context"
	"fmt"
	"iter"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"tpccbench/engines"
	"tpccbench/engines/null"
	"tpccbench/engines/pure"
	"tpccbench/tpcc"
)

const testSeed = 1

// loaded opens engine pure on a small population in memory, where there is memory.
func loaded(t testing.TB, warehouses int) (engines.Engine, string) {
	t.Helper()
	dir := t.TempDir()
	if shm, err := os.MkdirTemp("/dev/shm", "tpccbench-test-"); err == nil {
		dir = shm
		t.Cleanup(func() { os.RemoveAll(shm) })
	}
	e, err := pure.Factory.Open(dir, engines.Options{Settings: map[string]string{"log_segment_bytes": "1048576", "checkpoint_min_bytes": "1048576"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Load(tpcc.Population(testSeed, tpcc.TestScale(warehouses))); err != nil {
		t.Fatal(err)
	}
	return e, dir
}

func nullEngine(t testing.TB) engines.Engine {
	t.Helper()
	e, err := null.Factory.Open("", engines.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// serve serves the engine until the test ends, or stop is called.
func serve(t testing.TB, e engines.Engine, limits Limits) (address string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(e, limits)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	stopped := false
	stop = func() {
		t.Helper()
		if stopped {
			return
		}
		stopped = true
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	}
	t.Cleanup(stop)
	return l.Addr().String(), stop
}

// newClient is a client of the server.
func newClient(t testing.TB, address string) *Client {
	t.Helper()
	c, err := NewClient(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// noMoreGoroutines fails the test unless at most before of them are left soon.
func noMoreGoroutines(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines before, %d after; all of them now:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// scripted answers every transaction as call says.
type scripted struct {
	engines.Engine // nil
	call           func(typ tpcc.Type) error
	refuse         error // what NewSession says
}

func (e *scripted) Facts() (engines.Facts, error) {
	return engines.Facts{Commits: engines.Unknown, OwnerTID: 7, FileBytes: map[string]int64{"a": 1}, Settings: map[string]string{"x_version": "1"}}, nil
}
func (e *scripted) Load(iter.Seq[*tpcc.Row]) error { return nil }
func (e *scripted) NewSession() (engines.Session, error) {
	if e.refuse != nil {
		return nil, e.refuse
	}
	return scriptedSession{e}, nil
}

type scriptedSession struct{ e *scripted }

func (s scriptedSession) NewOrder(*tpcc.NewOrderInput, *tpcc.NewOrderOutput) error {
	return s.e.call(tpcc.TxNewOrder)
}
func (s scriptedSession) Payment(*tpcc.PaymentInput, *tpcc.PaymentOutput) error {
	return s.e.call(tpcc.TxPayment)
}
func (s scriptedSession) OrderStatus(*tpcc.OrderStatusInput, *tpcc.OrderStatusOutput) error {
	return s.e.call(tpcc.TxOrderStatus)
}
func (s scriptedSession) Delivery(*tpcc.DeliveryInput, *tpcc.DeliveryOutput) error {
	return s.e.call(tpcc.TxDelivery)
}
func (s scriptedSession) StockLevel(*tpcc.StockLevelInput, *tpcc.StockLevelOutput) error {
	return s.e.call(tpcc.TxStockLevel)
}
func (s scriptedSession) Close() error { return nil }

// post is a request with the body, whole.
func post(path, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
}
