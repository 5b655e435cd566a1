package reclog

import (
	"encoding/binary"
	"hash/crc32"
)

// Save is one save as read or to be written.
type Save struct {
	Sequence     uint64
	Transactions uint32
	Payload      []byte // at most MaxPayload
}

// AppendSave appends the whole blocks of s to dst, for a segment of the given generation.
func AppendSave(dst []byte, generation uint32, s Save) []byte {
	var h [saveHeader]byte
	binary.LittleEndian.PutUint32(h[0:], uint32(len(s.Payload)))
	binary.LittleEndian.PutUint32(h[4:], s.Transactions)
	binary.LittleEndian.PutUint64(h[8:], s.Sequence)
	binary.LittleEndian.PutUint32(h[16:], crc32.Checksum(s.Payload, castagnoli))
	binary.LittleEndian.PutUint32(h[20:], headerCRC(generation, h[:]))

	start := len(dst)
	total := int(SaveBytes(len(s.Payload)))
	if cap(dst)-start < total {
		dst = append(make([]byte, 0, start+total), dst...)
	}
	dst = dst[:start+total]
	out, rest := dst[start:], s.Payload
	tag := tagOf(generation)
	for at := 0; at < total; at += SectorBytes {
		sector := out[at : at+SectorBytes]
		binary.LittleEndian.PutUint64(sector, tag)
		body := sector[tagBytes:]
		if at == 0 {
			body = body[copy(body, h[:]):]
		}
		n := copy(body, rest)
		rest = rest[n:]
		clear(body[n:])
	}
	return dst
}
