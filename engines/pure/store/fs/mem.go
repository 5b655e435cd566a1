package fs

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
)

// Mem is a directory in memory that knows what a crash may lose. It keeps, apart from what a running program sees,
// the bytes and names that are durable and, in order, all that was done to them since the last sync. Crash builds the
// directory that a machine could find after losing power at this moment.
//
// Invariants: live content = durable content + pending writes, in order; live names = durable names + pending
// operations, in order. A file is reachable while it has a live or a durable name, or is open.
type Mem struct {
	mu      sync.Mutex
	live    map[string]*memFile
	durable map[string]*memFile
	pending []dirOp
	locked  map[string]bool
	ops     int
	onOp    func(op int, what string)
}

type dirOp struct {
	from, to string // create: from "" ; remove: to ""
	file     *memFile
}

type memFile struct {
	m       *Mem
	live    []byte
	durable []byte
	pending []memWrite
}

type memWrite struct {
	off  int
	data []byte
}

// NewMem returns an empty directory.
func NewMem() *Mem {
	return &Mem{live: map[string]*memFile{}, durable: map[string]*memFile{}, locked: map[string]bool{}}
}

// OnOp has f called in every operation that changes something, numbered from 1, after it took effect on the live
// directory and before its caller is told: the moment at which a crash says most. f may call Crash, Live and
// Killed and nothing else of m.
func (m *Mem) OnOp(f func(op int, what string)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.onOp = f
}

// did counts an operation; m.mu is held.
func (m *Mem) did(what, name string) {
	m.ops++
	if m.onOp != nil {
		m.onOp(m.ops, what+" "+name)
	}
}

// Crash returns a directory as it could be after a power cut now: all that is durable, and of the rest what rng
// keeps. Each unsynced write is kept or lost by whole 4 KiB blocks, by 512-byte sectors, or as a whole; each unsynced
// change of a name is kept or lost. It must be called from within OnOp's function, or while nothing uses m.
func (m *Mem) Crash(rng *rand.Rand) *Mem {
	c := NewMem()
	files := map[*memFile]*memFile{}
	copyOf := func(f *memFile) *memFile {
		if files[f] == nil {
			files[f] = f.crash(c, rng)
		}
		return files[f]
	}
	names := maps.Clone(m.durable)
	keep := rng.Float64() // some crashes lose nearly nothing, some nearly all
	for _, op := range m.pending {
		if rng.Float64() > keep {
			continue
		}
		switch {
		case op.to == "":
			delete(names, op.from)
		case op.from == "":
			names[op.to] = op.file
		case names[op.from] == op.file:
			delete(names, op.from)
			names[op.to] = op.file
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) { // sorted, so that a seed always means the same crash
		c.live[name] = copyOf(names[name])
		c.durable[name] = c.live[name]
	}
	return c
}

func (f *memFile) crash(c *Mem, rng *rand.Rand) *memFile {
	data := slices.Clone(f.durable)
	keep := rng.Float64()
	if rng.IntN(4) == 0 {
		keep = float64(rng.IntN(2)) // all or nothing
	}
	unit := SectorBytes
	if rng.IntN(2) == 0 {
		unit = 4096
	}
	for _, w := range f.pending {
		for at := w.off; at < w.off+len(w.data); {
			end := min((at/unit+1)*unit, w.off+len(w.data))
			if rng.Float64() < keep {
				data = write(data, at, w.data[at-w.off:end-w.off])
			}
			at = end
		}
	}
	return &memFile{m: c, live: data, durable: slices.Clone(data)}
}

// write is data with p at off, grown with zeros if need be.
func write(data []byte, off int, p []byte) []byte {
	if need := off + len(p); need > len(data) {
		data = append(data, make([]byte, need-len(data))...)
	}
	copy(data[off:], p)
	return data
}

// Clone returns a copy of the live directory, all of it durable, as after a clean shutdown.
func (m *Mem) Clone() *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.Live()
}

// Live is Clone for use from within OnOp's function.
func (m *Mem) Live() *Mem {
	c := NewMem()
	for name, f := range m.live {
		c.live[name] = &memFile{m: c, live: slices.Clone(f.live), durable: slices.Clone(f.live)}
		c.durable[name] = c.live[name]
	}
	return c
}

