/*
** The work of the five transactions: prepared statements, bound, stepped and reset. Nothing here begins or ends a
** transaction. Clause numbers are of the TPC-C specification, revision 5.11.
**
** Each function returns SQLITE_OK, an extended result code, or TPCC_UNKNOWN, and in the last two cases leaves a message
** in the request. What it has changed until then is for its caller to take back.
*/
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sqltpcc.h"

/* Binds args to statement s and steps it once: SQLITE_ROW, SQLITE_DONE or an error. */
static inline int step(struct tpcc_conn *c, enum tpcc_statement s, const int64_t *args, int n) {
  sqlite3_stmt *stmt = c->statements[s];
  for (int i = 0; i < n; i++) {
    int rc = sqlite3_bind_int64(stmt, i + 1, args[i]);
    if (rc != SQLITE_OK) return rc;
  }
  return sqlite3_step(stmt);
}

/* As step, for a statement that returns no row: SQLITE_OK or an error. */
static inline int execute(struct tpcc_conn *c, enum tpcc_statement s, const int64_t *args, int n) {
  int rc = step(c, s, args, n);
  if (rc != SQLITE_DONE) return rc == SQLITE_ROW ? SQLITE_OK : rc;
  return sqlite3_reset(c->statements[s]);
}

#define ARGS(...) (const int64_t[]){__VA_ARGS__}, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define STEP(s, ...) step(c, S_##s, ARGS(__VA_ARGS__))
#define EXECUTE(s, ...) execute(c, S_##s, ARGS(__VA_ARGS__))
#define COLUMN(s, i) sqlite3_column_int64(c->statements[S_##s], (i))
#define RESET(s) sqlite3_reset(c->statements[S_##s])

/* The request names a row that is not there (rc SQLITE_DONE), or SQLite failed with rc. */
static int failed(struct tpcc_conn *c, struct tpcc_request *r, int rc, const char *format, ...) {
  if (rc != SQLITE_DONE) {
    snprintf(r->message, sizeof r->message, "%s", sqlite3_errmsg(c->db));
    return rc;
  }
  va_list args;
  va_start(args, format);
  vsnprintf(r->message, sizeof r->message, format, args);
  va_end(args);
  return TPCC_UNKNOWN;
}

/* SQLite failed with rc. */
static int broken(struct tpcc_conn *c, struct tpcc_request *r, int rc) { return failed(c, r, rc, "%s", ""); }

/* The customer of row ceil(n/2) of those with that last name (clause 2.5.2.2). */
static int customer_by_name(struct tpcc_conn *c, struct tpcc_request *r, int w_id, int d_id, int c_last, int32_t *c_id) {
  int n = 0;
  int rc = STEP(CUSTOMER_BY_NAME, w_id, d_id, c_last);
  for (; rc == SQLITE_ROW; rc = sqlite3_step(c->statements[S_CUSTOMER_BY_NAME])) {
    if (n == c->namesakes_room) {
      int room = n == 0 ? 64 : 2 * n;
      int32_t *grown = realloc(c->namesakes, (size_t)room * sizeof *grown);
      if (!grown) return SQLITE_NOMEM;
      c->namesakes = grown;
      c->namesakes_room = room;
    }
    c->namesakes[n++] = (int32_t)COLUMN(CUSTOMER_BY_NAME, 0);
  }
  if (rc != SQLITE_DONE || n == 0) {
    return failed(c, r, rc, "no customer with last name %d in district %d of warehouse %d", c_last, d_id, w_id);
  }
  RESET(CUSTOMER_BY_NAME);
  *c_id = c->namesakes[(n + 1) / 2 - 1];
  return SQLITE_OK;
}

/* tpcc.StockAfter: 91 are added when fewer than 10 would be left (clause 2.4.2.2). */
static int64_t stock_after(int64_t s_quantity, int64_t quantity) {
  return s_quantity >= quantity + 10 ? s_quantity - quantity : s_quantity - quantity + 91;
}

