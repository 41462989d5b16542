/* Everything of one store into another, session by session.
 *
 *   source: list of sessions -> of each: digest of all that is its -> is it the target's too? done
 *        -> originals by their hashes -> marks and pins -> rows with what they said, notes, samples
 *        -> digest of the target: the same?
 *
 * Both sides are written by the functions that every process uses (weir_store_commit(),
 * wr_ledger_keep()), so that a target is what it would be had it been there from the start. Only to
 * list what there is both kinds of database are asked directly (read_table()).
 *
 * Rows cannot be written twice without being there twice: those that the target has already must be
 * the first of the source's, and the rest follows. */
#include "store/copy.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "store/ledger.h"
#include "store/pg.h"
#include "store/spend.h"
#include "store/sqlite.h"
#include "store/store.h"

/* ==== tables of either kind of database ==== */

/* Rows are read by one text of SQL. The tables have the same names and columns in SQLite and
 * PostgreSQL; only the schema's name stands before them in the latter. `{}` in a text is its place.
 */

struct cell {
    int64_t number;  /* where the column is one */
    weir_span bytes; /* in the arena; where it is not */
};

struct table {
    const struct cell *cells; /* row by row; in the arena */
    size_t rows_count, columns_count;
};

enum { TABLE_ARGS_MAX = 2 };

struct table_query {
    const char *sql;     /* $1 and $2 are its arguments, in the order they first stand there */
    const char *columns; /* a letter each: n a number, t a text, b bytes */
    const char *args;    /* the same */
    struct cell values[TABLE_ARGS_MAX];
};

static const struct cell *row_at(const struct table *table, size_t at)
{
    return table->cells + at * table->columns_count;
}

enum { SQL_BYTES_MAX = 4096 };

struct reading {
    const struct table_query *query;
    struct wr_arena *arena;
    struct cell *cells;
    size_t cells_count, cells_cap, columns_count;
};

static struct cell *add_cell(struct reading *r)
{
    if (!WR_ARENA_ROOM(r->arena, r->cells, r->cells_count, r->cells_cap, 64))
        return NULL;
    r->cells[r->cells_count] = (struct cell){.number = 0};
    return &r->cells[r->cells_count++];
}

static void write_sql(const char *sql, const char *schema, struct wr_buf *out)
{
    for (const char *place; (place = strstr(sql, "{}")); sql = place + 2) {
        wr_buf_append(out, (weir_span){sql, (size_t)(place - sql)});
        wr_buf_text(out, schema);
    }
    wr_buf_text(out, sql);
    wr_buf_byte(out, '\0');
}

static weir_status read_sqlite(struct wr_sqlite *sqlite, const char *sql, struct reading *r,
                               struct weir_err *err)
{
    struct wr_db *db = &sqlite->db;
    const struct table_query *q = r->query;
    struct cell *cell;

    wr_db_start(db);
    sqlite3_stmt *statement = wr_db_make(db, sql);
    for (int i = 0; q->args[i]; i++) {
        if (q->args[i] == 'n')
            wr_db_bind_number(db, statement, i + 1, q->values[i].number);
        else if (q->args[i] == 't')
            wr_db_bind_text(db, statement, i + 1, q->values[i].bytes);
        else
            wr_db_bind_blob(db, statement, i + 1, q->values[i].bytes);
    }
    while (wr_db_next(db, statement))
        for (int i = 0; i < (int)r->columns_count && (cell = add_cell(r)); i++) {
            if (q->columns[i] == 'n')
                cell->number = sqlite3_column_int64(statement, i);
            else
                cell->bytes = wr_arena_copy(r->arena, wr_db_column(statement, i));
        }
    wr_db_drop(statement);
    return wr_db_status(db, &sqlite->store.trouble, err);
}

static weir_status read_postgres(struct wr_pg *pg, const char *sql, struct reading *r,
                                 struct weir_err *err)
{
    const struct table_query *q = r->query;
    struct wr_pg_args args = {.count = 0};
    struct cell *cell;

    for (int i = 0; q->args[i]; i++) {
        if (q->args[i] == 'n')
            wr_pg_number(&args, q->values[i].number);
        else
            wr_pg_bytes(&args, q->values[i].bytes);
    }
    wr_pg_start(&pg->link);
    wr_pg_ask(&pg->link, sql, &args);
    for (int row = 0; row < wr_pg_rows(&pg->link); row++)
        for (int i = 0; i < (int)r->columns_count && (cell = add_cell(r)); i++) {
            if (q->columns[i] == 'n')
                cell->number = wr_pg_get_number(&pg->link, row, i);
            else
                cell->bytes = wr_arena_copy(r->arena, wr_pg_get(&pg->link, row, i));
        }
    return wr_pg_end(pg, err);
}

