package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tpccbench/matrix"
	"tpccbench/record"
)

// A study that nobody touched has no problem, in the present form and in that of the first version.
func TestUntouched(t *testing.T) {
	for name, prepare := range map[string]func(*fixture) string{
		"present": func(f *fixture) string { return f.write() },
		"first version": func(f *fixture) string {
			f.plan = withoutTwin(t)
			dir := f.write()
			older(t, dir)
			return dir
		},
		"quick":      func(f *fixture) string { f.quick = true; return f.write() },
		"other rows": func(f *fixture) string { dir := f.write(); reverseRows(t, dir); return dir },
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Load(prepare(newFixture(t)))
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Problems) > 0 || !s.IsWhole() {
				t.Errorf("problems: %v", s.Problems)
			}
			if hasNote := strings.Contains(strings.Join(s.Notes, "\n"), "no hashes were kept"); hasNote != (name == "first version") {
				t.Errorf("notes: %q", s.Notes)
			}
		})
	}
}

// reverseRows puts the rows of matrix.csv in the opposite order.
func reverseRows(t *testing.T, dir string) {
	path := filepath.Join(dir, "matrix.csv")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	for i, j := 1, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

const (
	victim     = "matrix-ram-w1-pure-4-r1"
	victimFile = "raw/" + victim + ".json"
)

// Each way of touching a study is named with the file and what differs, and the run that it concerns is no result.
func TestTouched(t *testing.T) {
	remove := func(file string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, file)); err != nil {
				t.Fatal(err)
			}
		}
	}
	edit := func(file, old, text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { replace(t, dir, file, old, text) }
	}
	copyTo := func(file, to string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			b, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, to), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	all := func(list ...func(*testing.T, string)) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			for _, f := range list {
				f(t, dir)
			}
		}
	}
	noHashes := func(t *testing.T, dir string) { older(t, dir) }
	f := newFixture(t)
	f.plan = withoutTwin(t)
	base := f.write()
	for _, c := range []struct {
		name  string
		touch func(*testing.T, string)
		want  []string // the problems, each KIND and a part of its text after the file
		lost  bool     // the victim is no result
		voids bool     // nothing is decided
	}{
		{"a digit of the plan", edit("plan.toml", "threshold = 2.5", "threshold = 2.6"),
			[]string{"plan.toml: altered: SHA-256 of what it says is"}, false, true},
		{"a comment in the plan", edit("plan.toml", "seed = 7", "seed = 7 # seven"), nil, false, false},
		{"a digit of the plan that makes it none", edit("plan.toml", "version = 1", "version = 9"),
			[]string{"plan.toml: unreadable: plan.toml:3: version: is 9"}, false, true},
		{"the plan gone", remove("plan.toml"), []string{"plan.toml: missing"}, false, true},
		{"the registered hash", edit("registration.json", `"plan_sha256": "`, `"plan_sha256": "0`),
			[]string{"plan.toml: altered", victimFile + ": foreign: plan_sha256 is"}, true, true},
		{"exploratory turned off", edit("registration.json", `"exploratory": false`, `"exploratory": true`),
			[]string{victimFile + ": foreign: exploratory is false; registration.json has true"}, true, false},
		{"registered later", edit("registration.json", "2026-01-02T03:00", "2026-01-02T04:00"),
			[]string{"registration.json: altered: the study was registered at 2026-01-02T04:00:00Z, after"}, false, false},
		{"a figure of a record", edit(victimFile, `"owner_core_share": 0.5`, `"owner_core_share": 0.9`),
			[]string{victimFile + ": altered: its SHA-256 is not the one in raw.sha256",
				`matrix.csv: altered: line`, `column owner_core_share is "0.5"; its raw record gives "0.9"`}, true, false},
		{"a figure of a record without hashes", all(noHashes, edit(victimFile, `"owner_core_share": 0.5`, `"owner_core_share": 0.9`)),
			[]string{`column owner_core_share is "0.5"; its raw record gives "0.9"`}, true, false},
		{"throughput in record and table without hashes", all(noHashes, edit(victimFile, `"tx_per_s": 30000`, `"tx_per_s": 39000`),
			edit("matrix.csv", ",30000,", ",39000,")), []string{victimFile + ": altered: it contradicts itself: tx_per_s is 39000"}, true, false},
		{"a failed run made ok", edit(victimFile, `"status": "ok"`, `"status": "ok", "gate": "crash", "reason": "killed"`),
			[]string{victimFile + `: altered: it contradicts itself: status is "ok" with the reason "crash killed"`}, true, false},
		{"a record cut short", func(t *testing.T, dir string) {
			if err := os.Truncate(filepath.Join(dir, victimFile), 100); err != nil {
				t.Fatal(err)
			}
		}, []string{victimFile + ": unreadable: the record is cut short"}, true, false},
		{"a record gone", remove(victimFile), []string{victimFile + ": missing: raw.sha256 has its hash, and the record is gone"}, true, false},
		{"a record gone without hashes", all(noHashes, remove(victimFile)),
			[]string{victimFile + ": missing: matrix.csv line"}, true, false},
		{"a record and its row gone without hashes", all(noHashes, remove(victimFile), func(t *testing.T, dir string) {
			path := filepath.Join(dir, "matrix.csv")
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var keep []string
			for line := range strings.Lines(string(b)) {
				if !strings.Contains(line, "matrix,ram-w1-pure-4,pure,,1,") {
					keep = append(keep, line)
				}
			}
			if err := os.WriteFile(path, []byte(strings.Join(keep, "")), 0o644); err != nil {
				t.Fatal(err)
			}
		}), []string{"raw/matrix-ram-w1-pure-4-r*.json: missing: no record of the plan's round 1: not run yet, or removed"}, true, false},
		{"no record of a device", all(noHashes, func(t *testing.T, dir string) {
			t.Helper()
			gone, err := filepath.Glob(filepath.Join(dir, "raw", "matrix-ram-*.json"))
			if err != nil || len(gone) == 0 {
				t.Fatal(gone, err)
			}
			for _, path := range gone {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
			remove("matrix.csv")(t, dir)
		}), []string{"raw: missing: no record of any of the plan's ", " runs of the matrix on device ram: not run, or removed"}, true, false},
		{"a record twice", copyTo(victimFile, "raw/copy.json"),
			[]string{"raw/copy.json: duplicated: it is a second record of " + victim, "raw/copy.json: foreign: raw.sha256 has no hash of it"}, false, false},
		{"a record twice without hashes", all(noHashes, copyTo(victimFile, "raw/copy.json")),
			[]string{"raw/copy.json: duplicated: it is a second record of " + victim}, true, false},
		{"a record renamed", all(noHashes, copyTo(victimFile, "raw/matrix-ram-w1-pure-4-r4.json"), remove(victimFile)),
			[]string{"raw/matrix-ram-w1-pure-4-r4.json: altered: the record inside is " + victim}, true, false},
		{"another run in its place", copyTo("raw/matrix-ram-w1-pure-4-r2.json", victimFile),
			[]string{victimFile + ": altered: its SHA-256", victimFile + ": duplicated: it is a second record of matrix-ram-w1-pure-4-r2"}, true, false},
		{"a record of another study", all(noHashes, edit(victimFile, `"study": "small"`, `"study": "large"`)),
			[]string{victimFile + `: foreign: it is of study "large", not "small"`}, true, false},
		{"another seed", all(noHashes, edit(victimFile, `"seed": 7`, `"seed": 8`)),
			[]string{victimFile + `: foreign: seed is "8"; the plan says "7"`}, true, false},
		{"other settings", all(noHashes, edit("raw/matrix-ram-w1-sqlitegrouped-4-r1.json", `"cache_size_kib": "65536"`, `"cache_size_kib": "1"`)),
			[]string{`raw/matrix-ram-w1-sqlitegrouped-4-r1.json: foreign: settings is "cache_size_kib=1"; the plan says "cache_size_kib=65536"`}, false, false},
		{"a run that the plan has not", all(noHashes, edit(victimFile, `"cell": "ram-w1-pure-4"`, `"cell": "ram-w9-pure-4"`),
			copyTo(victimFile, "raw/matrix-ram-w9-pure-4-r1.json"), remove(victimFile)),
			[]string{"raw/matrix-ram-w9-pure-4-r1.json: foreign: the plan has no such run"}, true, false},
		{"something else among the records", copyTo("plan.toml", "raw/notes.txt"), []string{"raw/notes.txt: foreign"}, false, false},
		{"the hashes gone", remove(record.SumsName), []string{"raw.sha256: missing"}, false, false},
		{"a hash", edit(record.SumsName, "  raw/"+victim, "0  raw/"+victim), []string{"raw.sha256: unreadable: "}, false, false},
		{"a digit of the table", edit("matrix.csv", ",30000,", ",30001,"),
			[]string{`column tx_per_s is "30001"; its raw record gives "30000"`}, false, false},
		{"a row twice", func(t *testing.T, dir string) {
			b, err := os.ReadFile(filepath.Join(dir, "matrix.csv"))
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitAfter(string(b), "\n")
			if err := os.WriteFile(filepath.Join(dir, "matrix.csv"), []byte(string(b)+lines[1]), 0o644); err != nil {
				t.Fatal(err)
			}
		}, []string{"matrix.csv: duplicated: line"}, false, false},
		{"the table gone", remove("matrix.csv"), []string{"matrix.csv: missing"}, false, false},
		{"a column gone", edit("matrix.csv", ",tx_per_s,", ",tx_per_m,"),
			[]string{`matrix.csv: foreign: there is no column "tx_per_m"`, `matrix.csv: altered: column "tx_per_s" is gone`}, false, false},
		{"a digit of a series", edit("series/"+victim+".csv", "1000,450000", "1001,450000"),
			[]string{`series/` + victim + `.csv: altered: line 2, column transactions is "1001"; the raw record has "1000"`}, false, false},
		{"a choice", edit("choices.json", `"candidate":"cache","settings"`, `"candidate":"defaults","settings"`),
			[]string{"choices.json: altered: tuning ram: candidate is defaults; the raw records give cache"}, false, false},
		{"a figure of a choice", edit("choices.json", "14400", "14401"),
			[]string{"choices.json: altered: tuning ram: tx_per_s of tuning-ram-w1-sqlitegrouped-8-cache-r1 is 14401; its raw record has 14400"}, false, false},
		{"the choices gone", remove("choices.json"), []string{"choices.json: missing"}, false, false},
		{"the gate gone", remove("raw/gate-equal-w1.json"), []string{"raw/gate-equal-w1.json: missing"}, true, false},
		{"a gate with other rows", all(noHashes, edit("raw/gate-equal-w1.json", `"rows_digest": "22"`, `"rows_digest": "23"`)),
			[]string{"raw/gate-equal-w1.json: foreign: status is ok, but the engines' rows_digest differ"}, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
				t.Fatal(err)
			}
			c.touch(t, dir)
			s, err := Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, p := range s.Problems {
				texts = append(texts, p.String())
			}
			text := strings.Join(texts, "\n")
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("not named: %q in\n%s", want, text)
				}
			}
			if s.IsWhole() != (len(c.want) == 0) {
				t.Errorf("IsWhole is %v; problems:\n%s", s.IsWhole(), text)
			}
			if lost := s.Excluded(victim) != ""; lost != c.lost {
				t.Errorf("%s is excluded: %v (%q); want %v", victim, lost, s.Excluded(victim), c.lost)
			}
			if c.voids {
				if s.Standing() != "exploratory" {
					t.Errorf("standing is %q", s.Standing())
				}
				for name, o := range outcomes(s) {
					if o != CannotDecide {
						t.Errorf("%s: %s", name, o)
					}
				}
			}
			// Whatever is wrong, it can be said in every form, and the problems with it.
			var out, md, js, comparison bytes.Buffer
			both := Compare(s, s, DefaultColumns())
			for _, err := range []error{s.WriteText(&out), s.WriteMarkdown(&md), s.WriteJSON(&js), both.WriteText(&comparison),
				both.WriteCSV(&comparison), WriteBenchfmt(&comparison, DefaultColumns(), s)} {
				if err != nil {
					t.Error(err)
				}
			}
			if n := len(c.want); n > 0 && (!strings.Contains(out.String(), "NOT WHOLE") || !strings.Contains(md.String(), "## Problems") ||
				!strings.Contains(js.String(), `"is_whole": false`) || !strings.Contains(comparison.String(), "is not whole")) {
				t.Error("an output does not say that the study is not whole")
			}
			if c.lost && !c.voids {
				if v := s.verdictOf(t, "faster"); v.Outcome != CannotDecide || len(v.Reasons) == 0 {
					t.Errorf("a decision over the run: %s %q", v.Outcome, v.Reasons)
				}
			}
		})
	}
}

