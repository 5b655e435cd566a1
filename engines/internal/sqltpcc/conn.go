package sqltpcc

/*
#cgo CFLAGS: -Wall -Wextra
#cgo noescape tpcc_run
#cgo nocallback tpcc_run
#cgo noescape tpcc_run_group
#cgo nocallback tpcc_run_group
#include <stdlib.h>
#include "sqltpcc.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	_ "github.com/mattn/go-sqlite3" // links SQLite

	"tpccbench/engines"
)

// HasFdatasync reports whether SQLite syncs by fdatasync: whether the program was compiled with
// CGO_CFLAGS=-DHAVE_FDATASYNC=1. Without it SQLite uses fsync, and comparing it with other engines is not fair.
func HasFdatasync() bool { return C.tpcc_has_fdatasync() != 0 }

// Optimized reports whether SQLite was compiled with optimisation: a CGO_CFLAGS without -O2 takes Go's own -O2 away.
func Optimized() bool { return C.tpcc_optimized() != 0 }

// Conn is one connection to a Store. It serves one call at a time.
type Conn struct {
	store *Store
	c     *C.struct_tpcc_conn
}

// open opens a connection and runs pragmas on it.
func (s *Store) open(pragmas string) (*Conn, error) {
	path, sql := C.CString(s.path), C.CString(pragmas)
	defer C.free(unsafe.Pointer(path))
	defer C.free(unsafe.Pointer(sql))
	c := &Conn{store: s}
	rc := C.tpcc_conn_open(s.c, path, sql, &c.c)
	if c.c == nil {
		return nil, fmt.Errorf("%s: out of memory", s.path)
	}
	if rc != C.SQLITE_OK {
		return nil, errors.Join(c.fail(rc), c.Close())
	}
	return c, nil
}

// Connect opens a connection that runs transactions.
func (s *Store) Connect() (*Conn, error) {
	c, err := s.open(s.settings.pragmas(s.pageSize))
	if err != nil {
		return nil, err
	}
	if rc := C.tpcc_conn_prepare(c.c); rc != C.SQLITE_OK {
		return nil, errors.Join(c.fail(rc), c.Close())
	}
	return c, nil
}

// Close closes the connection. The last one of a store to close checkpoints.
func (c *Conn) Close() error {
	if rc := C.tpcc_conn_close(c.c); rc != C.SQLITE_OK {
		return fmt.Errorf("close %s: %s", c.store.path, C.GoString(C.sqlite3_errstr(rc)))
	}
	return nil
}

// fail is the error of a call that returned rc and left its message in the connection.
func (c *Conn) fail(rc C.int) error { return c.store.failure(rc, C.GoString(C.tpcc_conn_message(c.c))) }

// failure is the error of SQLite's extended result code rc.
func (s *Store) failure(rc C.int, message string) error {
	switch rc & 0xff {
	case C.SQLITE_CORRUPT, C.SQLITE_NOTADB:
		return fmt.Errorf("%w: %s: %s (SQLite code %d)", engines.ErrCorrupt, s.path, message, int(rc))
	case C.SQLITE_FULL: // the device has no room; or the database has reached its max_page_count, which is 16 TiB
		return fmt.Errorf("%w: %s: %s (SQLite code %d)", syscall.ENOSPC, s.path, message, int(rc))
	}
	return fmt.Errorf("%s: %s (SQLite code %d)", s.path, message, int(rc))
}

// Run runs one transaction with a commit of its own.
func (c *Conn) Run(r *Request) error {
	if err := c.store.Refuses(r); err != nil {
		return err
	}
	C.tpcc_run(c.c, r.c)
	return c.store.Outcome(r)
}

// exec runs SQL that has no result.
func (c *Conn) exec(sql string) error {
	text := C.CString(sql)
	defer C.free(unsafe.Pointer(text))
	if rc := C.tpcc_exec(c.c, text); rc != C.SQLITE_OK {
		return c.fail(rc)
	}
	return nil
}

// statements lists the transactions' statements as name and SQL, in the order of statements.h.
func statements() [][2]string {
	var all [][2]string
	for i := C.int(0); ; i++ {
		name := C.tpcc_statement_name(i)
		if name == nil {
			return all
		}
		all = append(all, [2]string{C.GoString(name), C.GoString(C.tpcc_statement_sql(i))})
	}
}

// statement is one prepared statement over rows in bulk.
type statement struct {
	conn *Conn
	s    *C.sqlite3_stmt
}

func (c *Conn) prepare(sql string) (*statement, error) {
	text := C.CString(sql)
	defer C.free(unsafe.Pointer(text))
	s := &statement{conn: c}
	if rc := C.tpcc_prepare(c.c, text, &s.s); rc != C.SQLITE_OK {
		return nil, c.fail(rc)
	}
	return s, nil
}

func (s *statement) finalize() { C.sqlite3_finalize(s.s) }

// text is the first column of the first row of a query; "" if there is none.
func (c *Conn) text(sql string) (string, error) {
	rows, err := c.texts(sql)
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return rows[0][0], nil
}

// texts is the whole result of a query, every value as text.
func (c *Conn) texts(sql string) ([][]string, error) {
	s, err := c.prepare(sql)
	if err != nil {
		return nil, err
	}
	defer s.finalize()
	var rows [][]string
	for {
		switch rc := C.sqlite3_step(s.s); rc {
		case C.SQLITE_DONE:
			return rows, nil
		case C.SQLITE_ROW:
			row := make([]string, C.sqlite3_column_count(s.s))
			for i := range row {
				if text := C.sqlite3_column_text(s.s, C.int(i)); text != nil {
					row[i] = C.GoString((*C.char)(unsafe.Pointer(text)))
				}
			}
			rows = append(rows, row)
		default:
			return nil, c.fail(C.tpcc_fail(c.c, rc))
		}
	}
}
