package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files and the fixtures of tables.py")

// sample is a record that uses every member.
func sample() *Run {
	rss, cpu, p99 := int64(1<<30), int64(950_000_000), int64(8)
	r := New()
	r.Study, r.Phase, r.Cell, r.Label, r.Candidate, r.Round, r.Order = "test", PhaseMatrix, "ram-w1-pure-16", "pure", "defaults", 2, 7
	r.Spec = Spec{Engine: "pure", Settings: map[string]string{"b": "2", "a": "x y"}, Device: "ram", Kind: KindMemory, W: 1, Terminals: 16,
		Transport: TransportHTTP, Seed: math.MaxUint64, Mix: []int{45, 43, 4, 4, 4}, Transactions: 3, WarmUp: 0.5,
		RateTxPerS: 1500.5, Arrivals: ArrivalsPoisson, CPUs: "0", LoadCPUs: "1,3-4"}
	r.Status, r.Gate, r.Reason = Failed, GateConsistency, "condition 1 (clause 3.3.2.1) does not hold"
	r.Violations, r.Warnings = []string{"warehouse 1: …"}, []string{"fdatasync is missing"}
	r.Started = time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.UTC)
	r.Ended = r.Started.Add(time.Minute)
	for i, name := range FigureColumns() {
		if i%5 == 4 {
			r.Miss(name, "not to be had <here>")
		} else {
			r.Set(name, float64(i)+1.0/3)
		}
	}
	r.Histograms = map[string]string{"new_order": "HISTFAAAAB1="}
	r.Series = []Second{{Second: 1, Transactions: 5, LatencyNSMax: 9, LatencyNSP99: &p99, RSSBytes: &rss, CPUNS: &cpu,
		CheckpointBytes: &rss, CheckpointNS: &cpu, BacklogMax: &p99, BacklogEnd: &p99}, {Second: 2}}
	r.Digests = map[string]string{"inputs": "00ff"}
	r.EngineSettings = map[string]string{"version": "3.54.1"}
	r.EngineBusyNS = map[string]int64{"apply": 12}
	r.FileBytes = map[string]int64{"log 1": 1 << 40}
	r.RowCounts = map[string]int64{"item": 100_000}
	r.Machine, r.Storage = json.RawMessage(`{"cores":2}`), json.RawMessage(`[1]`)
	r.Build = Build{ToolCommit: "abc", ToolModified: true, GoVersion: "go1.26", CGOCFlags: "-O2"}
	r.Registration = Registration{PlanSHA256: "123", PlanCommit: "def", Exploratory: true, Quick: true}
	return r
}

// A record that uses every member comes back as it was.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	want := sample()
	if v := reflect.ValueOf(*want); true {
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("the sample does not use %s", v.Type().Field(i).Name)
			}
		}
	}
	path, err := Write(dir, want)
	if err != nil {
		t.Fatal(err)
	}
	if base := filepath.Base(path); base != "matrix-ram-w1-pure-16-r2.json" {
		t.Errorf("file name %s", base)
	}
	got, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	// Raw JSON is kept by value: layout may change.
	for _, raw := range []*json.RawMessage{&got.Machine, &got.Storage} {
		var b bytes.Buffer
		if err := json.Compact(&b, *raw); err != nil {
			t.Fatal(err)
		}
		*raw = b.Bytes()
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// A record cut short anywhere is refused with an error that names the file.
func TestCutShort(t *testing.T) {
	dir := t.TempDir()
	path, err := Write(dir, sample())
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	end := len(bytes.TrimRight(whole, "\n"))
	for n := range end {
		if err := decode(path, whole[:n], New()); err == nil || err.Error() != fmt.Sprintf("%s: the record is cut short after %d bytes", path, n) {
			t.Fatalf("cut after %d of %d bytes: %v", n, end, err)
		}
	}
	if err := os.Truncate(path, int64(end/2)); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil || !strings.HasPrefix(err.Error(), path+": the record is cut short after ") {
		t.Errorf("Read of half a record: %v", err)
	}
}

// change writes the sample's JSON with a change made to its top level and returns the error of reading it.
func change(t *testing.T, f func(m map[string]any)) error {
	t.Helper()
	r := sample()
	r.Status, r.Gate, r.Reason, r.Violations = OK, "", "", nil
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	m["spec"].(map[string]any)["seed"] = 1 // a float64 would not carry the sample's
	f(m)
	if b, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "changed.json")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Read(path)
	if err != nil && !strings.HasPrefix(err.Error(), path+": ") {
		t.Errorf("the error does not name the file: %v", err)
	}
	return err
}

