/* What leaves: by age, by the cap, by order.
 *
 * As in SQLite everything belongs to the sessions that refer to it. A session leaves in one
 * transaction (weir.remove_session_1), which waits for nobody for longer than its lock_timeout and
 * keeps others waiting for one session at most; several nodes may collect at the same time. Rows of
 * requests leave by whole days: a partition is taken off and dropped, which deletes nothing row by
 * row. */
#include "store/pg.h"

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"

enum { OLDEST_MAX = 1000 }; /* sessions that are listed at once */

struct removal {
    struct wr_pg *pg;
    bool remembers; /* leaves its handles in `expired` */
    int64_t now_ms;
    struct weir_gc_report *report;
};

/* ---- touch ---- */

weir_status wr_pg_touch(struct weir_store *store, weir_span tenant, weir_span session,
                        int64_t used_ms, struct weir_err *err)
{
    struct wr_pg *pg = wr_pg_of(store);
    struct wr_pg_args args = {.count = 0};

    wr_pg_bytes(&args, tenant);
    wr_pg_bytes(&args, session);
    wr_pg_number(&args, used_ms);
    wr_pg_start(&pg->link);
    wr_pg_ask(&pg->link,
              "UPDATE weir.session SET used_ms = $3, used_day = $3 / 86400000"
              " WHERE used_ms < $3 AND name = $2"
              " AND tenant_id = (SELECT id FROM weir.tenant WHERE name = $1)",
              &args);
    return wr_pg_end(pg, err);
}

/* ---- sessions ---- */

/* Whether it left: it may have been used meanwhile, or another node was faster. */
static bool remove_session(struct removal *removal, int64_t id, int64_t before_ms)
{
    struct wr_pg_link *link = &removal->pg->link;
    struct weir_gc_report *report = removal->report;
    struct wr_pg_args args = {.count = 0};

    wr_pg_number(&args, id);
    wr_pg_number(&args, before_ms);
    wr_pg_number(&args, removal->remembers);
    wr_pg_number(&args, removal->now_ms);
    wr_pg_start(link);
    wr_pg_ask(link, "SELECT * FROM weir.remove_session_1($1, $2, $3, $4)", &args);
    if (!wr_pg_rows(link))
        return false;
    report->sessions_count++;
    report->artifacts_count += (uint64_t)wr_pg_get_number(link, 0, 0);
    report->marks_count += (uint64_t)wr_pg_get_number(link, 0, 1);
    report->pins_count += (uint64_t)wr_pg_get_number(link, 0, 2);
    report->rows_count += (uint64_t)wr_pg_get_number(link, 0, 3);
    report->stored_bytes += (uint64_t)wr_pg_get_number(link, 0, 4);
    return true;
}

/* The numbers in the first column, which outlive the result. */
static int64_t *take_ids(struct wr_pg *pg, size_t *count)
{
    int rows = wr_pg_rows(&pg->link);

    wr_arena_reset(&pg->arena);
    int64_t *ids = WR_ARENA_ARRAY(&pg->arena, int64_t, (size_t)rows);
    if (!ids)
        wr_pg_fail(&pg->link, wr_arena_status(&pg->arena), WEIR_TROUBLE_NONE);
    for (int i = 0; i < rows && ids; i++)
        ids[i] = wr_pg_get_number(&pg->link, i, 0);
    *count = ids ? (size_t)rows : 0;
    return ids;
}

/* Removes those used before `before_ms`, the oldest first, while more than `bytes_max` of `bytes`
 * are left; false: there are none left to look at. */
