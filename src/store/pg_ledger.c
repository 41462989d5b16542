/* The rows of requests and what belongs to them (ledger.h), in PostgreSQL.
 *
 * As in SQLite they go through a connection of their own, so that no request waits for the figures
 * of another. Rows and notes of a call are one statement (weir.keep_2). Since a connection may be
 * lost when nobody knows whether it was done, every row has a ticket by which it is kept once. */
#include "store/ledger_host.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "store/pg.h"

struct ledger {
    struct wr_ledger head;    /* first: a wr_ledger of ours is one of these */
    struct weir_store *store; /* owned: connection, schema and names are its */
};

static struct wr_pg *pg_of(const struct wr_ledger *ledger)
{
    return wr_pg_of(((const struct ledger *)ledger)->store);
}

/* ---- adding ---- */

enum { R_TENANT, R_SESSION, R_TIME, R_AGENT, R_MODEL, R_LINE, R_BYTES, R_CODEC, R_REPORT };
enum { N_TENANT = R_REPORT + 1, N_SESSION, N_KEY, N_TIME, N_DATA, ARRAYS_COUNT };

_Static_assert((int)ARRAYS_COUNT <= (int)WR_PG_ARRAYS, "an array each");

static void begin_arrays(struct wr_pg *pg, size_t rows_count, size_t notes_count)
{
    for (int i = 0; i < ARRAYS_COUNT; i++) {
        bool is_number = i == R_TIME || i == R_BYTES || i == R_CODEC || i == N_TIME;
        (void)wr_pg_array_of(pg, i, is_number ? WR_PG_NUMBER : WR_PG_BYTES,
                             i < N_TENANT ? rows_count : notes_count);
    }
}

/* Never 0. */
static uint64_t hash_of_arrays(const struct wr_pg *pg)
{
    uint64_t hash = 1;
    for (int i = 0; i < ARRAYS_COUNT; i++)
        hash = wr_hash64_seeded(wr_buf_view(&pg->arrays[i]), hash);
    return hash | 1;
}

/* A report that cannot be packed for want of memory leaves the one before. */
static void put_row(struct wr_pg *pg, const struct wr_ledger_row *row)
{
    enum wr_codec codec = WR_CODEC_PLAIN;
    int64_t text_bytes = (int64_t)row->report.len;

    wr_pg_reset_text(pg);
    if (text_bytes && wr_pack(&pg->packer, row->report, &pg->text, &codec)) {
        text_bytes = 0;
        wr_pg_reset_text(pg);
    }
    wr_pg_item(&pg->arrays[R_TENANT], row->tenant);
    wr_pg_item(&pg->arrays[R_SESSION], row->session);
    wr_pg_item_number(&pg->arrays[R_TIME], row->time_ms);
    wr_pg_item(&pg->arrays[R_AGENT], row->agent);
    wr_pg_item(&pg->arrays[R_MODEL], row->model);
    wr_pg_item(&pg->arrays[R_LINE], row->line);
    wr_pg_item_number(&pg->arrays[R_BYTES], text_bytes);
    wr_pg_item_number(&pg->arrays[R_CODEC], (int64_t)codec);
    wr_pg_item(&pg->arrays[R_REPORT], wr_buf_view(&pg->text));
}

static void put_note(struct wr_pg *pg, const struct wr_ledger_note *note)
{
    wr_pg_item(&pg->arrays[N_TENANT], note->tenant);
    wr_pg_item(&pg->arrays[N_SESSION], note->session);
    wr_pg_item(&pg->arrays[N_KEY], (weir_span){(const char *)note->key, WR_LEDGER_KEY_BYTES});
    wr_pg_item_number(&pg->arrays[N_TIME], note->time_ms);
    wr_pg_item(&pg->arrays[N_DATA], note->data);
}

/* What requests said, once their rows are there. It is worth less than they are: what cannot be
 * kept is counted, and fails nothing. Rows that an earlier try had kept go without. */
