package sqltpcc

import (
	"testing"

	"tpccbench/engines"
)

// BenchmarkFacts is what one reading of the facts takes; a run makes one per second.
func BenchmarkFacts(b *testing.B) {
	s, err := Open(b.TempDir(), engines.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Facts(); err != nil {
			b.Fatal(err)
		}
	}
}
