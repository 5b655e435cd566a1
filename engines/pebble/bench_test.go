package pebble_test

import (
	"testing"

	"tpccbench/engines/enginetest"
	"tpccbench/engines/pebble"
)

// BenchmarkMix is the standard mix in each form of committing.
func BenchmarkMix(b *testing.B) {
	for _, form := range []string{"warehouse", "writer"} {
		b.Run(form, func(b *testing.B) { enginetest.Bench(b, pebble.Factory, map[string]string{"concurrency": form}) })
	}
}
