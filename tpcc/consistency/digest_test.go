package consistency

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"testing"

	"tpccbench/tpcc"
)

func digested(s Snapshot) *Digest {
	d := NewDigest()
	if err := s(d.Add); err != nil {
		panic(err)
	}
	return d
}

func TestDigestIsAsDocumented(t *testing.T) {
	db, _ := afterRun(1)
	var tables [tpcc.NumTables][]byte
	var rows [tpcc.NumTables]uint64
	_ = db.snapshot(func(r *tpcc.Row) error {
		for i := range r.Table.Schema().Columns {
			tables[r.Table] = binary.LittleEndian.AppendUint64(tables[r.Table], uint64(r.Col[i]))
		}
		rows[r.Table]++
		return nil
	})
	d := digested(db.snapshot)
	var whole []byte
	for _, table := range tpcc.Tables {
		sum := sha256.Sum256(tables[table])
		if got, want := d.Table(table), hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s: %s, not %s", table, got, want)
		}
		whole = append(binary.LittleEndian.AppendUint64(whole, rows[table]), sum[:]...)
	}
	sum := sha256.Sum256(whole)
	if got, want := d.String(), hex.EncodeToString(sum[:]); got != want || got != d.String() {
		t.Errorf("whole: %s, not %s", got, want)
	}
}

func TestDigestSeesEveryColumnOfItsTableOnly(t *testing.T) {
	db, _ := afterRun(1)
	before := digested(db.snapshot)
	for _, table := range tpcc.Tables {
		for i := range table.Schema().Columns {
			r := db.find(table)
			r.Col[i]++
			after := digested(db.snapshot)
			r.Col[i]--
			for _, other := range tpcc.Tables {
				if (before.Table(other) != after.Table(other)) != (other == table) {
					t.Errorf("%s column %d was changed: the digest of %s is wrong", table, i, other)
				}
			}
			if before.String() == after.String() {
				t.Errorf("%s column %d was changed: the whole digest is not", table, i)
			}
		}
	}
}

func BenchmarkDigest(b *testing.B) {
	r := tpcc.Row{Table: tpcc.OrderLine}
	d := NewDigest()
	b.ReportAllocs()
	for b.Loop() {
		_ = d.Add(&r)
	}
}
