//go:build cgo && lmdb

package lmdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"tpccbench/engines"
)

// LMDB's file (0.9, 64 bits), in the byte order of the machine, is pages of equal size. Each begins with a header:
//
//	0   number of the page (8)
//	8   unused (2)
//	10  flags (2): branch 1, leaf 2, overflow 4, meta 8; LMDB has others, which no page of a file of ours has
//	12  lower (2), upper (2): where the free space in the middle of a branch or leaf begins and ends;
//	    in an overflow page the number of pages that belong together (4)
//
// Pages 0 and 1 are meta pages; the newer commit's is the one that counts:
//
//	16  magic (4), version (4), address (8), size of the map (8)
//	40  the tree of free pages, then the tree of the data, each: page size (4; 0 in the second), flags (2), depth (2),
//	    number of branch, of leaf and of overflow pages, of entries (8 each), root page (8; all ones if it is empty)
//	136 last page in use (8), number of the commit (8)
//
// Behind the header of a branch or leaf come, up to lower, the places of its nodes in the order of their keys (2 each);
// the nodes fill the page from its end down to upper, each at an even place:
//
//	0   low, high part of a number (2 each)
//	4   flags (2): value on overflow pages 1; others are of databases with duplicates or with names
//	6   length of the key (2), key, and in a leaf the value
//
// The number is, in a leaf, the length of the value; in a branch the page below, of which the flags are the highest
// part. A value on overflow pages is a page number (8) in the leaf. In the tree of free pages a key is the number of a
// commit (8), its value the count of the pages that it has freed (8) and their numbers (8 each), descending.
const (
	dataName = "data.mdb"

	headerBytes = 16
	metaBytes   = 152
	nodeBytes   = 8
	metaMagic   = 0xBEEFC0DE
	dataVersion = 1
	noPage      = 1<<64 - 1

	branchPage   = 0x01
	leafPage     = 0x02
	overflowPage = 0x04
	metaPage     = 0x08
	bigValue     = 0x01
	integerKeys  = 0x08 // flag of the tree of free pages

	smallestPage = 256
	largestPage  = 1 << 15
	mostLevels   = 32      // LMDB's cursors have room for no more
	mostBytes    = 1 << 46 // of a map
)

var native = binary.NativeEndian

// root is one of the two trees, as a meta page describes it.
type root struct {
	pageSize     uint32
	flags, depth uint16
	page         uint64
}

// meta is what a meta page says.
type meta struct {
	free, data       root
	lastPage, commit uint64
}

func readRoot(b []byte) root {
	return root{native.Uint32(b), native.Uint16(b[4:]), native.Uint16(b[6:]), native.Uint64(b[40:])}
}

// readMeta reads a meta page; false if it is none.
func readMeta(b []byte) (m meta, ok bool) {
	m = meta{readRoot(b[40:]), readRoot(b[88:]), native.Uint64(b[136:]), native.Uint64(b[144:])}
	size := m.free.pageSize
	return m, native.Uint16(b[10:])&metaPage != 0 && native.Uint32(b[16:]) == metaMagic && native.Uint32(b[20:]) == dataVersion &&
		size >= smallestPage && size <= largestPage && size&(size-1) == 0
}

// checkFile says, wrapping engines.ErrCorrupt, what in the file LMDB could not survive: a damaged meta page, and pages
// of the newest commit's trees that contradict themselves or each other. Nobody may have the file open. A file that is
// not there or empty is one that was never begun.
func checkFile(path string) (err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	m, err := newestMeta(file)
	if err != nil {
		return err
	}
	pageSize := int64(m.free.pageSize)
	if m.lastPage < 1 || m.lastPage >= uint64(mostBytes/pageSize) {
		return pageError(m.commit%2, fmt.Sprintf("says that page %d is the last one", m.lastPage))
	}
	// LMDB writes no page that a transaction has taken and given back: the last ones may be missing. A page that is in a
	// tree may not.
	t := tree{file: file, pageSize: int(pageSize), lastPage: m.lastPage, used: make([]bool, min(uint64(info.Size()/pageSize), m.lastPage+1))}
	if err := t.check(m.data, false); err != nil {
		return err
	}
	return t.check(m.free, true)
}

