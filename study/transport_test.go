package study

import (
	"bytes"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tpccbench/engines"
	"tpccbench/engines/null"
	"tpccbench/engines/pure"
	"tpccbench/record"
)

// TestServedRun: a run over HTTP has all that one in-process has, of the server's process; serial, it has the same inputs and
// leaves the same rows. Its record passes the same gates: an engine that lies is found, and so is one that fails.
func TestServedRun(t *testing.T) {
	var digests []map[string]string
	cases := []struct{ engine, transport, gate string }{
		{"pure", record.TransportInProcess, ""},
		{"pure", record.TransportHTTP, ""},
		{"failing", record.TransportHTTP, record.GateFailures},
		{"forgetful", record.TransportHTTP, record.GateAcked},
		{"null", record.TransportHTTP, ""},
	}
	if testing.Short() {
		cases = cases[:2]
	}
	for _, c := range cases {
		dir, spec := t.TempDir(), nullSpec()
		spec.Engine, spec.Seconds, spec.Transactions, spec.Terminals, spec.Transport = c.engine, 0, 200, 1, c.transport
		if ans := ask(t, servedEngines(), &request{Op: opLoad, Dir: dir, WorkDir: t.TempDir(), Spec: spec}); ans.Error != "" {
			t.Fatal(ans.Error)
		}
		req := &request{Op: opRun, Dir: dir, WorkDir: t.TempDir(), Spec: spec}
		if _, err := req.place(); err != nil {
			t.Fatal(err)
		}
		ans := ask(t, servedEngines(), req)
		if ans.Run == nil {
			t.Fatalf("%s: %+v", c.engine, ans)
		}
		run := ans.Run
		valid(t, run)
		if run.Gate != c.gate || (run.Status == record.OK) != (c.gate == "") {
			t.Errorf("%s: status %q, gate %q, reason %q", c.engine, run.Status, run.Gate, run.Reason)
		}
		if c.engine == "pure" {
			digests = append(digests, run.Digests)
		}
		if c.transport != record.TransportHTTP || c.gate != "" {
			continue
		}
		for _, column := range []string{"cpu_us_per_tx", "driver_cpu_us_per_tx", "rss_bytes", "peak_rss_bytes", "latency_ns_p99_new_order"} {
			if !(run.Figures[column] > 0) {
				t.Errorf("%s: %s is %v, missing for %q", c.engine, column, run.Figures[column], run.Missing[column])
			}
		}
		if _, has := run.Figures["gc_cycles"]; !has || run.EngineSettings["server_gomaxprocs"] != strconv.Itoa(req.Server.GOMAXPROCS) {
			t.Errorf("%s: gc_cycles is missing for %q; settings %v", c.engine, run.Missing["gc_cycles"], run.EngineSettings)
		}
	}
	if len(digests) != 2 || digests[0]["inputs"] == "" || !maps.Equal(digests[0], digests[1]) {
		t.Errorf("in-process %v, over HTTP %v", digests[0], digests[1])
	}
}

// TestServerThatFails: a server process that cannot open the store, or dies, ends the run with what it said.
func TestServerThatFails(t *testing.T) {
	for how, want := range map[string]string{
		"cannot": "the server process ended with exit status 2; it said: cannot open",
		"dies":   "the server process ended with exit status 2; it said: panic: the device is gone",
	} {
		t.Setenv(serverFault, how)
		spec := nullSpec()
		spec.Transport, spec.Seconds = record.TransportHTTP, 60
		req := &request{Op: opRun, Dir: t.TempDir(), WorkDir: t.TempDir(), Spec: spec}
		if _, err := req.place(); err != nil {
			t.Fatal(err)
		}
		if ans := ask(t, servedEngines(), req); !strings.Contains(ans.Error, want) {
			t.Errorf("%s: %+v; want %q", how, ans, want)
		}
	}
}

// TestProcessors: a process that is started on some processors runs on them alone, with Go processors to match, and the
// thread that started it has its own again; processors that are not there are refused with those that are.
func TestProcessors(t *testing.T) {
	all, err := cpusOf("")
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	one := strconv.Itoa(all[0])
	at, err := placeOf(one)
	if want := processorsPerCore; err != nil || len(at.CPUs) != 1 || os.Getenv("GOMAXPROCS") == "" && at.GOMAXPROCS != want {
		t.Errorf("%+v, %v", at, err)
	}
	cmd := exec.Command("sh", "-c", "grep Cpus_allowed_list /proc/self/status")
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := onCPUs(at.CPUs, cmd.Start); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || strings.Fields(out.String())[1] != one {
		t.Errorf("%q, %v; want %s", out.String(), err, one)
	}
	if now, err := cpusOf(""); err != nil || !slices.Equal(now, all) {
		t.Errorf("%v, %v; before %v", now, err, all)
	}
	spec := nullSpec()
	spec.Transport, spec.LoadCPUs = record.TransportHTTP, "4095"
	if err := checkTransport(&spec); err == nil || !strings.Contains(err.Error(), `load_cpus: "4095" names processor 4095; this program may use [`) {
		t.Error(err)
	}
}

