package reclog

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

// DamageError says where a segment is damaged. It wraps ErrDamage.
type DamageError struct {
	Offset int64 // in the segment's file
	What   string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%v at offset %d: %s", ErrDamage, e.Offset, e.What)
}
func (e *DamageError) Unwrap() error { return ErrDamage }

// Reader takes the saves of one segment in turn.
type Reader struct {
	generation uint32
	data       []byte // the segment, header block included
	at         int    // where the next save starts
	cut        bool   // the file ends inside a block
	payload    []byte // of the last save returned
	tail       Tail
}

// Tail describes what lies behind the last whole save of a segment.
type Tail struct {
	Offset     int64 // where the last whole save ends
	Incomplete bool  // a save begins there that was not written to its end
}

// NewReader reads the saves of a segment that has the given generation and content (header block included, a last
// block that is cut short counts as unwritten). The Reader keeps data.
func NewReader(generation uint32, data []byte) *Reader {
	whole := len(data) / BlockBytes * BlockBytes
	return &Reader{generation: generation, data: data[:whole], at: BlockBytes, cut: whole < len(data)}
}

// Blank reports whether a segment of the given generation may be made of the file f: whether each sector behind the
// header block would count as unwritten. A last sector that is cut short is not.
func Blank(generation uint32, f io.ReaderAt) (bool, error) {
	buf := make([]byte, 256*BlockBytes)
	for at := int64(BlockBytes); ; at += int64(len(buf)) {
		n, err := f.ReadAt(buf, at)
		if err != nil && err != io.EOF {
			return false, err
		}
		if n%SectorBytes != 0 {
			return false, nil
		}
		for r := (Reader{generation: generation, data: buf[:n]}); r.at < n; r.at += SectorBytes {
			if r.state(r.at) != old {
				return false, nil
			}
		}
		if err == io.EOF {
			return true, nil
		}
	}
}

type sectorState int

const (
	written sectorState = iota // in this life of the file
	old                        // not in this life
	damaged
)

// state tells from its tag whether the sector at offset at was written.
func (r *Reader) state(at int) sectorState {
	switch tag := binary.LittleEndian.Uint64(r.data[at:]); {
	case tag == tagOf(r.generation):
		return written
	case tag == tagOf(uint32(tag>>32)) && uint32(tag>>32) < r.generation:
		return old
	}
	return damaged
}

// Next returns the next save, which has to have the given sequence number unless that is 0, and true; or false where
// the whole saves end: then Tail describes the end. The payload is valid until the next call. An error is a
// *DamageError.
func (r *Reader) Next(sequence uint64) (Save, bool, error) {
	if r.at == len(r.data) {
		r.tail = Tail{Offset: int64(r.at), Incomplete: r.cut}
		return Save{}, false, nil
	}
	switch r.state(r.at) {
	case damaged:
		return Save{}, false, &DamageError{int64(r.at), "a sector tag that no save has"}
	case old:
		return Save{}, false, r.end(r.at)
	}
	h := r.data[r.at+tagBytes : r.at+tagBytes+saveHeader]
	if headerCRC(r.generation, h) != binary.LittleEndian.Uint32(h[20:]) {
		return Save{}, false, &DamageError{int64(r.at), "the save's header does not match its checksum"}
	}
	s := Save{
		Sequence:     binary.LittleEndian.Uint64(h[8:]),
		Transactions: binary.LittleEndian.Uint32(h[4:]),
	}
	if sequence != 0 && s.Sequence != sequence {
		return Save{}, false, &DamageError{int64(r.at), fmt.Sprintf("save %d stands where save %d belongs", s.Sequence, sequence)}
	}
	length := int64(binary.LittleEndian.Uint32(h))
	end := int64(r.at) + SaveBytes(int(length))
	for at := int64(r.at); at < end; at += SectorBytes {
		if at >= int64(len(r.data)) { // the file was to grow for this save
			return Save{}, false, r.end(len(r.data))
		}
		switch r.state(int(at)) {
		case damaged:
			return Save{}, false, &DamageError{at, "a sector tag that no save has"}
		case old:
			return Save{}, false, r.end(int(end))
		}
	}
	r.payload = r.payload[:0]
	skip := saveHeader
	for at := r.at; at < int(end) && int64(len(r.payload)) < length; at += SectorBytes {
		body := r.data[at+tagBytes+skip : at+SectorBytes]
		skip = 0
		r.payload = append(r.payload, body[:min(int64(len(body)), length-int64(len(r.payload)))]...)
	}
	if crc32.Checksum(r.payload, castagnoli) != binary.LittleEndian.Uint32(h[16:]) {
		return Save{}, false, &DamageError{int64(r.at), fmt.Sprintf("save %d does not match its checksum", s.Sequence)}
	}
	s.Payload = r.payload
	r.at = int(end)
	return s, true, nil
}

// Tail is valid after Next returned false and no error.
func (r *Reader) Tail() Tail { return r.tail }

// end finds out whether an unwritten sector of the save at r.at, which ends at end if that is known (r.at if not), is
// the end of the log or a hole in it.
func (r *Reader) end(end int) error {
	r.tail = Tail{Offset: int64(r.at)}
	for at := r.at; at < len(r.data); at += SectorBytes {
		st := r.state(at)
		if st == damaged {
			return &DamageError{int64(at), "a sector tag that no save has"}
		}
		if st == old {
			continue
		}
		r.tail.Incomplete = true
		// A written sector outside the save itself belongs to a later one. Where the save ends is not known if its
		// header is missing; then a later save shows by its own header.
		if end > r.at && at >= end || end == r.at && at > r.at && at%BlockBytes == 0 && r.startsSave(at) {
			return &DamageError{int64(r.at), fmt.Sprintf("this save has unwritten sectors, but a later save was written at offset %d", at)}
		}
	}
	return nil
}

// startsSave reports whether a valid save header stands at block at.
func (r *Reader) startsSave(at int) bool {
	h := r.data[at+tagBytes : at+tagBytes+saveHeader]
	return headerCRC(r.generation, h) == binary.LittleEndian.Uint32(h[20:])
}
