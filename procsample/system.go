package procsample

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"
	"golang.org/x/sys/unix"
)

// System is the kernel that is asked. Its methods may be called by several goroutines at once.
type System struct {
	root  string // before /proc, /sys, /dev; "/" but in tests
	proc  procfs.FS
	block blockdevice.FS

	// What has no file to read.
	mountID  func(path string) (int, error)                     // the mount that holds path, as in mountinfo
	cpuClock func(pid int) (ns int64, err error)                // user and system time of all threads
	switches func(pid int) (voluntary, forced int64, err error) // context switches of all threads
	gc       func(pid int) (cpuNS, cycles int64, err error)     // see GC
}

// Linux is the system that this process runs on. It fails where /proc or /sys is not mounted.
func Linux() (*System, error) {
	s, err := newSystem("/")
	if err != nil {
		return nil, err
	}
	s.mountID, s.cpuClock, s.switches, s.gc = statxMountID, processClock, rusageSwitches, runtimeGC
	return s, nil
}

func newSystem(root string) (*System, error) {
	s := &System{root: root}
	var err error
	if s.proc, err = procfs.NewFS(s.path("proc")); err != nil {
		return nil, fmt.Errorf("measuring needs a Linux /proc: %w", err)
	}
	if s.block, err = blockdevice.NewFS(s.path("proc"), s.path("sys")); err != nil {
		return nil, fmt.Errorf("measuring needs a Linux /sys: %w", err)
	}
	return s, nil
}

func (s *System) path(elem ...string) string {
	return filepath.Join(append([]string{s.root}, elem...)...)
}

// line reads a file of one line, as /sys has them.
func (s *System) line(elem ...string) (string, error) { return readLine(s.path(elem...)) }

func readLine(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(data)), nil
}

// statxMountID asks which mount path is on. It needs Linux 5.8.
func statxMountID(path string) (int, error) {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_NO_AUTOMOUNT, unix.STATX_MNT_ID, &st)
	if err == unix.ENOSYS || err == unix.EPERM { // EPERM: older containers deny calls that they do not know
		err = errNoMountID
	}
	if err != nil {
		return 0, &os.PathError{Op: "statx", Path: path, Err: err}
	}
	if st.Mask&unix.STATX_MNT_ID == 0 {
		return 0, &os.PathError{Op: "statx", Path: path, Err: errNoMountID}
	}
	return int(st.Mnt_id), nil
}

// processClock reads the CPU clock of a process (see clock_getcpuclockid(3) and the kernel's posix-timers_types.h).
func processClock(pid int) (int64, error) {
	clock := int32(unix.CLOCK_PROCESS_CPUTIME_ID)
	if pid != os.Getpid() {
		const sched = 2 // CPUCLOCK_SCHED: precise, of the whole process
		clock = int32(^pid<<3 | sched)
	}
	var t unix.Timespec
	if err := unix.ClockGettime(clock, &t); err != nil {
		return 0, fmt.Errorf("CPU clock of process %d: %w", pid, err)
	}
	return t.Nano(), nil
}

// rusageSwitches counts the context switches of this process.
func rusageSwitches(pid int) (voluntary, forced int64, err error) {
	if pid != os.Getpid() {
		return 0, 0, fmt.Errorf("context switches of process %d: only a process's own are kept for all its threads", pid)
	}
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, 0, fmt.Errorf("getrusage: %w", err)
	}
	return int64(u.Nvcsw), int64(u.Nivcsw), nil
}
