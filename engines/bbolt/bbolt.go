// Package bbolt is the adapter for bbolt (go.etcd.io/bbolt), the B+ tree in one memory-mapped file that etcd stands on.
//
// # How a commit becomes durable
//
// bbolt has no log. A transaction copies each page that it changes, the whole path up to the root, to free places of
// the file; Commit writes them, calls fdatasync, writes one of two meta pages with the new root and its checksum, and
// calls fdatasync again: two syncs per commit, and one fsync more when the file grows. Its bytes are whole pages: a
// New-Order changes some 40 of them. There is one writing transaction at a time, which makes writes serialisable;
// readers have the state of the last meta page.
//
// commit=per_transaction is DB.Update for each transaction of the benchmark, on the session's goroutine. commit=grouped
// runs all that wait in one transaction of bbolt on one goroutine (kvtpcc.Writer): what bbolt offers as DB.Batch and
// etcd does with its own batches, without the delay of 10 ms and without running anything twice, since a transaction
// that fails has written nothing.
//
// A reader that begins between the writing of a meta page and its sync sees a commit that is not durable yet. Such a one
// waits until that commit has returned; if it fails, so does the reader.
//
// # Failures
//
// After a failed write or sync bbolt reloads its list of free pages and goes on, as if the device had kept nothing of
// the transaction; if it was the sync of the meta page, the new state is in the page cache and readers see it. Both are
// more than fsync promises, so here the store has failed then: the transaction's outcome is indeterminate, and all that
// comes after, reads too, is engines.ErrFailed until the store is opened again.
//
// Pages have no checksums; the two meta pages have. bbolt panics, or takes a fault in its memory map, on pages that
// contradict themselves: all calls into it run under a guard that makes engines.ErrCorrupt of that. A file shorter than
// its meta page says is refused at Open, and where bbolt would rebuild the list of free pages, on a goroutine that no
// guard reaches, the tree is checked before (tree.go).
//
// # Layout
//
// All is one file, data.bbolt, which bbolt locks (flock). Each table and index, that is each first byte of
// kvtpcc's keys, is a bucket of its own, named by that byte; keys keep it. Each so has a tree that grows at its end
// where keys come in order, and small tables stay shallow.
package bbolt

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"tpccbench/engines"
	"tpccbench/engines/internal/kvtpcc"
	"tpccbench/tpcc"
)

// Factory opens bbolt stores.
var Factory = engines.Factory{
	Name:   "bbolt",
	Doc:    "bbolt, a B+ tree in one mapped file; two fdatasyncs per commit, of one transaction or of all that wait",
	Format: "bbolt-" + kvtpcc.Format,
	Settings: []engines.Setting{
		{Name: "commit", Doc: "one transaction per commit (DB.Update), or one commit for all that wait, as etcd does",
			Default: "per_transaction", Values: []string{"per_transaction", "grouped"}},
		{Name: "freelist", Doc: "how free pages are kept in memory; etcd runs hashmap", Default: "hashmap", Values: []string{"hashmap", "array"}},
		{Name: "freelist_sync", Doc: "write the list of free pages at each commit; off: Open reads the whole file to find them, etcd runs that",
			Default: "on", Values: []string{"on", "off"}},
		{Name: "initial_mmap_size_bytes", Doc: "address space that is mapped at Open; growing beyond it waits for all readers",
			Default: "10737418240"},
		{Name: "page_size_bytes", Doc: "size of a page", Default: "4096", Values: []string{"4096", "8192", "16384"}, InFormat: true},
		{Name: "alloc_size_bytes", Doc: "by how much the file grows, each time with an fsync more", Default: "16777216"},
	},
}

func init() { Factory.Open = open } // open asks Factory what its settings are

const (
	fileName   = "data.bbolt"
	threadName = "bbolt-writer"
	// lockPatience is how long Open waits for the file's lock; bbolt tries once if it is less than its interval of 50 ms.
	lockPatience = time.Millisecond
	// loadEntries is the number of entries in one commit of Load.
	loadEntries = 50_000
	// loadFill is how full pages are left that Load fills in the order of keys.
	loadFill = 0.9
)

type engine struct {
	dir      string
	db       *bbolt.DB
	file     *os.File // db's, to ask for its size
	settings map[string]string
	writer   *kvtpcc.Writer // commit=grouped
	shared   atomic.Pointer[kvtpcc.Shared]

	commits, syncs atomic.Int64

	writing sync.Mutex // held from a writing transaction's beginning until its outcome is known to readers
	size    int64      // of file after the last commit; with writing

	mu      sync.Mutex
	changed *sync.Cond // of durable or failed
	durable int        // number of the last durable transaction
	failed  error      // of a commit
}

