/* What leaves: by age, by the cap, by order.
 *
 * Everything belongs to the sessions that refer to it, and leaves with the last of them. A session
 * goes in one transaction, with everything that only it refers to, so that a reader sees all of it
 * or nothing and a writer waits for one session at most, never for the whole collection. References
 * are rows, not counters: a counter that was wrong once would keep or lose a text for ever.
 *
 * What was collected is remembered as expired, so that whoever asks for it is told that it was
 * there. What is purged is not, and its bytes are overwritten (secure_delete). Pages that became
 * free go back to the system in small steps, each a transaction of its own. */
#include "store/sqlite.h"

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"

/* What only the session ?1 refers to. */
#define LONELY_ARTIFACTS                                                \
    "(SELECT u.artifact_id FROM artifact_use u WHERE u.session_id = ?1" \
    " AND NOT EXISTS (SELECT 1 FROM artifact_use o"                     \
    " WHERE o.artifact_id = u.artifact_id AND o.session_id <> ?1))"
#define LONELY_MARKS                                            \
    "(SELECT u.mark_id FROM mark_use u WHERE u.session_id = ?1" \
    " AND NOT EXISTS (SELECT 1 FROM mark_use o"                 \
    " WHERE o.mark_id = u.mark_id AND o.session_id <> ?1))"

struct removal {
    struct wr_db *db;
    int64_t session_id;
    bool remembers; /* leaves its handles in `expired` */
    int64_t now_ms;
    struct weir_gc_report *report;
};

/* Runs `sql` with the session's number; says how many rows it changed. */
static uint64_t run_for(struct removal *removal, const char *sql)
{
    struct wr_db *db = removal->db;
    sqlite3_stmt *statement = wr_db_make(db, sql);
    if (!db->code)
        wr_db_bind_number(db, statement, 1, removal->session_id);
    if (!db->code && sqlite3_bind_parameter_count(statement) > 1)
        wr_db_bind_number(db, statement, 2, removal->now_ms);
    wr_db_run(db, statement);
    wr_db_drop(statement);
    return db->code ? 0 : (uint64_t)sqlite3_changes64(db->handle);
}

/* All that counts towards the cap. */
#define STORED_BYTES                                             \
    "SELECT (SELECT total(length(data)) FROM artifact)"          \
    " + (SELECT total(length(CAST(line AS BLOB))) FROM request)" \
    " + (SELECT total(length(data)) FROM report)"                \
    " + (SELECT total(length(data)) FROM note)"                  \
    " + (SELECT total(length(data)) FROM piece)"                 \
    " + (SELECT total(length(lists)) FROM said)"

static uint64_t lonely_bytes(struct removal *removal)
{
    struct wr_db *db = removal->db;
    sqlite3_stmt *sum = wr_db_make(
        db, "SELECT (SELECT total(length(data)) FROM artifact WHERE id IN " LONELY_ARTIFACTS ")"
            " + (SELECT total(length(CAST(line AS BLOB))) FROM request WHERE session_id = ?1)"
            " + (SELECT total(length(data)) FROM report WHERE session_id = ?1)"
            " + (SELECT total(length(data)) FROM note WHERE session_id = ?1)"
            " + (SELECT total(length(data)) FROM piece WHERE session_id = ?1)"
            " + (SELECT total(length(lists)) FROM said WHERE session_id = ?1)");
    wr_db_bind_number(db, sum, 1, removal->session_id);
    int64_t bytes = wr_db_next(db, sum) ? sqlite3_column_int64(sum, 0) : 0;
    wr_db_drop(sum);
    return bytes < 0 ? 0 : (uint64_t)bytes;
}

static void remove_session(struct removal *removal)
{
    struct weir_gc_report *report = removal->report;

    report->stored_bytes += lonely_bytes(removal);
    if (removal->remembers)
        (void)run_for(removal, "INSERT OR REPLACE INTO expired SELECT handle, tenant_id, ?2"
                               " FROM artifact WHERE id IN " LONELY_ARTIFACTS);
    report->artifacts_count +=
        run_for(removal, "DELETE FROM artifact WHERE id IN " LONELY_ARTIFACTS);
    (void)run_for(removal, "DELETE FROM artifact_use WHERE session_id = ?1");
    report->marks_count += run_for(removal, "DELETE FROM mark WHERE id IN " LONELY_MARKS);
    (void)run_for(removal, "DELETE FROM mark_use WHERE session_id = ?1");
    report->pins_count += run_for(removal, "DELETE FROM pin WHERE session_id = ?1");
    report->rows_count += run_for(removal, "DELETE FROM request WHERE session_id = ?1");
    (void)run_for(removal, "DELETE FROM report WHERE session_id = ?1");
    (void)run_for(removal, "DELETE FROM sample WHERE session_id = ?1");
    (void)run_for(removal, "DELETE FROM note WHERE session_id = ?1");
    (void)run_for(removal, "DELETE FROM said WHERE session_id = ?1");
    (void)run_for(removal, "DELETE FROM piece WHERE session_id = ?1");
    report->sessions_count += run_for(removal, "DELETE FROM session WHERE id = ?1");
}

