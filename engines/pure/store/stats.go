package store

import (
	"sync/atomic"
	"time"
)

// counter is a number that one goroutine changes and others read.
type counter struct{ n atomic.Int64 }

// add costs no locked instruction: there is one writer.
func (c *counter) add(d int64)       { c.n.Store(c.n.Load() + d) }
func (c *counter) load() int64       { return c.n.Load() }
func (c *counter) ns() time.Duration { return time.Duration(c.n.Load()) }

type stats struct {
	ownerTID                                    atomic.Int64
	gather, apply, write, sync, publish, answer counter // ns
	saves, transactions, logBytes, logFileBytes counter
	freeBytes                                   atomic.Int64
}

// Stats are counts since Open, callable at any time and cheap.
type Stats struct {
	Saves        int64 // durable saves
	Transactions int64 // that committed
	Syncs        int64 // of log segments, images and the directory
	LogBytes     int64 // change records written
	LogFileBytes int64 // the same with framing and blocks filled up
	Checkpoints  int64 // that ended well
	// CheckpointTime and CheckpointBytes are the duration of all checkpoints and what they wrote to images, those that
	// failed and the one that runs included.
	CheckpointTime  time.Duration
	CheckpointBytes int64
	// CheckpointError is why the last checkpoint failed, nil if it did not. The log goes on and nothing is lost.
	CheckpointError error
	// ArenaBytes is the memory of all tables and indexes; ArenaFreeBytes is the part that is ready for use again.
	ArenaBytes, ArenaFreeBytes int64
	OwnerTID                   int // the owner's thread
	// What the owner did: waiting for a save to fill up, applying and encoding, writing to the log, syncing it, publishing
	// and reclaiming, answering.
	Gather, Apply, Write, Sync, Publish, Answer time.Duration
}

// Stats returns the counts.
func (s *Store) Stats() Stats {
	st := &s.stats
	out := Stats{
		Saves: st.saves.load(), Transactions: st.transactions.load(), Syncs: s.dir.Syncs(),
		LogBytes: st.logBytes.load(), LogFileBytes: st.logFileBytes.load(),
		ArenaBytes: s.arena.allocated.Load(), ArenaFreeBytes: st.freeBytes.Load(), OwnerTID: int(st.ownerTID.Load()),
		Gather: st.gather.ns(), Apply: st.apply.ns(), Write: st.write.ns(), Sync: st.sync.ns(), Publish: st.publish.ns(), Answer: st.answer.ns(),
	}
	s.checkpoints.fill(&out)
	return out
}
