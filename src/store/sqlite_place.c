/* Are the files that are open the ones at the path?
 *
 * A store is promised to be at its path: whoever gets a handle asks a fresh process for it. But
 * what a process has open goes on working after somebody has removed it, moved its directory, or
 * put a copy from a backup in its place, and what is committed then is kept for nobody. So a
 * commit looks before it begins (three stat()s) and again when it is done (two), and other calls
 * look first. Only the pin and the marks of a request are searched for without: its commit looks
 * before anything that was read is relied on, and finds out that all is to be begun anew. A
 * database whose file was removed can fail to be read, though, once another has begun to use the
 * log that was left: so a search that fails looks then, as does one for a pin that is not there.
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
#include "store/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/limits.h"
#include "store/os_error.h"

enum { COPY_BYTES = 1024 * 1024, FILE_MODE = 0600 };

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

void wr_sqlite_know_files(struct wr_sqlite *sqlite)
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
    weir_status status = wr_sqlite_open_files(sqlite, err);
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

void wr_sqlite_close_files(struct wr_sqlite *sqlite)
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
