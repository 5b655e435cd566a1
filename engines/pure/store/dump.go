package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"tpccbench/engines/pure/store/fs"
	"tpccbench/engines/pure/store/reclog"
)

// Contents is what a store's files hold, as Dump found it. All sizes are in bytes.
type Contents struct {
	Directory     string `json:"directory"`
	FormatVersion int    `json:"format_version"` // of manifest and images, that this program reads
	LogVersion    int    `json:"log_version"`    // of segments, that this program reads
	// Schema is the digest of the store's schema, hexadecimal; empty if the manifest cannot be read. SchemaKnown says
	// that it is that of this program: tables have names, and records can be counted.
	Schema      string `json:"schema"`
	SchemaKnown bool   `json:"schema_known"`
	// Sequence is the last save of the state that Open would build; 0 if it would refuse.
	Sequence uint64            `json:"sequence"`
	Segments []SegmentContents `json:"segments"`
	Images   []ImageContents   `json:"images"`
	Others   []FileContents    `json:"others"` // spares and leftovers, whose content means nothing, and foreign files
	Damage   []Damage          `json:"damage"`
}

// Damage is one thing that is wrong, because of which Open refuses the store.
type Damage struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	What   string `json:"what"`
}

// FileContents is a file of no meaning to the state, and why.
type FileContents struct {
	Name      string `json:"name"`
	FileBytes int64  `json:"file_bytes"`
	Why       string `json:"why"`
}

// SegmentContents is one listed segment of the log.
type SegmentContents struct {
	Name         string `json:"name"`
	FileBytes    int64  `json:"file_bytes"`
	MadeBytes    int64  `json:"made_bytes"` // the file's size when it was made; if it is shorter now, saves may be missing
	Generation   uint32 `json:"generation"`
	ManifestLast uint64 `json:"manifest_last_save"` // as the manifest has it, 0: it does not say
	FirstSave    uint64 `json:"first_save"`         // sequence of the first whole save; 0: there is none
	LastSave     uint64 `json:"last_save"`
	Saves        int64  `json:"saves"`
	Transactions int64  `json:"transactions"`
	RecordBytes  int64  `json:"record_bytes"` // of change records
	SaveBytes    int64  `json:"save_bytes"`   // the same, framed and filled up to blocks
	// IncompleteOffset is where a save begins that was not written to its end, and was or will be cut off; 0: none.
	IncompleteOffset int64          `json:"incomplete_save_offset"`
	Records          []TableRecords `json:"records,omitempty"`
	List             []SaveContents `json:"list,omitempty"`
}

// SaveContents is one whole save.
type SaveContents struct {
	Sequence     uint64         `json:"sequence"`
	Offset       int64          `json:"offset"`
	Transactions uint32         `json:"transactions"`
	RecordBytes  int            `json:"record_bytes"`
	Records      []TableRecords `json:"records,omitempty"`
}

// TableRecords counts the change records of one table.
type TableRecords struct {
	Table   string `json:"table"`
	Inserts int64  `json:"inserts"`
	Updates int64  `json:"updates"`
	Deletes int64  `json:"deletes"`
}

// ImageContents is the image that the manifest names.
type ImageContents struct {
	Name      string       `json:"name"`
	FileBytes int64        `json:"file_bytes"`
	Sequence  uint64       `json:"sequence"` // the save whose state it holds
	Tables    []ImageTable `json:"tables"`
}

// ImageTable is one table in an image.
type ImageTable struct {
	Table      string `json:"table"`
	Rows       int64  `json:"rows"`
	BlockBytes int64  `json:"block_bytes"`
}

// DumpOptions say what Dump tells besides.
type DumpOptions struct {
	Saves   bool // every save
	Records bool // change records by table, if the schema is known
	// Progress, if it is not nil, is called every MiB or so with the bytes that are read and those that there are.
	Progress func(done, total int64)
}

