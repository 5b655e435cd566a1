package badger_test

import (
	"testing"

	"tpccbench/engines/badger"
	"tpccbench/engines/enginetest"
)

// BenchmarkMix is the standard mix in each form of committing.
func BenchmarkMix(b *testing.B) {
	for _, form := range []string{"writer", "warehouse", "optimistic"} {
		b.Run(form, func(b *testing.B) { enginetest.Bench(b, badger.Factory, map[string]string{"concurrency": form}) })
	}
}
