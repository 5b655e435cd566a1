package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tpccbench/matrix"
	"tpccbench/record"
)

var update = flag.Bool("update", false, "write the golden files anew")

// owner makes owner_core_share of ram-w1-pure-4 what the rounds say; other cells keep 0.5.
func owner(rounds ...float64) func(*record.Run) float64 {
	return func(r *record.Run) float64 {
		if r.Cell == "ram-w1-pure-4" {
			return rounds[r.Round-1]
		}
		return 0.5
	}
}

// Every outcome, and every reason for which nothing can be decided, with its words.
func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		name     string
		prepare  func(*fixture)
		decision string
		want     Outcome
		sentence string
		reasons  []string
	}{
		{"any: none holds", func(*fixture) {}, "faster", HoldsNot, "It is.", nil},
		{"any: one holds", func(f *fixture) { f.rates["ram-w1-pure-8"] = []float64{20_000, 20_200, 20_400} }, "faster", Holds, "It is not.", nil},
		{"any: all hold", func(f *fixture) {
			f.rates["ram-w1-pure-8"] = []float64{20_000, 20_200, 20_400}
			f.rates["ram-w1-pure-4"] = []float64{10_000, 10_200, 10_400}
			f.rates["ram-w1-pure-twin-4"] = []float64{10_000, 10_200, 10_400}
		}, "faster", Holds, "It is not.", nil},
		{"two conditions: neither", func(*fixture) {}, "owner", HoldsNot, "It is not busy, or more terminals gain.", nil},
		{"two conditions: one", func(f *fixture) { f.figures["owner_core_share"] = owner(0.99, 0.98, 0.99) },
			"owner", HoldsNot, "It is not busy, or more terminals gain.", nil},
		{"two conditions: both", func(f *fixture) {
			f.plan = withoutTwin(t) // the band of the twin's share would be 2
			f.figures["owner_core_share"] = owner(0.99, 0.98, 0.99)
			f.rates["ram-w1-pure-8"] = []float64{30_000, 30_300, 30_600}
		}, "owner", Holds, "It is busy, and more terminals gain nothing.", nil},
		{"all: both hold", func(*fixture) {}, "memory", Holds, "It is.", nil},
		{"all: one does not", func(f *fixture) {
			f.figures["rss_bytes"] = func(r *record.Run) float64 { return float64(20*r.Spec.Terminals) * (1 << 20) }
		}, "memory", HoldsNot, "It is not.", nil},

		{"a run broke a gate", func(f *fixture) {
			f.each = func(r *record.Run) {
				if r.Name() == victim {
					r.Status, r.Gate, r.Reason = record.Failed, record.GateDurable, "3 flushes for 9 commits"
				}
			}
		}, "faster", CannotDecide, "", []string{
			"ram-w1-pure-4, round 1: it broke the gate durability: 3 flushes for 9 commits"}},
		{"a run is missing", func(f *fixture) { f.only = func(r *matrix.Run) bool { return r.ID() != "matrix-sd-w1-pure-8-r3" } },
			"memory", CannotDecide, "", []string{"sd-w1-pure-8, round 3: there is no record of it"}},
		{"a missing run though another cell decides", func(f *fixture) {
			f.rates["ram-w1-pure-8"] = []float64{20_000, 20_200, 20_400}
			f.only = func(r *matrix.Run) bool { return r.ID() != victim }
		}, "faster", CannotDecide, "", []string{
			"ram-w1-pure-4, round 1: there is no record of it"}},
		{"a figure was not measured", func(f *fixture) {
			f.each = func(r *record.Run) {
				if r.Name() == victim {
					r.Miss("owner_core_share", "permission denied")
				}
			}
		}, "owner", CannotDecide, "", []string{"ram-w1-pure-4, round 1: owner_core_share was not measured: permission denied"}},
		{"a ratio by 0", func(f *fixture) { f.figures["state_bytes"] = func(*record.Run) float64 { return 0 } },
			"memory", CannotDecide, "", []string{"sd-w1-pure-4, rounds 1, 2, 3: 104857600 / 0 is no number"}},
		{"too few rounds", func(f *fixture) { f.plan = strings.Replace(f.plan, "rounds = 3", "rounds = 2", 2) },
			"faster", CannotDecide, "", []string{"ram-w1-pure-4 over ram-w1-sqlitegrouped-4, ram-w1-pure-8 over ram-w1-sqlitegrouped-8 have 2 rounds, and the plan wants 3 at least"}},
		{"few rounds, and the plan wants no more", func(f *fixture) {
			f.plan = strings.Replace(strings.Replace(f.plan, "rounds = 3", "rounds = 2", 2), `if_false = "It is."`, "if_false = \"It is.\"\nmin_rounds = 2", 1)
		}, "faster", HoldsNot, "It is.", nil},
		{"the threshold within the range", func(f *fixture) { f.rates["ram-w1-pure-8"] = []float64{22_000, 26_000, 27_000} },
			"faster", CannotDecide, "", []string{"ram-w1-pure-8 over ram-w1-sqlitegrouped-8: noise exceeds the effect: the threshold 2 lies within " +
				"1.81 to 2.23, the range of 3 rounds widened by the A/A band (x1.010)"}},
		{"noise on which nothing hangs", func(f *fixture) {
			f.rates["ram-w1-pure-8"] = []float64{22_000, 26_000, 27_000} // about the threshold of "any"
			f.rates["ram-w1-pure-4"] = []float64{10_000, 10_200, 10_400} // and this one holds
			f.rates["ram-w1-pure-twin-4"] = []float64{10_000, 10_200, 10_400}
		}, "faster", Holds, "It is not.", nil},
		{"without a pair the range stands alone", func(f *fixture) {
			f.plan = withoutTwin(t)
			f.rates["ram-w1-pure-8"] = []float64{24_200, 24_400, 24_600}
			f.rates["ram-w1-sqlitegrouped-8"] = []float64{12_000, 12_000, 12_000}
		}, "faster", HoldsNot, "It is.", nil},
		{"the same with a pair whose band reaches the threshold", func(f *fixture) {
			f.rates["ram-w1-pure-8"] = []float64{24_200, 24_400, 24_600}
			f.rates["ram-w1-sqlitegrouped-8"] = []float64{12_000, 12_000, 12_000}
			f.rates["ram-w1-pure-twin-4"] = []float64{30_000, 30_300, 31_000}
		}, "faster", CannotDecide, "", []string{"ram-w1-pure-8 over ram-w1-sqlitegrouped-8: noise exceeds the effect: the threshold 2 lies " +
			"within 1.99 to 2.08, the range of 3 rounds widened by the A/A band (x1.013)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t)
			c.prepare(f)
			v := f.load().verdictOf(t, c.decision)
			if v.Outcome != c.want || v.Sentence != c.sentence {
				t.Errorf("%s %q, want %s %q; reasons %q", v.Outcome, v.Sentence, c.want, c.sentence, v.Reasons)
			}
			if (len(v.Reasons) > 0) != (c.want == CannotDecide) {
				t.Errorf("reasons %q", v.Reasons)
			}
			for _, want := range c.reasons {
				if !slices.Contains(v.Reasons, want) {
					t.Errorf("no reason %q in %q", want, v.Reasons)
				}
			}
		})
	}
}

