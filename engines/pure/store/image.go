package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"tpccbench/engines/pure/store/fs"
)

// An image is a file that holds one version whole: all rows of all tables, without the indexes, which are made from
// them. All integers are little-endian, checksums are CRC-32C.
//
//	header  | magic "PUREIMG\n" 8 | version u32 | tables u32 | schema u64 | sequence u64 | per table: rows u64, arrivals u64 | crc u32 |
//	block   | length u32 | table u32 | rows u32 | number u32 | crc u32 | payload |
//	...
//	end     a block of length 0, table 0xffffffff, rows 0
//
// The header's crc covers all before it. A block's covers its first 16 bytes, the image's sequence (u64) and its
// payload: its rows in key order, each as
//
//	key uvarint: the difference from the key before it in the block, from 0 for the first | row words, 8 bytes each
//
// where the words are those of the schema's packed rows (schema.go). Blocks are numbered from 0 and stand in the order
// of the tables. Magic, version and checksums are checked in this order. An image is written under a temporary name,
// synced, and renamed to image-SEQUENCE: one with that name is whole, and anything amiss in it is damage.

const imageVersion = 1

var imageMagic = [8]byte{'P', 'U', 'R', 'E', 'I', 'M', 'G', '\n'}

const (
	imageHeadBytes  = 32 // before the counts of the tables
	blockHeadBytes  = 20
	imageBlockBytes = 256 << 10 // about; a block ends with the row that fills it
	imageEnd        = 0xffffffff
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendImageHeader(b []byte, l *layout, v *version) []byte {
	start := len(b)
	b = append(b, imageMagic[:]...)
	b = binary.LittleEndian.AppendUint32(b, imageVersion)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(l.tables)))
	b = binary.LittleEndian.AppendUint64(b, l.digest)
	b = binary.LittleEndian.AppendUint64(b, v.sequence)
	for i := range l.tables {
		b = binary.LittleEndian.AppendUint64(b, uint64(v.rows[i]))
		b = binary.LittleEndian.AppendUint64(b, uint64(v.arrivals[i]))
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
}

func blockCRC(head []byte, sequence uint64, payload []byte) uint32 {
	var seq [8]byte
	binary.LittleEndian.PutUint64(seq[:], sequence)
	crc := crc32.Checksum(head[:16], castagnoli)
	crc = crc32.Update(crc, castagnoli, seq[:])
	return crc32.Update(crc, castagnoli, payload)
}

// sealBlock fills the head of the block that begins b.
func sealBlock(b []byte, table, rows, number uint32, sequence uint64) {
	binary.LittleEndian.PutUint32(b[0:], uint32(len(b)-blockHeadBytes))
	binary.LittleEndian.PutUint32(b[4:], table)
	binary.LittleEndian.PutUint32(b[8:], rows)
	binary.LittleEndian.PutUint32(b[12:], number)
	binary.LittleEndian.PutUint32(b[16:], blockCRC(b, sequence, b[blockHeadBytes:]))
}

// writeImage writes v to f in pieces, calling pace after each with the bytes written so far, and returns its size.
func writeImage(f fs.File, a *arena, l *layout, v *version, pace func(written int64) error) (int64, error) {
	off := int64(0)
	flush := func(b []byte) error {
		if _, err := f.WriteAt(b, off); err != nil {
			return err
		}
		off += int64(len(b))
		return pace(off)
	}
	b := appendImageHeader(make([]byte, 0, imageBlockBytes+64<<10), l, v)
	if err := flush(b); err != nil {
		return 0, err
	}
	r := reads{a, l, v}
	number := uint32(0)
	for _, t := range l.tables {
		b = b[:blockHeadBytes]
		rows, last := uint32(0), uint64(0)
		seal := func() error {
			if rows == 0 {
				return nil
			}
			sealBlock(b, uint32(t.id), rows, number, v.sequence)
			err := flush(b)
			b = b[:blockHeadBytes]
			rows, last = 0, 0
			number++
			return err
		}
		for c := r.Scan(t.id, 0, ^uint64(0)); c.Next(); {
			b = binary.AppendUvarint(b, c.Key()-last)
			last = c.Key()
			for _, w := range c.words() {
				b = binary.LittleEndian.AppendUint64(b, w)
			}
			rows++
			if len(b) >= imageBlockBytes {
				if err := seal(); err != nil {
					return 0, err
				}
			}
		}
		if err := seal(); err != nil {
			return 0, err
		}
	}
	sealBlock(b, imageEnd, 0, number, v.sequence)
	if err := flush(b); err != nil {
		return 0, err
	}
	return off, nil
}

