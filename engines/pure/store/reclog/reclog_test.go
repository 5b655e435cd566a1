package reclog

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
)

// segment builds a segment of generation 7 in a file that held old content: saves of the given sizes, numbered from
// 10, and room for more. It returns the file, the payloads, and where each save starts.
func segment(rng *rand.Rand, recycled bool, sizes ...int) (data []byte, payloads [][]byte, starts []int) {
	data = make([]byte, 40*BlockBytes)
	if recycled { // full of saves of an older life
		at := BlockBytes
		for seq := uint64(1); at < len(data); seq++ {
			at += copy(data[at:], AppendSave(nil, 6, Save{Sequence: seq, Payload: noise(rng, 5000)}))
		}
	}
	copy(data, Header{Generation: 7, Schema: 99}.Encode())
	at := BlockBytes
	for i, n := range sizes {
		p := noise(rng, n)
		payloads = append(payloads, p)
		starts = append(starts, at)
		at += copy(data[at:], AppendSave(nil, 7, Save{Sequence: uint64(10 + i), Transactions: uint32(i), Payload: p}))
	}
	return data, payloads, append(starts, at)
}

func noise(rng *rand.Rand, n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(rng.Uint32())
	}
	return p
}

// read returns the payloads of all saves.
func read(data []byte) (payloads [][]byte, tail Tail, err error) {
	r := NewReader(7, data)
	for seq := uint64(10); ; seq++ {
		s, ok, err := r.Next(seq)
		if err != nil || !ok {
			return payloads, r.Tail(), err
		}
		payloads = append(payloads, bytes.Clone(s.Payload))
	}
}

