/* A SQLite connection whose failures stick, and the tables that it brings up to date.
 *
 * A commit is dozens of calls of SQLite, and each can fail: memory, disk, a lock, a damaged page.
 * To check each where it is made buried what the work was about. So the first failure is kept,
 * every call behind it does nothing and gives nothing, and whoever works asks once at the end, when
 * everything is committed or taken back.
 *
 * Statements are prepared at their first use and kept until the connection is closed: to prepare
 * one takes longer than to run it. What SQLite says is translated here, in one place, into the
 * troubles that weir/store.h knows; above it nobody sees a code of SQLite's but to tell a damaged
 * page, which is the failure of one artifact and not of the work. */
#include "store/db.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/span.h"

/* What the system last said about the database or its log. SQLite's own sqlite3_system_errno() is
 * what errno happens to be once all is taken back. */
static int last_errno(sqlite3 *handle)
{
    sqlite3_file *log = NULL;
    int main_errno = 0, log_errno = 0;
    (void)sqlite3_file_control(handle, "main", SQLITE_FCNTL_LAST_ERRNO, &main_errno);
    (void)sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (log && log->pMethods)
        (void)log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &log_errno);
    return log_errno ? log_errno : main_errno;
}

static void note(struct wr_db *db, int code)
{
    bool is_failure = code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE;
    if (!is_failure || db->code)
        return;
    db->code = code;
    if (db->handle && (code & 0xFF) == SQLITE_IOERR)
        db->system_errno = last_errno(db->handle);
}

/* Waits for whoever holds the lock; `user` is for how many milliseconds in all. SQLite's own
 * handler sleeps for a millisecond at first and soon for 25, and most locks here are held for a
 * tenth of one, by another thread of the same process. */
static int wait_for_lock(void *user, int tries_count)
{
    enum { FIRST_US = 50, DOUBLINGS = 7, LAST_US = FIRST_US << DOUBLINGS };
    int doubled = tries_count < DOUBLINGS ? tries_count : DOUBLINGS;
    int64_t waited_us = LAST_US / (1 << (DOUBLINGS - doubled)) - FIRST_US +
                        (int64_t)(tries_count - doubled) * LAST_US;
    struct timespec pause = {.tv_nsec = ((long)FIRST_US << doubled) * 1000};

    if (waited_us >= (int64_t)(uintptr_t)user * 1000)
        return 0;
    (void)nanosleep(&pause, NULL);
    return 1;
}

void wr_db_open(struct wr_db *db, const char *path, int flags, const char *vfs,
                uint32_t busy_ms_max)
{
    *db = (struct wr_db){.handle = NULL};
    note(db, sqlite3_open_v2(path, &db->handle, flags, vfs));
    if (!db->handle)
        return;
    note(db, sqlite3_extended_result_codes(db->handle, 1));
    note(db, sqlite3_busy_handler(db->handle, wait_for_lock, (void *)(uintptr_t)busy_ms_max));
}

void wr_db_close(struct wr_db *db)
{
    for (size_t i = 0; i < WR_SQL_COUNT; i++)
        wr_db_drop(db->kept[i]);
    (void)sqlite3_close_v2(db->handle);
    *db = (struct wr_db){.handle = NULL};
}

void wr_db_start(struct wr_db *db)
{
    db->code = SQLITE_OK;
    db->system_errno = 0;
}

void wr_db_begin(struct wr_db *db)
{
    wr_db_start(db);
    wr_db_run(db, wr_db_use(db, WR_SQL_BEGIN, "BEGIN IMMEDIATE"));
}

void wr_db_begin_read(struct wr_db *db)
{
    wr_db_start(db);
    wr_db_run(db, wr_db_use(db, WR_SQL_BEGIN_READ, "BEGIN"));
}

/* What went wrong before stays what went wrong. */
static void roll_back(struct wr_db *db)
{
    int code = db->code, system_errno = db->system_errno;
    wr_db_start(db);
    wr_db_run(db, wr_db_use(db, WR_SQL_ROLLBACK, "ROLLBACK"));
    db->code = code;
    db->system_errno = system_errno;
}

void wr_db_end(struct wr_db *db)
{
    wr_db_run(db, wr_db_use(db, WR_SQL_COMMIT, "COMMIT"));
    if (db->code && !sqlite3_get_autocommit(db->handle))
        roll_back(db);
}

/* A page that could not be read keeps a transaction from being committed, but not this one from
 * having been of use. */
void wr_db_end_read(struct wr_db *db)
{
    if (!sqlite3_get_autocommit(db->handle))
        roll_back(db);
}

/* A transaction that is taken back leaves its pages in the log, where the next one overwrites them;
 * flushing brings them there, though nothing is committed. */
void wr_db_try_room(struct wr_db *db, size_t bytes)
{
    char sql[64];

    (void)snprintf(sql, sizeof(sql), "INSERT INTO room VALUES (zeroblob(%zu))", bytes);
    wr_db_begin(db);
    wr_db_exec(db, "CREATE TABLE room(bytes)");
    wr_db_exec(db, sql);
    if (!db->code)
        note(db, sqlite3_db_cacheflush(db->handle));
    if (!sqlite3_get_autocommit(db->handle))
        roll_back(db);
}

static weir_trouble io_trouble(int system_errno)
{
    bool is_full = system_errno == ENOSPC || system_errno == EFBIG || system_errno == EDQUOT;
    return is_full ? WEIR_TROUBLE_FULL : WEIR_TROUBLE_SYSTEM;
}

