package store

import "math/bits"

// A trie maps packed keys to rows of fixed width, in key order. It is a radix tree of 6-bit digits over the key's bits
// above the leaf, with compressed paths and compressed nodes:
//
//	inner  [0] birth 40 | class 8 | shift 16   the node's digit is key>>shift & 63
//	       [1] prefix                          key >> (shift+6), the same for all keys below
//	       [2] present                         one bit for each digit that has a child
//	       [3..] children, 32 bits each, in the order of their digits
//	leaf   [0] birth 40 | class 8 | present 16
//	       [1] prefix                          key >> leafShift
//	       [2..] rows, rowWords each, in key order
//
// Invariants: an inner node has at least two children, a leaf at least one row; shift falls from parent to child and
// is leafShift plus a multiple of 6; a child's keys all have its parent's prefix. So a search for one key may skip
// every check but the leaf's.
//
// Changes own the way from the root down to what they change: a node on it that the owner does not own yet (see arena)
// is copied. Above a node that is owned all is owned.
type trieShape struct {
	leafShift uint
	rowWords  uint32
}

const (
	digitBits    = 6
	maxLeafShift = 4
	innerHead    = 3
	leafHead     = 2
	maxNodeWords = leafHead + MaxFields
	// leafWords is what the rows of a full leaf should fit in: it bounds what a change has to copy.
	leafWords = 32
)

func leafShiftFor(rowWords int) uint {
	shift := uint(maxLeafShift)
	for shift > 0 && rowWords<<shift > leafWords {
		shift--
	}
	return shift
}

func innerShift(n *node) uint    { return uint(n[0] & 63) }
func leafPresent(n *node) uint64 { return n[0] & (1<<(1<<maxLeafShift) - 1) }

// below counts the bits of present under bit d.
func below(present uint64, d uint64) int { return bits.OnesCount64(present & (1<<(d&63) - 1)) }

func child(n *node, i int) ref { return ref(n[innerHead+(i&63)/2] >> (32 * uint(i&1))) }

func setChild(n *node, i int, r ref) {
	s := 32 * uint(i&1)
	w := &n[innerHead+(i&63)/2]
	*w = *w&^(0xffffffff<<s) | uint64(r)<<s
}

func innerClass(children int) uint8       { return classFor(uint32(innerHead + (children+1)/2)) }
func (s trieShape) leafClass(r int) uint8 { return classFor(leafHead + uint32(r)*s.rowWords) }

// lowMask has the bits of a key that choose a row in its leaf.
func (s trieShape) lowMask() uint64 { return 1<<s.leafShift - 1 }

// find returns the row of key, nil if there is none. A row without words is not nil.
func (s trieShape) find(a *arena, r ref, key uint64) []uint64 {
	if r == 0 {
		return nil
	}
	n := a.node(r)
	for !r.leaf() {
		d := key >> innerShift(n) & 63
		if n[2]>>d&1 == 0 {
			return nil
		}
		r = child(n, below(n[2], d))
		n = a.node(r)
	}
	if n[1] != key>>s.leafShift {
		return nil
	}
	d := key & s.lowMask()
	if leafPresent(n)>>d&1 == 0 {
		return nil
	}
	return s.row(n, below(leafPresent(n), d))
}

func (s trieShape) row(n *node, i int) []uint64 {
	at := leafHead + uint32(i)*s.rowWords
	return n[at : at+s.rowWords : at+s.rowWords]
}

// link makes c the child of the owned node up in its slot, or the root if up is nil.
func link(root *ref, up *node, slot int, c ref) {
	if up == nil {
		*root = c
		return
	}
	setChild(up, slot, c)
}

// copyInner returns an owned copy of an inner node, and retires it.
func (a *arena) copyInner(r ref, n *node) (ref, *node) {
	class := nodeClass(n)
	c, m := a.alloc(class, 0)
	m[0] = a.header(class, uint64(innerShift(n)))
	words := innerHead + (bits.OnesCount64(n[2])+1)/2
	copy(m[1:words], n[1:words])
	a.drop(r, n)
	return c, m
}

