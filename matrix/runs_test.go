package matrix

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func ids(runs []Run) []string {
	var names []string
	for i := range runs {
		names = append(names, runs[i].ID())
	}
	return names
}

// Every cell runs exactly once per round, rounds follow each other, and the rounds' orders differ.
func TestRounds(t *testing.T) {
	p := preregistered(t)
	runs := p.MatrixRuns(nil)
	orders := map[string]string{}
	for _, d := range p.Devices {
		for round := 1; round <= d.Rounds; round++ {
			var cells []string
			for len(runs) > 0 && runs[0].Device == d.Name && runs[0].Round == round {
				cells = append(cells, runs[0].Cell)
				runs = runs[1:]
			}
			if text := strings.Join(cells, " "); orders[text] != "" {
				t.Errorf("%s round %d has the order of %s", d.Name, round, orders[text])
			} else {
				orders[text] = d.Name
			}
			want := slices.DeleteFunc(p.CellNames(), func(c string) bool { return !strings.HasPrefix(c, d.Name+"-") })
			slices.Sort(cells)
			slices.Sort(want)
			if !slices.Equal(cells, want) {
				t.Errorf("%s round %d: got %v, want %v", d.Name, round, cells, want)
			}
		}
	}
	if len(runs) != 0 {
		t.Errorf("%d runs are in no round", len(runs))
	}
}

// The order is a function of order_seed and the names: the same each time, another with another seed, and the order
// of the rest stays when a row is left out.
func TestOrder(t *testing.T) {
	p := preregistered(t)
	all := ids(p.MatrixRuns(nil))
	if again := ids(preregistered(t).MatrixRuns(nil)); !slices.Equal(all, again) {
		t.Error("the order differs from one reading to the next")
	}
	fewer := *p
	fewer.Rows = slices.DeleteFunc(slices.Clone(p.Rows), func(r Row) bool { return r.Engine == "pure" })
	want := slices.DeleteFunc(slices.Clone(all), func(id string) bool { return strings.Contains(id, "-pure-") })
	if got := ids(fewer.MatrixRuns(nil)); !slices.Equal(got, want) || len(got) == len(all) {
		t.Errorf("without pure the order of the others is %v, want %v", got, want)
	}
	other := *p
	other.OrderSeed++
	got := ids(other.MatrixRuns(nil))
	if slices.Equal(got, all) {
		t.Error("another order_seed gives the same order")
	}
	slices.Sort(got)
	slices.Sort(all)
	if !slices.Equal(got, all) {
		t.Error("another order_seed gives other runs")
	}
}

func TestOrderNumbers(t *testing.T) {
	p := preregistered(t)
	for _, runs := range [][]Run{p.TuningRuns(), p.MatrixRuns(nil)} {
		for i, r := range runs {
			if r.Order != i+1 {
				t.Errorf("%s has order %d, want %d", r.ID(), r.Order, i+1)
			}
		}
	}
}

// IDs name files and stand in patterns: each is there once and has no other characters than a-z, 0-9 and hyphen.
func TestIDs(t *testing.T) {
	p := preregistered(t)
	seen := map[string]bool{}
	for _, id := range append(ids(p.TuningRuns()), ids(p.MatrixRuns(nil))...) {
		if seen[id] || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			t.Errorf("bad or repeated ID %q", id)
		}
		seen[id] = true
	}
	for _, want := range []string{"matrix-ram-w1-pure-64-r3", "tuning-ram-w1-sqlitegrouped-64-defaults-r1", "tuning-sd-w1-sqlite-1-page1024-r1"} {
		if !seen[want] {
			t.Errorf("no run %s", want)
		}
	}
}

// A row gets the settings that were chosen on its device if the tuning applies to its engine, and its own on top.
func TestChosenSettings(t *testing.T) {
	p := preregistered(t)
	chosen := map[string]map[string]string{"ram": {"temp_store": "memory", "reads": "own"}, "sd": {"page_size": "1024"}}
	before := map[string]map[string]string{"ram": maps.Clone(chosen["ram"]), "sd": maps.Clone(chosen["sd"])}
	want := map[string]string{
		"ram-pure": "", "sd-pure": "", "ram-sqlite": "reads=own temp_store=memory", "sd-sqlite": "page_size=1024",
		"ram-sqlitegrouped": "reads=own temp_store=memory", "sd-sqlitegrouped": "page_size=1024",
		"ram-sqlitegrouped-twin":   "reads=own temp_store=memory",
		"sd-sqlitegrouped-twin":    "page_size=1024",
		"ram-sqlitegrouped-strong": "reads=writer savepoint=need temp_store=memory",
		"sd-sqlitegrouped-strong":  "page_size=1024 reads=writer savepoint=need",
	}
	for _, r := range p.MatrixRuns(chosen) {
		if got := settingsText(r.Settings); got != want[r.Device+"-"+r.Label] {
			t.Errorf("%s: settings %q, want %q", r.ID(), got, want[r.Device+"-"+r.Label])
		}
		r.Settings["reads"] = "changed by the caller"
	}
	if !reflect.DeepEqual(chosen, before) {
		t.Errorf("the caller's map was changed: %v", chosen)
	}
}

