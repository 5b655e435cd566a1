package enginetest

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// TestBites: every engine that is wrong on purpose is caught by each check that is named for it, and every check
// catches at least one of them.
func TestBites(t *testing.T) {
	bites := map[string]bool{}
	for _, m := range mutants {
		for _, name := range m.caughtBy {
			bites[name] = true
			t.Run(m.name+"/"+name, func(t *testing.T) {
				i := slices.IndexFunc(checks, func(c check) bool { return c.name == name })
				if i < 0 {
					t.Fatalf("there is no check %s", name)
				}
				s := &suite{factory: m.factory(t), seeds: []uint64{1, 2, 3}, short: true, patience: time.Second,
					settings: map[string]string{"sync": "off"}, tempDir: t.TempDir, logf: t.Logf}
				err := checks[i].run(s)
				var skip skipped
				if errors.As(err, &skip) {
					t.Skip(skip)
				}
				if err == nil {
					t.Error("not caught")
				}
				t.Log(err)
			})
		}
	}
	for _, c := range checks {
		if !bites[c.name] {
			t.Errorf("no mutant shows that the check %s can fail", c.name)
		}
	}
}
