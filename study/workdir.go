package study

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// workPrefix begins the name of every work directory.
const workPrefix = "tpccbench-work-"

// workDir is a directory for data on a device, locked while its process lives. One that is not locked was left by a
// process that was killed, and is removed by the next to come.
type workDir struct {
	path string
	lock *os.File // the directory itself
}

func newWorkDir(device string) (*workDir, error) {
	if err := removeStale(device); err != nil {
		return nil, err
	}
	for {
		path, err := os.MkdirTemp(device, workPrefix)
		if err != nil {
			return nil, fmt.Errorf("cannot make a work directory: %w", err)
		}
		lock, err := lockDir(path)
		if err == nil {
			if _, err = os.Stat(path); err == nil {
				return &workDir{path, lock}, nil
			}
			lock.Close()
		}
		// Another process may have taken it for a stale one before it was locked; then a new one is made.
		if !errors.Is(err, errInUse) && !errors.Is(err, os.ErrNotExist) {
			return nil, errors.Join(fmt.Errorf("cannot lock the work directory: %w", err), os.RemoveAll(path))
		}
	}
}

// remove deletes the directory with all that is in it.
func (w *workDir) remove() error {
	return errors.Join(os.RemoveAll(w.path), w.lock.Close())
}

// removeAll removes a directory in which a measuring process, whose parent was killed, may be making files until it
// ends.
func removeAll(path string) (err error) {
	for range 100 {
		if err = os.RemoveAll(path); err == nil || errors.Is(err, os.ErrPermission) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

// errInUse: another process, or another part of this one, has locked the directory.
var errInUse = errors.New("in use by another process")

// lockDir locks a directory until the returned file is closed or the process ends, however it ends.
func lockDir(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = errInUse
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// removeStale deletes this user's work directories of processes that are gone.
func removeStale(device string) error {
	entries, err := os.ReadDir(device)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), workPrefix) {
			continue
		}
		path := filepath.Join(device, e.Name())
		lock, err := lockDir(path)
		switch {
		case errors.Is(err, errInUse), errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
			continue // it lives, its process is removing it, or it is another user's
		case err != nil:
			return err
		}
		err = errors.Join(removeAll(path), lock.Close())
		if err != nil && !errors.Is(err, os.ErrPermission) {
			return fmt.Errorf("cannot remove what an earlier run left: %w", err)
		}
	}
	return nil
}
