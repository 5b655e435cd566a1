package store

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tpccbench/engines/pure/store/fs"
	"tpccbench/engines/pure/store/reclog"
)

// Recovery builds the state from the image that the manifest names and the segments that it lists:
//
//	reader goroutine   image: read, verify blocks ---> |
//	                                                   | Open's goroutine: build the tables, apply the saves
//	reader goroutine   log: read, verify saves ------> |
//
// Each reader is a few pieces ahead. Everything is read and checked before anything is written, but for the removal of
// temporary files, whose content means nothing.

// Recovery says what Open found.
type Recovery struct {
	Image   string // the image's name, empty if there was none
	Saves   int64  // replayed from the log
	Records int64  // change records in them
	// Cut names the segment and the offset at which an incomplete last save was cut off; empty if there was none.
	Cut       string
	CutOffset int64
	// Short names a segment whose file is shorter than it was made, by ShortBytes. No crash does that; whole saves at its
	// end may be missing, of which nothing else tells. Empty if there is none.
	Short      string
	ShortBytes int64

	unsealed []string // segments with saves of which the manifest did not know the last
}

// Recovery returns what Open found.
func (s *Store) Recovery() Recovery { return s.recovery }

var fileName = regexp.MustCompile(`^(log|spare)-([0-9]{10})$|^image-([0-9]{20})$`)

// listing is what the directory holds.
type listing struct {
	manifest bool
	images   []uint64 // sequences, ascending
	logs     []uint32 // generations, ascending
	spares   []uint32
	temps    []string
	foreign  []string
	bytes    map[string]int64 // of every file
}

