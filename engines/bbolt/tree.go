package bbolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"syscall"

	"tpccbench/engines"
)

// bbolt's file, in the byte order of the machine: pages of equal size, each with a header of its number (8 bytes),
// flags (2), count of elements (2) and number of further pages that belong to it (4). Pages 0 and 1 are meta pages:
// behind the header magic (4), version (4), page size (4), flags (4), root page (8), sequence (8), page of the list of
// free pages (8), number of pages in use (8), number of the transaction (8), FNV-1a of all that (8). An element of a
// branch is position (4), length of key (4), page (8); of a leaf flags, position, length of key, of value (4 each).
const (
	headerBytes     = 16
	metaBytes       = 64
	metaMagic       = 0xED0CDAED
	noFreelist      = 1<<64 - 1
	branchPage      = 0x01
	leafPage        = 0x02
	elementBytes    = 16
	bucketFlag      = 0x01
	bucketBytes     = 16 // root page (8), 0 if the bucket's page follows; sequence (8)
	smallestPage    = 1024
	largestPage     = 1 << 24
	mostPagesOfNode = 1 << 16
)

var native = binary.NativeEndian

// meta is what a meta page says.
type meta struct {
	pageSize                        int64
	root, freelist, pages, sequence uint64
}

// readMeta reads a meta page; false if it is none, or damaged.
func readMeta(b []byte) (m meta, ok bool) {
	b = b[headerBytes:][:metaBytes]
	sum := fnv.New64a()
	_, _ = sum.Write(b[:metaBytes-8]) // never fails
	m = meta{int64(native.Uint32(b[8:])), native.Uint64(b[16:]), native.Uint64(b[32:]), native.Uint64(b[40:]), native.Uint64(b[48:])}
	return m, native.Uint32(b) == metaMagic && native.Uint64(b[56:]) == sum.Sum64() && m.pageSize >= smallestPage && m.pageSize <= largestPage
}

// checkFile says, wrapping engines.ErrCorrupt, what in the file bbolt could not survive reading at its Open: no valid
// meta page, a file that is shorter than they say, and, if the list of free pages must be rebuilt, pages that contradict
// themselves. It fails with engines.ErrLocked if somebody has the file open. An empty file is one that was never begun.
func checkFile(path string) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }() // and gives the lock back
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("%w: %s is locked", engines.ErrLocked, fileName)
	} else if err != nil {
		return fmt.Errorf("lock %s: %w", fileName, err)
	}
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	m, err := newestMeta(file, info.Size())
	if err != nil {
		return err
	}
	if m.pages < 4 || m.pages > uint64(info.Size()/m.pageSize) {
		return fmt.Errorf("%w: %s has %d bytes; its meta page tells of %d pages of %d bytes", engines.ErrCorrupt, fileName, info.Size(), m.pages, m.pageSize)
	}
	t := tree{file: file, meta: m}
	if m.freelist == noFreelist {
		t.seen = make([]bool, m.pages)
		return t.check(m.root)
	}
	_, err = t.read(m.freelist)
	return err
}

// newestMeta reads the newer one of the two meta pages.
func newestMeta(file *os.File, size int64) (newest meta, err error) {
	found := false
	for at := int64(0); at < size && at <= largestPage; at = max(2*at, smallestPage) {
		var b [headerBytes + metaBytes]byte
		if _, err := file.ReadAt(b[:], at); err != nil {
			break // beyond the end
		}
		if m, ok := readMeta(b[:]); ok && (at == 0 || at == m.pageSize) && (!found || m.sequence > newest.sequence) {
			newest, found = m, true
		}
	}
	if !found {
		return newest, fmt.Errorf("%w: %s has no valid meta page", engines.ErrCorrupt, fileName)
	}
	return newest, nil
}

// tree is a walk over the pages.
type tree struct {
	file *os.File
	meta meta
	seen []bool
}

func pageError(page uint64, what string) error {
	return fmt.Errorf("%w: %s: page %d %s", engines.ErrCorrupt, fileName, page, what)
}

// read reads a page with those that belong to it.
func (t *tree) read(page uint64) ([]byte, error) {
	if page < 2 || page >= t.meta.pages {
		return nil, pageError(page, "is named, and is none of those in use")
	}
	var header [headerBytes]byte
	at := int64(page) * t.meta.pageSize
	if _, err := t.file.ReadAt(header[:], at); err != nil {
		return nil, fmt.Errorf("read %s: %w", fileName, err)
	}
	if native.Uint64(header[:]) != page {
		return nil, pageError(page, "says that it is another one")
	}
	more := uint64(native.Uint32(header[12:]))
	if more >= mostPagesOfNode || page+more >= t.meta.pages {
		return nil, pageError(page, "goes on beyond the pages in use")
	}
	b := make([]byte, int64(more+1)*t.meta.pageSize)
	if _, err := t.file.ReadAt(b, at); err != nil {
		return nil, fmt.Errorf("read %s: %w", fileName, err)
	}
	return b, nil
}

// check walks over all below a page.
func (t *tree) check(page uint64) error {
	b, err := t.read(page)
	if err != nil {
		return err
	}
	if t.seen[page] {
		return pageError(page, "is in the tree twice")
	}
	t.seen[page] = true
	return t.checkNode(page, b)
}

// checkNode walks over the elements of a page, or of one that is inside of another.
func (t *tree) checkNode(page uint64, b []byte) error {
	if len(b) < headerBytes {
		return pageError(page, "has a bucket in it that is cut off")
	}
	flags, count := native.Uint16(b[8:]), int(native.Uint16(b[10:]))
	if flags != branchPage && flags != leafPage {
		return pageError(page, "is neither branch nor leaf")
	}
	for i := range count {
		at := headerBytes + i*elementBytes
		if at+elementBytes > len(b) {
			return pageError(page, "has more elements than there is room for")
		}
		e := b[at:]
		if flags == branchPage {
			if uint64(native.Uint32(e))+uint64(native.Uint32(e[4:])) > uint64(len(e)) {
				return pageError(page, "has a key beyond its end")
			}
			if err := t.check(native.Uint64(e[8:])); err != nil {
				return err
			}
			continue
		}
		position, key, value := uint64(native.Uint32(e[4:])), uint64(native.Uint32(e[8:])), uint64(native.Uint32(e[12:]))
		if position+key+value > uint64(len(e)) {
			return pageError(page, "has an entry beyond its end")
		}
		if native.Uint32(e)&bucketFlag == 0 {
			continue
		}
		if err := t.checkBucket(page, e[position+key:][:value]); err != nil {
			return err
		}
	}
	return nil
}

// checkBucket walks over a bucket, given the value that describes it.
func (t *tree) checkBucket(page uint64, value []byte) error {
	if len(value) < bucketBytes {
		return pageError(page, "has a bucket that is cut off")
	}
	if root := native.Uint64(value); root != 0 {
		return t.check(root)
	}
	return t.checkNode(page, value[bucketBytes:])
}
