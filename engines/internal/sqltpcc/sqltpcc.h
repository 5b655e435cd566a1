/*
** The five transactions of TPC-C over SQLite's C interface, a connection that runs them one by one (one transaction,
** one commit) or in groups (one commit for all that waited), and a VFS that counts what is written and synced.
**
** Every function may be called by any thread, one thread at a time per connection. All memory that Go and C share
** (requests, counters, rows) is allocated here; none of it holds a Go pointer.
*/
#ifndef SQLTPCC_H
#define SQLTPCC_H

#include <stdint.h>
#include "sqlite_api.h"

#define TPCC_LINES 15     /* most lines of an order (clause 2.4.1.3) */
#define TPCC_DISTRICTS 10 /* districts of a warehouse (clause 1.2.1) */

/* What a connection of one store has done since the store was opened. Written by any thread, read by any. */
struct tpcc_counters {
  int64_t commits;     /* COMMITs of something that changed a row */
  int64_t syncs;       /* xSync of any file */
  int64_t checkpoints; /* those that have copied all of the WAL and synced the database */
  int64_t checkpoint_bytes; /* written to the database by checkpoints, unfinished ones too */
  int64_t checkpoint_ns;    /* in checkpoints, unfinished ones too */
  int64_t wal_bytes;   /* bytes written to the WAL */
  int64_t temp_bytes;  /* bytes written to temporary files */
  int64_t sync_ns;     /* in xSync of any file */
  int64_t apply_ns;    /* groups: from BEGIN to before COMMIT */
  int64_t commit_ns;   /* groups: in COMMIT, a checkpoint included, its syncs not */
  int64_t commit_sync_ns; /* groups: in xSync during COMMIT */
};

/* One open store: a VFS of its own, with its counters. */
struct tpcc_store;
struct tpcc_store *tpcc_store_new(void); /* 0: out of memory, or SQLite does not initialise */
void tpcc_store_free(struct tpcc_store*);
void tpcc_store_counters(struct tpcc_store*, struct tpcc_counters*);
/* Makes all syncs fail with rc, an extended result code, until it is called with 0. For tests of what follows. */
void tpcc_store_fail_syncs(struct tpcc_store*, int rc);

/* The five transactions' inputs and outputs, as in package tpcc. */
struct tpcc_new_order_line {
  int32_t i_id, supply_w_id, quantity;
  int64_t price, s_quantity, amount; /* out */
};
struct tpcc_new_order {
  int32_t w_id, d_id, c_id, count;
  int64_t entry_d;
  int32_t rolled_back, o_id, c_last, c_credit; /* out, from here on */
  int64_t c_discount, w_tax, d_tax, total_amount;
  struct tpcc_new_order_line lines[TPCC_LINES];
};
struct tpcc_payment {
  int32_t w_id, d_id, c_w_id, c_d_id, by_name, c_last, c_id; /* c_last and c_id: in and out */
  int64_t amount, date;
  int32_t c_credit; /* out, from here on */
  int64_t c_since, c_credit_lim, c_discount, c_balance;
};
struct tpcc_order_status_line {
  int32_t i_id, supply_w_id, quantity;
  int64_t amount, delivery_d;
};
struct tpcc_order_status {
  int32_t w_id, d_id, by_name, c_last, c_id; /* c_last and c_id: in and out */
  int32_t o_id, carrier_id, count;           /* out, from here on */
  int64_t c_balance, entry_d;
  struct tpcc_order_status_line lines[TPCC_LINES];
};
struct tpcc_delivery {
  int32_t w_id, carrier_id;
  int64_t delivery_d;
  int32_t o_id[TPCC_DISTRICTS]; /* out */
};
struct tpcc_stock_level {
  int32_t w_id, d_id, threshold;
  int32_t low_stock; /* out */
};

/* In the order of tpcc.Types. */
enum tpcc_type { TPCC_NEW_ORDER, TPCC_PAYMENT, TPCC_ORDER_STATUS, TPCC_DELIVERY, TPCC_STOCK_LEVEL };

/* tpcc_request.rc is one of these, or an extended result code of SQLite (SQLITE_OK: the outcome is final). */
enum { TPCC_UNKNOWN = -1 }; /* a row that the input names is not there */