// A run that broke a gate is named, is no result, and is no problem of integrity.
func TestFailedRun(t *testing.T) {
	f := newFixture(t)
	f.each = func(r *record.Run) {
		if r.Name() == victim {
			r.Status, r.Gate, r.Reason = record.Failed, record.GateConsistency, "clause 3.3.2.1\ndoes not hold"
		}
	}
	s := f.load()
	if len(s.Problems) != 1 || s.Problems[0].String() != victimFile+": failed: consistency: clause 3.3.2.1 does not hold" || !s.IsWhole() {
		t.Errorf("problems: %v, whole: %v", s.Problems, s.IsWhole())
	}
	c, _ := s.Cell("ram-w1-pure-4")
	if n := len(c.Results()); n != 2 {
		t.Errorf("%d results, want 2", n)
	}
	if l := c.Values("tx_per_s").Lacking; len(l) != 1 || l[0] != (Lack{1, "it broke the gate consistency: clause 3.3.2.1 does not hold"}) {
		t.Errorf("lacking %v", l)
	}
}

// No run counts at a W whose equality gate failed.
func TestFailedGate(t *testing.T) {
	f := newFixture(t)
	f.gate = func(g *record.EqualGate) { g.Status, g.Reason = record.Failed, "the rows of sqlitegrouped differ" }
	s := f.load()
	if !s.IsWhole() || len(s.Problems) == 0 || s.Problems[0].Kind != Failed {
		t.Errorf("problems: %v", s.Problems)
	}
	for _, c := range s.Cells {
		if len(c.Results()) > 0 {
			t.Errorf("%s has results", c.Name)
		}
	}
}