// Dump reads the store in dir and returns what its files hold and all that is wrong with them; it goes on behind
// damage as far as the format allows. It changes nothing, and needs no right to if dir is fs.OpenReadOnly's. schema is
// the one that the store may have; with another, tables have numbers. It fails with ErrLocked while the store is open
// elsewhere, and if the directory holds no store; not because of damage.
func Dump(dir fs.Dir, schema Schema, opt DumpOptions) (*Contents, error) {
	l, err := newLayout(schema)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	lock, err := dir.Lock(lockName)
	if errors.Is(err, fs.ErrLocked) {
		return nil, fmt.Errorf("%w: %s is locked; close the store first", ErrLocked, dir.Path(lockName))
	}
	if err != nil {
		return nil, err
	}
	defer lock.Unlock()
	files, err := listFiles(dir)
	if err != nil {
		return nil, err
	}
	if files.empty() {
		return nil, fmt.Errorf("%s: there is no store in it", dir.Path(""))
	}
	d := &dumper{dir: dir, layout: l, opt: opt, files: &files, progress: newProgress(opt.Progress)}
	d.out = &Contents{Directory: dir.Path(""), FormatVersion: FormatVersion, LogVersion: reclog.Version,
		Segments: []SegmentContents{}, Images: []ImageContents{}, Others: []FileContents{}, Damage: []Damage{}}
	if err := d.dump(); err != nil {
		return nil, err
	}
	return d.out, nil
}

// dumper is a Dump that is going on.
type dumper struct {
	dir      fs.Dir
	layout   *layout
	opt      DumpOptions
	files    *listing
	manifest manifest
	schema   uint64
	known    bool
	out      *Contents
	progress *progress
	data     []byte
	// next is the sequence that the next save should have; 0: any, as damage stands before it.
	next uint64
}

// found keeps a damage and returns other errors.
func (d *dumper) found(err error) error {
	var e *DamageError
	if !errors.As(err, &e) {
		return err
	}
	d.out.Damage = append(d.out.Damage, Damage{e.File, e.Offset, e.What})
	return nil
}

func (d *dumper) table(i uint32) string {
	if d.known && i < uint32(len(d.layout.tables)) {
		return d.layout.tables[i].name
	}
	return fmt.Sprintf("table %d", i)
}

func (d *dumper) dump() error {
	var err error
	d.manifest, d.schema, err = readManifest(d.dir, d.files)
	trusted := err == nil
	if err != nil {
		if err := d.found(err); err != nil {
			return err
		}
		// What is there, then. The newest image, and every log- file.
		d.manifest = manifest{image: noImage}
		if n := len(d.files.images); n > 0 {
			d.manifest.image = d.files.images[n-1]
		}
		for _, gen := range d.files.logs {
			d.manifest.segments = append(d.manifest.segments, segment{gen: gen})
		}
		d.schema = d.layout.digest
	} else {
		d.out.Schema = fmt.Sprintf("%016x", d.schema)
		for _, e := range d.manifest.missing(d.dir, d.files) {
			d.found(e)
		}
	}
	if trusted {
		stray, err := d.manifest.stray(d.dir, d.files)
		if err != nil {
			return err
		}
		if stray != nil {
			d.found(stray)
		}
	}
	d.known = trusted && d.schema == d.layout.digest
	d.out.SchemaKnown = d.known
	d.others()
	hasImage := d.manifest.image != noImage && slices.Contains(d.files.images, d.manifest.image)
	for _, s := range d.manifest.segments {
		d.progress.total += d.files.bytes[logName(s.gen)]
	}
	if hasImage {
		d.progress.total += d.files.bytes[imageName(d.manifest.image)]
		if err := d.image(d.manifest.image); err != nil {
			return err
		}
	}
	d.out.Sequence = d.manifest.imageSequence()
	for _, s := range d.manifest.segments {
		if !slices.Contains(d.files.logs, s.gen) {
			d.next = 0
			continue
		}
		if err := d.segment(s); err != nil {
			return err
		}
	}
	if len(d.out.Damage) > 0 {
		d.out.Sequence = 0
	}
	return nil
}

// others lists the files that the state does not need.
func (d *dumper) others() {
	add := func(name, why string) {
		d.out.Others = append(d.out.Others, FileContents{name, d.files.bytes[name], why})
	}
	for _, gen := range d.files.spares {
		add(spareName(gen), "spare: becomes a log segment")
	}
	for _, gen := range d.files.logs {
		if d.manifest.find(gen) == nil {
			add(logName(gen), "segment that the manifest does not list: the image holds its saves, or it was never used")
		}
	}
	for _, sequence := range d.files.images {
		if sequence != d.manifest.image {
			add(imageName(sequence), "image that the manifest does not name: an older one, or of a checkpoint that was cut short")
		}
	}
	for _, name := range d.files.temps {
		add(name, "file that was being written")
	}
	for _, name := range d.files.foreign {
		add(name, "not a store's file")
	}
}

