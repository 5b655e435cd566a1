package matrix

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// A plan with an open loop and one over HTTP beside the closed ones of the small plan.
const loads = `
[[cell]]
engine = "a"
terminals = [2]
w = [1]
devices = ["ram"]
rates = [50, 1000]

[[cell]]
label = "a-twin"
twin_of = "a"
engine = "a"
terminals = [2]
w = [1]
devices = ["ram"]
rates = [50]

[[cell]]
engine = "a"
terminals = [2]
w = [1]
devices = ["ram"]
rates = [50]
arrivals = "fixed"
transport = "http"
cpus = "0"
load_cpus = "1-2"

[[cell]]
engine = "a"
terminals = [64]
w = [1]
devices = ["ram"]
transport = "http"
cpus = "0"
load_cpus = "1-2"
`

func loadsPlan(t *testing.T) *Plan {
	t.Helper()
	p, err := Parse("loads.toml", []byte(small+loads))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Rates are one more factor of a row's cells; what differs from a closed loop in-process is in the cell's name and in its
// runs, and nothing else is.
func TestLoads(t *testing.T) {
	p := loadsPlan(t)
	names := p.CellNames()
	before := smallPlan(t).CellNames()
	if !slices.Equal(names[:len(before)], before) {
		t.Errorf("the other cells are %v, were %v", names[:len(before)], before)
	}
	want := []string{"ram-w1-a-2-rate50", "ram-w1-a-2-rate1000", "ram-w1-a-twin-2-rate50", "ram-w1-a-2-rate50-fixed-http", "ram-w1-a-64-http"}
	if !slices.Equal(names[len(before):], want) {
		t.Errorf("cells %v, want %v", names[len(before):], want)
	}
	if twins := p.Twins(); !slices.Equal(twins, []Twin{{"ram-w1-a-2-rate50", "ram-w1-a-twin-2-rate50"}}) {
		t.Errorf("twins %v", twins)
	}
	for _, r := range append(p.TuningRuns(), p.MatrixRuns(nil)...) {
		got := struct {
			rate                                  float64
			arrivals, transport, cpus, load, name string
		}{r.RateTxPerS, r.Arrivals, r.Transport, r.CPUs, r.LoadCPUs, r.Load}
		want := got
		want.rate, want.arrivals, want.transport, want.cpus, want.load, want.name = 0, "", "in-process", "", "", ""
		switch r.Cell {
		case "ram-w1-a-2-rate50", "ram-w1-a-twin-2-rate50":
			want.rate, want.arrivals, want.name = 50, "poisson", "rate50"
		case "ram-w1-a-2-rate1000":
			want.rate, want.arrivals, want.name = 1000, "poisson", "rate1000"
		case "ram-w1-a-2-rate50-fixed-http":
			want.rate, want.arrivals, want.transport, want.cpus, want.load, want.name = 50, "fixed", "http", "0", "1-2", "rate50-fixed-http"
		case "ram-w1-a-64-http":
			want.transport, want.cpus, want.load, want.name = "http", "0", "1-2", "http"
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", r.ID(), got, want)
		}
	}
}

// What a plan says of its loads is in its identity; one that says nothing keeps the identity that it had.
func TestLoadsCanonical(t *testing.T) {
	text := string(loadsPlan(t).Canonical())
	for _, want := range []string{
		"cell[2].rates = [50, 1000]\ncell[2].arrivals = \"poisson\"\ncell[3].label", // the default is spelled out, since the key is new
		"cell[4].rates = [50]\ncell[4].arrivals = \"fixed\"\ncell[4].transport = \"http\"\ncell[4].cpus = \"0\"\ncell[4].load_cpus = \"1-2\"\n",
		"cell[5].devices = [\"ram\"]\ncell[5].transport = \"http\"\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, key := range []string{"rates", "arrivals", "transport", "cpus"} {
		if text := string(smallPlan(t).Canonical()); strings.Contains(text, key) {
			t.Errorf("a plan without %s has it in its canonical form", key)
		}
	}
	spelled, err := Parse("x", []byte(strings.Replace(small, "w = [1, 2]", "w = [1, 2]\ntransport = \"in-process\"", 1)))
	if err != nil || spelled.SHA256() != smallPlan(t).SHA256() {
		t.Errorf("the default transport, spelled out, is another plan: %v", err)
	}
}

// The plan in words says what is offered, from where latency counts, and which processors are whose.
func TestLoadWords(t *testing.T) {
	var b strings.Builder
	if err := loadsPlan(t).Words(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"  a: terminals 1/2, W=1/2, on ram, with defaults.\n",
		"  a: terminals 2, W=1, on ram, with defaults, in an open loop of 50/1000 transactions/s (poisson arrivals; latency from the intended start).\n",
		"  a: terminals 2, W=1, on ram, with defaults, in an open loop of 50 transactions/s (fixed arrivals; latency from the intended start), over http " +
			"with the server on processors 0 with the terminals on processors 1-2.\n",
		"    ram-w1-a-2-rate50-fixed-http\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// A list of processors that is none is reported with its line and key.
func TestCheckCPUs(t *testing.T) {
	err := loadsPlan(t).CheckCPUs(func(list string) error {
		if list == "1-2" {
			return errors.New("no")
		}
		return nil
	})
	if want := "loads.toml:92: cell[4].load_cpus: no\nloads.toml:101: cell[5].load_cpus: no"; err == nil || err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
}
