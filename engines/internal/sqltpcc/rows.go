package sqltpcc

// #include <stdlib.h>
// #include "sqltpcc.h"
import "C"

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"unsafe"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// rowsPerCall is how many rows cross between Go and C in one call.
const rowsPerCall = 1000

// buffer is memory of C's for rowsPerCall rows of tpcc.MaxColumns values.
type buffer struct{ c *C.int64_t }

func newBuffer() buffer {
	return buffer{(*C.int64_t)(C.malloc(rowsPerCall * tpcc.MaxColumns * C.sizeof_int64_t))} // panics without memory
}

func (b buffer) free() { C.free(unsafe.Pointer(b.c)) }

func (b buffer) rows() []([tpcc.MaxColumns]int64) {
	return unsafe.Slice((*[tpcc.MaxColumns]int64)(unsafe.Pointer(b.c)), rowsPerCall)
}

// loadPragmas are for the loading connection alone: sort the indexes in memory, keep the trees' edges in the cache.
const loadPragmas = "PRAGMA temp_store=MEMORY;PRAGMA cache_size=-65536;"

// Load is engines.Engine.Load: one transaction, then a checkpoint. The secondary indexes are made at its end, sorted.
func (s *Store) Load(rows iter.Seq[*tpcc.Row]) (err error) {
	c, err := s.open(s.settings.pragmas(s.pageSize) + loadPragmas)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := c.fill(rows); err != nil {
		return errors.Join(err, c.exec("ROLLBACK"))
	}
	if err := c.exec("COMMIT"); err != nil {
		return err
	}
	return c.exec("PRAGMA wal_checkpoint(TRUNCATE)")
}

// fill puts the rows into the open transaction.
func (c *Conn) fill(rows iter.Seq[*tpcc.Row]) error {
	for _, table := range tpcc.Tables {
		has, err := c.text(fmt.Sprintf("SELECT EXISTS(SELECT 1 FROM %s)", table))
		if err != nil {
			return err
		}
		if has != "0" {
			return fmt.Errorf("%w: %s: table %s has rows", engines.ErrNotEmpty, c.store.path, table)
		}
	}
	if err := c.exec("DROP INDEX customer_name;DROP INDEX orders_customer"); err != nil {
		return err
	}
	var inserts [tpcc.NumTables]*statement
	for _, table := range tpcc.Tables {
		var err error
		if inserts[table], err = c.prepare(insertSQL(table)); err != nil {
			return err
		}
		defer inserts[table].finalize()
	}
	b := newBuffer()
	defer b.free()
	buffered, n, table := b.rows(), 0, tpcc.Item
	flush := func() error {
		rc := C.tpcc_insert_rows(c.c, inserts[table].s, b.c, tpcc.MaxColumns, C.int(len(table.Schema().Columns)), C.int(n))
		n = 0
		if rc != C.SQLITE_OK {
			return c.fail(rc)
		}
		return nil
	}
	for row := range rows {
		if row.Table != table || n == rowsPerCall {
			if err := flush(); err != nil {
				return err
			}
			table = row.Table
		}
		buffered[n] = row.Col
		n++
	}
	if err := flush(); err != nil {
		return err
	}
	return c.exec(indexesSQL)
}

// columnNames are the table's columns, separated by commas.
func columnNames(columns []tpcc.Column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return strings.Join(names, ",")
}

// insertSQL inserts one row of integers; tpcc.Null becomes NULL where the column may be null.
func insertSQL(table tpcc.Table) string {
	s := table.Schema()
	values := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		values[i] = fmt.Sprintf("?%d", i+1)
		if c.Nullable {
			values[i] = fmt.Sprintf("nullif(?%d,%d)", i+1, tpcc.Null)
		}
	}
	return fmt.Sprintf("INSERT INTO %s(%s) VALUES(%s)", s.Name, columnNames(s.Columns), strings.Join(values, ","))
}

// selectSQL reads a table in key order, HISTORY in the order of arrival.
func selectSQL(table tpcc.Table) string {
	s := table.Schema()
	order := "rowid"
	if s.Key > 0 {
		order = columnNames(s.Columns[:s.Key])
	}
	return fmt.Sprintf("SELECT %s FROM %s ORDER BY %s", columnNames(s.Columns), s.Name, order)
}

// Snapshot is engines.Engine.Snapshot: one read transaction on a connection of its own.
func (s *Store) Snapshot(visit func(*tpcc.Row) error) (err error) {
	c, err := s.open(s.settings.pragmas(s.pageSize))
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := c.Close(); err == nil { // an error of visit is returned as it is
			err = closeErr
		}
	}()
	if err := c.exec("BEGIN"); err != nil {
		return err
	}
	b := newBuffer()
	defer b.free()
	for _, table := range tpcc.Tables {
		if err := c.visit(table, b, visit); err != nil {
			return err
		}
	}
	return c.exec("COMMIT")
}

// visit visits the rows of one table in the open transaction.
func (c *Conn) visit(table tpcc.Table, b buffer, visit func(*tpcc.Row) error) error {
	query, err := c.prepare(selectSQL(table))
	if err != nil {
		return err
	}
	defer query.finalize()
	columns := len(table.Schema().Columns)
	row := tpcc.Row{Table: table}
	for got := C.int(rowsPerCall); got == rowsPerCall; {
		rc := C.tpcc_read_rows(c.c, query.s, b.c, tpcc.MaxColumns, C.int(columns), rowsPerCall, &got)
		if rc != C.SQLITE_OK {
			return c.fail(rc)
		}
		for _, values := range b.rows()[:got] {
			copy(row.Col[:columns], values[:columns])
			if err := visit(&row); err != nil {
				return err
			}
		}
	}
	return nil
}
