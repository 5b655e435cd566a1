package store

import (
	"strings"
	"sync"
	"testing"

	"tpccbench/engines/pure/store/fs"
	"tpccbench/internal/attack"
)

// lyingDir is a directory whose files say that they are synced before they are. It is what a store amounts to that
// answers before its sync, or without one: the answer comes as if the sync had been done.
type lyingDir struct {
	fs.Dir
	about func(name string, off int64) bool // it lies about a sync after a write to the file of that name at off
	late  bool                              // the sync is done with the file's next write; else never
}

func (d lyingDir) Create(name string) (fs.File, error) { return d.file(name, d.Dir.Create) }
func (d lyingDir) Open(name string) (fs.File, error)   { return d.file(name, d.Dir.Open) }

func (d lyingDir) file(name string, open func(string) (fs.File, error)) (fs.File, error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	return &lyingFile{File: f, d: d, name: name}, nil
}

type lyingFile struct {
	fs.File
	d    lyingDir
	name string // under which it was opened

	mu    sync.Mutex
	off   int64 // of the last write
	owing bool  // a sync
}

func (f *lyingFile) Sync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.d.about(f.name, f.off) {
		f.owing = true
		return nil
	}
	return f.File.Sync()
}

func (f *lyingFile) WriteAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.off = off
	if f.owing && f.d.late {
		f.owing = false
		if err := f.File.Sync(); err != nil {
			return 0, err
		}
	}
	return f.File.WriteAt(p, off)
}

// lyingNames leaves the directory's own syncs out.
type lyingNames struct{ fs.Dir }

func (lyingNames) Sync() error { return nil }

// TestLiars: the power cuts catch a store that answers before its sync or without one, whichever sync it leaves out: of
// saves, of a new segment's header, of images, of the directory. So the checker of TestPowerCut bites.
func TestLiars(t *testing.T) {
	image := func(name string, _ int64) bool { return strings.HasPrefix(name, "image") }
	save := func(name string, off int64) bool { return !image(name, off) && off > 0 }
	header := func(name string, off int64) bool { return !image(name, off) && off == 0 }
	for name, lie := range map[string]func(fs.Dir) fs.Dir{
		"save answered before its sync": func(d fs.Dir) fs.Dir { return lyingDir{d, save, true} },
		"save never synced":             func(d fs.Dir) fs.Dir { return lyingDir{d, save, false} },
		"segment never synced":          func(d fs.Dir) fs.Dir { return lyingDir{d, header, false} },
		"image never synced":            func(d fs.Dir) fs.Dir { return lyingDir{d, image, false} },
		"directory never synced":        func(d fs.Dir) fs.Dir { return lyingNames{d} },
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			const patience = 30 // schedules in which each of these liars is caught many times over
			a := attack.New(t, 1)
			for seed := range a.Rounds() {
				caught := false
				for i := range uint64(patience) {
					n, err := schedule(seed+i, lie)
					a.Count("schedules", 1)
					a.Count("reopened", n)
					if err != nil {
						t.Logf("seed %d, caught: %v", seed+i, err)
						caught = true
						break
					}
				}
				if !caught {
					t.Fatalf("seeds %d to %d: not caught", seed, seed+patience-1)
				}
				a.Count("caught", 1)
			}
		})
	}
}
