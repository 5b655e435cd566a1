package store

import (
	"fmt"
	"slices"
	"sync"

	"tpccbench/engines/pure/store/fs"
	"tpccbench/engines/pure/store/reclog"
)

// wal is the store's log: a chain of segment files, the last of which is being written.
//
// Names: log-GENERATION is a segment with a durable header; spare-GENERATION is a file that is or was being made into
// one, or that a checkpoint has made useless; its content means nothing. A segment gets its log- name after its header
// and its zeros are durable, and loses it before anything in it is overwritten, each with a sync of the directory.
//
// Invariants: generations grow and are never used twice; sealed holds the segments before the active one, oldest
// first; only the owner writes to the active segment, and only behind everything written there before.
type wal struct {
	dir          fs.Dir
	schema       uint64
	segmentBytes int64

	// The owner's:
	file fs.File
	gen  uint32
	off  int64
	buf  []byte
	last uint64 // sequence of the last save in the active segment, 0: none
	// asked: the next segment is being prepared, and will be sent to ready.
	asked bool
	ready chan prepared

	mu      sync.Mutex
	sealed  []segment
	spares  []string
	lastGen uint32
}

type segment struct {
	gen  uint32
	last uint64 // sequence of its last save; 0: it holds none
}

type prepared struct {
	file fs.File
	gen  uint32
	err  error
}

// maxSpares is how many useless segments are kept for the next ones; more are removed.
const maxSpares = 8

func logName(gen uint32) string   { return fmt.Sprintf("log-%010d", gen) }
func spareName(gen uint32) string { return fmt.Sprintf("spare-%010d", gen) }
func imageName(seq uint64) string { return fmt.Sprintf("image-%020d", seq) }

// imageTemp is the name of an image that is being written.
const imageTemp = "image.tmp"

// prepare makes the next segment, durable and empty: out of a spare file if there is one, else out of zeros.
func (w *wal) prepare() (p prepared) {
	w.mu.Lock()
	w.lastGen++
	p.gen = w.lastGen
	name := ""
	if n := len(w.spares); n > 0 {
		name = w.spares[n-1]
		w.spares = w.spares[:n-1]
	}
	w.mu.Unlock()
	if name != "" {
		p.file, p.err = w.dir.Open(name)
	} else {
		name = spareName(p.gen)
		p.file, p.err = w.dir.Create(name)
	}
	if p.err != nil {
		return p
	}
	p.err = func() error {
		if err := fs.Preallocate(p.file, w.segmentBytes); err != nil {
			return err
		}
		if _, err := p.file.WriteAt(reclog.Header{Generation: p.gen, Schema: w.schema}.Encode(), 0); err != nil {
			return err
		}
		if err := p.file.Sync(); err != nil {
			return err
		}
		if err := w.dir.Rename(name, logName(p.gen)); err != nil {
			return err
		}
		return w.dir.Sync()
	}()
	if p.err != nil {
		p.file.Close()
	}
	return p
}

// activate makes a prepared segment the one being written.
func (w *wal) activate(p prepared) {
	w.file, w.gen, w.off, w.last = p.file, p.gen, reclog.BlockBytes, 0
}

// ask has the next segment prepared beside the owner.
func (w *wal) ask() {
	if !w.asked {
		w.asked = true
		go func() { w.ready <- w.prepare() }()
	}
}

// advance goes on to the next segment.
func (w *wal) advance() error {
	w.ask()
	p := <-w.ready
	w.asked = false
	if p.err != nil {
		return fmt.Errorf("next log segment: %w", p.err)
	}
	old := w.file
	w.mu.Lock()
	w.sealed = append(w.sealed, segment{w.gen, w.last})
	w.mu.Unlock()
	w.activate(p)
	return old.Close() // all of it was synced
}

// write makes one save durable. If it fails before anything was written, started is false.
func (w *wal) write(s reclog.Save, synced func()) (bytes int64, started bool, err error) {
	bytes = reclog.SaveBytes(len(s.Payload))
	if w.off+bytes > w.segmentBytes && w.off > reclog.BlockBytes {
		if err := w.advance(); err != nil {
			return 0, false, err
		}
	}
	w.buf = reclog.AppendSave(w.buf[:0], w.gen, s)
	if _, err := w.file.WriteAt(w.buf, w.off); err != nil {
		return 0, true, fmt.Errorf("write to %s at offset %d: %w", w.dir.Path(logName(w.gen)), w.off, err)
	}
	synced()
	if err := w.file.Sync(); err != nil {
		return 0, true, fmt.Errorf("sync of %s: %w", w.dir.Path(logName(w.gen)), err)
	}
	w.off += bytes
	w.last = s.Sequence
	if w.off > w.segmentBytes/2 {
		w.ask()
	}
	return bytes, true, nil
}

// recycle turns the segments whose saves an image of the given sequence holds into spares. Only one goroutine may
// call it at a time.
func (w *wal) recycle(sequence uint64) error {
	w.mu.Lock()
	var useless []segment
	w.sealed = slices.DeleteFunc(w.sealed, func(s segment) bool {
		if s.last > sequence {
			return false
		}
		useless = append(useless, s)
		return true
	})
	room := maxSpares - len(w.spares)
	w.mu.Unlock()
	var spares []string
	for i, s := range useless {
		var err error
		if i < room {
			if err = w.dir.Rename(logName(s.gen), spareName(s.gen)); err == nil {
				spares = append(spares, spareName(s.gen))
			}
		} else {
			err = w.dir.Remove(logName(s.gen))
		}
		if err != nil {
			return err
		}
	}
	if err := w.dir.Sync(); err != nil {
		return err
	}
	w.mu.Lock()
	w.spares = append(w.spares, spares...)
	w.mu.Unlock()
	return nil
}

// close closes the files. A segment that was prepared stays for the next Open.
func (w *wal) close() error {
	var err error
	if w.asked {
		if p := <-w.ready; p.err == nil {
			err = p.file.Close()
		}
	}
	if w.file != nil {
		if cerr := w.file.Close(); err == nil {
			err = cerr
		}
	}
	return err
}