// readImage builds the version that the image in f holds. Its errors wrap ErrCorrupt (and ErrVersion or ErrSchema),
// with the offset, or are f's.
func readImage(f fs.File, name string, w *writes) error {
	l, v := w.l, w.v
	size, err := f.Size()
	if err != nil {
		return err
	}
	at := int64(0)
	damage := func(format string, args ...any) error {
		return fmt.Errorf("%w: image %s, offset %d: %s", ErrCorrupt, name, at, fmt.Sprintf(format, args...))
	}
	read := func(b []byte) (bool, error) {
		if int64(len(b)) > size-at {
			return false, nil
		}
		_, err := f.ReadAt(b, at)
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return true, err
	}
	head := make([]byte, imageHeadBytes+16*len(l.tables)+4)
	if ok, err := read(head[:imageHeadBytes]); err != nil {
		return err
	} else if !ok || [8]byte(head[:8]) != imageMagic {
		return damage("not an image")
	}
	if n := binary.LittleEndian.Uint32(head[8:]); n != imageVersion {
		return fmt.Errorf("%w: %w: image %s has version %d, this program reads %d", ErrCorrupt, ErrVersion, name, n, imageVersion)
	}
	tables := binary.LittleEndian.Uint32(head[12:])
	if tables > MaxTables {
		return damage("checksum mismatch in the header")
	}
	head = append(head[:imageHeadBytes], make([]byte, 16*tables+4)...)
	if ok, err := read(head); err != nil {
		return err
	} else if !ok || crc32.Checksum(head[:len(head)-4], castagnoli) != binary.LittleEndian.Uint32(head[len(head)-4:]) {
		return damage("checksum mismatch in the header")
	}
	if d := binary.LittleEndian.Uint64(head[16:]); d != l.digest {
		return fmt.Errorf("%w: %w: image %s has schema %016x, this program's is %016x", ErrCorrupt, ErrSchema, name, d, l.digest)
	}
	v.sequence = binary.LittleEndian.Uint64(head[24:])
	at = int64(len(head))

	var b []byte
	for number := uint32(0); ; number++ {
		b = append(b[:0], make([]byte, blockHeadBytes)...)
		if ok, err := read(b); err != nil {
			return err
		} else if !ok {
			return damage("the image ends in the middle")
		}
		length := int64(binary.LittleEndian.Uint32(b))
		if length > size-at-blockHeadBytes {
			return damage("block %d does not match its checksum, or the image ends in the middle", number)
		}
		if int64(cap(b)) < blockHeadBytes+length {
			b = make([]byte, blockHeadBytes+length)
		}
		b = b[:blockHeadBytes+length]
		if _, err := read(b); err != nil {
			return err
		}
		if blockCRC(b, v.sequence, b[blockHeadBytes:]) != binary.LittleEndian.Uint32(b[16:]) ||
			binary.LittleEndian.Uint32(b[12:]) != number {
			return damage("block %d does not match its checksum", number)
		}
		table := binary.LittleEndian.Uint32(b[4:])
		if table == imageEnd {
			at += blockHeadBytes
			break
		}
		if table >= uint32(len(l.tables)) || !w.addBlock(l.tables[table], binary.LittleEndian.Uint32(b[8:]), b[blockHeadBytes:]) {
			return damage("block %d holds impossible rows", number)
		}
		at += int64(len(b))
	}
	if at != size {
		return damage("%d bytes follow the end", size-at)
	}
	at = 0
	for i, t := range l.tables {
		counts := head[imageHeadBytes+16*i:]
		if n := binary.LittleEndian.Uint64(counts); n != uint64(v.rows[i]) {
			return damage("table %s has %d rows, the header says %d", t.name, v.rows[i], n)
		}
		v.arrivals[i] = int64(binary.LittleEndian.Uint64(counts[8:]))
		if t.append && v.arrivals[i] != v.rows[i] {
			return damage("table %s has %d rows, the header says that %d arrived", t.name, v.rows[i], v.arrivals[i])
		}
	}
	return nil
}

// addBlock inserts the rows of one block, or reports false if they are impossible.
func (w *writes) addBlock(t *table, rows uint32, p []byte) bool {
	key := uint64(0)
	for i := range rows {
		d, n := binary.Uvarint(p)
		if n <= 0 || i > 0 && d == 0 || len(p)-n < 8*t.rowWords {
			return false
		}
		key += d
		p = p[n:]
		row := w.insert(int(t.id), key)
		if row == nil || t.keyBits < 64 && key>>t.keyBits != 0 {
			return false
		}
		for i := range row {
			row[i] = binary.LittleEndian.Uint64(p[8*i:])
		}
		p = p[8*t.rowWords:]
		for _, ix := range t.indexes {
			if w.insert(ix.trie, ix.key(t, key, row)) == nil {
				return false
			}
		}
		w.v.rows[t.id]++
	}
	return len(p) == 0
}