/* ---- touch ---- */

weir_status wr_sqlite_touch(struct weir_store *store, weir_span tenant, weir_span session,
                            int64_t used_ms, struct weir_err *err)
{
    struct wr_db *db = &wr_sqlite_of(store)->db;
    weir_status status = wr_sqlite_follow_to_write(wr_sqlite_of(store), err);

    if (status)
        return status;
    wr_db_start(db);
    sqlite3_stmt *touch =
        wr_db_make(db, "UPDATE session SET used_ms = ?3 WHERE used_ms < ?3 AND name = ?2"
                       " AND tenant_id = (SELECT id FROM tenant WHERE name = ?1)");
    wr_db_bind_text(db, touch, 1, tenant);
    wr_db_bind_text(db, touch, 2, session);
    wr_db_bind_number(db, touch, 3, used_ms);
    wr_db_run(db, touch);
    wr_db_drop(touch);
    return wr_db_status(db, &store->trouble, err);
}

/* ---- gc ---- */

static int64_t time_before(int64_t now_ms, int64_t ago_ms)
{
    return now_ms < INT64_MIN + ago_ms ? INT64_MIN : now_ms - ago_ms;
}

/* Removes the least recently used session if it was used before `before_ms`. */
static bool remove_oldest(struct removal *removal, int64_t before_ms)
{
    struct weir_gc_report kept = *removal->report;
    struct wr_db *db = removal->db;

    wr_db_begin(db);
    sqlite3_stmt *oldest =
        wr_db_make(db, "SELECT id FROM session WHERE used_ms < ?1 ORDER BY used_ms, id LIMIT 1");
    wr_db_bind_number(db, oldest, 1, before_ms);
    removal->session_id = wr_db_next(db, oldest) ? sqlite3_column_int64(oldest, 0) : 0;
    wr_db_drop(oldest);
    if (removal->session_id)
        remove_session(removal);
    wr_db_end(db);
    if (db->code)
        *removal->report = kept;
    return removal->session_id && !db->code;
}

static void bring_back_from_the_future(struct wr_db *db, int64_t now_ms)
{
    sqlite3_stmt *set = wr_db_make(db, "UPDATE session SET used_ms = ?1 WHERE used_ms > ?1");
    wr_db_bind_number(db, set, 1, now_ms);
    wr_db_run(db, set);
    wr_db_drop(set);
}

static void forget_oldest_expired(struct wr_db *db, int64_t count_max)
{
    int64_t count = wr_db_number(db, "SELECT count(*) FROM expired");
    if (count <= count_max)
        return;
    sqlite3_stmt *forget =
        wr_db_make(db, "DELETE FROM expired WHERE (handle, tenant_id) IN"
                       " (SELECT handle, tenant_id FROM expired ORDER BY gone_ms LIMIT ?1)");
    wr_db_bind_number(db, forget, 1, count - count_max);
    wr_db_run(db, forget);
    wr_db_drop(forget);
}

/* Gives free pages back to the system. Not done while somebody reads; the next time will do. */
static void shrink_file(struct wr_sqlite *sqlite)
{
    struct wr_db *db = &sqlite->db;
    if (!sqlite->path)
        return;
    int64_t pages = wr_db_number(db, "PRAGMA freelist_count");

    /* A step is a transaction: whoever wants to write meanwhile waits for one of them. */
    for (; pages > 0 && !db->code; pages -= 256)
        wr_db_exec(db, "PRAGMA incremental_vacuum(256)");
    wr_db_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)");
    wr_db_start(db);
}

/* Rows of sessions that stay are as old as they are. The newest of each stays, so that the session
 * is still listed. */
static void remove_old_rows(struct removal *removal, int64_t before_ms)
{
    struct wr_db *db = removal->db;
    sqlite3_stmt *old = wr_db_make(db, "DELETE FROM request WHERE time_ms < ?1 AND id NOT IN"
                                       " (SELECT max(id) FROM request GROUP BY session_id)");
    wr_db_bind_number(db, old, 1, before_ms);
    wr_db_run(db, old);
    wr_db_drop(old);
    removal->report->rows_count += db->code ? 0 : (uint64_t)sqlite3_changes64(db->handle);
    wr_db_exec(db, "DELETE FROM said WHERE request_id NOT IN (SELECT id FROM request)");
    old = wr_db_make(db, "DELETE FROM note WHERE time_ms < ?1");
    wr_db_bind_number(db, old, 1, before_ms);
    wr_db_run(db, old);
    wr_db_drop(old);
}

