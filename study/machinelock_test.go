package study

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLockMachine: the second study is refused with the first one's process and folder; a file that a process left
// behind, whatever is in it, holds nobody up.
func TestLockMachine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	write(t, path, "process 1 in /gone, and a long text that a shorter one has to replace as a whole\n")
	first, err := lockMachine(path, "results/a")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs("results/a")
	if err != nil {
		t.Fatal(err)
	}
	second, err := lockMachine(path, "results/b")
	if want := fmt.Sprintf("by process %d in %s; two at a time", os.Getpid(), dir); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
		second.Close()
	}
	first.Close()
	third, err := lockMachine(path, "results/c")
	if err != nil {
		t.Fatal(err)
	}
	third.Close()
	if _, err := lockMachine(filepath.Join(t.TempDir(), "none", "lock"), "x"); err == nil || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("no directory for the lock: %v", err)
	}
}
