package store

import (
	"testing"

	"tpccbench/engines/pure/store/fs"
)

// null is a file that keeps nothing.
type null struct{ fs.File }

func (null) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }

// filled is a state of 400,000 rows: wide ones in scattered leaves, and narrow ones in full leaves.
func filled(tb testing.TB, dir fs.Dir) *Store {
	s := mustOpen(tb, dir, oneMiB)
	if err := s.Load(func(o *Loader) error {
		for i := range uint64(100_000) {
			m, _ := o.Insert(accounts, i%10<<28|i/10)
			m.Set(0, int64(i%4096))
			m.Set(1, int64(i))
		}
		for i := range uint64(100_000) {
			o.Insert(members, i*3)
		}
		for i := range int64(200_000) {
			o.Append(events).Set(1, i)
		}
		return nil
	}); err != nil {
		tb.Fatal(err)
	}
	return s
}

// BenchmarkWriteImage is the processor time that a checkpoint takes, per row.
func BenchmarkWriteImage(b *testing.B) {
	s := filled(b, fs.NewMem())
	defer mustClose(b, s)
	r := s.NewReader()
	defer r.Close()
	v := r.Pin().v
	rows, bytes := int64(0), int64(0)
	for _, n := range v.rows {
		rows += n
	}
	for b.Loop() {
		var err error
		if bytes, err = writeImage(null{}, &s.arena, s.layout, v, func(int64) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(bytes)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}

// BenchmarkReadImage is opening a store that has an image only, per row.
func BenchmarkReadImage(b *testing.B) {
	dir := fs.NewMem()
	s := filled(b, dir)
	rows := int64(0)
	for _, n := range s.work.rows {
		rows += n
	}
	mustClose(b, s)
	for b.Loop() {
		mustClose(b, mustOpen(b, dir, Options{}))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}
