/* The store in one SQLite file, or in memory: opening and closing.
 *
 * One file, because a request is one transaction over its originals, marks and pins; with a log
 * (WAL), because readers then never wait for a writer. docs/decisions/001 has what was rejected.
 *
 *   make or find the file -> open -> is it ours, and of which version? (db.h) -> configure
 *                              '-> may not be written, and there is no log: open it as it lies
 * there
 *
 * The file is made here and not by SQLite, which would let everybody read it, and what is in it is
 * not trusted: it may be damaged or come from somebody else (distrust()). Without a directory the
 * database is SQLite's `:memory:`, which has no log, no place that could be lost and no room to
 * save: what differs asks for sqlite->path.
 *
 * Tenants and sessions are looked up by name each time. Their numbers are not remembered between
 * calls, since another process may purge them and SQLite gives numbers out again. */
#include "store/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "store/store.h"

enum {
    DIR_MODE = 0700,
    FILE_MODE = 0600,
    PAGE_BYTES = 4096, /* SQLite's default */
    PACKED_BYTES_MAX = 4 * WR_STORE_ARTIFACT_BYTES_MAX - 1
};

static const char *const file_names[WR_SQLITE_FILES_COUNT] = {"store.db", "store.db-wal",
                                                              "store.db-shm"};

static void close_files(struct wr_sqlite *sqlite);
static void know_files(struct wr_sqlite *sqlite);

/* ---- the files ---- */

/* Makes the directories of `path` that are missing, which is changed and put back on the way. */
static bool make_directories(char *path)
{
    for (char *at = path + 1; *at; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        bool ok = !mkdir(path, DIR_MODE) || errno == EEXIST;
        *at = '/';
        if (!ok)
            return false;
    }
    return true;
}

/* The name of a new file is only safe once its directory is. */
static bool sync_directory(char *path)
{
    char *slash = strrchr(path, '/');
    *slash = '\0';
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && !fsync(fd);
    if (fd >= 0)
        (void)close(fd);
    *slash = '/';
    return ok;
}

/* A log and its index beside a database that was made just now are of one that was removed, and
 * processes that have not noticed still write into them. SQLite would begin a log of its own, but
 * share the index with them: each would then take the other's pages for its own. */
static void remove_stale_log(struct wr_sqlite *sqlite)
{
    (void)unlink(sqlite->paths[WR_SQLITE_LOG]);
    (void)unlink(sqlite->paths[WR_SQLITE_INDEX]);
}

/* SQLite would make the file readable to all, so it is made here. A file that is there is not even
 * opened: closing it again would drop the locks that this process may hold on it. */
static weir_status make_file(struct wr_sqlite *sqlite, weir_trouble *trouble, struct weir_err *err)
{
    char *path = sqlite->path;

    if (!make_directories(path))
        return wr_os_error("cannot make the store's directory", trouble, err);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
    if (fd < 0 && errno == EEXIST)
        return WEIR_OK;
    if (fd < 0)
        return wr_os_error("cannot make store.db", trouble, err);
    (void)close(fd);
    remove_stale_log(sqlite);
    return sync_directory(path) ? WEIR_OK : wr_os_error("cannot write the directory", trouble, err);
}

static weir_status find_file(const char *path, weir_trouble *trouble, struct weir_err *err)
{
    struct stat found;
    if (!stat(path, &found))
        return WEIR_OK;
    if (errno != ENOENT && errno != ENOTDIR)
        return wr_os_error("cannot look at store.db", trouble, err);
    *trouble = WEIR_TROUBLE_MISSING;
    return wr_fail(err, WEIR_NOTFOUND, 0, "there is no store.db in it");
}

/* ---- opening ---- */