func open(dir string, opt engines.Options) (engines.Engine, error) {
	if err := Factory.Check(opt); err != nil {
		return nil, err
	}
	mapped, err := bytesSetting(opt, "initial_mmap_size_bytes", 0, 1<<46)
	if err != nil {
		return nil, err
	}
	alloc, err := bytesSetting(opt, "alloc_size_bytes", 1<<16, 1<<32)
	if err != nil {
		return nil, err
	}
	page, err := bytesSetting(opt, "page_size_bytes", 4096, 16384)
	if err != nil {
		return nil, err
	}
	e := &engine{dir: dir}
	e.changed = sync.NewCond(&e.mu)
	options := &bbolt.Options{
		Timeout:         lockPatience,
		FreelistType:    bbolt.FreelistType(Factory.Get(opt, "freelist")),
		NoFreelistSync:  Factory.Get(opt, "freelist_sync") == "off",
		InitialMmapSize: mapped,
		PageSize:        page,
		OpenFile:        e.openFile,
	}
	if err := e.open(options, alloc); err != nil {
		return nil, fmt.Errorf("open the bbolt store in %s: %w", dir, err)
	}
	e.settings = map[string]string{"bbolt_version": moduleVersion()}
	for _, s := range Factory.Settings {
		e.settings[s.Name] = Factory.Get(opt, s.Name)
	}
	e.settings["page_size_bytes"] = strconv.Itoa(e.db.Info().PageSize)
	if e.settings["commit"] == "grouped" {
		e.writer = e.newWriter()
	}
	return e, nil
}

// bytesSetting reads a setting that is a number.
func bytesSetting(opt engines.Options, name string, least, most int) (int, error) {
	text := Factory.Get(opt, name)
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%w: engine bbolt: %s=%s; it must be a whole number of %d to %d", engines.ErrSetting, name, text, least, most)
	}
	return n, nil
}

// moduleVersion is the version of bbolt that the program was built with.
func moduleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "go.etcd.io/bbolt" {
				return m.Version
			}
		}
	}
	return "v1 (this program does not say which)"
}

// openFile opens the file for bbolt, and keeps hold of it.
func (e *engine) openFile(name string, flag int, mode os.FileMode) (*os.File, error) {
	file, err := os.OpenFile(name, flag, mode)
	e.file = file
	return file, err
}

// open opens the file and reads what Work needs to know of it.
func (e *engine) open(options *bbolt.Options, alloc int) error {
	path := filepath.Join(e.dir, fileName)
	found, err := look(e.dir, path)
	if err != nil {
		return err
	}
	if found {
		if err := checkFile(path); err != nil {
			return err
		}
	}
	err = guarded(func() (err error) {
		e.db, err = bbolt.Open(path, 0o644, options)
		return err
	})
	if err != nil {
		return e.openError(err, found)
	}
	e.db.AllocSize = alloc
	if !found {
		e.syncs.Add(2) // of the file's first pages and of the directory
		err = syncDirectory(e.dir)
	}
	if err == nil {
		// A process that was killed in its commit may have left a state that is not on the device yet.
		err = e.db.Sync()
		e.syncs.Add(1)
	}
	if err == nil {
		err = e.recover()
	}
	if err != nil {
		return errors.Join(err, e.db.Close())
	}
	return nil
}

// openError tells a store that is in use, one that is damaged, and the file system's errors apart. bbolt leaves the
// file open, and mapped, when it panics; the map keeps the lock beyond the file's closing.
func (e *engine) openError(err error, found bool) error {
	var number syscall.Errno
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return fmt.Errorf("%w: %s is locked", engines.ErrLocked, fileName)
	case errors.Is(err, engines.ErrCorrupt):
		// Whether bbolt has closed it before is of no interest.
		_ = syscall.Flock(int(e.file.Fd()), syscall.LOCK_UN)
		_ = e.file.Close()
		return err
	case found && !errors.As(err, &number):
		return fmt.Errorf("%w: %s: %w", engines.ErrCorrupt, fileName, err)
	}
	return err
}

// look says whether dir holds a store, and refuses a directory that is missing or holds other files and no store.
func look(dir, path string) (found bool, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, err
	}
	if _, err := os.Stat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return true, err
	}
	if len(entries) > 0 {
		return false, fmt.Errorf("the directory holds %q and no %s: give an empty one", entries[0].Name(), fileName)
	}
	return false, nil
}

func syncDirectory(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// guarded runs f and makes an error of what bbolt panics about, faults in its memory map included.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: bbolt gave up: %v", engines.ErrCorrupt, r)
		}
	}()
	return f()
}

// recover checks the format of the rows and finds the last number of HISTORY.
func (e *engine) recover() error {
	info, err := e.file.Stat()
	if err != nil {
		return err
	}
	e.size = info.Size()
	return e.view(func(r kvtpcc.Reader) error {
		empty, err := kvtpcc.Empty(r)
		if err == nil && !empty {
			err = kvtpcc.CheckFormat(r)
		}
		if err != nil {
			return err
		}
		shared, err := kvtpcc.OpenShared(r)
		e.shared.Store(shared)
		return err
	})
}