// A folder that holds no study is an error that names it; so is a registration of a later version.
func TestNoStudy(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), dir+" holds no study") {
		t.Errorf("error %v", err)
	}
	study := newFixture(t).write()
	replace(t, study, record.RegistrationName, `"version": 2`, `"version": 99`)
	if _, err := Load(study); err == nil || !strings.Contains(err.Error(), "version 99; this program reads") {
		t.Errorf("error %v", err)
	}
}

// Form 1 of a plan's identity passes over twin_of and min_rounds: a plan that got them later is altered all the same.
func TestYoungerKeysUnderOldForm(t *testing.T) {
	f := newFixture(t)
	f.plan = withoutTwin(t)
	dir := f.write()
	older(t, dir)
	replace(t, dir, "plan.toml", `if_false = "It is."`, "if_false = \"It is.\"\nmin_rounds = 1")
	s, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if s.IsWhole() || !strings.HasPrefix(s.Problems[0].String(), "plan.toml: altered: it has twin_of or min_rounds") {
		t.Errorf("problems %v", s.Problems)
	}
}

// A tuning run that was not made as the plan says takes no part in the choice.
func TestTuningRunOfAnotherSeed(t *testing.T) {
	f := newFixture(t)
	f.plan = withoutTwin(t)
	dir := f.write()
	older(t, dir)
	name := "tuning-ram-w1-sqlitegrouped-4-cache-r1"
	replace(t, dir, "raw/"+name+".json", `"seed": 7`, `"seed": 8`)
	s, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if c := s.Tunings[0]; c.Choice != nil || !strings.Contains(c.Lacks, name) {
		t.Errorf("choice %+v, lacking %q", c.Choice, c.Lacks)
	}
}

