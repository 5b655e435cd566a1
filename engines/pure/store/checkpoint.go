package store

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tpccbench/engines/pure/store/fs"
)

// A checkpoint writes the current version as an image beside the owner, from a pinned snapshot, and then recycles the
// log that the image makes useless:
//
//	write image.tmp, sync -> rename to image-SEQUENCE -> sync directory -> remove older images, recycle segments
//
// Until the directory is synced, the older image and the whole log are there; after that the new image and the log
// from its sequence on are. A checkpoint that fails changes nothing: the log goes on, and the next one starts when it
// has grown as much again.
type checkpoints struct {
	// The owner's:
	logBytes   int64 // written to the log since the version of the last image, or of the attempt
	imageBytes atomic.Int64

	mu      sync.Mutex
	running chan struct{} // closed when the running one has ended; nil: none runs

	count, nanos, bytes atomic.Int64
	err                 atomic.Pointer[error]
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
	c.running = make(chan struct{})
	return true
}

func (c *checkpoints) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.running)
	c.running = nil
}

func (c *checkpoints) lastError() error {
	if p := c.err.Load(); p != nil {
		return *p
	}
	return nil
}

// mayCheckpoint starts a checkpoint if the log has outgrown the image. Owner only.
func (s *Store) mayCheckpoint() {
	c := &s.checkpoints
	if c.logBytes < s.opt.CheckpointMinBytes || float64(c.logBytes) < s.opt.CheckpointLogRatio*float64(c.imageBytes.Load()) {
		return
	}
	s.startCheckpoint(func(error) {})
}

// startCheckpoint starts one unless one is running, and reports whether it did. Owner only.
func (s *Store) startCheckpoint(ended func(error)) bool {
	c := &s.checkpoints
	if s.Failed() != nil || !c.begin() {
		return false
	}
	c.logBytes = 0
	r := s.NewReader()
	v := r.Pin().v
	go func() {
		start := time.Now()
		err := s.checkpoint(v, r)
		if err != nil {
			err = fmt.Errorf("checkpoint: %w", err)
			c.err.Store(&err)
		} else {
			c.err.Store(nil)
			c.count.Add(1)
			c.nanos.Add(int64(time.Since(start)))
		}
		c.end()
		ended(err)
	}()
	return true
}

// Checkpoint writes an image of the current version now and returns when it is done.
func (s *Store) Checkpoint() error {
	for {
		done := make(chan error, 1)
		started := false
		if err := s.control(func() error {
			started = s.startCheckpoint(func(err error) { done <- err })
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

func (s *Store) checkpoint(v *version, r *Reader) error {
	bytes, err := s.putImage(v)
	r.Close()
	if err != nil {
		return err
	}
	s.checkpoints.imageBytes.Store(bytes)
	s.checkpoints.bytes.Add(bytes)
	if err := s.removeImages(v.sequence); err != nil {
		return err
	}
	return s.log.recycle(v.sequence)
}

// imageSyncBytes is how much of an image is written between syncs: one large sync would hold the log's up.
const imageSyncBytes = 8 << 20

// putImage makes v durable as an image and returns its size.
func (s *Store) putImage(v *version) (int64, error) {
	f, err := s.dir.Create(imageTemp)
	if err != nil {
		return 0, err
	}
	synced := int64(0)
	bytes, err := writeImage(f, &s.arena, s.layout, v, func(written int64) error {
		if written-synced < imageSyncBytes {
			return nil
		}
		synced = written
		return f.Sync()
	})
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

// removeImages removes the images older than that of the given sequence, which is durable.
func (s *Store) removeImages(sequence uint64) error {
	files, err := s.dir.List()
	if err != nil {
		return err
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name, "image-") && f.Name < imageName(sequence) {
			if err := s.dir.Remove(f.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// Files returns the names and sizes of the files in the store's directory, sorted by name.
func (s *Store) Files() ([]fs.Info, error) { return s.dir.List() }
