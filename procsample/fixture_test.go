package procsample

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// fixture is a made-up system in a temporary directory, from a file under testdata. The archive's files with a slash in
// their name are those of the system, the others are for the test: symlinks has lines "link -> target", mount-ids has
// lines "path ID" for what exists on which mount.
type fixture struct {
	*System
	archive *txtar.Archive
}

func newFixture(t *testing.T, file string) *fixture {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for _, dir := range []string{"proc", "sys"} {
		mustDo(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	for _, f := range archive.Files {
		if strings.Contains(f.Name, "/") {
			path := filepath.Join(root, f.Name)
			mustDo(t, os.MkdirAll(filepath.Dir(path), 0o755))
			mustDo(t, os.WriteFile(path, f.Data, 0o644))
		}
	}
	f := &fixture{archive: archive}
	for _, line := range f.lines("symlinks") {
		link, target, ok := strings.Cut(line, " -> ")
		if !ok {
			t.Fatalf("%s: symlinks: %q is not link -> target", file, line)
		}
		path := filepath.Join(root, link)
		mustDo(t, os.MkdirAll(filepath.Dir(path), 0o755))
		mustDo(t, os.Symlink(target, path))
	}
	ids := map[string]int{}
	for _, line := range f.lines("mount-ids") {
		blank := strings.LastIndex(line, " ")
		ids[line[:blank]], err = strconv.Atoi(line[blank+1:])
		mustDo(t, err)
	}

	f.System, err = newSystem(root)
	mustDo(t, err)
	f.mountID = func(path string) (int, error) {
		if id, ok := ids[path]; ok {
			return id, nil
		}
		return 0, &fs.PathError{Op: "statx", Path: path, Err: fs.ErrNotExist}
	}
	f.cpuClock = func(int) (int64, error) { return 0, errors.New("a fixture has no CPU clock") }
	f.switches = func(int) (int64, int64, error) { return 0, 0, errors.New("a fixture has no context switches") }
	f.gc = func(int) (int64, int64, error) { return 0, 0, errors.New("a fixture has no garbage collector") }
	return f
}

// text gives a file of the archive, without blanks around it; "" if there is none.
func (f *fixture) text(name string) string {
	for _, file := range f.archive.Files {
		if file.Name == name {
			return strings.TrimSpace(string(file.Data))
		}
	}
	return ""
}

func (f *fixture) lines(name string) []string {
	text := f.text(name)
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// set writes a file of the system.
func (f *fixture) set(t *testing.T, name, text string) {
	t.Helper()
	path := f.path(name)
	mustDo(t, os.MkdirAll(filepath.Dir(path), 0o755))
	mustDo(t, os.WriteFile(path, []byte(text), 0o644))
}

// remove removes a file of the system, or a tree.
func (f *fixture) remove(t *testing.T, name string) {
	t.Helper()
	mustDo(t, os.RemoveAll(f.path(name)))
}

func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// has fails the test unless v is measured and n.
func has(t *testing.T, what string, v Value, n int64) {
	t.Helper()
	if !v.OK() || v.N != n {
		t.Errorf("%s is %v, want %d", what, v, n)
	}
}

// lacks fails the test unless v is absent, with part in its reason.
func lacks(t *testing.T, what string, v Value, part string) {
	t.Helper()
	if v.OK() || v.N != 0 || !strings.Contains(v.Reason, part) {
		t.Errorf("%s is %v, want none, and a reason with %q", what, v, part)
	}
}