static bool remove_some(struct removal *removal, int64_t before_ms, uint64_t bytes_max,
                        uint64_t *bytes)
{
    struct wr_pg *pg = removal->pg;
    struct wr_pg_args args = {.count = 0};
    size_t count, removed = 0;

    wr_pg_number(&args, before_ms);
    wr_pg_number(&args, OLDEST_MAX);
    wr_pg_start(&pg->link);
    (void)wr_pg_run(&pg->link,
                    "SELECT id FROM weir.session WHERE used_day <= $1 / 86400000 AND used_ms < $1"
                    " ORDER BY used_day, used_ms, id LIMIT $2",
                    &args);
    int64_t *ids = take_ids(pg, &count);
    for (size_t i = 0; i<count && * bytes> bytes_max && !pg->link.status; i++) {
        uint64_t before_bytes = removal->report->stored_bytes;
        removed += remove_session(removal, ids[i], before_ms);
        uint64_t gone = removal->report->stored_bytes - before_bytes;
        *bytes -= gone < *bytes ? gone : *bytes;
    }
    return removed && !pg->link.status;
}

/* ---- gc ---- */

static int64_t time_before(int64_t now_ms, int64_t ago_ms)
{
    return now_ms < INT64_MIN + ago_ms ? INT64_MIN : now_ms - ago_ms;
}

static void run_with(struct wr_pg *pg, const char *sql, int64_t number)
{
    struct wr_pg_args args = {.count = 0};

    wr_pg_number(&args, number);
    if (pg->link.status)
        return;
    wr_pg_start(&pg->link);
    wr_pg_extend(&pg->link, WR_STORE_GC_MS); /* nobody waits for it, and it may be a large day */
    wr_pg_ask(&pg->link, sql, &args);
}

/* Days that are wholly before leave whole; of the day in between, and of what has no day of its
 * own, single rows. The newest of each session stays, so that the session is still listed. */
static void remove_old_rows(struct removal *removal, int64_t before_ms)
{
    struct wr_pg *pg = removal->pg;
    int64_t gone;

    do {
        run_with(pg, "SELECT weir.drop_day_2($1)", before_ms);
        gone = wr_pg_rows(&pg->link) ? wr_pg_get_number(&pg->link, 0, 0) : -1;
        removal->report->rows_count += gone > 0 ? (uint64_t)gone : 0;
    } while (gone >= 0);
    if (pg->link.trouble == WEIR_TROUBLE_LOCKED)
        wr_pg_start(&pg->link); /* a day that is in use leaves the next time */
    uint64_t deleted_count;
    do { /* a transaction each, so that none is long */
        run_with(pg,
                 "DELETE FROM weir.request d USING (SELECT r.id, r.time_ms FROM weir.request r"
                 " WHERE r.time_ms < $1 AND EXISTS (SELECT 1 FROM weir.request n"
                 " WHERE n.session_id = r.session_id AND n.id > r.id) LIMIT 10000) x"
                 " WHERE d.id = x.id AND d.time_ms = x.time_ms",
                 before_ms);
        deleted_count = wr_pg_changed(&pg->link);
        removal->report->rows_count += deleted_count;
    } while (deleted_count);
    run_with(pg, "DELETE FROM weir.note WHERE time_ms < $1", before_ms);
    run_with(
        pg,
        "DELETE FROM weir.said d WHERE time_ms < $1 AND NOT EXISTS (SELECT 1 FROM weir.request r"
        " WHERE r.id = d.request_id)",
        before_ms);
}

#define STORED_BYTES                                                     \
    "SELECT ((SELECT coalesce(sum(stored_bytes), 0) FROM weir.artifact)" \
    " + (SELECT coalesce(sum(octet_length(line)), 0) FROM weir.request)" \
    " + (SELECT coalesce(sum(octet_length(data)), 0) FROM weir.report)"  \
    " + (SELECT coalesce(sum(octet_length(data)), 0) FROM weir.piece)"   \
    " + (SELECT coalesce(sum(octet_length(data)), 0) FROM weir.note))::bigint"

static void collect_by_cap(struct removal *removal, uint64_t stored_bytes_max, int64_t before_ms)
{
    struct wr_pg *pg = removal->pg;

    wr_pg_start(&pg->link);
    uint64_t bytes = (uint64_t)wr_pg_ask_number(&pg->link, STORED_BYTES);
    while (bytes > stored_bytes_max && remove_some(removal, before_ms, stored_bytes_max, &bytes))
        ;
    removal->report->is_over = bytes > stored_bytes_max;
}

