package bbolt_test

import (
	"testing"

	"tpccbench/engines/bbolt"
	"tpccbench/engines/enginetest"
)

// BenchmarkMix is the standard mix in each form of committing.
func BenchmarkMix(b *testing.B) {
	for _, form := range []string{"per_transaction", "grouped"} {
		b.Run(form, func(b *testing.B) { enginetest.Bench(b, bbolt.Factory, map[string]string{"commit": form}) })
	}
}
