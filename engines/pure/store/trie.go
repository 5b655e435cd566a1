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
// Changes copy the path from the changed leaf upwards until they meet a node that the owner already owns (see arena):
// above it all is owned.
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
	// maxDepth is the most nodes on a path: a digit each, and the leaf.
	maxDepth = (64+digitBits-1)/digitBits + 1
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

// path is the way from the root to a node.
type path struct {
	refs  [maxDepth]ref
	slots [maxDepth]uint8 // which child of refs[i] refs[i+1] is
	depth int             // nodes in refs
}

// replace puts r where the path's last node is, and owns the nodes above it as far as need be.
func (a *arena) replace(root *ref, p *path, r ref) {
	for i := p.depth - 1; ; i-- {
		if p.refs[i] == r {
			return
		}
		p.refs[i] = r
		if i == 0 {
			*root = r
			return
		}
		parent := p.refs[i-1]
		n := a.node(parent)
		if birthOf(n) == a.epoch {
			setChild(n, int(p.slots[i-1]), r)
			return
		}
		copied, m := a.copyInner(parent, n)
		setChild(m, int(p.slots[i-1]), r)
		r = copied
	}
}

// copyInner returns an owned copy of an inner node, and retires it.
func (a *arena) copyInner(r ref, n *node) (ref, *node) {
	class := nodeClass(n)
	c, m := a.alloc(class, 0)
	m[0] = a.header(class, uint64(innerShift(n)))
	words := innerHead + (bits.OnesCount64(n[2])+1)/2
	copy(m[1:words], n[1:words])
	a.drop(r)
	return c, m
}

// edit returns the row of key for changing and the leaf it is in, which is owned; nil if there is none.
func (s trieShape) edit(a *arena, root *ref, key uint64) ([]uint64, ref) {
	r := *root
	if r == 0 {
		return nil, 0
	}
	var p path
	n := a.node(r)
	for !r.leaf() {
		d := key >> innerShift(n) & 63
		if n[2]>>d&1 == 0 {
			return nil, 0
		}
		i := below(n[2], d)
		p.refs[p.depth], p.slots[p.depth] = r, uint8(i)
		p.depth++
		r = child(n, i)
		n = a.node(r)
	}
	if n[1] != key>>s.leafShift {
		return nil, 0
	}
	d, present := key&s.lowMask(), leafPresent(n)
	if present>>d&1 == 0 {
		return nil, 0
	}
	if birthOf(n) != a.epoch {
		class := nodeClass(n)
		c, m := a.alloc(class, leafBit)
		m[0] = a.header(class, present)
		words := leafHead + uint32(bits.OnesCount64(present))*s.rowWords
		copy(m[1:words], n[1:words])
		p.refs[p.depth] = r
		p.depth++
		a.drop(r)
		a.replace(root, &p, c)
		n, r = m, c
	}
	return s.row(n, below(present, d)), r
}

// insert makes room for a row with a new key and returns it, holding zeros, and the leaf it is in, which is owned; nil
// if the key is there already.
func (s trieShape) insert(a *arena, root *ref, key uint64) ([]uint64, ref) {
	r := *root
	if r == 0 {
		leaf, row := s.newLeaf(a, key)
		*root = leaf
		return row, leaf
	}
	var p path
	for {
		n := a.node(r)
		p.refs[p.depth] = r
		p.depth++
		if r.leaf() {
			if n[1] != key>>s.leafShift {
				return s.branch(a, root, &p, n[1]<<s.leafShift, key)
			}
			return s.insertRow(a, root, &p, n, key)
		}
		shift := innerShift(n)
		if n[1] != key>>shift>>digitBits {
			return s.branch(a, root, &p, n[1]<<digitBits<<shift, key)
		}
		d := key >> shift & 63
		i := below(n[2], d)
		if n[2]>>d&1 == 0 {
			leaf, row := s.newLeaf(a, key)
			a.replace(root, &p, a.insertChild(r, n, i, d, leaf))
			return row, leaf
		}
		p.slots[p.depth-1] = uint8(i)
		r = child(n, i)
	}
}

func (s trieShape) newLeaf(a *arena, key uint64) (ref, []uint64) {
	class := s.leafClass(1)
	r, n := a.alloc(class, leafBit)
	n[0] = a.header(class, 1<<(key&s.lowMask()))
	n[1] = key >> s.leafShift
	row := s.row(n, 0)
	clear(row)
	return r, row
}