static int new_order(struct tpcc_conn *c, struct tpcc_request *r) {
  struct tpcc_new_order *t = &r->new_order;
  int w_id = t->w_id, d_id = t->d_id;
  int rc = STEP(WAREHOUSE_TAX, w_id);
  if (rc != SQLITE_ROW) return failed(c, r, rc, "no warehouse %d", w_id);
  t->w_tax = COLUMN(WAREHOUSE_TAX, 0);
  RESET(WAREHOUSE_TAX);

  rc = STEP(CUSTOMER_DISCOUNT, w_id, d_id, t->c_id);
  if (rc != SQLITE_ROW) return failed(c, r, rc, "no customer %d in district %d of warehouse %d", t->c_id, d_id, w_id);
  t->c_discount = COLUMN(CUSTOMER_DISCOUNT, 0);
  t->c_last = (int32_t)COLUMN(CUSTOMER_DISCOUNT, 1);
  t->c_credit = (int32_t)COLUMN(CUSTOMER_DISCOUNT, 2);
  RESET(CUSTOMER_DISCOUNT);

  rc = STEP(DISTRICT_TAX, w_id, d_id);
  if (rc != SQLITE_ROW) return failed(c, r, rc, "no district %d in warehouse %d", d_id, w_id);
  t->o_id = (int32_t)COLUMN(DISTRICT_TAX, 0);
  t->d_tax = COLUMN(DISTRICT_TAX, 1);
  RESET(DISTRICT_TAX);
  rc = EXECUTE(DISTRICT_ORDER, w_id, d_id);
  if (rc != SQLITE_OK) return broken(c, r, rc);

  int all_local = 1;
  for (int i = 0; i < t->count; i++) {
    if (t->lines[i].supply_w_id != w_id) all_local = 0;
  }
  rc = EXECUTE(ORDERS_INSERT, w_id, d_id, t->o_id, t->c_id, t->entry_d, t->count, all_local);
  if (rc != SQLITE_OK) return broken(c, r, rc);
  rc = EXECUTE(NEW_ORDER_INSERT, w_id, d_id, t->o_id);
  if (rc != SQLITE_OK) return broken(c, r, rc);

  int64_t sum = 0;
  for (int i = 0; i < t->count; i++) {
    struct tpcc_new_order_line *line = &t->lines[i];
    rc = STEP(ITEM_PRICE, line->i_id);
    if (rc == SQLITE_DONE) { /* an unused item: the order is rolled back (clauses 2.4.1.4, 2.4.2.3) */
      RESET(ITEM_PRICE);
      t->rolled_back = 1;
      return SQLITE_OK;
    }
    if (rc != SQLITE_ROW) return broken(c, r, rc);
    line->price = COLUMN(ITEM_PRICE, 0);
    RESET(ITEM_PRICE);

    rc = STEP(STOCK_QUANTITY, line->supply_w_id, line->i_id);
    if (rc != SQLITE_ROW) return failed(c, r, rc, "no stock of item %d in warehouse %d", line->i_id, line->supply_w_id);
    line->s_quantity = stock_after(COLUMN(STOCK_QUANTITY, 0), line->quantity);
    RESET(STOCK_QUANTITY);
    rc = EXECUTE(STOCK_ORDER, line->supply_w_id, line->i_id, line->s_quantity, line->quantity, line->supply_w_id != w_id);
    if (rc != SQLITE_OK) return broken(c, r, rc);

    line->amount = line->quantity * line->price;
    sum += line->amount;
    rc = EXECUTE(LINE_INSERT, w_id, d_id, t->o_id, i + 1, line->i_id, line->supply_w_id, line->quantity, line->amount);
    if (rc != SQLITE_OK) return broken(c, r, rc);
  }
  /* tpcc.TotalAmount */
  t->total_amount = (sum * (10000 - t->c_discount) * (10000 + t->w_tax + t->d_tax) + 50000000) / 100000000;
  r->wrote = 1;
  return SQLITE_OK;
}