static weir_status keep_said(struct wr_ledger *ledger, const struct wr_ledger_row *rows,
                             size_t rows_count)
{
    struct wr_pg *pg = pg_of(ledger);
    size_t places_count = (size_t)wr_pg_rows(&pg->link), count = 0;
    struct wr_pg_said *said;

    wr_arena_reset(&pg->arena);
    said = WR_ARENA_ARRAY(&pg->arena, struct wr_pg_said, places_count);
    for (size_t i = 0; i < places_count && said; i++) {
        const struct wr_ledger_row *row = &rows[wr_pg_get_number(&pg->link, (int)i, 0) - 1];
        if (row->came.len)
            said[count++] =
                (struct wr_pg_said){.request_id = wr_pg_get_number(&pg->link, (int)i, 1),
                                    .session_id = wr_pg_get_number(&pg->link, (int)i, 2),
                                    .row = row};
    }
    for (size_t i = 0; i < rows_count; i++)
        ledger->said_lost_count += rows[i].came.len > 0;
    ledger->said_lost_count -= count ? wr_pg_said_keep(pg, said, count) : 0;
    return WEIR_OK;
}

static weir_status keep(struct wr_ledger *ledger, const struct wr_ledger_row *rows,
                        size_t rows_count, const struct wr_ledger_note *notes, size_t notes_count,
                        struct weir_err *err)
{
    struct wr_pg *pg = pg_of(ledger);
    struct wr_pg_args args = {.count = 0};

    wr_pg_start(&pg->link);
    wr_pg_extend(&pg->link, WR_STORE_KEEP_MS); /* nobody waits for it, and it may be thousands */
    begin_arrays(pg, rows_count, notes_count);
    for (size_t i = 0; i < rows_count; i++)
        put_row(pg, &rows[i]);
    for (size_t i = 0; i < notes_count; i++)
        put_note(pg, &notes[i]);
    /* The same rows once more, because nobody knows whether they are there: by the same ticket. */
    uint64_t hash = hash_of_arrays(pg);
    if (pg->unsure != hash)
        pg->seed += WR_LEDGER_ROWS_MAX + 1;
    pg->unsure = 0;
    wr_pg_number(&args, (int64_t)(pg->seed >> 2));
    wr_pg_number(&args, WR_STORE_TOUCH_MS);
    wr_pg_number(&args, WR_LEDGER_NOTES_MAX);
    for (int i = 0; i < ARRAYS_COUNT; i++)
        wr_pg_give_array(pg, &args, i);
    wr_pg_ask_often(&pg->link,
                    "SELECT * FROM weir.keep_2($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,"
                    " $13, $14, $15, $16, $17)",
                    &args);
    wr_pg_wrote(&pg->link);
    weir_status status = wr_pg_end(pg, err);
    if (status && pg->store.trouble == WEIR_TROUBLE_AWAY)
        pg->unsure = hash;
    return status ? status : keep_said(ledger, rows, rows_count);
}

/* Runs a statement that gives one row at most; one that is run often is a function's. */
static weir_status ask(struct wr_pg *pg, const char *sql, const struct wr_pg_args *args,
                       bool is_often, const char *missing, struct weir_err *err)
{
    wr_pg_start(&pg->link);
    (is_often ? wr_pg_ask_often : wr_pg_ask)(&pg->link, sql, args);
    weir_status status = wr_pg_end(pg, err);
    return status || wr_pg_rows(&pg->link) ? status : wr_fail(err, WEIR_NOTFOUND, 0, "%s", missing);
}

/* A value that outlives the result. */
static weir_span keep_text(struct wr_pg *pg, weir_span bytes)
{
    wr_pg_reset_text(pg);
    wr_buf_append(&pg->text, bytes);
    return wr_buf_view(&pg->text);
}

