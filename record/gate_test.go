package record

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func sampleGate() *EqualGate {
	return &EqualGate{
		Format: GateFormat, Version: GateVersion, Study: "test", Name: "equal-w4", W: 4, Seed: 7, Transactions: 20_000,
		Status: Failed, Reason: "rows differ", Difference: "stock(...)",
		Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Ended: time.Date(2026, 1, 2, 3, 5, 5, 0, time.UTC), InputDigest: "aa",
		Engines: []EqualEngine{{Engine: "pure", Settings: map[string]string{"a": "b"}, Commits: 1, Rollbacks: 2, Skipped: 3, Failures: 4,
			Violations: []string{"x"}, RowsDigest: "bb", TableDigests: map[string]string{"item": "cc"}, RowCounts: map[string]int64{"item": 5}}},
		Build:        Build{ToolCommit: "abc"},
		Registration: Registration{Exploratory: true},
	}
}

func TestGateRoundTrip(t *testing.T) {
	dir := t.TempDir()
	want := sampleGate()
	path, err := WriteGate(dir, want)
	if err != nil {
		t.Fatal(err)
	}
	if base := filepath.Base(path); base != "gate-equal-w4.json" {
		t.Errorf("file name %s", base)
	}
	got, err := ReadGate(path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if _, err := WriteGate(dir, want); !errors.Is(err, fs.ErrExist) {
		t.Errorf("written twice: %v, want fs.ErrExist", err)
	}
	oneFile(t, dir)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(bytes.TrimRight(whole, "\n")) {
		if err := os.WriteFile(path, whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadGate(path); err == nil || !strings.HasPrefix(err.Error(), path+": the record is cut short after ") {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
	}
}

func TestBadGates(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*EqualGate)
		want  string
	}{
		"other format":          {func(g *EqualGate) { g.Format = Format }, `format "tpccbench.run" version 1; this program reads "tpccbench.gate" version 1`},
		"other version":         {func(g *EqualGate) { g.Version = 2 }, "version 2"},
		"no name":               {func(g *EqualGate) { g.Name = "" }, "name must be given"},
		"unknown status":        {func(g *EqualGate) { g.Status = "maybe" }, `status is "maybe"`},
		"failed without reason": {func(g *EqualGate) { g.Reason = "" }, "must say the reason"},
	} {
		g := sampleGate()
		c.spoil(g)
		if _, err := WriteGate(t.TempDir(), g); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	path := filepath.Join(t.TempDir(), "x.json")
	if err := os.WriteFile(path, []byte(`{"format":"tpccbench.gate","version":1,"speed":1}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadGate(path); err == nil || !strings.Contains(err.Error(), `unknown field "speed"`) {
		t.Errorf("unknown key: %v", err)
	}
}