/* One transaction. Of the five members only the one that type names is in use. */
struct tpcc_request {
  int32_t type;      /* enum tpcc_type */
  int32_t rc;        /* see above */
  int32_t in_commit; /* 1: it was the COMMIT that failed with rc */
  int32_t wrote;     /* 1: it changed a row */
  struct tpcc_new_order new_order;
  struct tpcc_payment payment;
  struct tpcc_order_status order_status;
  struct tpcc_delivery delivery;
  struct tpcc_stock_level stock_level;
  char message[192]; /* what is wrong, if rc is not SQLITE_OK */
};

/* One connection. */
struct tpcc_conn;

/* Opens the database file at path (made if it is missing) and runs the SQL of pragmas. *conn is set also on failure,
** for tpcc_conn_message, unless there is no memory. */
int tpcc_conn_open(struct tpcc_store*, const char *path, const char *pragmas, struct tpcc_conn **conn);
int tpcc_conn_close(struct tpcc_conn*);
const char *tpcc_conn_message(struct tpcc_conn*); /* of its last failure; valid until its next call */

/* Prepares the statements of the transactions. */
int tpcc_conn_prepare(struct tpcc_conn*);

/* Runs one transaction with a commit of its own and sets r->rc. */
void tpcc_run(struct tpcc_conn*, struct tpcc_request *r);

/* Which members of a group have a SAVEPOINT of their own. */
enum tpcc_savepoints {
  TPCC_SAVEPOINT_NEED, /* New-Order only: it alone fails halfway in the ordinary course of things (clause 2.4.1.4) */
  TPCC_SAVEPOINT_ALL   /* every one that writes */
};

/* Runs n transactions in one, with one COMMIT, and sets each one's rc. One that fails or rolls back takes only its own
** work back. With TPCC_SAVEPOINT_NEED, when one without a SAVEPOINT fails, the whole group is rolled back and run again
** with TPCC_SAVEPOINT_ALL. When SQLite itself gives the transaction up (a full disk, an I/O error), or when COMMIT
** fails, all members get that error. */
void tpcc_run_group(struct tpcc_conn*, struct tpcc_request **r, int n, enum tpcc_savepoints);

/* The names and SQL of the statements, for tests; 0 after the last. */
const char *tpcc_statement_name(int i);
const char *tpcc_statement_sql(int i);

/* Runs SQL that returns nothing. */
int tpcc_exec(struct tpcc_conn*, const char *sql);

/* A statement of its own over rows of integers: n rows of columns values, row by row, stride values apart. */
int tpcc_prepare(struct tpcc_conn*, const char *sql, sqlite3_stmt **stmt);
int tpcc_insert_rows(struct tpcc_conn*, sqlite3_stmt*, const int64_t *values, int stride, int columns, int n);
/* Reads up to n rows; *got < n: those were the last. A NULL reads as 0. */
int tpcc_read_rows(struct tpcc_conn*, sqlite3_stmt*, int64_t *values, int stride, int columns, int n, int *got);

/* How this file's package was compiled, as the bundled SQLite was, by the same CGO_CFLAGS. */
int tpcc_has_fdatasync(void);
int tpcc_optimized(void);

/* CLOCK_MONOTONIC, ns. */
int64_t tpcc_now_ns(void);

/* Inside of the package: see connection.c and transactions.c. */
#include "statements.h"
#define TPCC_ENUM(name, text) S_##name,
enum tpcc_statement { STATEMENTS(TPCC_ENUM) TPCC_STATEMENTS };
#undef TPCC_ENUM

struct tpcc_conn {
  sqlite3 *db;
  struct tpcc_store *store;
  sqlite3_stmt *statements[TPCC_STATEMENTS];
  int32_t *namesakes; /* C_IDs of the customers with one last name */
  int namesakes_room;
  char message[192];
};

/* The work of one transaction, inside of one that is open. Returns r->rc. */
int tpcc_work(struct tpcc_conn*, struct tpcc_request *r);
int tpcc_simple(struct tpcc_conn*, enum tpcc_statement); /* a statement without parameters and rows */

int tpcc_fail(struct tpcc_conn*, int rc); /* keeps the message of a failure for tpcc_conn_message; returns rc */

/* Held from BEGIN IMMEDIATE to COMMIT. SQLite lets one connection write at a time anyway; one that waits here is woken
** when it is its turn, where SQLite's own lock would have to be polled. */
void tpcc_store_lock(struct tpcc_store*);
void tpcc_store_unlock(struct tpcc_store*);

struct tpcc_counters *tpcc_counters_of(struct tpcc_store*);
const char *tpcc_vfs_name(struct tpcc_store*);
#define TPCC_COUNT(counter, n) ((void)__atomic_fetch_add(&(counter), (n), __ATOMIC_RELAXED))

#endif