static weir_status read_note(struct wr_ledger *ledger, weir_span tenant,
                             const unsigned char key[WR_LEDGER_KEY_BYTES], weir_span *data,
                             struct weir_err *err)
{
    struct wr_pg *pg = pg_of(ledger);
    struct wr_pg_args args = {.count = 0};

    wr_pg_bytes(&args, tenant);
    wr_pg_bytes(&args, (weir_span){(const char *)key, WR_LEDGER_KEY_BYTES});
    weir_status status =
        ask(pg, "SELECT * FROM weir.note_1($1, $2)", &args, true, "there is no such note", err);
    if (status)
        return status;
    *data = keep_text(pg, wr_pg_get(&pg->link, 0, 0));
    return wr_buf_status(&pg->text);
}

/* ---- reading ---- */

/* $1 to $5; an empty text or a zero leaves its condition out. */
#define FILTER                                                                      \
    " WHERE ($1::bytea = '' OR t.name = $1) AND ($2::bytea = '' OR s.name = $2)"    \
    " AND ($3::bytea = '' OR r.agent = $3) AND ($4::bigint = 0 OR r.time_ms >= $4)" \
    " AND r.id > $5::bigint"

static struct wr_pg_args filter_args(const struct wr_ledger_filter *filter)
{
    struct wr_pg_args args = {.count = 0};

    wr_pg_bytes(&args, filter->tenant);
    wr_pg_bytes(&args, filter->session);
    wr_pg_bytes(&args, filter->agent);
    wr_pg_number(&args, filter->since_ms);
    wr_pg_number(&args, filter->after_id);
    return args;
}

struct row_reader {
    wr_ledger_row_fn *row;
    wr_ledger_session_fn *session;
    wr_ledger_bucket_fn *bucket;
    void *user;
};

static weir_status tell_row(void *user, struct wr_pg_link *link)
{
    const struct row_reader *reader = user;
    struct wr_ledger_row found = {.id = wr_pg_get_number(link, 0, 0),
                                  .time_ms = wr_pg_get_number(link, 0, 1),
                                  .tenant = wr_pg_get(link, 0, 2),
                                  .session = wr_pg_get(link, 0, 3),
                                  .agent = wr_pg_get(link, 0, 4),
                                  .model = wr_pg_get(link, 0, 5),
                                  .line = wr_pg_get(link, 0, 6)};
    return reader->row(reader->user, &found);
}

/* Reads all rows of a statement; a try that gave some is not made again. */
static weir_status read_all(struct wr_pg *pg, const char *sql, const struct wr_pg_args *args,
                            wr_pg_row_fn *row, struct row_reader *reader, struct weir_err *err)
{
    wr_pg_start(&pg->link);
    wr_pg_extend(&pg->link, WR_STORE_KEEP_MS); /* sums of many rows, which no request waits for */
    weir_status status = wr_pg_each(&pg->link, sql, args, row, reader);

    if (status)
        return wr_fail(err, status, 0, "reading the ledger stopped: %s", weir_status_text(status));
    return wr_pg_end(pg, err);
}

static weir_status each_row(struct wr_ledger *ledger, const struct wr_ledger_filter *filter,
                            wr_ledger_row_fn *row, void *user, struct weir_err *err)
{
    struct row_reader reader = {.row = row, .user = user};
    struct wr_pg_args args = filter_args(filter);

    return read_all(pg_of(ledger),
                    "SELECT r.id, r.time_ms, t.name, s.name, r.agent, r.model, r.line"
                    " FROM weir.request r JOIN weir.session s ON s.id = r.session_id"
                    " JOIN weir.tenant t ON t.id = s.tenant_id" FILTER " ORDER BY r.id",
                    &args, tell_row, &reader, err);
}

