package tpcc

import "testing"

func BenchmarkNext(b *testing.B) {
	t := NewTerminal(1, 0, StandardScale(4), StandardMix())
	var in Input
	b.ReportAllocs()
	for b.Loop() {
		t.Next(&in)
	}
}

// BenchmarkInputDigest is one drawn and hashed input.
func BenchmarkInputDigest(b *testing.B) {
	t := NewTerminal(1, 0, StandardScale(4), StandardMix())
	d := NewInputDigest()
	var in Input
	b.ReportAllocs()
	for b.Loop() {
		t.Next(&in)
		d.Add(&in)
	}
}

// BenchmarkPopulation is one population of four warehouses, about 2.2 million rows.
func BenchmarkPopulation(b *testing.B) {
	b.ReportAllocs()
	rows := 0
	for b.Loop() {
		for range Population(1, StandardScale(4)) {
			rows++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
}
