package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tpccbench/driver"
	"tpccbench/engines"
	"tpccbench/tpcc"
	"tpccbench/tpcc/consistency"
)

// raw is a connection that says what it likes.
type raw struct {
	t    testing.TB
	name string // of what is tried, for errors
	conn *net.TCPConn
	in   *bufio.Reader
}

func dialRaw(t testing.TB, address string) *raw {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return &raw{t, t.Name(), c.(*net.TCPConn), bufio.NewReader(c)}
}

func (r *raw) send(text string) {
	r.t.Helper()
	if _, err := io.WriteString(r.conn, text); err != nil {
		r.t.Fatal(err)
	}
}

// answer reads an answer; closes: the server says that it closes the connection.
func (r *raw) answer() (status int, body string, closes bool) {
	r.t.Helper()
	a, err := http.ReadResponse(r.in, nil)
	if err != nil {
		r.t.Fatalf("%s: no answer: %v", r.name, err)
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil {
		r.t.Fatalf("%s: no whole answer: %v", r.name, err)
	}
	return a.StatusCode, string(b), a.Close
}

// atEnd fails the test unless the server has closed the connection.
func (r *raw) atEnd() {
	r.t.Helper()
	if b, err := io.ReadAll(r.in); err != nil && !errors.Is(err, syscall.ECONNRESET) || len(b) > 0 {
		r.t.Errorf("%s: behind the last answer there is %q, %v", r.name, b, err)
	}
}

// TestRefusedRequests: each kind of bad request gets its status, a JSON body that says what is wrong, and either leaves the
// connection as it was or is told that it is closed; beside all of them, a terminal's transactions go on.
func TestRefusedRequests(t *testing.T) {
	e, _ := loaded(t, 1)
	defer e.Close()
	address, stop := serve(t, e, Limits{Header: 300 * time.Millisecond, Body: 300 * time.Millisecond})
	defer stop()
	client := newClient(t, address)
	session, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	works := func() {
		t.Helper()
		var out tpcc.StockLevelOutput
		if err := session.StockLevel(&tpcc.StockLevelInput{WID: 1, DID: 1, Threshold: 15}, &out); err != nil {
			t.Fatalf("the terminal beside it: %v", err)
		}
	}
	const path = "/v1/stock_level"
	head := "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
	for _, c := range []struct {
		name, request string
		halfClose     bool
		status        int
		text          string
		closes        bool
	}{
		{name: "fine", request: post(path, stockLevel), status: 200, text: `{"low_stock":`},
		{name: "fine, half closed", request: post(path, stockLevel), halfClose: true, status: 200, text: `{"low_stock":`},
		{name: "fine, with a charset", request: strings.Replace(post(path, stockLevel), "json\r", "json; charset=UTF-8\r", 1), status: 200, text: `{"low_stock":`},
		{name: "fine, in chunks", request: head + "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(stockLevel), stockLevel), status: 200, text: `{"low_stock":`},
		{name: "malformed", request: post(path, `{"w_id":`), status: 400, text: "the input of stock_level: the JSON ends too early"},
		{name: "no body", request: post(path, ""), status: 400, text: "the JSON ends too early"},
		{name: "other type's body", request: post("/v1/payment", stockLevel), status: 400, text: `there is no member \"threshold\"`},
		{name: "no such warehouse", request: post(path, `{"w_id":7,"d_id":1,"threshold":15}`), status: 500, text: `"error"`},
		{name: "wrong path", request: post("/v1/stocklevel", stockLevel), status: 404, text: "there is no path"},
		{name: "root", request: "GET / HTTP/1.1\r\nHost: x\r\n\r\n", status: 404, text: "there is no path"},
		{name: "wrong method", request: "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n", status: 405, text: "wants POST"},
		{name: "wrong method of status", request: post("/v1/status", "{}"), status: 405, text: "wants GET"},
		{name: "other content", request: strings.Replace(post(path, stockLevel), "application/json", "text/plain", 1), status: 415, text: "it must be application/json"},
		{name: "no content type", request: strings.Replace(post(path, stockLevel), "Content-Type: application/json\r\n", "", 1), status: 415, text: "it must be application/json"},
		{name: "other charset", request: strings.Replace(post(path, stockLevel), "json\r", "json; charset=latin1\r", 1), status: 415, text: "it must be application/json"},
		{name: "packed", request: strings.Replace(post(path, stockLevel), "Host", "Content-Encoding: gzip\r\nHost", 1), status: 415, text: "in no encoding"},
		{name: "too long by its header", request: head + "Content-Length: 1000000000\r\n\r\n{", status: 413, text: "it must have at most 4096", closes: true},
		{name: "too long", request: post(path, strings.Repeat(" ", MaxBody+1)), status: 413, text: "it must have at most 4096"},
		{name: "as long as may be", request: post(path, stockLevel+strings.Repeat(" ", MaxBody-len(stockLevel))), status: 200, text: `{"low_stock":`},
		{name: "too long in chunks", request: head + "Transfer-Encoding: chunked\r\n\r\n1400\r\n" + strings.Repeat(" ", 0x1400) + "\r\n", status: 413, text: "at most 4096", closes: true},
		{name: "slow body", request: head + "Content-Length: 34\r\n\r\n{", status: 408, text: "the body did not come within 300ms", closes: true},
		{name: "slow header", request: head, status: 408, text: "the request did not come within 300ms", closes: true},
		{name: "half closed in the body", request: head + "Content-Length: 34\r\n\r\n{", halfClose: true, status: 400, text: "the body ends after 1 bytes", closes: true},
		{name: "half closed in the header", request: head, halfClose: true, status: 400, closes: true},
		{name: "wrong length", request: head + "Content-Length: x\r\n\r\n", status: 400, closes: true},
		{name: "two lengths", request: head + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}", status: 400, closes: true},
		{name: "long header", request: head + "X: " + strings.Repeat("x", 64<<10) + "\r\n\r\n", status: 431, closes: true},
		{name: "other protocol", request: "HELO there\r\n\r\n", status: 400, closes: true},
		{name: "TLS", request: "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", status: 400, closes: true},
		{name: "session with a body", request: post("/v1/session", stockLevel), status: 400, text: "the body of a request for a session is {}"},
		{name: "session", request: post("/v1/session", " {} "), status: 200, text: "{}"},
	} {
		r := dialRaw(t, address)
		r.name = c.name
		// The server need not take all of what is too long.
		if _, err := io.WriteString(r.conn, c.request); err != nil && c.status != 431 && c.status != 413 {
			t.Fatalf("%s: %v", c.name, err)
		}
		if c.halfClose {
			if err := r.conn.CloseWrite(); err != nil {
				t.Fatal(err)
			}
		}
		status, body, closes := r.answer()
		if status != c.status || !strings.Contains(body, c.text) || closes != c.closes {
			t.Errorf("%s: %d %s, closes %v; want %d, %q, %v", c.name, status, body, closes, c.status, c.text, c.closes)
		}
		switch {
		case closes:
			r.atEnd()
		case !c.halfClose:
			r.send(post(path, stockLevel))
			if status, body, _ := r.answer(); status != 200 {
				t.Errorf("%s: the connection's next request: %d %s", c.name, status, body)
			}
		}
		r.conn.Close()
		works()
	}
}

// TestErrors: an engine's errors come through as what they are, with their text; a panic too, after which the connection
// ends; and a session that is refused.
func TestErrors(t *testing.T) {
	e := &scripted{}
	address, stop := serve(t, e, Limits{})
	defer stop()
	client := newClient(t, address)
	for _, c := range []struct {
		err    error
		status int
		is     []error
	}{
		{errors.New("no such customer"), 500, nil},
		{fmt.Errorf("commit: %w", engines.ErrIndeterminate), 500, []error{engines.ErrIndeterminate}},
		{fmt.Errorf("%w: %w", engines.ErrFailed, engines.ErrIndeterminate), 503, []error{engines.ErrFailed, engines.ErrIndeterminate}},
		{fmt.Errorf("write wal: %w", syscall.ENOSPC), 507, []error{syscall.ENOSPC}},
		{fmt.Errorf("write wal: %w", syscall.EDQUOT), 507, []error{syscall.EDQUOT}},
		{fmt.Errorf("%w: %w", engines.ErrFailed, syscall.EFBIG), 507, []error{engines.ErrFailed, syscall.EFBIG}},
		{fmt.Errorf("page 7: %w", engines.ErrCorrupt), 500, []error{engines.ErrCorrupt}},
		{errors.New("not \xff UTF-8"), 500, nil},
	} {
		e.call = func(tpcc.Type) error { return c.err }
		s, err := client.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		in := &tpcc.PaymentInput{WID: 1, DID: 1, CWID: 1, CDID: 1, CID: 1, Amount: 1}
		err = s.Payment(in, new(tpcc.PaymentOutput))
		var answered *Error
		if !errors.As(err, &answered) || answered.Status != c.status || !strings.Contains(strings.ReplaceAll(err.Error(), `\xff`, "\xff"), c.err.Error()) {
			t.Errorf("%v came as %v", c.err, err)
		}
		for _, k := range kinds {
			if errors.Is(err, k.err) != slices.Contains(c.is, k.err) {
				t.Errorf("%v came as %v; is it %v?", c.err, err, k.err)
			}
		}
		e.call = func(tpcc.Type) error { return nil }
		if err := s.Payment(in, new(tpcc.PaymentOutput)); err != nil {
			t.Errorf("after %v: %v", c.err, err)
		}
		s.Close()
	}

	e.call = func(tpcc.Type) error { panic("broken") }
	s, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	err = s.StockLevel(&tpcc.StockLevelInput{WID: 1, DID: 1}, new(tpcc.StockLevelOutput))
	if !errors.Is(err, engines.ErrIndeterminate) || !strings.HasPrefix(err.Error(), "panic: broken\n") {
		t.Errorf("a panic came as %v", err)
	}
	if err := s.StockLevel(&tpcc.StockLevelInput{WID: 1, DID: 1}, new(tpcc.StockLevelOutput)); !errors.Is(err, errBroken) {
		t.Errorf("after a panic: %v", err)
	}
	s.Close()

	e.refuse = errors.New("no more than 0 sessions")
	if _, err := client.NewSession(); err == nil || err.Error() != "no more than 0 sessions" {
		t.Errorf("a session that is refused: %v", err)
	}
	r := dialRaw(t, address)
	r.send(post("/v1/stock_level", stockLevel))
	if status, body, _ := r.answer(); status != 503 || !strings.Contains(body, "no more than 0 sessions") {
		t.Errorf("a transaction without a session: %d %s", status, body)
	}
}

// TestStatus: facts come through, those that are not known too; what is no server of an engine is no Client's.
func TestStatus(t *testing.T) {
	e := &scripted{}
	address, stop := serve(t, e, Limits{})
	defer stop()
	client := newClient(t, address)
	st, err := client.Status()
	if err != nil {
		t.Fatal(err)
	}
	f := st.Facts
	if f.Commits != engines.Unknown || f.OwnerTID != 7 || f.BusyNS != nil || f.FileBytes["a"] != 1 || f.Settings["x_version"] != "1" || st.PID == 0 ||
		st.GOMAXPROCS != runtime.GOMAXPROCS(0) || !st.GC.CPUNS.OK() {
		t.Errorf("%+v", st)
	}
	if err := client.Load(nil); !errors.Is(err, ErrNotServed) {
		t.Error(err)
	}
	if err := client.Snapshot(nil); !errors.Is(err, ErrNotServed) {
		t.Error(err)
	}

	for _, answer := range []string{"", "220 mail\r\n", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n", "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nno!", strings.Repeat("x", 10_000)} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = bufio.NewReader(c).ReadString('\n')
			_, _ = io.WriteString(c, answer)
			c.Close()
		}()
		if _, err := NewClient(l.Addr().String()); err == nil || !strings.Contains(err.Error(), "does not answer as a server of an engine does") {
			t.Errorf("%.40q: %v", answer, err)
		}
		l.Close()
	}
}

// TestLostServer: when the server goes away in mid-transaction, the outcome is open.
func TestLostServer(t *testing.T) {
	e := &scripted{}
	address, stop := serve(t, e, Limits{})
	client := newClient(t, address)
	s, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e.call = func(tpcc.Type) error { return nil }
	if err := s.StockLevel(&tpcc.StockLevelInput{WID: 1, DID: 1}, new(tpcc.StockLevelOutput)); err != nil {
		t.Fatal(err)
	}
	stop()
	err = s.StockLevel(&tpcc.StockLevelInput{WID: 1, DID: 1}, new(tpcc.StockLevelOutput))
	if !errors.Is(err, engines.ErrIndeterminate) {
		t.Errorf("of a server that is gone: %v", err)
	}
	if err := s.StockLevel(&tpcc.StockLevelInput{WID: 1, DID: 1}, new(tpcc.StockLevelOutput)); !errors.Is(err, errBroken) {
		t.Errorf("once more: %v", err)
	}
	if _, err := client.NewSession(); err == nil {
		t.Error("a session of a server that is gone")
	}
}

// TestLongTransaction: the limits are the client's, not the engine's: a transaction that takes longer than any of them is
// answered, and the connection goes on.
func TestLongTransaction(t *testing.T) {
	limit := 20 * time.Millisecond
	e := &scripted{call: func(tpcc.Type) error { time.Sleep(5 * limit); return nil }}
	address, stop := serve(t, e, Limits{Header: limit, Body: limit, Write: limit})
	defer stop()
	s, err := newClient(t, address).NewSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 3 {
		if err := s.StockLevel(&tpcc.StockLevelInput{WID: 1, DID: 1}, new(tpcc.StockLevelOutput)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestShutdownAnswersInFlight: a transaction that the engine is working on when the server is told to stop is answered;
// connections that have asked nothing, or are idle, do not hold it up.
func TestShutdownAnswersInFlight(t *testing.T) {
	begun, finish := make(chan struct{}), make(chan struct{})
	e := &scripted{call: func(typ tpcc.Type) error {
		if typ == tpcc.TxPayment {
			close(begun)
			<-finish
		}
		return nil
	}}
	before := runtime.NumGoroutine()
	address, stop := serve(t, e, Limits{})
	silent, idle, busy := dialRaw(t, address), dialRaw(t, address), dialRaw(t, address)
	idle.send(post("/v1/stock_level", stockLevel))
	if status, _, _ := idle.answer(); status != 200 {
		t.Fatal(status)
	}
	busy.send(post("/v1/payment", `{"w_id":1,"d_id":2,"c_w_id":1,"c_d_id":2,"by_name":false,"c_last":0,"c_id":7,"amount":1,"date":1}`))
	<-begun
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	silent.atEnd()
	idle.atEnd()
	if c, err := net.Dial("tcp", address); err == nil {
		c.Close()
		t.Error("a connection was accepted while the server drains")
	}
	close(finish)
	if status, body, closes := busy.answer(); status != 200 || !closes {
		t.Errorf("the transaction in flight: %d %s, closes %v", status, body, closes)
	}
	<-stopped
	noMoreGoroutines(t, before)
}

// TestStopInMidLoad: when a server is stopped while terminals work, each transaction that was acknowledged is in the
// store, whole, and nothing of the server is left.
func TestStopInMidLoad(t *testing.T) {
	terminals, most := 64, int64(20_000)
	if testing.Short() {
		terminals, most = 16, 2_000
	}
	scale := tpcc.TestScale(2)
	e, _ := loaded(t, 2)
	before := runtime.NumGoroutine()
	address, stop := serve(t, e, Limits{})
	client := newClient(t, address)
	acknowledged := make(chan struct{}, 1<<20)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	ended := make(chan *driver.Result, 1)
	go func() {
		r, err := driver.Run(t.Context(), client, driver.Config{Seed: seed, Scale: scale, Weights: tpcc.StandardMix(), Terminals: terminals, Duration: time.Hour,
			OnAck: func(driver.Ack) {
				select {
				case acknowledged <- struct{}{}:
				default:
				}
			}})
		if r == nil {
			t.Error(err)
		}
		ended <- r
	}()
	for range most {
		<-acknowledged
	}
	stop()
	r := <-ended
	if r == nil || r.Ledger == nil {
		t.Fatal("no result")
	}
	if r.FailuresOfRun != int64(terminals) || r.TerminalsEnded != terminals {
		t.Errorf("%d failures, %d terminals ended; each of the %d has its one, of a server that is gone", r.FailuresOfRun, r.TerminalsEnded, terminals)
	}
	checker := consistency.NewChecker(scale)
	if err := e.Snapshot(checker.Add); err != nil {
		t.Fatal(err)
	}
	for _, v := range append(checker.Check(), r.Ledger.Check(checker, int(r.FailuresOfRun))...) {
		t.Error(v)
	}
	client.Close()
	noMoreGoroutines(t, before)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestCrowd: beside a crowd of connections that only sit there, busy terminals are served, none fails, and a stop does
// not wait for the crowd.
func TestCrowd(t *testing.T) {
	crowd, terminals, most := 1000, 64, int64(30_000)
	if testing.Short() {
		crowd, terminals, most = 200, 16, 2_000
	}
	scale := tpcc.TestScale(1)
	e, _ := loaded(t, 1)
	before := runtime.NumGoroutine()
	address, stop := serve(t, e, Limits{})
	client := newClient(t, address)
	var sitting []*raw
	for i := range crowd {
		r := dialRaw(t, address)
		sitting = append(sitting, r)
		switch i % 3 { // 0: silent
		case 1:
			r.send("POST /v1/pay")
		case 2:
			r.send(post("/v1/stock_level", stockLevel))
			if status, body, _ := r.answer(); status != 200 {
				t.Fatal(status, body)
			}
		}
	}
	r, err := driver.Run(t.Context(), client, driver.Config{Seed: 1, Scale: scale, Weights: tpcc.StandardMix(), Terminals: terminals, StopAfter: most})
	if err != nil {
		t.Fatal(err)
	}
	if r.FailuresOfRun != 0 || r.Totals().Completed() != most {
		t.Errorf("%d failures: %+v", r.FailuresOfRun, r.Failures)
	}
	t.Logf("%d idle connections, %d terminals: %.0f transactions/s, p99 %.3g ms", crowd, terminals, r.TransactionsPerSecond(), float64(r.Latency.P99NS)/1e6)
	client.Close()
	for i, r := range sitting {
		if i%3 == 1 {
			r.conn.Close() // what has begun to come would be waited for
		}
	}
	stop()
	noMoreGoroutines(t, before)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
