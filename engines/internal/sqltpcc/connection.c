/*
** Connections, and the two commit policies: tpcc_run and tpcc_run_group.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "sqltpcc.h"

#define TPCC_NAME(name, text) #name,
#define TPCC_TEXT(name, text) text,
static const char *const names[] = {STATEMENTS(TPCC_NAME)};
static const char *const texts[] = {STATEMENTS(TPCC_TEXT)};

const char *tpcc_statement_name(int i) { return i < TPCC_STATEMENTS ? names[i] : 0; }
const char *tpcc_statement_sql(int i) { return i < TPCC_STATEMENTS ? texts[i] : 0; }

int tpcc_has_fdatasync(void) {
#if HAVE_FDATASYNC
  return 1;
#else
  return 0;
#endif
}

int tpcc_optimized(void) {
#ifdef __OPTIMIZE__
  return 1;
#else
  return 0;
#endif
}

int64_t tpcc_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Waits for a lock of SQLite's. Writers of one store wait for each other before they begin (tpcc_store_lock), so what
** is waited for here is short: another connection that loads, recovers or closes. Gives up after about a minute, which
** only a foreign process can bring about. */
static int busy(void *unused, int count) {
  enum { WAIT_US = 100, WAITS = 600000 };
  (void)unused;
  if (count >= WAITS) return 0;
  usleep(WAIT_US);
  return 1;
}

int tpcc_fail(struct tpcc_conn *c, int rc) {
  snprintf(c->message, sizeof c->message, "%s", c->db ? sqlite3_errmsg(c->db) : sqlite3_errstr(rc));
  return rc;
}

int tpcc_conn_open(struct tpcc_store *store, const char *path, const char *pragmas, struct tpcc_conn **conn) {
  struct tpcc_conn *c = *conn = calloc(1, sizeof *c);
  if (!c) return SQLITE_NOMEM;
  c->store = store;
  /* No SQLITE_OPEN_URI: a path is a path, whatever characters it holds. */
  int rc = sqlite3_open_v2(path, &c->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                           SQLITE_OPEN_EXRESCODE, tpcc_vfs_name(store));
  if (rc == SQLITE_OK) rc = sqlite3_busy_handler(c->db, busy, 0);
  if (rc != SQLITE_OK) return tpcc_fail(c, rc);
  return tpcc_exec(c, pragmas);
}

int tpcc_conn_close(struct tpcc_conn *c) {
  for (int i = 0; i < TPCC_STATEMENTS; i++) sqlite3_finalize(c->statements[i]);
  int rc = sqlite3_close(c->db);
  free(c->namesakes);
  free(c);
  return rc;
}

const char *tpcc_conn_message(struct tpcc_conn *c) { return c->message; }

int tpcc_conn_prepare(struct tpcc_conn *c) {
  for (int i = 0; i < TPCC_STATEMENTS; i++) {
    int rc = tpcc_prepare(c, texts[i], &c->statements[i]);
    if (rc != SQLITE_OK) return rc;
  }
  return SQLITE_OK;
}

int tpcc_exec(struct tpcc_conn *c, const char *sql) {
  int rc = sqlite3_exec(c->db, sql, 0, 0, 0);
  return rc == SQLITE_OK ? rc : tpcc_fail(c, rc);
}

int tpcc_prepare(struct tpcc_conn *c, const char *sql, sqlite3_stmt **stmt) {
  int rc = sqlite3_prepare_v3(c->db, sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, 0);
  return rc == SQLITE_OK ? rc : tpcc_fail(c, rc);
}

int tpcc_simple(struct tpcc_conn *c, enum tpcc_statement s) {
  int rc = sqlite3_step(c->statements[s]);
  int reset = sqlite3_reset(c->statements[s]);
  return rc == SQLITE_DONE ? reset : rc;
}

static int is_write(const struct tpcc_request *r) { return r->type != TPCC_ORDER_STATUS && r->type != TPCC_STOCK_LEVEL; }

static int rolls_back(const struct tpcc_request *r) { return r->type == TPCC_NEW_ORDER && r->new_order.rolled_back; }

/* Ends what is open, if anything still is. SQLite rolls back by itself on some errors. */
static void roll_back(struct tpcc_conn *c) {
  if (!sqlite3_get_autocommit(c->db)) tpcc_simple(c, S_ROLLBACK);
}

/* BEGIN, COMMIT or a SAVEPOINT has failed with rc, and r with it. */
static void give_up(struct tpcc_conn *c, struct tpcc_request *r, int rc, int in_commit) {
  r->rc = rc;
  r->in_commit = in_commit;
  snprintf(r->message, sizeof r->message, "%s", sqlite3_errmsg(c->db));
}