// Running a tuned row untuned would measure something else than the plan says.
func TestMatrixRunsWithoutChoicePanics(t *testing.T) {
	defer func() {
		if r, _ := recover().(string); !strings.Contains(r, "sd") {
			t.Errorf("recovered %q; want a panic that names the device", r)
		}
	}()
	preregistered(t).MatrixRuns(map[string]map[string]string{"ram": {}})
}

// The candidates of the study, and the ones that cannot be chosen with the engine that knows their settings only.
func TestCandidates(t *testing.T) {
	perCandidate := map[string]int{}
	for _, r := range preregistered(t).TuningRuns() {
		perCandidate[r.Device+" "+r.Candidate]++
		if strings.HasSuffix(r.Candidate, "-strong") && (r.Engine != "sqlitegrouped" || r.Settings["reads"] != "writer" || r.Settings["wal_checkpoint_bytes"] != "40000000") {
			t.Errorf("%s: engine %s, settings %v", r.ID(), r.Engine, r.Settings)
		}
	}
	want := map[string]int{
		"ram defaults": 4, "ram cache": 4, "ram cache-ckpt40": 4, "ram cache-ckpt40-reads": 2, "ram cache-ckpt40-savepoint": 2, "ram cache-ckpt40-strong": 2,
		"sd page4096": 3, "sd page1024": 3, "sd page1024-ckpt40": 3, "sd page1024-ckpt40-reads": 2, "sd page1024-ckpt40-savepoint": 2, "sd page1024-ckpt40-strong": 2,
	}
	if !maps.Equal(perCandidate, want) {
		t.Errorf("got %v, want %v", perCandidate, want)
	}
}

func TestChoose(t *testing.T) {
	tuning, _ := preregistered(t).Tuning("ram", "sqlite")
	results := map[string]float64{
		"tuning-ram-w1-sqlitegrouped-16-defaults-r1":            7872,
		"tuning-ram-w1-sqlitegrouped-64-defaults-r1":            8555,
		"tuning-ram-w1-sqlitegrouped-16-cache-r1":               9680,
		"tuning-ram-w1-sqlitegrouped-64-cache-r1":               10230,
		"tuning-ram-w1-sqlitegrouped-16-cache-ckpt40-r1":        9890,
		"tuning-ram-w1-sqlitegrouped-64-cache-ckpt40-r1":        10211,
		"tuning-ram-w1-sqlitegrouped-64-cache-ckpt40-strong-r1": 99999, // not eligible
		"tuning-ram-w1-sqlite-1-defaults-r1":                    99999, // not counted
	}
	c, err := tuning.Choose(results)
	if err != nil {
		t.Fatal(err)
	}
	if want := "ram: cache-ckpt40 (cache_size_kib=65536 mmap_size_bytes=1073741824 temp_store=memory wal_checkpoint_bytes=40000000), " +
		"by the mean tx_per_s of sqlitegrouped: defaults 8214, cache 9955, cache-ckpt40 10050"; c.String() != want {
		t.Errorf("got  %s\nwant %s", c.String(), want)
	}
	if !slices.Equal(c.Compared[1].TxPerS, []float64{9680, 10230}) || c.Compared[1].TxPerSAvg != 9955 {
		t.Errorf("compared figures: %+v", c.Compared)
	}

	results["tuning-ram-w1-sqlitegrouped-16-cache-r1"] = 9871 // equal means: the first in the plan
	if c, _ := tuning.Choose(results); c.Candidate != "cache" {
		t.Errorf("of equal candidates %s was chosen, want cache", c.Candidate)
	}

	delete(results, "tuning-ram-w1-sqlitegrouped-64-defaults-r1")
	if _, err := tuning.Choose(results); err == nil ||
		err.Error() != "cannot choose settings for device ram: no result of tuning-ram-w1-sqlitegrouped-64-defaults-r1 (missing or failed)" {
		t.Errorf("a run is missing: %v", err)
	}
}

// The IDs that the rule counts are IDs of runs that will be made, for the quick plan too.
func TestChooseCountsRunsOfThePlan(t *testing.T) {
	for _, p := range []*Plan{preregistered(t), preregistered(t).Quick(), smallPlan(t)} {
		made := ids(p.TuningRuns())
		for i := range p.Tunings {
			results := map[string]float64{}
			for _, id := range made {
				results[id] = 1
			}
			c, err := p.Tunings[i].Choose(results)
			if err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
			if len(c.Compared) == 0 || len(c.Compared[0].TxPerS) == 0 {
				t.Errorf("%s: nothing was compared: %+v", p.Name, c)
			}
		}
	}
}