static weir_status tell_session(void *user, struct wr_pg_link *link)
{
    const struct row_reader *reader = user;
    struct wr_ledger_session found = {.tenant = wr_pg_get(link, 0, 0),
                                      .session = wr_pg_get(link, 0, 1),
                                      .agent = wr_pg_get(link, 0, 2),
                                      .model = wr_pg_get(link, 0, 3),
                                      .first_ms = wr_pg_get_number(link, 0, 4),
                                      .last_ms = wr_pg_get_number(link, 0, 5),
                                      .requests_count = (uint64_t)wr_pg_get_number(link, 0, 6)};
    return reader->session(reader->user, &found);
}

/* The agent and the model are those of the newest row. */
static weir_status each_session(struct wr_ledger *ledger, const struct wr_ledger_filter *filter,
                                wr_ledger_session_fn *session, void *user, struct weir_err *err)
{
    struct row_reader reader = {.session = session, .user = user};
    struct wr_pg_args args = filter_args(filter);

    return read_all(pg_of(ledger),
                    "SELECT g.tenant, g.session, n.agent, n.model, g.first_ms, g.last_ms,"
                    " g.rows_count FROM (SELECT t.name AS tenant, s.name AS session,"
                    " min(r.time_ms) AS first_ms, max(r.time_ms) AS last_ms,"
                    " count(*) AS rows_count, max(r.id) AS newest_id FROM weir.request r"
                    " JOIN weir.session s ON s.id = r.session_id"
                    " JOIN weir.tenant t ON t.id = s.tenant_id" FILTER
                    " GROUP BY s.id, s.name, t.name) g JOIN weir.request n ON n.id = g.newest_id"
                    " ORDER BY g.last_ms DESC, g.newest_id DESC",
                    &args, tell_session, &reader, err);
}

static weir_status read_report(struct wr_ledger *ledger, weir_span tenant, weir_span session,
                               struct wr_ledger_row *report, struct weir_err *err)
{
    struct wr_pg *pg = pg_of(ledger);
    struct wr_pg_args args = {.count = 0};

    wr_pg_bytes(&args, tenant);
    wr_pg_bytes(&args, session);
    weir_status status = ask(pg,
                             "SELECT r.time_ms, r.model, r.text_bytes, r.codec, r.data"
                             " FROM weir.report r JOIN weir.session s ON s.id = r.session_id"
                             " JOIN weir.tenant t ON t.id = s.tenant_id"
                             " WHERE t.name = $1 AND s.name = $2",
                             &args, false, "no request of this session was changed", err);
    if (status)
        return status;
    wr_arena_reset(&pg->arena);
    wr_pg_reset_text(pg);
    *report =
        (struct wr_ledger_row){.time_ms = wr_pg_get_number(&pg->link, 0, 0),
                               .tenant = tenant,
                               .session = session,
                               .model = wr_arena_copy(&pg->arena, wr_pg_get(&pg->link, 0, 1))};
    status = wr_unpack(&pg->packer, wr_pg_get(&pg->link, 0, 4), wr_pg_get_number(&pg->link, 0, 3),
                       (uint64_t)wr_pg_get_number(&pg->link, 0, 2), &pg->text);
    report->report = wr_buf_view(&pg->text);
    return status ? wr_fail(err, WEIR_INVALID, 0, "the report in the store is damaged") : WEIR_OK;
}

static weir_status read_said(struct wr_ledger *ledger, const struct wr_ledger_which *which,
                             struct wr_ledger_row *said, struct weir_err *err)
{
    return wr_pg_said_read(pg_of(ledger), which, said, err);
}

static weir_status read_extent(struct wr_ledger *ledger, uint64_t *rows_count, int64_t *first_id,
                               struct weir_err *err)
{
    struct wr_pg *pg = pg_of(ledger);
    weir_status status =
        ask(pg, "SELECT count(*), coalesce(min(id), 0) FROM weir.request", NULL, false, "", err);

    if (status)
        return status;
    *rows_count = (uint64_t)wr_pg_get_number(&pg->link, 0, 0);
    *first_id = wr_pg_get_number(&pg->link, 0, 1);
    return WEIR_OK;
}

/* ---- what was learnt ---- */