func equal(a, b [][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

var sizes = []int{1, 100, 480, 481, 4000, 4008, 4009, 9000, 0}

// TestRoundTrip: what was written is read, in fresh and in recycled files.
func TestRoundTrip(t *testing.T) {
	for _, recycled := range []bool{false, true} {
		data, want, starts := segment(rand.New(rand.NewPCG(1, 1)), recycled, sizes...)
		got, tail, err := read(data)
		if err != nil || !equal(got, want) {
			t.Fatalf("recycled %v: read %d saves, wrote %d, error %v", recycled, len(got), len(want), err)
		}
		if want := int64(starts[len(starts)-1]); tail.Offset != want || tail.Incomplete {
			t.Errorf("recycled %v: tail %+v, want offset %d", recycled, tail, want)
		}
		for i, n := range sizes {
			if got := SaveBytes(n); got != int64(starts[i+1]-starts[i]) {
				t.Errorf("SaveBytes(%d) is %d, the save takes %d", n, got, starts[i+1]-starts[i])
			}
		}
	}
}

// TestTorn: whatever sectors of the last save are missing, the saves before it are read, and the rest is a tail.
func TestTorn(t *testing.T) {
	const seed = 2
	rng := rand.New(rand.NewPCG(seed, seed))
	for round := range 2000 {
		recycled := round%2 == 0
		last := 1 + rng.IntN(9000)
		before, _, _ := segment(rand.New(rand.NewPCG(seed, 3)), recycled, 100, 5000)
		data, want, starts := segment(rand.New(rand.NewPCG(seed, 3)), recycled, 100, 5000, last)
		lost, kept := 0, 0
		p := rng.Float64()
		for at := starts[2]; at < starts[3]; at += SectorBytes {
			if rng.Float64() < p {
				copy(data[at:at+SectorBytes], before[at:])
				lost++
			} else {
				kept++
			}
		}
		got, tail, err := read(data)
		if err != nil {
			t.Fatalf("seed %d, round %d: %d sectors lost: %v", seed, round, lost, err)
		}
		if lost == 0 {
			if !equal(got, want) {
				t.Fatalf("seed %d, round %d: read %d saves of 3", seed, round, len(got))
			}
			continue
		}
		if !equal(got, want[:2]) || tail.Incomplete != (kept > 0) || tail.Offset != int64(starts[2]) {
			t.Fatalf("seed %d, round %d: %d sectors lost, %d kept: read %d saves, tail %+v", seed, round, lost, kept, len(got), tail)
		}
	}
}

// TestHole: a save in the middle that lost sectors is damage, however much of it is left.
func TestHole(t *testing.T) {
	for _, recycled := range []bool{false, true} {
		old, _, _ := segment(rand.New(rand.NewPCG(4, 4)), recycled)
		whole, _, starts := segment(rand.New(rand.NewPCG(4, 4)), recycled, 100, 9000, 50)
		// The two files' old content was drawn alike, so old holds what was there before the saves.
		for from := starts[1]; from < starts[2]; from += SectorBytes {
			for to := from + SectorBytes; to <= starts[2]; to += SectorBytes {
				data := bytes.Clone(whole)
				copy(data[from:to], old[from:])
				if got, _, err := read(data); !errors.Is(err, ErrDamage) {
					t.Fatalf("recycled %v: sectors %d..%d lost: read %d saves, error %v", recycled, from, to, len(got), err)
				}
			}
		}
	}
}

// TestFlip: no flipped bit changes what is read: the same saves, or an error.
func TestFlip(t *testing.T) {
	for _, recycled := range []bool{false, true} {
		data, want, _ := segment(rand.New(rand.NewPCG(5, 5)), recycled, 100, 600, 4500, 7)
		data = data[:9*BlockBytes]
		found, step := 0, 1
		if testing.Short() {
			step = 11
		}
		for i := 0; i < len(data); i += step {
			for _, mask := range []byte{1 << (i % 8), 0xff} {
				data[i] ^= mask
				_, err := DecodeHeader(data)
				if err == nil {
					var got [][]byte
					if got, _, err = read(data); err == nil && !equal(got, want) {
						t.Fatalf("recycled %v: byte %d changed by %#x: read %d other saves, no error", recycled, i, mask, len(got))
					}
				}
				if err != nil {
					found++
				}
				data[i] ^= mask
			}
		}
		if found < 2*(100+600+4500)/step {
			t.Errorf("recycled %v: %d flips were found, fewer than in the payloads alone", recycled, found)
		}
	}
}

// TestHeaderErrors: each thing wrong with a header has an error of its own.
func TestHeaderErrors(t *testing.T) {
	good := Header{Generation: 3, Schema: 4}.Encode()
	if h, err := DecodeHeader(good); err != nil || h != (Header{3, 4}) {
		t.Fatalf("DecodeHeader gives %+v, %v", h, err)
	}
	for _, c := range []struct {
		name string
		at   int
		want error
	}{{"magic", 0, ErrMagic}, {"version", 8, ErrVersion}, {"generation", 12, ErrChecksum}, {"schema", 20, ErrChecksum}, {"crc", 24, ErrChecksum}} {
		b := bytes.Clone(good)
		b[c.at] ^= 1
		if _, err := DecodeHeader(b); !errors.Is(err, c.want) {
			t.Errorf("%s changed: error %v, want %v", c.name, err, c.want)
		}
	}
	if _, err := DecodeHeader(good[:BlockBytes-1]); !errors.Is(err, ErrMagic) {
		t.Errorf("short block: error %v", err)
	}
}

// FuzzReader: no content makes the reader panic, loop, or return more than there is.
func FuzzReader(f *testing.F) {
	data, _, _ := segment(rand.New(rand.NewPCG(6, 6)), true, 100, 600, 4500)
	f.Add(data[BlockBytes:8*BlockBytes], false)
	f.Add(make([]byte, 3*BlockBytes), true)
	f.Fuzz(func(t *testing.T, saves []byte, seal bool) {
		data := append(Header{Generation: 7}.Encode(), saves...)
		if seal { // make each sector one of this life, so that what is behind the tags is reached
			for at := BlockBytes; at+SectorBytes <= len(data); at += SectorBytes {
				copy(data[at:], AppendSave(nil, 7, Save{})[:tagBytes])
			}
		}
		r := NewReader(7, data)
		total := int64(BlockBytes)
		for {
			s, ok, err := r.Next(0)
			if err != nil {
				if !errors.Is(err, ErrDamage) {
					t.Fatal(err)
				}
				return
			}
			if !ok {
				break
			}
			if total += SaveBytes(len(s.Payload)); total > int64(len(data)) {
				t.Fatalf("saves of %d bytes in a segment of %d", total, len(data))
			}
		}
		if r.Tail().Offset != total {
			t.Fatalf("tail %+v, saves end at %d", r.Tail(), total)
		}
	})
}

// FuzzHeader: no content makes the decoder panic; what it accepts is what Encode writes for it, up to the checksum.
func FuzzHeader(f *testing.F) {
	good := Header{Generation: 7, Schema: 99}.Encode()
	f.Add(good)
	f.Add(good[:BlockBytes-1])
	f.Add(make([]byte, BlockBytes))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := DecodeHeader(b)
		if err != nil {
			if !errors.Is(err, ErrMagic) && !errors.Is(err, ErrVersion) && !errors.Is(err, ErrChecksum) {
				t.Fatalf("an error without a name: %v", err)
			}
			return
		}
		if want := h.Encode(); !bytes.Equal(want[:28], b[:28]) {
			t.Fatalf("%+v is written as %x and was read from %x", h, want[:28], b[:28])
		}
	})
}