/* `store` is one of ours, opened at `where`. */
static weir_status read_table(const char *where, struct weir_store *store,
                              const struct table_query *query, struct wr_arena *arena,
                              struct table *table, struct weir_err *err)
{
    bool is_postgres = wr_where(where) == WR_WHERE_POSTGRES;
    struct reading r = {.query = query, .arena = arena, .columns_count = strlen(query->columns)};
    struct wr_buf sql;

    wr_buf_init(&sql, SQL_BYTES_MAX);
    write_sql(query->sql, is_postgres ? "weir." : "", &sql);
    weir_status status = wr_buf_status(&sql);
    if (!status)
        status = is_postgres ? read_postgres(wr_pg_of(store), sql.bytes, &r, err)
                             : read_sqlite(wr_sqlite_of(store), sql.bytes, &r, err);
    wr_buf_release(&sql);
    if (!status && wr_arena_status(arena))
        return wr_fail(err, wr_arena_status(arena), 0, "no memory for what the store holds");
    *table = (struct table){r.cells, r.cells_count / r.columns_count, r.columns_count};
    return status;
}

/* ==== the copy ==== */

enum {
    SESSIONS_PAGE = 256,
    BATCH_BYTES = 8 * 1024 * 1024, /* of originals in one commit */
    BATCH_ITEMS = 1000,            /* and of anything else */
    COPY_ARENA_BYTES_MAX = 1024 * 1024 * 1024,
};

struct side {
    const char *where;
    struct weir_store *store, *lists; /* what is read and written by; what is listed by */
    struct wr_ledger *ledger;
};

struct session {
    weir_span tenant, name;
    int64_t used_ms;
};

struct copying {
    struct side from, to;
    struct wr_arena page, arena; /* of a page of sessions; of the session at hand */
    struct wr_copy_report *report;
    struct weir_err *err;
};

/* ---- lists ---- */

enum list { ARTIFACTS, MARKS, PINS, NOTES, SAMPLES, ROWS, SAID, LISTS_COUNT };

static const struct {
    const char *sql, *columns;
} lists[LISTS_COUNT] = {
    [ARTIFACTS] = {"SELECT a.hash FROM {}artifact_use u JOIN {}artifact a ON a.id = u.artifact_id"
                   " WHERE u.session_id = $1 ORDER BY a.hash",
                   "b"},
    [MARKS] = {"SELECT k.key, k.kind, k.value FROM {}mark_use u JOIN {}mark k ON k.id = u.mark_id"
               " WHERE u.session_id = $1 ORDER BY k.key, k.kind",
               "bnb"},
    [PINS] = {"SELECT model, first_turn, value FROM {}pin WHERE session_id = $1"
              " ORDER BY model, first_turn",
              "tbb"},
    [NOTES] = {"SELECT key, time_ms, data FROM {}note WHERE session_id = $1 ORDER BY key", "bnb"},
    [SAMPLES] = {"SELECT bucket, time_ms, is_bad FROM {}sample WHERE session_id = $1"
                 " ORDER BY bucket",
                 "tnn"},
    [ROWS] = {"SELECT time_ms, agent, model, line FROM {}request WHERE session_id = $1 ORDER BY id",
              "nttt"},
    [SAID] = {"SELECT count(*) FROM {}said WHERE session_id = $1", "n"},
};

static weir_status find_session(struct copying *c, struct side *side, const struct session *s,
                                int64_t *id)
{
    struct table found;
    struct table_query query = {
        .sql = "SELECT s.id FROM {}session s JOIN {}tenant t ON t.id = s.tenant_id"
               " WHERE t.name = $1 AND s.name = $2",
        .columns = "n",
        .args = "tt",
        .values = {{.bytes = s->tenant}, {.bytes = s->name}}};
    weir_status status = read_table(side->where, side->lists, &query, &c->arena, &found, c->err);

    *id = !status && found.rows_count ? row_at(&found, 0)->number : 0;
    return status;
}