static weir_status add_sample(struct wr_ledger *ledger, const struct wr_ledger_sample *sample,
                              struct weir_err *err)
{
    struct wr_pg *pg = pg_of(ledger);
    struct wr_pg_args args = {.count = 0};

    wr_pg_bytes(&args, sample->bucket);
    wr_pg_bytes(&args, sample->tenant);
    wr_pg_bytes(&args, sample->session);
    wr_pg_number(&args, sample->time_ms);
    wr_pg_number(&args, sample->is_bad);
    wr_pg_number(&args, WR_STORE_TOUCH_MS);
    wr_pg_start(&pg->link);
    wr_pg_ask(&pg->link,
              "INSERT INTO weir.sample AS x SELECT $1, weir.need_session_1("
              "weir.need_tenant_1($2), $3, $4, $6), $4, $5"
              " ON CONFLICT (bucket, session_id) DO UPDATE"
              " SET is_bad = greatest(x.is_bad, excluded.is_bad),"
              " time_ms = greatest(x.time_ms, excluded.time_ms)",
              &args);
    return wr_pg_end(pg, err);
}

static weir_status tell_bucket(void *user, struct wr_pg_link *link)
{
    const struct row_reader *reader = user;
    return reader->bucket(reader->user, wr_pg_get(link, 0, 0),
                          (uint64_t)wr_pg_get_number(link, 0, 1),
                          (uint64_t)wr_pg_get_number(link, 0, 2));
}

static weir_status each_bucket(struct wr_ledger *ledger, weir_span tenant, uint32_t newest_max,
                               wr_ledger_bucket_fn *bucket, void *user, struct weir_err *err)
{
    struct row_reader reader = {.bucket = bucket, .user = user};
    struct wr_pg_args args = {.count = 0};

    wr_pg_bytes(&args, tenant);
    wr_pg_number(&args, newest_max);
    return read_all(pg_of(ledger),
                    "SELECT bucket, count(*), sum(is_bad)::bigint FROM (SELECT bucket, is_bad,"
                    " row_number() OVER (PARTITION BY bucket ORDER BY time_ms DESC,"
                    " session_id DESC) AS place FROM weir.sample WHERE $1::bytea = ''"
                    " OR session_id IN (SELECT s.id FROM weir.session s JOIN weir.tenant t"
                    " ON t.id = s.tenant_id WHERE t.name = $1)) x"
                    " WHERE place <= $2::bigint GROUP BY bucket ORDER BY bucket",
                    &args, tell_bucket, &reader, err);
}

static weir_status forget_bucket(struct wr_ledger *ledger, weir_span bucket, struct weir_err *err)
{
    struct wr_pg *pg = pg_of(ledger);
    struct wr_pg_args args = {.count = 0};

    wr_pg_bytes(&args, bucket);
    wr_pg_start(&pg->link);
    wr_pg_ask(&pg->link, "DELETE FROM weir.sample WHERE $1 = ''::bytea OR bucket = $1", &args);
    return wr_pg_end(pg, err);
}

/* ---- how providers count ---- */

#define READ_CALIBRATION \
    "SELECT time_ms, accepted_tokens, data FROM weir.calibration WHERE model = $1"

static struct wr_ledger_calibration take_calibration(struct wr_pg *pg, weir_span model)
{
    return (struct wr_ledger_calibration){.model = model,
                                          .time_ms = wr_pg_get_number(&pg->link, 0, 0),
                                          .accepted_tokens =
                                              (uint64_t)wr_pg_get_number(&pg->link, 0, 1),
                                          .data = keep_text(pg, wr_pg_get(&pg->link, 0, 2))};
}

/* Written only where nobody else has done so since it was read: what it was is a part of what is
 * asked. A transaction that stays open while `change` runs would need its connection for itself. */
