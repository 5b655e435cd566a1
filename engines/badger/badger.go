// Package badger is the adapter for Badger v4, the LSM tree of Dgraph.
//
// # What a commit is
//
// A transaction of Badger is one request; with SyncWrites, which this adapter always sets, it is answered after it is
// in the WAL of the memtable (NNNNN.mem) and that is synced. All its files are mapped, so writing is a copy into the
// map and a sync is msync(MS_SYNC) of the whole map. Badger takes all requests that wait as a group, and then, for each
// request of the group by itself, writes its records and syncs the WAL: its group shares no sync. Before that it syncs
// the value log once for each group, whether anything was written to it or not. So a commit costs one msync of the WAL
// and up to one more of the value log. A new WAL is made without a sync of the directory: that its name is there after
// a loss of power is left to the file system (ext4 keeps it: the sync of a new file writes its name too).
//
// # Serialisable
//
// concurrency=optimistic: Badger's own serialisable snapshot isolation. A transaction reads one snapshot, and Badger
// refuses its commit (ErrConflict) if a key that it has read was written meanwhile. It does not notice new keys in a
// range that was read; in this mix each range that a transaction reads and another one fills is guarded by a row or a
// key that both read or write (a district's D_NEXT_O_ID, the oldest order of a Delivery), or its new keys may as well
// have come later. A refused transaction runs again from its start, on new reads; after maxConflicts refusals it runs
// alone, so that none starves. Facts.Settings counts the refusals (conflicts).
//
// concurrency=warehouse: a lock for each warehouse that the transaction touches, taken in ascending order and held
// until its commit has been answered; Badger's detection is off. concurrency=writer, the default: one goroutine runs
// all transactions that wait as one transaction of Badger, so that they share one sync (kvtpcc.Writer), which Badger
// does not do by itself; detection is off.
//
// # Reads
//
// A transaction of Badger begins by waiting for all commits before it, syncs included, and sees nothing of later ones:
// what Order-Status and Stock-Level read is one commit point, whole and durable.
//
// # Where the bytes go
//
// WAL of the memtable, then a table of level 0 once a memtable is full, then tables of lower levels. Values from
// value_threshold_bytes on go to the value log (NNNNNN.vlog) instead; by default none does, since no row is that large,
// and Badger's own default is the same. The garbage of the value log is looked for every gcInterval, as Badger's
// documentation asks. Badger does not count its syncs, its WAL's bytes or those of one database's flushes and
// compactions (it has counts for the whole process only): these Facts are unknown.
//
// # After a failed write or sync
//
// Badger acknowledges after a failed sync of the value log: it writes a line to its log and goes on. After a failed
// sync of the WAL the group gets the error, and the next group is written and acknowledged as if nothing were. The
// adapter has Badger's log come to itself, and Badger writes either line before it answers (value log) or takes the
// next group (WAL); so from the first such line on nothing is acknowledged any more: what is in flight gets
// engines.ErrIndeterminate, all later transactions engines.ErrFailed. A memtable that cannot be flushed counts as a
// failure too; Badger tries that again for ever, and Close waits for it. A disk that runs full under a mapped file ends
// the process by SIGBUS: so the adapter accepts no write while fewer than spareMemtables memtables would find room on
// the file system. What it cannot help: a large compaction, or another program, that fills even that, and assertions of
// Badger's that end the process by log.Fatal.
//
// # Damage
//
// Open reads every table with its checksums before Badger does (verify.go). A WAL whose records do not match their
// checksums is cut off there by Badger, without a word: it takes all that comes after for the tail of a crash.
package badger

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"
	"golang.org/x/sys/unix"

	"tpccbench/engines"
	"tpccbench/engines/internal/kvtpcc"
	"tpccbench/tpcc"
)

