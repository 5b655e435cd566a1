package consistency

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"tpccbench/tpcc"
)

// Digest is a SHA-256 of each table and of the whole database. Databases with equal digests have the same rows in the
// same order.
//
// A row is hashed as its columns in schema order, 8 bytes each, little endian, two's complement; null as tpcc.Null. A
// table's digest is over its rows in the order of Add. The whole digest is over the nine tables in the order of
// tpcc.Tables: the number of rows (8 bytes, little endian) and the 32 bytes of the table's digest.
type Digest struct {
	tables [tpcc.NumTables]tableDigest
}

type tableDigest struct {
	sum  hash.Hash
	rows int64
	buf  []byte // rows that are not in sum yet
}

// digestBuffer is the size at which rows go to the hash.
const digestBuffer = 8 << 10

// NewDigest returns the digest of no rows.
func NewDigest() *Digest {
	d := new(Digest)
	for i := range d.tables {
		d.tables[i].sum = sha256.New()
	}
	return d
}

// Add adds one row. Rows of one table come in the order of a snapshot. The error is always nil: Add has the form of a
// snapshot's visit function.
func (d *Digest) Add(r *tpcc.Row) error {
	t := &d.tables[r.Table]
	for _, v := range r.Col[:len(r.Table.Schema().Columns)] {
		t.buf = binary.LittleEndian.AppendUint64(t.buf, uint64(v))
	}
	t.rows++
	if len(t.buf) >= digestBuffer {
		t.flush()
	}
	return nil
}

func (t *tableDigest) flush() {
	t.sum.Write(t.buf)
	t.buf = t.buf[:0]
}

func (t *tableDigest) bytes() []byte {
	t.flush()
	return t.sum.Sum(nil)
}

// Table is the digest of one table, in hexadecimal.
func (d *Digest) Table(t tpcc.Table) string { return hex.EncodeToString(d.tables[t].bytes()) }

// String is the digest of the whole database, in hexadecimal.
func (d *Digest) String() string {
	whole := sha256.New()
	for i := range d.tables {
		t := &d.tables[i]
		whole.Write(binary.LittleEndian.AppendUint64(nil, uint64(t.rows)))
		whole.Write(t.bytes())
	}
	return hex.EncodeToString(whole.Sum(nil))
}
