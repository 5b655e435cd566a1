package store

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"tpccbench/engines/pure/store/fs"
	"tpccbench/engines/pure/store/reclog"
)

// Recovery says what Open found.
type Recovery struct {
	Image   string // the image's name, empty if there was none
	Saves   int64  // replayed from the log
	Records int64  // change records in them
	// Cut names the segment and the offset at which an incomplete last save was cut off; empty if there was none.
	Cut       string
	CutOffset int64
}

// Recovery returns what Open found.
func (s *Store) Recovery() Recovery { return s.recovery }

var fileName = regexp.MustCompile(`^(log|spare)-([0-9]{10})$|^image-([0-9]{20})$`)

// listing is what the directory holds.
type listing struct {
	image  uint64 // sequence of the newest image
	images []string
	logs   []uint32 // generations, ascending
	spares []uint32
}

func (s *Store) list() (listing, error) {
	var out listing
	files, err := s.dir.List()
	if err != nil {
		return out, err
	}
	for _, f := range files { // sorted by name: so are the numbers
		m := fileName.FindStringSubmatch(f.Name)
		switch {
		case f.Name == lockName:
		case f.Name == imageTemp:
			if err := s.dir.Remove(f.Name); err != nil {
				return out, err
			}
		case m == nil: // see refuseForeign
		case m[3] != "":
			out.images = append(out.images, f.Name)
			if out.image, err = strconv.ParseUint(m[3], 10, 64); err != nil {
				return out, fmt.Errorf("%w: %s: %w", ErrCorrupt, s.dir.Path(f.Name), err)
			}
		default:
			gen, err := strconv.ParseUint(m[2], 10, 32)
			if err != nil {
				return out, fmt.Errorf("%w: %s: %w", ErrCorrupt, s.dir.Path(f.Name), err)
			}
			if m[1] == "log" {
				out.logs = append(out.logs, uint32(gen))
			} else {
				out.spares = append(out.spares, uint32(gen))
			}
		}
	}
	return out, nil
}

// refuseForeign refuses a directory that holds other files and none of a store, before anything is made in it.
func (s *Store) refuseForeign() error {
	files, err := s.dir.List()
	if err != nil {
		return err
	}
	foreign := ""
	for _, f := range files {
		switch {
		case fileName.MatchString(f.Name):
			return nil
		case f.Name != lockName && f.Name != imageTemp:
			foreign = f.Name
		}
	}
	if foreign != "" {
		return fmt.Errorf("%w: %s is not a store's file; give an empty directory", ErrCorrupt, s.dir.Path(foreign))
	}
	return nil
}

// recover builds the state from the newest image and the log behind it, and makes the log ready for writing.
func (s *Store) recover() error {
	s.arena.epoch = 1
	files, err := s.list()
	if err != nil {
		return err
	}
	if len(files.images) > 0 {
		s.recovery.Image = files.images[len(files.images)-1]
		if err := s.readImageFile(s.recovery.Image, files.image); err != nil {
			return err
		}
		if len(files.logs) == 0 {
			return fmt.Errorf("%w: %s has no log segment beside its image", ErrCorrupt, s.dir.Path(""))
		}
	}
	for _, g := range append(files.spares, files.logs...) {
		s.log.lastGen = max(s.log.lastGen, g)
	}
	for _, g := range files.spares {
		s.log.spares = append(s.log.spares, spareName(g))
	}
	image := s.work.sequence
	var data []byte
	for i, gen := range files.logs {
		var last uint64
		var pristine bool
		if data, last, pristine, err = s.replay(gen, data, image); err != nil {
			return err
		}
		if pristine && i == len(files.logs)-1 {
			f, err := s.dir.Open(logName(gen))
			if err != nil {
				return err
			}
			s.log.activate(prepared{file: f, gen: gen})
		} else {
			s.log.sealed = append(s.log.sealed, segment{gen, last})
		}
	}
	if s.log.file == nil {
		p := s.log.prepare()
		if p.err != nil {
			return p.err
		}
		s.log.activate(p)
	}
	s.publish()
	if len(files.images) > 1 {
		return s.removeImages(image)
	}
	return nil
}

