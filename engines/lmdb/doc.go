// Package lmdb is the adapter for LMDB, the B+ tree in one memory-mapped file of OpenLDAP, in C: Debian's liblmdb,
// through cgo. It is built with the tag lmdb only (-tags lmdb), since it needs the package liblmdb-dev; without the tag
// Factory says so (Missing), and its Open fails.
//
// # How a commit becomes durable
//
// LMDB has no log. A transaction copies each page that it changes, the whole path up to the root, to free places of the
// file; the commit writes them, calls fdatasync, and writes one of two meta pages through a descriptor that was opened
// with O_DSYNC: two syncs per commit, that one counted as one. Its bytes are whole pages. MDB_NOSYNC, MDB_NOMETASYNC
// and MDB_WRITEMAP stay off.
//
// There is one writing transaction at a time, which makes writes serialisable; readers have the state of the last
// commit that was durable when they began: LMDB tells them of it after the meta page's write has returned. MDB_NOTLS
// gives readers to goroutines instead of threads; each session has a reading transaction that it resets and renews.
//
// commit=per_transaction commits each transaction of the benchmark, on the session's goroutine, which holds its thread
// for that time. commit=grouped runs all that wait in one transaction of LMDB on one goroutine (kvtpcc.Writer).
//
// # Failures
//
// If the data pages cannot be written or synced, LMDB drops the transaction and goes on from the last meta page, which
// names none of those pages. If the meta page cannot be written, it writes the old one back, and if that fails too
// the environment is dead: every call returns MDB_PANIC until it is closed. Here the first failed commit is the last
// in both cases: its outcome is indeterminate, and all that comes after, reads too, is engines.ErrFailed.
//
// LMDB's pages have no checksums, and it trusts them: one that is damaged may end the process. So Open walks over both
// trees of the newest commit first (tree.go) and refuses what LMDB could not survive, naming the page. A damage that
// leaves a sound tree, as a changed value does, goes unseen there; the rows' encoding finds some of it when they are
// read.
//
// # Layout
//
// The directory holds data.mdb and lock.mdb, which are LMDB's, and lock, whose flock says that the store is open. All
// keys of kvtpcc are in one tree, the unnamed database. Load puts them in ascending order (MDB_APPEND), which fills
// pages; the entries of indexes are sorted in memory for it.
//
// A call from Go into C costs some 40 ns. A read or write by key is one; a scan is one for many entries, which are
// copied out.
package lmdb
