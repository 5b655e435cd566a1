package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"tpccbench/matrix"
	"tpccbench/record"
	"tpccbench/report/stats"
)

// sixRounds is a fixture with six rounds on ram, whose figures are scaled by factor.
func sixRounds(t *testing.T, factor float64) *fixture {
	f := newFixture(t)
	f.plan = strings.Replace(f.plan, "rounds = 3", "rounds = 6", 1)
	for cell, rate := range map[string]float64{"ram-w1-pure-4": 30_000, "ram-w1-pure-8": 45_000, "ram-w1-pure-twin-4": 30_000} {
		for round := range 6 {
			f.rates[cell] = append(f.rates[cell], rate*factor*(1+0.001*float64(round)))
		}
	}
	return f
}

func (c *Comparison) row(t *testing.T, cell, column string) *ComparisonRow {
	t.Helper()
	i := slices.IndexFunc(c.Rows, func(r ComparisonRow) bool { return r.Cell == cell && r.Column == column })
	if i < 0 {
		t.Fatalf("no row of %s, %s", cell, column)
	}
	return &c.Rows[i]
}

// Two studies side by side: a difference is one, what is inside the band or equal is none, too few rounds tell nothing.
func TestCompareStudies(t *testing.T) {
	f, g := sixRounds(t, 1), sixRounds(t, 1.1)
	g.rates["ram-w1-pure-8"] = slices.Clone(f.rates["ram-w1-pure-8"])
	a, b := f.load(), g.load()
	columns := []string{"tx_per_s", "cpu_us_per_tx", "log_bytes_per_tx"}
	c := Compare(a, b, columns)
	for _, want := range []struct {
		cell, column, word string
		ratio              float64
	}{
		{"ram-w1-pure-4", "tx_per_s", "B is higher", 1.1},
		{"ram-w1-pure-4", "cpu_us_per_tx", "B is lower", 1 / 1.1},
		{"ram-w1-pure-8", "tx_per_s", stats.Same, 1},
		{"sd-w1-pure-4", "tx_per_s", stats.TooFew, 1},
	} {
		r := c.row(t, want.cell, want.column)
		if r.Word() != want.word || math.Abs(r.Ratio-want.ratio) > 1e-9 {
			t.Errorf("%s, %s: %s, ratio %v, p %v; want %s, %v", want.cell, want.column, r.Word(), r.Ratio, r.P, want.word, want.ratio)
		}
	}
	if r := c.row(t, "ram-w1-pure-4", "tx_per_s"); r.Interval == nil || r.Interval.Low > 1.1 || r.Interval.High < 1.1 || r.Band == nil {
		t.Errorf("interval %+v, band %+v", r.Interval, r.Band)
	}
	if slices.ContainsFunc(c.Rows, func(r ComparisonRow) bool { return r.Column == "log_bytes_per_tx" }) {
		t.Error("a row of a column that nobody measured")
	}
	if len(c.Warnings) > 0 {
		t.Errorf("warnings %q", c.Warnings)
	}

	// The same difference, and identical things that differ as much.
	g.rates["ram-w1-pure-twin-4"][2] *= 1.12
	c = Compare(a, g.load(), columns)
	if r := c.row(t, "ram-w1-pure-4", "tx_per_s"); r.P > 0.05 || r.Word() != stats.Same {
		t.Errorf("inside a band of %+v: p %v, %s", r.Band, r.P, r.Word())
	}
}

// What two studies do not have in common is said.
func TestCompareWarnings(t *testing.T) {
	f, g := newFixture(t), newFixture(t)
	g.machine = strings.Replace(g.machine, "Made-up 1", "Made-up 2", 1)
	g.exploratory = []string{"no git"}
	g.each = func(r *record.Run) {
		if r.Spec.Device == "sd" {
			r.Storage = []byte(`{"fs_type":"ext4","emulation":{"profile":"slow"}}`)
		}
	}
	g.plan = strings.Replace(strings.Replace(withoutTwin(t), "seed = 7", "seed = 8", 1), "seconds = 2", "seconds = 4", 1)
	a, b := f.load(), g.load()
	c := Compare(a, b, DefaultColumns())
	text := strings.Join(c.Warnings, "\n")
	for _, want := range []string{
		"is exploratory: no git", "has an emulation, no real card: sd (emulated: slow)", "file system of device sd: A has tmpfs, B has ext4",
		"machine: A has Made-up 1, 2 cores", "plan: A has ", "seed: A has 7, B has 8",
		"cell ram-w1-pure-4: length: A has 2 s after 0 s, B has 4 s after 0 s",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no warning %q in\n%s", want, text)
		}
	}
	if !slices.Equal(c.OnlyA, []string{"ram-w1-pure-twin-4"}) || len(c.OnlyB) > 0 {
		t.Errorf("only A has %v, only B %v", c.OnlyA, c.OnlyB)
	}
	if d := Compare(b, a, DefaultColumns()); !slices.Equal(d.OnlyB, c.OnlyA) {
		t.Errorf("the other way round, only B has %v", d.OnlyB)
	}
}