// listFiles reads the directory.
func listFiles(dir fs.Dir) (listing, error) {
	out := listing{bytes: map[string]int64{}}
	files, err := dir.List()
	if err != nil {
		return out, err
	}
	for _, f := range files { // sorted by name: so are the numbers
		out.bytes[f.Name] = f.Bytes
		m := fileName.FindStringSubmatch(f.Name)
		switch {
		case f.Name == lockName:
		case f.Name == manifestName:
			out.manifest = true
		case f.Name == imageTemp || f.Name == manifestTemp:
			out.temps = append(out.temps, f.Name)
		case m == nil:
			out.foreign = append(out.foreign, f.Name)
		case m[3] != "":
			sequence, err := strconv.ParseUint(m[3], 10, 64)
			if err != nil {
				return out, damage(dir.Path(f.Name), 0, "no image has this number")
			}
			out.images = append(out.images, sequence)
		default:
			gen, err := strconv.ParseUint(m[2], 10, 32)
			if err != nil {
				return out, damage(dir.Path(f.Name), 0, "no segment has this number")
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

// empty reports whether no file of a store is there but what a first Open may have left when it was cut short.
func (f *listing) empty() bool { return !f.manifest && len(f.images)+len(f.logs)+len(f.spares) == 0 }

// refuseForeign refuses a directory that holds other files and none of a store, before anything is made in it.
func refuseForeign(dir fs.Dir) error {
	files, err := listFiles(dir)
	if err == nil && files.empty() && len(files.foreign) > 0 {
		return fmt.Errorf("%w: %s is not a store's file; give an empty directory", ErrCorrupt, dir.Path(files.foreign[0]))
	}
	return err
}

// readManifest reads the manifest and checks that what it lists is there. All that is missing is in the error.
func readManifest(dir fs.Dir, files *listing) (m manifest, schema uint64, err error) {
	path := dir.Path(manifestName)
	if !files.manifest {
		return m, 0, noManifest(dir, files)
	}
	b, err := readFile(dir, manifestName, nil)
	if err != nil {
		return m, 0, err
	}
	if m, schema, err = decodeManifest(b, path); err != nil {
		return m, 0, err
	}
	return m, schema, nil
}

// noManifest is the damage of a directory that holds files of a store and no manifest.
func noManifest(dir fs.Dir, files *listing) error {
	for _, sequence := range files.images {
		// Version 1 had none. Its images say so.
		f, err := dir.Open(imageName(sequence))
		if err != nil {
			return err
		}
		_, err = openImage(f, dir.Path(imageName(sequence)))
		f.Close()
		if errors.Is(err, ErrVersion) {
			return err
		}
	}
	return damage(dir.Path(manifestName), 0, "the manifest is missing, which says what files the store has (version 1 of the format had none)")
}

// missing lists what the manifest names and the directory has not.
func (m *manifest) missing(dir fs.Dir, files *listing) (all []*DamageError) {
	if m.image != noImage && !slices.Contains(files.images, m.image) {
		all = append(all, damage(dir.Path(imageName(m.image)), 0, "the image is missing, which the manifest names"))
	}
	for _, s := range m.segments {
		if slices.Contains(files.logs, s.gen) {
			continue
		}
		saves := "which the manifest lists: it may hold saves"
		if s.last != 0 {
			saves = fmt.Sprintf("which the manifest lists: its last save is %d", s.last)
		}
		all = append(all, damage(dir.Path(logName(s.gen)), 0, "the log segment is missing, %s", saves))
	}
	return all
}

// recover builds the state and makes the log ready for writing.
func (s *Store) recover() error {
	s.arena.epoch = 1
	w := &s.log
	files, err := listFiles(s.dir)
	if err != nil {
		return err
	}
	if files.empty() {
		w.manifest = manifest{image: noImage}
		if err := s.removeAll(files.temps); err != nil {
			return err
		}
		files.temps = nil
		// Before anything else: without it no file may be there.
		if err := writeManifest(s.dir, w.schema, &w.manifest); err != nil {
			return err
		}
	} else {
		var schema uint64
		if w.manifest, schema, err = readManifest(s.dir, &files); err != nil {
			return err
		}
		if schema != s.layout.digest {
			return schemaError(s.dir.Path(manifestName), 16, schema, s.layout.digest)
		}
		if missing := w.manifest.missing(s.dir, &files); len(missing) > 0 {
			first := missing[0]
			for _, e := range missing[1:] {
				first.What += ", and so is " + e.File
			}
			return first
		}
	}
	pristine, err := s.readState(&files)
	if err != nil {
		return err
	}
	return s.takeOver(&files, pristine)
}

// readState reads the image and the log. pristine says that nothing was ever written to the last segment.
func (s *Store) readState(files *listing) (pristine bool, err error) {
	m := &s.log.manifest
	progress := newProgress(s.opt.Progress)
	for i := range m.segments {
		progress.total += files.bytes[logName(m.segments[i].gen)]
	}
	log := readLog(s.dir, s.layout.digest, m)
	defer log.close()
	if m.image != noImage {
		s.recovery.Image = imageName(m.image)
		bytes := files.bytes[s.recovery.Image]
		progress.total += bytes
		if err := s.readImageFile(m.image, progress.at); err != nil {
			return false, err
		}
		progress.passed(bytes)
	}
	for i := range m.segments {
		seg := &m.segments[i]
		name := logName(seg.gen)
		path := s.dir.Path(name)
		for {
			piece := log.take()
			if piece.err != nil {
				return false, piece.err
			}
			for _, save := range piece.saves {
				s.checkpoints.logBytes += save.bytes
				records, err := s.tx.chains.apply(&s.tx.writes, piece.payload[save.from:save.to])
				if err != nil {
					return false, damage(path, save.offset, "save %d: %v", save.sequence, err)
				}
				s.work.sequence = save.sequence
				s.recovery.Saves++
				s.recovery.Records += int64(records)
				s.recovery.Cut = "" // the log went on behind it
				progress.at(save.offset)
			}
			end := piece.end
			if end {
				if short := seg.bytes() - files.bytes[name]; short > 0 {
					s.recovery.Short, s.recovery.ShortBytes = name, short
				}
				progress.passed(files.bytes[name])
				if piece.tail.Incomplete {
					s.recovery.Cut, s.recovery.CutOffset = name, piece.tail.Offset
				}
				if pristine = piece.last == 0 && !piece.tail.Incomplete; !pristine && seg.last == 0 {
					s.recovery.unsealed = append(s.recovery.unsealed, name)
				}
				seg.last, seg.sealed = piece.last, true
			}
			log.done(piece)
			if end {
				break
			}
		}
	}
	stray, err := m.stray(s.dir, files)
	if err == nil && stray != nil {
		err = stray
	}
	return pristine, err
}

// stray returns the damage that a segment behind the listed ones shows if it has saves: they are written only after the
// manifest lists it, so an older manifest must have been put in its place. nil if there is none.
func (m *manifest) stray(dir fs.Dir, files *listing) (*DamageError, error) {
	newest := uint32(0)
	for _, s := range m.segments {
		newest = s.gen
	}
	for _, gen := range files.logs {
		if gen <= newest {
			continue
		}
		data, err := readFile(dir, logName(gen), nil)
		if err != nil {
			return nil, err
		}
		if h, err := reclog.DecodeHeader(data); err != nil || h.Generation != gen {
			continue // of no use to anybody
		}
		if save, ok, _ := reclog.NewReader(gen, data).Next(0); ok {
			return damage(dir.Path(manifestName), 0, "it does not list %s, which was made later and holds save %d: this is an older manifest",
				logName(gen), save.Sequence), nil
		}
	}
	return nil, nil
}

// takeOver makes durable what was read, makes the log ready for writing, and tidies the directory up.
func (s *Store) takeOver(files *listing, pristine bool) error {
	w := &s.log
	// A process that was killed may have left saves that it had written and not synced, and names: nobody was told that
	// they are durable, but from now on readers see them and saves build on them.
	for _, name := range s.recovery.unsealed {
		if err := syncFile(s.dir, name); err != nil {
			return err
		}
	}
	if err := s.dir.Sync(); err != nil {
		return err
	}
	if err := s.removeAll(files.temps); err != nil {
		return err
	}
	for _, g := range append(files.spares, files.logs...) {
		w.lastGen = max(w.lastGen, g)
	}
	for _, g := range files.spares {
		w.spares = append(w.spares, spare{spareName(g), true})
	}
	var useless []uint32
	for _, g := range files.logs {
		if w.manifest.find(g) == nil {
			useless = append(useless, g)
		}
	}
	if err := w.recycle(useless, s.spares(), true); err != nil {
		return err
	}
	if pristine {
		last := &w.manifest.segments[len(w.manifest.segments)-1]
		last.sealed = false
		f, err := s.dir.Open(logName(last.gen))
		if err != nil {
			return err
		}
		w.activate(prepared{file: f, gen: last.gen})
		if len(s.recovery.unsealed) > 0 { // what replay has found out is worth a manifest
			if err := w.commit(func(*manifest) {}); err != nil {
				return err
			}
		}
	} else {
		p := w.prepare() // writes the manifest, with what replay has found out of the segments before
		if p.err != nil {
			return p.err
		}
		w.activate(p)
	}
	s.publish()
	return s.removeImages(w.manifest.image)
}

func syncFile(dir fs.Dir, name string) error {
	f, err := dir.Open(name)
	if err != nil {
		return err
	}
	err = f.Sync()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

func (s *Store) removeAll(names []string) error {
	for _, name := range names {
		if err := s.dir.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// removeImages removes all images but that of the given sequence, which the durable manifest names.
func (s *Store) removeImages(sequence uint64) error {
	files, err := s.dir.List()
	if err != nil {
		return err
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name, "image-") && f.Name != imageName(sequence) {
			if err := s.dir.Remove(f.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Store) readImageFile(sequence uint64, progress func(bytes int64)) error {
	name := imageName(sequence)
	f, err := s.dir.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := readImage(f, s.dir.Path(name), &s.tx.writes, progress); err != nil {
		return err
	}
	if s.work.sequence != sequence {
		return damage(s.dir.Path(name), 24, "the image holds save %d", s.work.sequence)
	}
	size, err := f.Size()
	s.checkpoints.imageBytes.Store(size)
	return err
}

// checkSegment checks the header of the segment in data.
func checkSegment(path string, gen uint32, data []byte, schema uint64) error {
	h, err := reclog.DecodeHeader(data)
	switch {
	case errors.Is(err, reclog.ErrVersion):
		e := damage(path, 0, "%v", err)
		e.kind = ErrVersion
		return e
	case err != nil:
		return damage(path, 0, "%v", err)
	case h.Generation != gen:
		return damage(path, 12, "the header says generation %d", h.Generation)
	case h.Schema != schema:
		return schemaError(path, 16, h.Schema, schema)
	}
	return nil
}

// savesDamage makes reclog's error one of the store's.
func savesDamage(path string, err error) error {
	var e *reclog.DamageError
	if errors.As(err, &e) {
		return damage(path, e.Offset, "%s", e.What)
	}
	return fmt.Errorf("%s: %w", path, err)
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
