package procsample

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Space is the room on the file system of a directory, bytes.
type Space struct {
	Free Value // what the caller may still write; on a tmpfs it also needs memory: see MemoryAvailable
	Size Value // all of it: the size= of a tmpfs
}

// SpaceOf asks how much room the file system of dir has.
func SpaceOf(dir string) Space {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		err = &os.PathError{Op: "statfs", Path: dir, Err: err}
		return Space{unread(err), unread(err)}
	}
	unit := int64(st.Frsize)
	if unit == 0 {
		unit = int64(st.Bsize)
	}
	return spaceFrom(st.Blocks, st.Bavail, unit)
}

func spaceFrom(blocks, available uint64, unit int64) Space {
	if blocks == 0 || unit <= 0 { // a tmpfs with size=0 has no limit; pseudo file systems have no size
		none := absent("the file system has no size")
		return Space{none, none}
	}
	return Space{Free: measuredTimes(available, unit), Size: measuredTimes(blocks, unit)}
}

// MemoryAvailable is what this process could still use without swapping, bytes: the machine's MemAvailable, or less if
// a control group limits it.
func (s *System) MemoryAvailable() Value {
	info, err := s.proc.Meminfo()
	if err != nil {
		return absent("meminfo: %v", err)
	}
	if info.MemAvailableBytes == nil {
		return absent("meminfo has no MemAvailable")
	}
	return least(measured(*info.MemAvailableBytes), s.cgroups().memoryHeadroom())
}

// TempDir is the directory that SQLite puts temporary files into, by the rules of unixTempFileDir in its os_unix.c: the
// first of SQLITE_TMPDIR, TMPDIR, /var/tmp, /usr/tmp, /tmp and the working directory that is a directory and may be
// written to. (The pragma temp_store_directory, which is deprecated, would come before all.)
func TempDir() (string, error) {
	dirs := []string{os.Getenv("SQLITE_TMPDIR"), os.Getenv("TMPDIR"), "/var/tmp", "/usr/tmp", "/tmp", "."}
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			continue
		}
		if unix.Access(dir, unix.W_OK|unix.X_OK) == nil {
			return dir, nil
		}
	}
	return "", errors.New("no directory for temporary files: set SQLITE_TMPDIR or TMPDIR to one that can be written to")
}

// TempDirDevice is the device behind TempDir.
func (s *System) TempDirDevice() Device {
	dir, err := TempDir()
	if err != nil {
		return Device{Reason: err.Error()}
	}
	return s.DeviceOf(dir)
}