static weir_status read_list(struct copying *c, struct side *side, enum list list, int64_t id,
                             struct table *table)
{
    struct table_query query = {.sql = lists[list].sql,
                                .columns = lists[list].columns,
                                .args = "n",
                                .values = {{.number = id}}};
    return read_table(side->where, side->lists, &query, &c->arena, table, c->err);
}

/* ---- comparing ---- */

static void add_cells(struct wr_sha256_stream *digest, const struct table *table)
{
    int64_t counts[2] = {(int64_t)table->rows_count, (int64_t)table->columns_count};

    wr_sha256_add(digest, (weir_span){(const char *)counts, sizeof(counts)});
    for (size_t i = 0; i < table->rows_count * table->columns_count; i++) {
        const struct cell *cell = &table->cells[i];
        int64_t size[2] = {cell->number, (int64_t)cell->bytes.len};
        wr_sha256_add(digest, (weir_span){(const char *)size, sizeof(size)});
        wr_sha256_add(digest, cell->bytes);
    }
}

/* Of all that is the session's; of one that is not there: of nothing. */
static weir_status digest_session(struct copying *c, struct side *side, const struct session *s,
                                  unsigned char digest[WR_SHA256_BYTES])
{
    struct wr_sha256_stream stream;
    struct table table;
    int64_t id;
    weir_status status = find_session(c, side, s, &id);

    wr_sha256_begin(&stream);
    wr_sha256_add(&stream, id ? WR_LIT("there") : WR_LIT("not there"));
    for (enum list list = 0; list < LISTS_COUNT && !status; list++) {
        status = read_list(c, side, list, id, &table);
        if (!status)
            add_cells(&stream, &table);
    }
    wr_sha256_digest(&stream, digest);
    return status;
}

static weir_status is_same(struct copying *c, const struct session *s, bool *same)
{
    unsigned char source[WR_SHA256_BYTES], target[WR_SHA256_BYTES];
    weir_status status = digest_session(c, &c->from, s, source);

    if (!status)
        status = digest_session(c, &c->to, s, target);
    *same = !status && !memcmp(source, target, sizeof(source));
    return status;
}

/* ---- what the store holds ---- */

static weir_status commit(struct copying *c, const struct session *s, struct weir_batch batch)
{
    batch.tenant = s->tenant;
    batch.session = s->name;
    batch.used_ms = s->used_ms;
    batch.durability = WEIR_DURABLE_FULL;
    return weir_store_commit(c->to.store, &batch, c->err);
}

/* Reads one; false: it is not there any more as it was put there, which is counted. */
static bool read_original(struct copying *c, const struct session *s, weir_span hash,
                          struct weir_artifact *artifact, weir_status *status)
{
    struct weir_lookup lookup = {.tenant = s->tenant};

    if (hash.len != WEIR_HASH_BYTES) {
        c->report->damaged_count++;
        return false;
    }
    memcpy(lookup.handle.bytes, hash.ptr, WEIR_HANDLE_BYTES);
    *status = weir_store_get(c->from.store, &lookup, artifact, NULL, c->err);
    if (*status == WEIR_NOTFOUND) {
        c->report->damaged_count++;
        *status = WEIR_OK;
        return false;
    }
    if (!*status)
        artifact->text = wr_arena_copy(&c->arena, artifact->text);
    return !*status && artifact->text.ptr;
}

static weir_status copy_originals(struct copying *c, const struct session *s, int64_t id)
{
    struct table table;
    size_t count = 0, bytes = 0;
    weir_status status = read_list(c, &c->from, ARTIFACTS, id, &table);
    struct weir_artifact *artifacts =
        WR_ARENA_ARRAY(&c->arena, struct weir_artifact, status ? 0 : table.rows_count);

    for (size_t i = 0; !status && artifacts && i < table.rows_count; i++) {
        struct weir_artifact *artifact = &artifacts[count];
        if (read_original(c, s, row_at(&table, i)->bytes, artifact, &status)) {
            bytes += artifact->text.len;
            count++;
            c->report->artifacts_count++;
            c->report->text_bytes += artifact->text.len;
        }
        bool is_full = bytes >= BATCH_BYTES || count >= BATCH_ITEMS || i + 1 == table.rows_count;
        if (status || !is_full || !count)
            continue;
        status =
            commit(c, s, (struct weir_batch){.artifacts = artifacts, .artifacts_count = count});
        artifacts += count;
        count = bytes = 0;
    }
    return status ? status : wr_arena_status(&c->arena);
}

