//go:build !(cgo && lmdb)

package lmdb

import "tpccbench/engines"

// Missing says in one line why there is no engine here and how to get it; empty where there is one.
const Missing = "lmdb: not built in; install liblmdb-dev and build with -tags lmdb"

// Factories lists the engines of this package that were built.
func Factories() []engines.Factory { return nil }