weir_status wr_pg_gc(struct weir_store *store, const struct weir_gc_options *options,
                     struct weir_gc_report *report, struct weir_err *err)
{
    struct wr_pg *pg = wr_pg_of(store);
    struct removal removal = {
        .pg = pg, .remembers = true, .now_ms = options->now_ms, .report = report};
    int64_t live_ms = time_before(options->now_ms, options->live_ms);
    int64_t old_ms = time_before(options->now_ms, options->retention_ms);
    uint64_t all = UINT64_MAX;

    wr_pg_start(&pg->link);
    run_with(pg, "SELECT weir.make_days_1($1)", options->now_ms);
    run_with(pg,
             "UPDATE weir.session SET used_ms = $1, used_day = $1 / 86400000 WHERE used_ms > $1",
             options->now_ms);
    if (options->retention_ms && !pg->link.status) {
        while (remove_some(&removal, old_ms < live_ms ? old_ms : live_ms, 0, &all))
            all = UINT64_MAX;
        remove_old_rows(&removal, old_ms);
    }
    if (options->stored_bytes_max && !pg->link.status)
        collect_by_cap(&removal, options->stored_bytes_max, live_ms);
    run_with(pg,
             "DELETE FROM weir.expired WHERE (handle, tenant_id) IN (SELECT handle, tenant_id"
             " FROM weir.expired ORDER BY gone_ms DESC OFFSET $1)",
             WR_STORE_EXPIRED_COUNT_MAX);
    return wr_pg_end(pg, err);
}

/* ---- purge ---- */

/* One statement each, in one transaction that no commit can come between. */
static const char *const purge_tenants[] = {
    "SELECT pg_advisory_xact_lock(2003134834, 1)",
    "DELETE FROM weir.artifact_use u USING weir.session s WHERE s.id = u.session_id AND"
    " s.tenant_id = ANY($1)",
    "DELETE FROM weir.artifact_chunk WHERE tenant_id = ANY($1)",
    "DELETE FROM weir.mark_use u USING weir.session s WHERE s.id = u.session_id AND"
    " s.tenant_id = ANY($1)",
    "DELETE FROM weir.report r USING weir.session s WHERE s.id = r.session_id AND"
    " s.tenant_id = ANY($1)",
    "DELETE FROM weir.sample r USING weir.session s WHERE s.id = r.session_id AND"
    " s.tenant_id = ANY($1)",
    "DELETE FROM weir.said r USING weir.session s WHERE s.id = r.session_id AND"
    " s.tenant_id = ANY($1)",
    "DELETE FROM weir.piece r USING weir.session s WHERE s.id = r.session_id AND"
    " s.tenant_id = ANY($1)",
    "DELETE FROM weir.note WHERE tenant_id = ANY($1)",
    "DELETE FROM weir.expired WHERE tenant_id = ANY($1)",
    "DELETE FROM weir.calibration WHERE $1::bigint <> 0",
    /* What is counted: one row. */
    "WITH a AS (DELETE FROM weir.artifact WHERE tenant_id = ANY($1) RETURNING stored_bytes),"
    " k AS (DELETE FROM weir.mark WHERE tenant_id = ANY($1) RETURNING 1),"
    " p AS (DELETE FROM weir.pin p USING weir.session s WHERE s.id = p.session_id"
    " AND s.tenant_id = ANY($1) RETURNING 1),"
    " r AS (DELETE FROM weir.request r USING weir.session s WHERE s.id = r.session_id"
    " AND s.tenant_id = ANY($1) RETURNING octet_length(line) AS bytes),"
    " s AS (DELETE FROM weir.session WHERE tenant_id = ANY($1) RETURNING 1),"
    " t AS (DELETE FROM weir.tenant WHERE id = ANY($1) RETURNING 1)"
    " SELECT (SELECT count(*) FROM s), (SELECT count(*) FROM a), (SELECT count(*) FROM k),"
    " (SELECT count(*) FROM p), (SELECT count(*) FROM r), ((SELECT coalesce(sum(stored_bytes), 0)"
    " FROM a) + (SELECT coalesce(sum(bytes), 0) FROM r))::bigint, (SELECT count(*) FROM t)",
};

