/*
** The adapters sqlite and sqlitegrouped without Go: the same C transactions and commit policies, driven by threads.
**
**   cbench DB direct|grouped TERMINALS TRANSACTIONS own|writer all|need PRAGMAS
**
** runs TRANSACTIONS of the standard mix on the loaded database file DB (one warehouse, changed by it) and prints
** "tx/s cpu_us/tx". Inputs have the workload's distribution, not its exact streams.
*/
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "../sqltpcc.h"

enum { ITEMS = 100000, CUSTOMERS = 3000, NAMES = 1000, UNUSED_ITEM = ITEMS + 1 };

static struct {
  struct tpcc_store *store;
  const char *path, *pragmas;
  int grouped, reads_on_writer;
  enum tpcc_savepoints savepoints;
} config;

static long left; /* transactions that no terminal has begun */
static pthread_barrier_t begin;

static void die(const char *what, const char *why) {
  fprintf(stderr, "cbench: %s: %s\n", what, why);
  exit(1);
}

/* Inputs. */

static uint64_t next(uint64_t *state) { /* xorshift64* */
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * UINT64_C(2685821657736338717);
}

static int between(uint64_t *state, int low, int high) {
  return low + (int)((next(state) >> 32) * (uint64_t)(high - low + 1) >> 32);
}

static int nurand(uint64_t *state, int a, int c, int low, int high) { /* clause 2.1.6 */
  return ((between(state, 0, a) | between(state, low, high)) + c) % (high - low + 1) + low;
}

static int customer(uint64_t *state) { return nurand(state, 1023, 259, 1, CUSTOMERS); }
static int name(uint64_t *state) { return nurand(state, 255, 173, 0, NAMES - 1); }

static void draw(uint64_t *state, int64_t date, struct tpcc_request *r) {
  int x = between(state, 0, 99);
  if (x < 45) {
    struct tpcc_new_order *t = &r->new_order;
    r->type = TPCC_NEW_ORDER;
    t->w_id = 1;
    t->d_id = between(state, 1, TPCC_DISTRICTS);
    t->c_id = customer(state);
    t->count = between(state, 5, TPCC_LINES);
    t->entry_d = date;
    for (int i = 0; i < t->count; i++) {
      t->lines[i].i_id = nurand(state, 8191, 7911, 1, ITEMS);
      t->lines[i].supply_w_id = 1;
      t->lines[i].quantity = between(state, 1, 10);
    }
    if (between(state, 1, 100) == 1) t->lines[t->count - 1].i_id = UNUSED_ITEM;
  } else if (x < 88) {
    struct tpcc_payment *t = &r->payment;
    r->type = TPCC_PAYMENT;
    t->w_id = t->c_w_id = 1;
    t->d_id = t->c_d_id = between(state, 1, TPCC_DISTRICTS);
    t->by_name = between(state, 1, 100) <= 60;
    if (t->by_name) t->c_last = name(state);
    else t->c_id = customer(state);
    t->amount = between(state, 100, 500000);
    t->date = date;
  } else if (x < 92) {
    struct tpcc_order_status *t = &r->order_status;
    r->type = TPCC_ORDER_STATUS;
    t->w_id = 1;
    t->d_id = between(state, 1, TPCC_DISTRICTS);
    t->by_name = between(state, 1, 100) <= 60;
    if (t->by_name) t->c_last = name(state);
    else t->c_id = customer(state);
  } else if (x < 96) {
    r->type = TPCC_DELIVERY;
    r->delivery.w_id = 1;
    r->delivery.carrier_id = between(state, 1, 10);
    r->delivery.delivery_d = date;
  } else {
    r->type = TPCC_STOCK_LEVEL;
    r->stock_level.w_id = 1;
    r->stock_level.d_id = between(state, 1, TPCC_DISTRICTS);
    r->stock_level.threshold = between(state, 10, 20);
  }
}

/* Terminals and the writer. */

struct terminal {
  pthread_t thread;
  int number;
  struct tpcc_conn *conn; /* 0 if the writer does everything */
  struct tpcc_request *request;
  sem_t answered;
};

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER;
static struct terminal **waiting, **taken;
static int waiting_count, ended;

static struct tpcc_conn *connect_store(void) {
  struct tpcc_conn *c;
  if (tpcc_conn_open(config.store, config.path, config.pragmas, &c) != SQLITE_OK || tpcc_conn_prepare(c) != SQLITE_OK) {
    die(config.path, c ? tpcc_conn_message(c) : "out of memory");
  }
  return c;
}

static int reads_only(const struct tpcc_request *r) {
  return r->type == TPCC_ORDER_STATUS || r->type == TPCC_STOCK_LEVEL;
}

