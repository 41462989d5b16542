/* The tables, as a list of steps: step n brings a store of version n to n + 1, and a new store goes
 * through all of them, so that there is one description of each table and not two that may differ.
 *
 * A step only adds. All that are missing are taken in one transaction, and the version is asked
 * again under its lock, because several processes may start together. A store of a newer version,
 * and a file that is not a store, are refused before anything is written.
 */
#include "store/schema.h"

#include "base/err.h"
#include "base/span.h"

/* "weir" as a number, which file(1) and sqlite3 show. */
#define APPLICATION_ID 0x77656972

#define TEXT_OF(number)  TEXT_OF_(number)
#define TEXT_OF_(number) #number

/* Handles come first in their indexes, so that one index answers both "does this tenant have it"
 * and "does anybody". */
static const char version_1[] =
    "CREATE TABLE tenant(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE session(id INTEGER PRIMARY KEY, tenant_id INTEGER NOT NULL, name TEXT NOT NULL,"
    " used_ms INTEGER NOT NULL, UNIQUE(tenant_id, name));"
    "CREATE INDEX session_used ON session(used_ms);"
    "CREATE TABLE artifact(id INTEGER PRIMARY KEY, tenant_id INTEGER NOT NULL,"
    " handle BLOB NOT NULL, hash BLOB NOT NULL, text_bytes INTEGER NOT NULL,"
    " codec INTEGER NOT NULL, data BLOB NOT NULL, UNIQUE(handle, tenant_id));"
    "CREATE TABLE artifact_use(session_id INTEGER NOT NULL, artifact_id INTEGER NOT NULL,"
    " PRIMARY KEY(session_id, artifact_id)) WITHOUT ROWID;"
    "CREATE INDEX artifact_user ON artifact_use(artifact_id);"
    "CREATE TABLE mark(id INTEGER PRIMARY KEY, tenant_id INTEGER NOT NULL, key BLOB NOT NULL,"
    " kind INTEGER NOT NULL, value BLOB NOT NULL, UNIQUE(tenant_id, key, kind));"
    "CREATE TABLE mark_use(session_id INTEGER NOT NULL, mark_id INTEGER NOT NULL,"
    " PRIMARY KEY(session_id, mark_id)) WITHOUT ROWID;"
    "CREATE INDEX mark_user ON mark_use(mark_id);"
    "CREATE TABLE pin(session_id INTEGER NOT NULL, model TEXT NOT NULL, first_turn BLOB NOT NULL,"
    " value BLOB NOT NULL, PRIMARY KEY(session_id, model, first_turn)) WITHOUT ROWID;"
    "CREATE TABLE expired(handle BLOB NOT NULL, tenant_id INTEGER NOT NULL,"
    " gone_ms INTEGER NOT NULL, PRIMARY KEY(handle, tenant_id)) WITHOUT ROWID;"
    "CREATE INDEX expired_gone ON expired(gone_ms);";

/* 0 is a row of version 1, which has none. */
static const char version_2[] =
    "ALTER TABLE artifact ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;";

/* `bucket` comes first in the key of a sample, because buckets are added up far more often than
 * sessions leave. */
static const char version_3[] =
    "CREATE TABLE request(id INTEGER PRIMARY KEY, session_id INTEGER NOT NULL,"
    " time_ms INTEGER NOT NULL, agent TEXT NOT NULL, model TEXT NOT NULL, line TEXT NOT NULL);"
    "CREATE INDEX request_session ON request(session_id, time_ms);"
    "CREATE INDEX request_time ON request(time_ms);"
    "CREATE TABLE report(session_id INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL,"
    " model TEXT NOT NULL, text_bytes INTEGER NOT NULL, codec INTEGER NOT NULL,"
    " data BLOB NOT NULL);"
    "CREATE TABLE sample(bucket TEXT NOT NULL, session_id INTEGER NOT NULL,"
    " time_ms INTEGER NOT NULL, is_bad INTEGER NOT NULL, PRIMARY KEY(bucket, session_id))"
    " WITHOUT ROWID;"
    "CREATE INDEX sample_session ON sample(session_id);";

/* A note that is written anew gets a new number, so that numbers say which are the newest. */
static const char version_4[] =
    "CREATE TABLE note(id INTEGER PRIMARY KEY, tenant_id INTEGER NOT NULL, key BLOB NOT NULL,"
    " session_id INTEGER NOT NULL, time_ms INTEGER NOT NULL, data BLOB NOT NULL,"
    " UNIQUE(tenant_id, key));"
    "CREATE INDEX note_session ON note(session_id);";

/* Whoever asks whether many artifacts are still there need not look at each again while this number
 * is the same. It is counted by the database itself, whoever takes them out or changes them. */
static const char version_5[] = "CREATE TABLE artifact_loss(count INTEGER NOT NULL);"
                                "INSERT INTO artifact_loss VALUES(0);"
                                "CREATE TRIGGER artifact_deleted AFTER DELETE ON artifact"
                                " BEGIN UPDATE artifact_loss SET count = count + 1; END;"
                                "CREATE TRIGGER artifact_changed AFTER UPDATE ON artifact"
                                " BEGIN UPDATE artifact_loss SET count = count + 1; END;";

/* How the provider of a model counts. It belongs to no tenant: figures and a name, no texts. */
static const char version_6[] =
    "CREATE TABLE calibration(model TEXT PRIMARY KEY, time_ms INTEGER NOT NULL,"
    " accepted_tokens INTEGER NOT NULL, data TEXT NOT NULL) WITHOUT ROWID;";