/* What it may hold comes on top of its empty tables. */
static void limit_memory(struct wr_db *db, size_t bytes_max)
{
    char pragma[96];
    int64_t page_bytes = wr_db_number(db, "PRAGMA page_size");
    int64_t pages_count = wr_db_number(db, "PRAGMA page_count");
    if (db->code)
        return;
    (void)snprintf(pragma, sizeof(pragma), "PRAGMA max_page_count = %lld",
                   (long long)(pages_count + (int64_t)bytes_max / page_bytes));
    wr_db_exec(db, pragma);
}

static void configure(struct wr_db *db, const struct wr_sqlite_options *options)
{
    char pragma[96];
    if (options->memory_bytes_max) {
        limit_memory(db, options->memory_bytes_max);
        return;
    }
    (void)snprintf(pragma, sizeof(pragma), "PRAGMA journal_size_limit = %d",
                   (int)WR_STORE_WAL_BYTES_MAX);
    wr_db_exec(db, pragma);
    wr_db_exec(db, "PRAGMA synchronous = NORMAL");
    if (options->checkpoint_pages)
        (void)sqlite3_wal_autocheckpoint(db->handle, (int)options->checkpoint_pages);
}

/* The file may have been damaged, or made by someone else: it may not run anything of its own. */
static void distrust(struct wr_db *db)
{
    if (db->code)
        return;
    (void)sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    wr_db_exec(db, "PRAGMA cell_size_check = ON");
}

static weir_status open_name(struct wr_sqlite *sqlite, const char *name, int flags,
                             struct weir_err *err)
{
    const struct wr_sqlite_options *options = &sqlite->options;
    const struct wr_schema *schema = options->schema ? options->schema : &wr_schema_current;
    weir_trouble *trouble = &sqlite->store.trouble;
    uint32_t busy_ms_max = options->common.busy_ms_max;

    *trouble = WEIR_TROUBLE_NONE;
    wr_db_open(&sqlite->db, name, flags | SQLITE_OPEN_NOMUTEX, options->vfs,
               busy_ms_max ? busy_ms_max : WR_STORE_BUSY_MS);
    if (sqlite->path)
        distrust(&sqlite->db);
    weir_status status = wr_schema_prepare(&sqlite->db, schema, trouble, err);
    if (status)
        return status;
    configure(&sqlite->db, options);
    return wr_db_status(&sqlite->db, trouble, err);
}

/* The path as the name of a file that nobody changes. */
static void write_fixed_name(const char *path, struct wr_buf *name)
{
    wr_buf_append(name, *path == '/' ? WR_LIT("file://") : WR_LIT("file:"));
    for (; *path; path++) {
        if (strchr("%?#", *path))
            wr_buf_printf(name, "%%%02X", (unsigned)*path);
        else
            wr_buf_byte(name, *path);
    }
    wr_buf_append(name, WR_LIT("?immutable=1"));
    wr_buf_byte(name, '\0');
}

/* SQLite reads a file with a log only where it may write beside it. When there is no log, because
 * the last writer closed it, the file is all there is, and can be read as it lies there. */
