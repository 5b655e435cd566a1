package study

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// workPrefix begins the name of every work directory.
const workPrefix = "tpccbench-work-"

// workDir is a directory for data on a device. While its process lives, the file "lock" in it is locked; one that is
// not locked was left by a process that was killed, and is removed by the next to come.
type workDir struct {
	path string
	lock *os.File
}

func newWorkDir(device string) (*workDir, error) {
	if err := removeStale(device); err != nil {
		return nil, err
	}
	path, err := os.MkdirTemp(device, workPrefix)
	if err != nil {
		return nil, fmt.Errorf("cannot make a work directory: %w", err)
	}
	lock, err := os.Create(filepath.Join(path, "lock"))
	if err == nil {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot lock the work directory %s: %w", path, err), os.RemoveAll(path))
	}
	return &workDir{path, lock}, nil
}

// remove deletes the directory with all that is in it.
func (w *workDir) remove() error {
	return errors.Join(os.RemoveAll(w.path), w.lock.Close())
}

// removeStale deletes the work directories of processes that are gone.
func removeStale(device string) error {
	paths, err := filepath.Glob(filepath.Join(globQuote(device), workPrefix+"*"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		f, err := os.Open(filepath.Join(path, "lock"))
		if errors.Is(err, os.ErrNotExist) {
			continue // being made at this moment
		}
		if err != nil {
			return err
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			err = os.RemoveAll(path)
		}
		f.Close()
		if err != nil {
			return fmt.Errorf("cannot remove what an earlier run left: %w", err)
		}
	}
	return nil
}

// globQuote escapes what filepath.Glob would take for a pattern.
func globQuote(path string) string {
	var b []byte
	for i := range len(path) {
		switch path[i] {
		case '*', '?', '[', '\\':
			b = append(b, '\\')
		}
		b = append(b, path[i])
	}
	return string(b)
}
