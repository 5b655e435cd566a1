//go:build cgo && lmdb

package lmdb_test

import (
	"testing"

	"tpccbench/engines/enginetest"
	"tpccbench/engines/lmdb"
)

// BenchmarkMix is the standard mix in each form of committing.
func BenchmarkMix(b *testing.B) {
	for _, form := range []string{"per_transaction", "grouped"} {
		b.Run(form, func(b *testing.B) { enginetest.Bench(b, lmdb.Factory, map[string]string{"commit": form}) })
	}
}
