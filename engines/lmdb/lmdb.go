//go:build cgo && lmdb

package lmdb

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"

	"tpccbench/engines"
	"tpccbench/engines/internal/kvtpcc"
	"tpccbench/tpcc"
)

func init() { Factory.Open = open } // open asks Factory what its settings are

const (
	mdbLock    = "lock.mdb"
	lockName   = "lock"
	threadName = "lmdb-writer"
	// fullBelow is the free space, in bytes, below which a failed write is laid to a full disk.
	fullBelow = 1 << 20
	// loadEntries is the number of entries in one commit of Load.
	loadEntries = 50_000
)

type engine struct {
	dir      string
	lock     *os.File
	env      *env
	settings map[string]string
	writer   *kvtpcc.Writer // commit=grouped
	shared   atomic.Pointer[kvtpcc.Shared]
	commits  atomic.Int64

	mu     sync.Mutex // of failed
	failed error      // of a commit
}

func open(dir string, opt engines.Options) (engines.Engine, error) {
	if err := Factory.Check(opt); err != nil {
		return nil, err
	}
	text := Factory.Get(opt, "map_size_bytes")
	mapSize, err := strconv.ParseInt(text, 10, 64)
	if err != nil || mapSize < 1<<18 || mapSize > 1<<46 || mapSize%int64(os.Getpagesize()) != 0 {
		return nil, fmt.Errorf("%w: engine lmdb: map_size_bytes=%s; it must be a multiple of %d from 256 KiB to 64 TiB", engines.ErrSetting, text, os.Getpagesize())
	}
	e := &engine{dir: dir}
	if err := e.open(mapSize); err != nil {
		return nil, fmt.Errorf("open the LMDB store in %s: %w", dir, err)
	}
	e.settings = map[string]string{"lmdb_version": version()}
	for _, s := range Factory.Settings {
		e.settings[s.Name] = Factory.Get(opt, s.Name)
	}
	if e.settings["commit"] == "grouped" {
		e.writer = e.newWriter()
	}
	return e, nil
}

func (e *engine) open(mapSize int64) (err error) {
	if err := look(e.dir); err != nil {
		return err
	}
	if e.lock, err = lockDir(e.dir); err != nil {
		return err
	}
	if err = checkFile(filepath.Join(e.dir, dataName)); err == nil {
		e.env, err = openEnv(e.dir, mapSize)
	}
	if err == nil {
		if err = syncDirectory(e.dir); err == nil {
			err = e.recover()
		}
		if err != nil {
			e.env.close()
		}
	}
	if err != nil {
		return errors.Join(err, e.lock.Close())
	}
	return nil
}

// look refuses a directory that is missing or holds other files and no store.
func look(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, dataName)); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		if name := entry.Name(); name != lockName && name != mdbLock {
			return fmt.Errorf("the directory holds %q and no %s: give an empty one", name, dataName)
		}
	}
	return nil
}

// lockDir takes the directory for this Engine, or fails with engines.ErrLocked. Closing the file gives it back.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("%w: %s is locked", engines.ErrLocked, lockName)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func syncDirectory(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// recover checks the format of the rows and finds the last number of HISTORY.
func (e *engine) recover() error {
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

// view runs a reading transaction of its own.
func (e *engine) view(run func(kvtpcc.Reader) error) error {
	if err := e.refuses(); err != nil {
		return err
	}
	tx, err := e.env.begin(false)
	if err != nil {
		return err
	}
	defer tx.abort()
	return run(tx)
}

// commit makes a writing transaction durable.
func (e *engine) commit(tx *transaction) error {
	if err := tx.commit(); err != nil {
		var st syscall.Statfs_t
		// What LMDB says of a write that was cut short is EIO.
		if errors.Is(err, syscall.EIO) && syscall.Statfs(e.dir, &st) == nil && int64(st.Bavail)*st.Bsize < fullBelow {
			err = fmt.Errorf("%w: %w", syscall.ENOSPC, err)
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.failed = fmt.Errorf("commit to %s: %w", filepath.Join(e.dir, dataName), err)
		return fmt.Errorf("%w: %w", engines.ErrIndeterminate, e.failed)
	}
	e.commits.Add(1)
	return nil
}

// Snapshot visits the rows of one durable state. Pages that were freed since stay unused until it is done.
func (e *engine) Snapshot(visit func(*tpcc.Row) error) error {
	return e.view(func(r kvtpcc.Reader) error { return kvtpcc.Rows(r, visit) })
}

func (e *engine) Facts() (engines.Facts, error) {
	f := engines.Facts{Settings: e.settings, FileBytes: map[string]int64{}}
	if e.writer != nil {
		e.writer.Facts(&f)
	}
	f.Commits = e.commits.Load()
	f.Syncs = 2 + 2*f.Commits // Open's of the file and the directory, and see the package's comment
	for _, name := range []string{dataName, mdbLock, lockName} {
		info, err := os.Stat(filepath.Join(e.dir, name))
		if err != nil {
			return f, err
		}
		f.FileBytes[name] = info.Size()
	}
	return f, nil
}

// Close ends the writer and closes the environment.
func (e *engine) Close() error {
	var err error
	if e.writer != nil {
		err = e.writer.Close()
	}
	e.env.close()
	return errors.Join(err, e.lock.Close())
}

// Load puts the tables in the order of arrival, which is that of keys, then the indexes sorted.
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
	l := loader{engine: e}
	if err := l.load(rows); err != nil {
		return fmt.Errorf("load %s: %w", e.dir, err)
	}
	return e.recover()
}

// loader is one Load.
type loader struct {
	engine  *engine
	tx      *transaction // nil between commits
	entries int
	index   [][]byte // keys of the indexes; their values are empty
	format  [2][]byte
}

func (l *loader) load(rows iter.Seq[*tpcc.Row]) (err error) {
	unlock := lockThread()
	defer unlock()
	defer func() {
		if l.tx != nil {
			l.tx.abort()
		}
	}()
	if err := kvtpcc.Load(rows, l.take); err != nil {
		return err
	}
	slices.SortFunc(l.index, bytes.Compare)
	for _, key := range l.index {
		if err := l.add(key, nil); err != nil {
			return err
		}
	}
	if err := l.add(l.format[0], l.format[1]); err != nil {
		return err
	}
	return l.commit()
}

// take keeps the indexes and the format, which sorts before all and comes after all, for later.
func (l *loader) take(key, value []byte) error {
	switch {
	case kvtpcc.IsIndex(key):
		l.index = append(l.index, bytes.Clone(key))
		return nil
	case kvtpcc.IsFormat(key):
		l.format = [2][]byte{bytes.Clone(key), bytes.Clone(value)}
		return nil
	}
	return l.add(key, value)
}

func (l *loader) add(key, value []byte) (err error) {
	if l.tx == nil {
		if l.tx, err = l.engine.env.begin(true); err != nil {
			l.tx = nil
			return err
		}
	}
	if err := l.tx.add(key, value); err != nil {
		return err
	}
	if l.entries++; l.entries%loadEntries != 0 {
		return nil
	}
	return l.commit()
}

func (l *loader) commit() error {
	if l.tx == nil {
		return nil
	}
	tx := l.tx
	l.tx = nil
	return l.engine.commit(tx)
}
