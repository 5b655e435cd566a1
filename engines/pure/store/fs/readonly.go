package fs

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// readOnlyDir is a directory of the operating system in which nothing is changed.
type readOnlyDir struct{ osDir }

// OpenReadOnly returns the existing directory at path for reading: every change fails with EROFS. Its Lock keeps
// writers out and shares the lock with other readers; it makes no file, so where there is no lock file it locks nothing.
func OpenReadOnly(path string) (Dir, error) {
	d, err := OpenDir(path)
	if err != nil {
		return nil, err
	}
	return readOnlyDir{d.(osDir)}, nil
}

func (d readOnlyDir) refuse(op, name string) error {
	return &fs.PathError{Op: op, Path: d.Path(name), Err: unix.EROFS}
}

func (d readOnlyDir) Create(name string) (File, error) { return nil, d.refuse("create", name) }
func (d readOnlyDir) Rename(from, _ string) error      { return d.refuse("rename", from) }
func (d readOnlyDir) Remove(name string) error         { return d.refuse("remove", name) }
func (d readOnlyDir) Sync() error                      { return nil }

func (d readOnlyDir) Open(name string) (File, error) {
	f, err := os.Open(d.Path(name))
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (d readOnlyDir) Lock(name string) (Unlocker, error) {
	f, err := os.Open(d.Path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return noLock{}, nil
	}
	if err != nil {
		return nil, err
	}
	return flock(f, unix.LOCK_SH)
}

type noLock struct{}

func (noLock) Unlock() error { return nil }
