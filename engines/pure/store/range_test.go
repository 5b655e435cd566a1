package store

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"

	"tpccbench/engines/pure/store/fs"
)

// TestRanges: scans and last keys of random ranges are those of a sorted list, for keys that are dense, sparse and at
// both ends of the key space.
func TestRanges(t *testing.T) {
	const seed = 41
	rng := rand.New(rand.NewPCG(seed, 0))
	s := mustOpen(t, fs.NewMem(), Options{})
	defer mustClose(t, s)
	key := func() uint64 {
		switch rng.IntN(6) {
		case 0:
			return rng.Uint64()
		case 1:
			return math.MaxUint64 - rng.Uint64N(50)
		case 2:
			return rng.Uint64N(1<<20) << 44
		}
		return rng.Uint64N(300)
	}
	var keys []uint64
	ses := s.NewSession()
	for round := range 300 {
		if err := ses.Do(func(x *Tx) error {
			for range 3 {
				k := key()
				i, there := slices.BinarySearch(keys, k)
				switch {
				case rng.IntN(3) > 0:
					if _, ok := x.Insert(members, k); ok == there {
						return fmt.Errorf("insert of %#x: %v", k, ok)
					}
					if !there {
						keys = slices.Insert(keys, i, k)
					}
				case x.Delete(members, k) != there:
					return fmt.Errorf("delete of %#x: %v", k, !there)
				case there:
					keys = slices.Delete(keys, i, i+1)
				}
			}
			return nil
		}); err != nil {
			t.Fatalf("seed %d, round %d: %v", seed, round, err)
		}
		r := s.NewReader()
		v := r.Pin()
		for range 20 {
			from, to := key(), key()
			lo := sort.Search(len(keys), func(i int) bool { return keys[i] >= from })
			hi := sort.Search(len(keys), func(i int) bool { return keys[i] > to })
			want := keys[lo:max(lo, hi)]
			var got []uint64
			for c := v.Scan(members, from, to); c.Next(); {
				got = append(got, c.Key())
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, round %d: scan %#x..%#x gives %d keys, want %d", seed, round, from, to, len(got), len(want))
			}
			last, _, ok := v.Last(members, from, to)
			if ok != (len(want) > 0) || ok && last != want[len(want)-1] {
				t.Fatalf("seed %d, round %d: last of %#x..%#x is %#x, %v; want %d keys", seed, round, from, to, last, ok, len(want))
			}
		}
		r.Close()
	}
}

// TestOwnerThread: the owner's thread has its name.
func TestOwnerThread(t *testing.T) {
	s := mustOpen(t, fs.NewMem(), Options{})
	defer mustClose(t, s)
	name, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/comm", s.Stats().OwnerTID))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(name)); got != OwnerThread {
		t.Errorf("thread %d is named %q, want %q", s.Stats().OwnerTID, got, OwnerThread)
	}
}

// TestDoAllocates: handing a transaction over allocates nothing but the save's version.
func TestDoAllocates(t *testing.T) {
	s := mustOpen(t, fs.NewMem(), Options{})
	defer mustClose(t, s)
	ses := s.NewSession()
	nothing := func(x *Tx) error { _, _ = x.Edit(accounts, 1); return nil }
	if err := ses.Do(func(x *Tx) error { x.Insert(accounts, 1); return nil }); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		if err := ses.Do(nothing); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations per transaction", n)
	}
}

// TestSchemaErrors: each schema that cannot be is refused with a reason.
func TestSchemaErrors(t *testing.T) {
	k := []Part{{"k", 8}}
	for reason, s := range map[string]Schema{
		"0 tables":     {},
		"no key":       {Tables: []Table{{Name: "a"}}},
		"no name":      {Tables: []Table{{Key: k}}},
		"two tables":   {Tables: []Table{{Name: "a", Key: k}, {Name: "a", Key: k}}},
		"used twice":   {Tables: []Table{{Name: "a", Key: k, Fields: []Field{{Name: "k", Bits: 1}}}}},
		"0 bits":       {Tables: []Table{{Name: "a", Key: []Part{{"k", 0}}}}},
		"65 bits":      {Tables: []Table{{Name: "a", Key: []Part{{"k", 33}, {"l", 32}}}}},
		"no column":    {Tables: []Table{{Name: "a", Key: k, Indexes: []Index{{"x", []string{"y"}}}}}},
		"signed":       {Tables: []Table{{Name: "a", Key: k, Fields: []Field{{"f", 3, true, FromOld}}, Indexes: []Index{{"x", []string{"f"}}}}}},
		"append order": {Tables: []Table{{Name: "a", Key: k, Append: true}}},
	} {
		if _, err := Open(fs.NewMem(), s, Options{}); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("want an error with %q: %v", reason, err)
		}
	}
}

// TestFields: fields of all widths hold their bounds beside each other, and nothing beyond.
func TestFields(t *testing.T) {
	var fields []Field
	for bits := 1; bits <= 64; bits++ {
		fields = append(fields, Field{Name: fmt.Sprint(bits), Bits: bits, Signed: bits%2 == 0})
	}
	packed, words := pack(fields)
	rng := rand.New(rand.NewPCG(51, 0))
	row, want := make([]uint64, words), make([]int64, len(fields))
	for range 20_000 {
		i := rng.IntN(len(fields))
		want[i] = drawValue(rng, fields[i])
		if !packed[i].set(row, want[i]) {
			t.Fatalf("field of %d bits does not take %d", fields[i].Bits, want[i])
		}
		if bits := fields[i].Bits; bits < 63 {
			for _, v := range []int64{1 << bits, -1<<bits - 1} {
				if packed[i].set(row, v) {
					t.Fatalf("field of %d bits takes %d", bits, v)
				}
			}
		}
		for j := range fields {
			if got := packed[j].get(row); got != want[j] {
				t.Fatalf("field of %d bits is %d, want %d", fields[j].Bits, got, want[j])
			}
		}
	}
}
