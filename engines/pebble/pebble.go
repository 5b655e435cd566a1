// Package pebble is the adapter for Pebble v2.1, the LSM tree of CockroachDB.
//
// # What a commit is
//
// A write transaction is one indexed batch: it reads through it, and its commit is one record of the WAL. Pebble's
// commit pipeline writes the records of all sessions one after the other into the WAL, and one goroutine syncs it
// (fdatasync) again and again, each time for all records that have come meanwhile: Pebble groups by itself. A
// transaction is answered after a sync that came after its record.
//
// # Where the bytes go
//
// WAL (NNNNNN.log, recycled), then, once a memtable is full, a table of level 0 (flush), then tables of lower levels
// (compaction); MANIFEST-NNNNNN lists the tables. Facts.LogBytes is what was written to WAL files,
// Facts.CheckpointBytes what was written to tables, by flushes and compactions alike, the running ones included;
// Facts.CheckpointNS is the time that flushes and compactions took, and Facts.Checkpoints counts the flushes that wrote
// a table. Facts.Commits counts the syncs of WAL files, which are the groups; Facts.Syncs those of all files and of the
// directory.
//
// # Serialisable
//
// Pebble has no transactions that detect conflicts; keeping them apart is the adapter's duty. concurrency=warehouse
// (the default, as CockroachDB does it: latches above a store whose pipeline groups the syncs): a transaction holds a
// lock for each warehouse that it touches, taken in ascending order. All that a transaction reads and another changes
// belongs to a warehouse (ITEM never changes). The locks are let go as soon as the batch is applied, before it is
// durable, so that transactions of one warehouse share syncs too. That is enough: whoever reads what is applied and not
// yet durable writes its own record later in the WAL, and a WAL is synced from its beginning to its end; a WAL file is
// synced and closed before the next one is begun. So a transaction that is durable has everything that it has read
// durable before it, and after a crash either both are there or the later one is not. A New-Order that rolls back writes
// no record; it waits like a read, see below. concurrency=writer: one goroutine runs all transactions that wait in one
// batch, with one synced commit (kvtpcc.Writer).
//
// # Reads
//
// Order-Status and Stock-Level run on a Snapshot. What is applied is visible before it is durable; so a read is
// answered only when all commits that had begun when its snapshot was there have been synced. The snapshot is then one
// commit point, whole and durable, that holds all that had been acknowledged before.
//
// # After a failed write or sync
//
// Pebble itself means the process to die then. The adapter keeps the first failure of any write, sync, creation or
// rename from Pebble and drops all later changes of the directory (see files): transactions in flight get
// engines.ErrIndeterminate, all later ones engines.ErrFailed, and the files stay as a crash would have left them. A
// full disk during a flush is such a failure too. What Pebble reports as fatal by itself (Logger.Fatalf) has the same
// effect; the process never ends.
package pebble

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"tpccbench/engines"
	"tpccbench/engines/internal/kvtpcc"
	"tpccbench/tpcc"
)

// Factory opens Pebble stores.
var Factory = engines.Factory{
	Name:     "pebble",
	Doc:      "Pebble (LSM tree of CockroachDB), one batch per transaction, WAL synced for all that wait; stops at the first failed sync",
	Format:   "pebble-" + kvtpcc.Format,
	Settings: settings,
}

func init() { Factory.Open = open } // open asks Factory what its settings are

var errLost = errors.New("the file was not made, since an earlier write or sync failed")

// loadBatchBytes is how large a batch of Load grows: large enough that batches cost nothing, small beside a memtable.
const loadBatchBytes = 1 << 20

// threadName is what the writer's thread is called in /proc (15 bytes at most).
const threadName = "pebble-writer"

type engine struct {
	db      *pebble.DB
	fs      *files
	dir     string
	jobs    *jobs
	locks   kvtpcc.Locks // concurrency=warehouse
	writer  *kvtpcc.Writer
	shared  atomic.Pointer[kvtpcc.Shared]
	running *outstanding
	// settings are those of Facts.
	settings map[string]string
}

func open(dir string, opt engines.Options) (engines.Engine, error) {
	return openIn(vfs.Default, dir, opt)
}

// openIn opens the store that lies in a directory of a file system. Factory.Open does so in the operating system's.
func openIn(under vfs.FS, dir string, opt engines.Options) (_ engines.Engine, err error) {
	if err := Factory.Check(opt); err != nil {
		return nil, err
	}
	options, err := pebbleOptions(opt)
	if err != nil {
		return nil, err
	}
	found, err := look(under, dir)
	if err != nil {
		return nil, fmt.Errorf("open the Pebble store in %s: %w", dir, err)
	}
	e := &engine{fs: &files{FS: under}, dir: dir, jobs: newJobs(), running: newOutstanding()}
	options.FS = e.fs
	options.Logger = logger{e.fs}
	options.EventListener = e.jobs.listener()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("open the Pebble store in %s: %w: Pebble gave up: %v", dir, engines.ErrCorrupt, r)
		}
	}()
	if e.db, err = pebble.Open(canonical(under, dir), options); err != nil {
		return nil, fmt.Errorf("open the Pebble store in %s: %w", dir, openError(err, e.fs.failed(), found))
	}
	if err := e.start(opt); err != nil {
		return nil, errors.Join(fmt.Errorf("open the Pebble store in %s: %w", dir, err), e.db.Close())
	}
	return e, nil
}

