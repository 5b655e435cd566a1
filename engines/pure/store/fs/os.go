package fs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// osDir is a directory of the operating system.
type osDir struct{ path string }

// OpenDir returns the existing directory at path.
func OpenDir(path string) (Dir, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: unix.ENOTDIR}
	}
	return osDir{path}, nil
}

func (d osDir) Path(name string) string { return filepath.Join(d.path, name) }

func (d osDir) Create(name string) (File, error) {
	f, err := os.OpenFile(d.Path(name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (d osDir) Open(name string) (File, error) {
	f, err := os.OpenFile(d.Path(name), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (d osDir) Rename(from, to string) error { return os.Rename(d.Path(from), d.Path(to)) }
func (d osDir) Remove(name string) error     { return os.Remove(d.Path(name)) }

func (d osDir) List() ([]Info, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil, err
	}
	var infos []Info
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		st, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // renamed or removed since ReadDir
		}
		if err != nil {
			return nil, err
		}
		infos = append(infos, Info{e.Name(), st.Size()})
	}
	return infos, nil
}

func (d osDir) Sync() error {
	f, err := os.Open(d.path)
	if err != nil {
		return err
	}
	err = f.Sync()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

func (d osDir) Lock(name string) (Unlocker, error) {
	f, err := os.OpenFile(d.Path(name), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	return flock(f, unix.LOCK_EX)
}

// flock locks f, or closes it. The lock belongs to the open file, so a second open in this process is refused too.
func flock(f *os.File, how int) (Unlocker, error) {
	if err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: %s", ErrLocked, f.Name())
		}
		return nil, &fs.PathError{Op: "flock", Path: f.Name(), Err: err}
	}
	return osLock{f}, nil
}

type osLock struct{ f *os.File }

// Unlock closes the file and so ends its lock. The file stays: removing it would let two processes lock two files of
// one name.
func (l osLock) Unlock() error { return l.f.Close() }

type osFile struct{ f *os.File }

func (f osFile) ReadAt(p []byte, off int64) (int, error)  { return f.f.ReadAt(p, off) }
func (f osFile) WriteAt(p []byte, off int64) (int, error) { return f.f.WriteAt(p, off) }
func (f osFile) Close() error                             { return f.f.Close() }

func (f osFile) Sync() error {
	for {
		err := unix.Fdatasync(int(f.f.Fd()))
		if err == nil {
			return nil
		}
		if err != unix.EINTR {
			return &fs.PathError{Op: "fdatasync", Path: f.f.Name(), Err: err}
		}
	}
}

func (f osFile) Size() (int64, error) {
	st, err := f.f.Stat()
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}