// newestMeta reads the meta page that counts. LMDB opens no file in which the other one is damaged.
func newestMeta(file *os.File) (meta, error) {
	var metas [2]meta
	at := int64(0)
	for i := range metas {
		var b [metaBytes]byte
		if _, err := file.ReadAt(b[:], at); err != nil && !errors.Is(err, io.EOF) {
			return meta{}, fmt.Errorf("read %s: %w", dataName, err)
		}
		m, ok := readMeta(b[:])
		if !ok || i == 1 && m.free.pageSize != metas[0].free.pageSize {
			return meta{}, pageError(uint64(i), "is no meta page")
		}
		metas[i] = m
		at += int64(m.free.pageSize)
	}
	if metas[0].commit < metas[1].commit {
		return metas[1], nil
	}
	return metas[0], nil
}

// tree is a walk over the pages of both trees.
type tree struct {
	file     *os.File
	pageSize int
	lastPage uint64
	used     []bool             // by page, of those that are in the file
	free     bool               // of the tree that is walked over: it is that of free pages
	depth    int                // of that tree
	buffers  [mostLevels][]byte // a page for each level
	last     []byte             // key before
	big      []byte
}

func pageError(page uint64, what string) error {
	return fmt.Errorf("%w: %s: page %d %s", engines.ErrCorrupt, dataName, page, what)
}

// check walks over a whole tree.
func (t *tree) check(r root, free bool) error {
	want, name := uint16(0), "data"
	if free {
		want, name = integerKeys, "free pages"
	}
	switch {
	case r.flags != want:
		return fmt.Errorf("%w: %s: the meta page has flags %#x for the tree of %s", engines.ErrCorrupt, dataName, r.flags, name)
	case r.page == noPage && r.depth == 0:
		return nil
	case r.depth < 1 || r.depth > mostLevels:
		return fmt.Errorf("%w: %s: the meta page says that the tree of %s has %d levels", engines.ErrCorrupt, dataName, name, r.depth)
	}
	t.free, t.depth, t.last = free, int(r.depth), nil
	return t.checkPage(r.page, 0)
}

// take notes that count pages from page on are in use.
func (t *tree) take(page, count uint64) error {
	if page < 2 || page >= uint64(len(t.used)) || count > uint64(len(t.used))-page {
		return pageError(page, "is named, and is none of those in use and in the file")
	}
	for i := page; i < page+count; i++ {
		if t.used[i] {
			return pageError(i, "is in use twice")
		}
		t.used[i] = true
	}
	return nil
}

func (t *tree) read(b []byte, page uint64) error {
	if _, err := t.file.ReadAt(b, int64(page)*int64(t.pageSize)); err != nil {
		return fmt.Errorf("read %s: %w", dataName, err)
	}
	if native.Uint64(b) != page {
		return pageError(page, "says that it is another one")
	}
	return nil
}

