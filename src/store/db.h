/* db.h -- a SQLite connection whose failures stick, so that a piece of work asks once at its end;
 * and the tables of a store.
 *
 * 1. After the first failure every call does nothing until wr_db_start(); results are empty.
 * 2. Statements are prepared when first used and kept; a row's bytes live until the next call that
 *    uses its statement.
 * 3. A statement that gave a row is put away with wr_db_done(): it would hold its snapshot.
 */
#ifndef WR_STORE_DB_H
#define WR_STORE_DB_H

#include <sqlite3.h>
#include <stdbool.h>

#include "weir/store.h"

/* The statements kept; each is used in one place, where its text stands. */
enum wr_sql {
    WR_SQL_BEGIN,
    WR_SQL_BEGIN_READ,
    WR_SQL_COMMIT,
    WR_SQL_ROLLBACK,
    WR_SQL_TENANT_FIND,
    WR_SQL_TENANT_ADD,
    WR_SQL_SESSION_FIND,
    WR_SQL_SESSION_ADD,
    WR_SQL_SESSION_TOUCH,
    WR_SQL_ARTIFACT_FIND,
    WR_SQL_ARTIFACT_CHECK,
    WR_SQL_ARTIFACT_ADD,
    WR_SQL_ARTIFACT_SET,
    WR_SQL_ARTIFACT_USE,
    WR_SQL_ARTIFACT_READ,
    WR_SQL_ARTIFACT_ELSEWHERE,
    WR_SQL_ARTIFACT_LOSS,
    WR_SQL_EXPIRED_FIND,
    WR_SQL_EXPIRED_DROP,
    WR_SQL_MARK_FIND,
    WR_SQL_MARK_ADD,
    WR_SQL_MARK_PUT,
    WR_SQL_MARK_USE,
    WR_SQL_MARK_USE_AGAIN,
    WR_SQL_MARK_READ,
    WR_SQL_MARK_READ_ONE,
    WR_SQL_PIN_FIND,
    WR_SQL_PIN_SET,
    WR_SQL_PIN_READ,
    WR_SQL_REQUEST_ADD,
    WR_SQL_REPORT_SET,
    WR_SQL_PIECE_FIND,
    WR_SQL_PIECE_ADD,
    WR_SQL_PIECE_READ,
    WR_SQL_SAID_ADD,
    WR_SQL_SAMPLE_ADD,
    WR_SQL_NOTE_SET,
    WR_SQL_NOTE_TRIM,
    WR_SQL_NOTE_READ,
    WR_SQL_CALIBRATION_SET,
    WR_SQL_CALIBRATION_TRIM,
    WR_SQL_CALIBRATION_READ,
    WR_SQL_SPEND_READ,
    WR_SQL_SPEND_ADD,
    WR_SQL_SPEND_HOLD,
    WR_SQL_SPEND_FIND,
    WR_SQL_SPEND_TAKE,
    WR_SQL_COUNT
};

struct wr_db {
    sqlite3 *handle; /* owned */
    int code;        /* SQLite's code of the first failure, SQLITE_OK until then */
    int system_errno;
    sqlite3_stmt *kept[WR_SQL_COUNT]; /* owned */
};

/* Opens `path`; `vfs` may be NULL. Closed by the caller after a failure too. */
void wr_db_open(struct wr_db *db, const char *path, int flags, const char *vfs,
                uint32_t busy_ms_max);
void wr_db_close(struct wr_db *db);

/* Forgives an earlier failure. */
void wr_db_start(struct wr_db *db);

/* Starts a piece of work that writes: waits for the write lock. */
void wr_db_begin(struct wr_db *db);

/* The same for work that reads: all of it sees one moment. */
void wr_db_begin_read(struct wr_db *db);

/* Commits, or takes everything back when anything failed. */
void wr_db_end(struct wr_db *db);

/* Ends work that only read. A failure that was forgiven on the way stays forgiven. */
void wr_db_end_read(struct wr_db *db);

/* Whether there is room for so many bytes: they are written, and taken back. */
void wr_db_try_room(struct wr_db *db, size_t bytes);

/* What went wrong since the start, as Weir says it. */
WEIR_MUST_USE weir_status wr_db_status(const struct wr_db *db, weir_trouble *trouble,
                                       struct weir_err *err);

/* Statements whose results are not wanted, one or several. */
void wr_db_exec(struct wr_db *db, const char *sql);

/* The first column of the first row of `sql`; 0 on failure or without a row. */
int64_t wr_db_number(struct wr_db *db, const char *sql);

/* A statement to bind and run; NULL after a failure. */
sqlite3_stmt *wr_db_use(struct wr_db *db, enum wr_sql which, const char *sql);

/* One that is not kept: wr_db_drop() ends it. */
sqlite3_stmt *wr_db_make(struct wr_db *db, const char *sql);
void wr_db_drop(sqlite3_stmt *statement);

/* Parameters count from 1. What is bound must live until the statement is done. */
void wr_db_bind_number(struct wr_db *db, sqlite3_stmt *statement, int at, int64_t number);
void wr_db_bind_blob(struct wr_db *db, sqlite3_stmt *statement, int at, weir_span bytes);
void wr_db_bind_text(struct wr_db *db, sqlite3_stmt *statement, int at, weir_span text);

/* True when there is a row. */
bool wr_db_next(struct wr_db *db, sqlite3_stmt *statement);

/* Runs it to the end. */
void wr_db_run(struct wr_db *db, sqlite3_stmt *statement);
void wr_db_done(sqlite3_stmt *statement); /* NULL is fine */

/* Columns count from 0. */
weir_span wr_db_column(sqlite3_stmt *statement, int at);

/* Whether a column is a blob of that many bytes: a damaged row may hold anything. */
bool wr_db_column_is(sqlite3_stmt *statement, int at, size_t bytes);

/* ==== the tables ==== */

/* The tables of a store, and how one of an older version becomes one of ours.
 *
 * The version is in the file's header (user_version), and so is the mark by which a store is told
 * from any other SQLite file (application_id). docs/store-format.md describes the tables.
 */

/* A row brings a store of version `index` to version `index + 1`; the first makes the tables. */
struct wr_schema {
    const char *const *steps;
    uint32_t steps_count; /* the version that this program knows */
};

extern const struct wr_schema wr_schema_current;

/* Makes, upgrades or accepts the store behind `db`. One that is newer, or not ours, is an error and
 * nothing of it is touched. */
WEIR_MUST_USE weir_status wr_schema_prepare(struct wr_db *db, const struct wr_schema *schema,
                                            weir_trouble *trouble, struct weir_err *err);

#endif
