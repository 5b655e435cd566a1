package sqltpcc

// #include "sqltpcc.h"
import "C"

import (
	_ "embed" // schema.sql and indexes.sql
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"tpccbench/engines"
)

//go:embed schema.sql
var schemaSQL string

//go:embed indexes.sql
var indexesSQL string

// databaseName is the database's file; SQLite puts -wal and -shm beside it.
const databaseName = "tpcc.db"

// applicationID is PRAGMA application_id of our databases ("TPCC"), formatVersion their PRAGMA user_version.
const (
	applicationID = 0x54504343
	formatVersion = 1
)

// maxPath is the longest path in bytes that SQLite's unix VFS takes, with -journal at its end.
const maxPath = 512

// Store is one open database with its lock, its settings and its counters. All but Close may be called by several
// goroutines at once.
type Store struct {
	dir, path string
	settings  settings
	pageSize  int64             // bytes
	readBack  map[string]string // Facts.Settings
	lock      *os.File
	c         *C.struct_tpcc_store
	keeper    *Conn // open for as long as the store, so that no other connection is the last one to close
	failed    atomic.Pointer[failedBy]
}

// Open opens the store in dir, or makes an empty one of an empty directory. opt may hold settings besides Settings.
func Open(dir string, opt engines.Options) (*Store, error) {
	parsed, err := parseSettings(opt)
	if err != nil {
		return nil, err
	}
	if v := C.sqlite3_libversion_number(); v != C.SQLITE_API_VERSION_NUMBER {
		return nil, fmt.Errorf("the program is linked with SQLite %d; sqltpcc is written for %d", int(v), int(C.SQLITE_API_VERSION_NUMBER))
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, path: filepath.Join(dir, databaseName), settings: parsed}
	if len(s.path)+len("-journal") > maxPath {
		return nil, fmt.Errorf("%s: SQLite takes paths of up to %d bytes", s.path, maxPath-len("-journal"))
	}
	if err := s.inspect(); err != nil {
		return nil, err
	}
	if s.lock, err = lockDir(dir); err != nil {
		return nil, err
	}
	if s.c = C.tpcc_store_new(); s.c == nil {
		return nil, errors.Join(errors.New("SQLite does not start: out of memory"), s.lock.Close())
	}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// inspect looks at the files before anything is opened or made: the directory must hold nothing, or a store.
func (s *Store) inspect() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != lockName && !strings.HasPrefix(e.Name(), databaseName) {
			return fmt.Errorf("%w: %s is no file of a store; the directory must be empty or a store's", engines.ErrCorrupt,
				filepath.Join(s.dir, e.Name()))
		}
	}
	size := func(name string) (int64, error) {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		return info.Size(), nil
	}
	database, err := size(s.path)
	if err != nil {
		return err
	}
	wal, err := size(s.path + "-wal")
	if err != nil {
		return err
	}
	if database == 0 && wal > 0 { // SQLite would delete the WAL and begin anew
		return fmt.Errorf("%w: %s is missing or empty, its WAL is not", engines.ErrCorrupt, s.path)
	}
	return nil
}

// prepare opens the keeper connection, makes the schema if there is none, and reads the settings back.
func (s *Store) prepare() error {
	var err error
	if s.keeper, err = s.open(""); err != nil {
		return err
	}
	objects, err := s.keeper.text("SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return err
	}
	application, err := s.keeper.text("PRAGMA application_id")
	if err != nil {
		return err
	}
	switch {
	case objects == "0" && application == "0":
		err = s.create()
	case application == strconv.Itoa(applicationID):
		err = s.checkFormat()
	default:
		err = fmt.Errorf("%w: %s is an SQLite database, but not one of tpccbench's", engines.ErrCorrupt, s.path)
	}
	if err != nil {
		return err
	}
	pageSize, err := s.keeper.text("PRAGMA page_size")
	if err != nil {
		return err
	}
	if s.pageSize, err = strconv.ParseInt(pageSize, 10, 64); err != nil {
		return fmt.Errorf("%s: PRAGMA page_size is %q", s.path, pageSize)
	}
	if s.settings.checkpointBytes != 0 && s.settings.checkpointBytes < s.pageSize {
		return fmt.Errorf("%w: wal_checkpoint_bytes=%d is less than a page of %d bytes", engines.ErrSetting,
			s.settings.checkpointBytes, s.pageSize)
	}
	if err := s.keeper.exec(s.settings.pragmas(s.pageSize)); err != nil {
		return err
	}
	if s.readBack, err = readBack(s.keeper); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	if err := s.settings.check(s.readBack, s.pageSize); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	return nil
}

