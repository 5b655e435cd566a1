package store

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"tpccbench/engines/pure/store/fs"
)

// A checkpoint writes the current version as an image beside the owner, from a pinned snapshot, and then recycles the
// log that the image makes useless:
//
//	write image.tmp, sync -> rename to image-SEQUENCE -> sync directory
//	  -> manifest: names it, lists the log behind it -> remove older images, recycle segments
//
// Until the new manifest is durable, the older image and the whole log are there and count; after that the new image
// and the log behind it do. A checkpoint that fails changes nothing: the log goes on, and the next one starts when it
// has grown as much again.
//
// It is paced (pace.go), and its trigger is the log's size against the image's: so the log's size is bounded by a
// multiple of the state's, and so is the time that recovery takes.
type checkpoints struct {
	logBytes   int64 // the owner's: written to the log since the version of the last image, or of the attempt
	imageBytes atomic.Int64

	mu      sync.Mutex
	running chan struct{} // closed when the running one has ended; nil: none runs
	since   time.Time     // when it began
	time    time.Duration // of those that have ended
	count   int64         // of those that ended well
	err     error         // of the last one

	bytes atomic.Int64 // written to images
}

// wait waits for the checkpoint that runs, if one does.
func (c *checkpoints) wait() {
	c.mu.Lock()
	running := c.running
	c.mu.Unlock()
	if running != nil {
		<-running
	}
}

func (c *checkpoints) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running != nil {
		return false
	}
	c.running, c.since = make(chan struct{}), time.Now()
	return true
}

func (c *checkpoints) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.time += time.Since(c.since)
	if c.err = err; err == nil {
		c.count++
	}
	close(c.running)
	c.running = nil
}

// fill fills in what Stats says of checkpoints.
func (c *checkpoints) fill(st *Stats) {
	c.mu.Lock()
	defer c.mu.Unlock()
	st.Checkpoints, st.CheckpointTime, st.CheckpointBytes, st.CheckpointError = c.count, c.time, c.bytes.Load(), c.err
	if c.running != nil {
		st.CheckpointTime += time.Since(c.since)
	}
}

// checkpointLog is how much log a checkpoint waits for, bytes.
func (s *Store) checkpointLog() int64 {
	return max(s.opt.CheckpointMinBytes, int64(s.opt.CheckpointLogRatio*float64(s.checkpoints.imageBytes.Load())))
}

// spares is how many useless segments are kept: what the log takes from one checkpoint to the end of the next, so that
// a store that goes on as before never makes a new one.
func (s *Store) spares() int {
	return int((s.checkpointLog()+s.checkpointLog()/paceShare)/s.log.segmentBytes) + 2
}

// mayCheckpoint starts a checkpoint if the log has outgrown the image. Owner only.
func (s *Store) mayCheckpoint() {
	if s.checkpoints.logBytes >= s.checkpointLog() {
		s.startCheckpoint(false, func(error) {})
	}
}

// startCheckpoint starts one unless one is running, and reports whether it did; one that is urgent is not paced. Owner
// only.
func (s *Store) startCheckpoint(urgent bool, ended func(error)) bool {
	c := &s.checkpoints
	if s.Failed() != nil || !c.begin() {
		return false
	}
	c.logBytes = 0
	r := s.NewReader()
	v := r.Pin().v
	var p *pacer
	if !urgent {
		p = s.newPacer(v)
	}
	go func() {
		err := s.checkpoint(v, r, p)
		if err != nil {
			err = fmt.Errorf("checkpoint: %w", err)
		}
		c.end(err)
		ended(err)
	}()
	return true
}

// Checkpoint writes an image of the current version now, as fast as it can, and returns when it is done.
func (s *Store) Checkpoint() error {
	for {
		done := make(chan error, 1)
		started := false
		if err := s.control(func() error {
			started = s.startCheckpoint(true, func(err error) { done <- err })
			return nil
		}); err != nil {
			return err
		}
		if started {
			return <-done
		}
		s.checkpoints.wait() // for the one that runs; it may be of an older version
	}
}

func (s *Store) checkpoint(v *version, r *Reader, p *pacer) error {
	pace := unpaced()
	if p != nil {
		pace = p.pace
	}
	bytes, err := s.putImage(v, func(f fs.File, bytes int64) error {
		s.checkpoints.bytes.Add(bytes)
		if err := s.Failed(); err != nil {
			return err // nothing more is written
		}
		return pace(f, bytes)
	})
	r.Close()
	if err != nil {
		return err
	}
	s.checkpoints.imageBytes.Store(bytes)
	if err := s.log.install(v.sequence, s.spares()); err != nil {
		return err
	}
	return s.removeImages(v.sequence)
}

// unpacedSyncBytes is how much of an image is written between syncs if nothing paces it: one large sync would hold the
// log's up.
const unpacedSyncBytes = 8 << 20

func unpaced() func(f fs.File, bytes int64) error {
	unsynced := int64(0)
	return func(f fs.File, bytes int64) error {
		runtime.Gosched()
		if unsynced += bytes; unsynced < unpacedSyncBytes {
			return nil
		}
		unsynced = 0
		return f.Sync()
	}
}

// putImage makes v durable as an image and returns its size. It calls wrote with the bytes that each write has
// added. The manifest does not name the image yet.
func (s *Store) putImage(v *version, wrote func(f fs.File, bytes int64) error) (int64, error) {
	f, err := createTemp(s.dir, imageTemp)
	if err != nil {
		return 0, err
	}
	bytes, err := writeImage(f, &s.arena, s.layout, v, func(bytes int64) error { return wrote(f, bytes) })
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = s.dir.Rename(imageTemp, imageName(v.sequence))
	}
	if err == nil {
		err = s.dir.Sync()
	} else {
		// What is left under the temporary name means nothing; if even this fails, Open removes it.
		_ = s.dir.Remove(imageTemp)
	}
	return bytes, err
}

// Files returns the names and sizes of the files in the store's directory, sorted by name.
func (s *Store) Files() ([]fs.Info, error) { return s.dir.List() }