static void collect_by_cap(struct removal *removal, uint64_t stored_bytes_max, int64_t before_ms)
{
    int64_t sum = wr_db_number(removal->db, STORED_BYTES);
    uint64_t stored_bytes = sum < 0 ? 0 : (uint64_t)sum;
    bool removed = true;

    while (stored_bytes > stored_bytes_max && removed) {
        uint64_t before_bytes = removal->report->stored_bytes;
        removed = remove_oldest(removal, before_ms);
        uint64_t gone_bytes = removal->report->stored_bytes - before_bytes;
        stored_bytes -= gone_bytes < stored_bytes ? gone_bytes : stored_bytes;
    }
    removal->report->is_over = stored_bytes > stored_bytes_max;
}

weir_status wr_sqlite_gc(struct weir_store *store, const struct weir_gc_options *options,
                         struct weir_gc_report *report, struct weir_err *err)
{
    struct wr_sqlite *sqlite = wr_sqlite_of(store);
    struct wr_db *db = &sqlite->db;
    struct removal removal = {
        .db = db, .remembers = true, .now_ms = options->now_ms, .report = report};
    int64_t live_ms = time_before(options->now_ms, options->live_ms);
    int64_t old_ms = time_before(options->now_ms, options->retention_ms);
    weir_status status = wr_sqlite_follow_to_write(sqlite, err);

    if (status)
        return status;
    wr_db_start(db);
    bring_back_from_the_future(db, options->now_ms);
    if (options->retention_ms && !db->code) {
        while (remove_oldest(&removal, old_ms < live_ms ? old_ms : live_ms))
            ;
        remove_old_rows(&removal, old_ms);
    }
    if (options->stored_bytes_max && !db->code)
        collect_by_cap(&removal, options->stored_bytes_max, live_ms);
    int64_t expired_count_max = sqlite->options.expired_count_max;
    forget_oldest_expired(db, expired_count_max ? expired_count_max : WR_STORE_EXPIRED_COUNT_MAX);
    status = wr_db_status(db, &store->trouble, err);
    if (!status)
        shrink_file(sqlite);
    return status;
}

/* ---- purge ---- */

static void purge_sessions(struct removal *removal, int64_t tenant_id)
{
    struct wr_db *db = removal->db;
    do {
        sqlite3_stmt *any = wr_db_make(db, "SELECT id FROM session WHERE tenant_id = ?1 LIMIT 1");
        wr_db_bind_number(db, any, 1, tenant_id);
        removal->session_id = wr_db_next(db, any) ? sqlite3_column_int64(any, 0) : 0;
        wr_db_drop(any);
        if (removal->session_id)
            remove_session(removal);
    } while (removal->session_id && !db->code);
}

static void purge_tenant(struct removal *removal, int64_t tenant_id)
{
    purge_sessions(removal, tenant_id);
    removal->session_id = tenant_id;
    (void)run_for(removal, "DELETE FROM expired WHERE tenant_id = ?1");
    (void)run_for(removal, "DELETE FROM tenant WHERE id = ?1");
}

static void purge_all(struct removal *removal)
{
    int64_t tenant_id;
    while ((tenant_id = wr_db_number(removal->db, "SELECT id FROM tenant LIMIT 1")) != 0)
        purge_tenant(removal, tenant_id);
    wr_db_exec(removal->db, "DELETE FROM calibration");
}

static bool purge_named(struct wr_sqlite *sqlite, struct removal *removal, weir_span tenant,
                        weir_span session)
{
    int64_t tenant_id = wr_sqlite_tenant(sqlite, tenant);
    if (!tenant_id)
        return false;
    if (!session.len) {
        purge_tenant(removal, tenant_id);
        return true;
    }
    removal->session_id = wr_sqlite_session(sqlite, tenant_id, session);
    if (!removal->session_id)
        return false;
    remove_session(removal);
    return true;
}

weir_status wr_sqlite_purge(struct weir_store *store, weir_span tenant, weir_span session,
                            struct weir_gc_report *report, struct weir_err *err)
{
    struct wr_sqlite *sqlite = wr_sqlite_of(store);
    struct wr_db *db = &sqlite->db;
    struct removal removal = {.db = db, .report = report};
    bool found = true;
    weir_status status = wr_sqlite_follow_to_write(sqlite, err);

    if (status)
        return status;
    wr_db_start(db);
    wr_db_exec(db, "PRAGMA secure_delete = ON"); /* zeroes what is deleted */
    if (!db->code)
        wr_db_begin(db);
    if (tenant.len)
        found = purge_named(sqlite, &removal, tenant, session);
    else
        purge_all(&removal);
    wr_db_end(db);
    status = wr_db_status(db, &store->trouble, err);
    if (status)
        *report = (struct weir_gc_report){0};
    wr_db_start(db);
    shrink_file(sqlite);
    wr_db_exec(db, "PRAGMA secure_delete = OFF");
    if (!status && !found)
        return wr_fail(err, WEIR_NOTFOUND, 0, "there is no such session or tenant");
    return status;
}
