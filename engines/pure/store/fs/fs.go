// Package fs is the narrow seam through which the record-log store reaches its files, so that a test can stand in for
// the disk: OpenDir gives a real directory, Mem one in memory that can crash and keep any piece of what was not
// synced, and Fault makes the Nth operation of any of them fail.
//
// What the seam promises is what POSIX promises and no more. Bytes written are durable only after File.Sync of that
// file. A name that was created, renamed or removed is durable only after Dir.Sync; syncing a file says nothing about
// its name. A write may be torn by a crash at any 512-byte sector.
package fs

import "errors"

// ErrLocked is returned by Lock when the lock is held, by this process or another.
var ErrLocked = errors.New("directory is locked")

// SectorBytes is the unit that a device writes whole or not at all.
const SectorBytes = 512

// Dir is one directory. Names are base names. Methods are safe for concurrent use.
type Dir interface {
	// Create opens a new, empty file for reading and writing; the name must not exist.
	Create(name string) (File, error)
	// Open opens an existing file for reading and writing.
	Open(name string) (File, error)
	// Rename gives a file a new name, replacing what had it.
	Rename(from, to string) error
	Remove(name string) error
	// List returns the names and sizes of the regular files, sorted by name.
	List() ([]Info, error)
	// Sync makes every earlier Create, Rename and Remove durable.
	Sync() error
	// Lock creates the file name if need be and locks it for as long as the returned Unlocker is open. It fails with
	// ErrLocked when somebody else holds the lock. A process that dies loses its locks.
	Lock(name string) (Unlocker, error)
	// Path is the full path of a name, for messages.
	Path(name string) string
}

// Info is a file's name and size.
type Info struct {
	Name  string
	Bytes int64
}

// File is one open file.
type File interface {
	// ReadAt and WriteAt are those of io.ReaderAt and io.WriterAt.
	ReadAt(p []byte, off int64) (int, error)
	WriteAt(p []byte, off int64) (int, error)
	// Sync makes all bytes written so far durable, and the size (fdatasync).
	Sync() error
	// Size is the file's length in bytes.
	Size() (int64, error)
	Close() error
}

// Unlocker gives a lock back.
type Unlocker interface {
	Unlock() error
}

// zeros is what Preallocate writes at a time.
var zeros [1 << 20]byte

// preallocateSync is how much Preallocate writes between syncs.
const preallocateSync = 4 << 20

// Preallocate extends f with written zeros up to bytes; a longer file is left as it is. Written zeros, unlike
// fallocate, leave nothing for a later fdatasync to record but the data itself. It syncs as it goes, a few MiB at a
// time, so as not to hold up other files' syncs; the caller syncs the rest.
func Preallocate(f File, bytes int64) error {
	size, err := f.Size()
	if err != nil {
		return err
	}
	for unsynced := 0; size < bytes; {
		n, err := f.WriteAt(zeros[:min(int64(len(zeros)), bytes-size)], size)
		if err != nil {
			return err
		}
		size += int64(n)
		if unsynced += n; unsynced >= preallocateSync {
			unsynced = 0
			if err := f.Sync(); err != nil {
				return err
			}
		}
	}
	return nil
}
