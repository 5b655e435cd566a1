package emulate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Clean removes what a card that was never attached has left, and nothing else: no directory in use, no other name, no
// link, nothing that holds more than a card.
func TestCleanLeavesOthers(t *testing.T) {
	where, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	made := func(name string, files ...string) string {
		dir := filepath.Join(where, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(dir, f), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	empty, image := made(dirPrefix+"1"), made(dirPrefix+"2", imageName)
	used := made(dirPrefix+"3", imageName)
	lock, err := lockDir(used, unix.LOCK_SH)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	foreign := made("data", imageName)
	if err := os.Symlink(foreign, filepath.Join(where, dirPrefix+"4")); err != nil {
		t.Fatal(err)
	}
	removed, err := Clean(where)
	if err != nil || !slices.Equal(removed, []string{empty, image}) {
		t.Errorf("removed %v, %v; want %v", removed, err, []string{empty, image})
	}
	for _, path := range []string{filepath.Join(used, imageName), filepath.Join(foreign, imageName)} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("gone: %v", err)
		}
	}

	more := made(dirPrefix+"5", "thesis.txt")
	if removed, err = Clean(where); err == nil || len(removed) != 0 || !strings.Contains(err.Error(), more) {
		t.Errorf("removed %v, error %v; want one that names %s", removed, err, more)
	}
	if _, err := os.Stat(filepath.Join(more, "thesis.txt")); err != nil {
		t.Errorf("gone: %v", err)
	}
}

// A state file of another version is not guessed at.
func TestCleanUnknownState(t *testing.T) {
	where := t.TempDir()
	dir := filepath.Join(where, dirPrefix+"1")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, stateName), []byte(`{"format":"tpccbench.emulation","version":99}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Clean(where); err == nil || !strings.Contains(err.Error(), "version 99") {
		t.Errorf("error %v", err)
	}
}