static bool write_calibration(struct wr_pg *pg, const struct wr_ledger_calibration *stored,
                              const struct wr_ledger_calibration *changed)
{
    struct wr_pg_args args = {.count = 0};

    wr_pg_bytes(&args, changed->model);
    wr_pg_number(&args, changed->time_ms);
    wr_pg_number(&args, (int64_t)changed->accepted_tokens);
    wr_pg_bytes(&args, changed->data);
    if (stored) {
        wr_pg_number(&args, stored->time_ms);
        wr_pg_bytes(&args, stored->data);
    }
    (void)wr_pg_run(&pg->link,
                    stored ? "UPDATE weir.calibration SET time_ms = $2, accepted_tokens = $3,"
                             " data = $4 WHERE model = $1 AND time_ms = $5 AND data = $6"
                           : "INSERT INTO weir.calibration VALUES($1, $2, $3, $4)"
                             " ON CONFLICT DO NOTHING",
                    &args);
    return wr_pg_changed(&pg->link);
}

static void trim_calibrations(struct wr_pg *pg)
{
    struct wr_pg_args args = {.count = 0};

    wr_pg_number(&args, WR_LEDGER_CALIBRATIONS_MAX);
    (void)wr_pg_run(&pg->link,
                    "DELETE FROM weir.calibration WHERE model IN (SELECT model FROM"
                    " weir.calibration ORDER BY time_ms DESC, model OFFSET $1)",
                    &args);
}

static weir_status calibrate(struct wr_ledger *ledger, weir_span model,
                             wr_ledger_calibrate_fn *change, void *user, struct weir_err *err)
{
    enum { TRIES = 20 };
    struct wr_pg *pg = pg_of(ledger);
    struct wr_pg_args args = {.count = 0};
    struct wr_ledger_calibration stored = {.time_ms = 0}, changed = {.time_ms = 0};
    bool is_done = false;

    wr_pg_bytes(&args, model);
    wr_pg_start(&pg->link);
    for (int i = 0; i < TRIES && !is_done; i++) {
        wr_pg_ask(&pg->link, READ_CALIBRATION, &args);
        if (pg->link.status)
            break;
        bool is_found = wr_pg_rows(&pg->link) > 0;
        if (is_found)
            stored = take_calibration(pg, model);
        weir_status status = is_found ? wr_buf_status(&pg->text) : WEIR_OK;
        if (!status)
            status = change(user, is_found ? &stored : NULL, &changed);
        if (!status && changed.data.len > WR_LEDGER_NOTE_BYTES_MAX)
            status = wr_fail(err, WEIR_INVALID, 0, "a calibration is too long");
        if (status)
            return status;
        changed.model = model;
        is_done = write_calibration(pg, is_found ? &stored : NULL, &changed);
    }
    if (!is_done)
        wr_pg_fail(&pg->link, WEIR_IO, WEIR_TROUBLE_LOCKED);
    else
        trim_calibrations(pg);
    return wr_pg_end(pg, err);
}

static weir_status find_calibration(struct wr_ledger *ledger, weir_span model,
                                    struct wr_ledger_calibration *calibration, struct weir_err *err)
{
    struct wr_pg *pg = pg_of(ledger);
    struct wr_pg_args args = {.count = 0};

    wr_pg_bytes(&args, model);
    weir_status status = ask(pg, READ_CALIBRATION, &args, false, "no calibration", err);
    if (status)
        return status;
    *calibration = take_calibration(pg, model);
    return wr_buf_status(&pg->text);
}

/* ---- what users and teams have used (spend.h) ---- */

/* A reservation and its end are one statement each (data/postgres/3.sql), so a node that dies has
 * done it or has not. A statement whose answer was lost is made again: the ticket says that it was
 * done. What is left by nodes that died is ended one ticket at a time, because a transaction that
 * held counters of many users would wait for others, and they for it. */

enum { S_SCOPES, S_STARTS, S_LIMITS };

