/*
** A VFS over the default one that counts. Each store has one, so the counters are the store's own.
**
** xOpen opens the file by the default VFS and then points it to a copy of its methods, in which xSync, xWrite, and for
** the database xFileControl, are functions of this file. All other calls go straight to the default VFS's own
** functions, at no cost. In WAL mode only checkpoints write to the database, so a transaction meets the counting of the
** WAL's writes and syncs, of temporary files, and one comparison in xFileControl.
**
** A checkpoint goes, all of it on the file of the connection that carries it out, which holds SQLite's checkpoint lock:
**
**   SQLITE_FCNTL_CKPT_START, xWrite of each page, SQLITE_FCNTL_CKPT_DONE, and, if it has reached the WAL's end, xSync
**
** So its time is that from START to DONE and in xSync; its sync of the WAL, before START, is not in it.
**
**   sqlite3_file as the default VFS knows it | struct trailer: the copy of its methods, the original ones, the store
**   <------- original szOsFile, rounded -----> <- trailer_of(file)
*/
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "sqltpcc.h"

struct tpcc_store {
  sqlite3_vfs vfs;     /* first: a sqlite3_vfs* of ours is a struct tpcc_store* */
  sqlite3_vfs *under;  /* the default VFS */
  char name[32];
  struct tpcc_counters counters;
  int64_t checkpoint_told_ns; /* see tell_checkpoint_time */
  pthread_mutex_t writing; /* see tpcc_store_lock */
  int sync_error; /* what xSync answers instead of syncing; 0: it syncs */
};

struct trailer {
  sqlite3_io_methods methods;
  const sqlite3_io_methods *under;
  struct tpcc_store *store;
  /* Of the file of the database itself, else CHECKPOINT_NONE: */
  enum { CHECKPOINT_NONE, CHECKPOINT_COPIES, CHECKPOINT_COPIED /* what is left is its xSync */ } checkpoint;
};

/* All stores stand over the one default VFS, so its file size is one number. Set before the first file is opened. */
static int file_bytes;

static struct trailer *trailer_of(sqlite3_file *file) { return (struct trailer*)((char*)file + file_bytes); }

/* What a connection does of a checkpoint begins and ends. While it lasts the counter holds the time of those before it
** less the time of its beginning, which is negative: one word, so that a reader never sees one without the other. */
static void checkpoint_begins(struct tpcc_counters *counters) { TPCC_COUNT(counters->checkpoint_ns, -tpcc_now_ns()); }
static void checkpoint_ends(struct tpcc_counters *counters) { TPCC_COUNT(counters->checkpoint_ns, tpcc_now_ns()); }

static int count_sync(sqlite3_file *file, int flags) {
  struct trailer *t = trailer_of(file);
  struct tpcc_counters *counters = &t->store->counters;
  int error = __atomic_load_n(&t->store->sync_error, __ATOMIC_RELAXED);
  if (error) return error;
  int checkpoint = t->checkpoint == CHECKPOINT_COPIED;
  if (checkpoint) checkpoint_begins(counters);
  int64_t began = tpcc_now_ns();
  int rc = t->under->xSync(file, flags);
  TPCC_COUNT(counters->sync_ns, tpcc_now_ns() - began);
  TPCC_COUNT(counters->syncs, 1);
  if (checkpoint) {
    checkpoint_ends(counters);
    t->checkpoint = CHECKPOINT_NONE;
    if (rc == SQLITE_OK) TPCC_COUNT(counters->checkpoints, 1);
  }
  return rc;
}

static int count_wal_write(sqlite3_file *file, const void *data, int bytes, sqlite3_int64 offset) {
  struct trailer *t = trailer_of(file);
  TPCC_COUNT(t->store->counters.wal_bytes, bytes);
  return t->under->xWrite(file, data, bytes, offset);
}

static int count_temp_write(sqlite3_file *file, const void *data, int bytes, sqlite3_int64 offset) {
  struct trailer *t = trailer_of(file);
  TPCC_COUNT(t->store->counters.temp_bytes, bytes);
  return t->under->xWrite(file, data, bytes, offset);
}

static int count_database_write(sqlite3_file *file, const void *data, int bytes, sqlite3_int64 offset) {
  struct trailer *t = trailer_of(file);
  if (t->checkpoint == CHECKPOINT_COPIES) TPCC_COUNT(t->store->counters.checkpoint_bytes, bytes);
  return t->under->xWrite(file, data, bytes, offset);
}

static int watch_checkpoints(sqlite3_file *file, int op, void *arg) {
  struct trailer *t = trailer_of(file);
  if (op == SQLITE_FCNTL_CKPT_START) {
    t->checkpoint = CHECKPOINT_COPIES;
    checkpoint_begins(&t->store->counters);
  } else if (op == SQLITE_FCNTL_CKPT_DONE) {
    checkpoint_ends(&t->store->counters);
    t->checkpoint = CHECKPOINT_COPIED;
  }
  return t->under->xFileControl(file, op, arg);
}