static void run_one(struct tpcc_conn *c, struct tpcc_request *r) {
  int rc = tpcc_simple(c, is_write(r) ? S_BEGIN_WRITE : S_BEGIN_READ);
  if (rc != SQLITE_OK) {
    give_up(c, r, rc, 0);
    return;
  }
  if (tpcc_work(c, r) != SQLITE_OK || rolls_back(r)) {
    roll_back(c);
    return;
  }
  rc = tpcc_simple(c, S_COMMIT);
  if (rc != SQLITE_OK) {
    give_up(c, r, rc, 1);
    roll_back(c);
    return;
  }
  if (r->wrote) TPCC_COUNT(tpcc_counters_of(c->store)->commits, 1);
}

void tpcc_run(struct tpcc_conn *c, struct tpcc_request *r) {
  if (!is_write(r)) {
    run_one(c, r);
    return;
  }
  tpcc_store_lock(c->store);
  run_one(c, r);
  tpcc_store_unlock(c->store);
}

/* How the members of a group came out, before their COMMIT. */
enum group { GROUP_DONE, GROUP_LOST, GROUP_AGAIN };

/* Runs the members inside of the open transaction. GROUP_LOST: *lost has taken all with it. GROUP_AGAIN: one without a
** SAVEPOINT has failed. */
static enum group run_members(struct tpcc_conn *c, struct tpcc_request **r, int n, enum tpcc_savepoints savepoints,
                              struct tpcc_request **lost) {
  for (int i = 0; i < n; i++) {
    int guarded = is_write(r[i]) && (savepoints == TPCC_SAVEPOINT_ALL || r[i]->type == TPCC_NEW_ORDER);
    int rc = SQLITE_OK;
    if (guarded) rc = tpcc_simple(c, S_SAVEPOINT);
    if (rc == SQLITE_OK) {
      int undo = tpcc_work(c, r[i]) != SQLITE_OK || rolls_back(r[i]);
      if (sqlite3_get_autocommit(c->db)) {
        *lost = r[i];
        return GROUP_LOST;
      }
      if (undo && is_write(r[i]) && !guarded) return GROUP_AGAIN;
      if (undo && guarded) rc = tpcc_simple(c, S_ROLLBACK_TO);
      if (rc == SQLITE_OK && guarded) rc = tpcc_simple(c, S_RELEASE);
    }
    if (rc != SQLITE_OK) {
      give_up(c, r[i], rc, 0);
      *lost = r[i];
      return GROUP_LOST;
    }
  }
  return GROUP_DONE;
}

void tpcc_run_group(struct tpcc_conn *c, struct tpcc_request **r, int n, enum tpcc_savepoints savepoints) {
  struct tpcc_counters *counters = tpcc_counters_of(c->store);
  int64_t began = tpcc_now_ns();
  int writes = 0, wrote = 0;
  for (int i = 0; i < n; i++) writes |= is_write(r[i]);

  struct tpcc_request *lost = r[0];
  enum group out = GROUP_AGAIN;
  while (out == GROUP_AGAIN) {
    int rc = tpcc_simple(c, writes ? S_BEGIN_WRITE : S_BEGIN_READ);
    if (rc == SQLITE_OK) {
      out = run_members(c, r, n, savepoints, &lost);
    } else {
      give_up(c, lost, rc, 0);
      out = GROUP_LOST;
    }
    if (out != GROUP_DONE) roll_back(c);
    savepoints = TPCC_SAVEPOINT_ALL;
  }
  int64_t applied = tpcc_now_ns();
  TPCC_COUNT(counters->apply_ns, applied - began);
  if (out == GROUP_DONE) {
    for (int i = 0; i < n; i++) wrote |= r[i]->rc == SQLITE_OK && r[i]->wrote;
    int64_t synced = __atomic_load_n(&counters->sync_ns, __ATOMIC_RELAXED);
    int rc = tpcc_simple(c, S_COMMIT);
    synced = __atomic_load_n(&counters->sync_ns, __ATOMIC_RELAXED) - synced;
    TPCC_COUNT(counters->commit_sync_ns, synced);
    TPCC_COUNT(counters->commit_ns, tpcc_now_ns() - applied - synced);
    if (rc != SQLITE_OK) {
      give_up(c, lost, rc, 1);
      roll_back(c);
      out = GROUP_LOST;
    } else if (wrote) {
      TPCC_COUNT(counters->commits, 1);
    }
  }
  if (out != GROUP_LOST) return;
  for (int i = 0; i < n; i++) {
    if (r[i] == lost) continue;
    r[i]->rc = lost->rc;
    r[i]->in_commit = lost->in_commit;
    memcpy(r[i]->message, lost->message, sizeof lost->message);
  }
}