static int payment(struct tpcc_conn *c, struct tpcc_request *r) {
  struct tpcc_payment *t = &r->payment;
  int rc;
  if (t->by_name) {
    rc = customer_by_name(c, r, t->c_w_id, t->c_d_id, t->c_last, &t->c_id);
    if (rc != SQLITE_OK) return rc;
  }
  rc = STEP(CUSTOMER_ACCOUNT, t->c_w_id, t->c_d_id, t->c_id);
  if (rc != SQLITE_ROW) {
    return failed(c, r, rc, "no customer %d in district %d of warehouse %d", t->c_id, t->c_d_id, t->c_w_id);
  }
  t->c_last = (int32_t)COLUMN(CUSTOMER_ACCOUNT, 0);
  t->c_credit = (int32_t)COLUMN(CUSTOMER_ACCOUNT, 1);
  t->c_since = COLUMN(CUSTOMER_ACCOUNT, 2);
  t->c_credit_lim = COLUMN(CUSTOMER_ACCOUNT, 3);
  t->c_discount = COLUMN(CUSTOMER_ACCOUNT, 4);
  t->c_balance = COLUMN(CUSTOMER_ACCOUNT, 5) - t->amount;
  RESET(CUSTOMER_ACCOUNT);

  rc = EXECUTE(CUSTOMER_PAY, t->c_w_id, t->c_d_id, t->c_id, t->amount);
  if (rc != SQLITE_OK) return broken(c, r, rc);
  rc = EXECUTE(WAREHOUSE_PAY, t->w_id, t->amount);
  if (rc == SQLITE_OK && sqlite3_changes(c->db) != 1) return failed(c, r, SQLITE_DONE, "no warehouse %d", t->w_id);
  if (rc != SQLITE_OK) return broken(c, r, rc);
  rc = EXECUTE(DISTRICT_PAY, t->w_id, t->d_id, t->amount);
  if (rc == SQLITE_OK && sqlite3_changes(c->db) != 1) {
    return failed(c, r, SQLITE_DONE, "no district %d in warehouse %d", t->d_id, t->w_id);
  }
  if (rc != SQLITE_OK) return broken(c, r, rc);
  rc = EXECUTE(HISTORY_INSERT, t->c_id, t->c_d_id, t->c_w_id, t->d_id, t->w_id, t->date, t->amount);
  if (rc != SQLITE_OK) return broken(c, r, rc);
  r->wrote = 1;
  return SQLITE_OK;
}

static int order_status(struct tpcc_conn *c, struct tpcc_request *r) {
  struct tpcc_order_status *t = &r->order_status;
  int rc;
  if (t->by_name) {
    rc = customer_by_name(c, r, t->w_id, t->d_id, t->c_last, &t->c_id);
    if (rc != SQLITE_OK) return rc;
  }
  rc = STEP(CUSTOMER_BALANCE, t->w_id, t->d_id, t->c_id);
  if (rc != SQLITE_ROW) return failed(c, r, rc, "no customer %d in district %d of warehouse %d", t->c_id, t->d_id, t->w_id);
  t->c_balance = COLUMN(CUSTOMER_BALANCE, 0);
  t->c_last = (int32_t)COLUMN(CUSTOMER_BALANCE, 1);
  RESET(CUSTOMER_BALANCE);

  t->o_id = t->carrier_id = t->count = 0;
  t->entry_d = 0;
  rc = STEP(ORDERS_NEWEST, t->w_id, t->d_id, t->c_id);
  if (rc == SQLITE_DONE) { /* a customer without orders */
    RESET(ORDERS_NEWEST);
    return SQLITE_OK;
  }
  if (rc != SQLITE_ROW) return broken(c, r, rc);
  t->o_id = (int32_t)COLUMN(ORDERS_NEWEST, 0);
  t->entry_d = COLUMN(ORDERS_NEWEST, 1);
  t->carrier_id = (int32_t)COLUMN(ORDERS_NEWEST, 2); /* NULL reads as 0, tpcc.Null */
  RESET(ORDERS_NEWEST);

  rc = STEP(LINES_OF_ORDER, t->w_id, t->d_id, t->o_id);
  for (; rc == SQLITE_ROW && t->count < TPCC_LINES; rc = sqlite3_step(c->statements[S_LINES_OF_ORDER])) {
    struct tpcc_order_status_line *line = &t->lines[t->count++];
    line->i_id = (int32_t)COLUMN(LINES_OF_ORDER, 0);
    line->supply_w_id = (int32_t)COLUMN(LINES_OF_ORDER, 1);
    line->quantity = (int32_t)COLUMN(LINES_OF_ORDER, 2);
    line->amount = COLUMN(LINES_OF_ORDER, 3);
    line->delivery_d = COLUMN(LINES_OF_ORDER, 4);
  }
  if (rc == SQLITE_ROW) {
    snprintf(r->message, sizeof r->message, "order %d of district %d of warehouse %d has more than %d lines", t->o_id,
             t->d_id, t->w_id, TPCC_LINES);
    return SQLITE_CORRUPT;
  }
  if (rc != SQLITE_DONE) return broken(c, r, rc);
  RESET(LINES_OF_ORDER);
  return SQLITE_OK;
}