static weir_trouble trouble_of(const struct wr_db *db)
{
    switch (db->code & 0xFF) {
    case SQLITE_OK:
        return WEIR_TROUBLE_NONE;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return WEIR_TROUBLE_LOCKED;
    case SQLITE_FULL:
        return WEIR_TROUBLE_FULL;
    case SQLITE_IOERR:
        return io_trouble(db->system_errno);
    case SQLITE_CORRUPT:
    case SQLITE_ERROR: /* our SQL is right, so the schema in the file is not */
    case SQLITE_MISMATCH:
        return WEIR_TROUBLE_CORRUPT;
    case SQLITE_NOTADB:
        return WEIR_TROUBLE_FOREIGN;
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return WEIR_TROUBLE_DENIED;
    default:
        return WEIR_TROUBLE_SYSTEM;
    }
}

static weir_status status_of(weir_trouble trouble)
{
    switch (trouble) {
    case WEIR_TROUBLE_NONE:
        return WEIR_OK;
    case WEIR_TROUBLE_FULL:
        return WEIR_LIMIT;
    case WEIR_TROUBLE_MISSING:
        return WEIR_NOTFOUND;
    case WEIR_TROUBLE_LOCKED:
    case WEIR_TROUBLE_DENIED:
    case WEIR_TROUBLE_SYSTEM:
        return WEIR_IO;
    default:
        return WEIR_INVALID;
    }
}

weir_status wr_db_status(const struct wr_db *db, weir_trouble *trouble, struct weir_err *err)
{
    if (!db->code)
        return WEIR_OK;
    if (db->code == SQLITE_NOMEM || db->code == SQLITE_IOERR_NOMEM)
        return wr_fail(err, WEIR_NOMEM, 0, "no memory for the store");
    *trouble = trouble_of(db);
    return wr_fail(err, status_of(*trouble), 0, "%s (SQLite: %s)", weir_trouble_text(*trouble),
                   sqlite3_errstr(db->code));
}

void wr_db_exec(struct wr_db *db, const char *sql)
{
    if (!db->code)
        note(db, sqlite3_exec(db->handle, sql, NULL, NULL, NULL));
}

int64_t wr_db_number(struct wr_db *db, const char *sql)
{
    sqlite3_stmt *statement = wr_db_make(db, sql);
    int64_t number = wr_db_next(db, statement) ? sqlite3_column_int64(statement, 0) : 0;
    wr_db_drop(statement);
    return number;
}

sqlite3_stmt *wr_db_use(struct wr_db *db, enum wr_sql which, const char *sql)
{
    sqlite3_stmt **kept = &db->kept[which];
    if (db->code)
        return NULL;
    if (!*kept)
        note(db, sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, kept, NULL));
    return db->code ? NULL : *kept;
}

sqlite3_stmt *wr_db_make(struct wr_db *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (!db->code)
        note(db, sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL));
    return statement;
}

void wr_db_drop(sqlite3_stmt *statement)
{
    (void)sqlite3_finalize(statement); /* repeats what its last step said */
}

void wr_db_bind_number(struct wr_db *db, sqlite3_stmt *statement, int at, int64_t number)
{
    if (!db->code)
        note(db, sqlite3_bind_int64(statement, at, number));
}

/* NULL as a pointer would bind NULL, and no column here may be that. */
void wr_db_bind_blob(struct wr_db *db, sqlite3_stmt *statement, int at, weir_span bytes)
{
    if (!db->code)
        note(db, sqlite3_bind_blob64(statement, at, bytes.len ? bytes.ptr : "", bytes.len,
                                     SQLITE_STATIC));
}

void wr_db_bind_text(struct wr_db *db, sqlite3_stmt *statement, int at, weir_span text)
{
    if (!db->code)
        note(db, sqlite3_bind_text64(statement, at, text.len ? text.ptr : "", text.len,
                                     SQLITE_STATIC, SQLITE_UTF8));
}

bool wr_db_next(struct wr_db *db, sqlite3_stmt *statement)
{
    if (db->code)
        return false;
    int code = sqlite3_step(statement);
    note(db, code);
    if (code != SQLITE_ROW)
        wr_db_done(statement);
    return code == SQLITE_ROW;
}

void wr_db_run(struct wr_db *db, sqlite3_stmt *statement)
{
    while (wr_db_next(db, statement)) /* which puts it away behind the last row */
        ;
}

void wr_db_done(sqlite3_stmt *statement)
{
    (void)sqlite3_reset(statement); /* repeats what its last step said */
}

weir_span wr_db_column(sqlite3_stmt *statement, int at)
{
    const void *bytes = sqlite3_column_blob(statement, at);
    int len = sqlite3_column_bytes(statement, at);
    return bytes && len > 0 ? (weir_span){bytes, (size_t)len} : WR_LIT("");
}

bool wr_db_column_is(sqlite3_stmt *statement, int at, size_t bytes)
{
    return sqlite3_column_type(statement, at) == SQLITE_BLOB &&
           (size_t)sqlite3_column_bytes(statement, at) == bytes;
}

/* ==== the tables ==== */

/* The tables, as a list of steps: step n brings a store of version n to n + 1, and a new store goes
 * through all of them, so that there is one description of each table and not two that may differ.
 *
 * A step only adds. All that are missing are taken in one transaction, and the version is asked
 * again under its lock, because several processes may start together. A store of a newer version,
 * and a file that is not a store, are refused before anything is written.
 */

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