func TestQuick(t *testing.T) {
	p := preregistered(t)
	hash := p.SHA256()
	q := p.Quick()
	if !q.IsQuick || q.Name != "preregistered-quick" || q.Gate.EqualTransactions != 2000 {
		t.Errorf("quick plan: %v %s %d", q.IsQuick, q.Name, q.Gate.EqualTransactions)
	}
	for _, r := range append(q.TuningRuns(), q.MatrixRuns(nil)...) {
		if r.Seconds != 2 || r.Round != 1 {
			t.Errorf("%s: %g s", r.ID(), r.Seconds)
		}
	}
	if n := len(q.TuningRuns()); n != 6 {
		t.Errorf("%d tuning runs, want one for each of the 6 eligible candidates", n)
	}
	if len(q.MatrixRuns(nil)) != len(p.CellNames()) {
		t.Error("not every cell runs once")
	}
	if p.SHA256() != hash {
		t.Error("Quick changed the plan that it was derived from")
	}
}

func TestSelect(t *testing.T) {
	p := preregistered(t)
	for _, c := range []struct {
		glob           string
		tuning, matrix int
		gates          int
		tunings        string
	}{
		{"", 33, 108, 2, "ram sd"},
		{"ram-w1-pure-64", 0, 3, 1, ""},
		{"ram-w4-*", 0, 24, 1, "ram"},
		{"*-pure-*", 0, 30, 2, ""},
		{"matrix-sd-*-r2", 0, 18, 2, "sd"},
		{"tuning-ram-*", 18, 0, 1, ""},
		{"gate-equal-w4", 0, 0, 1, ""},
		{"*-sqlite-[14]", 0, 24, 2, "ram sd"},
	} {
		s, err := p.Select(c.glob)
		if err != nil {
			t.Errorf("%q: %v", c.glob, err)
			continue
		}
		tuning, matrix := s.Filter(p.TuningRuns()), s.Filter(p.MatrixRuns(nil))
		if len(tuning) != c.tuning || len(matrix) != c.matrix || len(s.Gates()) != c.gates || strings.Join(s.Tunings(), " ") != c.tunings {
			t.Errorf("%q selects %d tuning runs, %d matrix runs, %d gates and needs tunings %q; want %d, %d, %d, %q", c.glob, len(tuning), len(matrix),
				len(s.Gates()), s.Tunings(), c.tuning, c.matrix, c.gates, c.tunings)
		}
	}
	whole := p.MatrixRuns(nil)
	s, _ := p.Select("sd-*")
	for _, r := range s.Filter(whole) {
		if whole[r.Order-1].ID() != r.ID() {
			t.Errorf("%s: selecting changed its order to %d", r.ID(), r.Order)
		}
	}
	for glob, want := range map[string]string{
		"ram-w2-pure-64":  "close to it are ram-w1-pure-64, ram-w4-pure-64, ram-w1-pure-16, ",
		"ram-w2-*":        "close to it are ram-w1-",
		"sd-w1-pure-46":   "close to it are sd-w1-pure-16, ",
		"*-sqlte-4":       "close to it are ram-w1-sqlite-4, ",
		"gate-equals-w1":  "close to it are gate-equal-w1, ",
		"something else!": "close to it are ",
	} {
		_, err := p.Select(glob)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), fmt.Sprintf("pattern %q matches nothing", glob)) ||
			strings.Count(err.Error(), ", ") != maxSuggestions-1 {
			t.Errorf("%s: %v; want %q and %d names", glob, err, want, maxSuggestions)
		}
	}
	if _, err := p.Select("ram-["); err == nil || !strings.Contains(err.Error(), path.ErrBadPattern.Error()) {
		t.Errorf("bad pattern: %v", err)
	}
}

// More of anything never needs less, and a run needs at least its window and its data twice.
func TestEstimate(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 1000 {
		r := Run{Kind: []string{KindMemory, KindDisk}[rnd.IntN(2)], W: 1 + rnd.IntN(8), Terminals: 1 + rnd.IntN(64), Seconds: 60 * rnd.Float64(), WarmUpSeconds: 10 * rnd.Float64()}
		seconds, device, memory := Estimate(r)
		if seconds < r.Seconds+r.WarmUpSeconds || device < int64(r.W)*2*warehouseBytes || memory < int64(r.W)*warehouseBytes {
			t.Fatalf("%+v: %g s, %d bytes, %d bytes of memory", r, seconds, device, memory)
		}
		more := r
		more.W++
		more.Seconds += 5
		if s, d, m := Estimate(more); s <= seconds || d <= device || m <= memory {
			t.Fatalf("%+v needs less than %+v", more, r)
		}
	}
}

// The distance between a pattern and a name counts changed characters; a star stands for any number of them.
func TestDistance(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"*", "", 0}, {"*", "abc", 0}, {"abc", "abc", 0}, {"abc", "axc", 1}, {"a?c", "axc", 0},
		{"ram-*-64", "ram-w1-pure-64", 0}, {"ram-*-65", "ram-w1-pure-64", 1}, {"a*", "b", 1}, {"kitten", "sitting", 3}, {"*x*", "abc", 1},
	} {
		if got := distance(c.pattern, c.name); got != c.want {
			t.Errorf("%q, %q: %d, want %d", c.pattern, c.name, got, c.want)
		}
	}
}
