package pebble

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// TestMissingFile proves that a store of which one file is gone is damaged, and that the error names a file or the
// directory: for each file that the store needs.
func TestMissingFile(t *testing.T) {
	whole := t.TempDir()
	e, err := Factory.Open(whole, engines.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(e.Load(tpcc.Population(1, tpcc.TestScale(1))), e.Close()); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(whole)
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, file := range names {
		name := file.Name()
		if !strings.HasSuffix(name, ".sst") && !strings.HasPrefix(name, "MANIFEST-") && !strings.HasPrefix(name, "marker.manifest.") {
			continue
		}
		if strings.HasPrefix(name, "MANIFEST-") && !counts(names, name) {
			continue // an older one, kept
		}
		tried++
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		e, err := Factory.Open(dir, engines.Options{})
		if err == nil {
			t.Errorf("without %s the store is opened", name)
			e.Close()
			continue
		}
		if !errors.Is(err, engines.ErrCorrupt) || !strings.Contains(err.Error(), dir) {
			t.Errorf("without %s: %v", name, err)
		}
	}
	if tried < 3 {
		t.Errorf("only %d files were tried of %v", tried, names)
	}
}

// counts says whether the marker names this MANIFEST.
func counts(names []os.DirEntry, manifest string) bool {
	for _, n := range names {
		if strings.HasPrefix(n.Name(), "marker.manifest.") && strings.HasSuffix(n.Name(), "."+manifest) {
			return true
		}
	}
	return false
}

// TestLockUnderOtherName proves that a directory that is open is locked under its other names too.
func TestLockUnderOtherName(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	e, err := Factory.Open(dir, engines.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if second, err := Factory.Open(link, engines.Options{}); !errors.Is(err, engines.ErrLocked) {
		t.Errorf("opened again by a link: %v, %v", second, err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
