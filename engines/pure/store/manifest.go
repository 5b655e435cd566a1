package store

import (
	"encoding/binary"
	"hash/crc32"
	"slices"

	"tpccbench/engines/pure/store/fs"
	"tpccbench/engines/pure/store/reclog"
)

// The manifest names the files that the store's state is made of, so that one that is missing is missed. All integers
// are little-endian:
//
//	header   | magic "PUREMAN\n" 8 | version u32 | segments u32 | schema u64 | image u64 |
//	segment  | generation u32 | blocks u32 | last u64 |
//	...
//	end      | crc u32 |
//
// Version is FormatVersion, image the sequence of the image (all ones: there is none), schema the digest of the
// schema. The segments stand in the order of their generations; blocks is a segment's size when it was listed, in
// units of 4 KiB, which only grows; last is the sequence of its last save, 0 where that was not known yet or there is
// none. The crc is the CRC-32C of all before it. Magic, version and crc are checked in this order, and the file ends
// with the crc.
//
// It is replaced as a whole: written as manifest.tmp, synced, renamed, the directory synced. So a manifest is never
// torn, and anything amiss in it is damage.
type manifest struct {
	image    uint64 // noImage: there is none
	segments []segment
}

// segment is one file of the log.
type segment struct {
	gen    uint32
	blocks uint32 // size when it was listed, in reclog.BlockBytes
	last   uint64 // sequence of its last save; 0: not known, or it holds none
	// sealed: nothing will be written to it any more. In memory only.
	sealed bool
}

const (
	manifestName = "manifest"
	manifestTemp = "manifest.tmp"

	manifestHeadBytes    = 32
	manifestSegmentBytes = 16

	noImage = ^uint64(0)
)

var manifestMagic = [8]byte{'P', 'U', 'R', 'E', 'M', 'A', 'N', '\n'}

// imageSequence is the sequence of the state that the log builds on.
func (m *manifest) imageSequence() uint64 {
	if m.image == noImage {
		return 0
	}
	return m.image
}

// bytes is the least size that the segment's file has, unless somebody has cut it short.
func (s *segment) bytes() int64 { return int64(s.blocks) * reclog.BlockBytes }

// find returns the segment of a generation, nil if it is not listed.
func (m *manifest) find(gen uint32) *segment {
	for i := range m.segments {
		if m.segments[i].gen == gen {
			return &m.segments[i]
		}
	}
	return nil
}

// encode returns the file.
func (m *manifest) encode(schema uint64) []byte {
	b := append([]byte(nil), manifestMagic[:]...)
	b = binary.LittleEndian.AppendUint32(b, FormatVersion)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(m.segments)))
	b = binary.LittleEndian.AppendUint64(b, schema)
	b = binary.LittleEndian.AppendUint64(b, m.image)
	for _, s := range m.segments {
		b = binary.LittleEndian.AppendUint32(b, s.gen)
		b = binary.LittleEndian.AppendUint32(b, s.blocks)
		b = binary.LittleEndian.AppendUint64(b, s.last)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// decodeManifest reads the file b; path is for messages.
func decodeManifest(b []byte, path string) (m manifest, schema uint64, err error) {
	if len(b) < 12 || [8]byte(b[:8]) != manifestMagic {
		return m, 0, damage(path, 0, "not a manifest")
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != FormatVersion {
		return m, 0, versionError(path, v)
	}
	n := len(b) - 4
	if n < manifestHeadBytes || crc32.Checksum(b[:n], castagnoli) != binary.LittleEndian.Uint32(b[n:]) {
		return m, 0, damage(path, 0, "the manifest does not match its checksum")
	}
	if count := int(binary.LittleEndian.Uint32(b[12:])); n != manifestHeadBytes+count*manifestSegmentBytes {
		return m, 0, damage(path, 12, "%d segments do not fit %d bytes", count, len(b))
	}
	schema = binary.LittleEndian.Uint64(b[16:])
	m.image = binary.LittleEndian.Uint64(b[24:])
	for at := manifestHeadBytes; at < n; at += manifestSegmentBytes {
		s := segment{gen: binary.LittleEndian.Uint32(b[at:]), blocks: binary.LittleEndian.Uint32(b[at+4:]),
			last: binary.LittleEndian.Uint64(b[at+8:])}
		if k := len(m.segments); s.gen == 0 || k > 0 && s.gen <= m.segments[k-1].gen {
			return m, 0, damage(path, int64(at), "segment %d is out of order", s.gen)
		}
		m.segments = append(m.segments, s)
	}
	return m, schema, nil
}

// versionError is what a file of another version of the format gives.
func versionError(path string, version uint32) *DamageError {
	e := damage(path, 8, "the file has version %d, this program reads %d", version, FormatVersion)
	e.kind = ErrVersion
	return e
}

// schemaError is what a file of another schema gives.
func schemaError(path string, offset int64, file, program uint64) *DamageError {
	e := damage(path, offset, "the file has schema %016x, this program's is %016x", file, program)
	e.kind = ErrSchema
	return e
}

// writeManifest makes m the store's manifest, durably. After an error the old one counts, or m.
func writeManifest(dir fs.Dir, schema uint64, m *manifest) error {
	f, err := createTemp(dir, manifestTemp)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(m.encode(schema), 0)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = dir.Rename(manifestTemp, manifestName)
	}
	if err != nil {
		// What is left under the temporary name means nothing; if even this fails, Open removes it.
		_ = dir.Remove(manifestTemp)
		return err
	}
	return dir.Sync()
}

// commit changes the manifest and makes that durable. change is carried out on a copy that is written, and again on
// the manifest once that is durable: segments may have been sealed meanwhile.
func (w *wal) commit(change func(*manifest)) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.mu.Lock()
	next := manifest{w.manifest.image, slices.Clone(w.manifest.segments)}
	w.mu.Unlock()
	change(&next)
	if err := writeManifest(w.dir, w.schema, &next); err != nil {
		return err
	}
	w.mu.Lock()
	change(&w.manifest)
	w.mu.Unlock()
	return nil
}
