package store

import "math/bits"

// writes are the changing operations on the owner's version. For each trie they remember the leaf that was changed
// last: the next change is often beside it (the lines of an order).
//
// Invariant: a hot leaf of the arena's epoch is in its trie and owned. So whatever else changes a trie cools it.
type writes struct {
	reads
	hot []hotLeaf // by trie
}

type hotLeaf struct {
	epoch  uint64
	prefix uint64
	leaf   ref
}

func newWrites(a *arena, l *layout, v *version) writes {
	return writes{reads{a, l, v}, make([]hotLeaf, len(l.tries))}
}

// edit returns the row of key for changing, nil if there is none.
func (w *writes) edit(trie int, key uint64) []uint64 {
	s, h := &w.l.tries[trie], &w.hot[trie]
	if h.epoch == w.a.epoch && h.prefix == key>>s.leafShift {
		n := w.a.node(h.leaf)
		d, present := key&s.lowMask(), leafPresent(n)
		if present>>d&1 == 0 {
			return nil
		}
		return s.row(n, below(present, d))
	}
	row, leaf := s.edit(w.a, &w.v.roots[trie], key)
	if row != nil {
		*h = hotLeaf{w.a.epoch, key >> s.leafShift, leaf}
	}
	return row
}

// insert adds a row of zeros and returns it, nil if the key is there already.
func (w *writes) insert(trie int, key uint64) []uint64 {
	s, h := &w.l.tries[trie], &w.hot[trie]
	rows := 1
	if h.epoch == w.a.epoch {
		n := w.a.node(h.leaf)
		if h.prefix == key>>s.leafShift {
			if leafPresent(n)>>(key&s.lowMask())&1 != 0 {
				return nil
			}
			if row := s.insertInPlace(w.a, n, key); row != nil {
				return row
			}
		} else {
			rows = bits.OnesCount64(leafPresent(n)) // a new leaf is likely to get as many as the last one
		}
	}
	row, leaf := s.insert(w.a, &w.v.roots[trie], key, rows)
	if row != nil {
		*h = hotLeaf{w.a.epoch, key >> s.leafShift, leaf}
	}
	return row
}

// remove takes a row out, or reports false if there is none.
func (w *writes) remove(trie int, key uint64) bool {
	w.hot[trie].epoch = 0
	return w.l.tries[trie].remove(w.a, &w.v.roots[trie], key)
}
