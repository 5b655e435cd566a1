//go:build cgo && lmdb

package lmdb

/*
#cgo LDFLAGS: -llmdb
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

static int env_open(const char *path, size_t map_size, unsigned readers, MDB_env **env) {
	int rc = mdb_env_create(env);
	if (rc != 0) {
		*env = NULL;
		return rc;
	}
	if ((rc = mdb_env_set_mapsize(*env, map_size)) != 0 || (rc = mdb_env_set_maxreaders(*env, readers)) != 0 ||
	    (rc = mdb_env_open(*env, path, MDB_NOTLS, 0644)) != 0) {
		mdb_env_close(*env);
		*env = NULL;
	}
	return rc;
}

static int get(MDB_txn *txn, MDB_dbi dbi, void *key, size_t key_len, MDB_val *value) {
	MDB_val k = {key_len, key};
	return mdb_get(txn, dbi, &k, value);
}

static int put(MDB_txn *txn, MDB_dbi dbi, void *key, size_t key_len, void *value, size_t value_len, unsigned flags) {
	MDB_val k = {key_len, key}, v = {value_len, value};
	return mdb_put(txn, dbi, &k, &v, flags);
}

static int del(MDB_txn *txn, MDB_dbi dbi, void *key, size_t key_len) {
	MDB_val k = {key_len, key};
	return mdb_del(txn, dbi, &k, NULL);
}

// scan copies entries with from <= key < to (from < key if after) to buf, at most so many: length of key (2 bytes) and
// of value (2), key, value. It says how many bytes that are. done: there are no more.
static int scan(MDB_txn *txn, MDB_dbi dbi, void *from, size_t from_len, int after, void *to, size_t to_len,
		unsigned char *buf, size_t size, size_t most, size_t *used, int *done) {
	MDB_cursor *cursor;
	MDB_val start = {from_len, from}, end = {to_len, to}, k = start, v;
	int rc = mdb_cursor_open(txn, dbi, &cursor);
	*used = 0;
	*done = 0;
	if (rc != 0)
		return rc;
	rc = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
	if (rc == 0 && after && mdb_cmp(txn, dbi, &k, &start) == 0)
		rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
	for (; rc == 0; rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) {
		if (mdb_cmp(txn, dbi, &k, &end) >= 0) {
			*done = 1;
			break;
		}
		if (k.mv_size > UINT16_MAX || v.mv_size > UINT16_MAX) {
			rc = MDB_CORRUPTED;
			break;
		}
		if (most-- == 0 || size - *used < 4 + k.mv_size + v.mv_size)
			break;
		uint16_t lengths[2] = {(uint16_t)k.mv_size, (uint16_t)v.mv_size};
		memcpy(buf + *used, lengths, 4);
		memcpy(buf + *used + 4, k.mv_data, k.mv_size);
		memcpy(buf + *used + 4 + k.mv_size, v.mv_data, v.mv_size);
		*used += 4 + k.mv_size + v.mv_size;
	}
	mdb_cursor_close(cursor);
	if (rc == MDB_NOTFOUND) {
		*done = 1;
		rc = 0;
	}
	return rc;
}
*/
import "C"

import (
	"encoding/binary"
	"fmt"
	"syscall"
	"unsafe"

	"tpccbench/engines"
)

const (
	// readers is the number of reading transactions at a time: sessions, and snapshots beside them.
	readers = 1024
	// scanBytes is the buffer of a scan, room for some hundred entries; firstEntries are asked for at first, then each time more.
	scanBytes    = 1 << 15
	firstEntries = 16
)

// env is an open LMDB environment and its one database.
type env struct {
	env *C.MDB_env
	dbi C.MDB_dbi
}

// lmdbError is what a call returned: the operating system's error, or one of LMDB's.
func lmdbError(what string, rc C.int) error {
	switch {
	case rc == 0:
		return nil
	case rc > 0:
		return fmt.Errorf("LMDB: %s: %w", what, syscall.Errno(rc))
	}
	text := C.GoString(C.mdb_strerror(rc))
	switch rc {
	case C.MDB_INVALID, C.MDB_CORRUPTED, C.MDB_PAGE_NOTFOUND, C.MDB_VERSION_MISMATCH, C.MDB_INCOMPATIBLE:
		return fmt.Errorf("%w: LMDB: %s: %s", engines.ErrCorrupt, what, text)
	case C.MDB_PANIC:
		return fmt.Errorf("%w: LMDB: %s: %s", engines.ErrFailed, what, text)
	}
	return fmt.Errorf("LMDB: %s: %s", what, text)
}