// The plan's report columns are quoted for each cell once, and as the greater over the lesser for each two cells that
// are compared, whichever of them the condition names first; the compared column has its evidence.
func TestQuotes(t *testing.T) {
	f := newFixture(t)
	f.plan = strings.Replace(f.plan, `report = ["tx_per_s"]`, `report = ["tx_per_s", "cpu_us_per_tx", "log_bytes_per_tx"]`, 1)
	v := f.load().verdictOf(t, "faster")
	if len(v.Quoted) != 3*4 {
		t.Errorf("%d quotes, want 3 columns of 4 cells", len(v.Quoted))
	}
	var times []string
	for _, q := range v.Times {
		times = append(times, fmt.Sprintf("%s %s/%s %.2f", q.Column, q.Cell, q.Over, q.Summary.Median))
	}
	want := []string{
		"cpu_us_per_tx ram-w1-sqlitegrouped-4/ram-w1-pure-4 3.00", "cpu_us_per_tx ram-w1-sqlitegrouped-8/ram-w1-pure-8 3.75",
	}
	if !slices.Equal(times, want) {
		t.Errorf("%q, want %q", times, want)
	}
}

// The comparison at the threshold itself is that of the plan's words.
func TestThresholdItself(t *testing.T) {
	for comparison, want := range map[string][3]bool{ // below, at, above the threshold
		"at_most": {true, true, false}, "at_least": {false, true, true}, "below": {true, false, false}, "above": {false, false, true},
	} {
		c := matrix.Condition{Comparison: comparison, Threshold: 2}
		for i, v := range []float64{math.Nextafter(2, 1), 2, math.Nextafter(2, 3)} {
			if compares(&c, v) != want[i] {
				t.Errorf("%v %s 2: %v", v, comparison, !want[i])
			}
		}
	}
}