// image reads one image.
func (d *dumper) image(sequence uint64) error {
	name := imageName(sequence)
	path := d.dir.Path(name)
	defer d.progress.passed(d.files.bytes[name])
	f, err := d.dir.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := openImage(f, path)
	if err != nil {
		return d.found(err)
	}
	h := &r.header
	if h.schema != d.schema {
		d.found(schemaError(path, 16, h.schema, d.schema))
	}
	if h.sequence != sequence {
		d.found(damage(path, 24, "the image holds save %d", h.sequence))
	}
	out := ImageContents{Name: name, FileBytes: r.size, Sequence: h.sequence, Tables: make([]ImageTable, len(h.rows))}
	for i := range out.Tables {
		out.Tables[i].Table = d.table(uint32(i))
	}
	whole := true
	var buf []byte
	var b imageBlock
	for more := true; more; {
		b, buf, more, err = r.next(buf)
		switch {
		case err != nil:
			whole = false
			if err := d.found(err); err != nil {
				return err
			}
		case b.table == imageEnd:
		case b.table >= uint32(len(out.Tables)), d.known && !blockReadable(d.layout.tables[b.table], b.rows, b.payload):
			whole = false
			d.found(damage(path, b.offset, "block %d holds impossible rows", b.number))
		default:
			out.Tables[b.table].Rows += int64(b.rows)
			out.Tables[b.table].BlockBytes += int64(len(buf))
		}
		d.progress.at(b.offset)
	}
	for i := range out.Tables {
		if n := h.rows[i]; whole && n != uint64(out.Tables[i].Rows) {
			d.found(damage(path, imageHeadBytes+16*int64(i), "%s has %d rows, the header says %d", out.Tables[i].Table, out.Tables[i].Rows, n))
		}
	}
	d.out.Images = append(d.out.Images, out)
	return nil
}

// blockReadable reports whether an image's block holds so many rows in key order.
func blockReadable(t *table, rows uint32, p []byte) bool {
	key := uint64(0)
	for i := range rows {
		k, n := binary.Uvarint(p)
		if n <= 0 || i > 0 && k == 0 || key+k < key || len(p)-n < 8*t.rowWords {
			return false
		}
		key += k
		p = p[n+8*t.rowWords:]
	}
	return len(p) == 0 && (t.keyBits == 64 || key>>t.keyBits == 0)
}

// segment reads one segment.
func (d *dumper) segment(s segment) error {
	name := logName(s.gen)
	path := d.dir.Path(name)
	var err error
	if d.data, err = readFile(d.dir, name, d.data); err != nil {
		return err
	}
	defer d.progress.passed(int64(len(d.data)))
	out := SegmentContents{Name: name, FileBytes: int64(len(d.data)), MadeBytes: s.bytes(), Generation: s.gen, ManifestLast: s.last}
	err = checkSegment(path, s.gen, d.data, d.schema)
	if d.found(err); errors.Is(err, ErrVersion) || len(d.data) < reclog.BlockBytes { // nothing there that could be read
		d.out.Segments = append(d.out.Segments, out)
		d.next = 0
		return nil
	}
	counts := newRecordCounter(d)
	image := d.manifest.imageSequence()
	at, broken := int64(reclog.BlockBytes), false
	r := reclog.NewReader(s.gen, d.data)
	for base := int64(0); ; {
		save, ok, err := r.Next(0)
		if err != nil {
			broken = true
			d.next = 0
			var e *reclog.DamageError
			if errors.As(err, &e) {
				e.Offset += base
			}
			if err := d.found(savesDamage(path, err)); err != nil {
				return err
			}
			if r, at = d.resume(s.gen, at+reclog.BlockBytes); r == nil {
				break
			}
			base = at - reclog.BlockBytes
			continue
		}
		if !ok {
			if t := r.Tail(); t.Incomplete {
				out.IncompleteOffset = base + t.Offset
			}
			break
		}
		if follows := save.Sequence == d.next || save.Sequence == image+1 && d.next <= image+1; d.next != 0 && !follows {
			d.found(damage(path, at, "save %d stands where save %d belongs", save.Sequence, d.next))
		} else if d.next == 0 && !broken && len(d.out.Damage) == 0 && save.Sequence > image+1 {
			d.found(damage(path, at, "save %d stands where save %d belongs", save.Sequence, image+1))
		}
		d.next = save.Sequence + 1
		d.out.Sequence = max(d.out.Sequence, save.Sequence)
		if out.FirstSave == 0 {
			out.FirstSave = save.Sequence
		}
		out.LastSave = save.Sequence
		out.Saves++
		out.Transactions += int64(save.Transactions)
		out.RecordBytes += int64(len(save.Payload))
		out.SaveBytes += reclog.SaveBytes(len(save.Payload))
		item := SaveContents{Sequence: save.Sequence, Offset: at, Transactions: save.Transactions, RecordBytes: len(save.Payload)}
		if d.opt.Records && d.known {
			if item.Records, err = counts.count(save.Payload); err != nil {
				d.found(damage(path, at, "save %d: %v", save.Sequence, err))
			}
		}
		if d.opt.Saves {
			out.List = append(out.List, item)
		}
		at += reclog.SaveBytes(len(save.Payload))
		d.progress.at(at)
	}
	if s.last != 0 && out.LastSave != s.last && !broken {
		d.found(damage(path, at, "the saves end with number %d, the manifest says %d", out.LastSave, s.last))
	}
	out.Records = counts.total()
	d.out.Segments = append(d.out.Segments, out)
	return nil
}

