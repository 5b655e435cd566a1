package store

import (
	"errors"
	iofs "io/fs"

	"tpccbench/engines/pure/store/fs"
)

// createTemp opens a new, empty file of a temporary name. One that is there was left by an attempt that failed and could
// not even remove it; it means nothing, and must not make all later attempts fail.
func createTemp(dir fs.Dir, name string) (fs.File, error) {
	f, err := dir.Create(name)
	if !errors.Is(err, iofs.ErrExist) {
		return f, err
	}
	if err := dir.Remove(name); err != nil {
		return nil, err
	}
	return dir.Create(name)
}