// Runs that another program or machine made than the registered one are noted; one of a changed checkout, or of a
// program that does not know its commit, makes the study exploratory, whatever its registration says.
func TestOrigins(t *testing.T) {
	f := newFixture(t)
	f.each = func(r *record.Run) {
		if r.Round == 3 {
			r.Build.ToolCommit = "cafe"
			r.Machine = []byte(strings.Replace(f.machine, "6.1", "6.2", 1))
		}
	}
	s := f.load()
	notes := strings.Join(s.Notes, "\n")
	for _, want := range []string{"9 runs were made by another program (commit cafe) than the study was registered with (deadbeef)",
		"9 runs were made on another machine (Made-up 1, 2 cores, 8.0 GB of memory, kernel 6.2, amd64)"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no note %q in\n%s", want, notes)
		}
	}
	if s.Standing() != "registered" {
		t.Errorf("standing %q", s.Standing())
	}
	for _, change := range []func(*record.Build){
		func(b *record.Build) { b.ToolModified = true }, func(b *record.Build) { b.ToolCommit = "" },
	} {
		f.each = func(r *record.Run) {
			if r.Name() == victim {
				change(&r.Build)
			}
		}
		if s := f.load(); s.Standing() != "exploratory" {
			t.Errorf("standing %q", s.Standing())
		}
	}
}

// Problems that files have in common are one line of the verdict, with their number; each is in Problems.
func TestCommonProblems(t *testing.T) {
	dir := newFixture(t).write()
	replace(t, dir, record.RegistrationName, `"quick": false`, `"quick": true`)
	s, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	want := "- raw/gate-equal-w1.json, raw/matrix-ram-w1-pure-4-r1.json, raw/matrix-ram-w1-pure-4-r2.json and 31 more: foreign: " +
		"quick is false; registration.json has true\n"
	if !strings.Contains(b.String(), want) || len(s.Problems) < 34 {
		t.Errorf("%d problems, not as %q in\n%s", len(s.Problems), want, b.String())
	}
}

// Runs that are not there yet are named by cell, those of a device without any by device, and a study that is not finished decides nothing that needs them.
func TestUnfinished(t *testing.T) {
	f := newFixture(t)
	f.only = func(r *matrix.Run) bool { return r.Phase == matrix.PhaseTuning || r.Device == "ram" && r.Round < 3 }
	s := f.load()
	for _, p := range s.Problems {
		if p.Kind != Missing {
			t.Errorf("problem %v", p)
		}
	}
	if len(s.Problems) != 6 {
		t.Errorf("%d problems, want one for each of 5 cells and one for a device: %v", len(s.Problems), s.Problems)
	}
	for name, o := range outcomes(s) {
		if o != CannotDecide {
			t.Errorf("%s: %s", name, o)
		}
	}
}