static bool take_hash(weir_span bytes, weir_hash *hash)
{
    if (bytes.len == WEIR_HASH_BYTES)
        memcpy(hash->bytes, bytes.ptr, WEIR_HASH_BYTES);
    return bytes.len == WEIR_HASH_BYTES;
}

/* What the source has stands. Kinds of a later release are not in either's list. */
static weir_status copy_marks(struct copying *c, const struct session *s, int64_t id)
{
    struct table table;
    struct weir_mark marks[BATCH_ITEMS];
    size_t count = 0;
    weir_status status = read_list(c, &c->from, MARKS, id, &table);

    for (size_t i = 0; !status && i < table.rows_count; i++) {
        const struct cell *row = row_at(&table, i);
        marks[count] = (struct weir_mark){
            .kind = (weir_mark_kind)row[1].number, .value = row[2].bytes, .replaces = true};
        count += take_hash(row[0].bytes, &marks[count].key) && row[1].number >= 0 &&
                 row[1].number < WEIR_MARK_KINDS_COUNT;
        if (count < BATCH_ITEMS && i + 1 < table.rows_count)
            continue;
        status = commit(c, s, (struct weir_batch){.marks = marks, .marks_count = count});
        c->report->marks_count += count;
        count = 0;
    }
    return status;
}

static weir_status copy_pins(struct copying *c, const struct session *s, int64_t id)
{
    struct table table;
    struct weir_pin pins[BATCH_ITEMS];
    size_t count = 0;
    weir_status status = read_list(c, &c->from, PINS, id, &table);

    for (size_t i = 0; !status && i < table.rows_count; i++) {
        const struct cell *row = row_at(&table, i);
        pins[count] =
            (struct weir_pin){.model = row[0].bytes, .value = row[2].bytes, .replaces = true};
        count += take_hash(row[1].bytes, &pins[count].first_turn);
        if (count < BATCH_ITEMS && i + 1 < table.rows_count)
            continue;
        status = commit(c, s, (struct weir_batch){.pins = pins, .pins_count = count});
        c->report->pins_count += count;
        count = 0;
    }
    return status;
}

/* ---- what the ledger holds ---- */

/* How many of the source's rows, from the first on, the target has; SIZE_MAX: others. */
static size_t count_rows_there(const struct table *source, const struct table *target)
{
    size_t cells_count = target->rows_count * target->columns_count;

    if (target->rows_count > source->rows_count)
        return SIZE_MAX;
    for (size_t i = 0; i < cells_count; i++)
        if (source->cells[i].number != target->cells[i].number ||
            !wr_span_eq(source->cells[i].bytes, target->cells[i].bytes))
            return SIZE_MAX;
    return target->rows_count;
}

/* One row with what it said and, where it is the one that the newest report is of, that. */
static weir_status add_row(struct copying *c, const struct session *s, int64_t id,
                           const struct wr_ledger_row *newest)
{
    struct wr_ledger_which which = {.tenant = s->tenant, .session = s->name, .id = id};
    struct wr_ledger_row row;
    weir_status status = wr_ledger_said(c->from.ledger, &which, &row, c->err);

    if (status)
        return status;
    if (!row.report.len && row.time_ms == newest->time_ms)
        row.report = newest->report;
    return wr_ledger_add(c->to.ledger, &row, 1, c->err);
}

/* The source's numbers of the session's rows, in their order. */
static weir_status read_row_ids(struct copying *c, int64_t id, struct table *ids)
{
    struct table_query query = {.sql = "SELECT id FROM {}request WHERE session_id = $1"
                                       " ORDER BY id",
                                .columns = "n",
                                .args = "n",
                                .values = {{.number = id}}};
    return read_table(c->from.where, c->from.lists, &query, &c->arena, ids, c->err);
}

static weir_status copy_rows(struct copying *c, const struct session *s, int64_t id)
{
    struct table source, target, ids;
    struct wr_ledger_row newest = {.time_ms = INT64_MIN};
    int64_t target_id;
    weir_status status = find_session(c, &c->to, s, &target_id);

    if (!status)
        status = read_list(c, &c->from, ROWS, id, &source);
    if (!status)
        status = read_list(c, &c->to, ROWS, target_id, &target);
    if (!status)
        status = read_row_ids(c, id, &ids);
    if (status)
        return status;
    if (wr_ledger_report(c->from.ledger, s->tenant, s->name, &newest, NULL))
        newest = (struct wr_ledger_row){.time_ms = INT64_MIN};
    newest.report = wr_arena_copy(&c->arena, newest.report);
    size_t from = count_rows_there(&source, &target);
    for (size_t i = from; !status && i < ids.rows_count; i++) {
        status = add_row(c, s, row_at(&ids, i)->number, &newest);
        c->report->rows_count += !status;
    }
    return status;
}