// refuses is the error of all that comes after a failure.
func (e *engine) refuses() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.failed != nil {
		return fmt.Errorf("%w: %w", engines.ErrFailed, e.failed)
	}
	return nil
}

// view runs a reading transaction on a durable state.
func (e *engine) view(run func(kvtpcc.Reader) error) error {
	if err := e.refuses(); err != nil {
		return err
	}
	return guarded(func() error {
		tx, err := e.db.Begin(false)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // fails only if it is closed
		if err := e.await(tx.ID()); err != nil {
			return err
		}
		return run(&transaction{tx: tx})
	})
}

// await returns once transaction number id is durable. The number of a state that Open has found is: it waits for
// commits of this engine only.
func (e *engine) await(id int) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.durable == 0 {
		e.durable = id // the first one that looks is Open's
	}
	for e.durable < id && e.failed == nil {
		e.changed.Wait()
	}
	if e.failed != nil {
		return fmt.Errorf("%w: %w", engines.ErrFailed, e.failed)
	}
	return nil
}

// begin begins a writing transaction, with writing held.
func (e *engine) begin() (*bbolt.Tx, error) {
	if err := e.refuses(); err != nil {
		return nil, err
	}
	return e.db.Begin(true)
}

// drop ends a writing transaction that is not to be committed, and does no harm to one that has ended.
func drop(tx *bbolt.Tx) { _ = guarded(tx.Rollback) }

// commit makes a writing transaction durable, with writing held.
func (e *engine) commit(tx *bbolt.Tx) error {
	id := tx.ID()
	err := guarded(tx.Commit)
	if err != nil {
		drop(tx) // a panic has left it open
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.changed.Broadcast()
	if err != nil {
		e.failed = fmt.Errorf("commit to %s: %w", filepath.Join(e.dir, fileName), err)
		return fmt.Errorf("%w: %w", engines.ErrIndeterminate, e.failed)
	}
	e.durable = max(e.durable, id)
	e.commits.Add(1)
	e.syncs.Add(2)
	if info, err := e.file.Stat(); err == nil && info.Size() > e.size {
		e.syncs.Add(1)
		e.size = info.Size()
	}
	return nil
}

// Load commits in parts, in the order of arrival: that is the order of keys in all trees but one index's.
func (e *engine) Load(rows iter.Seq[*tpcc.Row]) error {
	var empty bool
	err := e.view(func(r kvtpcc.Reader) (err error) {
		empty, err = kvtpcc.Empty(r)
		return err
	})
	if err != nil {
		return err
	}
	if !empty {
		return fmt.Errorf("load %s: %w", e.dir, engines.ErrNotEmpty)
	}
	if err := e.load(rows); err != nil {
		return fmt.Errorf("load %s: %w", e.dir, err)
	}
	return e.recover()
}

func (e *engine) load(rows iter.Seq[*tpcc.Row]) error {
	e.writing.Lock()
	defer e.writing.Unlock()
	t := &transaction{fill: loadFill}
	defer func() {
		if t.tx != nil {
			drop(t.tx)
		}
	}()
	entries := 0
	set := func(key, value []byte) error {
		if t.tx == nil {
			tx, err := e.begin()
			if err != nil {
				return err
			}
			t.reset(tx)
		}
		if err := t.Set(key, value); err != nil {
			return err
		}
		if entries++; entries%loadEntries != 0 {
			return nil
		}
		tx := t.tx
		t.reset(nil)
		return e.commit(tx)
	}
	if err := guarded(func() error { return kvtpcc.Load(rows, set) }); err != nil {
		return err
	}
	if t.tx == nil {
		return nil
	}
	tx := t.tx
	t.reset(nil)
	return e.commit(tx)
}

// Snapshot visits the rows of one durable state. Its pages, and those that were freed since, stay in the file until it
// is done.
func (e *engine) Snapshot(visit func(*tpcc.Row) error) error {
	return e.view(func(r kvtpcc.Reader) error { return kvtpcc.Rows(r, visit) })
}

func (e *engine) Facts() (engines.Facts, error) {
	f := engines.Facts{Settings: e.settings}
	if e.writer != nil {
		e.writer.Facts(&f)
	}
	f.Commits, f.Syncs = e.commits.Load(), e.syncs.Load()
	info, err := e.file.Stat()
	if err != nil {
		return f, err
	}
	f.FileBytes = map[string]int64{fileName: info.Size()}
	return f, nil
}

// Close ends the writer and closes the file.
func (e *engine) Close() error {
	var err error
	if e.writer != nil {
		err = e.writer.Close()
	}
	return errors.Join(err, e.db.Close())
}
