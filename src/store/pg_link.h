/* pg_link.h -- a connection to PostgreSQL whose failures stick and whose waits end.
 *
 * 1. After the first failure every call does nothing until wr_pg_start(); results are empty.
 * 2. A piece of work has a deadline. A connection that is dead is opened again, and one that is
 *    silent is given up at the deadline; while the database is away, later work waits only briefly:
 *    until this link has an answer, or another of this process has written.
 * 3. Nothing of a session of the database's is relied on (no settings, no locks beyond a
 *    transaction), so a pooler may stand between. Statements that are run often are prepared; where
 *    one turns out to be gone, because a pooler gave us another connection, they no longer are.
 * 4. All values go and come in binary. Names are bytea: they are bytes to us, whatever the
 *    database's encoding.
 */
#ifndef WR_STORE_PG_LINK_H
#define WR_STORE_PG_LINK_H

/* Debian keeps it in a folder of its own, which no flag need name. */
#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#include <libpq-fe.h>
#endif

#include "base/arena.h"
#include "base/buf.h"
#include "weir/store.h"

/* ==== libpq ==== */

/* Loaded when the first store is a database. Nothing links it: a program that keeps its things in
 * files, and one that embeds libweir, need not have it (docs/decisions/008-libpq.md). Calls are
 * wr_pq->connectStart(...) for PQconnectStart(). */

#define WR_PQ_MAP(X)     \
    X(conninfoParse)     \
    X(conninfoFree)      \
    X(freemem)           \
    X(connectStart)      \
    X(connectPoll)       \
    X(status)            \
    X(finish)            \
    X(socket)            \
    X(errorMessage)      \
    X(setnonblocking)    \
    X(sendQueryParams)   \
    X(sendPrepare)       \
    X(sendQueryPrepared) \
    X(flush)             \
    X(consumeInput)      \
    X(isBusy)            \
    X(getResult)         \
    X(resultStatus)      \
    X(resultErrorField)  \
    X(ntuples)           \
    X(getvalue)          \
    X(getlength)         \
    X(getisnull)         \
    X(cmdTuples)         \
    X(clear)             \
    X(setSingleRowMode)  \
    X(enterPipelineMode) \
    X(exitPipelineMode)  \
    X(pipelineSync)      \
    X(setNoticeProcessor)

struct wr_pq {
#define X(name) __typeof__(PQ##name) *name;
    WR_PQ_MAP(X)
#undef X
};

/* ==== a connection ==== */

enum { WR_PG_ARGS_MAX = 28, WR_PG_OFTEN_MAX = 8 };

/* What a statement is given. It borrows all but numbers, which are in it. */
struct wr_pg_args {
    int count;
    weir_span values[WR_PG_ARGS_MAX]; /* ptr NULL: NULL */
    unsigned char numbers[WR_PG_ARGS_MAX][8];
};

struct wr_pg_link {
    const struct wr_pq *pq;
    PGconn *conn; /* owned; NULL: not open */
    char *url;    /* owned */
    uint32_t wait_ms_max;
    uint64_t began_us; /* when the work at hand did */
    uint64_t until_us; /* its deadline */
    uint64_t away_us;  /* when the last work began, if it ended without an answer; 0: it had one */
    bool was_away;     /* that was so when this one began, and nobody had written since */
    struct wr_pg_database *database; /* what all links of this process know of it */
    PGresult *result;                /* owned: the newest */
    weir_status status;
    weir_trouble trouble;
    char state[6]; /* SQLSTATE of the failure; empty: none */
    char detail[72];
    struct weir_err err;
    uint64_t trips_count;
    struct wr_pg_prepared { /* a statement of this connection */
        const char *sql;
        size_t result_at; /* which result of the pipeline says whether it was */
        bool is_there;    /* it does */
    } prepared[WR_PG_OFTEN_MAX];
    size_t prepared_count;
    bool is_pooled; /* what was prepared is not there the next time */
};

WEIR_MUST_USE weir_status wr_pg_link_open(struct wr_pg_link *link, const char *url,
                                          uint32_t wait_ms_max, struct weir_err *err);
void wr_pg_link_close(struct wr_pg_link *link);

/* Begins a piece of work: forgives what failed before, and sets its deadline. */
void wr_pg_start(struct wr_pg_link *link);

/* Gives it more time, where the database was not away. */
void wr_pg_extend(struct wr_pg_link *link, uint32_t wait_ms);

/* The work has written: the database is there, for all links of this process to that address. */
void wr_pg_wrote(struct wr_pg_link *link);

/* What became of it. */
WEIR_MUST_USE weir_status wr_pg_status(const struct wr_pg_link *link, weir_trouble *trouble,
                                       struct weir_err *err);

/* After a failure that another try may not meet again (the connection was lost, a deadlock, what
 * was referred to has just been removed): true where there is time left for it, and then all is
 * ready for it. */
bool wr_pg_again(struct wr_pg_link *link);

/* Forgives a failure of a database that is there: the work goes on in another way, with the time
 * that is left. */
void wr_pg_forgive(struct wr_pg_link *link);

/* Ends the work with a failure of our own. */
void wr_pg_fail(struct wr_pg_link *link, weir_status status, weir_trouble trouble);

void wr_pg_number(struct wr_pg_args *args, int64_t number);
void wr_pg_bytes(struct wr_pg_args *args, weir_span bytes);

/* Runs one statement; `args` may be NULL. Its rows are link->result until the next call. */
bool wr_pg_run(struct wr_pg_link *link, const char *sql, const struct wr_pg_args *args);

/* The same of a statement that is run often. */
bool wr_pg_run_often(struct wr_pg_link *link, const char *sql, const struct wr_pg_args *args);

/* The same as a piece of work by itself: again as long as wr_pg_again() says so. */
void wr_pg_ask(struct wr_pg_link *link, const char *sql, const struct wr_pg_args *args);
void wr_pg_ask_often(struct wr_pg_link *link, const char *sql, const struct wr_pg_args *args);

struct wr_pg_statement {
    const char *sql;
    bool is_often; /* prepared where it can be; then `sql` is a text that lives as long as we do */
    struct wr_pg_args args;
};

/* Several as one transaction, in one trip. The rows are those of the last. */
bool wr_pg_run_all(struct wr_pg_link *link, const struct wr_pg_statement *statements, size_t count);

/* One whose rows come one after the other; each is link->result while `row` runs, which may not
 * use the link. A failure stops it. */
typedef weir_status wr_pg_row_fn(void *user, struct wr_pg_link *link);
WEIR_MUST_USE weir_status wr_pg_each(struct wr_pg_link *link, const char *sql,
                                     const struct wr_pg_args *args, wr_pg_row_fn *row, void *user);

int wr_pg_rows(const struct wr_pg_link *link);
int64_t wr_pg_get_number(const struct wr_pg_link *link, int row, int column); /* NULL is 0 */
weir_span wr_pg_get(const struct wr_pg_link *link, int row, int column);
uint64_t wr_pg_changed(const struct wr_pg_link *link); /* rows, by the last statement */

/* The first number of the first row; 0 without one. */
int64_t wr_pg_ask_number(struct wr_pg_link *link, const char *sql);

/* ---- arrays: begun with how many there will be, then one after the other ---- */

enum wr_pg_type { WR_PG_BYTES = 17, WR_PG_NUMBER = 20 };

void wr_pg_array(struct wr_buf *out, enum wr_pg_type type, size_t count);
void wr_pg_item(struct wr_buf *out, weir_span bytes);
void wr_pg_item_number(struct wr_buf *out, int64_t number);

#endif
