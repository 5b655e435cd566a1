package study

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestCopyTree(t *testing.T) {
	dir := t.TempDir()
	from, to := mkdir(t, dir, "from"), filepath.Join(dir, "to ?#%ü")
	big := strings.Repeat("0123456789abcdef", 1<<16)
	mkdir(t, from, "inner")
	if err := os.WriteFile(filepath.Join(from, "inner", "big"), []byte(big), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := copyTree(from, to); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"data": "x", "inner/data": "x", "inner/big": big} {
		if got, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(got) != want {
			t.Errorf("%s: %d bytes, want %d: %v", name, len(got), len(want), err)
		}
	}
	if err := os.WriteFile(filepath.Join(to, "data"), []byte("changed"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(from, "data")); err != nil || string(got) != "x" {
		t.Errorf("a change of the copy changed the original: %q %v", got, err)
	}
	if err := copyTree(from, to); err == nil {
		t.Error("an existing folder was overwritten")
	}
	if err := unix.Mkfifo(filepath.Join(from, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := copyTree(from, filepath.Join(dir, "third")); err == nil || !strings.Contains(err.Error(), "from/pipe is neither file nor folder") {
		t.Errorf("a pipe in the data: %v", err)
	}
}