// checkPage walks over all below a page of a level, of which the root is 0.
func (t *tree) checkPage(page uint64, level int) error {
	if err := t.take(page, 1); err != nil {
		return err
	}
	if t.buffers[level] == nil {
		t.buffers[level] = make([]byte, t.pageSize)
	}
	b := t.buffers[level]
	if err := t.read(b, page); err != nil {
		return err
	}
	leaf := level == t.depth-1
	switch flags := native.Uint16(b[10:]); {
	case leaf && flags != leafPage:
		return pageError(page, fmt.Sprintf("has flags %#x where there must be a leaf", flags))
	case !leaf && flags != branchPage:
		return pageError(page, fmt.Sprintf("has flags %#x where there must be a branch", flags))
	}
	lower, upper := int(native.Uint16(b[12:])), int(native.Uint16(b[14:]))
	if lower < headerBytes || lower%2 != 0 || upper < lower || upper > t.pageSize {
		return pageError(page, fmt.Sprintf("has its free space from %d to %d", lower, upper))
	}
	count := (lower - headerBytes) / 2
	if count == 0 || !leaf && !t.free && count == 1 {
		return pageError(page, fmt.Sprintf("has %d entries only", count))
	}
	for i := range count {
		at := int(native.Uint16(b[headerBytes+2*i:]))
		if at < upper || at%2 != 0 || at+nodeBytes > t.pageSize {
			return pageError(page, fmt.Sprintf("has entry %d at %d", i, at))
		}
		n := b[at:]
		keyEnd := nodeBytes + int(native.Uint16(n[6:]))
		if keyEnd > len(n) {
			return pageError(page, "has a key beyond its end")
		}
		var err error
		if leaf {
			err = t.checkEntry(page, n, n[nodeBytes:keyEnd], n[keyEnd:])
		} else {
			err = t.checkPage(uint64(native.Uint16(n))|uint64(native.Uint16(n[2:]))<<16|uint64(native.Uint16(n[4:]))<<32, level+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkEntry looks at an entry of a leaf: its node, its key, and the page from the value on.
func (t *tree) checkEntry(page uint64, n, key, rest []byte) error {
	if len(key) == 0 || t.free && len(key) != 8 {
		return pageError(page, fmt.Sprintf("has a key of %d bytes", len(key)))
	}
	if !t.free { // the other tree's keys are numbers of the machine
		if t.last != nil && bytes.Compare(t.last, key) >= 0 {
			return pageError(page, "has keys that are not in order")
		}
		t.last = append(t.last[:0], key...)
	}
	size := uint64(native.Uint16(n)) | uint64(native.Uint16(n[2:]))<<16
	switch flags := native.Uint16(n[4:]); {
	case flags != 0 && flags != bigValue:
		return pageError(page, fmt.Sprintf("has an entry with flags %#x", flags))
	case flags == bigValue:
		if len(rest) < 8 {
			return pageError(page, "has an entry beyond its end")
		}
		return t.checkOverflow(page, native.Uint64(rest), size)
	case size > uint64(len(rest)):
		return pageError(page, "has an entry beyond its end")
	}
	return t.checkFreed(page, rest[:size])
}

// checkOverflow looks at a value of size bytes on pages of its own.
func (t *tree) checkOverflow(leaf, page, size uint64) error {
	count := (headerBytes + size + uint64(t.pageSize) - 1) / uint64(t.pageSize)
	if err := t.take(page, count); err != nil {
		return err
	}
	if need := int(count) * t.pageSize; cap(t.big) < need {
		t.big = make([]byte, need)
	}
	b := t.big[:int(count)*t.pageSize]
	if err := t.read(b, page); err != nil {
		return err
	}
	if native.Uint16(b[10:]) != overflowPage || uint64(native.Uint32(b[12:])) != count {
		return pageError(page, fmt.Sprintf("is not the first of %d overflow pages", count))
	}
	return t.checkFreed(leaf, b[headerBytes:headerBytes+size])
}

// checkFreed looks at a list of free pages, each of which is in no tree. The tree of the data was walked over before.
func (t *tree) checkFreed(page uint64, value []byte) error {
	if !t.free {
		return nil
	}
	if len(value) < 8 || native.Uint64(value) > uint64(len(value)/8-1) {
		return pageError(page, "has a list of free pages that is cut off")
	}
	before := t.lastPage + 1
	for i := range int(native.Uint64(value)) {
		p := native.Uint64(value[8+8*i:])
		if p < 2 || p >= before {
			return pageError(page, fmt.Sprintf("says that page %d is free", p))
		}
		if p < uint64(len(t.used)) {
			if err := t.take(p, 1); err != nil {
				return err
			}
		}
		before = p
	}
	return nil
}