// edit returns the row of key for changing and the leaf it is in, which is owned; nil if there is none.
func (s trieShape) edit(a *arena, root *ref, key uint64) ([]uint64, ref) {
	r := *root
	if r == 0 {
		return nil, 0
	}
	var up *node
	slot := 0
	n := a.node(r)
	for !r.leaf() {
		d := key >> innerShift(n) & 63
		if n[2]>>d&1 == 0 {
			return nil, 0
		}
		if birthOf(n) != a.epoch {
			r, n = a.copyInner(r, n)
			link(root, up, slot, r)
		}
		up, slot = n, below(n[2], d)
		r = child(n, slot)
		n = a.node(r)
	}
	d, present := key&s.lowMask(), leafPresent(n)
	if n[1] != key>>s.leafShift || present>>d&1 == 0 {
		return nil, 0
	}
	if birthOf(n) != a.epoch {
		r, n = s.copyLeaf(a, r, n)
		link(root, up, slot, r)
	}
	return s.row(n, below(present, d)), r
}

// copyLeaf returns an owned copy of a leaf, and retires it.
func (s trieShape) copyLeaf(a *arena, r ref, n *node) (ref, *node) {
	present := leafPresent(n)
	rows := bits.OnesCount64(present)
	class := s.leafClass(rows)
	c, m := a.alloc(class, leafBit)
	m[0] = a.header(class, present)
	words := leafHead + uint32(rows)*s.rowWords
	copy(m[1:words], n[1:words])
	a.drop(r, n)
	return c, m
}

// insert makes room for a row with a new key and returns it, holding zeros, and the leaf it is in, which is owned; nil
// if the key is there already. A new leaf gets room for so many rows.
func (s trieShape) insert(a *arena, root *ref, key uint64, rows int) ([]uint64, ref) {
	r := *root
	if r == 0 {
		leaf, row := s.newLeaf(a, key, rows)
		*root = leaf
		return row, leaf
	}
	var up *node
	slot := 0
	for {
		n := a.node(r)
		if r.leaf() {
			if n[1] != key>>s.leafShift {
				c, row, leaf := s.branch(a, r, n[1]<<s.leafShift, key, rows)
				link(root, up, slot, c)
				return row, leaf
			}
			row, leaf := s.insertRow(a, r, n, key)
			if row != nil && leaf != r {
				link(root, up, slot, leaf)
			}
			return row, leaf
		}
		shift := innerShift(n)
		if n[1] != key>>shift>>digitBits {
			c, row, leaf := s.branch(a, r, n[1]<<digitBits<<shift, key, rows)
			link(root, up, slot, c)
			return row, leaf
		}
		d := key >> shift & 63
		i := below(n[2], d)
		if n[2]>>d&1 == 0 {
			leaf, row := s.newLeaf(a, key, rows)
			if c := a.insertChild(r, n, i, d, leaf); c != r {
				link(root, up, slot, c)
			}
			return row, leaf
		}
		if birthOf(n) != a.epoch {
			r, n = a.copyInner(r, n)
			link(root, up, slot, r)
		}
		up, slot = n, i
		r = child(n, i)
	}
}

func (s trieShape) newLeaf(a *arena, key uint64, rows int) (ref, []uint64) {
	class := s.leafClass(rows)
	r, n := a.alloc(class, leafBit)
	n[0] = a.header(class, 1<<(key&s.lowMask()))
	n[1] = key >> s.leafShift
	row := s.row(n, 0)
	zero(row)
	return r, row
}

// zero is clear for a few words.
func zero(row []uint64) {
	for i := range row {
		row[i] = 0
	}
}

