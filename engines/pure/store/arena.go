package store

import (
	"sync/atomic"
	"unsafe"
)

// The arena holds all nodes of all tries in large chunks of words without pointers, so that the garbage collector
// neither scans nor counts rows.
//
// Invariants:
//   - A node belongs to the owner goroutine alone while its birth is the epoch that the owner is working on; from
//     the publication of that epoch on it never changes until it is reclaimed.
//   - A node is reachable from the versions birth..retired-1, where retired is the epoch in which the owner unlinked
//     it; it returns to its free list only when no reader has one of these versions pinned.
//   - Every parent of a node in the owner's tree is at least as young as the node.
type arena struct {
	chunks [maxChunks]*chunk
	count  int               // chunks in use
	next   uint32            // units of the last chunk handed out
	free   [numClasses][]ref // nodes to use again, by class
	// epoch is the one that the owner works on; readers never look at it.
	epoch uint64
	// retired lists the published nodes that were unlinked in epoch.
	retired []retiredNode

	allocated atomic.Int64 // bytes of chunks
	freeBytes int64        // bytes on free lists; owner only
}

// ref names a node: its place in units of unitWords words, and whether it is a leaf. 0 is no node.
type ref uint32

const (
	leafBit    = 1
	unitWords  = 2
	chunkBits  = 18 // units of a chunk: 4 MiB
	chunkUnits = 1 << chunkBits
	chunkWords = chunkUnits * unitWords
	maxChunks  = 1 << (31 - chunkBits) // 32 GiB in all
)

// retiredNode is a node that was unlinked. Its class stands beside it, so that giving it back does not touch its words.
type retiredNode struct {
	r     ref
	class uint8
}

// node is a node's words, of which those of its class are its own. The last nodes of a chunk reach into its padding.
type node [maxNodeWords]uint64

type chunk [chunkWords + maxNodeWords]uint64

func (r ref) leaf() bool { return r&leafBit != 0 }

// node returns the words of r.
func (a *arena) node(r ref) *node {
	u := uint32(r) >> 1
	at := (u & (chunkUnits - 1)) * unitWords
	return (*node)(unsafe.Pointer(&a.chunks[u>>chunkBits][at])) // the chunk's padding has room for any node
}

// Size classes: in units, every size up to 16, then eight steps per doubling.
const (
	numClasses = 32
	smallUnits = 16
)

var classUnits = func() (c [numClasses]uint32) {
	n := uint32(1)
	for i := range c {
		c[i] = n
		step := uint32(1)
		for step*smallUnits <= n {
			step *= 2
		}
		n += step
	}
	return c
}()

// classOf[u] is the smallest class that holds u units, for the sizes that nodes have.
var classOf = func() (c [maxNodeWords/unitWords + 1]uint8) {
	class := 0
	for u := range c {
		for classUnits[class] < uint32(u) {
			class++
		}
		c[u] = uint8(class)
	}
	return c
}()

// classFor is the smallest class that holds so many words.
func classFor(words uint32) uint8 { return classOf[(words+unitWords-1)/unitWords] }

// alloc returns a node of a class. Its words hold anything.
func (a *arena) alloc(class uint8, leaf ref) (ref, *node) {
	free := &a.free[class&(numClasses-1)]
	if last := len(*free) - 1; last >= 0 {
		r := (*free)[last]
		*free = (*free)[:last]
		a.freeBytes -= int64(classUnits[class&(numClasses-1)]) * unitWords * 8
		return r | leaf, a.node(r)
	}
	units := classUnits[class]
	if a.count == 0 || a.next+units > chunkUnits {
		if a.count == maxChunks {
			panic("store: the arena is full (32 GiB)")
		}
		a.chunks[a.count] = new(chunk)
		a.count++
		a.allocated.Add(chunkWords * 8)
		a.next = 0
		if a.count == 1 {
			a.next = 1 // so that no node has ref 0
		}
	}
	r := ref((uint32(a.count-1)<<chunkBits | a.next) << 1)
	a.next += units
	return r | leaf, a.node(r)
}

// Header of every node: the birth epoch, the size class, and 16 bits of the node's own.
const (
	birthShift = 24
	classShift = 16
)

func birthOf(n *node) uint64  { return n[0] >> birthShift }
func nodeClass(n *node) uint8 { return uint8(n[0] >> classShift) }

func (a *arena) header(class uint8, own uint64) uint64 {
	return a.epoch<<birthShift | uint64(class)<<classShift | own
}

// drop unlinks the node n, which is r: at once free if nobody else has seen it, else retired.
func (a *arena) drop(r ref, n *node) {
	if birthOf(n) == a.epoch {
		a.release(r, nodeClass(n))
		return
	}
	a.retired = append(a.retired, retiredNode{r, nodeClass(n)})
}

// release makes a node free.
func (a *arena) release(r ref, class uint8) {
	class &= numClasses - 1
	a.freeBytes += int64(classUnits[class]) * unitWords * 8
	a.free[class] = append(a.free[class], r&^leafBit)
}
