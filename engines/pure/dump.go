package pure

import (
	"fmt"

	"tpccbench/engines/pure/store"
	"tpccbench/engines/pure/store/fs"
)

// Dump reads the store in the directory without changing it, and returns what its files hold and all that is wrong
// with them: see store.Dump.
func Dump(dir string, opt store.DumpOptions) (*store.Contents, error) {
	d, err := fs.OpenReadOnly(dir)
	if err != nil {
		return nil, err
	}
	c, err := store.Dump(d, schema, opt)
	if err != nil {
		return nil, fmt.Errorf("dump %s: %w", dir, translate(err))
	}
	return c, nil
}