// canonical is the one path of a directory, so that Pebble's list of locked directories knows it under every name.
func canonical(under vfs.FS, dir string) string {
	if under != vfs.Default {
		return dir
	}
	if abs, err := filepath.Abs(dir); err == nil {
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			return real
		}
	}
	return dir
}

// look says whether dir holds a store, and refuses a directory that is missing or holds other files and no store.
func look(under vfs.FS, dir string) (store bool, err error) {
	info, err := under.Stat(dir)
	if err != nil {
		return false, err
	}
	if !info.IsDir() {
		return false, fmt.Errorf("%s is not a directory", dir)
	}
	names, err := under.List(dir)
	if err != nil {
		return false, err
	}
	foreign, table := "", ""
	for _, name := range names {
		switch {
		case strings.HasPrefix(name, "marker.manifest."):
			store = true
		case strings.HasSuffix(name, ".sst"):
			table = name
		case name == "LOCK", strings.HasPrefix(name, "MANIFEST-"), strings.HasPrefix(name, "OPTIONS-"),
			strings.HasPrefix(name, "marker."), strings.HasSuffix(name, ".log"), strings.HasSuffix(name, ".dbtmp"):
		default:
			foreign = name
		}
	}
	switch {
	case store:
		return true, nil
	case foreign != "":
		return false, fmt.Errorf("the directory holds %q and no store: give an empty one", foreign)
	case table != "":
		return false, fmt.Errorf("%w: there is %s and no marker.manifest file that says which MANIFEST counts", engines.ErrCorrupt, table)
	}
	return false, nil
}

// openError tells a store that is in use, one that is damaged, and the file system's errors apart. What fails in a
// directory that holds a store and is no error of the operating system's is damage, and so is a file that is missing.
func openError(err, failure error, found bool) error {
	if failure != nil {
		return failure
	}
	if strings.Contains(err.Error(), "lock held by current process") || errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) && found && locked(err) {
		return fmt.Errorf("%w: %w", engines.ErrLocked, err)
	}
	var number syscall.Errno
	if found && (!errors.As(err, &number) || errors.Is(err, fs.ErrNotExist)) {
		return fmt.Errorf("%w: %w", engines.ErrCorrupt, err)
	}
	return err
}

// locked says whether err is fcntl's answer for a lock that another process holds, rather than one of open or write.
func locked(err error) bool {
	var path *fs.PathError
	return !errors.As(err, &path)
}

// start reads what the store holds and makes the writer.
func (e *engine) start(opt engines.Options) error {
	if err := e.fs.failed(); err != nil {
		return err
	}
	if err := e.recover(); err != nil {
		return err
	}
	e.settings = map[string]string{
		"pebble_version":       moduleVersion(),
		"format_major_version": e.db.FormatMajorVersion().String(),
	}
	for _, s := range settings {
		e.settings[s.Name] = Factory.Get(opt, s.Name)
	}
	if e.settings["concurrency"] == "writer" {
		e.writer = newWriter(e)
	}
	return nil
}

// recover checks the format of the rows and finds the last number of HISTORY.
func (e *engine) recover() error {
	r := &reader{fs: e.fs, view: e.db}
	empty, err := kvtpcc.Empty(r)
	if err == nil && !empty {
		err = kvtpcc.CheckFormat(r)
	}
	var shared *kvtpcc.Shared
	if err == nil {
		shared, err = kvtpcc.OpenShared(r)
	}
	e.shared.Store(shared)
	return errors.Join(err, r.close())
}

// moduleVersion is the version of Pebble that the program was built with.
func moduleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "github.com/cockroachdb/pebble/v2" {
				return m.Version
			}
		}
	}
	return "v2 (this program does not say which)"
}

// translate adds the contract's error to one of Pebble's. After a failure the store has failed, whatever Pebble says: it
// may find a table damaged of which it thinks that it was written.
func (fs *files) translate(err error) error {
	if failure := fs.failed(); err != nil && failure != nil {
		return fmt.Errorf("%w: %w", engines.ErrFailed, failure)
	}
	if err != nil && pebble.IsCorruptionError(err) {
		return fmt.Errorf("%w: %w", engines.ErrCorrupt, err)
	}
	return err
}