static weir_status copy_notes(struct copying *c, const struct session *s, int64_t id)
{
    struct table table;
    struct wr_ledger_note notes[WR_LEDGER_NOTES_MAX];
    size_t count = 0;
    struct table_query query = {.sql = "SELECT key, time_ms, data FROM {}note"
                                       " WHERE session_id = $1 ORDER BY id",
                                .columns = lists[NOTES].columns,
                                .args = "n",
                                .values = {{.number = id}}};
    weir_status status =
        read_table(c->from.where, c->from.lists, &query, &c->arena, &table, c->err);

    for (size_t i = 0; !status && i < table.rows_count; i++) {
        const struct cell *row = row_at(&table, i);
        struct wr_ledger_note *note = &notes[count];
        *note = (struct wr_ledger_note){.tenant = s->tenant,
                                        .session = s->name,
                                        .time_ms = row[1].number,
                                        .data = row[2].bytes};
        if (row[0].bytes.len == WR_LEDGER_KEY_BYTES) {
            memcpy(note->key, row[0].bytes.ptr, WR_LEDGER_KEY_BYTES);
            count++;
        }
        if (count < WR_LEDGER_NOTES_MAX && i + 1 < table.rows_count)
            continue;
        status = wr_ledger_keep(c->to.ledger, NULL, 0, notes, count, c->err);
        c->report->notes_count += count;
        count = 0;
    }
    return status;
}

static weir_status copy_samples(struct copying *c, const struct session *s, int64_t id)
{
    struct table table;
    weir_status status = read_list(c, &c->from, SAMPLES, id, &table);

    for (size_t i = 0; !status && i < table.rows_count; i++) {
        const struct cell *row = row_at(&table, i);
        struct wr_ledger_sample sample = {.bucket = row[0].bytes,
                                          .tenant = s->tenant,
                                          .session = s->name,
                                          .time_ms = row[1].number,
                                          .is_bad = row[2].number};
        status = wr_ledger_add_sample(c->to.ledger, &sample, c->err);
        c->report->samples_count += !status;
    }
    return status;
}

static weir_status put_calibration(void *user, const struct wr_ledger_calibration *stored,
                                   struct wr_ledger_calibration *changed)
{
    const struct cell *row = user;
    bool is_newer = stored && stored->time_ms > row[1].number; /* the target has learnt since */

    *changed = is_newer ? *stored
                        : (struct wr_ledger_calibration){.model = row[0].bytes,
                                                         .time_ms = row[1].number,
                                                         .accepted_tokens = (uint64_t)row[2].number,
                                                         .data = row[3].bytes};
    return WEIR_OK;
}

static weir_status copy_calibrations(struct copying *c)
{
    struct table_query query = {.sql = "SELECT model, time_ms, accepted_tokens, data"
                                       " FROM {}calibration ORDER BY model",
                                .columns = "tnnt",
                                .args = ""};
    struct table table;
    weir_status status = read_table(c->from.where, c->from.lists, &query, &c->page, &table, c->err);

    for (size_t i = 0; !status && i < table.rows_count; i++) {
        struct cell *row = (struct cell *)(uintptr_t)row_at(&table, i);
        status = wr_ledger_calibrate(c->to.ledger, row[0].bytes, put_calibration, row, c->err);
        c->report->calibrations_count += !status;
    }
    return status;
}

/* Budgets go on where they were: counters of one scope and period are the larger of both. Those of
 * minutes are many, and the minute is over by then. */
static weir_status copy_counters(struct copying *c)
{
    struct table_query query = {.sql = "SELECT scope, period, start_ms, requests, tokens,"
                                       " micro_usd FROM {}spend WHERE period > 0"
                                       " ORDER BY scope, period, start_ms",
                                .columns = "tnnnnn",
                                .args = ""};
    struct table table;
    weir_status status = read_table(c->from.where, c->from.lists, &query, &c->page, &table, c->err);

    for (size_t i = 0; !status && i < table.rows_count; i++) {
        const struct cell *row = row_at(&table, i);
        struct wr_spent spent = {.used = {row[3].number, row[4].number, row[5].number}};
        if (row[1].number < 0 || row[1].number >= WR_SPEND_PERIODS)
            continue; /* of a later Weir */
        status = wr_ledger_raise(c->to.ledger, row[0].bytes, (enum wr_spend_period)row[1].number,
                                 row[2].number, &spent, c->err);
        c->report->counters_count += !status;
    }
    return status;
}

