package pebble

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// files is the file system that the store works on: it counts what is written and synced, and it is fail-stop.
//
// Pebble means its process to die when a write or sync of the WAL or the MANIFEST has failed: it panics with locks held
// or calls Logger.Fatalf. So the first failure is kept here and hidden from Pebble; from then on nothing in the
// directory is changed any more (writes, syncs, renames and removals are dropped without an error), which leaves the
// files as a crash at that moment would, and the engine, which asks failed before it answers, acknowledges nothing more.
type files struct {
	vfs.FS
	failure atomic.Pointer[error]

	syncs      atomic.Int64 // all files and directories
	logSyncs   atomic.Int64 // WAL files
	logBytes   atomic.Int64
	tableBytes atomic.Int64
}

// failed returns the first failed write or sync, or nil.
func (fs *files) failed() error {
	if err := fs.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// fail keeps the first failure.
func (fs *files) fail(err error) { fs.failure.CompareAndSwap(nil, &err) }

// attempt makes a change, unless one has failed before, and hides its failure.
func (fs *files) attempt(what, name string, change func() error) {
	if fs.failed() == nil {
		if err := change(); err != nil {
			fs.fail(fmt.Errorf("%s %s: %w", what, name, err))
		}
	}
}

// open makes a file by make; a lost one takes its place once a change has failed.
func (fs *files) open(what, name string, open func() (vfs.File, error)) (vfs.File, error) {
	f := &file{File: lost{}, fs: fs, name: name, log: strings.HasSuffix(name, ".log"), table: strings.HasSuffix(name, ".sst")}
	fs.attempt(what, name, func() error {
		opened, err := open()
		if err == nil {
			f.File = opened
		}
		return err
	})
	return f, nil
}

func (fs *files) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.open("create", name, func() (vfs.File, error) { return fs.FS.Create(name, category) })
}

func (fs *files) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return fs.open("open", name, func() (vfs.File, error) { return fs.FS.OpenReadWrite(name, category, opts...) })
}

func (fs *files) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.open("reuse", newname, func() (vfs.File, error) { return fs.FS.ReuseForWrite(oldname, newname, category) })
}

// OpenDir opens the directory, whose syncs count too.
func (fs *files) OpenDir(name string) (vfs.File, error) {
	f, err := fs.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &file{File: f, fs: fs, name: name}, nil
}

func (fs *files) Link(oldname, newname string) error {
	fs.attempt("link", newname, func() error { return fs.FS.Link(oldname, newname) })
	return nil
}

func (fs *files) Rename(oldname, newname string) error {
	fs.attempt("rename", oldname, func() error { return fs.FS.Rename(oldname, newname) })
	return nil
}

// Remove's errors are no failure of the store: nothing that it needs is lost, and some of the files need not be there.
func (fs *files) Remove(name string) error {
	if fs.failed() != nil {
		return nil
	}
	return fs.FS.Remove(name)
}

func (fs *files) RemoveAll(name string) error {
	if fs.failed() != nil {
		return nil
	}
	return fs.FS.RemoveAll(name)
}

// Unwrap returns the file system below.
func (fs *files) Unwrap() vfs.FS { return fs.FS }

// file is one open file or directory of files.
type file struct {
	vfs.File
	fs         *files
	name       string
	log, table bool
}

func (f *file) Write(p []byte) (int, error) {
	n := len(p)
	f.fs.attempt("write", f.name, func() error { _, err := f.File.Write(p); return err })
	f.count(n)
	return n, nil
}

func (f *file) WriteAt(p []byte, offset int64) (int, error) {
	n := len(p)
	f.fs.attempt("write", f.name, func() error { _, err := f.File.WriteAt(p, offset); return err })
	f.count(n)
	return n, nil
}

func (f *file) count(n int) {
	switch {
	case f.log:
		f.fs.logBytes.Add(int64(n))
	case f.table:
		f.fs.tableBytes.Add(int64(n))
	}
}

func (f *file) Preallocate(offset, length int64) error {
	f.fs.attempt("preallocate", f.name, func() error { return f.File.Preallocate(offset, length) })
	return nil
}

func (f *file) Sync() error {
	f.fs.attempt("sync", f.name, f.File.Sync)
	f.countSync()
	return nil
}

func (f *file) SyncData() error {
	f.fs.attempt("sync", f.name, f.File.SyncData)
	f.countSync()
	return nil
}

// SyncTo counts only where it is a full sync: elsewhere it starts writing and promises nothing.
func (f *file) SyncTo(length int64) (bool, error) {
	full := false
	f.fs.attempt("sync", f.name, func() (err error) { full, err = f.File.SyncTo(length); return err })
	if full {
		f.countSync()
	}
	return full, nil
}

func (f *file) countSync() {
	if f.fs.failed() != nil {
		return
	}
	f.fs.syncs.Add(1)
	if f.log {
		f.fs.logSyncs.Add(1)
	}
}

// lost is the file that could not be made, or that would have been made after a failure: nothing can be read from it.
type lost struct{ vfs.File }

func (lost) Close() error                      { return nil }
func (lost) Read([]byte) (int, error)          { return 0, errLost }
func (lost) ReadAt([]byte, int64) (int, error) { return 0, errLost }
func (lost) Stat() (vfs.FileInfo, error)       { return nil, errLost }
func (lost) Prefetch(int64, int64) error       { return nil }
func (lost) Fd() uintptr                       { return vfs.InvalidFd }
