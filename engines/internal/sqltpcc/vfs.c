/*
** A VFS over the default one that counts. Each store has one, so the counters are the store's own.
**
** xOpen opens the file by the default VFS and then points it to a copy of its methods, in which xSync, and for the WAL
** xWrite, are functions of this file. All other calls go straight to the default VFS's own functions, at no cost:
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
  pthread_mutex_t writing; /* see tpcc_store_lock */
  int sync_error; /* what xSync answers instead of syncing; 0: it syncs */
};

struct trailer {
  sqlite3_io_methods methods;
  const sqlite3_io_methods *under;
  struct tpcc_store *store;
  int database; /* 1: the database file itself */
};

/* All stores stand over the one default VFS, so its file size is one number. Set before the first file is opened. */
static int file_bytes;

static struct trailer *trailer_of(sqlite3_file *file) { return (struct trailer*)((char*)file + file_bytes); }

static int count_sync(sqlite3_file *file, int flags) {
  struct trailer *t = trailer_of(file);
  struct tpcc_counters *counters = &t->store->counters;
  int error = __atomic_load_n(&t->store->sync_error, __ATOMIC_RELAXED);
  if (error) return error;
  int64_t began = tpcc_now_ns();
  int rc = t->under->xSync(file, flags);
  TPCC_COUNT(counters->sync_ns, tpcc_now_ns() - began);
  TPCC_COUNT(counters->syncs, 1);
  if (t->database) TPCC_COUNT(counters->checkpoints, 1);
  return rc;
}

static int count_write(sqlite3_file *file, const void *data, int bytes, sqlite3_int64 offset) {
  struct trailer *t = trailer_of(file);
  TPCC_COUNT(t->store->counters.wal_bytes, bytes);
  return t->under->xWrite(file, data, bytes, offset);
}

static int open_counted(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *out_flags) {
  struct tpcc_store *store = (struct tpcc_store*)vfs;
  int rc = store->under->xOpen(store->under, name, file, flags, out_flags);
  if (rc != SQLITE_OK || !file->pMethods) return rc;
  struct trailer *t = trailer_of(file);
  t->under = file->pMethods;
  t->store = store;
  t->database = (flags & SQLITE_OPEN_MAIN_DB) != 0;
  t->methods = *file->pMethods;
  t->methods.xSync = count_sync;
  if (flags & SQLITE_OPEN_WAL) t->methods.xWrite = count_write;
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
  TPCC_READ(wal_bytes);
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
