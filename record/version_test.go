package record

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// newer lists the figures that the version did not have.
func newer(version int) []string {
	return slices.DeleteFunc(FigureColumns(), func(name string) bool { return SinceVersion(name) <= version })
}

// older makes a record's top level one of an older version.
func older(m map[string]any, version int) {
	m["version"] = version
	for _, name := range newer(version) {
		delete(m["figures"].(map[string]any), name)
		delete(m["missing"].(map[string]any), name)
	}
	spec := m["spec"].(map[string]any)
	spec["transport"] = "inproc"
	for _, key := range []string{"rate_tx_per_s", "arrivals", "cpus", "load_cpus"} {
		delete(spec, key)
	}
}

// A record of version 2 is read, lacks the figures of version 3 with that as the reason, and cannot have what only
// version 3 knows.
func TestVersion2(t *testing.T) {
	spec := func(key string, v any) func(map[string]any) {
		return func(m map[string]any) { m["spec"].(map[string]any)[key] = v }
	}
	for _, c := range []struct {
		name, want string
		change     func(m map[string]any)
	}{
		{"as it was", "", func(map[string]any) {}},
		{"one of its own is gone", `figure "gc_cycles" must be either`, func(m map[string]any) {
			delete(m["figures"].(map[string]any), "gc_cycles")
			delete(m["missing"].(map[string]any), "gc_cycles")
		}},
		{"one of version 3 is there", `figure "backlog_max" is not one of version 2`, func(m map[string]any) { m["figures"].(map[string]any)["backlog_max"] = 1 }},
		{"the transport of version 3", `transport is "in-process", rate_tx_per_s is 0; version 2 knows`, spec("transport", "in-process")},
		{"http", `transport is "http", rate_tx_per_s is 0; version 2 knows`, spec("transport", "http")},
		{"an open loop", `rate_tx_per_s is 5; version 2 knows`, func(m map[string]any) { spec("rate_tx_per_s", 5)(m); spec("arrivals", "fixed")(m) }},
	} {
		err := change(t, func(m map[string]any) { older(m, 2); c.change(m) })
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// A record of version 1 is read, and lacks the figures of version 2 with that as the reason; its own must all be there,
// and it must not have those of version 2.
func TestVersion1(t *testing.T) {
	if len(newer(1)) == len(newer(2)) || len(newer(2)) == 0 {
		t.Fatal("version 2 or 3 has no figures of its own")
	}
	for _, c := range []struct {
		name, want string
		change     func(m map[string]any)
	}{
		{"as it was", "", func(map[string]any) {}},
		{"one of its own is gone", `figure "tx_per_s" must be either`, func(m map[string]any) { delete(m["figures"].(map[string]any), "tx_per_s") }},
		{"one of version 2 is there", `figure "gc_cycles" is not one of version 1`, func(m map[string]any) { m["figures"].(map[string]any)["gc_cycles"] = 1 }},
		{"one of version 2 is missing for another reason", `figure "gc_cycles" is not one of version 1`,
			func(m map[string]any) { m["missing"].(map[string]any)["gc_cycles"] = "denied" }},
	} {
		err := change(t, func(m map[string]any) { older(m, 1); c.change(m) })
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// The records of the study of the store's targets, which are of version 2, are read whole.
func TestCommittedVersion2(t *testing.T) {
	runs, err := ReadDir(filepath.Join("..", "results", "targets", "raw"))
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) == 0 {
		t.Fatal("there are none")
	}
	for _, r := range runs {
		if r.Version != 2 || !r.Spec.InProcess() || r.Spec.ArrivalsText() != "closed" {
			t.Errorf("%s has version %d, transport %q, arrivals %q", r.Name(), r.Version, r.Spec.Transport, r.Spec.ArrivalsText())
		}
		for _, name := range newer(2) {
			if _, has := r.Figures[name]; has || r.Missing[name] != "not recorded by version 2" {
				t.Errorf("%s: %s is %v, missing for %q", r.Name(), name, r.Figures[name], r.Missing[name])
			}
		}
		if err := r.Validate(); err != nil {
			t.Errorf("%s, once read: %v", r.Name(), err)
		}
	}
}

// The records of the first study, which are of version 1, are read whole, and cannot be written anew.
func TestCommittedVersion1(t *testing.T) {
	runs, err := ReadDir(filepath.Join("..", "results", "preregistered", "raw"))
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 121 {
		t.Errorf("%d runs, want 121", len(runs))
	}
	for _, r := range runs {
		if r.Version != 1 {
			t.Errorf("%s has version %d", r.Name(), r.Version)
		}
		for _, name := range newer(1) {
			if _, has := r.Figures[name]; has || r.Missing[name] != "not recorded by version 1" {
				t.Errorf("%s: %s is %v, missing for %q", r.Name(), name, r.Figures[name], r.Missing[name])
			}
		}
		if err := r.Validate(); err != nil {
			t.Errorf("%s, once read: %v", r.Name(), err)
		}
		if r.Figures["tx_per_s"] <= 0 {
			t.Errorf("%s has no tx_per_s", r.Name())
		}
	}
	if _, err := Write(t.TempDir(), runs[0]); err == nil || !strings.Contains(err.Error(), "version is 1; only version 3 is written") {
		t.Errorf("written anew: %v", err)
	}
}
