package wire

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tpccbench/driver"
	"tpccbench/tpcc"
	"tpccbench/tpcc/consistency"
)

// garbage is how long TestGarbageMinute goes on:
//
//	go test ./wire -run TestGarbageMinute -garbage 60s -v
var garbage = flag.Duration("garbage", 0, "how long TestGarbageMinute goes on (default 1 s, half a second with -short)")

// TestGarbageMinute runs garbage of all kinds into a server beside 64 busy terminals: no transaction of theirs fails, each that
// was acknowledged is in the store, and nothing of the server is left at the end. It reports what went in and what came
// back, and how the terminals fared without the garbage and with it.
func TestGarbageMinute(t *testing.T) {
	length, terminals := *garbage, 64
	if length == 0 {
		length = time.Second
		if testing.Short() {
			length, terminals = time.Second/2, 16
		}
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	scale := tpcc.TestScale(4)
	e, _ := loaded(t, 4)
	before := runtime.NumGoroutine()
	address, stop := serve(t, e, Limits{Header: 200 * time.Millisecond, Body: 200 * time.Millisecond})
	client := newClient(t, address)
	ledger := consistency.NewLedger(scale)
	load := func(seed uint64, d time.Duration) *driver.Result {
		t.Helper()
		r, err := driver.Run(t.Context(), client, driver.Config{Seed: seed, Scale: scale, Weights: tpcc.StandardMix(), Terminals: terminals, Duration: d})
		if err != nil {
			t.Fatal(err)
		}
		if r.FailuresOfRun > 0 {
			t.Errorf("%d transactions failed; the first: %+v", r.FailuresOfRun, r.Failures[0])
		}
		ledger.Merge(r.Ledger)
		return r
	}
	alone := load(seed, length/4)

	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	throwers := make([]*thrower, 32)
	for i := range throwers {
		throwers[i] = &thrower{address: address, rng: rand.New(rand.NewPCG(seed, uint64(i))), answers: map[string]int{}}
		all.Go(func() {
			for ctx.Err() == nil {
				throwers[i].throw()
			}
		})
	}
	beside := load(seed+1, length)
	cancel()
	all.Wait()

	checker := consistency.NewChecker(scale)
	if err := e.Snapshot(checker.Add); err != nil {
		t.Fatal(err)
	}
	for _, v := range append(checker.Check(), ledger.Check(checker, 0)...) {
		t.Error(v)
	}
	client.Close()
	stop()
	noMoreGoroutines(t, before)
	if err := e.Close(); err != nil {
		t.Error(err)
	}

	connections, sent, answers := 0, int64(0), map[string]int{}
	for _, g := range throwers {
		connections += g.connections
		sent += g.sent
		for what, n := range g.answers {
			answers[what] += n
		}
	}
	if connections == 0 || len(answers) < 2 {
		t.Errorf("only %d connections, with the answers %v", connections, answers)
	}
	for _, r := range []struct {
		name string
		*driver.Result
	}{{"alone", alone}, {"beside garbage", beside}} {
		t.Logf("%d terminals %s: %.1f s, %d transactions, %.0f/s, p50 %.3g ms, p99 %.3g ms, max %.3g ms, %d failed", terminals, r.name, r.Measured().Seconds(),
			r.Totals().Completed(), r.TransactionsPerSecond(), float64(r.Latency.P50NS)/1e6, float64(r.Latency.P99NS)/1e6, float64(r.Latency.MaxNS)/1e6, r.FailuresOfRun)
	}
	t.Logf("garbage: %d connections, %d bytes; the last answer of each:", connections, sent)
	for _, what := range slices.Sorted(maps.Keys(answers)) {
		t.Logf("  %-8s %d", what, answers[what])
	}
	t.Logf("figures: seed=%d connections=%d garbage-bytes=%d transactions=%d failed=%d", seed, connections, sent, beside.Totals().Completed(), beside.FailuresOfRun)
}

// letters are those that JSON is made of, and some that it is not.
const letters = "{}[]\",:-.0123456789enultrfas\\\x00\xff"

// thrower throws garbage at a server, one connection after the other. It changes nothing in the store: what might be
// understood is a Stock-Level.
type thrower struct {
	address     string
	rng         *rand.Rand
	connections int
	sent        int64
	answers     map[string]int // by status, or "none"
}

func (g *thrower) throw() {
	nc, err := net.DialTimeout("tcp", g.address, time.Second)
	if err != nil {
		g.answers["refused"]++
		return
	}
	c := nc.(*net.TCPConn)
	defer c.Close()
	g.connections++
	_ = c.SetDeadline(time.Now().Add(2 * time.Second))
	request := g.request()
	n, _ := io.WriteString(c, request)
	g.sent += int64(n)
	switch g.rng.IntN(5) {
	case 0:
		_ = c.SetLinger(0) // a reset instead of an end
		g.answers["reset"]++
		return
	case 1:
		_ = c.CloseWrite()
	}
	b, _ := io.ReadAll(io.LimitReader(c, 1<<20)) // until the server, or its patience, ends it
	g.answers[lastStatus(string(b))]++
}

// lastStatus is the status of the last answer in what a server said.
func lastStatus(said string) string {
	i := strings.LastIndex(said, "HTTP/1.1 ")
	if i < 0 || len(said) < i+12 {
		return "none"
	}
	return said[i+9 : i+12]
}

// request is garbage of some kind. All but a few ask the server to close the connection, so that it is over soon.
func (g *thrower) request() string {
	rng := g.rng
	fine := strings.Replace(post("/v1/stock_level", stockLevel), "Host: x", "Host: x\r\nConnection: close", 1)
	switch rng.IntN(9) {
	case 0: // bytes
		return g.bytes(rng.IntN(5000))
	case 1: // some bytes of a request changed
		b := []byte(fine)
		for range 1 + rng.IntN(8) {
			b[rng.IntN(len(b))] = byte(rng.Uint32())
		}
		return string(b)
	case 2: // its beginning
		return fine[:rng.IntN(len(fine))]
	case 3: // a body of bytes, of the length that is said, or not
		n := rng.IntN(2 * MaxBody)
		return "POST /v1/stock_level HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: " +
			strconv.Itoa(n+rng.IntN(3)-1) + "\r\n\r\n" + g.bytes(n)
	case 4: // JSON with some bytes changed
		b := []byte(stockLevel)
		for range 1 + rng.IntN(3) {
			b[rng.IntN(len(b))] = letters[rng.IntN(len(letters))]
		}
		return strings.Replace(fine, stockLevel, string(b), 1)
	case 5: // brackets
		body := strings.Repeat([]string{"[", "{\"a\":", "\"", "1"}[rng.IntN(4)], rng.IntN(800))
		return strings.Replace(post("/v1/stock_level", body), "Host: x", "Host: x\r\nConnection: close", 1)
	case 6: // a long header
		return "GET /v1/status HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", rng.IntN(100_000)) + "\r\n\r\n"
	case 7: // chunks that are none
		return "POST /v1/stock_level HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" +
			fmt.Sprintf("%x\r\n", rng.Uint64()>>rng.IntN(64)) + g.bytes(rng.IntN(100))
	}
	// Many requests at once, and garbage behind them.
	return strings.Repeat(post("/v1/stock_level", stockLevel), 1+rng.IntN(50)) + g.bytes(10)
}

func (g *thrower) bytes(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(g.rng.Uint32())
	}
	return string(b)
}