/* The time in checkpoints so far, the part of a running one that has passed included. */
static int64_t checkpoint_time(const struct tpcc_counters *counters) {
  for (;;) {
    int64_t ns = __atomic_load_n(&counters->checkpoint_ns, __ATOMIC_SEQ_CST);
    if (ns >= 0) return ns;
    int64_t now = tpcc_now_ns();
    if (__atomic_load_n(&counters->checkpoint_ns, __ATOMIC_SEQ_CST) == ns) return ns + now; /* it ran until now */
  }
}

/* The same, but never less than what was told before: a checkpoint that ends reads the clock some ns before it counts,
** and who asks in between is told of these ns too. */
static int64_t tell_checkpoint_time(struct tpcc_store *s) {
  int64_t ns = checkpoint_time(&s->counters), *last = &s->checkpoint_told_ns;
  int64_t told = __atomic_load_n(last, __ATOMIC_SEQ_CST);
  while (told < ns && !__atomic_compare_exchange_n(last, &told, ns, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return told < ns ? ns : told;
}

/* The kinds of file that SQLite deletes when it closes them. */
enum { TEMPORARY = SQLITE_OPEN_DELETEONCLOSE | SQLITE_OPEN_TEMP_DB | SQLITE_OPEN_TRANSIENT_DB |
                   SQLITE_OPEN_TEMP_JOURNAL | SQLITE_OPEN_SUBJOURNAL };

static int open_counted(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *out_flags) {
  struct tpcc_store *store = (struct tpcc_store*)vfs;
  int rc = store->under->xOpen(store->under, name, file, flags, out_flags);
  if (rc != SQLITE_OK || !file->pMethods) return rc;
  struct trailer *t = trailer_of(file);
  t->under = file->pMethods;
  t->store = store;
  t->checkpoint = CHECKPOINT_NONE;
  t->methods = *file->pMethods;
  t->methods.xSync = count_sync;
  if (flags & SQLITE_OPEN_WAL) {
    t->methods.xWrite = count_wal_write;
  } else if (flags & TEMPORARY) {
    t->methods.xWrite = count_temp_write;
  } else if (flags & SQLITE_OPEN_MAIN_DB) {
    t->methods.xWrite = count_database_write;
    t->methods.xFileControl = watch_checkpoints;
  }
  file->pMethods = &t->methods;
  return SQLITE_OK;
}

struct tpcc_store *tpcc_store_new(void) {
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); /* no global lock in malloc; refused, harmlessly, once SQLite is in use */
  sqlite3_vfs *under = sqlite3_vfs_find(0);
  struct tpcc_store *s = under ? calloc(1, sizeof *s) : 0;
  if (!s) return 0;
  __atomic_store_n(&file_bytes, (under->szOsFile + 15) & ~15, __ATOMIC_RELAXED);
  s->under = under;
  pthread_mutex_init(&s->writing, 0);
  s->vfs = *under; /* the unix VFS's other methods do not look at pAppData, and ours is the only xOpen */
  s->vfs.szOsFile = file_bytes + (int)sizeof(struct trailer);
  s->vfs.xOpen = open_counted;
  s->vfs.pNext = 0;
  snprintf(s->name, sizeof s->name, "tpcc-%p", (void*)s);
  s->vfs.zName = s->name;
  if (sqlite3_vfs_register(&s->vfs, 0) != SQLITE_OK) {
    pthread_mutex_destroy(&s->writing);
    free(s);
    return 0;
  }
  return s;
}

void tpcc_store_free(struct tpcc_store *s) {
  sqlite3_vfs_unregister(&s->vfs);
  pthread_mutex_destroy(&s->writing);
  free(s);
}

void tpcc_store_counters(struct tpcc_store *s, struct tpcc_counters *out) {
#define TPCC_READ(field) out->field = __atomic_load_n(&s->counters.field, __ATOMIC_RELAXED)
  TPCC_READ(commits);
  TPCC_READ(syncs);
  TPCC_READ(checkpoints);
  TPCC_READ(checkpoint_bytes);
  out->checkpoint_ns = tell_checkpoint_time(s);
  TPCC_READ(wal_bytes);
  TPCC_READ(temp_bytes);
  TPCC_READ(sync_ns);
  TPCC_READ(apply_ns);
  TPCC_READ(commit_ns);
  TPCC_READ(commit_sync_ns);
#undef TPCC_READ
}

void tpcc_store_fail_syncs(struct tpcc_store *s, int rc) { __atomic_store_n(&s->sync_error, rc, __ATOMIC_RELAXED); }

void tpcc_store_lock(struct tpcc_store *s) { pthread_mutex_lock(&s->writing); }
void tpcc_store_unlock(struct tpcc_store *s) { pthread_mutex_unlock(&s->writing); }

struct tpcc_counters *tpcc_counters_of(struct tpcc_store *s) { return &s->counters; }
const char *tpcc_vfs_name(struct tpcc_store *s) { return s->name; }