// TestPlanTransport: a plan with a run over HTTP on processors that there are not is refused before anything is made, with
// the run's name; one with a list of processors that is none, with its line.
func TestPlanTransport(t *testing.T) {
	dir := t.TempDir()
	r := testRunner(t, "complains")
	o := Options{PlanPath: filepath.Join(dir, "plan.toml"), Out: filepath.Join(dir, "out"), Log: io.Discard}
	r.Engines = []*engines.Factory{&pure.Factory, liar(func(s engines.Session) engines.Session { return s })}
	plan := func(cpus string) string {
		return strings.Replace(testPlan, "[[cell]]\n", "[[cell]]\ntransport = \"http\"\ncpus = \""+cpus+"\"\n", 1)
	}
	write(t, o.PlanPath, plan("4095"))
	refused(t, r, o, `cpus: "4095" names processor 4095`)
	write(t, o.PlanPath, plan("0,0"))
	refused(t, r, o, `cpus: "0,0" names processor 0 twice`)
}

// TestListen: an address that other machines can reach is refused unless that is allowed.
func TestListen(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "localhost:0"} {
		l, err := listen(address, false)
		if err != nil {
			t.Error(err)
			continue
		}
		l.Close()
	}
	for address, want := range map[string]string{
		"0.0.0.0:0":      "can be reached from other machines",
		":0":             "can be reached from other machines",
		"[::]:0":         "can be reached from other machines",
		"192.0.2.1:80":   "can be reached from other machines",
		"127.0.0.1":      "it must be HOST:PORT",
		"127.0.0.1:port": "it must be HOST:PORT",
	} {
		if _, err := listen(address, false); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), address) {
			t.Errorf("%s: %v; want %q", address, err, want)
		}
	}
	l, err := listen("0.0.0.0:0", true)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

// TestOpenRun: a run of an open loop has what a closed one has and the columns that only it has, with a series of its
// backlog; one whose engine cannot keep up says so.
func TestOpenRun(t *testing.T) {
	spec := nullSpec()
	spec.Seconds, spec.RateTxPerS, spec.Arrivals = 1.2, 500, record.ArrivalsFixed
	list := []*engines.Factory{&null.Factory}
	ans := ask(t, list, &request{Op: opRun, Dir: t.TempDir(), WorkDir: t.TempDir(), Spec: spec})
	if ans.Error != "" || ans.Run == nil {
		t.Fatalf("%+v", ans)
	}
	run := ans.Run
	valid(t, run)
	// What is due in a window is a whole number: at most one from the rate times the window's length by the clock.
	due := (run.Figures["offered_tx_per_s"] - 500) * run.Figures["seconds"]
	if run.Status != record.OK || math.Abs(due) > 1.001 || !(run.Figures["latency_ns_p99"] > 0) || !(run.Figures["service_ns_p99"] > 0) {
		t.Errorf("status %s, %v", run.Status, run.Figures)
	}
	for i, s := range run.Series {
		if s.BacklogMax == nil || s.BacklogEnd == nil || *s.BacklogMax < *s.BacklogEnd {
			t.Errorf("second %d has the backlogs %v and %v", i+1, s.BacklogMax, s.BacklogEnd)
		}
	}

	// No engine runs ten million transactions in a second with one terminal.
	spec.Seconds, spec.RateTxPerS, spec.Terminals = 0.2, record.MaxRate, 1
	ans = ask(t, list, &request{Op: opRun, Dir: t.TempDir(), WorkDir: t.TempDir(), Spec: spec})
	if ans.Error != "" || ans.Run == nil {
		t.Fatalf("%+v", ans)
	}
	run = ans.Run
	valid(t, run)
	if run.Figures["kept_up"] != 0 || !(run.Figures["backlog_end"] > 0) || !strings.Contains(strings.Join(run.Warnings, "\n"), "the engine did not keep up: 10000000 transactions/s were offered") {
		t.Errorf("kept_up %v, backlog_end %v, warnings %q", run.Figures["kept_up"], run.Figures["backlog_end"], run.Warnings)
	}
}
