/* A connection to PostgreSQL: opening it, waiting for it, and what its failures mean.
 *
 * libpq would wait for as long as the network lets it. Here every wait is a poll() with what is
 * left of the work's deadline, so a request that needs the database is late by that much at most,
 * and goes on without it (law L6). Work that failed because the connection was dead is tried again
 * on a new one while there is time: the statements of this store may be done twice (pg_commit.c).
 *
 * Only calls that block one thread, a worker's: the loop that serves requests never comes here. */
#include "store/pg_link.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"

enum {
    AWAY_MS = 100,    /* how long one that was away a moment ago is given to let us in */
    BACK_MS = 400,    /* and then to do its work */
    RETRY_US = 20000, /* between two tries to connect */
    DATABASES_MAX = 8,
    US = 1000,
};

/* ---- libpq ---- */

static pthread_once_t libpq_once = PTHREAD_ONCE_INIT;
static struct wr_pq libpq;
static const char *libpq_failure; /* NULL: all are there */

/* A symbol is an object to dlsym() and a function to us, which ISO C does not convert. */
static bool take_symbol(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof(symbol));
    return symbol;
}

static void load_libpq(void)
{
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        libpq_failure = "libpq.so.5 is not installed (Debian: libpq5)";
        return;
    }
#define X(name)                                         \
    if (!take_symbol(library, "PQ" #name, &libpq.name)) \
        libpq_failure = "this libpq has no PQ" #name ": 14 or newer is needed";
    WR_PQ_MAP(X)
#undef X
}

/* NULL: it is not installed, or too old; `err` says so. Any thread may call it. */
static const struct wr_pq *find_libpq(struct weir_err *err)
{
    (void)pthread_once(&libpq_once, load_libpq);
    if (!libpq_failure)
        return &libpq;
    (void)wr_fail(err, WEIR_IO, 0, "%s", libpq_failure);
    return NULL;
}

/* ---- failures ---- */

void wr_pg_fail(struct wr_pg_link *link, weir_status status, weir_trouble trouble)
{
    if (link->status)
        return;
    link->status = status;
    link->trouble = trouble;
    (void)wr_fail(&link->err, status, 0, "%s",
                  trouble ? weir_trouble_text(trouble) : weir_status_text(status));
}

struct meaning {
    const char *state; /* how an SQLSTATE begins */
    weir_status status;
    weir_trouble trouble;
};

static const struct meaning meanings[] = {
    {"WR001", WEIR_INVALID, WEIR_TROUBLE_COLLISION},
    {"WR002", WEIR_INVALID, WEIR_TROUBLE_CONFLICT},
    {"53100", WEIR_LIMIT, WEIR_TROUBLE_FULL},       /* disk_full */
    {"53300", WEIR_IO, WEIR_TROUBLE_AWAY},          /* too_many_connections */
    {"53", WEIR_IO, WEIR_TROUBLE_SYSTEM},           /* other resources */
    {"57P", WEIR_IO, WEIR_TROUBLE_AWAY},            /* it stops, or starts */
    {"08", WEIR_IO, WEIR_TROUBLE_AWAY},             /* connection */
    {"25006", WEIR_IO, WEIR_TROUBLE_AWAY},          /* read only: a replica, soon to be promoted */
    {"55P03", WEIR_IO, WEIR_TROUBLE_LOCKED},        /* lock_timeout */
    {"40", WEIR_IO, WEIR_TROUBLE_LOCKED},           /* deadlock, serialisation */
    {"23503", WEIR_IO, WEIR_TROUBLE_LOCKED},        /* what was referred to has just left */
    {"57014", WEIR_IO, WEIR_TROUBLE_LOCKED},        /* cancelled */
    {"28", WEIR_IO, WEIR_TROUBLE_DENIED},           /* credentials */
    {"3D000", WEIR_NOTFOUND, WEIR_TROUBLE_MISSING}, /* no such database */
    {"42501", WEIR_IO, WEIR_TROUBLE_DENIED},        /* privilege */
    {"XX00", WEIR_INVALID, WEIR_TROUBLE_CORRUPT},   /* damage that it noticed */
};

static void take_meaning(struct wr_pg_link *link, const char *state, const char *text)
{
    link->status = WEIR_IO;
    link->trouble = WEIR_TROUBLE_SYSTEM;
    for (size_t i = 0; i < WR_COUNT_OF(meanings); i++)
        if (!strncmp(state, meanings[i].state, strlen(meanings[i].state))) {
            link->status = meanings[i].status;
            link->trouble = meanings[i].trouble;
            break;
        }
    (void)snprintf(link->state, sizeof(link->state), "%s", state);
    (void)wr_fail(&link->err, link->status, 0, "%.*s", (int)strcspn(text, "\n"), text);
}

/* Only text that PostgreSQL says of itself: messages of constraints would name values. */
static void fail_by_result(struct wr_pg_link *link, const PGresult *result)
{
    const char *state = link->pq->resultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = link->pq->resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *detail = link->pq->resultErrorField(result, PG_DIAG_MESSAGE_DETAIL);

    if (link->status)
        return;
    take_meaning(link, state ? state : "08000", text ? text : "the connection was lost");
    (void)snprintf(link->detail, sizeof(link->detail), "%s", detail ? detail : "");
}

static void drop_connection(struct wr_pg_link *link)
{
    if (link->result)
        link->pq->clear(link->result);
    link->result = NULL;
    if (link->conn)
        link->pq->finish(link->conn);
    link->conn = NULL;
    link->prepared_count = 0;
}

/* The connection is of no use any more. */
static bool lose(struct wr_pg_link *link, const char *text)
{
    char line[160];

    (void)snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
    if (!link->status)
        take_meaning(link, "08006", *line ? line : "the database does not answer");
    drop_connection(link);
    return false;
}

static bool is_lost(const struct wr_pg_link *link)
{
    return link->trouble == WEIR_TROUBLE_AWAY;
}

/* ---- waiting ---- */

/* Waits for the socket until the deadline. */
static bool wait_for(struct wr_pg_link *link, short events)
{
    struct pollfd file = {.fd = link->pq->socket(link->conn), .events = events};
    int ready;

    do {
        uint64_t now_us = wr_clock_steady_us();
        if (now_us >= link->until_us)
            return false;
        ready = poll(&file, 1, (int)((link->until_us - now_us) / US) + 1);
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
}

/* Sends what is to be sent, taking what comes meanwhile so that neither waits for the other. */
static bool flush(struct wr_pg_link *link)
{
    int left;

    while ((left = link->pq->flush(link->conn)) > 0) {
        if (!wait_for(link, POLLIN | POLLOUT))
            return lose(link, "");
        if (!link->pq->consumeInput(link->conn))
            return lose(link, link->pq->errorMessage(link->conn));
    }
    return left == 0 || lose(link, link->pq->errorMessage(link->conn));
}

/* The next result; NULL: there is none, or the connection was lost. */
static PGresult *next_result(struct wr_pg_link *link)
{
    while (link->conn && link->pq->isBusy(link->conn)) {
        if (!wait_for(link, POLLIN))
            lose(link, "");
        else if (!link->pq->consumeInput(link->conn))
            lose(link, link->pq->errorMessage(link->conn));
    }
    return link->conn ? link->pq->getResult(link->conn) : NULL;
}

/* ---- opening ---- */

static void hear_no_notice(void *user, const char *message)
{
    (void)user;
    (void)message;
}

/* What libpq says of a connection that was not made begins with where it was to be made to; behind
 * FATAL is the reason, and there is no SQLSTATE. */
static void fail_to_connect(struct wr_pg_link *link)
{
    const char *text = link->conn ? link->pq->errorMessage(link->conn) : "no memory";
    const char *fatal = strstr(text, "FATAL:");
    const char *state = "08001";

    if (strstr(text, "too many") || strstr(text, "connection slots"))
        state = "53300";
    else if (strstr(text, "authentication") || strstr(text, "pg_hba.conf") ||
             strstr(text, "role \""))
        state = "28000";
    else if (strstr(text, "database \"") && strstr(text, "does not exist"))
        state = "3D000";
    take_meaning(link, state, fatal ? fatal + sizeof("FATAL:") : text);
    drop_connection(link);
}

static bool try_connect(struct wr_pg_link *link)
{
    PostgresPollingStatusType wants = PGRES_POLLING_WRITING;

    link->conn = link->pq->connectStart(link->url);
    if (link->conn)
        (void)link->pq->setNoticeProcessor(link->conn, hear_no_notice, NULL);
    if (!link->conn || link->pq->status(link->conn) == CONNECTION_BAD) {
        fail_to_connect(link);
        return false;
    }
    while (wants == PGRES_POLLING_READING || wants == PGRES_POLLING_WRITING) {
        if (!wait_for(link, wants == PGRES_POLLING_READING ? POLLIN : POLLOUT))
            return lose(link, "");
        wants = link->pq->connectPoll(link->conn);
    }
    if (wants != PGRES_POLLING_OK || link->pq->setnonblocking(link->conn, 1)) {
        fail_to_connect(link);
        return false;
    }
    return true;
}

static bool connect_now(struct wr_pg_link *link)
{
    if (link->conn && link->pq->status(link->conn) == CONNECTION_BAD)
        drop_connection(link);
    while (!link->conn && !link->status) {
        if (try_connect(link)) {
            if (link->was_away)
                link->until_us = wr_clock_steady_us() + (uint64_t)BACK_MS * US;
            return true;
        }
        if (!is_lost(link) || wr_clock_steady_us() + RETRY_US >= link->until_us)
            return false;
        link->status = WEIR_OK;
        link->trouble = WEIR_TROUBLE_NONE;
        (void)usleep(RETRY_US);
    }
    return link->conn && !link->status;
}

/* ---- what links know of each other ---- */

/* A thread that found the database away may not be needed again for long; by then it is others who
 * know that it is back. Were it not told, its next request would have a tenth of a second for a new
 * connection, and go as it came where the machine is busy. */
struct wr_pg_database {
    _Atomic uint64_t name;     /* hash of its address; 0: free */
    _Atomic uint64_t wrote_us; /* when work began that has written; 0: none has */
};

/* Where there are more, the last is of several: that costs a longer wait. */
static struct wr_pg_database *database_of(const char *url)
{
    static struct wr_pg_database databases[DATABASES_MAX];
    uint64_t name = wr_hash64(wr_span_of(url));
    size_t at = 0;

    name = name ? name : 1;
    for (uint64_t taken = 0; at < DATABASES_MAX - 1; at++, taken = 0)
        if (atomic_compare_exchange_strong(&databases[at].name, &taken, name) || taken == name)
            break;
    return &databases[at];
}

void wr_pg_wrote(struct wr_pg_link *link)
{
    if (!link->status)
        atomic_store(&link->database->wrote_us, link->began_us);
}

static bool is_away(const struct wr_pg_link *link)
{
    return link->away_us && atomic_load(&link->database->wrote_us) <= link->away_us;
}

/* Whether libpq reads the address as it was meant. What it says of one that it cannot read is a
 * part of it, and so may be what it says of a host that is the end of a password. */
static bool is_address(const struct wr_pq *pq, const char *url)
{
    char *message = NULL;
    PQconninfoOption *options = pq->conninfoParse(url, &message);
    bool is_fine = options != NULL, has_user = false, has_sign = false;

    pq->freemem(message);
    for (PQconninfoOption *o = options; o && o->keyword; o++) {
        if (!o->val)
            continue;
        if (!strcmp(o->keyword, "host"))
            is_fine = is_fine && !strchr(o->val, '@');
        if (!strcmp(o->keyword, "port"))
            is_fine = is_fine && !o->val[strspn(o->val, "0123456789,")];
        has_user = has_user || !strcmp(o->keyword, "user");
        has_sign = has_sign || (!strcmp(o->keyword, "dbname") && strchr(o->val, '@'));
    }
    pq->conninfoFree(options);
    return is_fine && (has_user || !has_sign);
}

weir_status wr_pg_link_open(struct wr_pg_link *link, const char *url, uint32_t wait_ms_max,
                            struct weir_err *err)
{
    *link = (struct wr_pg_link){.wait_ms_max = wait_ms_max};
    link->pq = find_libpq(err);
    if (!link->pq)
        return WEIR_IO;
    if (!is_address(link->pq, url))
        return wr_fail(err, WEIR_INVALID, 0,
                       "the address cannot be read: in names and passwords @ is written as %%40,"
                       " / as %%2F, %% as %%25");
    link->url = strdup(url);
    if (!link->url)
        return wr_fail(err, WEIR_NOMEM, 0, "no memory for the store");
    link->database = database_of(url);
    return WEIR_OK;
}

void wr_pg_link_close(struct wr_pg_link *link)
{
    if (!link->pq)
        return;
    drop_connection(link);
    free(link->url);
    link->url = NULL;
}

/* ---- work ---- */

void wr_pg_start(struct wr_pg_link *link)
{
    link->was_away = is_away(link);
    uint32_t wait_ms = link->was_away && link->wait_ms_max > AWAY_MS ? AWAY_MS : link->wait_ms_max;

    link->status = WEIR_OK;
    link->trouble = WEIR_TROUBLE_NONE;
    link->state[0] = link->detail[0] = '\0';
    link->began_us = wr_clock_steady_us();
    link->until_us = link->began_us + (uint64_t)wait_ms * US;
    link->away_us = 0;
}

void wr_pg_extend(struct wr_pg_link *link, uint32_t wait_ms)
{
    if (!link->was_away)
        link->until_us = wr_clock_steady_us() + (uint64_t)wait_ms * US;
}

weir_status wr_pg_status(const struct wr_pg_link *link, weir_trouble *trouble, struct weir_err *err)
{
    if (!link->status)
        return WEIR_OK;
    *trouble = link->trouble;
    if (err)
        *err = link->err;
    return link->status;
}

/* A prepared statement that is not there, or is there though we did not prepare it: a pooler is
 * between, and has given us a connection that somebody else had. */
static bool is_of_pooler(struct wr_pg_link *link)
{
    bool is_gone = !strcmp(link->state, "26000") || !strcmp(link->state, "42P05");

    link->is_pooled = link->is_pooled || is_gone;
    return is_gone;
}

static void forget_failure(struct wr_pg_link *link)
{
    link->status = WEIR_OK;
    link->trouble = WEIR_TROUBLE_NONE;
    link->state[0] = link->detail[0] = '\0';
}

bool wr_pg_again(struct wr_pg_link *link)
{
    bool is_worth = is_lost(link) || !strncmp(link->state, "40", 2) ||
                    !strcmp(link->state, "23503") || is_of_pooler(link);
    if (!link->status || !is_worth)
        return false;
    if (wr_clock_steady_us() + RETRY_US >= link->until_us) {
        link->away_us = is_lost(link) ? link->began_us : 0;
        return false;
    }
    if (is_lost(link))
        drop_connection(link);
    forget_failure(link);
    return true;
}

void wr_pg_forgive(struct wr_pg_link *link)
{
    if (!is_lost(link))
        forget_failure(link);
}

/* The highest byte first, as the protocol wants numbers. */
static void put_64(unsigned char bytes[8], int64_t number)
{
    const uint32_t halves[] = {htonl((uint32_t)((uint64_t)number >> 32)), htonl((uint32_t)number)};
    memcpy(bytes, halves, sizeof(halves));
}

void wr_pg_number(struct wr_pg_args *args, int64_t number)
{
    WR_ASSERT(args->count < WR_PG_ARGS_MAX);
    put_64(args->numbers[args->count], number);
    args->values[args->count++] = (weir_span){NULL, sizeof(number)};
}

void wr_pg_bytes(struct wr_pg_args *args, weir_span bytes)
{
    WR_ASSERT(args->count < WR_PG_ARGS_MAX);
    args->values[args->count++] = (weir_span){bytes.ptr ? bytes.ptr : "", bytes.len};
}

/* ---- sending ---- */

static bool is_prepared(const struct wr_pg_link *link, const char *sql)
{
    for (size_t i = 0; i < link->prepared_count; i++)
        if (link->prepared[i].sql == sql)
            return true;
    return false;
}

/* The same text has the same name on all connections, so who finds it there may use it. */
static const char *name_of(const char *sql, char name[32])
{
    (void)snprintf(name, 32, "weir_%016llx", (unsigned long long)wr_hash64(wr_span_of(sql)));
    return name;
}

static bool is_kept(const struct wr_pg_link *link, const struct wr_pg_statement *statement)
{
    return statement->is_often && !link->is_pooled;
}

static bool must_prepare(const struct wr_pg_link *link, const struct wr_pg_statement *statement)
{
    return is_kept(link, statement) && !is_prepared(link, statement->sql) &&
           link->prepared_count < WR_PG_OFTEN_MAX;
}

static bool send_prepare(struct wr_pg_link *link, const struct wr_pg_statement *statement)
{
    const struct wr_pg_args *args = &statement->args;
    Oid types[WR_PG_ARGS_MAX]; /* 0: as the statement has it */
    char name[32];

    for (int i = 0; i < args->count; i++)
        types[i] = args->values[i].ptr ? 0 : WR_PG_NUMBER;
    return link->pq->sendPrepare(link->conn, name_of(statement->sql, name), statement->sql,
                                 args->count, types) ||
           lose(link, link->pq->errorMessage(link->conn));
}

static bool send_one(struct wr_pg_link *link, const struct wr_pg_statement *statement)
{
    const struct wr_pg_args *args = &statement->args;
    const char *values[WR_PG_ARGS_MAX];
    int lengths[WR_PG_ARGS_MAX], formats[WR_PG_ARGS_MAX], count = args->count, is_sent;
    Oid types[WR_PG_ARGS_MAX];
    char name[32];

    for (int i = 0; i < count; i++) {
        values[i] = args->values[i].ptr ? args->values[i].ptr : (const char *)args->numbers[i];
        lengths[i] = (int)args->values[i].len;
        formats[i] = 1;
        types[i] = args->values[i].ptr ? 0 : WR_PG_NUMBER;
    }
    if (is_kept(link, statement) && is_prepared(link, statement->sql))
        is_sent = link->pq->sendQueryPrepared(link->conn, name_of(statement->sql, name), count,
                                              values, lengths, formats, 1);
    else
        is_sent = link->pq->sendQueryParams(link->conn, statement->sql, count, types, values,
                                            lengths, formats, 1);
    return is_sent || lose(link, link->pq->errorMessage(link->conn));
}

/* ---- running ---- */

static void keep_result(struct wr_pg_link *link, PGresult *result)
{
    ExecStatusType status = link->pq->resultStatus(result);

    if (status == PGRES_PIPELINE_SYNC || status == PGRES_PIPELINE_ABORTED) {
        link->pq->clear(result);
        return;
    }
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_SINGLE_TUPLE)
        fail_by_result(link, result);
    if (link->result)
        link->pq->clear(link->result);
    link->result = result;
}

/* A statement of an aborted transaction outside a pipeline: what a restart may leave. */
static void end_work(struct wr_pg_link *link)
{
    if (is_lost(link))
        drop_connection(link);
}

static bool run_one(struct wr_pg_link *link, const struct wr_pg_statement *statement)
{
    link->trips_count++;
    if (!send_one(link, statement) || !flush(link))
        return false;
    for (PGresult *result; (result = next_result(link)) != NULL;)
        keep_result(link, result);
    end_work(link);
    return !link->status;
}

/* What was prepared stays so whatever becomes of the transaction. */
static void note_prepared(struct wr_pg_link *link, size_t result_at, const PGresult *result)
{
    for (size_t i = 0; i < link->prepared_count; i++)
        if (!link->prepared[i].is_there && link->prepared[i].result_at == result_at)
            link->prepared[i].is_there = link->pq->resultStatus(result) == PGRES_COMMAND_OK;
}

static void forget_unprepared(struct wr_pg_link *link)
{
    size_t kept = 0;

    for (size_t i = 0; i < link->prepared_count; i++)
        if (link->prepared[i].is_there)
            link->prepared[kept++] = link->prepared[i];
    link->prepared_count = kept;
}

/* A pipeline without BEGIN is one transaction up to its sync. */
static void take_pipeline(struct wr_pg_link *link, size_t count)
{
    PGresult *result;

    for (size_t i = 0; i < count && link->conn; i++) {
        while ((result = next_result(link)) != NULL) {
            note_prepared(link, i, result);
            keep_result(link, result);
        }
    }
    while (link->conn) { /* up to the sync, which has no NULL behind it */
        result = next_result(link);
        if (!result)
            break;
        bool is_sync = link->pq->resultStatus(result) == PGRES_PIPELINE_SYNC;
        keep_result(link, result);
        if (is_sync)
            break;
    }
    forget_unprepared(link);
}

/* Sends all, those that are to be prepared behind their preparation; how many results will come. */
static size_t send_all(struct wr_pg_link *link, const struct wr_pg_statement *statements,
                       size_t count)
{
    size_t results_count = 0;

    for (size_t i = 0; i < count; i++) {
        if (must_prepare(link, &statements[i])) {
            if (!send_prepare(link, &statements[i]))
                return 0;
            link->prepared[link->prepared_count++] =
                (struct wr_pg_prepared){.sql = statements[i].sql, .result_at = results_count++};
        }
        if (!send_one(link, &statements[i]))
            return 0;
        results_count++;
    }
    return results_count;
}

bool wr_pg_run_all(struct wr_pg_link *link, const struct wr_pg_statement *statements, size_t count)
{
    size_t results_count;

    if (link->status || !connect_now(link))
        return false;
    if (count == 1 && !must_prepare(link, statements))
        return run_one(link, statements);
    link->trips_count++;
    if (!link->pq->enterPipelineMode(link->conn))
        return lose(link, link->pq->errorMessage(link->conn));
    results_count = send_all(link, statements, count);
    if (!results_count)
        return false;
    if (!link->pq->pipelineSync(link->conn))
        return lose(link, link->pq->errorMessage(link->conn));
    if (!flush(link))
        return false;
    take_pipeline(link, results_count);
    if (link->conn && !link->pq->exitPipelineMode(link->conn))
        return lose(link, link->pq->errorMessage(link->conn));
    end_work(link);
    return !link->status;
}

bool wr_pg_run(struct wr_pg_link *link, const char *sql, const struct wr_pg_args *args)
{
    struct wr_pg_statement statement = {.sql = sql};

    if (args)
        statement.args = *args;
    return wr_pg_run_all(link, &statement, 1);
}

bool wr_pg_run_often(struct wr_pg_link *link, const char *sql, const struct wr_pg_args *args)
{
    const struct wr_pg_statement statement = {.sql = sql, .is_often = true, .args = *args};
    return wr_pg_run_all(link, &statement, 1);
}

void wr_pg_ask(struct wr_pg_link *link, const char *sql, const struct wr_pg_args *args)
{
    do
        (void)wr_pg_run(link, sql, args);
    while (wr_pg_again(link));
}

void wr_pg_ask_often(struct wr_pg_link *link, const char *sql, const struct wr_pg_args *args)
{
    do
        (void)wr_pg_run_often(link, sql, args);
    while (wr_pg_again(link));
}

weir_status wr_pg_each(struct wr_pg_link *link, const char *sql, const struct wr_pg_args *args,
                       wr_pg_row_fn *row, void *user)
{
    struct wr_pg_statement statement = {.sql = sql};
    weir_status status = WEIR_OK;

    if (link->status || !connect_now(link))
        return WEIR_OK;
    link->trips_count++;
    if (args)
        statement.args = *args;
    if (!send_one(link, &statement) || !link->pq->setSingleRowMode(link->conn) || !flush(link))
        return WEIR_OK;
    for (PGresult *result; (result = next_result(link)) != NULL;) {
        keep_result(link, result);
        /* Each row is waited for anew: a long list may take its time. */
        uint64_t until_us = wr_clock_steady_us() + (uint64_t)link->wait_ms_max * US;
        link->until_us = until_us > link->until_us ? until_us : link->until_us;
        if (!status && !link->status && wr_pg_rows(link))
            status = row(user, link);
    }
    end_work(link);
    return status;
}

/* ---- rows ---- */

int wr_pg_rows(const struct wr_pg_link *link)
{
    return link->status || !link->result ? 0 : link->pq->ntuples(link->result);
}

weir_span wr_pg_get(const struct wr_pg_link *link, int row, int column)
{
    return (weir_span){link->pq->getvalue(link->result, row, column),
                       (size_t)link->pq->getlength(link->result, row, column)};
}

int64_t wr_pg_get_number(const struct wr_pg_link *link, int row, int column)
{
    weir_span bytes = wr_pg_get(link, row, column);
    uint64_t number = 0;

    if (link->pq->getisnull(link->result, row, column) || bytes.len > sizeof(number))
        return 0;
    for (size_t i = 0; i < bytes.len; i++)
        number = number << 8 | (unsigned char)bytes.ptr[i];
    return (int64_t)number;
}

uint64_t wr_pg_changed(const struct wr_pg_link *link)
{
    uint64_t number = 0;

    if (link->status || !link->result)
        return 0;
    (void)wr_span_u64(wr_span_of(link->pq->cmdTuples(link->result)), &number);
    return number;
}

int64_t wr_pg_ask_number(struct wr_pg_link *link, const char *sql)
{
    return wr_pg_run(link, sql, NULL) && wr_pg_rows(link) ? wr_pg_get_number(link, 0, 0) : 0;
}

/* ---- arrays ---- */

static void put_32(struct wr_buf *out, uint32_t number)
{
    uint32_t big = htonl(number);
    wr_buf_append(out, (weir_span){(const char *)&big, sizeof(big)});
}

void wr_pg_array(struct wr_buf *out, enum wr_pg_type type, size_t count)
{
    wr_buf_reset(out);
    put_32(out, count ? 1 : 0); /* dimensions */
    put_32(out, 0);             /* no NULL among them */
    put_32(out, (uint32_t)type);
    if (!count)
        return;
    put_32(out, (uint32_t)count);
    put_32(out, 1); /* where they begin to count */
}

void wr_pg_item(struct wr_buf *out, weir_span bytes)
{
    put_32(out, (uint32_t)bytes.len);
    wr_buf_append(out, bytes);
}

void wr_pg_item_number(struct wr_buf *out, int64_t number)
{
    unsigned char big[sizeof(number)];
    put_64(big, number);
    wr_pg_item(out, (weir_span){(const char *)big, sizeof(big)});
}