// The band is the farthest that a pair's two runs of a round were apart, whichever of them was ahead, on its device
// alone.
func TestBand(t *testing.T) {
	f := newFixture(t)
	f.rates["ram-w1-pure-4"] = []float64{30_000, 30_000, 30_000}
	f.rates["ram-w1-pure-twin-4"] = []float64{33_000, 24_000, 30_000}
	s := f.load()
	b, ok := s.Band("ram", "tx_per_s")
	if !ok || math.Abs(b.Factor-1.25) > 1e-9 || b.Ratios != 3 {
		t.Errorf("band %+v %v, want a factor of 1.25 from 3 ratios", b, ok)
	}
	if !b.Contains(0.8) || !b.Contains(1.25) || b.Contains(0.79) || b.Contains(1.26) {
		t.Errorf("band %+v contains other than 0.8 to 1.25", b)
	}
	if b, ok := s.Band("sd", "tx_per_s"); ok || b.Factor != 1 {
		t.Errorf("a band on sd, where there is no pair: %+v", b)
	}
	if b, ok := s.Band("ram", "owner_core_share"); !ok || b.Factor != 1 {
		t.Errorf("band of equal figures: %+v %v", b, ok)
	}
	if _, ok := s.Band("ram", "log_bytes_per_tx"); ok {
		t.Error("a band of what was not measured")
	}
}

// A ratio within the band is called no difference; without a band none is.
func TestNoDifference(t *testing.T) {
	for _, c := range []struct {
		twin []float64
		want bool
	}{{[]float64{30_000, 30_300, 27_000}, true}, {[]float64{30_000, 30_300, 30_600}, false}} {
		f := newFixture(t)
		f.rates["ram-w1-pure-8"] = []float64{31_500, 31_800, 32_100} // 5 % more than with 4 terminals
		f.rates["ram-w1-pure-twin-4"] = c.twin
		v := f.load().verdictOf(t, "owner")
		if got := v.Conditions[1].Evidence[0].NoDifference; got != c.want {
			t.Errorf("twin %v: no difference %v", c.twin, got)
		}
	}
	f := newFixture(t)
	f.plan = withoutTwin(t)
	f.rates["ram-w1-pure-8"] = []float64{30_000, 30_300, 30_600}
	if f.load().verdictOf(t, "owner").Conditions[1].Evidence[0].NoDifference {
		t.Error("no difference is claimed without an A/A pair")
	}
}

