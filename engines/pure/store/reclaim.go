package store

// Reclaiming: nodes that the owner unlinked go back to the arena when no reader can reach them. A node is in the
// versions birth..retired-1. Readers that look at a recent version hold everything back for the moment they take; one
// that holds an old version, a checkpoint above all, must not hold back what was born after it, or a busy store would
// grow by all it copies.
//
// Invariant: every retired node is in exactly one of arena.retired (of this epoch), queue (one entry per epoch, in
// order) and held.
type reclaimer struct {
	queue []retiredBatch
	spare [][]retiredNode // slices to use again
	// held are nodes that an old pin may reach, in no order, with the lowest pin when they were last looked at.
	held    []heldNode
	heldMin uint64
	pins    []uint64
}

type retiredBatch struct {
	epoch uint64
	nodes []retiredNode
}

type heldNode struct {
	retiredNode
	retired uint64
}

// patience is how many epochs a batch of nodes waits for readers before its nodes are looked at one by one.
const patience = 16

// reclaim runs after the publication of epoch published, whose retired nodes are in a.retired.
func (c *reclaimer) reclaim(a *arena, published uint64, readers []*Reader) {
	if len(a.retired) > 0 {
		c.queue = append(c.queue, retiredBatch{published, a.retired})
		a.retired = nil
		if n := len(c.spare); n > 0 {
			a.retired, c.spare = c.spare[n-1][:0], c.spare[:n-1]
		}
	}
	lowest := uint64(unpinned)
	c.pins = c.pins[:0]
	for _, r := range readers {
		if e := r.epoch.Load(); e != unpinned {
			c.pins = append(c.pins, e)
			lowest = min(lowest, e)
		}
	}
	done := 0
	for _, b := range c.queue {
		switch {
		case lowest >= b.epoch:
			for _, n := range b.nodes {
				a.release(n.r, n.class)
			}
		case b.epoch+patience <= published:
			for _, n := range b.nodes {
				if c.reachable(a.node(n.r), b.epoch) {
					c.held = append(c.held, heldNode{n, b.epoch})
				} else {
					a.release(n.r, n.class)
				}
			}
		default:
			c.queue = append(c.queue[:0], c.queue[done:]...)
			c.again(a, lowest)
			return
		}
		c.spare = append(c.spare, b.nodes)
		done++
	}
	c.queue = c.queue[:0]
	c.again(a, lowest)
}

// reachable reports whether a pinned version can reach a node that was unlinked in the epoch retired.
func (c *reclaimer) reachable(n *node, retired uint64) bool {
	for _, pin := range c.pins {
		if birthOf(n) <= pin && pin < retired {
			return true
		}
	}
	return false
}

// again looks at the held nodes when the oldest pin has changed.
func (c *reclaimer) again(a *arena, lowest uint64) {
	if lowest == c.heldMin || len(c.held) == 0 {
		c.heldMin = lowest
		return
	}
	c.heldMin = lowest
	keep := c.held[:0]
	for _, h := range c.held {
		if c.reachable(a.node(h.r), h.retired) {
			keep = append(keep, h)
		} else {
			a.release(h.r, h.class)
		}
	}
	c.held = keep
}