// openEnv opens or makes the environment in a directory.
func openEnv(dir string, mapSize int64) (*env, error) {
	path := C.CString(dir)
	defer C.free(unsafe.Pointer(path))
	e := new(env)
	var opened *C.MDB_env
	if rc := C.env_open(path, C.size_t(mapSize), readers, &opened); rc != 0 {
		return nil, lmdbError("open", rc)
	}
	e.env = opened
	if err := e.start(); err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

// start opens the unnamed database, and syncs the file: a process that was killed in its commit may have left a state
// that is not on the device yet.
func (e *env) start() error {
	tx, err := e.begin(false)
	if err != nil {
		return err
	}
	var dbi C.MDB_dbi
	if err := lmdbError("open the database", C.mdb_dbi_open(tx.txn, nil, 0, &dbi)); err != nil {
		tx.abort()
		return err
	}
	e.dbi = dbi
	if err := tx.commit(); err != nil {
		return err
	}
	return lmdbError("sync", C.mdb_env_sync(e.env, 1))
}

func (e *env) close() { C.mdb_env_close(e.env) }

// version is the library's.
func version() string {
	var major, minor, patch C.int
	C.mdb_version(&major, &minor, &patch)
	return fmt.Sprintf("%d.%d.%d", major, minor, patch)
}

// transaction is a kvtpcc.Tx over one of LMDB's. One that writes stays on one thread.
type transaction struct {
	txn   *C.MDB_txn
	dbi   C.MDB_dbi
	value C.MDB_val
	used  C.size_t
	done  C.int
	buf   []byte
	next  []byte
}

// begin begins a transaction.
func (e *env) begin(writes bool) (*transaction, error) {
	t := &transaction{dbi: e.dbi}
	return t, t.start(e, writes)
}

// start begins the next transaction of one that has ended.
func (t *transaction) start(e *env, writes bool) error {
	flags := C.uint(C.MDB_RDONLY)
	if writes {
		flags = 0
	}
	t.dbi = e.dbi
	var txn *C.MDB_txn
	if err := lmdbError("begin", C.mdb_txn_begin(e.env, nil, flags, &txn)); err != nil {
		return err
	}
	t.txn = txn
	return nil
}

// renew lets a reading transaction that was reset read the last durable commit.
func (t *transaction) renew() error { return lmdbError("renew", C.mdb_txn_renew(t.txn)) }

// reset gives the state that is read back, and keeps the transaction.
func (t *transaction) reset() { C.mdb_txn_reset(t.txn) }

func (t *transaction) abort() { C.mdb_txn_abort(t.txn) }

// commit makes what was written durable. The transaction has ended, whatever it returns.
func (t *transaction) commit() error { return lmdbError("commit", C.mdb_txn_commit(t.txn)) }

// pointer is where a slice begins.
func pointer(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

// Get returns the value of key where it lies in the map, or nil.
func (t *transaction) Get(key []byte) ([]byte, error) {
	rc := C.get(t.txn, t.dbi, pointer(key), C.size_t(len(key)), &t.value)
	if rc == C.MDB_NOTFOUND {
		return nil, nil
	}
	if rc != 0 {
		return nil, lmdbError("get", rc)
	}
	return unsafe.Slice((*byte)(t.value.mv_data), int(t.value.mv_size)), nil
}

// Scan visits from <= key < to. Entries are fetched many at a time, few at first: most scans want one, or 10.
func (t *transaction) Scan(from, to []byte, visit func(key, value []byte) bool) error {
	if t.buf == nil {
		t.buf = make([]byte, scanBytes)
	}
	after, most := C.int(0), C.size_t(firstEntries)
	for {
		rc := C.scan(t.txn, t.dbi, pointer(from), C.size_t(len(from)), after, pointer(to), C.size_t(len(to)),
			(*C.uchar)(pointer(t.buf)), scanBytes, most, &t.used, &t.done)
		if rc != 0 {
			return lmdbError("scan", rc)
		}
		entries, done := t.buf[:t.used], t.done != 0
		var key []byte
		for len(entries) > 0 {
			keyEnd := 4 + int(binary.NativeEndian.Uint16(entries))
			end := keyEnd + int(binary.NativeEndian.Uint16(entries[2:]))
			key = entries[4:keyEnd]
			if !visit(key, entries[keyEnd:end]) {
				return nil
			}
			entries = entries[end:]
		}
		if done {
			return nil
		}
		if key == nil {
			return fmt.Errorf("%w: LMDB: scan: an entry of more than %d bytes", engines.ErrCorrupt, scanBytes)
		}
		t.next = append(t.next[:0], key...)
		from, after, most = t.next, 1, scanBytes // as many as there is room for
	}
}

// Set stores a copy of value under a copy of key.
func (t *transaction) Set(key, value []byte) error { return t.put(key, value, 0) }

func (t *transaction) put(key, value []byte, flags C.uint) error {
	rc := C.put(t.txn, t.dbi, pointer(key), C.size_t(len(key)), pointer(value), C.size_t(len(value)), flags)
	return lmdbError("put", rc)
}

// add is Set for a key that is larger than all there are, and as well for another one.
func (t *transaction) add(key, value []byte) error {
	rc := C.put(t.txn, t.dbi, pointer(key), C.size_t(len(key)), pointer(value), C.size_t(len(value)), C.MDB_APPEND)
	if rc == C.MDB_KEYEXIST {
		return t.Set(key, value)
	}
	return lmdbError("put", rc)
}

// Delete removes key.
func (t *transaction) Delete(key []byte) error {
	rc := C.del(t.txn, t.dbi, pointer(key), C.size_t(len(key)))
	if rc == C.MDB_NOTFOUND {
		return nil
	}
	return lmdbError("delete", rc)
}
