/* The rows of requests and what belongs to them (ledger.h), in the tables of a SQLite store.
 *
 * They are in the same file because they belong to the same sessions: one gc and one purge take
 * everything. They go through a handle of their own, which the thread that writes rows opens, so
 * that a request that is to be projected never waits for the figures of another; and since nobody
 * waits for this handle it is the one that writes a long log into the database (sqlite.c).
 *
 * A row keeps its line of the log as text and beside it only what is searched for (session, time,
 * agent, model). Notes are kept by key, the newest 128 of a session; their numbers say which those
 * are, because a note that is written anew gets a new one. */
#include "store/ledger_host.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "store/said.h"
#include "store/sqlite.h"

struct ledger {
    struct wr_ledger head;    /* first: a wr_ledger of ours is one of these */
    struct weir_store *store; /* owned: opening, schema and names are its */
};

static struct weir_store *store_of(const struct wr_ledger *ledger)
{
    return ((const struct ledger *)ledger)->store;
}

static struct wr_sqlite *sqlite_of(const struct wr_ledger *ledger)
{
    return wr_sqlite_of(store_of(ledger));
}

static weir_status status_of(struct wr_ledger *ledger, struct weir_err *err)
{
    return wr_db_status(&sqlite_of(ledger)->db, &store_of(ledger)->trouble, err);
}

/* Begins and ends a transaction that writes. */
static weir_status begin_writing(struct wr_ledger *ledger, struct weir_err *err)
{
    weir_status status = wr_sqlite_follow_to_write(sqlite_of(ledger), err);
    if (!status)
        wr_db_begin(&sqlite_of(ledger)->db);
    return status;
}

static weir_status end_writing(struct wr_ledger *ledger, struct weir_err *err)
{
    wr_db_end(&sqlite_of(ledger)->db);
    return status_of(ledger, err);
}

/* ---- adding ---- */

static void add_row(struct wr_db *db, int64_t session_id, const struct wr_ledger_row *row)
{
    sqlite3_stmt *add = wr_db_use(db, WR_SQL_REQUEST_ADD,
                                  "INSERT INTO request(session_id, time_ms, agent, model, line)"
                                  " VALUES(?1, ?2, ?3, ?4, ?5)");
    wr_db_bind_number(db, add, 1, session_id);
    wr_db_bind_number(db, add, 2, row->time_ms);
    wr_db_bind_text(db, add, 3, row->agent);
    wr_db_bind_text(db, add, 4, row->model);
    wr_db_bind_text(db, add, 5, row->line);
    wr_db_run(db, add);
}

/* A report that cannot be packed for want of memory leaves the one before. */
static void set_report(struct wr_sqlite *sqlite, int64_t session_id,
                       const struct wr_ledger_row *row)
{
    struct wr_db *db = &sqlite->db;
    enum wr_codec codec;

    wr_sqlite_reset_text(sqlite);
    if (wr_pack(&sqlite->packer, row->report, &sqlite->text, &codec))
        return;
    sqlite3_stmt *set =
        wr_db_use(db, WR_SQL_REPORT_SET,
                  "INSERT OR REPLACE INTO report(session_id, time_ms, model, text_bytes, codec,"
                  " data) VALUES(?1, ?2, ?3, ?4, ?5, ?6)");
    wr_db_bind_number(db, set, 1, session_id);
    wr_db_bind_number(db, set, 2, row->time_ms);
    wr_db_bind_text(db, set, 3, row->model);
    wr_db_bind_number(db, set, 4, (int64_t)row->report.len);
    wr_db_bind_number(db, set, 5, (int64_t)codec);
    wr_db_bind_blob(db, set, 6, wr_buf_view(&sqlite->text));
    wr_db_run(db, set);
}

/* Whose the last row or note of a transaction was: the next is often of the same session, and
 * within the transaction nobody can take that out. */
struct whose {
    weir_span tenant, session;
    int64_t tenant_id, session_id, time_ms; /* 0: nobody's yet */
};

