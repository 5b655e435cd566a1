package sqltpcc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"tpccbench/engines"
)

// lockName is the file whose flock says that the store is open.
const lockName = "lock"

// lockDir takes the directory for this process, or fails with engines.ErrLocked. Closing the file gives it back.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = engines.ErrLocked
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %s", err, f.Name()), f.Close())
	}
	return f, nil
}