// branch makes a new inner node of there, whose keys share the prefix of prefix, and of a new leaf for key.
func (s trieShape) branch(a *arena, there ref, prefix, key uint64, rows int) (_ ref, row []uint64, leaf ref) {
	top := uint(bits.Len64(prefix^key)) - 1 // the highest bit in which they differ, above the leaf's
	shift := s.leafShift + (top-s.leafShift)/digitBits*digitBits
	leaf, row = s.newLeaf(a, key, rows)
	class := innerClass(2)
	r, n := a.alloc(class, 0)
	n[0] = a.header(class, uint64(shift))
	n[1] = key >> shift >> digitBits
	dThere, dKey := prefix>>shift&63, key>>shift&63
	n[2] = 1<<dThere | 1<<dKey
	lo, hi := there, leaf
	if dKey < dThere {
		lo, hi = hi, lo
	}
	n[innerHead] = uint64(lo) | uint64(hi)<<32
	return r, row, leaf
}

// insertChild adds a child with digit d at position i, in place if the node is owned and has room.
func (a *arena) insertChild(r ref, n *node, i int, d uint64, c ref) ref {
	count := bits.OnesCount64(n[2])
	class := innerClass(count + 1)
	if birthOf(n) == a.epoch && class <= nodeClass(n) {
		for j := count; j > i; j-- {
			setChild(n, j, child(n, j-1))
		}
		setChild(n, i, c)
		n[2] |= 1 << d
		return r
	}
	out, m := a.alloc(class, 0)
	m[0] = a.header(class, uint64(innerShift(n)))
	m[1], m[2] = n[1], n[2]|1<<d
	copy(m[innerHead:], n[innerHead:innerHead+(i+1)/2])
	setChild(m, i, c)
	for j := i; j < count; j++ {
		setChild(m, j+1, child(n, j))
	}
	a.drop(r, n)
	return out
}

// insertInPlace adds a row to the leaf n, if it is owned and has room; the key must not be there.
func (s trieShape) insertInPlace(a *arena, n *node, key uint64) []uint64 {
	d, present := key&s.lowMask(), leafPresent(n)
	i, count := below(present, d), bits.OnesCount64(present)
	if birthOf(n) != a.epoch || s.leafClass(count+1) > nodeClass(n) {
		return nil
	}
	if i < count {
		at, end := leafHead+uint32(i)*s.rowWords, leafHead+uint32(count)*s.rowWords
		copy(n[at+s.rowWords:end+s.rowWords], n[at:end])
	}
	n[0] |= 1 << d
	row := s.row(n, i)
	zero(row)
	return row
}

// insertRow adds a row to the leaf n, which is r. It returns the row, nil if the key is there already, and the leaf.
func (s trieShape) insertRow(a *arena, r ref, n *node, key uint64) ([]uint64, ref) {
	d, present := key&s.lowMask(), leafPresent(n)
	if present>>d&1 != 0 {
		return nil, 0
	}
	if row := s.insertInPlace(a, n, key); row != nil {
		return row, r
	}
	i, count := below(present, d), bits.OnesCount64(present)
	at, end := leafHead+uint32(i)*s.rowWords, leafHead+uint32(count)*s.rowWords
	class := s.leafClass(count + 1)
	if birthOf(n) == a.epoch {
		// The leaf grows within one save: more rows are likely to follow.
		class = s.leafClass(min(count+1+count/2, 1<<s.leafShift))
	}
	out, m := a.alloc(class, leafBit)
	m[0], m[1] = a.header(class, present|1<<d), n[1]
	copy(m[leafHead:at], n[leafHead:at])
	copy(m[at+s.rowWords:end+s.rowWords], n[at:end])
	a.drop(r, n)
	row := s.row(m, i)
	zero(row)
	return row, out
}