static void need_session(struct wr_sqlite *sqlite, struct whose *last, weir_span tenant,
                         weir_span session, int64_t time_ms)
{
    bool is_same = last->tenant_id && wr_span_eq(last->tenant, tenant);

    if (is_same && last->session_id && wr_span_eq(last->session, session) &&
        time_ms <= last->time_ms)
        return;
    if (!is_same)
        last->tenant_id = wr_sqlite_need_tenant(sqlite, tenant);
    last->session_id = wr_sqlite_need_session(sqlite, last->tenant_id, session, time_ms);
    last->tenant = tenant;
    last->session = session;
    last->time_ms = time_ms;
}

/* A note of the same key behind it would take its place. */
static bool is_replaced_behind(const struct wr_ledger_note *notes, size_t notes_count, size_t at)
{
    for (size_t i = at + 1; i < notes_count; i++)
        if (!memcmp(notes[i].key, notes[at].key, WR_LEDGER_KEY_BYTES) &&
            wr_span_eq(notes[i].tenant, notes[at].tenant) &&
            wr_span_eq(notes[i].session, notes[at].session))
            return true;
    return false;
}

static void set_note(struct wr_sqlite *sqlite, const struct whose *whose,
                     const struct wr_ledger_note *note)
{
    struct wr_db *db = &sqlite->db;
    int64_t tenant_id = whose->tenant_id, session_id = whose->session_id;
    sqlite3_stmt *set =
        wr_db_use(db, WR_SQL_NOTE_SET,
                  "INSERT OR REPLACE INTO note(tenant_id, key, session_id, time_ms, data)"
                  " VALUES(?1, ?2, ?3, ?4, ?5)");
    wr_db_bind_number(db, set, 1, tenant_id);
    wr_db_bind_blob(db, set, 2, (weir_span){(const char *)note->key, WR_LEDGER_KEY_BYTES});
    wr_db_bind_number(db, set, 3, session_id);
    wr_db_bind_number(db, set, 4, note->time_ms);
    wr_db_bind_blob(db, set, 5, note->data);
    wr_db_run(db, set);
    sqlite3_stmt *trim =
        wr_db_use(db, WR_SQL_NOTE_TRIM,
                  "DELETE FROM note WHERE session_id = ?1 AND id <= (SELECT id FROM note"
                  " WHERE session_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)");
    wr_db_bind_number(db, trim, 1, session_id);
    wr_db_bind_number(db, trim, 2, WR_LEDGER_NOTES_MAX);
    wr_db_run(db, trim);
}

/* `said` gets those of the rows that said something, and where they are; NULL: no memory for it. */
static void write_all(struct wr_sqlite *sqlite, const struct wr_ledger_row *rows, size_t rows_count,
                      const struct wr_ledger_note *notes, size_t notes_count,
                      struct wr_said_row *said)
{
    struct wr_db *db = &sqlite->db;
    struct whose whose = {.tenant_id = 0};

    wr_db_begin(db);
    for (size_t i = 0; i < rows_count && !db->code; i++) {
        const struct wr_ledger_row *row = &rows[i];
        need_session(sqlite, &whose, row->tenant, row->session, row->time_ms);
        add_row(db, whose.session_id, row);
        if (row->came.len && said)
            *said++ =
                (struct wr_said_row){whose.session_id, sqlite3_last_insert_rowid(db->handle), row};
        if (row->report.len)
            set_report(sqlite, whose.session_id, row);
    }
    for (size_t i = 0; i < notes_count && !db->code; i++) {
        const struct wr_ledger_note *note = &notes[i];
        if (is_replaced_behind(notes, notes_count, i))
            continue;
        need_session(sqlite, &whose, note->tenant, note->session, note->time_ms);
        set_note(sqlite, &whose, note);
    }
    wr_db_end(db);
}

static size_t count_said(const struct wr_ledger_row *rows, size_t rows_count)
{
    size_t count = 0;
    for (size_t i = 0; i < rows_count; i++)
        count += rows[i].came.len > 0;
    return count;
}

static weir_status keep(struct wr_ledger *ledger, const struct wr_ledger_row *rows,
                        size_t rows_count, const struct wr_ledger_note *notes, size_t notes_count,
                        struct weir_err *err)
{
    struct wr_sqlite *sqlite = sqlite_of(ledger);
    weir_status status = wr_sqlite_follow_to_write(sqlite, err);