// Factory opens Badger stores.
var Factory = engines.Factory{
	Name: "badger",
	Doc: "Badger (LSM tree of Dgraph), SyncWrites: WAL synced by msync once per commit; Badger goes on after a failed sync, " +
		"the adapter stops",
	Format:   "badger-" + kvtpcc.Format,
	Settings: settings,
}

func init() { Factory.Open = open } // open asks Factory what its settings are

const (
	// threadName is what the writer's thread is called in /proc (15 bytes at most).
	threadName = "badger-writer"
	// maxConflicts is how often a transaction may be refused before it runs alone.
	maxConflicts = 8
	// gcInterval and gcDiscardRatio are those of Badger's documentation.
	gcInterval     = 5 * time.Minute
	gcDiscardRatio = 0.5
	// spareMemtables is the free space below which nothing is written, in memtables: a WAL is a sparse file of two, and
	// the next ones are the tables that memtables are flushed to.
	spareMemtables = 4
	// checkRoomEvery is after how many entries Load looks for room.
	checkRoomEvery = 10_000
	// txEntries and txBytes are more than one transaction writes: a Delivery of 10 districts with orders of 15 lines.
	// A transaction of Badger must not grow beyond a part of the memtable (ErrTxnTooBig), and a group has to fit.
	txEntries = 256
	txBytes   = 64 << 10
)

type engine struct {
	db          *badger.DB
	dir         string
	log         *log
	concurrency string
	locks       kvtpcc.Locks // concurrency=warehouse
	alone       sync.RWMutex // concurrency=optimistic: held for writing by a transaction that runs alone
	writer      *kvtpcc.Writer
	shared      atomic.Pointer[kvtpcc.Shared]
	commits     atomic.Int64
	conflicts   atomic.Int64
	settings    map[string]string

	stop, stopped chan struct{} // of the value log's garbage collection
}

func open(dir string, opt engines.Options) (_ engines.Engine, err error) {
	if err := Factory.Check(opt); err != nil {
		return nil, err
	}
	options, err := badgerOptions(dir, opt)
	if err != nil {
		return nil, err
	}
	found, err := look(dir, options.MemTableSize)
	if err != nil {
		return nil, fmt.Errorf("open the Badger store in %s: %w", dir, err)
	}
	e := &engine{dir: dir, log: &log{}, concurrency: Factory.Get(opt, "concurrency"), stop: make(chan struct{}), stopped: make(chan struct{})}
	options.Logger = e.log
	options.DetectConflicts = e.concurrency == "optimistic"
	if found {
		if err := verify(dir, options); err != nil {
			return nil, fmt.Errorf("open the Badger store in %s: %w", dir, err)
		}
	}
	if e.db, err = openDB(options); err != nil {
		return nil, fmt.Errorf("open the Badger store in %s: %w", dir, openError(err, found))
	}
	if err := e.recover(); err != nil {
		return nil, errors.Join(fmt.Errorf("open the Badger store in %s: %w", dir, err), e.db.Close())
	}
	e.settings = map[string]string{"badger_version": moduleVersion(), "sync_writes": strconv.FormatBool(e.db.Opts().SyncWrites)}
	for _, s := range settings {
		e.settings[s.Name] = Factory.Get(opt, s.Name)
	}
	if e.concurrency == "writer" {
		e.writer = newWriter(e)
	}
	go e.collect()
	return e, nil
}

// openDB turns a panic over damaged files into an error.
func openDB(options badger.Options) (db *badger.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			text, _, _ := strings.Cut(strings.TrimSpace(fmt.Sprint(r)), "\n")
			err = fmt.Errorf("%w: Badger gave up: %s", engines.ErrCorrupt, text)
		}
	}()
	return badger.Open(options)
}

