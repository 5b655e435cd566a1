// Package reclog frames saves in the segment files of a log, so that a reader can tell apart a save that is whole, the
// incomplete last save that a crash leaves, and damage. It knows bytes and saves, not what is in them.
//
// # Segment
//
// A segment is a file of 4 KiB blocks: one header block, then saves, each starting at a block; then blocks that were
// never written in this life of the file. All integers are little-endian.
//
//	block 0        +--------------------------------------------------------------------------+
//	               | magic "PURELOG\n" 8 | version u32 | generation u32 | schema u64 | crc u32 | zeros
//	               +--------------------------------------------------------------------------+
//	blocks 1..     save, save, save, ... unwritten
//
// Generation numbers the segments of a store from 1 upwards in the order of writing; schema is the digest of what the
// saves mean; crc is the CRC-32C of the 24 bytes before it. Magic, version and crc are checked in this order.
//
// # Save
//
// A save fills whole blocks. Each of their 512-byte sectors begins with a tag; the rest of the sectors, 504 bytes each,
// put together are the save's header, its payload and zeros.
//
//	sector 0    | tag 8 | length u32 | transactions u32 | sequence u64 | payload crc u32 | header crc u32 | payload ...
//	sector 1..  | tag 8 | payload, 504 bytes ...
//	tag         | mix(generation) u32 | generation u32
//
// Length is the payload's in bytes. Both checksums are CRC-32C; the header's covers the generation (as u32) and the 20
// bytes before it. Sequence numbers of consecutive saves of a store are consecutive, across segments.
//
// # Why the tags
//
// A device writes a sector whole or not at all, and a block's old content is known: zeros in a fresh file, sectors
// tagged with a smaller generation in a recycled one. So a sector of a save says by its tag whether it was written. A
// save with an unwritten sector is incomplete: a crash cut it short, nobody was told that it is durable. A save whose
// sectors were all written and whose checksum is wrong is damage, also when it is the last one. Tags that are neither
// the segment's nor an older one's are damage too: mix makes a tag check itself.
//
// A save is written only when the one before it is durable. So an incomplete save with any later save behind it is
// damage as well. And since blocks are never written twice in one life of a file, no save endangers an earlier one.
package reclog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Sizes of the format, in bytes.
const (
	BlockBytes  = 4096
	SectorBytes = 512
	tagBytes    = 8
	bodyBytes   = SectorBytes - tagBytes
	saveHeader  = 24
)

// Version is the version of the format that this package writes and reads.
const Version = 1

var magic = [8]byte{'P', 'U', 'R', 'E', 'L', 'O', 'G', '\n'}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Errors of the format, one each.
var (
	ErrMagic    = errors.New("not a log segment")
	ErrVersion  = errors.New("log format of another version")
	ErrChecksum = errors.New("checksum mismatch")
	ErrDamage   = errors.New("damaged save")
)

// MaxPayload is the largest payload of a save, in bytes.
const MaxPayload = 1<<32 - 1

// Header is the content of a segment's first block.
type Header struct {
	Generation uint32
	Schema     uint64
}

// Encode returns the header block.
func (h Header) Encode() []byte {
	b := make([]byte, BlockBytes)
	copy(b, magic[:])
	binary.LittleEndian.PutUint32(b[8:], Version)
	binary.LittleEndian.PutUint32(b[12:], h.Generation)
	binary.LittleEndian.PutUint64(b[16:], h.Schema)
	binary.LittleEndian.PutUint32(b[24:], crc32.Checksum(b[:24], castagnoli))
	return b
}

// DecodeHeader reads the header from a segment's first block. It wraps ErrMagic, ErrVersion or ErrChecksum.
func DecodeHeader(b []byte) (Header, error) {
	if len(b) < BlockBytes || [8]byte(b[:8]) != magic {
		return Header{}, ErrMagic
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != Version {
		return Header{}, fmt.Errorf("%w: version %d, this program reads %d", ErrVersion, v, Version)
	}
	if crc32.Checksum(b[:24], castagnoli) != binary.LittleEndian.Uint32(b[24:]) {
		return Header{}, fmt.Errorf("%w in the segment header", ErrChecksum)
	}
	return Header{binary.LittleEndian.Uint32(b[12:]), binary.LittleEndian.Uint64(b[16:])}, nil
}

// mix spreads a generation over 32 bits, so that tags of different generations differ in many bits. It is the
// finalizer of MurmurHash3, a bijection; mix(0) is 0, which makes the tag of unwritten zeros that of generation 0.
func mix(g uint32) uint32 {
	g ^= g >> 16
	g *= 0x85ebca6b
	g ^= g >> 13
	g *= 0xc2b2ae35
	return g ^ g>>16
}

func tagOf(g uint32) uint64 { return uint64(g)<<32 | uint64(mix(g)) }

// headerCRC is the checksum of a save's header.
func headerCRC(generation uint32, h []byte) uint32 {
	var g [4]byte
	binary.LittleEndian.PutUint32(g[:], generation)
	return crc32.Update(crc32.Checksum(g[:], castagnoli), castagnoli, h[:saveHeader-4])
}

// SaveBytes is the size on disk of a save with a payload of n bytes.
func SaveBytes(n int) int64 {
	sectors := (int64(n) + saveHeader + bodyBytes - 1) / bodyBytes
	return (sectors*SectorBytes + BlockBytes - 1) / BlockBytes * BlockBytes
}
