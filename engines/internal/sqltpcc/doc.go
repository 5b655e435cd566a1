// Package sqltpcc is TPC-C over SQLite: schema, SQL text, the five transactions, the settings, and a store with its
// connections. The adapters sqlite and sqlitegrouped put their commit policy on top and nothing else, so that the two
// differ in that alone.
//
// SQLite is the one that github.com/mattn/go-sqlite3 bundles; its database/sql driver is not used, because it halves
// SQLite's speed on this workload. The transactions are C (transactions.c) over prepared statements (statements.h), and
// Go crosses into C once per transaction (Conn.Run) or once per group of them (Conn.RunGroup). What Go and C share, the
// Requests, is memory of C's. The folder cbench holds the same C files as a program without Go, to measure against.
//
// A store is one directory:
//
//	tpcc.db                the database: the nine tables (schema.sql), two indexes (indexes.sql), journal_mode WAL
//	tpcc.db-wal, tpcc.db-shm  the write-ahead log and its index, while the store is open or after a crash
//	lock                   empty; locked (flock) while the store is open, as SQLite alone would let two processes in
//
// synchronous is always FULL: COMMIT returns after the WAL has been synced, by fdatasync if the program was compiled
// with CGO_CFLAGS=-DHAVE_FDATASYNC=1 and else by fsync; Facts.Settings says which. Two limits are SQLite's own: a WAL
// whose header or frames are damaged is taken to end there, without an error, and data pages have no checksums.
//
// While a store is open its process must not open tpcc.db itself: closing it would drop SQLite's POSIX locks. The lock
// file keeps other users of this package away all the same.
package sqltpcc