// create makes the empty tables in a new database.
func (s *Store) create() error {
	pageSize := s.settings.pageSize
	if pageSize == 0 {
		pageSize = 4096
	}
	return s.keeper.exec(fmt.Sprintf("PRAGMA page_size=%d;PRAGMA journal_mode=WAL;PRAGMA synchronous=FULL;BEGIN IMMEDIATE;"+
		"PRAGMA application_id=%d;PRAGMA user_version=%d;%s%sCOMMIT;",
		pageSize, applicationID, formatVersion, schemaSQL, indexesSQL))
}

// checkFormat refuses a database of another version of this program.
func (s *Store) checkFormat() error {
	version, err := s.keeper.text("PRAGMA user_version")
	if err != nil {
		return err
	}
	if version != strconv.Itoa(formatVersion) {
		return fmt.Errorf("%w: %s has format version %s; this program reads %d", engines.ErrCorrupt, s.path, version, formatVersion)
	}
	return nil
}

// Close closes the store, after all its connections. SQLite checkpoints and deletes the WAL.
func (s *Store) Close() error {
	var err error
	if s.keeper != nil {
		err = s.keeper.Close()
	}
	C.tpcc_store_free(s.c)
	return errors.Join(err, s.lock.Close())
}

// BusyNS is what the thread that runs groups has spent, in Facts.BusyNS's form: applying, in COMMIT's syncs, and in the
// rest of COMMIT (writing the WAL, checkpointing).
func (s *Store) BusyNS() map[string]int64 {
	var c C.struct_tpcc_counters
	C.tpcc_store_counters(s.c, &c)
	return map[string]int64{"apply": int64(c.apply_ns), "sync": int64(c.commit_sync_ns), "commit": int64(c.commit_ns)}
}

// checkpointNS is Facts.CheckpointNS alone.
func (s *Store) checkpointNS() int64 {
	var c C.struct_tpcc_counters
	C.tpcc_store_counters(s.c, &c)
	return int64(c.checkpoint_ns)
}

// Facts are the store's; an adapter with a writer thread adds what it knows of that.
func (s *Store) Facts() (engines.Facts, error) {
	var c C.struct_tpcc_counters
	C.tpcc_store_counters(s.c, &c)
	f := engines.Facts{
		Commits: int64(c.commits), Syncs: int64(c.syncs), Checkpoints: int64(c.checkpoints), LogBytes: int64(c.wal_bytes),
		CheckpointBytes: int64(c.checkpoint_bytes), CheckpointNS: int64(c.checkpoint_ns), TempBytes: int64(c.temp_bytes),
		FileBytes: map[string]int64{}, Settings: maps.Clone(s.readBack),
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return f, err
	}
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return f, err
		}
		f.FileBytes[e.Name()] = info.Size()
	}
	return f, nil
}

// failSyncs makes every sync of the store fail with an I/O error, or no longer. For tests of what follows.
func (s *Store) failSyncs(fail bool) {
	rc := C.int(C.SQLITE_OK)
	if fail {
		rc = C.SQLITE_IOERR_FSYNC
	}
	C.tpcc_store_fail_syncs(s.c, rc)
}