func (s *Store) readImageFile(name string, sequence uint64) error {
	f, err := s.dir.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := readImage(f, s.dir.Path(name), &s.tx.writes); err != nil {
		return err
	}
	if s.work.sequence != sequence {
		return fmt.Errorf("%w: image %s holds sequence %d", ErrCorrupt, s.dir.Path(name), s.work.sequence)
	}
	size, err := f.Size()
	s.checkpoints.imageBytes.Store(size)
	return err
}

// replay applies the saves of a segment that the image does not hold. It returns the sequence of the segment's last
// save (0: it has none), and whether nothing was ever written behind its header. data is a buffer to use again.
func (s *Store) replay(gen uint32, data []byte, image uint64) (_ []byte, last uint64, pristine bool, err error) {
	name := s.dir.Path(logName(gen))
	data, err = readFile(s.dir, logName(gen), data)
	if err != nil {
		return data, 0, false, err
	}
	h, err := reclog.DecodeHeader(data)
	switch {
	case errors.Is(err, reclog.ErrVersion):
		return data, 0, false, fmt.Errorf("%w: %w: %s: %w", ErrCorrupt, ErrVersion, name, err)
	case err != nil:
		return data, 0, false, fmt.Errorf("%w: %s, offset 0: %w", ErrCorrupt, name, err)
	case h.Generation != gen:
		return data, 0, false, fmt.Errorf("%w: %s, offset 0: the header says generation %d", ErrCorrupt, name, h.Generation)
	case h.Schema != s.layout.digest:
		return data, 0, false, fmt.Errorf("%w: %w: %s has schema %016x, this program's is %016x", ErrCorrupt, ErrSchema, name, h.Schema, s.layout.digest)
	}
	r := reclog.NewReader(gen, data)
	at := int64(reclog.BlockBytes)
	for {
		next := uint64(0) // the first save may be any that the image holds
		if last != 0 {
			next = last + 1
		}
		save, ok, err := r.Next(next)
		if err != nil {
			return data, 0, false, fmt.Errorf("%w: %s: %w", ErrCorrupt, name, err)
		}
		if !ok {
			break
		}
		if save.Sequence > image {
			if want := s.work.sequence + 1; save.Sequence != want {
				return data, 0, false, fmt.Errorf("%w: %s, offset %d: save %d stands where save %d belongs", ErrCorrupt, name, at, save.Sequence, want)
			}
			records, err := s.chains.apply(&s.tx.writes, save.Payload)
			if err != nil {
				return data, 0, false, fmt.Errorf("%w: %s, offset %d, save %d: %w", ErrCorrupt, name, at, save.Sequence, err)
			}
			s.work.sequence = save.Sequence
			s.recovery.Saves++
			s.recovery.Records += int64(records)
		}
		last = save.Sequence
		at += reclog.SaveBytes(len(save.Payload))
		s.checkpoints.logBytes += reclog.SaveBytes(len(save.Payload))
	}
	tail := r.Tail()
	if tail.Incomplete {
		s.recovery.Cut, s.recovery.CutOffset = logName(gen), tail.Offset
	}
	return data, last, last == 0 && !tail.Incomplete, nil
}

// readFile reads a whole file into data, or into a larger buffer if it does not fit.
func readFile(dir fs.Dir, name string, data []byte) ([]byte, error) {
	f, err := dir.Open(name)
	if err != nil {
		return data, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return data, err
	}
	if int64(cap(data)) < size {
		data = make([]byte, size)
	}
	data = data[:size]
	if _, err := f.ReadAt(data, 0); err != nil && !errors.Is(err, io.EOF) {
		return data, err
	}
	return data, nil
}