// The first line of each output says what the study counts as.
func TestStanding(t *testing.T) {
	for _, c := range []struct {
		prepare func(*fixture)
		want    string
	}{
		{func(*fixture) {}, "registered: plan and program were committed unchanged before the run."},
		{func(f *fixture) { f.quick = true }, "quick: the runs were short, which are no results."},
		{func(f *fixture) { f.exploratory = []string{"the plan is not committed unchanged: no git"} },
			"exploratory: the plan is not committed unchanged: no git."},
		{func(f *fixture) {
			f.quick, f.exploratory = true, []string{"the program was built from a changed checkout"}
		},
			"exploratory quick: the program was built from a changed checkout; the runs were short, which are no results."},
		{func(f *fixture) {
			f.each = func(r *record.Run) { r.Storage = json.RawMessage(`{"emulation":{"profile":"slow"}}`) }
			f.only = func(r *matrix.Run) bool { return r.Device == "sd" }
		}, "registered: plan and program were committed unchanged before the run. An emulation, no real card: sd (emulated: slow)."},
	} {
		f := newFixture(t)
		c.prepare(f)
		s := f.load()
		var text, md bytes.Buffer
		if err := s.WriteMarkdown(&md); err != nil {
			t.Fatal(err)
		}
		if err := s.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		if first, _, _ := strings.Cut(md.String(), "\n"); first != c.want {
			t.Errorf("verdict.md begins with %q, want %q", first, c.want)
		}
		if all := strings.Join(strings.Fields(text.String()), " "); !strings.HasPrefix(all, c.want) {
			t.Errorf("the text begins with %.100q, want %q", all, c.want)
		}
		if d := s.document(); !strings.HasPrefix(c.want, d.Standing+":") {
			t.Errorf("standing %q in JSON", d.Standing)
		}
	}
}

// The verdict of a study with a bit of everything, as text, markdown and JSON, is that of the golden files.
func TestVerdictOutputs(t *testing.T) {
	f := newFixture(t)
	f.rates["ram-w1-pure-8"] = []float64{22_000, 26_000, 27_000}
	f.each = func(r *record.Run) {
		if r.Name() == "matrix-sd-w1-pure-8-r2" {
			r.Status, r.Gate, r.Reason = record.Failed, record.GateCrash, "the process was killed | once"
		}
	}
	s := f.load()
	for name, write := range map[string]func(*bytes.Buffer) error{
		"verdict.txt":  func(b *bytes.Buffer) error { return s.WriteText(b) },
		"verdict.md":   func(b *bytes.Buffer) error { return s.WriteMarkdown(b) },
		"verdict.json": func(b *bytes.Buffer) error { return s.WriteJSON(b) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
	}
	var d document
	var b bytes.Buffer
	if err := s.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Bytes(), &d); err != nil || len(d.Decisions) != 3 {
		t.Errorf("%d decisions, %v", len(d.Decisions), err)
	}
}

// golden compares with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what is written; go test ./report -update writes it anew, to be read then. Written is\n%s", path, got)
	}
}

// The committed study, which is older than raw.sha256 and the A/A pairs, still loads, is whole, and its decisions are
// those that were worked out by hand from its records when they were made.
func TestCommittedStudy(t *testing.T) {
	s, err := Load("../results/preregistered")
	if err != nil {
		t.Fatal(err)
	}
	if !s.IsWhole() || len(s.Problems) > 0 || len(s.Runs) != 121 || len(s.Gates) != 2 || s.Standing() != "registered" {
		t.Errorf("%s, %d runs, %d gates, problems %v", s.Standing(), len(s.Runs), len(s.Gates), s.Problems)
	}
	medians := map[string]string{}
	for _, v := range s.Verdicts {
		var figures []string
		for _, c := range v.Conditions {
			for _, e := range c.Evidence {
				figures = append(figures, fmt.Sprintf("%.2f", e.Summary.Median))
			}
		}
		medians[v.Decision.Name] = string(v.Outcome) + " " + strings.Join(figures, " ")
	}
	for name, want := range map[string]string{
		"sd-claim":   "does not hold 4.66 8.29 5.57 9.34",
		"one-owner":  "does not hold 0.99 1.41",
		"checkpoint": "does not hold 0.93 0.89",
		"memory":     "holds 1.07 1.00 1.08 1.03 1.14 1.01 1.16 1.03",
	} {
		if medians[name] != want {
			t.Errorf("%s: %s, want %s", name, medians[name], want)
		}
	}
	for _, tuning := range s.Tunings {
		if tuning.Choice == nil || tuning.Recorded == nil || tuning.Choice.Candidate != tuning.Recorded.Candidate {
			t.Errorf("tuning on %s: %+v", tuning.Device, tuning)
		}
	}
}
