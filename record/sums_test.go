package record

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestSums: records that are altered, gone or added since their lines were written are each named, in one digit too; what
// is no record is passed over; and sha256sum checks the file.
func TestSums(t *testing.T) {
	dir := t.TempDir()
	if s, err := ReadSums(dir); !errors.Is(err, fs.ErrNotExist) || len(s.Names) != 0 {
		t.Errorf("without the file: %+v, %v", s, err)
	}
	for _, name := range []string{"b.json", "a.json", "gate-c.json"} {
		put(t, filepath.Join(dir, "raw", name), `{"tx_per_s": 1234}`+name)
		note := ""
		if name == "a.json" {
			note = "two\nlines"
		}
		if err := AppendSum(dir, name, note); err != nil {
			t.Fatal(err)
		}
	}
	s, err := ReadSums(dir)
	if err != nil || !slices.Equal(s.Names, []string{"b.json", "a.json", "gate-c.json"}) || !slices.Equal(s.Notes, []string{"two lines"}) {
		t.Fatalf("%+v, %v", s, err)
	}
	put(t, filepath.Join(dir, "raw", ".tmp-1.json"), "x")
	put(t, filepath.Join(dir, "raw", "notes.txt"), "x")
	if d, err := s.Compare(dir); err != nil || len(d.Altered)+len(d.Gone)+len(d.Unknown) > 0 {
		t.Errorf("nothing was changed: %+v, %v", d, err)
	}
	if path, err := exec.LookPath("sha256sum"); err == nil {
		cmd := exec.Command(path, "--check", "--strict", SumsName)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil || strings.Count(string(out), "OK") != 3 {
			t.Errorf("sha256sum: %v: %s", err, out)
		}
	}
	put(t, filepath.Join(dir, "raw", "a.json"), `{"tx_per_s": 1235}a.json`)
	put(t, filepath.Join(dir, "raw", "new.json"), "{}")
	if err := os.Remove(filepath.Join(dir, "raw", "b.json")); err != nil {
		t.Fatal(err)
	}
	d, err := s.Compare(dir)
	if err != nil || !slices.Equal(d.Altered, []string{"a.json"}) || !slices.Equal(d.Gone, []string{"b.json"}) || !slices.Equal(d.Unknown, []string{"new.json"}) {
		t.Errorf("%+v, %v", d, err)
	}
	if err := AppendSum(dir, "b.json", ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a line for a file that is not there: %v", err)
	}
}

// TestSumsRefuse: a line of another form is named with its place; a torn last line is none, and can be cut off.
func TestSumsRefuse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, SumsName)
	sum := strings.Repeat("0f", 32)
	for _, line := range []string{"", "x", sum, sum + " raw/a.json", sum + "  a.json", sum + "  raw/b/a.json", sum[2:] + "  raw/a.json", "zz" + sum[2:] + "  raw/a.json"} {
		put(t, path, sum+"  raw/z.json\n"+line+"\n")
		if _, err := ReadSums(dir); err == nil || !strings.Contains(err.Error(), SumsName+":2: ") {
			t.Errorf("%q: %v", line, err)
		}
	}
	put(t, path, sum+"  raw/z.json\n"+sum+"  raw/a.js")
	s, err := ReadSums(dir)
	if err != nil || !slices.Equal(s.Names, []string{"z.json"}) {
		t.Fatalf("%+v, %v", s, err)
	}
	for _, want := range []bool{true, false} {
		if torn, err := s.Mend(dir); torn != want || err != nil {
			t.Errorf("mended %t, %v; want %t", torn, err, want)
		}
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != sum+"  raw/z.json\n" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestRegistrationFile: it reads back as it was written, of this version and of the first; it is never replaced.
func TestRegistrationFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadRegistration(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the file: %v", err)
	}
	f := &StudyRegistration{Format: RegistrationFormat, Version: RegistrationVersion, Study: "s", PlanForm: 2,
		Plan: Registration{PlanSHA256: "ab", Exploratory: true}, BuildSettings: map[string]string{"-ldflags": "-s"}, Machine: []byte("{}")}
	if err := WriteRegistration(dir, f); err != nil {
		t.Fatal(err)
	}
	got, err := ReadRegistration(dir)
	if err != nil || got.Plan != f.Plan || got.PlanForm != 2 || got.BuildSettings["-ldflags"] != "-s" {
		t.Errorf("%+v, %v", got, err)
	}
	if err := WriteRegistration(dir, f); err == nil || !strings.Contains(err.Error(), "never changed") {
		t.Errorf("written again: %v", err)
	}
	for content, want := range map[string]string{
		"{":                          "not a registration, or cut short",
		`{"format":"x","version":1}`: `format "x" version 1; this program reads "tpccbench.registration" version 1 to 2`,
		`{"format":"tpccbench.registration","version":3}`: "version 3; this program reads",
		`{"format":"tpccbench.registration","version":0}`: "version 0; this program reads",
	} {
		put(t, filepath.Join(dir, RegistrationName), content)
		if _, err := ReadRegistration(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", content, err, want)
		}
	}
	put(t, filepath.Join(dir, RegistrationName), `{"format":"tpccbench.registration","version":1,"study":"old","machine":{}}`)
	if got, err := ReadRegistration(dir); err != nil || got.PlanForm != 1 || got.Study != "old" {
		t.Errorf("of the first version: %+v, %v", got, err)
	}
}

// TestStanding: what a run counts as, in one word or two.
func TestStanding(t *testing.T) {
	for want, r := range map[string]Registration{"registered": {}, "exploratory": {Exploratory: true}, "quick": {Quick: true},
		"exploratory quick": {Exploratory: true, Quick: true}} {
		if got := r.Standing(); got != want {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
}