/* ---- all of it ---- */

static weir_status copy_session(struct copying *c, const struct session *s, int64_t id)
{
    weir_status (*const parts[])(struct copying *, const struct session *, int64_t) = {
        copy_originals, copy_marks, copy_pins, copy_rows, copy_notes, copy_samples};
    weir_status status = WEIR_OK;

    for (size_t i = 0; i < WR_COUNT_OF(parts) && !status; i++)
        status = parts[i](c, s, id);
    return status;
}

static weir_status take_session(struct copying *c, const struct session *s, int64_t id,
                                wr_copy_differs_fn *differs, void *user)
{
    bool same;

    wr_arena_reset(&c->arena);
    c->report->sessions_count++;
    weir_status status = is_same(c, s, &same);
    if (status || same) {
        c->report->same_count += same;
        return status;
    }
    status = copy_session(c, s, id);
    wr_arena_reset(&c->arena);
    if (!status)
        status = is_same(c, s, &same);
    if (!status && !same) {
        c->report->differ_count++;
        if (differs)
            differs(user, s->tenant, s->name);
    }
    return status;
}

static weir_status copy_sessions(struct copying *c, wr_copy_differs_fn *differs, void *user)
{
    struct table_query query = {.sql = "SELECT s.id, t.name, s.name, s.used_ms FROM {}session s"
                                       " JOIN {}tenant t ON t.id = s.tenant_id WHERE s.id > $1"
                                       " ORDER BY s.id LIMIT 256",
                                .columns = "nttn",
                                .args = "n"};
    struct table table = {.rows_count = SESSIONS_PAGE};
    weir_status status = WEIR_OK;

    while (!status && table.rows_count == SESSIONS_PAGE) {
        wr_arena_reset(&c->page);
        status = read_table(c->from.where, c->from.lists, &query, &c->page, &table, c->err);
        for (size_t i = 0; !status && i < table.rows_count; i++) {
            const struct cell *row = row_at(&table, i);
            struct session s = {row[1].bytes, row[2].bytes, row[3].number};
            query.values[0].number = row[0].number;
            status = take_session(c, &s, row[0].number, differs, user);
        }
    }
    return status;
}

static weir_status open_side(struct side *side, bool must_exist, struct weir_err *err)
{
    struct weir_store_options options = WEIR_STORE_OPTIONS_INIT;
    weir_status status;

    options.must_exist = must_exist;
    options.busy_ms_max = WR_STORE_KEEP_MS;
    status = weir_store_open(side->where, &options, &side->store, NULL, err);
    if (!status)
        status = weir_store_open(side->where, &options, &side->lists, NULL, err);
    return status ? status : wr_ledger_open(side->where, &options, &side->ledger, NULL, err);
}

static void close_side(struct side *side)
{
    wr_ledger_close(side->ledger);
    weir_store_close(side->lists);
    weir_store_close(side->store);
}

weir_status wr_store_copy(const char *from, const char *to, wr_copy_differs_fn *differs, void *user,
                          struct wr_copy_report *report, struct weir_err *err)
{
    struct copying c = {.from = {.where = from}, .to = {.where = to}, .report = report, .err = err};

    *report = (struct wr_copy_report){0};
    wr_arena_init(&c.page, COPY_ARENA_BYTES_MAX);
    wr_arena_init(&c.arena, COPY_ARENA_BYTES_MAX);
    weir_status status = open_side(&c.from, true, err);
    if (!status)
        status = open_side(&c.to, false, err);
    if (!status && wr_store_place(c.from.store) == wr_store_place(c.to.store))
        status = wr_fail(err, WEIR_INVALID, 0, "both are the same store");
    if (!status)
        status = copy_calibrations(&c);
    if (!status)
        status = copy_counters(&c);
    if (!status)
        status = copy_sessions(&c, differs, user);
    close_side(&c.from);
    close_side(&c.to);
    wr_arena_release(&c.page);
    wr_arena_release(&c.arena);
    return status;
}