    if (status)
        return status;
    wr_arena_reset(&sqlite->arena);
    size_t said_count = count_said(rows, rows_count);
    struct wr_said_row *said =
        said_count ? WR_ARENA_ARRAY(&sqlite->arena, struct wr_said_row, said_count) : NULL;
    write_all(sqlite, rows, rows_count, notes, notes_count, said);
    status = status_of(ledger, err);
    if (status || !said_count)
        return status;
    /* What was said is worth less than the rows: what cannot be kept is counted, and fails
     * nothing. */
    ledger->said_lost_count += said_count - (said ? wr_said_keep(sqlite, said, said_count) : 0);
    wr_db_start(&sqlite->db);
    return WEIR_OK;
}

static weir_status read_note(struct wr_ledger *ledger, weir_span tenant,
                             const unsigned char key[WR_LEDGER_KEY_BYTES], weir_span *data,
                             struct weir_err *err)
{
    struct wr_sqlite *sqlite = sqlite_of(ledger);
    struct wr_db *db = &sqlite->db;
    bool is_found = false;

    *data = (weir_span){"", 0};
    weir_status status = wr_sqlite_follow(sqlite, err);
    if (status)
        return status;
    wr_db_start(db);
    wr_sqlite_reset_text(sqlite);
    sqlite3_stmt *read = wr_db_use(db, WR_SQL_NOTE_READ,
                                   "SELECT n.data FROM note n JOIN tenant t ON t.id = n.tenant_id"
                                   " WHERE t.name = ?1 AND n.key = ?2");
    wr_db_bind_text(db, read, 1, tenant);
    wr_db_bind_blob(db, read, 2, (weir_span){(const char *)key, WR_LEDGER_KEY_BYTES});
    if (wr_db_next(db, read)) {
        is_found = true;
        wr_buf_append(&sqlite->text, wr_db_column(read, 0));
        *data = wr_buf_view(&sqlite->text);
    }
    wr_db_done(read);
    if (db->code)
        return status_of(ledger, err);
    if (!is_found)
        return wr_fail(err, WEIR_NOTFOUND, 0, "there is no such note");
    return wr_buf_status(&sqlite->text);
}

/* ---- reading ---- */

/* ?1 to ?5; an empty text or a zero leaves its condition out. */
#define FILTER                                                   \
    " AND (?1 = '' OR t.name = ?1) AND (?2 = '' OR s.name = ?2)" \
    " AND (?3 = '' OR r.agent = ?3) AND (?4 = 0 OR r.time_ms >= ?4) AND r.id > ?5"

/* Ids rise with time, nearly: from the first of that time on is all that need be looked at. */
static int64_t last_id_before(struct wr_db *db, const struct wr_ledger_filter *filter)
{
    if (!filter->since_ms)
        return filter->after_id;
    sqlite3_stmt *first = wr_db_make(db, "SELECT min(id) FROM request WHERE time_ms >= ?1");
    wr_db_bind_number(db, first, 1, filter->since_ms);
    int64_t id = wr_db_next(db, first) ? sqlite3_column_int64(first, 0) : 0;
    wr_db_drop(first);
    if (!id)
        return INT64_MAX;
    return id - 1 > filter->after_id ? id - 1 : filter->after_id;
}

static void bind_filter(struct wr_db *db, sqlite3_stmt *statement,
                        const struct wr_ledger_filter *filter)
{
    wr_db_bind_text(db, statement, 1, filter->tenant);
    wr_db_bind_text(db, statement, 2, filter->session);
    wr_db_bind_text(db, statement, 3, filter->agent);
    wr_db_bind_number(db, statement, 4, filter->since_ms);
    wr_db_bind_number(db, statement, 5, last_id_before(db, filter));
}

/* CROSS JOIN keeps the order: with a session it is looked up first, and its rows by the index. */
static const char *rows_sql(const struct wr_ledger_filter *filter)
{
    if (filter->session.len)
        return "SELECT r.id, r.time_ms, t.name, s.name, r.agent, r.model, r.line FROM tenant t"
               " CROSS JOIN session s ON s.tenant_id = t.id"
               " CROSS JOIN request r ON r.session_id = s.id WHERE 1" FILTER " ORDER BY r.id";
    return "SELECT r.id, r.time_ms, t.name, s.name, r.agent, r.model, r.line FROM request r"
           " CROSS JOIN session s ON s.id = r.session_id"
           " CROSS JOIN tenant t ON t.id = s.tenant_id WHERE 1" FILTER " ORDER BY r.id";
}

