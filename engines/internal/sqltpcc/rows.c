/*
** Rows in bulk: many a call, for loading and for snapshots.
*/
#include "sqltpcc.h"

int tpcc_insert_rows(struct tpcc_conn *c, sqlite3_stmt *stmt, const int64_t *values, int stride, int columns, int n) {
  for (int row = 0; row < n; row++, values += stride) {
    for (int i = 0; i < columns; i++) {
      int rc = sqlite3_bind_int64(stmt, i + 1, values[i]);
      if (rc != SQLITE_OK) return tpcc_fail(c, rc);
    }
    int rc = sqlite3_step(stmt);
    if (rc != SQLITE_DONE) {
      tpcc_fail(c, rc);
      sqlite3_reset(stmt);
      return rc;
    }
    sqlite3_reset(stmt);
  }
  return SQLITE_OK;
}

int tpcc_read_rows(struct tpcc_conn *c, sqlite3_stmt *stmt, int64_t *values, int stride, int columns, int n, int *got) {
  for (*got = 0; *got < n; ++*got, values += stride) {
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_DONE) return SQLITE_OK;
    if (rc != SQLITE_ROW) return tpcc_fail(c, rc);
    for (int i = 0; i < columns; i++) values[i] = sqlite3_column_int64(stmt, i);
  }
  return SQLITE_OK;
}
