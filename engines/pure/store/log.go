package store

import (
	"fmt"
	"slices"
	"sync"

	"tpccbench/engines/pure/store/fs"
	"tpccbench/engines/pure/store/reclog"
)

// wal is the store's log: a chain of segment files, the last of which is being written, and the manifest that lists
// them.
//
//	spare-7 --header, sync, rename, sync dir--> log-7 --manifest lists it--> written --full--> sealed
//	   ^                                                                                          |
//	   +------------- rename <-- manifest lists it no more <-- an image holds its saves <---------+
//
// Names: log-GENERATION is a segment, if the manifest lists it; spare-GENERATION is a file that is or was being made
// into one, or that a checkpoint has made useless. The content of a spare, and of a log- file that is not listed, means
// nothing. A segment is listed after its name, its header and its zeros are durable and before a save is written to it;
// it is renamed or removed after the manifest without it is durable.
//
// Invariants: generations grow and are never used twice; the manifest lists every segment with a save behind the
// image, the active one and the one that is prepared; only the owner writes to the active segment, and only behind
// everything written there before.
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

	writing  sync.Mutex // held while the manifest is being written; taken before mu
	mu       sync.Mutex
	manifest manifest // as it is on disk, and with what was sealed since
	spares   []spare
	lastGen  uint32
}

// spare is a file to make a segment of.
type spare struct {
	name  string
	found bool // when the store was opened: nobody knows what is in it
}

type prepared struct {
	file fs.File
	gen  uint32
	err  error
}

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
	w.mu.Unlock()
	var name string
	if name, p.file, p.err = w.blank(p.gen); p.err != nil {
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
		if err := w.dir.Sync(); err != nil {
			return err
		}
		size, err := p.file.Size()
		if err != nil {
			return err
		}
		made := segment{gen: p.gen, blocks: uint32(size / reclog.BlockBytes)}
		return w.commit(func(m *manifest) { m.segments = append(m.segments, made) })
	}()
	if p.err != nil {
		p.file.Close()
	}
	return p
}

// blank opens a file to make the segment of: a spare whose sectors all count as unwritten, or a new one.
func (w *wal) blank(gen uint32) (name string, f fs.File, err error) {
	for {
		w.mu.Lock()
		n := len(w.spares)
		if n == 0 {
			w.mu.Unlock()
			name = spareName(gen)
			f, err = w.dir.Create(name)
			return name, f, err
		}
		s := w.spares[n-1]
		w.spares = w.spares[:n-1]
		w.mu.Unlock()
		if f, err = w.dir.Open(s.name); err != nil || !s.found {
			return s.name, f, err
		}
		blank, err := reclog.Blank(gen, f)
		if err == nil && blank {
			return s.name, f, nil
		}
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err == nil {
			err = w.dir.Remove(s.name)
		}
		if err != nil {
			return "", nil, err
		}
	}
}

// reserve makes spares until there are so many bytes of them.
func (w *wal) reserve(bytes int64) error {
	for {
		w.mu.Lock()
		enough := int64(len(w.spares))*w.segmentBytes >= bytes
		if !enough {
			w.lastGen++
		}
		name := spareName(w.lastGen)
		w.mu.Unlock()
		if enough {
			return w.dir.Sync()
		}
		f, err := w.dir.Create(name)
		if err != nil {
			return err
		}
		err = fs.Preallocate(f, w.segmentBytes)
		if err == nil {
			err = f.Sync()
		}
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
		w.mu.Lock()
		w.spares = append(w.spares, spare{name, false})
		w.mu.Unlock()
	}
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
	s := w.manifest.find(w.gen)
	s.last, s.sealed = w.last, true
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

// install makes the durable image of the given sequence the one that the manifest names, and turns the segments whose
// saves it holds into spares, until there are keep of them; more are removed. Only one goroutine may call it at a
// time.
func (w *wal) install(sequence uint64, keep int) error {
	var useless []uint32
	w.mu.Lock()
	for _, s := range w.manifest.segments {
		if s.sealed && s.last <= sequence {
			useless = append(useless, s.gen)
		}
	}
	w.mu.Unlock()
	if err := w.commit(func(m *manifest) {
		m.image = sequence
		m.segments = slices.DeleteFunc(m.segments, func(s segment) bool { return slices.Contains(useless, s.gen) })
	}); err != nil {
		return err
	}
	return w.recycle(useless, keep, false)
}

// recycle turns segments that the manifest does not list into spares; found, if Open has found them so.
func (w *wal) recycle(useless []uint32, keep int, found bool) error {
	for _, gen := range useless {
		w.mu.Lock()
		room := len(w.spares) < keep
		w.mu.Unlock()
		if !room {
			if err := w.dir.Remove(logName(gen)); err != nil {
				return err
			}
			continue
		}
		if err := w.dir.Rename(logName(gen), spareName(gen)); err != nil {
			return err
		}
		w.mu.Lock()
		w.spares = append(w.spares, spare{spareName(gen), found})
		w.mu.Unlock()
	}
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