/* What requests said (said.h). A piece is the session's, so that it leaves with it. */
static const char version_7[] =
    "CREATE TABLE piece(id INTEGER PRIMARY KEY, session_id INTEGER NOT NULL, hash BLOB NOT NULL,"
    " text_bytes INTEGER NOT NULL, codec INTEGER NOT NULL, data BLOB NOT NULL,"
    " UNIQUE(session_id, hash));"
    "CREATE TABLE said(request_id INTEGER PRIMARY KEY, session_id INTEGER NOT NULL,"
    " lists BLOB NOT NULL);"
    "CREATE INDEX said_session ON said(session_id);";

/* What users and teams have used (spend.h). It belongs to no tenant and to no session. */
static const char version_8[] =
    "CREATE TABLE spend(scope TEXT NOT NULL, period INTEGER NOT NULL, start_ms INTEGER NOT NULL,"
    " requests INTEGER NOT NULL, tokens INTEGER NOT NULL, micro_usd INTEGER NOT NULL,"
    " held_tokens INTEGER NOT NULL, held_micro_usd INTEGER NOT NULL,"
    " PRIMARY KEY(scope, period, start_ms)) WITHOUT ROWID;"
    "CREATE TABLE spend_hold(ticket BLOB PRIMARY KEY, time_ms INTEGER NOT NULL,"
    " scope_1 TEXT NOT NULL, scope_2 TEXT NOT NULL, tokens INTEGER NOT NULL,"
    " micro_usd INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE INDEX spend_hold_time ON spend_hold(time_ms);";

static const char *const steps[] = {version_1, version_2, version_3, version_4,
                                    version_5, version_6, version_7, version_8};

const struct wr_schema wr_schema_current = {steps, WR_COUNT_OF(steps)};

static bool is_fresh(struct wr_db *db)
{
    return !wr_db_number(db, "PRAGMA application_id") && !wr_db_number(db, "PRAGMA user_version") &&
           !wr_db_number(db, "SELECT count(*) FROM sqlite_schema");
}

/* Refuses what is not ours to touch. */
static weir_status examine(struct wr_db *db, const struct wr_schema *schema, weir_trouble *trouble,
                           struct weir_err *err)
{
    bool fresh = is_fresh(db);
    int64_t application_id = wr_db_number(db, "PRAGMA application_id");
    int64_t version = wr_db_number(db, "PRAGMA user_version");

    if (db->code)
        return wr_db_status(db, trouble, err);
    if (!fresh && application_id != APPLICATION_ID) {
        *trouble = WEIR_TROUBLE_FOREIGN;
        return wr_fail(err, WEIR_INVALID, 0,
                       "store.db is an SQLite file, but not a store of Weir's");
    }
    if (version < 0 || version > (int64_t)schema->steps_count) {
        *trouble = WEIR_TROUBLE_NEWER;
        return wr_fail(err, WEIR_INVALID, 0,
                       "the store has schema %lld and this Weir knows %u: use a newer Weir",
                       (long long)version, schema->steps_count);
    }
    return WEIR_OK;
}

/* Another process may have been first, so the version is asked again under the lock. */
static void upgrade(struct wr_db *db, const struct wr_schema *schema)
{
    wr_db_begin(db);
    int64_t version = wr_db_number(db, "PRAGMA user_version");
    if (version == 0)
        wr_db_exec(db, "PRAGMA application_id = " TEXT_OF(APPLICATION_ID));
    for (int64_t i = version; i < (int64_t)schema->steps_count; i++)
        wr_db_exec(db, schema->steps[i]);
    char pragma[64];
    (void)snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %u", schema->steps_count);
    if (version < (int64_t)schema->steps_count)
        wr_db_exec(db, pragma);
    wr_db_end(db);
}

/* Switching to WAL wants the file for itself and does not wait for it, unlike everything else. */
static void switch_to_wal(struct wr_db *db, weir_trouble *trouble)
{
    enum { TRIES = 100, WAIT_MS = 10 };
    for (int i = 0; i < TRIES; i++) {
        wr_db_start(db);
        sqlite3_stmt *statement = wr_db_make(db, "PRAGMA journal_mode = WAL");
        bool is_wal = wr_db_next(db, statement) && wr_span_is(wr_db_column(statement, 0), "wal");
        wr_db_drop(statement);
        if (!db->code && !is_wal)
            *trouble = WEIR_TROUBLE_SYSTEM;
        if ((db->code & 0xFF) != SQLITE_BUSY)
            return;
        (void)sqlite3_sleep(WAIT_MS);
    }
}

weir_status wr_schema_prepare(struct wr_db *db, const struct wr_schema *schema,
                              weir_trouble *trouble, struct weir_err *err)
{
    weir_status status = examine(db, schema, trouble, err);
    if (status)
        return status;

    bool is_current = wr_db_number(db, "PRAGMA user_version") == (int64_t)schema->steps_count;
    bool is_read_only = sqlite3_db_readonly(db->handle, "main") == 1;
    const char *path = sqlite3_db_filename(db->handle, "main");
    bool is_file = path && *path; /* in memory there is nothing to shrink and nothing to log */
    if (is_read_only && is_current)
        return wr_db_status(db, trouble, err);
    if (!is_current && is_file)
        wr_db_exec(db, "PRAGMA auto_vacuum = INCREMENTAL"); /* heeded only before the first table */
    if (!db->code && is_file)
        switch_to_wal(db, trouble);
    if (*trouble)
        return wr_fail(err, WEIR_IO, 0, "this file system does not allow a write-ahead log");
    if (!is_current && !db->code)
        upgrade(db, schema);
    return wr_db_status(db, trouble, err);
}
