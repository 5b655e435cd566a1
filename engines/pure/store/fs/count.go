package fs

import "sync/atomic"

// Counted is a Dir over another that counts syncs.
type Counted struct {
	Dir
	syncs atomic.Int64
}

// Count returns dir with a counter.
func Count(dir Dir) *Counted { return &Counted{Dir: dir} }

// Syncs is the number of syncs so far, of files and of the directory, those that failed included.
func (d *Counted) Syncs() int64 { return d.syncs.Load() }

func (d *Counted) Create(name string) (File, error) { return d.file(d.Dir.Create(name)) }
func (d *Counted) Open(name string) (File, error)   { return d.file(d.Dir.Open(name)) }

func (d *Counted) file(f File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return countedFile{f, d}, nil
}

func (d *Counted) Sync() error {
	d.syncs.Add(1)
	return d.Dir.Sync()
}

type countedFile struct {
	File
	d *Counted
}

func (f countedFile) Sync() error {
	f.d.syncs.Add(1)
	return f.File.Sync()
}
