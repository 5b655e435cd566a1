package study

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Two studies at a time on one machine would measure each other, and so would a single cell beside one. So each holds a
// lock (flock) on one well-known file while it goes on; the kernel releases it with the process, however that ends, and a file that was left behind holds
// nobody up. In the file stands whose lock it is, for the message to the next.

// machineLockPath is the well-known file: in the directory for temporary files, which all users can write.
func machineLockPath() string { return filepath.Join(os.TempDir(), "tpccbench-study.lock") }

// LockMachine takes the lock for what is measured with its data in dir, outside of a study. Closing releases it.
func LockMachine(dir string) (io.Closer, error) { return lockMachine(machineLockPath(), dir) }

// lockMachine takes the lock for the study in the folder out. The lock ends when the returned file is closed.
func lockMachine(path, out string) (*os.File, error) {
	f, err := openLock(path)
	if err != nil {
		return nil, fmt.Errorf("cannot make sure that no other study is being carried out: %w; TMPDIR says where the lock file is made", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("cannot lock %s: %w", path, err)
		}
		whose, _ := io.ReadAll(io.LimitReader(f, 8<<10))
		who := strings.TrimSpace(string(whose))
		if who == "" {
			who = "a process that has not said which"
		}
		return nil, fmt.Errorf("a study or a cell is being carried out on this machine already, by %s; two at a time would measure each other: "+
			"wait for its end", who)
	}
	abs, err := filepath.Abs(out)
	if err != nil {
		abs = out
	}
	// Another user's file can be locked, not written: then the message says less.
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt(fmt.Appendf(nil, "process %d in %s\n", os.Getpid(), abs), 0)
	}
	return f, nil
}

// openLock opens the file, for writing if this user may, and makes it if it is not there. O_CREATE on another user's
// file fails in a sticky directory (fs.protected_regular), so it is tried last.
func openLock(path string) (*os.File, error) {
	for _, flag := range [...]int{os.O_RDWR, os.O_RDONLY} {
		f, err := os.OpenFile(path, flag|unix.O_NOFOLLOW, 0)
		if err == nil || !(errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist)) {
			return f, err
		}
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o666)
	if err == nil {
		_ = f.Chmod(0o666) // whatever the umask: the next user locks and names himself in it too
	}
	return f, err
}