static weir_status each_row(struct wr_ledger *ledger, const struct wr_ledger_filter *filter,
                            wr_ledger_row_fn *row, void *user, struct weir_err *err)
{
    struct wr_db *db = &sqlite_of(ledger)->db;
    weir_status status = wr_sqlite_follow(sqlite_of(ledger), err);

    if (status)
        return status;
    wr_db_start(db);
    sqlite3_stmt *rows = wr_db_make(db, rows_sql(filter));
    bind_filter(db, rows, filter);
    while (!status && wr_db_next(db, rows)) {
        struct wr_ledger_row found = {.id = sqlite3_column_int64(rows, 0),
                                      .time_ms = sqlite3_column_int64(rows, 1),
                                      .tenant = wr_db_column(rows, 2),
                                      .session = wr_db_column(rows, 3),
                                      .agent = wr_db_column(rows, 4),
                                      .model = wr_db_column(rows, 5),
                                      .line = wr_db_column(rows, 6)};
        status = row(user, &found);
    }
    wr_db_drop(rows);
    if (status)
        return wr_fail(err, status, 0, "reading the ledger stopped: %s", weir_status_text(status));
    return status_of(ledger, err);
}

/* The agent and the model are those of the newest row. */
static const char sessions_sql[] =
    "SELECT g.tenant, g.session, n.agent, n.model, g.first_ms, g.last_ms, g.rows_count FROM"
    " (SELECT t.name AS tenant, s.name AS session, min(r.time_ms) AS first_ms,"
    "  max(r.time_ms) AS last_ms, count(*) AS rows_count, max(r.id) AS newest_id"
    "  FROM request r CROSS JOIN session s ON s.id = r.session_id"
    "  CROSS JOIN tenant t ON t.id = s.tenant_id WHERE 1" FILTER " GROUP BY r.session_id) g"
    " CROSS JOIN request n ON n.id = g.newest_id ORDER BY g.last_ms DESC, g.newest_id DESC";

static weir_status each_session(struct wr_ledger *ledger, const struct wr_ledger_filter *filter,
                                wr_ledger_session_fn *session, void *user, struct weir_err *err)
{
    struct wr_db *db = &sqlite_of(ledger)->db;
    weir_status status = wr_sqlite_follow(sqlite_of(ledger), err);

    if (status)
        return status;
    wr_db_start(db);
    sqlite3_stmt *rows = wr_db_make(db, sessions_sql);
    bind_filter(db, rows, filter);
    while (!status && wr_db_next(db, rows)) {
        struct wr_ledger_session found = {.tenant = wr_db_column(rows, 0),
                                          .session = wr_db_column(rows, 1),
                                          .agent = wr_db_column(rows, 2),
                                          .model = wr_db_column(rows, 3),
                                          .first_ms = sqlite3_column_int64(rows, 4),
                                          .last_ms = sqlite3_column_int64(rows, 5),
                                          .requests_count =
                                              (uint64_t)sqlite3_column_int64(rows, 6)};
        status = session(user, &found);
    }
    wr_db_drop(rows);
    if (status)
        return wr_fail(err, status, 0, "reading the ledger stopped: %s", weir_status_text(status));
    return status_of(ledger, err);
}

static weir_status read_said(struct wr_ledger *ledger, const struct wr_ledger_which *which,
                             struct wr_ledger_row *said, struct weir_err *err)
{
    struct wr_sqlite *sqlite = sqlite_of(ledger);
    weir_status status = wr_sqlite_follow(sqlite, err);

    if (!status)
        status = wr_said_read(sqlite, which, said, err);
    return status ? status : status_of(ledger, err);
}

static weir_status read_extent(struct wr_ledger *ledger, uint64_t *rows_count, int64_t *first_id,
                               struct weir_err *err)
{
    struct wr_db *db = &sqlite_of(ledger)->db;
    weir_status status = wr_sqlite_follow(sqlite_of(ledger), err);