static void give_arrays(struct wr_pg *pg, const struct wr_spend_request *r, struct wr_pg_args *args)
{
    struct wr_buf *scopes = wr_pg_array_of(pg, S_SCOPES, WR_PG_BYTES, r->scopes_count);
    struct wr_buf *starts = wr_pg_array_of(pg, S_STARTS, WR_PG_NUMBER, WR_SPEND_PERIODS);
    struct wr_buf *limits = wr_pg_array_of(pg, S_LIMITS, WR_PG_NUMBER,
                                           r->scopes_count * WR_SPEND_PERIODS * WR_SPEND_KINDS);

    for (int p = 0; p < WR_SPEND_PERIODS; p++)
        wr_pg_item_number(starts, wr_spend_start_ms((enum wr_spend_period)p, r->now_ms));
    for (size_t s = 0; s < r->scopes_count; s++) {
        wr_pg_item(scopes, r->scopes[s].name);
        for (int p = 0; p < WR_SPEND_PERIODS; p++)
            for (int k = 0; k < WR_SPEND_KINDS; k++)
                wr_pg_item_number(limits, r->scopes[s].limits[p][k]);
    }
    wr_pg_give_array(pg, args, S_SCOPES);
    wr_pg_give_array(pg, args, S_STARTS);
    wr_pg_give_array(pg, args, S_LIMITS);
}

static struct wr_spent read_spent(const struct wr_pg_link *link, int row)
{
    struct wr_spent spent = {.used = {0}};

    for (int i = 0; i < WR_SPEND_KINDS; i++)
        spent.used[i] = wr_pg_get_number(link, row, 1 + i);
    spent.held[WR_SPEND_TOKENS] = wr_pg_get_number(link, row, 4);
    spent.held[WR_SPEND_MONEY] = wr_pg_get_number(link, row, 5);
    return spent;
}

static weir_status reserve(struct wr_ledger *ledger, const struct wr_spend_request *r,
                           struct wr_spend_verdict *verdict, struct weir_err *err)
{
    struct wr_pg *pg = pg_of(ledger);
    struct wr_pg_args args = {.count = 0};

    wr_pg_start(&pg->link);
    wr_pg_bytes(&args, (weir_span){(const char *)r->ticket, WR_SPEND_TICKET_BYTES});
    wr_pg_number(&args, r->now_ms);
    give_arrays(pg, r, &args);
    wr_pg_number(&args, r->most[WR_SPEND_TOKENS]);
    wr_pg_number(&args, r->most[WR_SPEND_MONEY]);
    wr_pg_ask_often(&pg->link, "SELECT * FROM weir.reserve_1($1, $2, $3, $4, $5, $6, $7)", &args);
    weir_status status = wr_pg_end(pg, err);
    int rows = status ? 0 : wr_pg_rows(&pg->link);
    for (int i = 0; i < rows && i < WR_SPEND_SCOPES_MAX * WR_SPEND_PERIODS; i++) {
        size_t scope = (size_t)i / WR_SPEND_PERIODS;
        enum wr_spend_period period = (enum wr_spend_period)(i % WR_SPEND_PERIODS);
        verdict->spent[scope][period] = read_spent(&pg->link, i);
        if (wr_pg_get_number(&pg->link, i, 0))
            (void)wr_spend_is_over(r, scope, period, &verdict->spent[scope][period], verdict);
    }
    return status;
}

static weir_status settle(struct wr_ledger *ledger, weir_span ticket, int64_t tokens,
                          int64_t micro_usd, struct weir_err *err)
{
    struct wr_pg *pg = pg_of(ledger);
    struct wr_pg_args args = {.count = 0};

    wr_pg_start(&pg->link);
    wr_pg_bytes(&args, ticket);
    wr_pg_number(&args, tokens);
    wr_pg_number(&args, micro_usd);
    wr_pg_ask_often(&pg->link, "SELECT weir.settle_1($1, $2, $3)", &args);
    return wr_pg_end(pg, err);
}