/* With `tenant` empty all of them. False: there is no such one. */
static bool purge_all_of(struct wr_pg *pg, weir_span tenant, struct weir_gc_report *report)
{
    struct wr_pg_statement statements[WR_COUNT_OF(purge_tenants)] = {{.sql = NULL}};
    struct wr_pg_args args = {.count = 0};
    size_t count;

    wr_pg_bytes(&args, tenant);
    (void)wr_pg_run(&pg->link, "SELECT id FROM weir.tenant WHERE name = $1 OR $1 = ''", &args);
    int64_t *ids = take_ids(pg, &count);
    if (!count && tenant.len)
        return false;
    struct wr_buf *array = wr_pg_array_of(pg, 0, WR_PG_NUMBER, count);
    for (size_t i = 0; i < count; i++)
        wr_pg_item_number(array, ids[i]);
    for (size_t i = 0; i < WR_COUNT_OF(purge_tenants); i++) {
        statements[i].sql = purge_tenants[i];
        if (strstr(purge_tenants[i], "weir.calibration"))
            wr_pg_number(&statements[i].args, !tenant.len);
        else if (strstr(purge_tenants[i], "$1"))
            wr_pg_give_array(pg, &statements[i].args, 0);
    }
    (void)wr_pg_run_all(&pg->link, statements, WR_COUNT_OF(purge_tenants));
    if (wr_pg_rows(&pg->link))
        *report =
            (struct weir_gc_report){.sessions_count = (uint64_t)wr_pg_get_number(&pg->link, 0, 0),
                                    .artifacts_count = (uint64_t)wr_pg_get_number(&pg->link, 0, 1),
                                    .marks_count = (uint64_t)wr_pg_get_number(&pg->link, 0, 2),
                                    .pins_count = (uint64_t)wr_pg_get_number(&pg->link, 0, 3),
                                    .rows_count = (uint64_t)wr_pg_get_number(&pg->link, 0, 4),
                                    .stored_bytes = (uint64_t)wr_pg_get_number(&pg->link, 0, 5)};
    return true;
}

static bool purge_session(struct wr_pg *pg, weir_span tenant, weir_span session,
                          struct weir_gc_report *report)
{
    struct removal removal = {.pg = pg, .report = report};
    struct wr_pg_args args = {.count = 0};

    wr_pg_bytes(&args, tenant);
    wr_pg_bytes(&args, session);
    (void)wr_pg_run(&pg->link,
                    "SELECT s.id FROM weir.session s JOIN weir.tenant t ON t.id = s.tenant_id"
                    " WHERE t.name = $1 AND s.name = $2",
                    &args);
    if (!wr_pg_rows(&pg->link))
        return false;
    return remove_session(&removal, wr_pg_get_number(&pg->link, 0, 0), INT64_MAX);
}

weir_status wr_pg_purge(struct weir_store *store, weir_span tenant, weir_span session,
                        struct weir_gc_report *report, struct weir_err *err)
{
    struct wr_pg *pg = wr_pg_of(store);

    wr_pg_start(&pg->link);
    bool found =
        session.len ? purge_session(pg, tenant, session, report) : purge_all_of(pg, tenant, report);
    weir_status status = wr_pg_end(pg, err);
    if (status)
        *report = (struct weir_gc_report){0};
    if (!status && !found)
        return wr_fail(err, WEIR_NOTFOUND, 0, "there is no such session or tenant");
    return status;
}