// The comparison's outputs are those of the golden files; the CSV has one row per cell and column.
func TestComparisonOutputs(t *testing.T) {
	a, b := sixRounds(t, 1).load(), sixRounds(t, 1.1).load()
	a.Dir, b.Dir = "results/before", "results/after"
	c := Compare(a, b, []string{"tx_per_s", "owner_core_share"})
	var text, md, table bytes.Buffer
	for _, err := range []error{c.WriteText(&text), c.WriteMarkdown(&md), c.WriteCSV(&table)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "compare.txt", text.Bytes())
	golden(t, "compare.md", md.Bytes())
	golden(t, "compare.csv", table.Bytes())
	rows, err := csv.NewReader(&table).ReadAll()
	if err != nil || len(rows) != 1+len(c.Rows) || len(rows[0]) != len(comparisonColumns) {
		t.Errorf("%d rows of CSV for %d, %v", len(rows), len(c.Rows), err)
	}
}

// What benchstat reads is what the records hold: each run's figures under the name of its cell, in the units that the
// format knows.
func TestBenchfmt(t *testing.T) {
	f := newFixture(t)
	f.only = func(r *matrix.Run) bool { return r.ID() != "matrix-sd-w1-pure-8-r3" }
	s := f.load()
	columns := []string{"tx_per_s", "cpu_us_per_tx", "latency_ns_p99_new_order", "rss_bytes", "device_bytes_per_tx", "log_bytes_per_tx"}
	var b bytes.Buffer
	if err := WriteBenchfmt(&b, columns, s); err != nil {
		t.Fatal(err)
	}
	if first, _, _ := strings.Cut(b.String(), "\n"); !strings.HasPrefix(first, "# ") || !strings.Contains(first, ": registered: ") {
		t.Errorf("the first line is %q", first)
	}
	reader := benchfmt.NewReader(&b, "study")
	got := map[string][]float64{} // by name and unit
	lines := 0
	for reader.Scan() {
		switch r := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Error(r)
		case *benchfmt.Result:
			lines++
			if r.Iters != 1000 {
				t.Errorf("%s: %d iterations, want its 1000 transactions", r.Name, r.Iters)
			}
			if len(r.Config) > 0 {
				t.Errorf("%s: a configuration key, which would keep benchstat from comparing: %v", r.Name, r.Config)
			}
			for _, v := range r.Values {
				key := r.Name.String() + " " + v.Unit
				got[key] = append(got[key], v.Value)
			}
		}
	}
	if lines != 3*9-1 {
		t.Errorf("%d lines, want one for each of %d runs of the matrix", lines, 3*9-1)
	}
	for unit, column := range map[string]struct {
		name   string
		factor float64
	}{
		"tx/s": {"tx_per_s", 1}, "cpu-sec/tx": {"cpu_us_per_tx", 1e-6}, "latency-p99-new-order-sec": {"latency_ns_p99_new_order", 1e-9},
		"rss-B": {"rss_bytes", 1}, "device-B/tx": {"device_bytes_per_tx", 1},
	} {
		for _, c := range s.Cells {
			want := c.Values(column.name).Values
			have := got[fmt.Sprintf("TPCC/device=%s/w=%d/row=%s/terminals=%d %s", c.Device, c.W, c.Label, c.Terminals, unit)]
			if len(have) != len(want) {
				t.Errorf("%s, %s: %v, want %v", c.Name, unit, have, want)
				continue
			}
			for i := range want {
				if math.Abs(have[i]-want[i]*column.factor) > 1e-9*have[i] {
					t.Errorf("%s, %s: %v, want %v times %v", c.Name, unit, have, want, column.factor)
				}
			}
		}
	}
	if better := reader.Units().GetBetter("tx/s"); better != 1 {
		t.Errorf("tx/s: better is %d, want higher", better)
	}
	if better := reader.Units().GetBetter("cpu-sec/tx"); better != -1 {
		t.Errorf("cpu-sec/tx: better is %d, want lower", better)
	}
}

// Two studies in one stream are told apart by the key study.
func TestBenchfmtOfTwo(t *testing.T) {
	a, b := newFixture(t).load(), newFixture(t).load()
	a.Dir, b.Dir = "results/a", "results/b"
	var out bytes.Buffer
	if err := WriteBenchfmt(&out, []string{"tx_per_s"}, a, b); err != nil {
		t.Fatal(err)
	}
	reader := benchfmt.NewReader(&out, "both")
	lines := map[string]int{}
	for reader.Scan() {
		switch r := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Error(r)
		case *benchfmt.Result:
			lines[r.GetConfig("study")]++
		}
	}
	if lines["results/a"] != 27 || lines["results/b"] != 27 || len(lines) != 2 {
		t.Errorf("lines by study: %v", lines)
	}
}

// The unit of every column is made of its name, and no two columns share one.
func TestBenchUnits(t *testing.T) {
	for column, want := range map[string]string{
		"tx_per_s": "tx/s", "nopm": "nopm", "cpu_us_per_tx": "cpu-ns/tx", "latency_ns_p99_in_checkpoint": "latency-p99-in-checkpoint-ns",
		"peak_rss_bytes": "peak-rss-B", "syncs_per_tx": "syncs/tx", "calibration_ns": "calibration-ns",
	} {
		if unit, _ := benchUnit(column); unit != want {
			t.Errorf("%s: %s, want %s", column, unit, want)
		}
	}
	seen := map[string]string{}
	for _, column := range record.FigureColumns() {
		unit, _ := benchUnit(column)
		if other, taken := seen[unit]; taken {
			t.Errorf("%s and %s are both %s", other, column, unit)
		}
		seen[unit] = column
	}
	if err := WriteBenchfmt(new(bytes.Buffer), []string{"study"}, newFixture(t).load()); err == nil {
		t.Error("a column that holds no figure is taken")
	}
}