// resume looks for the next whole save behind damage, from offset at on, and returns a reader that starts with it and
// its offset; nil if there is none.
func (d *dumper) resume(gen uint32, at int64) (*reclog.Reader, int64) {
	tag := reclog.AppendSave(nil, gen, reclog.Save{})[:8] // what a block of a save begins with
	for ; at+reclog.BlockBytes <= int64(len(d.data)); at += reclog.BlockBytes {
		if !bytes.HasPrefix(d.data[at:], tag) {
			continue
		}
		behind := d.data[at-reclog.BlockBytes:] // a reader skips a header block
		if _, ok, err := reclog.NewReader(gen, behind).Next(0); ok && err == nil {
			return reclog.NewReader(gen, behind), at
		}
	}
	return nil, at
}

// recordCounter counts change records by table. It reads them without the state that they change: see record.go.
type recordCounter struct {
	d      *dumper
	tables []TableRecords
	mask   [][2]uint64 // by table, kind: of the last record of the save
}

func newRecordCounter(d *dumper) *recordCounter {
	return &recordCounter{d, make([]TableRecords, len(d.layout.tables)), make([][2]uint64, len(d.layout.tables))}
}

// count counts the records of one save.
func (c *recordCounter) count(payload []byte) ([]TableRecords, error) {
	clear(c.mask)
	one := make([]TableRecords, len(c.tables))
	records := 0
	p := payload
	for bad := false; len(p) > 0; records++ {
		number := func() uint64 {
			v, n := binary.Uvarint(p)
			if n <= 0 {
				bad = true
				p = nil
				return 0
			}
			p = p[n:]
			return v
		}
		at := len(payload) - len(p)
		code := number()
		table, kind := code>>codeTable, opKind(code>>codeKind&3)
		if table >= uint64(len(c.tables)) || kind > opDelete {
			return nil, fmt.Errorf("%w %d at byte %d of its save: code", errRecord, records+1, at)
		}
		if code&codeNext == 0 {
			number()
		}
		if kind == opDelete {
			one[table].Deletes++
		} else {
			mask := &c.mask[table][kind]
			if code&codeSame == 0 {
				*mask = number()
			}
			if fields := len(c.d.layout.tables[table].fields); fields < 64 && *mask>>fields != 0 {
				return nil, fmt.Errorf("%w %d at byte %d of its save: mask %#x", errRecord, records+1, at, *mask)
			}
			for range bits.OnesCount64(*mask) {
				number()
			}
			if kind == opInsert {
				one[table].Inserts++
			} else {
				one[table].Updates++
			}
		}
		if bad {
			return nil, fmt.Errorf("%w %d at byte %d of its save: it does not end", errRecord, records+1, at)
		}
	}
	for i, t := range one {
		c.tables[i].Inserts += t.Inserts
		c.tables[i].Updates += t.Updates
		c.tables[i].Deletes += t.Deletes
	}
	return c.named(one), nil
}

// total is the counts of all saves.
func (c *recordCounter) total() []TableRecords { return c.named(c.tables) }

// named returns the tables that have records, with their names.
func (c *recordCounter) named(all []TableRecords) (out []TableRecords) {
	for i, t := range all {
		if t != (TableRecords{}) {
			t.Table = c.d.layout.tables[i].name
			out = append(out, t)
		}
	}
	return out
}
