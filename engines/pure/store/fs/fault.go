package fs

import "sync"

// Op names an operation that Fault can make fail.
type Op string

// The operations of the seam that can fail.
const (
	OpCreate  Op = "create"
	OpOpen    Op = "open"
	OpRename  Op = "rename"
	OpRemove  Op = "remove"
	OpList    Op = "list"
	OpSyncDir Op = "syncdir"
	OpRead    Op = "read"
	OpWrite   Op = "write"
	OpSync    Op = "sync"
	OpSize    Op = "size"
)

// Fault is a Dir over another that fails where Decide says so.
type Fault struct {
	Dir
	mu     sync.Mutex
	n      int
	decide func(n int, op Op) error
}

// NewFault returns dir with errors: before each operation, numbered from 1, decide is asked, one call at a time, and
// an error that it returns is the operation's, which then does nothing; a failing write leaves its first half written.
func NewFault(dir Dir, decide func(n int, op Op) error) *Fault {
	return &Fault{Dir: dir, decide: decide}
}

func (d *Fault) ask(op Op) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.n++
	return d.decide(d.n, op)
}

// Ops is the number of operations so far.
func (d *Fault) Ops() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.n
}

func (d *Fault) Create(name string) (File, error) { return d.file(OpCreate, name, d.Dir.Create) }
func (d *Fault) Open(name string) (File, error)   { return d.file(OpOpen, name, d.Dir.Open) }

func (d *Fault) file(op Op, name string, open func(string) (File, error)) (File, error) {
	if err := d.ask(op); err != nil {
		return nil, err
	}
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	return faultFile{f, d}, nil
}

func (d *Fault) Rename(from, to string) error {
	if err := d.ask(OpRename); err != nil {
		return err
	}
	return d.Dir.Rename(from, to)
}

func (d *Fault) Remove(name string) error {
	if err := d.ask(OpRemove); err != nil {
		return err
	}
	return d.Dir.Remove(name)
}

func (d *Fault) List() ([]Info, error) {
	if err := d.ask(OpList); err != nil {
		return nil, err
	}
	return d.Dir.List()
}

func (d *Fault) Sync() error {
	if err := d.ask(OpSyncDir); err != nil {
		return err
	}
	return d.Dir.Sync()
}

type faultFile struct {
	File
	d *Fault
}

func (f faultFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.d.ask(OpRead); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f faultFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.d.ask(OpWrite); err != nil {
		n, _ := f.File.WriteAt(p[:len(p)/2], off)
		return n, err
	}
	return f.File.WriteAt(p, off)
}

func (f faultFile) Sync() error {
	if err := f.d.ask(OpSync); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f faultFile) Size() (int64, error) {
	if err := f.d.ask(OpSize); err != nil {
		return 0, err
	}
	return f.File.Size()
}