    if (status)
        return status;
    wr_db_start(db);
    *rows_count = (uint64_t)wr_db_number(db, "SELECT count(*) FROM request");
    *first_id = wr_db_number(db, "SELECT min(id) FROM request");
    return status_of(ledger, err);
}

static weir_status read_report(struct wr_ledger *ledger, weir_span tenant, weir_span session,
                               struct wr_ledger_row *report, struct weir_err *err)
{
    struct wr_sqlite *sqlite = sqlite_of(ledger);
    struct wr_db *db = &sqlite->db;
    weir_status status = wr_sqlite_follow(sqlite, err);

    if (status)
        return status;
    status = WEIR_NOTFOUND;
    wr_db_start(db);
    wr_arena_reset(&sqlite->arena);
    wr_sqlite_reset_text(sqlite);
    int64_t tenant_id = wr_sqlite_tenant(sqlite, tenant);
    int64_t session_id = wr_sqlite_session(sqlite, tenant_id, session);
    sqlite3_stmt *read = wr_db_make(
        db, "SELECT time_ms, model, text_bytes, codec, data FROM report WHERE session_id = ?1");
    wr_db_bind_number(db, read, 1, session_id);
    if (wr_db_next(db, read)) {
        *report =
            (struct wr_ledger_row){.time_ms = sqlite3_column_int64(read, 0),
                                   .tenant = tenant,
                                   .session = session,
                                   .model = wr_arena_copy(&sqlite->arena, wr_db_column(read, 1))};
        status = wr_unpack(&sqlite->packer, wr_db_column(read, 4), sqlite3_column_int64(read, 3),
                           (uint64_t)sqlite3_column_int64(read, 2), &sqlite->text);
        report->report = wr_buf_view(&sqlite->text);
    }
    wr_db_drop(read);
    if (db->code)
        return status_of(ledger, err);
    if (status == WEIR_NOTFOUND)
        return wr_fail(err, status, 0, "no request of this session was changed");
    return status ? wr_fail(err, WEIR_INVALID, 0, "the report in the store is damaged") : WEIR_OK;
}

/* ---- what was learnt ---- */

static weir_status add_sample(struct wr_ledger *ledger, const struct wr_ledger_sample *sample,
                              struct weir_err *err)
{
    struct wr_sqlite *sqlite = sqlite_of(ledger);
    struct wr_db *db = &sqlite->db;
    struct whose whose = {.tenant_id = 0};

    weir_status status = begin_writing(ledger, err);
    if (status)
        return status;
    need_session(sqlite, &whose, sample->tenant, sample->session, sample->time_ms);
    sqlite3_stmt *add =
        wr_db_use(db, WR_SQL_SAMPLE_ADD,
                  "INSERT INTO sample(bucket, session_id, time_ms, is_bad) VALUES(?1, ?2, ?3, ?4)"
                  " ON CONFLICT DO UPDATE SET is_bad = max(is_bad, excluded.is_bad),"
                  " time_ms = max(time_ms, excluded.time_ms)");
    wr_db_bind_text(db, add, 1, sample->bucket);
    wr_db_bind_number(db, add, 2, whose.session_id);
    wr_db_bind_number(db, add, 3, sample->time_ms);
    wr_db_bind_number(db, add, 4, sample->is_bad);
    wr_db_run(db, add);
    return end_writing(ledger, err);
}

