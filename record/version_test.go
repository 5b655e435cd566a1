package record

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// newer lists the figures that version 1 did not have.
func newer() []string {
	return slices.DeleteFunc(FigureColumns(), func(name string) bool { return sinceVersion(name) == 1 })
}

// version1 makes a record's top level one of version 1.
func version1(m map[string]any) {
	m["version"] = 1
	for _, name := range newer() {
		delete(m["figures"].(map[string]any), name)
		delete(m["missing"].(map[string]any), name)
	}
}

// A record of version 1 is read, and lacks the figures of version 2 with that as the reason; its own must all be there,
// and it must not have those of version 2.
func TestVersion1(t *testing.T) {
	if len(newer()) == 0 {
		t.Fatal("version 2 has no figures of its own")
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
		err := change(t, func(m map[string]any) { version1(m); c.change(m) })
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
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
		for _, name := range newer() {
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
	if _, err := Write(t.TempDir(), runs[0]); err == nil || !strings.Contains(err.Error(), "version is 1; only version 2 is written") {
		t.Errorf("written anew: %v", err)
	}
}
