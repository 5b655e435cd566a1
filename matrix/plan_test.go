package matrix

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares got with the file of testdata, or writes it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("differs from %s (go test -update writes it); got:\n%s", path, got)
	}
}

func preregistered(t *testing.T) *Plan {
	t.Helper()
	p, err := Read("preregistered.toml")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The smallest plan with a tuning and a decision; the tests of bad plans change one thing of it.
const small = `format = "tpccbench.plan"
version = 1
name = "small"
title = "A small plan"
seed = 7
order_seed = 8

[[device]]
name = "ram"
kind = "memory"
seconds = 1.5
warm_up_seconds = 0
rounds = 2

[gates]
equal_transactions = 100
equal_engines = ["a", "b"]
equal_device = "ram"
published_clauses = [1, 2, 3, 4]
checked_clauses = [5, 6]
max_failures = 0

[[tuning]]
device = "ram"
w = 1
rounds = 2
applies_to = ["b"]
choose_by = "mean_tx_per_s"
choose_over = "b"
[[tuning.run]]
engine = "b"
terminals = [1, 2]
[[tuning.candidate]]
name = "plain"
[[tuning.candidate]]
name = "fast"
settings = { size = 10, mode = "x" }

[[cell]]
engine = "a"
terminals = [1, 2]
w = [1, 2]
devices = ["ram"]

[[cell]]
label = "b-wide"
engine = "b"
settings = { mode = "wide" }
terminals = [2]
w = [1]
devices = ["ram"]

[[decision]]
name = "better"
claim = "a is better than b."
if_true = "It is."
if_false = "It is not."
[[decision.condition]]
statistic = "ratio"
column = "tx_per_s"
cells = ["ram-w1-a-2"]
over_cells = ["ram-w1-b-wide-2"]
holds_for = "all"
comparison = "above"
threshold = 1
`

func smallPlan(t *testing.T) *Plan {
	t.Helper()
	p, err := Parse("small.toml", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The registered plan in words, its hash included: a change of what it says cannot go unnoticed.
func TestPreregisteredWords(t *testing.T) {
	var b bytes.Buffer
	if err := preregistered(t).Words(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "preregistered.txt", b.Bytes())
}

func TestQuickWords(t *testing.T) {
	var b bytes.Buffer
	if err := preregistered(t).Quick().Words(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "quick.txt", b.Bytes())
}

// Every run of the registered plan with all that the child process is told.
func TestPreregisteredRuns(t *testing.T) {
	p := preregistered(t)
	chosen := map[string]map[string]string{}
	for _, u := range p.Tunings {
		chosen[u.Device] = u.Candidates[2].Settings
	}
	var b bytes.Buffer
	for _, r := range append(p.TuningRuns(), p.MatrixRuns(chosen)...) {
		fmt.Fprintf(&b, "%d %s label=%s candidate=%s engine=%s [%s] %s(%s) w=%d terminals=%d %gs+%gs seed=%d mix=%v\n", r.Order, r.ID(), r.Label,
			r.Candidate, r.Engine, settingsText(r.Settings), r.Device, r.Kind, r.W, r.Terminals, r.WarmUpSeconds, r.Seconds, r.Seed, r.Mix)
	}
	for _, g := range p.Gates() {
		fmt.Fprintf(&b, "%s %+v\n", g.ID(), g)
	}
	golden(t, "runs.txt", b.Bytes())
}

// The study's plan by its own numbers, independent of the golden files.
func TestPreregisteredIsTheStudy(t *testing.T) {
	p := preregistered(t)
	cells := p.CellNames()
	for _, device := range []string{"ram", "sd"} {
		for _, w := range []int{1, 4} {
			for label, terminals := range map[string][]int{"pure": {16, 64}, "sqlite": {1, 4}, "sqlitegrouped": {16, 64}, "sqlitegrouped-strong": {16, 64}} {
				for _, n := range terminals {
					if name := cellName(device, w, label, n, ""); !slices.Contains(cells, name) {
						t.Errorf("no cell %s", name)
					}
				}
			}
		}
	}
	twins := p.Twins()
	if len(twins) != 4 {
		t.Errorf("%d A/A pairs, want pure and grouped SQLite at 64 terminals and W=1 on both devices: %v", len(twins), twins)
	}
	for _, w := range twins {
		if !slices.Contains(cells, w.Cell) || !slices.Contains(cells, w.Twin) || w.Cell == w.Twin {
			t.Errorf("%v is no pair of cells", w)
		}
	}
	if len(cells) != 32+len(twins) {
		t.Errorf("%d cells, want 32 and the twins", len(cells))
	}
	for _, r := range p.MatrixRuns(nil) {
		if want := map[string]float64{"ram": 20, "sd": 30}[r.Device]; r.Seconds != want || r.WarmUpSeconds != 0 {
			t.Errorf("%s runs %g s after %g s, want %g after 0", r.ID(), r.Seconds, r.WarmUpSeconds, want)
		}
	}
	if n := len(p.MatrixRuns(nil)); n != 3*len(cells) {
		t.Errorf("%d runs in the matrix, want three rounds of %d cells", n, len(cells))
	}
	if p.Gate.EqualTransactions != 20_000 || p.Gate.MaxFailures != 0 || len(p.Decisions) != 4 || len(p.Gates()) != 2 {
		t.Errorf("gates %+v, %d decisions", p.Gate, len(p.Decisions))
	}
}

// The hash is of what the plan says, not of how it is written.
func TestSHA256(t *testing.T) {
	want := smallPlan(t).SHA256()
	for _, same := range []string{
		"# a comment\n" + small,
		strings.ReplaceAll(small, "\n", "\r\n"),
		strings.ReplaceAll(small, "terminals = [1, 2]", "terminals = [\n 1, # one\n 0x2,\n]"),
		strings.Replace(small, "seconds = 1.5\nwarm_up_seconds = 0\n", "warm_up_seconds = 0.0\nseconds = 15e-1\n", 1),
		strings.Replace(small, `settings = { size = 10, mode = "x" }`, "[tuning.candidate.settings]\nmode = 'x'\nsize = 1_0", 1),
		strings.Replace(small, "seed = 7\n", "mix = [45, 43, 4, 4, 4]\nseed = 7\n", 1), // the default said
	} {
		p, err := Parse("x", []byte(same))
		if err != nil {
			t.Fatal(err)
		}
		if p.SHA256() != want {
			t.Errorf("another hash for\n%s", same)
		}
	}
	seen := map[string]string{want: "the plan"}
	for _, change := range [][2]string{
		{"seed = 7", "seed = 9"}, {"order_seed = 8", "order_seed = 9"}, {"A small plan", "Another"}, {"rounds = 2", "rounds = 3"},
		{"size = 10", "size = 11"}, {"threshold = 1", "threshold = 1.1"}, {"mode = \"wide\"", "mode = \"x\""},
		{"equal_transactions = 100", "equal_transactions = 101"}, {"It is not.", "No."}, {`comparison = "above"`, `comparison = "at_least"`},
		{"terminals = [1, 2]\nw", "terminals = [2, 1]\nw"},
	} {
		p, err := Parse("x", []byte(strings.Replace(small, change[0], change[1], 1)))
		if err != nil {
			t.Fatal(err)
		}
		h := p.SHA256()
		if other, ok := seen[h]; ok {
			t.Errorf("%q has the hash of %s", change[1], other)
		}
		seen[h] = change[1]
	}
	if q := smallPlan(t).Quick().SHA256(); q == want {
		t.Error("the quick plan has the hash of the plan")
	}
}

func TestSource(t *testing.T) {
	if got := string(smallPlan(t).Source()); got != small {
		t.Errorf("source differs:\n%s", got)
	}
}

func TestCheckNames(t *testing.T) {
	p := smallPlan(t)
	known := map[string][]string{"a": {}, "b": {"size", "mode"}}
	check := func() string {
		err := p.CheckNames(func(e string) ([]string, error) {
			if s, ok := known[e]; ok {
				return s, nil
			}
			return nil, fmt.Errorf("there is no engine %q", e)
		})
		if err == nil {
			return ""
		}
		return err.Error()
	}
	if got := check(); got != "" {
		t.Errorf("all names known: %s", got)
	}
	known["b"] = []string{"mode"}
	if got, want := check(), `small.toml:37: tuning[0].candidate[1].settings.size: engine b has no such setting; it has mode`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	known["b"] = nil
	if got, want := check(), `small.toml:37: tuning[0].candidate[1].settings.mode: engine b has no such setting; it has none
small.toml:37: tuning[0].candidate[1].settings.size: engine b has no such setting; it has none
small.toml:48: cell[1].settings.mode: engine b has no such setting; it has none`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	delete(known, "b")
	if got, want := check(), `small.toml:17: gates.equal_engines: there is no engine "b"
small.toml:27: tuning[0].applies_to: there is no engine "b"
small.toml:31: tuning[0].run[0].engine: there is no engine "b"
small.toml:47: cell[1].engine: there is no engine "b"`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestCheckColumns(t *testing.T) {
	p := preregistered(t)
	if err := p.CheckColumns(func(string) bool { return true }); err != nil {
		t.Error(err)
	}
	err := p.CheckColumns(func(c string) bool { return c != "state_bytes" })
	if err == nil || strings.Count(err.Error(), "\n") != 1 || !strings.Contains(err.Error(), `over_column: there is no column "state_bytes"`) {
		t.Errorf("state_bytes unknown: %v", err)
	}
}

// Settings that an engine refuses are named where the plan gives them: a candidate's, a row's own, and a row's on top of
// what a tuning may choose.
func TestCheckSettings(t *testing.T) {
	p := smallPlan(t)
	refuse := func(what string) string {
		err := p.CheckSettings(func(engine string, settings map[string]string) error {
			if text := engine + " " + settingsText(settings); text == what {
				return fmt.Errorf("refused: %s", text)
			}
			return nil
		})
		if err == nil {
			return ""
		}
		return err.Error()
	}
	for what, want := range map[string]string{
		"b mode=x":            "",
		"b mode=x size=10":    "small.toml:37: tuning[0].candidate[1].settings: refused: b mode=x size=10",
		"b mode=wide":         "small.toml:48: cell[1].settings: refused: b mode=wide",
		"b mode=wide size=10": "small.toml:48: cell[1].settings: refused: b mode=wide size=10",
	} {
		if got := refuse(what); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
}