static weir_status open_to_read(struct wr_sqlite *sqlite, struct weir_err *err)
{
    struct weir_err first = err ? *err : (struct weir_err){.at_byte = 0};
    struct wr_buf name;

    wr_buf_init(&name, WR_STORE_PATH_BYTES_MAX);
    write_fixed_name(sqlite->path, &name);
    weir_status status = wr_buf_status(&name);
    wr_db_close(&sqlite->db);
    if (!status)
        status = open_name(sqlite, name.bytes, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
    wr_buf_release(&name);
    sqlite->is_fixed = !status;
    if (!status)
        return WEIR_OK;
    if (err)
        *err = first;
    sqlite->store.trouble = WEIR_TROUBLE_DENIED;
    return WEIR_IO;
}

/* Opens the files at the path, which the options say how to; without a path the database is made
 * in memory. For a store that is closed. */
static weir_status open_files(struct wr_sqlite *sqlite, struct weir_err *err)
{
    weir_trouble *trouble = &sqlite->store.trouble;
    struct stat found;
    if (!sqlite->path)
        return open_name(sqlite, ":memory:", SQLITE_OPEN_READWRITE, err);
    weir_status status = sqlite->options.common.must_exist ? find_file(sqlite->path, trouble, err)
                                                           : make_file(sqlite, trouble, err);
    if (status)
        return status;
    sqlite->is_fixed = false;
    status = open_name(sqlite, sqlite->path, SQLITE_OPEN_READWRITE, err);
    if (status && *trouble == WEIR_TROUBLE_DENIED && stat(sqlite->paths[WR_SQLITE_LOG], &found))
        status = open_to_read(sqlite, err);
    if (!status)
        know_files(sqlite);
    return status;
}

static void close_store(struct weir_store *store)
{
    struct wr_sqlite *sqlite = wr_sqlite_of(store);
    close_files(sqlite);
    wr_packer_release(&sqlite->packer);
    wr_buf_release(&sqlite->text);
    wr_buf_release(&sqlite->packed);
    wr_arena_release(&sqlite->arena);
    free(sqlite->path);
    free(sqlite->seen);
    free(sqlite);
}

static const struct weir_store_ops ops = {
    .struct_bytes = sizeof(ops),
    .commit = wr_sqlite_commit,
    .get = wr_sqlite_get,
    .marks = wr_sqlite_marks,
    .pin = wr_sqlite_pin,
    .touch = wr_sqlite_touch,
    .gc = wr_sqlite_gc,
    .purge = wr_sqlite_purge,
    .verify = wr_sqlite_verify,
    .stats = wr_sqlite_stats,
    .close = close_store,
    .has = wr_sqlite_has,
    .probe = wr_sqlite_probe,
    .place = wr_sqlite_place,
    .pins = wr_sqlite_pins,
};

/* One block of memory for the names of all files. */
static bool name_files(struct wr_sqlite *sqlite, const char *dir)
{
    size_t name_bytes = strlen(dir) + sizeof("/store.db-wal");
    char *at = sqlite->path = malloc(WR_SQLITE_FILES_COUNT * name_bytes);
    for (size_t i = 0; i < WR_SQLITE_FILES_COUNT && at; i++, at += name_bytes) {
        (void)snprintf(at, name_bytes, "%s/%s", dir, file_names[i]);
        sqlite->paths[i] = at;
    }
    return sqlite->path;
}

static struct wr_sqlite *new_store(const char *dir, const struct wr_sqlite_options *options)
{
    struct wr_sqlite *sqlite = calloc(1, sizeof(*sqlite));
    if (!sqlite)
        return NULL;
    sqlite->store.ops = &ops;
    if (options)
        sqlite->options = *options;
    wr_buf_init(&sqlite->text, WR_STORE_ARTIFACT_BYTES_MAX);
    wr_buf_init(&sqlite->packed, PACKED_BYTES_MAX);
    wr_arena_init(&sqlite->arena, WR_ARENA_BYTES_MAX);
    if (!dir || name_files(sqlite, dir))
        return sqlite;
    free(sqlite);
    return NULL;
}

weir_status wr_sqlite_open(const char *dir, const struct wr_sqlite_options *options,
                           struct weir_store **store, weir_trouble *trouble, struct weir_err *err)
{
    *store = NULL;
    *trouble = WEIR_TROUBLE_NONE;
    if (dir && !*dir)
        return wr_fail(err, WEIR_INVALID, 0, "the store's directory has no name");

    struct wr_sqlite *sqlite = new_store(dir, options);
    if (!sqlite)
        return wr_fail(err, WEIR_NOMEM, 0, "no memory for the store");
    weir_status status = open_files(sqlite, err);
    *trouble = sqlite->store.trouble;
    if (status)
        close_store(&sqlite->store);
    else
        *store = &sqlite->store;
    return status;
}

/* To write the log into the database takes two fsync()s. A client waits for a commit, but nobody
 * for a row of the ledger: its handle does it first, with SQLite's default of 1,000 pages. */
const uint32_t wr_sqlite_commit_pages = WR_STORE_WAL_BYTES_MAX / PAGE_BYTES;

weir_status wr_sqlite_open_dir(const char *dir, const struct weir_store_options *options,
                               uint32_t checkpoint_pages, struct weir_store **store,
                               weir_trouble *trouble, struct weir_err *err)
{
    struct wr_sqlite_options all = {.checkpoint_pages = checkpoint_pages};
    weir_trouble ignored;
    weir_status status = WR_OPTIONS_READ(&all.common, options, err);
    if (!trouble)
        trouble = &ignored;
    *store = NULL;
    *trouble = WEIR_TROUBLE_NONE;
    return status ? status : wr_sqlite_open(dir, &all, store, trouble, err);
}

weir_status weir_store_new_memory(size_t bytes_max, struct weir_store **store)
{
    struct wr_sqlite_options options = {.memory_bytes_max =
                                            bytes_max ? bytes_max : WR_STORE_MEMORY_BYTES_MAX};
    weir_trouble ignored;
    return wr_sqlite_open(NULL, &options, store, &ignored, NULL);
}

/* A failure is forgiven. */
static void empty_buf(struct wr_buf *buf)
{
    size_t bytes_max = buf->cap_max;
    if (!wr_buf_status(buf)) {
        wr_buf_reset(buf);
        return;
    }
    wr_buf_release(buf);
    wr_buf_init(buf, bytes_max);
}

void wr_sqlite_reset_text(struct wr_sqlite *sqlite)
{
    empty_buf(&sqlite->text);
}

void wr_sqlite_reset_packed(struct wr_sqlite *sqlite)
{
    empty_buf(&sqlite->packed);
}

int64_t wr_sqlite_tenant(struct wr_sqlite *sqlite, weir_span name)
{
    struct wr_db *db = &sqlite->db;
    sqlite3_stmt *find = wr_db_use(db, WR_SQL_TENANT_FIND, "SELECT id FROM tenant WHERE name = ?1");
    wr_db_bind_text(db, find, 1, name);
    int64_t id = wr_db_next(db, find) ? sqlite3_column_int64(find, 0) : 0;
    wr_db_done(find);
    return id;
}

static int64_t find_session(struct wr_sqlite *sqlite, int64_t tenant_id, weir_span name,
                            int64_t *used_ms)
{
    struct wr_db *db = &sqlite->db;
    sqlite3_stmt *find =
        wr_db_use(db, WR_SQL_SESSION_FIND,
                  "SELECT id, used_ms FROM session WHERE tenant_id = ?1 AND name = ?2");
    int64_t id = 0;

    wr_db_bind_number(db, find, 1, tenant_id);
    wr_db_bind_text(db, find, 2, name);
    if (wr_db_next(db, find)) {
        id = sqlite3_column_int64(find, 0);
        *used_ms = sqlite3_column_int64(find, 1);
    }
    wr_db_done(find);
    return id;
}

int64_t wr_sqlite_session(struct wr_sqlite *sqlite, int64_t tenant_id, weir_span name)
{
    int64_t ignored_ms;
    return find_session(sqlite, tenant_id, name, &ignored_ms);
}

int64_t wr_sqlite_need_tenant(struct wr_sqlite *sqlite, weir_span name)
{
    struct wr_db *db = &sqlite->db;
    int64_t id = wr_sqlite_tenant(sqlite, name);
    if (id)
        return id;
    sqlite3_stmt *add = wr_db_use(db, WR_SQL_TENANT_ADD, "INSERT INTO tenant(name) VALUES(?1)");
    wr_db_bind_text(db, add, 1, name);
    wr_db_run(db, add);
    return sqlite3_last_insert_rowid(db->handle);
}

static int64_t add_session(struct wr_sqlite *sqlite, int64_t tenant_id, weir_span name,
                           int64_t used_ms)
{
    struct wr_db *db = &sqlite->db;
    sqlite3_stmt *add = wr_db_use(
        db, WR_SQL_SESSION_ADD, "INSERT INTO session(tenant_id, name, used_ms) VALUES(?1, ?2, ?3)");
    wr_db_bind_number(db, add, 1, tenant_id);
    wr_db_bind_text(db, add, 2, name);
    wr_db_bind_number(db, add, 3, used_ms);
    wr_db_run(db, add);
    return sqlite3_last_insert_rowid(db->handle);
}

/* To write the time costs two pages of the log, the session's and its index', and days are counted
 * by it: a moment ago is as good as now. */
static bool is_touch_due(int64_t before_ms, int64_t used_ms)
{
    return used_ms > before_ms && (uint64_t)used_ms - (uint64_t)before_ms >= WR_STORE_TOUCH_MS;
}

int64_t wr_sqlite_need_session(struct wr_sqlite *sqlite, int64_t tenant_id, weir_span name,
                               int64_t used_ms)
{
    struct wr_db *db = &sqlite->db;
    int64_t before_ms = 0;
    int64_t id = find_session(sqlite, tenant_id, name, &before_ms);
    if (!id)
        return add_session(sqlite, tenant_id, name, used_ms);
    if (!is_touch_due(before_ms, used_ms))
        return id;
    sqlite3_stmt *touch =
        wr_db_use(db, WR_SQL_SESSION_TOUCH, "UPDATE session SET used_ms = ?2 WHERE id = ?1");
    wr_db_bind_number(db, touch, 1, id);
    wr_db_bind_number(db, touch, 2, used_ms);
    wr_db_run(db, touch);
    return id;
}

/* ==== which files a store is ====
 *
 * Are the files that are open the ones at the path?
 *
 * A store is promised to be at its path: whoever gets a handle asks a fresh process for it. But
 * what a process has open goes on working after somebody has removed it, moved its directory, or
 * put a copy from a backup in its place, and what is committed then is kept for nobody. So a
 * commit looks before it begins (three stat()s) and again when it is done (two), and other calls
 * look first. Only the pin and the marks of a request are searched for without: its commit looks
 * before anything that was read is relied on, and finds out that all is to be begun anew. A
 * database whose file was removed can fail to be read, though, once another has begun to use the
 * log that was left: so a search that fails looks then, as does one that finds none of its pins.
 *
 *   the database is another     it is opened, or a new one is made: store->replaced_count tells
 *   or missing                  that what was committed before is not in it
 *   its log or the log's index  everything in the log that we still have is written into the
 *   is another or missing       database, which is put at the path as a new file (see heal)
 *
 * SQLITE_FCNTL_HAS_MOVED was not enough: it compares no device, and knows nothing of the log. The
 * time at which the directory last changed would be one stat() instead of three, but it is counted
 * in ticks of the kernel, and two changes in one tick look like one. inotify would not see that a
 * directory above was moved, and there are few of its descriptors.
 */

enum { COPY_BYTES = 1024 * 1024 };

static bool look(const struct wr_sqlite *sqlite, enum wr_sqlite_file which, struct stat *found)
{
    return !stat(sqlite->paths[which], found);
}

static bool is_same_file(const struct wr_sqlite *sqlite, enum wr_sqlite_file which)
{
    const struct wr_sqlite_place *place = &sqlite->places[which];
    struct stat found;
    return place->is_known && look(sqlite, which, &found) && found.st_dev == place->device &&
           found.st_ino == place->inode;
}

/* Notes which files are at the path: those that were just opened. */
static void know_files(struct wr_sqlite *sqlite)
{
    for (int i = 0; i < WR_SQLITE_FILES_COUNT; i++) {
        struct stat found;
        bool is_there = look(sqlite, (enum wr_sqlite_file)i, &found);
        sqlite->places[i] = (struct wr_sqlite_place){.is_known = is_there};
        if (is_there) {
            sqlite->places[i].device = found.st_dev;
            sqlite->places[i].inode = found.st_ino;
        }
    }
}

/* The log's index is left out where it is `last`, behind a commit. */
static bool is_in_place(const struct wr_sqlite *sqlite, enum wr_sqlite_file last)
{
    if (!sqlite->path)
        return true;
    if (sqlite->is_fixed) /* read as it lies there: it has no log */
        last = WR_SQLITE_DATABASE;
    for (enum wr_sqlite_file i = WR_SQLITE_DATABASE; i <= last; i++)
        if (!is_same_file(sqlite, i))
            return false;
    return true;
}

/* ---- another database ---- */

static bool is_same_place(const struct wr_sqlite_place *a, const struct wr_sqlite_place *b)
{
    return a->is_known && b->is_known && a->device == b->device && a->inode == b->inode;
}

/* What is left is not ours any more: closing it may not write its log into it, nor remove by their
 * names what may be another's by now. */
static void leave(struct wr_db *db)
{
    (void)sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    wr_db_close(db);
}

/* What was seen in the old one. */
static void forget_all(struct wr_sqlite *sqlite)
{
    sqlite->is_full = false;
    memset(sqlite->checked_ids, 0, sizeof(sqlite->checked_ids));
    free(sqlite->seen);
    sqlite->seen = NULL;
}

/* Opens what is at the path. Where that fails the old one stays open, though nothing is done with
 * it: it may be moved back, and as long as it is open no other file gets its number. `is_kept`:
 * what is at the path holds what the old one held. */
static weir_status open_again(struct wr_sqlite *sqlite, bool is_kept, struct weir_err *err)
{
    struct wr_sqlite_place before[WR_SQLITE_FILES_COUNT];
    struct wr_db old = sqlite->db;
    bool was_fixed = sqlite->is_fixed;

    memcpy(before, sqlite->places, sizeof(before));
    sqlite->db = (struct wr_db){.handle = NULL};
    weir_status status = open_files(sqlite, err);
    if (status) {
        wr_db_close(&sqlite->db);
        sqlite->db = old;
        sqlite->is_fixed = was_fixed;
        memcpy(sqlite->places, before, sizeof(before));
        /* There is no store: not to be confused with something that a store does not know. */
        return status == WEIR_NOTFOUND ? WEIR_IO : status;
    }
    if (!is_kept &&
        !is_same_place(&before[WR_SQLITE_DATABASE], &sqlite->places[WR_SQLITE_DATABASE]))
        sqlite->store.replaced_count++;
    leave(&old);
    forget_all(sqlite);
    return WEIR_OK;
}

/* ---- another log ---- */

/* Whoever has a log of their own by now has written into it: theirs is the truth, and we have no
 * lock that they would heed. */
static bool has_foreign_log(const struct wr_sqlite *sqlite)
{
    struct stat found;
    return !is_same_file(sqlite, WR_SQLITE_LOG) && look(sqlite, WR_SQLITE_LOG, &found) &&
           found.st_size;
}

/* Through SQLite's own descriptor: to close another one would drop its locks on the file. */
static bool copy_database(struct wr_sqlite *sqlite, int to)
{
    sqlite3_file *from = NULL;
    sqlite3_int64 bytes = 0;
    char *piece = malloc(COPY_BYTES);
    bool ok = piece &&
              !sqlite3_file_control(sqlite->db.handle, "main", SQLITE_FCNTL_FILE_POINTER, &from) &&
              from && from->pMethods && !from->pMethods->xFileSize(from, &bytes);

    for (sqlite3_int64 at = 0; ok && at < bytes;) {
        int len = bytes - at < COPY_BYTES ? (int)(bytes - at) : COPY_BYTES;
        ok = !from->pMethods->xRead(from, piece, len, at) && write(to, piece, (size_t)len) == len;
        at += len;
    }
    free(piece);
    return ok && !fsync(to);
}

static weir_status put_copy(struct wr_sqlite *sqlite, struct weir_err *err)
{
    char path[WR_STORE_PATH_BYTES_MAX + sizeof("-new")];
    weir_trouble *trouble = &sqlite->store.trouble;

    (void)snprintf(path, sizeof(path), "%s-new", sqlite->path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, FILE_MODE);
    bool ok = fd >= 0 && copy_database(sqlite, fd) && !rename(path, sqlite->path);
    weir_status status = ok ? WEIR_OK : wr_os_error("cannot write the store anew", trouble, err);
    if (fd >= 0)
        (void)close(fd);
    if (!ok)
        (void)unlink(path);
    return status;
}

/* The log or its index was removed. To open the database again would not do: within a process
 * SQLite shares one index among all that have the file open, and others here still have the old
 * one. So the database gets a new file, which nobody has open, and all follow there.
 *
 * Those who still write meanwhile write into the removed log. They look again when they are done,
 * wait for our lock, and find that the file at the path is another: what they did does not count.
 */
static weir_status heal(struct wr_sqlite *sqlite, bool *is_kept, struct weir_err *err)
{
    struct wr_db *db = &sqlite->db;
    int logged = 0, written = -1;
    weir_status status = WEIR_OK;

    wr_db_start(db);
    if (has_foreign_log(sqlite) ||
        sqlite3_wal_checkpoint_v2(db->handle, "main", SQLITE_CHECKPOINT_FULL, &logged, &written) ||
        logged != written) {
        sqlite->store.trouble = WEIR_TROUBLE_SYSTEM;
        return wr_fail(err, WEIR_IO, 0,
                       "store.db-wal or store.db-shm was removed while the store was in use: start"
                       " anew what uses it");
    }
    wr_db_begin(db);
    if (!db->code && is_same_file(sqlite, WR_SQLITE_DATABASE)) {
        status = put_copy(sqlite, err);
        *is_kept = !status;
    }
    if (!status)
        status = wr_db_status(db, &sqlite->store.trouble, err);
    wr_db_end_read(db);
    return status;
}

/* ---- both ---- */

static weir_status follow(struct wr_sqlite *sqlite, enum wr_sqlite_file last, struct weir_err *err)
{
    weir_status status = WEIR_OK;
    bool is_kept = false;

    if (is_in_place(sqlite, last))
        return WEIR_OK;
    if (!sqlite->is_fixed && is_same_file(sqlite, WR_SQLITE_DATABASE))
        status = heal(sqlite, &is_kept, err);
    return status ? status : open_again(sqlite, is_kept, err);
}

weir_status wr_sqlite_follow(struct wr_sqlite *sqlite, struct weir_err *err)
{
    return follow(sqlite, WR_SQLITE_INDEX, err);
}

/* Without its index the log can still be read: SQLite makes one. The next look finds that out. */
weir_status wr_sqlite_follow_behind(struct wr_sqlite *sqlite, struct weir_err *err)
{
    return follow(sqlite, WR_SQLITE_LOG, err);
}

weir_status wr_sqlite_follow_to_write(struct wr_sqlite *sqlite, struct weir_err *err)
{
    /* What could only be read when it was opened may be written by now. */
    if (sqlite3_db_readonly(sqlite->db.handle, "main") == 1)
        return open_again(sqlite, false, err);
    return wr_sqlite_follow(sqlite, err);
}

/* SQLite would write its log into the database and remove it by its name: not where that is
 * another's by now. */
static void close_files(struct wr_sqlite *sqlite)
{
    if (sqlite->path && sqlite->db.handle && has_foreign_log(sqlite))
        leave(&sqlite->db);
    else
        wr_db_close(&sqlite->db);
}

uint64_t wr_sqlite_place(const struct weir_store *store)
{
    const struct wr_sqlite *sqlite = (const struct wr_sqlite *)store;
    const struct wr_sqlite_place *place = &sqlite->places[WR_SQLITE_DATABASE];
    return (uint64_t)place->device * 0x9E3779B97F4A7C15U + (uint64_t)place->inode;
}