// look says whether dir holds a store, and refuses a directory that is missing, that holds other files and no store, or
// whose WAL needs a larger memtable than there will be: Badger would end the process.
func look(dir string, memtableBytes int64) (store bool, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, err
	}
	foreign, data := "", ""
	for _, entry := range entries {
		switch name := entry.Name(); {
		case name == badger.ManifestFilename:
			store = true
		case strings.HasSuffix(name, ".mem"):
			info, err := entry.Info()
			if err != nil {
				return false, err
			}
			if info.Size() > 2*memtableBytes {
				return false, fmt.Errorf("%w: memtable_bytes=%d: %s was written with a larger memtable; open the store with memtable_bytes=%d once",
					engines.ErrSetting, memtableBytes, name, (info.Size()+1)/2)
			}
		case strings.HasSuffix(name, ".sst"), strings.HasSuffix(name, ".vlog"):
			data = name
		case name == "LOCK", name == "KEYREGISTRY", name == "DISCARD", strings.HasPrefix(name, "MANIFEST-"), strings.HasPrefix(name, "REWRITE-"):
		default:
			foreign = name
		}
	}
	switch {
	case store:
		return true, nil
	case data != "":
		return false, fmt.Errorf("%w: there is %s and no %s", engines.ErrCorrupt, data, badger.ManifestFilename)
	case foreign != "":
		return false, fmt.Errorf("the directory holds %q and no store: give an empty one", foreign)
	}
	return false, nil
}

// systemErrors are the operating system's that say nothing of the files' contents. Badger keeps errors as text only.
var systemErrors = []string{"permission denied", "operation not permitted", "no space left", "too many open files",
	"read-only file system", "input/output error", "cannot allocate memory", "file too large", "disk quota exceeded"}

// openError tells a store that is in use, one that is damaged, and the file system's errors apart.
func openError(err error, found bool) error {
	text := err.Error()
	if strings.Contains(text, "Cannot acquire directory lock") {
		return fmt.Errorf("%w: %w", engines.ErrLocked, err)
	}
	for _, system := range systemErrors {
		if strings.Contains(text, system) {
			return err
		}
	}
	if found && !errors.Is(err, engines.ErrCorrupt) {
		return fmt.Errorf("%w: %w", engines.ErrCorrupt, err)
	}
	return err
}

// moduleVersion is the version of Badger that the program was built with.
func moduleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "github.com/dgraph-io/badger/v4" {
				return m.Version
			}
		}
	}
	return "v4 (this program does not say which)"
}

// recover checks the format of the rows and finds the last number of HISTORY.
func (e *engine) recover() error {
	t := &tx{txn: e.db.NewTransaction(false)}
	defer t.txn.Discard()
	empty, err := kvtpcc.Empty(t)
	if err == nil && !empty {
		err = kvtpcc.CheckFormat(t)
	}
	if err != nil {
		return err
	}
	shared, err := kvtpcc.OpenShared(t)
	e.shared.Store(shared)
	return err
}

// refuses is the error of all that comes after a failure.
func (e *engine) refuses() error {
	if err := e.log.failed(); err != nil {
		return fmt.Errorf("%w: %w", engines.ErrFailed, err)
	}
	return nil
}

// room refuses a write that may fill the file system under one of Badger's mapped files.
func (e *engine) room() error {
	var st unix.Statfs_t
	if err := unix.Statfs(e.dir, &st); err != nil {
		return fmt.Errorf("free space of %s: %w", e.dir, err)
	}
	need := spareMemtables * e.db.Opts().MemTableSize
	if free := int64(st.Bavail) * st.Bsize; free < need {
		return fmt.Errorf("%w: %s has %d bytes free; Badger with this size of memtable needs %d", unix.ENOSPC, e.dir, free, need)
	}
	return nil
}

// accepts says why a write is not begun, or nil.
func (e *engine) accepts() error {
	if err := e.refuses(); err != nil {
		return err
	}
	return e.room()
}