func TestBadRecords(t *testing.T) {
	if err := change(t, func(map[string]any) {}); err != nil {
		t.Fatalf("unchanged: %v", err)
	}
	figures := func(m map[string]any) map[string]any { return m["figures"].(map[string]any) }
	missing := func(m map[string]any) map[string]any { return m["missing"].(map[string]any) }
	spec := func(key string, v any) func(map[string]any) {
		return func(m map[string]any) { m["spec"].(map[string]any)[key] = v }
	}
	for _, c := range []struct {
		name, want string
		change     func(m map[string]any)
	}{
		{"unknown key", `unknown field "speed"`, func(m map[string]any) { m["speed"] = 1 }},
		{"unknown key inside", `unknown field "speed"`, func(m map[string]any) { m["spec"].(map[string]any)["speed"] = 1 }},
		{"other format", `format is "x", not "tpccbench.run"`, func(m map[string]any) { m["format"] = "x" }},
		{"other version", "version is 4; this program reads versions 1 to 3", func(m map[string]any) { m["version"] = 4 }},
		{"no version", "version is 0; this program reads versions 1 to 3", func(m map[string]any) { delete(m, "version") }},
		{"a figure that the version does not have", "is not one of version 1", func(m map[string]any) { m["version"] = 1 }},
		{"no format", `format is "", not`, func(m map[string]any) { delete(m, "format") }},
		{"unknown figure", `unknown figure "speed"`, func(m map[string]any) { figures(m)["speed"] = 1 }},
		{"unknown missing figure", `unknown figure "speed" among the missing`, func(m map[string]any) { missing(m)["speed"] = "x" }},
		{"a label as a figure", `unknown figure "engine"`, func(m map[string]any) { figures(m)["engine"] = 1 }},
		{"neither measured nor missing", `figure "tx_per_s" must be either`, func(m map[string]any) { delete(figures(m), "tx_per_s") }},
		{"measured and missing", `figure "tx_per_s" must be either`, func(m map[string]any) { missing(m)["tx_per_s"] = "x" }},
		{"missing without a reason", `figure "tx_per_s" must be either`, func(m map[string]any) {
			delete(figures(m), "tx_per_s")
			missing(m)["tx_per_s"] = ""
		}},
		{"no figures", "must be either", func(m map[string]any) { delete(m, "figures") }},
		{"figure as text", "not a raw record", func(m map[string]any) { figures(m)["tx_per_s"] = "1" }},
		{"no phase", `phase ""`, func(m map[string]any) { m["phase"] = "" }},
		{"no cell", `cell ""`, func(m map[string]any) { m["cell"] = "" }},
		{"a path as cell", "must not hold a slash", func(m map[string]any) { m["cell"] = "../a" }},
		{"no spec", `spec: engine ""`, func(m map[string]any) { delete(m, "spec") }},
		{"no engine", `spec: engine ""`, spec("engine", nil)},
		{"unknown kind of device", `device_kind is "floppy"`, spec("device_kind", "floppy")},
		{"unknown transport", `transport is "tcp"; it must be "in-process" or "http"`, spec("transport", "tcp")},
		{"transport of older versions", `transport is "inproc"; version 3 calls it "in-process"`, func(m map[string]any) {
			spec("transport", "inproc")(m)
			spec("cpus", "")(m)
			spec("load_cpus", "")(m)
		}},
		{"rate without arrivals", `arrivals is ""; it must be "fixed" or "poisson"`, spec("arrivals", "")},
		{"arrivals without a rate", `arrivals is "poisson" without a rate`, spec("rate_tx_per_s", 0)},
		{"negative rate", "the rate is -1 transactions/s; it must be 0.001..10000000", spec("rate_tx_per_s", -1)},
		{"no processors", `cpus: "0-" is no list of processors`, spec("cpus", "0-")},
		{"processor twice", `load_cpus: "1,0-2" names processor 1 twice`, spec("load_cpus", "1,0-2")},
		{"processors of one process", `cpus is "0", and the transport "in-process"`, spec("transport", "in-process")},
		{"no warehouse", "w is 0", spec("w", 0)},
		{"negative terminals", "terminals is -1", spec("terminals", -1)},
		{"negative transactions", "none may be negative", spec("transactions", -1)},
		{"two lengths", "one of them must say the length", spec("seconds", 20)},
		{"no length", "one of them must say the length", spec("transactions", 0)},
		{"too few weights", "mix has 2 weights, not 5", spec("mix", []int{1, 2})},
		{"negative weight", "must be 0..", spec("mix", []int{-1, 1, 1, 1, 1})},
		{"no weight above 0", "at least one must be above 0", spec("mix", []int{0, 0, 0, 0, 0})},
		{"round 0", "round 0", func(m map[string]any) { m["round"] = 0 }},
		{"unknown status", `status is "fine"`, func(m map[string]any) { m["status"] = "fine" }},
		{"failed without a gate", "must name its gate and reason", func(m map[string]any) { m["status"] = "failed" }},
	} {
		if err := change(t, c.change); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestTrailingText(t *testing.T) {
	path, err := Write(t.TempDir(), sample())
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, tail := range []string{"{}", "}", "x"} {
		if err := os.WriteFile(path, append(bytes.Clone(b), tail...), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "something follows the record") {
			t.Errorf("followed by %s: %v", tail, err)
		}
	}
}

// A record is written once: a second one of the same name is refused, the first stays, and nothing else is left.
func TestWriteRefusesToReplace(t *testing.T) {
	dir := t.TempDir()
	first := sample()
	path, err := Write(dir, first)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	second := sample()
	second.Order++
	if _, err := Write(dir, second); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v, want fs.ErrExist", err)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, after) {
		t.Error("the first record was changed")
	}
	oneFile(t, dir)
}

func oneFile(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("the folder has %v, want one file", entries)
	}
}

