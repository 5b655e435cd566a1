package store

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"tpccbench/engines/pure/store/fs"
)

// Options are what Open is told. The zero value means the defaults.
type Options struct {
	// LogSegmentBytes is the size of a log segment, rounded up to whole blocks of 4 KiB. Default 32 MiB.
	LogSegmentBytes int64
	// A checkpoint starts when the log since the last one has CheckpointMinBytes (default 128 MiB) and
	// CheckpointLogRatio (default 2) times the size of the last image.
	CheckpointMinBytes int64
	CheckpointLogRatio float64
	// LogReserveBytes is how much log Load makes ready, in whole segments: as many transactions as fill it need not have
	// zeros written ahead of them. What the log takes from one checkpoint to the end of the next is used again ever
	// after. Default none.
	LogReserveBytes int64
	// Progress, if it is not nil, is called by Open on its own goroutine, every MiB or so, with the bytes of the image and
	// the log that are read and those that there are.
	Progress func(done, total int64) `json:"-"`
	// OwnerSpins is how often the idle owner looks again for work before it yields and parks. Default 1000.
	OwnerSpins int
}

// Defaults of Options.
const (
	DefaultLogSegmentBytes    = 32 << 20
	DefaultCheckpointMinBytes = 128 << 20
	DefaultCheckpointLogRatio = 2
	DefaultOwnerSpins         = 1000
)

func (o Options) withDefaults() Options {
	if o.LogSegmentBytes == 0 {
		o.LogSegmentBytes = DefaultLogSegmentBytes
	}
	if o.CheckpointMinBytes == 0 {
		o.CheckpointMinBytes = DefaultCheckpointMinBytes
	}
	if o.CheckpointLogRatio == 0 {
		o.CheckpointLogRatio = DefaultCheckpointLogRatio
	}
	if o.OwnerSpins == 0 {
		o.OwnerSpins = DefaultOwnerSpins
	}
	return o
}

// lockName is the file that is locked while a store is open.
const lockName = "lock"

// Store is one open store. Its methods may be called by several goroutines, but Close comes last.
//
// Invariants: work is the owner's; current is the last durable version, and never anything else; epochs of published
// versions grow by one, the owner works on the epoch after the current one.
type Store struct {
	opt    Options
	dir    *fs.Counted
	lock   fs.Unlocker
	layout *layout
	arena  arena
	log    wal

	work      *version
	tx        Tx
	reclaimer reclaimer
	// syncTime is what a sync of the log takes, a moving average; expected is how many requests were answered or waiting
	// when the last save ended. The owner's, as all above.
	syncTime time.Duration
	expected int

	current   atomic.Pointer[version]
	readersMu sync.Mutex
	readers   atomic.Pointer[[]*Reader]

	queue   queue
	stopped chan struct{} // closed when the owner has ended
	closed  atomic.Bool   // set by the owner, which then ends
	failed  atomic.Pointer[error]

	checkpoints checkpoints
	recovery    Recovery
	stats       stats
}

// Open opens the store in d, recovering what it holds; a directory without files becomes an empty store. It fails
// with ErrLocked, ErrCorrupt (also as ErrVersion or ErrSchema), or the directory's error.
func Open(d fs.Dir, schema Schema, opt Options) (*Store, error) {
	l, err := newLayout(schema)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	dir := fs.Count(d)
	s := &Store{opt: opt.withDefaults(), dir: dir, layout: l, work: newVersion(l), stopped: make(chan struct{})}
	s.tx.writes, s.tx.chains = newWrites(&s.arena, l, s.work), newChains(l)
	s.readers.Store(&[]*Reader{})
	s.queue.init()
	s.log = wal{dir: dir, schema: l.digest, segmentBytes: (s.opt.LogSegmentBytes + 4095) / 4096 * 4096, ready: make(chan prepared, 1)}
	if err := refuseForeign(dir); err != nil {
		return nil, err
	}
	if s.lock, err = dir.Lock(lockName); err != nil {
		if errors.Is(err, fs.ErrLocked) {
			return nil, fmt.Errorf("%w: %s is locked", ErrLocked, dir.Path(lockName))
		}
		return nil, err
	}
	if err := s.recover(); err != nil {
		s.log.close()
		s.lock.Unlock()
		return nil, err
	}
	started := make(chan struct{})
	go s.own(started)
	<-started
	return s, nil
}

// Close waits for the transactions that were handed over and a checkpoint that runs, and closes the files. A store
// that has failed closes without an error of its own; sessions get ErrClosed from then on.
func (s *Store) Close() error {
	s.queue.push(&request{closing: true, done: make(chan struct{}, 1)})
	<-s.stopped
	s.checkpoints.wait()
	err := s.log.close()
	if uerr := s.lock.Unlock(); err == nil {
		err = uerr
	}
	return err
}

// Failed is the error that the store failed with, nil while it has not.
func (s *Store) Failed() error {
	if p := s.failed.Load(); p != nil {
		return *p
	}
	return nil
}

// FormatVersion is the version of manifest and images that this package writes and reads; log segments have reclog's.
const FormatVersion = 2