static weir_status each_bucket(struct wr_ledger *ledger, weir_span tenant, uint32_t newest_max,
                               wr_ledger_bucket_fn *bucket, void *user, struct weir_err *err)
{
    struct wr_db *db = &sqlite_of(ledger)->db;
    weir_status status = wr_sqlite_follow(sqlite_of(ledger), err);

    if (status)
        return status;
    wr_db_start(db);
    sqlite3_stmt *rows =
        wr_db_make(db, "SELECT bucket, count(*), sum(is_bad) FROM (SELECT bucket, is_bad,"
                       " row_number() OVER (PARTITION BY bucket ORDER BY time_ms DESC,"
                       " session_id DESC) AS place FROM sample WHERE ?1 = ''"
                       " OR session_id IN (SELECT s.id FROM session s JOIN tenant t"
                       " ON t.id = s.tenant_id WHERE t.name = ?1))"
                       " WHERE place <= ?2 GROUP BY bucket ORDER BY bucket");
    wr_db_bind_text(db, rows, 1, tenant);
    wr_db_bind_number(db, rows, 2, newest_max);
    while (!status && wr_db_next(db, rows))
        status = bucket(user, wr_db_column(rows, 0), (uint64_t)sqlite3_column_int64(rows, 1),
                        (uint64_t)sqlite3_column_int64(rows, 2));
    wr_db_drop(rows);
    if (status)
        return wr_fail(err, status, 0, "reading the ledger stopped: %s", weir_status_text(status));
    return status_of(ledger, err);
}

static weir_status forget_bucket(struct wr_ledger *ledger, weir_span bucket, struct weir_err *err)
{
    struct wr_db *db = &sqlite_of(ledger)->db;
    weir_status status = begin_writing(ledger, err);

    if (status)
        return status;
    sqlite3_stmt *forget = wr_db_make(db, "DELETE FROM sample WHERE ?1 = '' OR bucket = ?1");
    wr_db_bind_text(db, forget, 1, bucket);
    wr_db_run(db, forget);
    wr_db_drop(forget);
    return end_writing(ledger, err);
}

/* ---- how providers count ---- */

/* Within what the caller has begun. `data` is in the store's own buffer. */
static bool read_calibration(struct wr_sqlite *sqlite, weir_span model,
                             struct wr_ledger_calibration *calibration)
{
    struct wr_db *db = &sqlite->db;
    sqlite3_stmt *read =
        wr_db_use(db, WR_SQL_CALIBRATION_READ,
                  "SELECT time_ms, accepted_tokens, data FROM calibration WHERE model = ?1");

    wr_sqlite_reset_text(sqlite);
    wr_db_bind_text(db, read, 1, model);
    bool is_found = wr_db_next(db, read);
    if (is_found) {
        wr_buf_append(&sqlite->text, wr_db_column(read, 2));
        *calibration = (struct wr_ledger_calibration){.model = model,
                                                      .time_ms = sqlite3_column_int64(read, 0),
                                                      .accepted_tokens =
                                                          (uint64_t)sqlite3_column_int64(read, 1),
                                                      .data = wr_buf_view(&sqlite->text)};
    }
    wr_db_done(read);
    return is_found;
}

static void write_calibration(struct wr_db *db, const struct wr_ledger_calibration *calibration)
{
    sqlite3_stmt *set = wr_db_use(db, WR_SQL_CALIBRATION_SET,
                                  "INSERT OR REPLACE INTO calibration VALUES(?1, ?2, ?3, ?4)");
    wr_db_bind_text(db, set, 1, calibration->model);
    wr_db_bind_number(db, set, 2, calibration->time_ms);
    wr_db_bind_number(db, set, 3, (int64_t)calibration->accepted_tokens);
    wr_db_bind_text(db, set, 4, calibration->data);
    wr_db_run(db, set);
    sqlite3_stmt *trim =
        wr_db_use(db, WR_SQL_CALIBRATION_TRIM,
                  "DELETE FROM calibration WHERE model NOT IN (SELECT model FROM calibration"
                  " ORDER BY time_ms DESC, model LIMIT ?1)");
    wr_db_bind_number(db, trim, 1, WR_LEDGER_CALIBRATIONS_MAX);
    wr_db_run(db, trim);
}

static weir_status calibrate(struct wr_ledger *ledger, weir_span model,
                             wr_ledger_calibrate_fn *change, void *user, struct weir_err *err)
{
    struct wr_sqlite *sqlite = sqlite_of(ledger);
    struct wr_db *db = &sqlite->db;
    struct wr_ledger_calibration stored, changed = {.time_ms = 0};

    weir_status status = begin_writing(ledger, err);
    if (status)
        return status;
    bool is_found = read_calibration(sqlite, model, &stored);
    status = status_of(ledger, err);
    if (!status)
        status = wr_buf_status(&sqlite->text);
    if (!status)
        status = change(user, is_found ? &stored : NULL, &changed);
    if (!status && changed.data.len > WR_LEDGER_NOTE_BYTES_MAX)
        status = wr_fail(err, WEIR_INVALID, 0, "a calibration is too long");
    if (status) {
        wr_db_end_read(db);
        return status;
    }
    changed.model = model;
    write_calibration(db, &changed);
    return end_writing(ledger, err);
}