static void hand(struct terminal *t) {
  pthread_mutex_lock(&queue_lock);
  waiting[waiting_count++] = t;
  if (waiting_count == 1) pthread_cond_signal(&queue_filled);
  pthread_mutex_unlock(&queue_lock);
  while (sem_wait(&t->answered) != 0) {
  }
}

static void *run_writer(void *arg) {
  struct tpcc_request **requests = arg;
  struct tpcc_conn *c = connect_store();
  for (;;) {
    pthread_mutex_lock(&queue_lock);
    while (waiting_count == 0 && !ended) pthread_cond_wait(&queue_filled, &queue_lock);
    struct terminal **group = waiting;
    int n = waiting_count;
    waiting = taken;
    waiting_count = 0;
    taken = group;
    pthread_mutex_unlock(&queue_lock);
    if (n == 0) break;
    for (int i = 0; i < n; i++) requests[i] = group[i]->request;
    tpcc_run_group(c, requests, n, config.savepoints);
    for (int i = 0; i < n; i++) sem_post(&group[i]->answered);
  }
  tpcc_conn_close(c);
  return 0;
}

static void *run_terminal(void *arg) {
  struct terminal *t = arg;
  uint64_t state = UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)(t->number + 1);
  int64_t date = INT64_C(1767312000000);
  pthread_barrier_wait(&begin);
  while (__atomic_sub_fetch(&left, 1, __ATOMIC_RELAXED) >= 0) {
    struct tpcc_request *r = t->request;
    draw(&state, ++date, r);
    if (config.grouped && !(t->conn && reads_only(r))) {
      hand(t);
    } else {
      tpcc_run(t->conn, r);
    }
    if (r->rc != SQLITE_OK) die("transaction failed", r->message);
  }
  return 0;
}

static double cpu_us(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

int main(int argc, char **argv) {
  if (argc != 8) die("usage", "cbench DB direct|grouped TERMINALS TRANSACTIONS own|writer all|need PRAGMAS");
  int terminals = atoi(argv[3]);
  long transactions = atol(argv[4]);
  config.path = argv[1];
  config.grouped = strcmp(argv[2], "grouped") == 0;
  config.reads_on_writer = strcmp(argv[5], "writer") == 0;
  config.savepoints = strcmp(argv[6], "all") == 0 ? TPCC_SAVEPOINT_ALL : TPCC_SAVEPOINT_NEED;
  config.pragmas = argv[7];
  config.store = tpcc_store_new();
  if (!config.store || terminals < 1 || transactions < 1) die("start", "bad arguments, or no memory");
  left = transactions;
  pthread_barrier_init(&begin, 0, (unsigned)terminals + 1);

  struct terminal *t = calloc((size_t)terminals, sizeof *t);
  waiting = calloc((size_t)terminals, sizeof *waiting);
  taken = calloc((size_t)terminals, sizeof *taken);
  struct tpcc_request **requests = calloc((size_t)terminals, sizeof *requests);
  if (!t || !waiting || !taken || !requests) die("start", "out of memory");
  pthread_t writer;
  if (config.grouped) pthread_create(&writer, 0, run_writer, requests);
  for (int i = 0; i < terminals; i++) {
    t[i].number = i;
    t[i].request = calloc(1, sizeof *t[i].request);
    if (!t[i].request) die("start", "out of memory");
    if (!config.grouped || !config.reads_on_writer) t[i].conn = connect_store();
    sem_init(&t[i].answered, 0, 0);
    if (pthread_create(&t[i].thread, 0, run_terminal, &t[i]) != 0) die("start", "no thread");
  }
  double cpu = cpu_us();
  int64_t began = tpcc_now_ns();
  pthread_barrier_wait(&begin);
  for (int i = 0; i < terminals; i++) pthread_join(t[i].thread, 0);
  int64_t ns = tpcc_now_ns() - began;
  cpu = cpu_us() - cpu;

  if (config.grouped) {
    pthread_mutex_lock(&queue_lock);
    ended = 1;
    pthread_cond_signal(&queue_filled);
    pthread_mutex_unlock(&queue_lock);
    pthread_join(writer, 0);
  }
  for (int i = 0; i < terminals; i++) {
    if (t[i].conn) tpcc_conn_close(t[i].conn);
  }
  struct tpcc_counters counters;
  tpcc_store_counters(config.store, &counters);
  printf("%.0f tx/s %.1f cpu_us/tx %.1f tx/commit\n", (double)transactions / ((double)ns / 1e9), cpu / (double)transactions,
         (double)transactions / (double)(counters.commits ? counters.commits : 1));
  return 0;
}