/* The ticket of one that is held since before; false: there is none, or it failed. */
static bool find_old(struct wr_pg *pg, int64_t before_ms, char ticket[WR_SPEND_TICKET_BYTES])
{
    struct wr_pg_args args = {.count = 0};

    wr_pg_start(&pg->link);
    wr_pg_number(&args, before_ms);
    wr_pg_ask(&pg->link, "SELECT ticket FROM weir.spend_hold WHERE time_ms < $1 LIMIT 1", &args);
    if (pg->link.status || !wr_pg_rows(&pg->link) ||
        wr_pg_get(&pg->link, 0, 0).len != WR_SPEND_TICKET_BYTES)
        return false;
    memcpy(ticket, wr_pg_get(&pg->link, 0, 0).ptr, WR_SPEND_TICKET_BYTES);
    return true;
}

static weir_status expire(struct wr_ledger *ledger, int64_t before_ms, int64_t forget_ms,
                          uint64_t *expired_count, struct weir_err *err)
{
    struct wr_pg *pg = pg_of(ledger);
    char ticket[WR_SPEND_TICKET_BYTES];
    struct wr_pg_args args = {.count = 0};
    weir_status status = WEIR_OK;

    while (!status && find_old(pg, before_ms, ticket)) {
        status = settle(ledger, (weir_span){ticket, sizeof(ticket)}, -1, -1, err);
        *expired_count += !status;
    }
    if (status)
        return status;
    wr_pg_start(&pg->link);
    wr_pg_number(&args, forget_ms);
    wr_pg_ask(&pg->link, "DELETE FROM weir.spend WHERE start_ms < $1", &args);
    return wr_pg_end(pg, err);
}

static weir_status raise_spent(struct wr_ledger *ledger, weir_span scope,
                               enum wr_spend_period period, int64_t start_ms,
                               const struct wr_spent *least, struct weir_err *err)
{
    struct wr_pg *pg = pg_of(ledger);
    struct wr_pg_args args = {.count = 0};

    wr_pg_bytes(&args, scope);
    wr_pg_number(&args, (int64_t)period);
    wr_pg_number(&args, start_ms);
    for (int i = 0; i < WR_SPEND_KINDS; i++)
        wr_pg_number(&args, least->used[i]);
    wr_pg_start(&pg->link);
    wr_pg_ask(&pg->link,
              "INSERT INTO weir.spend AS x VALUES($1, $2, $3, $4, $5, $6, 0, 0)"
              " ON CONFLICT (scope, period, start_ms) DO UPDATE SET"
              " requests = greatest(x.requests, excluded.requests),"
              " tokens = greatest(x.tokens, excluded.tokens),"
              " micro_usd = greatest(x.micro_usd, excluded.micro_usd)",
              &args);
    return wr_pg_end(pg, err);
}

/* ---- opening ---- */

static weir_trouble trouble_of(const struct wr_ledger *ledger)
{
    return pg_of(ledger)->store.trouble;
}

static void close_ledger(struct wr_ledger *ledger)
{
    weir_store_close(&pg_of(ledger)->store);
    free(ledger);
}

static const struct wr_ledger_ops ops = {
    .keep = keep,
    .note = read_note,
    .each = each_row,
    .report = read_report,
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
    .said = read_said,
    .extent = read_extent,
    .trouble = trouble_of,
    .close = close_ledger,
};

weir_status wr_pg_ledger_open(const char *url, const struct weir_store_options *options,
                              struct wr_ledger **ledger, weir_trouble *trouble,
                              struct weir_err *err)
{
    struct ledger *made = calloc(1, sizeof(*made));

    if (trouble)
        *trouble = WEIR_TROUBLE_NONE;
    if (!made)
        return wr_fail(err, WEIR_NOMEM, 0, "no memory for the ledger");
    made->head.ops = &ops;
    weir_status status = wr_pg_open(url, options, &made->store, trouble, err);
    if (status)
        free(made);
    else
        *ledger = &made->head;
    return status;
}