// Killed returns the directory as the next process finds it when this one is killed now: nothing is lost, and nothing
// more has become durable. Like Live it is for use from within OnOp's function, or while nothing uses m.
func (m *Mem) Killed() *Mem {
	c := NewMem()
	files := map[*memFile]*memFile{}
	copyOf := func(f *memFile) *memFile {
		if files[f] == nil {
			files[f] = &memFile{c, slices.Clone(f.live), slices.Clone(f.durable), slices.Clone(f.pending)}
		}
		return files[f]
	}
	for name, f := range m.live {
		c.live[name] = copyOf(f)
	}
	for name, f := range m.durable {
		c.durable[name] = copyOf(f)
	}
	for _, op := range m.pending {
		op.file = copyOf(op.file)
		c.pending = append(c.pending, op)
	}
	return c
}

// Bytes is the live content of a file, not a copy; nil if there is none. A test may change it in place to damage it.
func (m *Mem) Bytes(name string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.live[name]; f != nil {
		return f.live
	}
	return nil
}

// Truncate cuts a file, durably: a test's damage.
func (m *Mem) Truncate(name string, bytes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.live[name]
	f.live = f.live[:bytes]
	f.durable = slices.Clone(f.live)
	f.pending = nil
}

func (m *Mem) Path(name string) string { return "mem:/" + name }

func (m *Mem) Create(name string) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.live[name] != nil {
		return nil, &fs.PathError{Op: "create", Path: m.Path(name), Err: fs.ErrExist}
	}
	f := &memFile{m: m}
	m.live[name] = f
	m.pending = append(m.pending, dirOp{to: name, file: f})
	m.did("create", name)
	return f, nil
}

func (m *Mem) Open(name string) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.live[name]
	if f == nil {
		return nil, &fs.PathError{Op: "open", Path: m.Path(name), Err: fs.ErrNotExist}
	}
	return f, nil
}

func (m *Mem) Rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.live[from]
	if f == nil {
		return &fs.PathError{Op: "rename", Path: m.Path(from), Err: fs.ErrNotExist}
	}
	delete(m.live, from)
	m.live[to] = f
	m.pending = append(m.pending, dirOp{from: from, to: to, file: f})
	m.did("rename", from)
	return nil
}

func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.live[name]
	if f == nil {
		return &fs.PathError{Op: "remove", Path: m.Path(name), Err: fs.ErrNotExist}
	}
	delete(m.live, name)
	m.pending = append(m.pending, dirOp{from: name, file: f})
	m.did("remove", name)
	return nil
}

func (m *Mem) List() ([]Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var infos []Info
	for _, name := range slices.Sorted(maps.Keys(m.live)) {
		infos = append(infos, Info{name, int64(len(m.live[name].live))})
	}
	return infos, nil
}

func (m *Mem) Sync() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.did("syncdir", "") // before it takes effect: a crash in the middle may lose anything
	m.durable = maps.Clone(m.live)
	m.pending = nil
	return nil
}

func (m *Mem) Lock(name string) (Unlocker, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.locked[name] {
		return nil, fmt.Errorf("%w: %s", ErrLocked, m.Path(name))
	}
	m.locked[name] = true
	return memLock{m, name}, nil
}

type memLock struct {
	m    *Mem
	name string
}

func (l memLock) Unlock() error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	delete(l.m.locked, l.name)
	return nil
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if off >= int64(len(f.live)) {
		return 0, io.EOF
	}
	n := copy(p, f.live[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.live = write(f.live, int(off), p)
	f.pending = append(f.pending, memWrite{int(off), slices.Clone(p)})
	f.m.did("write", "")
	return len(p), nil
}

func (f *memFile) Sync() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.m.did("sync", "") // before it takes effect, as for a directory
	for _, w := range f.pending {
		f.durable = write(f.durable, w.off, w.data)
	}
	f.pending = nil
	return nil
}

func (f *memFile) Size() (int64, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	return int64(len(f.live)), nil
}

func (f *memFile) Close() error { return nil }