static weir_status find_calibration(struct wr_ledger *ledger, weir_span model,
                                    struct wr_ledger_calibration *calibration, struct weir_err *err)
{
    struct wr_sqlite *sqlite = sqlite_of(ledger);
    weir_status status = wr_sqlite_follow(sqlite, err);

    if (status)
        return status;
    wr_db_start(&sqlite->db);
    bool is_found = read_calibration(sqlite, model, calibration);
    status = status_of(ledger, err);
    if (!status)
        status = wr_buf_status(&sqlite->text);
    return status || is_found ? status : wr_fail(err, WEIR_NOTFOUND, 0, "no calibration");
}

/* ---- what users and teams have used: sqlite_spend.c ---- */

static weir_status reserve(struct wr_ledger *ledger, const struct wr_spend_request *request,
                           struct wr_spend_verdict *verdict, struct weir_err *err)
{
    weir_status status = begin_writing(ledger, err);

    if (status)
        return status;
    wr_sqlite_reserve(&sqlite_of(ledger)->db, request, verdict);
    return end_writing(ledger, err);
}

static weir_status settle(struct wr_ledger *ledger, weir_span ticket, int64_t tokens,
                          int64_t micro_usd, struct weir_err *err)
{
    weir_status status = begin_writing(ledger, err);

    if (status)
        return status;
    wr_sqlite_settle(&sqlite_of(ledger)->db, ticket, tokens, micro_usd);
    return end_writing(ledger, err);
}

static weir_status expire(struct wr_ledger *ledger, int64_t before_ms, int64_t forget_ms,
                          uint64_t *expired_count, struct weir_err *err)
{
    weir_status status = begin_writing(ledger, err);

    if (status)
        return status;
    *expired_count = wr_sqlite_expire(&sqlite_of(ledger)->db, before_ms, forget_ms);
    return end_writing(ledger, err);
}

static weir_status raise_spent(struct wr_ledger *ledger, weir_span scope,
                               enum wr_spend_period period, int64_t start_ms,
                               const struct wr_spent *least, struct weir_err *err)
{
    weir_status status = begin_writing(ledger, err);

    if (status)
        return status;
    wr_sqlite_raise(&sqlite_of(ledger)->db, scope, period, start_ms, least);
    return end_writing(ledger, err);
}

/* ---- opening ---- */

static weir_trouble trouble_of(const struct wr_ledger *ledger)
{
    return weir_store_trouble(store_of(ledger));
}

static void close_ledger(struct wr_ledger *ledger)
{
    weir_store_close(store_of(ledger));
    free(ledger);
}

static const struct wr_ledger_ops ops = {
    .keep = keep,
    .note = read_note,
    .each = each_row,
    .report = read_report,
    .said = read_said,
    .extent = read_extent,
    .sessions = each_session,
    .add_sample = add_sample,
    .buckets = each_bucket,
    .forget = forget_bucket,
    .calibrate = calibrate,
    .calibration = find_calibration,
    .reserve = reserve,
    .settle = settle,
    .expire = expire,
    .raise = raise_spent,
    .trouble = trouble_of,
    .close = close_ledger,
};

weir_status wr_sqlite_ledger_open(const char *dir, const struct weir_store_options *options,
                                  struct wr_ledger **ledger, weir_trouble *trouble,
                                  struct weir_err *err)
{
    struct ledger *made = calloc(1, sizeof(*made));

    *ledger = NULL;
    if (trouble)
        *trouble = WEIR_TROUBLE_NONE;
    if (!made)
        return wr_fail(err, WEIR_NOMEM, 0, "no memory for the ledger");
    made->head.ops = &ops;
    weir_status status = wr_sqlite_open_dir(dir, options, 0, &made->store, trouble, err);
    if (status)
        free(made);
    else
        *ledger = &made->head;
    return status;
}
