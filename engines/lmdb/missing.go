//go:build !(cgo && lmdb)

package lmdb

import (
	"errors"

	"tpccbench/engines"
)

const missing = "lmdb is not built in: liblmdb-dev's lmdb.h was missing when this program was built; install it and build again " +
	"(. ./setup.sh && build, or go build -tags lmdb)"

func init() {
	Factory.Missing = missing
	Factory.Open = func(string, engines.Options) (engines.Engine, error) { return nil, errors.New(missing) }
}
