package study

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// mkdir makes a folder of dir with a file in it and returns its path.
func mkdir(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "data"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestWorkDirRemovesStale: what a killed process left is removed; what lives, what only has a similar name and what
// only looks like a folder is left alone, whatever characters the device's path has.
func TestWorkDirRemovesStale(t *testing.T) {
	for _, name := range []string{"plain", "a b?#%*[x]\\ü\nnew"} {
		device := mkdir(t, t.TempDir(), name)
		living, err := newWorkDir(device)
		if err != nil {
			t.Fatal(err)
		}
		stale := mkdir(t, device, workPrefix+"1")
		other := mkdir(t, device, "work-1")
		file, link := filepath.Join(device, workPrefix+"file"), filepath.Join(device, workPrefix+"link")
		if err := errors.Join(os.WriteFile(file, nil, 0o644), os.Symlink(other, link)); err != nil {
			t.Fatal(err)
		}
		next, err := newWorkDir(device)
		if err != nil {
			t.Fatal(err)
		}
		if exists(stale) {
			t.Errorf("%q: the stale directory is still there", device)
		}
		for _, path := range []string{living.path, next.path, filepath.Join(other, "data"), file, link} {
			if !exists(path) {
				t.Errorf("%q was removed", path)
			}
		}
		if err := errors.Join(living.remove(), next.remove()); err != nil {
			t.Error(err)
		}
		if exists(living.path) || exists(next.path) {
			t.Errorf("%q: work directories are left", device)
		}
	}
}

// TestWorkDirsAtOnce: processes that begin at the same moment never take each other's new directory for a stale one.
func TestWorkDirsAtOnce(t *testing.T) {
	device := t.TempDir()
	const n = 50
	errs := make(chan error, n)
	for range n {
		go func() {
			w, err := newWorkDir(device)
			if err == nil {
				err = os.WriteFile(filepath.Join(w.path, "data"), nil, 0o644)
				err = errors.Join(err, w.remove())
			}
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if entries, err := os.ReadDir(device); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v %v", entries, err)
	}
}

// TestLockDir: a directory is locked once, and again after its file is closed.
func TestLockDir(t *testing.T) {
	dir := t.TempDir()
	f, err := lockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockDir(dir); !errors.Is(err, errInUse) {
		t.Errorf("locked twice: %v", err)
	}
	f.Close()
	if f, err = lockDir(dir); err != nil {
		t.Fatal(err)
	}
	f.Close()
}

// TestInWorkDir: the directory is there and empty while f runs, and gone afterwards, also when f fails.
func TestInWorkDir(t *testing.T) {
	device := t.TempDir()
	broken := errors.New("broken")
	err := inWork(Device{Name: "x", Dir: device}, 0, func(w *workDir) error {
		mkdir(t, w.path, "data")
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if entries, err := os.ReadDir(device); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v %v", entries, err)
	}
	if err := inWork(Device{Name: "x", Dir: device}, 1<<62, nil); err == nil {
		t.Error("a device without room was accepted")
	}
}
