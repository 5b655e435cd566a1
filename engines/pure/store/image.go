package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"tpccbench/engines/pure/store/fs"
)

// An image is a file that holds one version whole: all rows of all tables, without the indexes, which are made from
// them. All integers are little-endian, checksums are CRC-32C.
//
//	header  | magic "PUREIMG\n" 8 | version u32 | tables u32 | schema u64 | sequence u64 |
//	        | per table: rows u64, arrivals u64 | crc u32 |
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
// of the tables; an image ends with its end block. Version is FormatVersion. Magic, version and checksums are checked
// in this order. An image is written under a temporary name, synced, renamed to image-SEQUENCE, and then named by the
// manifest: one that is named is whole, and anything amiss in it is damage.

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
	b = binary.LittleEndian.AppendUint32(b, FormatVersion)
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

// writeImage writes v to f in pieces, calling wrote after each with its bytes, and returns the image's size.
func writeImage(f fs.File, a *arena, l *layout, v *version, wrote func(bytes int64) error) (int64, error) {
	off := int64(0)
	flush := func(b []byte) error {
		if _, err := f.WriteAt(b, off); err != nil {
			return err
		}
		off += int64(len(b))
		return wrote(int64(len(b)))
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

// imageHeader is what an image says of itself.
type imageHeader struct {
	schema, sequence uint64
	rows, arrivals   []uint64 // by table
}

// imageReader reads an image block by block. Its errors are *DamageError, or the file's.
type imageReader struct {
	f      fs.File
	path   string
	size   int64
	at     int64 // where the next block starts
	number uint32
	header imageHeader
}

// imageBlock is one block; table is imageEnd for the last.
type imageBlock struct {
	offset      int64
	table, rows uint32
	number      uint32
	payload     []byte
}

// readFull fills b from offset at, or reports false if the file is too short.
func (r *imageReader) readFull(b []byte, at int64) (bool, error) {
	if int64(len(b)) > r.size-at {
		return false, nil
	}
	if _, err := r.f.ReadAt(b, at); err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read %s: %w", r.path, err)
	}
	return true, nil
}

// openImage reads the header of an image; path is for messages.
func openImage(f fs.File, path string) (*imageReader, error) {
	r := &imageReader{f: f, path: path}
	var err error
	if r.size, err = f.Size(); err != nil {
		return nil, err
	}
	head := make([]byte, imageHeadBytes)
	if ok, err := r.readFull(head, 0); err != nil {
		return nil, err
	} else if !ok || [8]byte(head[:8]) != imageMagic {
		return nil, damage(path, 0, "not an image")
	}
	if v := binary.LittleEndian.Uint32(head[8:]); v != FormatVersion {
		return nil, versionError(path, v)
	}
	tables := binary.LittleEndian.Uint32(head[12:])
	if tables > MaxTables {
		return nil, damage(path, 0, "the image's header does not match its checksum")
	}
	head = make([]byte, imageHeadBytes+16*tables+4)
	if ok, err := r.readFull(head, 0); err != nil {
		return nil, err
	} else if n := len(head) - 4; !ok || crc32.Checksum(head[:n], castagnoli) != binary.LittleEndian.Uint32(head[n:]) {
		return nil, damage(path, 0, "the image's header does not match its checksum")
	}
	h := &r.header
	h.schema, h.sequence = binary.LittleEndian.Uint64(head[16:]), binary.LittleEndian.Uint64(head[24:])
	for at := imageHeadBytes; at < len(head)-4; at += 16 {
		h.rows = append(h.rows, binary.LittleEndian.Uint64(head[at:]))
		h.arrivals = append(h.arrivals, binary.LittleEndian.Uint64(head[at+8:]))
	}
	r.at = int64(len(head))
	return r, nil
}

// next reads the next block into buf, or into a larger buffer, and returns that. After an error that is damage it can
// be called again if more is true: for the block behind the damaged one, as far as its length can be believed.
func (r *imageReader) next(buf []byte) (b imageBlock, _ []byte, more bool, err error) {
	at := r.at
	b = imageBlock{offset: at, number: r.number}
	buf = append(buf[:0], make([]byte, blockHeadBytes)...)
	if ok, err := r.readFull(buf, at); err != nil {
		return b, buf, false, err
	} else if !ok {
		return b, buf, false, damage(r.path, at, "the image ends before its end block")
	}
	length := int64(binary.LittleEndian.Uint32(buf))
	if length > r.size-at-blockHeadBytes {
		return b, buf, false, damage(r.path, at, "block %d does not match its checksum, or the image ends in it", r.number)
	}
	if int64(cap(buf)) < blockHeadBytes+length {
		buf = make([]byte, blockHeadBytes+length, blockHeadBytes+length+4096)
	}
	buf = buf[:blockHeadBytes+length]
	if _, err := r.readFull(buf, at); err != nil {
		return b, buf, false, err
	}
	r.at += int64(len(buf))
	r.number++
	if blockCRC(buf, r.header.sequence, buf[blockHeadBytes:]) != binary.LittleEndian.Uint32(buf[16:]) ||
		binary.LittleEndian.Uint32(buf[12:]) != b.number {
		return b, buf, r.at < r.size, damage(r.path, at, "block %d does not match its checksum", b.number)
	}
	b.table, b.rows = binary.LittleEndian.Uint32(buf[4:]), binary.LittleEndian.Uint32(buf[8:])
	b.payload = buf[blockHeadBytes:]
	if b.table == imageEnd && r.at != r.size {
		return b, buf, false, damage(r.path, r.at, "%d bytes follow the image's end block", r.size-r.at)
	}
	return b, buf, b.table != imageEnd, nil
}

// imagePieces are the blocks of an image on their way from the goroutine that reads and verifies them to the one that
// builds the tables.
type imagePieces struct {
	blocks chan imagePiece
	used   chan []byte
}

type imagePiece struct {
	imageBlock
	buf []byte
	err error
}

// readAhead is how many pieces are read before the first of them is done with.
const readAhead = 4

// readImage builds the version that the image in f holds, calling progress with the bytes done. Its errors wrap
// ErrCorrupt (and ErrVersion or ErrSchema), with the offset, or are f's.
func readImage(f fs.File, path string, w *writes, progress func(bytes int64)) error {
	l, v := w.l, w.v
	r, err := openImage(f, path)
	if err != nil {
		return err
	}
	h := &r.header
	if h.schema != l.digest {
		return schemaError(path, 16, h.schema, l.digest)
	}
	v.sequence = h.sequence

	p := imagePieces{make(chan imagePiece, readAhead), make(chan []byte, readAhead)}
	for range cap(p.used) {
		p.used <- nil
	}
	stop := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(p.blocks)
		for more := true; more; {
			var piece imagePiece
			select {
			case piece.buf = <-p.used:
			case <-stop:
				return
			}
			piece.imageBlock, piece.buf, more, piece.err = r.next(piece.buf)
			more = more && piece.err == nil
			p.blocks <- piece // there is room: see used
		}
	})
	defer reader.Wait()
	defer close(stop)
	for b := range p.blocks {
		if b.err != nil {
			return b.err
		}
		if b.table != imageEnd {
			if b.table >= uint32(len(l.tables)) || !w.addBlock(l.tables[b.table], b.rows, b.payload) {
				return damage(path, b.offset, "block %d holds impossible rows", b.number)
			}
		}
		progress(b.offset)
		p.used <- b.buf
	}
	for i, t := range l.tables {
		if h.rows[i] != uint64(v.rows[i]) {
			return damage(path, imageHeadBytes+16*int64(i), "table %s has %d rows, the header says %d", t.name, v.rows[i], h.rows[i])
		}
		v.arrivals[i] = int64(h.arrivals[i])
		if t.append && v.arrivals[i] != v.rows[i] {
			return damage(path, imageHeadBytes+16*int64(i)+8, "table %s has %d rows, the header says that %d arrived", t.name, v.rows[i], v.arrivals[i])
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
