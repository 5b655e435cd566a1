package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tpccbench/engines/pure/store/fs"
	"tpccbench/engines/pure/store/reclog"
	"tpccbench/internal/attack"
)

// aged makes a directory of a store that has lived for a while, with images, recycled segments and spares, of options
// drawn from rng, and knows the states that it went through.
func aged(rng *rand.Rand, groups int) (dir *fs.Mem, h *history, err error) {
	opt := Options{LogSegmentBytes: 16<<10 + rng.Int64N(200<<10), CheckpointMinBytes: 32<<10 + rng.Int64N(512<<10), CheckpointLogRatio: 0.1}
	dir = fs.NewMem()
	s, err := Open(dir, testSchema, opt)
	if err != nil {
		return nil, nil, err
	}
	h = newHistory(rng, s, newModel())
	for range groups {
		if err := h.group(); err != nil {
			return nil, nil, errors.Join(err, s.Close())
		}
	}
	return dir, h, s.Close()
}

// opens opens a damaged directory and checks that the store holds a whole save, not older than least, or says what is
// damaged: the error names one of the damaged files.
func (h *history) opens(dir *fs.Mem, least uint64, damaged []string) (refused bool, err error) {
	s, err := Open(dir, testSchema, smallOptions)
	if err != nil {
		for _, name := range damaged {
			if errors.Is(err, ErrCorrupt) && strings.Contains(err.Error(), name) && !strings.Contains(err.Error(), "\n") {
				return true, nil
			}
		}
		return true, fmt.Errorf("the error does not say what is damaged: %w", err)
	}
	return false, errors.Join(h.holds(s, least), s.Close())
}

// TestBitRot: bits flipped anywhere in larger stores, in one file or several, leave the last state, or an error that
// names a file with them.
func TestBitRot(t *testing.T) {
	a := attack.New(t, 2)
	for seed := range a.Rounds() {
		rng := rand.New(rand.NewPCG(seed, 0))
		dir, h, err := aged(rng, 200+rng.IntN(400))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		last := h.s.current.Load().sequence
		names := files(t, dir, "")
		for flip := range 100 {
			c := dir.Clone()
			var damaged []string
			what := ""
			for range 1 + rng.IntN(3) {
				name := names[rng.IntN(len(names))]
				data := c.Bytes(name)
				if len(data) == 0 {
					continue
				}
				at := rng.IntN(len(data))
				if rng.IntN(4) == 0 {
					at = rng.IntN(min(len(data), 200))
				}
				mask := byte(1 << rng.IntN(8))
				data[at] ^= mask
				damaged = append(damaged, name)
				what += fmt.Sprintf(" %s[%d]^%#x", name, at, mask)
				a.Count("flips", 1)
			}
			refused, err := h.opens(c, last, damaged)
			if err != nil {
				t.Fatalf("seed %d, flip %d,%s: %v", seed, flip, what, err)
			}
			if refused {
				a.Count("refused", 1)
			} else {
				a.Count("reopened", 1)
			}
		}
	}
}

// TestLostPieces: larger stores whose files were cut short, or lost whole sectors to zeros, hold a whole save, or say
// which file is damaged. Only the last segment that was written may lose saves without an error: that is what a crash
// leaves.
func TestLostPieces(t *testing.T) {
	a := attack.New(t, 2)
	for seed := range a.Rounds() {
		rng := rand.New(rand.NewPCG(seed, 0))
		dir, h, err := aged(rng, 200+rng.IntN(400))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		last := h.s.current.Load().sequence
		names := files(t, dir, "")
		lastLog, err := h.newest(dir)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for round := range 100 {
			name := names[rng.IntN(len(names))]
			if rng.IntN(3) == 0 {
				name = lastLog
			}
			c := dir.Clone()
			data := c.Bytes(name)
			if len(data) == 0 {
				continue
			}
			what := ""
			if rng.IntN(2) == 0 {
				cut := rng.IntN(len(data))
				c.Truncate(name, cut)
				what = fmt.Sprintf("%s cut at %d", name, cut)
				a.Count("truncations", 1)
			} else {
				from := rng.IntN(len(data)/fs.SectorBytes + 1)
				n := 1 + rng.IntN(20)
				clear(data[from*fs.SectorBytes : min((from+n)*fs.SectorBytes, len(data))])
				what = fmt.Sprintf("%s without sectors %d to %d", name, from, from+n)
				a.Count("erasures", 1)
			}
			least, damaged := last, []string{name}
			if name == lastLog {
				least = 0
			}
			// A segment that lost its end shows by the gap before the next one.
			if i := slices.Index(names, name); i+1 < len(names) {
				damaged = append(damaged, names[i+1])
			}
			refused, err := h.opens(c, least, damaged)
			if err != nil {
				t.Fatalf("seed %d, round %d, %s: %v", seed, round, what, err)
			}
			if refused {
				a.Count("refused", 1)
			} else {
				a.Count("reopened", 1)
			}
		}
	}
}

// newest is the last segment that holds saves that the image does not: without what is behind its header the store is
// refused, or older.
func (h *history) newest(dir *fs.Mem) (newest string, err error) {
	list, err := dir.List()
	if err != nil {
		return "", err
	}
	for _, f := range list {
		if !strings.HasPrefix(f.Name, "log-") {
			continue
		}
		c := dir.Clone()
		clear(c.Bytes(f.Name)[reclog.BlockBytes:])
		s, err := Open(c, testSchema, smallOptions)
		if err != nil {
			newest = f.Name
			continue
		}
		if s.current.Load().sequence != h.s.current.Load().sequence {
			newest = f.Name
		}
		if err := s.Close(); err != nil {
			return "", err
		}
	}
	return newest, nil
}