// branch puts a new inner node above the path's last node, whose keys share the prefix of there, with a leaf for key
// as its other child.
func (s trieShape) branch(a *arena, root *ref, p *path, there, key uint64) ([]uint64, ref) {
	top := uint(bits.Len64(there^key)) - 1 // the highest bit in which they differ, above the leaf's
	shift := s.leafShift + (top-s.leafShift)/digitBits*digitBits
	leaf, row := s.newLeaf(a, key)
	class := innerClass(2)
	r, n := a.alloc(class, 0)
	n[0] = a.header(class, uint64(shift))
	n[1] = key >> shift >> digitBits
	dThere, dKey := there>>shift&63, key>>shift&63
	n[2] = 1<<dThere | 1<<dKey
	lo, hi := p.refs[p.depth-1], leaf
	if dKey < dThere {
		lo, hi = hi, lo
	}
	n[innerHead] = uint64(lo) | uint64(hi)<<32
	a.replace(root, p, r)
	return row, leaf
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
	a.drop(r)
	return out
}

// insertInPlace adds a row to the leaf n, if it is owned and has room; the key must not be there.
func (s trieShape) insertInPlace(a *arena, n *node, key uint64) []uint64 {
	d, present := key&s.lowMask(), leafPresent(n)
	i, count := below(present, d), bits.OnesCount64(present)
	if birthOf(n) != a.epoch || s.leafClass(count+1) > nodeClass(n) {
		return nil
	}
	at, end := leafHead+uint32(i)*s.rowWords, leafHead+uint32(count)*s.rowWords
	copy(n[at+s.rowWords:end+s.rowWords], n[at:end])
	n[0] |= 1 << d
	row := s.row(n, i)
	clear(row)
	return row
}

// insertRow adds a row to the leaf n at the path's end.
func (s trieShape) insertRow(a *arena, root *ref, p *path, n *node, key uint64) ([]uint64, ref) {
	d, present := key&s.lowMask(), leafPresent(n)
	if present>>d&1 != 0 {
		return nil, 0
	}
	old := p.refs[p.depth-1]
	if row := s.insertInPlace(a, n, key); row != nil {
		return row, old
	}
	i, count := below(present, d), bits.OnesCount64(present)
	at, end := leafHead+uint32(i)*s.rowWords, leafHead+uint32(count)*s.rowWords
	class := s.leafClass(count + 1)
	if birthOf(n) == a.epoch {
		// The leaf grows within one save: more rows are likely to follow.
		class = s.leafClass(min(count+1+count/2, 1<<s.leafShift))
	}
	r, m := a.alloc(class, leafBit)
	m[0], m[1] = a.header(class, present|1<<d), n[1]
	copy(m[leafHead:at], n[leafHead:at])
	copy(m[at+s.rowWords:end+s.rowWords], n[at:end])
	a.drop(old)
	a.replace(root, p, r)
	row := s.row(m, i)
	clear(row)
	return row, r
}

// remove takes the row of key out, or reports false if there is none.
func (s trieShape) remove(a *arena, root *ref, key uint64) bool {
	r := *root
	if r == 0 {
		return false
	}
	var p path
	n := a.node(r)
	for !r.leaf() {
		d := key >> innerShift(n) & 63
		if n[2]>>d&1 == 0 {
			return false
		}
		i := below(n[2], d)
		p.refs[p.depth], p.slots[p.depth] = r, uint8(i)
		p.depth++
		r = child(n, i)
		n = a.node(r)
	}
	p.refs[p.depth] = r
	p.depth++
	d, present := key&s.lowMask(), leafPresent(n)
	if n[1] != key>>s.leafShift || present>>d&1 == 0 {
		return false
	}
	if present == 1<<d {
		a.drop(r)
		a.removeChild(root, &p)
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
	a.drop(r)
	a.replace(root, &p, out)
	return true
}

// removeChild unlinks the path's last node, which is dropped already, from its parent; a parent that is left with one
// child gives its place to it.
func (a *arena) removeChild(root *ref, p *path) {
	p.depth--
	if p.depth == 0 {
		*root = 0
		return
	}
	parent, i := p.refs[p.depth-1], int(p.slots[p.depth-1])
	n := a.node(parent)
	count := bits.OnesCount64(n[2])
	if count == 2 {
		only := child(n, 1-i)
		a.drop(parent)
		a.replace(root, p, only)
		return
	}
	d := nthBit(n[2], i)
	if birthOf(n) == a.epoch {
		for j := i; j < count-1; j++ {
			setChild(n, j, child(n, j+1))
		}
		n[2] &^= d
		return
	}
	class := innerClass(count - 1)
	out, m := a.alloc(class, 0)
	m[0] = a.header(class, uint64(innerShift(n)))
	m[1], m[2] = n[1], n[2]&^d
	for j := range count - 1 {
		from := j
		if j >= i {
			from++
		}
		setChild(m, j, child(n, from))
	}
	a.drop(parent)
	a.replace(root, p, out)
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
