package report

import (
	"encoding/json"
	"math"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tpccbench/matrix"
	"tpccbench/record"
	"tpccbench/report/stats"
)

// pythonTables is what tables.py --json prints.
type pythonTables struct {
	Study    string                              `json:"study"`
	Standing string                              `json:"standing"`
	Cells    map[string]map[string]stats.Summary `json:"cells"`  // by cell and column
	Ratios   map[string]map[string]stats.Summary `json:"ratios"` // by CELL over CELL and column
	Tuning   map[string]float64                  `json:"tuning"` // mean tx_per_s by DEVICE ENGINE CANDIDATE
}

func python(t *testing.T, args ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	cmd := exec.Command("python3", append([]string{"../tables.py"}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tables.py: %v: %s", err, stderr.String())
	}
	return out
}

// tables.py, which shares no code with this package, and this package agree on every median, range and ratio within
// rounds, and on the means that the tuning compares: of a made-up study with a failed run and a missing figure, of a
// quick one, and of the committed one.
func TestTablesAgree(t *testing.T) {
	whole := newFixture(t)
	whole.rates["ram-w1-pure-4"] = []float64{31_234.5, 29_876.25, 30_303.125}
	whole.each = func(r *record.Run) {
		switch r.Name() {
		case "matrix-sd-w1-pure-8-r2":
			r.Status, r.Gate, r.Reason = record.Failed, record.GateCrash, "the process was killed"
		case "matrix-ram-w1-sqlitegrouped-4-r1":
			r.Miss("cpu_us_per_tx", "permission denied")
		}
	}
	quick := newFixture(t)
	quick.quick, quick.exploratory = true, []string{"no git"}
	dirs := map[string]string{"whole": whole.write(), "quick": quick.write()}
	if !testing.Short() {
		dirs["committed"] = "../results/preregistered"
	}
	for name, dir := range dirs {
		t.Run(name, func(t *testing.T) {
			s, err := Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			var p pythonTables
			if err := json.Unmarshal(python(t, dir, "--json"), &p); err != nil {
				t.Fatal(err)
			}
			if p.Study != s.Registration.Study || p.Standing != s.Standing() {
				t.Errorf("study %q, standing %q; here %q, %q", p.Study, p.Standing, s.Registration.Study, s.Standing())
			}
			compared := 0
			for _, c := range s.Cells {
				for column, theirs := range p.Cells[c.Name] {
					same(t, c.Name+" "+column, c.Values(column).Summary(), theirs)
					compared++
				}
				for _, column := range []string{"tx_per_s", "cpu_us_per_tx", "rss_bytes"} {
					if _, ok := p.Cells[c.Name][column]; !ok && len(c.Values(column).Values) > 0 {
						t.Errorf("%s, %s: not in tables.py", c.Name, column)
					}
				}
				for _, over := range s.Cells {
					if c == over || c.Device != over.Device || c.W != over.W {
						continue
					}
					for _, column := range []string{"tx_per_s", "device_bytes_per_tx", "cpu_us_per_tx"} {
						ours := Ratios(column, c, over).Summary()
						theirs := p.Ratios[c.Name+" over "+over.Name][column]
						same(t, c.Name+" over "+over.Name+" "+column, ours, theirs)
						compared++
					}
				}
			}
			for _, tuning := range s.Tunings {
				for _, k := range tuning.Choice.Compared {
					mean := p.Tuning[strings.Join([]string{tuning.Device, tuning.Choice.Over, k.Candidate}, " ")]
					if math.Abs(mean-k.TxPerSAvg) > 1e-9*k.TxPerSAvg {
						t.Errorf("tuning on %s, %s: mean %v, here %v", tuning.Device, k.Candidate, mean, k.TxPerSAvg)
					}
					compared++
				}
			}
			if compared < 100 || len(p.Cells) != countResults(s) {
				t.Errorf("%d figures compared; %d cells, here %d", compared, len(p.Cells), countResults(s))
			}
			printed(t, s, string(python(t, dir)))
		})
	}
}

// countResults is the number of cells that have a result.
func countResults(s *Study) int {
	n := 0
	for _, c := range s.Cells {
		if len(c.Results()) > 0 {
			n++
		}
	}
	return n
}

func same(t *testing.T, what string, a, b stats.Summary) {
	t.Helper()
	near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-12*math.Abs(x) }
	if a.N != b.N || !near(a.Median, b.Median) || !near(a.Min, b.Min) || !near(a.Max, b.Max) {
		t.Errorf("%s: %+v, in tables.py %+v", what, a, b)
	}
}

// printed looks for each cell's throughput in the printed table of its device, in the row of its label and terminals.
func printed(t *testing.T, s *Study, text string) {
	t.Helper()
	if first, _, _ := strings.Cut(text, "\n"); s.Standing() != "registered" && !strings.HasPrefix(first, "*exploratory*") {
		t.Errorf("the first line of an exploratory study is %q", first)
	}
	rounded := func(v float64) string { return thousands(strconv.FormatFloat(v, 'f', 0, 64)) }
	for _, c := range s.Cells {
		sum := c.Values("tx_per_s").Summary()
		want := rounded(sum.Median)
		if sum.N > 1 {
			want += " (" + rounded(sum.Min) + "-" + rounded(sum.Max) + ")"
		}
		_, section, _ := strings.Cut(text, "## Matrix on "+c.Device+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		row := "| " + c.Label + ", " + strconv.Itoa(c.Terminals) + " |"
		i := slices.IndexFunc(strings.Split(section, "\n"), func(l string) bool { return strings.HasPrefix(l, row) })
		if i < 0 || !strings.Contains(strings.Split(section, "\n")[i], want) {
			t.Errorf("%s: %q is not in the printed row %q", c.Name, want, row)
		}
	}
}

// An emulated device is named in the first line of the tables too.
func TestTablesSayEmulation(t *testing.T) {
	f := newFixture(t)
	f.each = func(r *record.Run) {
		if r.Spec.Kind == matrix.KindDisk {
			r.Storage = json.RawMessage(`{"emulation":{"profile":"slow"}}`)
		}
	}
	if first, _, _ := strings.Cut(string(python(t, f.write())), "\n"); first != "*emulation*, no real card: sd (slow)." {
		t.Errorf("the first line is %q", first)
	}
}