// refuses is the error of all that comes after a failure.
func (e *engine) refuses() error {
	if err := e.fs.failed(); err != nil {
		return fmt.Errorf("%w: %w", engines.ErrFailed, err)
	}
	return nil
}

// Load writes batch after batch without a sync, and then flushes all of them to synced tables.
func (e *engine) Load(rows iter.Seq[*tpcc.Row]) error {
	r := &reader{fs: e.fs, view: e.db}
	empty, err := kvtpcc.Empty(r)
	if err := errors.Join(err, r.close()); err != nil {
		return err
	}
	if !empty {
		return fmt.Errorf("load %s: %w", e.dir, engines.ErrNotEmpty)
	}
	b := e.db.NewBatchWithSize(loadBatchBytes + loadBatchBytes/8)
	err = kvtpcc.Load(rows, func(key, value []byte) error {
		if err := b.Set(key, value, nil); err != nil || b.Len() < loadBatchBytes {
			return err
		}
		if err := e.db.Apply(b, pebble.NoSync); err != nil {
			return err
		}
		b.Reset()
		return e.refuses()
	})
	if err == nil {
		err = e.db.Apply(b, pebble.NoSync)
	}
	if err := errors.Join(err, b.Close()); err != nil {
		return fmt.Errorf("load %s: %w", e.dir, e.fs.translate(err))
	}
	if err := e.db.Flush(); err != nil {
		return fmt.Errorf("load %s: %w", e.dir, e.fs.translate(err))
	}
	if err := e.refuses(); err != nil {
		return fmt.Errorf("load %s: %w", e.dir, err)
	}
	return e.recover()
}

// commit makes a batch durable. It calls applied, in any case and once, as soon as the batch is visible, and closes the
// batch.
func (e *engine) commit(b *pebble.Batch, applied func()) (err error) {
	number := e.running.begin()
	visible := false
	defer func() {
		// Pebble panics rather than work on after some failures.
		if r := recover(); r != nil {
			e.fs.fail(fmt.Errorf("commit to %s: Pebble gave up: %v", e.dir, r))
		}
		if !visible {
			applied()
		}
		e.running.end(number)
		if failure := e.fs.failed(); failure != nil {
			err = fmt.Errorf("%w: %w: %w", engines.ErrIndeterminate, engines.ErrFailed, failure)
		}
	}()
	err = e.db.ApplyNoSyncWait(b, pebble.Sync)
	visible = true
	applied()
	if err != nil {
		return err
	}
	if err := b.SyncWait(); err != nil {
		e.fs.fail(fmt.Errorf("sync the WAL of %s: %w", e.dir, err))
		return nil // see the deferred function
	}
	return b.Close()
}

// durable waits until all that was visible before the call is durable.
func (e *engine) durable() error {
	e.running.wait()
	return e.refuses()
}

// Snapshot visits the rows of one durable commit point.
func (e *engine) Snapshot(visit func(*tpcc.Row) error) error {
	if err := e.refuses(); err != nil {
		return err
	}
	s := e.db.NewSnapshot()
	r := &reader{fs: e.fs, view: s}
	err := e.durable()
	if err == nil {
		err = kvtpcc.Rows(r, visit)
	}
	if closeErr := errors.Join(r.close(), s.Close()); closeErr != nil {
		return errors.Join(err, closeErr)
	}
	return err
}

func (e *engine) Facts() (engines.Facts, error) {
	f := engines.Facts{
		Commits: e.fs.logSyncs.Load(), Syncs: e.fs.syncs.Load(), LogBytes: e.fs.logBytes.Load(), TempBytes: 0,
		FileBytes: map[string]int64{}, Settings: e.settings,
	}
	f.Checkpoints, f.CheckpointNS = e.jobs.facts()
	f.CheckpointBytes = e.fs.tableBytes.Load()
	if e.writer != nil {
		grouped := engines.Facts{}
		e.writer.Facts(&grouped)
		f.OwnerTID, f.BusyNS = grouped.OwnerTID, grouped.BusyNS
	}
	names, err := e.fs.List(e.dir)
	if err != nil {
		return f, err
	}
	for _, name := range names {
		info, err := e.fs.Stat(e.fs.PathJoin(e.dir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted meanwhile
		}
		if err != nil {
			return f, err
		}
		f.FileBytes[name] = info.Size()
	}
	return f, nil
}

// Close ends the writer and closes the store. After a failure Pebble may find its files not as it thinks; nothing that
// it says then is news.
func (e *engine) Close() (err error) {
	if e.writer != nil {
		err = e.writer.Close()
	}
	defer func() {
		r := recover()
		if failure := e.refuses(); failure != nil {
			err = failure
		} else if r != nil {
			err = fmt.Errorf("close the Pebble store in %s: %v", e.dir, r)
		}
	}()
	return errors.Join(err, e.db.Close())
}