/* Delivers one district's oldest new order, if it has one (clause 2.7.4.2). */
static int deliver(struct tpcc_conn *c, struct tpcc_request *r, int d_id) {
  struct tpcc_delivery *t = &r->delivery;
  int w_id = t->w_id;
  int rc = STEP(NEW_ORDER_OLDEST, w_id, d_id);
  if (rc != SQLITE_ROW) return broken(c, r, rc);
  int32_t o_id = (int32_t)COLUMN(NEW_ORDER_OLDEST, 0); /* the minimum of nothing is NULL, which reads as 0 */
  RESET(NEW_ORDER_OLDEST);
  t->o_id[d_id - 1] = o_id;
  if (o_id == 0) return SQLITE_OK;
  rc = EXECUTE(NEW_ORDER_DELETE, w_id, d_id, o_id);
  if (rc != SQLITE_OK) return broken(c, r, rc);

  rc = STEP(ORDERS_CUSTOMER, w_id, d_id, o_id);
  if (rc != SQLITE_ROW) return failed(c, r, rc, "no order %d in district %d of warehouse %d", o_id, d_id, w_id);
  int64_t c_id = COLUMN(ORDERS_CUSTOMER, 0);
  RESET(ORDERS_CUSTOMER);
  rc = EXECUTE(ORDERS_DELIVER, w_id, d_id, o_id, t->carrier_id);
  if (rc != SQLITE_OK) return broken(c, r, rc);

  rc = STEP(LINES_SUM, w_id, d_id, o_id);
  if (rc != SQLITE_ROW) return broken(c, r, rc);
  int64_t sum = COLUMN(LINES_SUM, 0);
  RESET(LINES_SUM);
  rc = EXECUTE(LINES_DELIVER, w_id, d_id, o_id, t->delivery_d);
  if (rc != SQLITE_OK) return broken(c, r, rc);
  rc = EXECUTE(CUSTOMER_DELIVER, w_id, d_id, c_id, sum);
  if (rc != SQLITE_OK) return broken(c, r, rc);
  r->wrote = 1;
  return SQLITE_OK;
}

static int delivery(struct tpcc_conn *c, struct tpcc_request *r) {
  int delivered = 0;
  for (int d_id = 1; d_id <= TPCC_DISTRICTS; d_id++) {
    int rc = deliver(c, r, d_id);
    if (rc != SQLITE_OK) return rc;
    delivered += r->delivery.o_id[d_id - 1] != 0;
  }
  if (delivered > 0) return SQLITE_OK;
  int rc = STEP(WAREHOUSE_TAX, r->delivery.w_id); /* nothing to deliver, or no such warehouse */
  if (rc != SQLITE_ROW) return failed(c, r, rc, "no warehouse %d", r->delivery.w_id);
  RESET(WAREHOUSE_TAX);
  return SQLITE_OK;
}

static int stock_level(struct tpcc_conn *c, struct tpcc_request *r) {
  struct tpcc_stock_level *t = &r->stock_level;
  int rc = STEP(DISTRICT_NEXT, t->w_id, t->d_id);
  if (rc != SQLITE_ROW) return failed(c, r, rc, "no district %d in warehouse %d", t->d_id, t->w_id);
  int64_t next = COLUMN(DISTRICT_NEXT, 0);
  RESET(DISTRICT_NEXT);
  rc = STEP(STOCK_LEVEL, t->w_id, t->d_id, next, t->threshold);
  if (rc != SQLITE_ROW) return broken(c, r, rc);
  t->low_stock = (int32_t)COLUMN(STOCK_LEVEL, 0);
  RESET(STOCK_LEVEL);
  return SQLITE_OK;
}

int tpcc_work(struct tpcc_conn *c, struct tpcc_request *r) {
  r->in_commit = r->wrote = 0;
  switch (r->type) {
  case TPCC_NEW_ORDER:
    r->new_order.rolled_back = 0;
    r->rc = new_order(c, r);
    break;
  case TPCC_PAYMENT:
    r->rc = payment(c, r);
    break;
  case TPCC_ORDER_STATUS:
    r->rc = order_status(c, r);
    break;
  case TPCC_DELIVERY:
    r->rc = delivery(c, r);
    break;
  default:
    r->rc = stock_level(c, r);
    break;
  }
  if (r->rc != SQLITE_OK) { /* a statement may stand in mid-step */
    for (int i = 0; i < TPCC_STATEMENTS; i++) sqlite3_reset(c->statements[i]);
  }
  return r->rc;
}
