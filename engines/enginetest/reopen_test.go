package enginetest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Files that come and go while they are copied, as a checkpoint's do, are copied again until they hold still.
func TestCopyIdle(t *testing.T) {
	dir, into := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	first, second := filepath.Join(dir, "log-1"), filepath.Join(dir, "log-2")
	if err := os.WriteFile(first, make([]byte, 64<<10), 0o644); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		var errs []error
		for range 20_000 {
			errs = append(errs, os.Rename(first, second), os.Rename(second, first))
		}
		ended <- errors.Join(append(errs, os.Rename(first, second))...)
	}()
	s := &suite{patience: time.Minute}
	for running := true; running; {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		default:
		}
		if err := s.copyIdle(dir, into); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(into, "log-2")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(into, "log-1")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the copy has the old name too: %v", err)
	}
}
