package store

import (
	"runtime"
	"time"

	"tpccbench/engines/pure/store/fs"
)

// pacer keeps a checkpoint from taking the device and a core for itself, and from taking forever:
//
//	image    |=============>             |   written share of the image: ahead, so it rests after each chunk
//	log      |=====>                     |   written share of the budget: 1/paceShare of what starts a checkpoint
//
// A chunk is written and synced by itself, so that a sync of the log never waits for more than one. While the image is
// ahead of the log, a chunk may take paceChunkTime, which bounds the share of a core, and is followed by twice the time
// that its sync took, which bounds the share of the device to a third. When the image falls behind it goes on without
// rest, but still gives its processor away after each block. So a checkpoint ends before the log has grown by another
// 1/paceShare, as far as the device allows, and soon if the log is idle: until then it pins the snapshot's memory.
type pacer struct {
	s          *Store
	image      int64 // bytes to write, about
	logStart   int64
	logBudget  int64
	written    int64
	chunk      int64 // of written, since the last sync
	chunkBegan time.Time
	wake       *time.Timer
}

const (
	paceShare      = 4
	paceChunkBytes = 1 << 20
	paceChunkTime  = 20 * time.Millisecond // 50 MiB/s, about a sixth of a core
	paceStep       = 2 * time.Millisecond  // how often it looks how far the log is
)

func (s *Store) newPacer(v *version) *pacer {
	p := &pacer{s: s, logStart: s.stats.logFileBytes.load(), logBudget: s.checkpointLog() / paceShare, chunkBegan: time.Now()}
	for i, t := range s.layout.tables {
		p.image += v.rows[i] * int64(8*t.rowWords+1)
	}
	return p
}

// behind reports whether the log has used up more of its budget than of the image is written.
func (p *pacer) behind() bool {
	log := p.s.stats.logFileBytes.load() - p.logStart
	return float64(log)*float64(p.image) > float64(p.written)*float64(p.logBudget)
}

// pace is called after each write to f.
func (p *pacer) pace(f fs.File, bytes int64) error {
	p.written += bytes
	if p.chunk += bytes; p.chunk < paceChunkBytes {
		runtime.Gosched()
		return nil
	}
	start := time.Now()
	if err := f.Sync(); err != nil {
		return err
	}
	now := time.Now()
	until := now.Add(max(2*now.Sub(start), paceChunkTime-now.Sub(p.chunkBegan)))
	for !p.behind() && p.rest(until) {
	}
	p.chunk, p.chunkBegan = 0, time.Now()
	return nil
}

// rest waits a moment, or reports false when it is time to go on: at until, or because the store is being closed.
func (p *pacer) rest(until time.Time) bool {
	d := time.Until(until)
	if d <= 0 {
		return false
	}
	if p.wake == nil {
		p.wake = time.NewTimer(min(d, paceStep))
	} else {
		p.wake.Reset(min(d, paceStep))
	}
	select {
	case <-p.wake.C:
		return true
	case <-p.s.stopped:
		p.wake.Stop()
		return false
	}
}