// commit makes t's transaction durable. badger.ErrConflict means that it left nothing behind.
func (e *engine) commit(t *tx) (err error) {
	err = t.txn.Commit()
	switch {
	case err == nil:
		// Badger may have acknowledged after a failure: its line is in the log by now.
	case errors.Is(err, badger.ErrConflict), errors.Is(err, badger.ErrTxnTooBig), errors.Is(err, badger.ErrBlockedWrites), errors.Is(err, badger.ErrDBClosed):
		return err
	default:
		e.log.fail(err)
	}
	if failure := e.log.failed(); failure != nil {
		return fmt.Errorf("%w: %w: %w", engines.ErrIndeterminate, engines.ErrFailed, failure)
	}
	e.commits.Add(1)
	return nil
}

// Load writes transactions as large as Badger takes them, each synced.
func (e *engine) Load(rows iter.Seq[*tpcc.Row]) error {
	t := &tx{txn: e.db.NewTransaction(false)}
	empty, err := kvtpcc.Empty(t)
	t.txn.Discard()
	if err == nil && !empty {
		err = engines.ErrNotEmpty
	}
	if err != nil {
		return fmt.Errorf("load %s: %w", e.dir, err)
	}
	batch := e.db.NewWriteBatch()
	defer batch.Cancel()
	entries := 0
	err = kvtpcc.Load(rows, func(key, value []byte) error {
		if entries++; entries%checkRoomEvery == 1 {
			if err := e.room(); err != nil {
				return err
			}
		}
		copied := append(append(make([]byte, 0, len(key)+len(value)), key...), value...)
		return batch.Set(copied[:len(key):len(key)], copied[len(key):])
	})
	if err == nil {
		err = batch.Flush()
	}
	if err == nil {
		err = e.refuses()
	}
	if err != nil {
		return fmt.Errorf("load %s: %w", e.dir, err)
	}
	return e.recover()
}

// Snapshot visits the rows of one commit point.
func (e *engine) Snapshot(visit func(*tpcc.Row) error) error {
	t := &tx{txn: e.db.NewTransaction(false)}
	defer t.txn.Discard()
	if err := e.refuses(); err != nil {
		return err
	}
	return kvtpcc.Rows(t, visit)
}

func (e *engine) Facts() (engines.Facts, error) {
	f := engines.Facts{
		Commits: e.commits.Load(), Syncs: engines.Unknown, Checkpoints: engines.Unknown, CheckpointBytes: engines.Unknown,
		CheckpointNS: engines.Unknown, LogBytes: engines.Unknown, TempBytes: 0,
		FileBytes: map[string]int64{}, Settings: map[string]string{"conflicts": strconv.FormatInt(e.conflicts.Load(), 10)},
	}
	for name, value := range e.settings {
		f.Settings[name] = value
	}
	if e.writer != nil {
		grouped := engines.Facts{}
		e.writer.Facts(&grouped)
		f.OwnerTID, f.BusyNS = grouped.OwnerTID, grouped.BusyNS
	}
	entries, err := os.ReadDir(e.dir)
	if err != nil {
		return f, err
	}
	for _, entry := range entries {
		info, err := os.Stat(filepath.Join(e.dir, entry.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted meanwhile
		}
		if err != nil {
			return f, err
		}
		f.FileBytes[entry.Name()] = info.Size()
	}
	return f, nil
}

// collect collects the value log's garbage until Close.
func (e *engine) collect() {
	defer close(e.stopped)
	tick := time.NewTicker(gcInterval)
	defer tick.Stop()
	for {
		select {
		case <-e.stop:
			return
		case <-tick.C:
			for e.db.RunValueLogGC(gcDiscardRatio) == nil {
			}
		}
	}
}

// Close ends the goroutines and closes the store, which flushes its memtable.
func (e *engine) Close() (err error) {
	if e.writer != nil {
		err = e.writer.Close()
	}
	close(e.stop)
	<-e.stopped
	if closeErr := e.db.Close(); closeErr != nil {
		err = errors.Join(err, fmt.Errorf("close the Badger store in %s: %w", e.dir, closeErr))
	}
	return err
}