// What cannot be read back is not written.
func TestWriteRefusesBadRecord(t *testing.T) {
	dir := t.TempDir()
	for name, spoil := range map[string]func(*Run){
		"no figures":   func(r *Run) { r.Figures = nil },
		"not finite":   func(r *Run) { r.Set("tx_per_s", math.NaN()) },
		"no status":    func(r *Run) { r.Status = "" },
		"other format": func(r *Run) { r.Version++ },
	} {
		r := sample()
		spoil(r)
		if _, err := Write(dir, r); err == nil || !strings.Contains(err.Error(), r.Name()) {
			t.Errorf("%s: got %v, want an error that names the record", name, err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("files were left: %v", entries)
	}
}

func TestSetAndMissRefuseUnknownColumns(t *testing.T) {
	for name, f := range map[string]func(){
		"Set":  func() { New().Set("speed", 1) },
		"Miss": func() { New().Miss("engine", "a label is no figure") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s took a column that does not exist", name)
				}
			}()
			f()
		}()
	}
	r := New()
	r.Set("nopm", 1)
	r.Miss("nopm", "x")
	if _, ok := r.Figures["nopm"]; ok || r.Missing["nopm"] != "x" {
		t.Error("Miss after Set left the figure")
	}
	r.Set("nopm", 2)
	if _, ok := r.Missing["nopm"]; ok || r.Figures["nopm"] != 2 {
		t.Error("Set after Miss left the reason")
	}
}

func TestReadDir(t *testing.T) {
	dir := t.TempDir()
	if runs, err := ReadDir(filepath.Join(dir, "none")); runs != nil || err != nil {
		t.Errorf("a folder that is not there: %v, %v", runs, err)
	}
	for _, cell := range []string{"b", "a"} {
		r := sample()
		r.Cell = cell
		if _, err := Write(dir, r); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{".tmp-1.json", "notes.txt", "gate-equal-w1.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("no record"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := ReadDir(dir)
	if err != nil || len(runs) != 2 || runs[0].Cell != "a" || runs[1].Cell != "b" {
		t.Fatalf("got %v, %v; want the records of a and b", runs, err)
	}
	if err := os.Rename(filepath.Join(dir, runs[0].Name()+".json"), filepath.Join(dir, "matrix-c-r1.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadDir(dir); err == nil || !strings.Contains(err.Error(), "matrix-c-r1.json: the record inside is matrix-a-r2") {
		t.Errorf("a record under another name: %v", err)
	}
}

func TestRow(t *testing.T) {
	r := sample()
	r.Label = "pure-tuned"
	if r.Row() != "pure-tuned" {
		t.Errorf("with a label: %s", r.Row())
	}
	r.Label = ""
	if r.Row() != "pure" {
		t.Errorf("without a label: %s", r.Row())
	}
}