// remove takes the row of key out, or reports false if there is none.
func (s trieShape) remove(a *arena, root *ref, key uint64) bool {
	r := *root
	if r == 0 || s.find(a, r, key) == nil {
		return false
	}
	var up, top *node // the nodes above, and their slots
	slot, topSlot := 0, 0
	n := a.node(r)
	for !r.leaf() {
		if birthOf(n) != a.epoch {
			r, n = a.copyInner(r, n)
			link(root, up, slot, r)
		}
		top, topSlot = up, slot
		up, slot = n, below(n[2], key>>innerShift(n)&63)
		r = child(n, slot)
		n = a.node(r)
	}
	d, present := key&s.lowMask(), leafPresent(n)
	if present == 1<<d {
		a.drop(r, n)
		a.removeChild(root, top, topSlot, up, slot)
		return true
	}
	i, count := below(present, d), bits.OnesCount64(present)
	at, end := leafHead+uint32(i)*s.rowWords, leafHead+uint32(count)*s.rowWords
	if birthOf(n) == a.epoch {
		copy(n[at:end-s.rowWords], n[at+s.rowWords:end])
		n[0] &^= 1 << d
		return true
	}
	class := s.leafClass(count - 1)
	out, m := a.alloc(class, leafBit)
	m[0], m[1] = a.header(class, present&^(1<<d)), n[1]
	copy(m[leafHead:at], n[leafHead:at])
	copy(m[at:end-s.rowWords], n[at+s.rowWords:end])
	a.drop(r, n)
	link(root, up, slot, out)
	return true
}

// removeChild unlinks child i of the owned node n, which hangs in a slot of up. A node that is left with one child
// gives its place to it. Without a node the trie was a leaf.
func (a *arena) removeChild(root *ref, up *node, slot int, n *node, i int) {
	if n == nil {
		*root = 0
		return
	}
	count := bits.OnesCount64(n[2])
	if count == 2 {
		r := *root
		if up != nil {
			r = child(up, slot)
		}
		only := child(n, 1-i)
		a.drop(r, n)
		link(root, up, slot, only)
		return
	}
	for j := i; j < count-1; j++ {
		setChild(n, j, child(n, j+1))
	}
	n[2] &^= nthBit(n[2], i)
}

// nthBit is the i-th lowest bit of v, as a mask.
func nthBit(v uint64, i int) uint64 {
	for range i {
		v &= v - 1
	}
	return v & -v
}

// ceil returns the leaf that holds the smallest key of at least key, and which of its rows are of at least key; nil
// if there is no such key.
func (s trieShape) ceil(a *arena, r ref, key uint64) (n *node, rows uint64) {
	if r == 0 {
		return nil, 0
	}
	n = a.node(r)
	if r.leaf() {
		prefix := key >> s.leafShift
		switch present := leafPresent(n); {
		case n[1] > prefix:
			return n, present
		case n[1] == prefix && present>>(key&s.lowMask()) != 0:
			return n, present >> (key & s.lowMask()) << (key & s.lowMask())
		}
		return nil, 0
	}
	shift := innerShift(n)
	switch prefix := key >> shift >> digitBits; {
	case n[1] < prefix:
		return nil, 0
	case n[1] > prefix:
		return s.ceil(a, child(n, 0), 0)
	}
	d := key >> shift & 63
	i := below(n[2], d)
	if n[2]>>d&1 != 0 {
		if m, rows := s.ceil(a, child(n, i), key); m != nil {
			return m, rows
		}
		i++
	}
	if i < bits.OnesCount64(n[2]) {
		return s.ceil(a, child(n, i), 0)
	}
	return nil, 0
}

// floor is ceil's mirror: the leaf that holds the largest key of at most key, and its rows of at most key.
func (s trieShape) floor(a *arena, r ref, key uint64) (n *node, rows uint64) {
	if r == 0 {
		return nil, 0
	}
	n = a.node(r)
	if r.leaf() {
		prefix := key >> s.leafShift
		upTo := leafPresent(n) & (2<<(key&s.lowMask()) - 1)
		switch {
		case n[1] < prefix:
			return n, leafPresent(n)
		case n[1] == prefix && upTo != 0:
			return n, upTo
		}
		return nil, 0
	}
	shift := innerShift(n)
	last := bits.OnesCount64(n[2]) - 1
	switch prefix := key >> shift >> digitBits; {
	case n[1] > prefix:
		return nil, 0
	case n[1] < prefix:
		return s.floor(a, child(n, last), ^uint64(0))
	}
	d := key >> shift & 63
	i := below(n[2], d)
	if n[2]>>d&1 != 0 {
		if m, rows := s.floor(a, child(n, i), key); m != nil {
			return m, rows
		}
	}
	if i > 0 {
		return s.floor(a, child(n, i-1), ^uint64(0))
	}
	return nil, 0
}
