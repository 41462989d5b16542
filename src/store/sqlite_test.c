/* What is true of the store on disk alone: its files, other processes, and a disk that fails. */
#include "store/sqlite.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <cmocka.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/hash.h"
#include "base/span.h"
#include "tests/test_file.h"
#include "tests/test_dir.h"

#define LOCAL WR_LIT("local")

enum { TEXTS = 40, TEXT_BYTES_MAX = 8000, PAGE_BYTES = 4096 };

/* ---- short ways to say things ---- */

static void path_in(const struct wr_test_dir *dir, const char *name, char path[WR_TEST_PATH_BYTES])
{
    int len = snprintf(path, WR_TEST_PATH_BYTES, "%.400s/%s", dir->path, name);
    assert_true(len > 0 && len < WR_TEST_PATH_BYTES);
}

static struct weir_store *open_store(const char *dir)
{
    struct weir_store *store;
    struct weir_err err = {0};
    if (weir_store_open(dir, NULL, &store, NULL, &err))
        fail_msg("cannot open %s: %s", dir, err.text);
    return store;
}

static void assert_open_fails(const char *dir, bool must_exist, weir_status status,
                              weir_trouble wanted)
{
    struct weir_store_options options = {.must_exist = must_exist, .busy_ms_max = 20};
    struct weir_store *store;
    weir_trouble trouble;
    struct weir_err err = {0};
    assert_int_equal(weir_store_open(dir, &options, &store, &trouble, &err), status);
    assert_int_equal(trouble, wanted);
    assert_null(store);
    assert_true(err.text[0] != '\0');
}

/* Text `index`: of different sizes, some that compress and some that do not. */
static weir_span text_of(size_t index, char text[TEXT_BYTES_MAX])
{
    size_t len = (index * 977) % TEXT_BYTES_MAX;
    uint32_t noise = (uint32_t)index + 1;
    for (size_t i = 0; i < len; i++) {
        noise = noise * 1664525u + 1013904223u;
        text[i] = index % 2 ? (char)(noise >> 24) : (char)('a' + (i / 7 + index) % 26);
    }
    return (weir_span){text, len};
}

static weir_status put_text(struct weir_store *store, size_t index, weir_durability durability)
{
    char text[TEXT_BYTES_MAX];
    struct weir_artifact artifact = {.text = text_of(index, text)};
    struct weir_batch batch = {.tenant = LOCAL,
                               .session = WR_LIT("s"),
                               .durability = durability,
                               .artifacts = &artifact,
                               .artifacts_count = 1};
    return weir_store_commit(store, &batch, NULL);
}

static weir_status get_text(struct weir_store *store, size_t index, weir_miss *miss)
{
    char text[TEXT_BYTES_MAX];
    weir_span wanted = text_of(index, text);
    struct weir_lookup lookup = {.tenant = LOCAL};
    struct weir_artifact found;
    assert_int_equal(weir_handle_of(wanted, &lookup.handle), WEIR_OK);
    weir_status status = weir_store_get(store, &lookup, &found, miss, NULL);
    if (!status)
        assert_true(wr_span_eq(found.text, wanted));
    return status;
}

static void write_file(const char *path, weir_span bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.ptr, 1, bytes.len, file), bytes.len);
    assert_int_equal(fclose(file), 0);
}

static void read_whole(const char *path, struct wr_buf *into)
{
    wr_buf_init(into, 1 << 26);
    assert_true(wr_test_file(path, into));
}

static void assert_file_is(const char *path, weir_span wanted)
{
    struct wr_buf now;
    read_whole(path, &now);
    assert_true(wr_span_eq(wr_buf_view(&now), wanted));
    wr_buf_release(&now);
}

/* ---- files ---- */

static mode_t mode_of(const char *path)
{
    struct stat found;
    assert_int_equal(stat(path, &found), 0);
    return found.st_mode & 0777;
}

static void files_are_for_their_owner_alone(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    char below[WR_TEST_PATH_BYTES], deeper[WR_TEST_PATH_BYTES], path[WR_TEST_PATH_BYTES];
    mode_t old_mask = umask(0);
    (void)state;

    path_in(&dir, "a", below);
    path_in(&dir, "a/b", deeper);
    struct weir_store *store = open_store(deeper);
    assert_int_equal(put_text(store, 1, WEIR_DURABLE_NORMAL), WEIR_OK);
    umask(old_mask);
    assert_int_equal(mode_of(below), 0700);
    assert_int_equal(mode_of(deeper), 0700);
    path_in(&dir, "a/b/store.db", path);
    assert_int_equal(mode_of(path), 0600);
    path_in(&dir, "a/b/store.db-wal", path);
    assert_int_equal(mode_of(path), 0600);
    path_in(&dir, "a/b/store.db-shm", path);
    assert_int_equal(mode_of(path), 0600);
    weir_store_close(store);
    struct wr_test_dir inner = {""};
    memcpy(inner.path, deeper, sizeof(deeper));
    wr_test_dir_remove(&inner);
    memcpy(inner.path, below, sizeof(below));
    wr_test_dir_remove(&inner);
    wr_test_dir_remove(&dir);
}

static void what_was_stored_is_there_next_time(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store = open_store(dir.path);
    (void)state;

    for (size_t i = 0; i < TEXTS; i++)
        assert_int_equal(put_text(store, i, WEIR_DURABLE_NORMAL), WEIR_OK);
    weir_store_close(store);
    store = open_store(dir.path);
    for (size_t i = 0; i < TEXTS; i++)
        assert_int_equal(get_text(store, i, NULL), WEIR_OK);
    weir_store_close(store);
    wr_test_dir_remove(&dir);
}

static void a_missing_store_is_not_made_unasked(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    char path[WR_TEST_PATH_BYTES];
    struct stat found;
    (void)state;

    assert_open_fails(dir.path, true, WEIR_NOTFOUND, WEIR_TROUBLE_MISSING);
    path_in(&dir, "store.db", path);
    assert_int_equal(stat(path, &found), -1);
    path_in(&dir, "none/here", path);
    assert_open_fails(path, true, WEIR_NOTFOUND, WEIR_TROUBLE_MISSING);
    assert_open_fails("", false, WEIR_INVALID, WEIR_TROUBLE_NONE);
    wr_test_dir_remove(&dir);
}

static void a_directory_that_cannot_be_is_an_error(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    char path[WR_TEST_PATH_BYTES];
    (void)state;

    path_in(&dir, "file", path);
    write_file(path, WR_LIT("in the way"));
    assert_open_fails(path, false, WEIR_IO, WEIR_TROUBLE_DENIED);
    path_in(&dir, "file/below", path);
    assert_open_fails(path, false, WEIR_IO, WEIR_TROUBLE_DENIED);
    wr_test_dir_remove(&dir);
    assert_open_fails("/proc/weir", false, WEIR_IO, WEIR_TROUBLE_DENIED);
}

static void what_is_not_ours_is_not_touched(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct wr_buf before;
    char path[WR_TEST_PATH_BYTES];
    sqlite3 *other;
    (void)state;

    path_in(&dir, "store.db", path);
    write_file(path, WR_LIT("this is a text and no database, whatever it is called\n"));
    assert_open_fails(dir.path, false, WEIR_INVALID, WEIR_TROUBLE_FOREIGN);
    assert_file_is(path, WR_LIT("this is a text and no database, whatever it is called\n"));

    assert_int_equal(unlink(path), 0);
    assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "CREATE TABLE t(x)", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    read_whole(path, &before);
    assert_open_fails(dir.path, false, WEIR_INVALID, WEIR_TROUBLE_FOREIGN);
    assert_file_is(path, wr_buf_view(&before));
    wr_buf_release(&before);
    wr_test_dir_remove(&dir);
}

static void a_newer_store_is_not_touched(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct wr_buf before;
    char path[WR_TEST_PATH_BYTES];
    sqlite3 *other;
    (void)state;

    weir_store_close(open_store(dir.path));
    path_in(&dir, "store.db", path);
    assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "PRAGMA user_version = 99", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    read_whole(path, &before);
    assert_open_fails(dir.path, false, WEIR_INVALID, WEIR_TROUBLE_NEWER);
    assert_file_is(path, wr_buf_view(&before));
    wr_buf_release(&before);
    wr_test_dir_remove(&dir);
}

/* ---- others ---- */

static void a_locked_store_is_waited_for_and_then_reported(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store_options options = {.busy_ms_max = 30};
    struct weir_store *store, *second;
    struct weir_gc_report report;
    char path[WR_TEST_PATH_BYTES];
    sqlite3 *other;
    (void)state;

    assert_int_equal(weir_store_open(dir.path, &options, &store, NULL, NULL), WEIR_OK);
    assert_int_equal(put_text(store, 1, WEIR_DURABLE_NORMAL), WEIR_OK);
    path_in(&dir, "store.db", path);
    assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);

    assert_int_equal(put_text(store, 2, WEIR_DURABLE_NORMAL), WEIR_IO);
    assert_int_equal(weir_store_trouble(store), WEIR_TROUBLE_LOCKED);
    assert_int_equal(weir_store_touch(store, LOCAL, WR_LIT("s"), 9, NULL), WEIR_IO);
    assert_int_equal(weir_store_purge(store, LOCAL, WR_LIT("s"), &report, NULL), WEIR_IO);
    assert_int_equal(get_text(store, 1, NULL), WEIR_OK);
    /* Opening a store of this version writes nothing. */
    assert_int_equal(weir_store_open(dir.path, &options, &second, NULL, NULL), WEIR_OK);
    assert_int_equal(get_text(second, 1, NULL), WEIR_OK);
    weir_store_close(second);

    assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(put_text(store, 2, WEIR_DURABLE_NORMAL), WEIR_OK);
    assert_int_equal(get_text(store, 2, NULL), WEIR_OK);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    weir_store_close(store);
    wr_test_dir_remove(&dir);
}

static void two_stores_on_one_directory_see_each_other(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *a = open_store(dir.path), *b = open_store(dir.path);
    (void)state;

    for (size_t i = 0; i < TEXTS; i++)
        assert_int_equal(put_text(i % 2 ? a : b, i, WEIR_DURABLE_NORMAL), WEIR_OK);
    for (size_t i = 0; i < TEXTS; i++)
        assert_int_equal(get_text(i % 2 ? b : a, i, NULL), WEIR_OK);
    weir_store_close(a);
    assert_int_equal(put_text(b, TEXTS, WEIR_DURABLE_NORMAL), WEIR_OK);
    weir_store_close(b);
    wr_test_dir_remove(&dir);
}

/* In the child: nothing of the test framework. */
static int open_and_put(const char *dir, size_t first)
{
    struct weir_store_options options = {.busy_ms_max = 20000};
    struct weir_store *store;
    if (weir_store_open(dir, &options, &store, NULL, NULL))
        return 1;
    for (size_t i = 0; i < 5; i++)
        if (put_text(store, first + i, WEIR_DURABLE_NORMAL))
            return 2;
    weir_store_close(store);
    return 0;
}

static void processes_may_make_the_store_at_once(void **state)
{
    enum { CHILDREN = 6 };
    struct wr_test_dir dir = wr_test_dir_new();
    pid_t children[CHILDREN];
    (void)state;

    for (size_t i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (!children[i])
            _exit(open_and_put(dir.path, i * 5));
    }
    for (size_t i = 0; i < CHILDREN; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    struct weir_store *store = open_store(dir.path);
    for (size_t i = 0; i < (size_t)CHILDREN * 5; i++)
        assert_int_equal(get_text(store, i, NULL), WEIR_OK);
    weir_store_close(store);
    wr_test_dir_remove(&dir);
}

/* ---- a disk that fails ---- */

static weir_status put_until_it_fails(struct weir_store *store, size_t *index)
{
    weir_status status = WEIR_OK;
    for (*index = 0; !status && *index < 2000; ++*index)
        status = put_text(store, *index, WEIR_DURABLE_NORMAL);
    --*index;
    return status;
}

/* After the failure: all before it is there, it is not, and with room again all goes on. */
static void assert_full_at(struct weir_store *store, size_t index)
{
    weir_miss miss;
    assert_int_equal(weir_store_trouble(store), WEIR_TROUBLE_FULL);
    assert_true(index > 2);
    for (size_t i = 0; i < index; i++)
        assert_int_equal(get_text(store, i, NULL), WEIR_OK);
    assert_int_equal(get_text(store, index, &miss), WEIR_NOTFOUND);
    assert_int_equal(miss, WEIR_MISS_NEVER_STORED);
}

static void a_full_disk_keeps_what_was_stored(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store = open_store(dir.path);
    struct rlimit old, small;
    size_t index;
    (void)state;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 300 * 1024;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    weir_status status = put_until_it_fails(store, &index);
    weir_trouble trouble = weir_store_trouble(store);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(status, WEIR_LIMIT);
    assert_int_equal(trouble, WEIR_TROUBLE_FULL);
    assert_full_at(store, index);
    assert_int_equal(put_text(store, index, WEIR_DURABLE_FULL), WEIR_OK);
    assert_int_equal(get_text(store, index, NULL), WEIR_OK);
    weir_store_close(store);
    wr_test_dir_remove(&dir);
}

static void a_full_file_keeps_what_was_stored(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store = open_store(dir.path);
    size_t index;
    (void)state;

    wr_db_exec(&wr_sqlite_of(store)->db, "PRAGMA max_page_count = 60");
    assert_int_equal(put_until_it_fails(store, &index), WEIR_LIMIT);
    assert_full_at(store, index);
    wr_db_exec(&wr_sqlite_of(store)->db, "PRAGMA max_page_count = 100000");
    assert_int_equal(put_text(store, index, WEIR_DURABLE_NORMAL), WEIR_OK);
    weir_store_close(store);
    wr_test_dir_remove(&dir);
}

static void a_store_that_may_not_be_written_is_still_read(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store = open_store(dir.path);
    (void)state;

    assert_int_equal(put_text(store, 1, WEIR_DURABLE_NORMAL), WEIR_OK);
    wr_db_exec(&wr_sqlite_of(store)->db, "PRAGMA query_only = ON");
    assert_int_equal(put_text(store, 2, WEIR_DURABLE_NORMAL), WEIR_IO);
    assert_int_equal(weir_store_trouble(store), WEIR_TROUBLE_DENIED);
    assert_int_equal(get_text(store, 1, NULL), WEIR_OK);
    weir_store_close(store);
    wr_test_dir_remove(&dir);
}

/* What was made by somebody else can be no way into SQLite's own tables. */
static void its_schema_is_not_written_by_hand(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store = open_store(dir.path);
    sqlite3 *handle = wr_sqlite_of(store)->db.handle;
    (void)state;

    (void)sqlite3_exec(handle, "PRAGMA writable_schema = ON", NULL, NULL, NULL);
    assert_int_not_equal(
        sqlite3_exec(handle, "UPDATE sqlite_schema SET sql = sql", NULL, NULL, NULL), SQLITE_OK);
    weir_store_close(store);
    wr_test_dir_remove(&dir);
}

/* Everything is asked of the damaged file: no crash, no wrong text; damage found. */
static bool notices_damage(const char *dir)
{
    struct weir_store_options options = {.must_exist = true, .busy_ms_max = 20};
    struct weir_store *store;
    struct weir_verify_report report;
    weir_trouble trouble;
    bool noticed = false;

    if (weir_store_open(dir, &options, &store, &trouble, NULL))
        return trouble == WEIR_TROUBLE_CORRUPT || trouble == WEIR_TROUBLE_FOREIGN;
    for (size_t i = 0; i < TEXTS; i++) {
        weir_miss miss = WEIR_MISS_NONE;
        weir_status status = get_text(store, i, &miss);
        noticed = noticed || status;
    }
    (void)!put_text(store, TEXTS + 1, WEIR_DURABLE_NORMAL);
    if (weir_store_verify(store, NULL, NULL, &report, NULL))
        noticed = true;
    else
        noticed = noticed || report.corrupt_count || report.has_damage;
    weir_store_close(store);
    return noticed;
}

static void damage_is_noticed_page_by_page(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store = open_store(dir.path);
    struct wr_buf good;
    char path[WR_TEST_PATH_BYTES];
    size_t noticed = 0, pages;
    (void)state;

    for (size_t i = 0; i < TEXTS; i++)
        assert_int_equal(put_text(store, i, WEIR_DURABLE_NORMAL), WEIR_OK);
    weir_store_close(store);
    path_in(&dir, "store.db", path);
    read_whole(path, &good);
    pages = good.len / PAGE_BYTES;
    for (size_t page = 0; page < pages; page++) {
        char kept[64], *at = good.bytes + page * PAGE_BYTES + (page % 2 ? 2000 : 0);
        memcpy(kept, at, sizeof(kept));
        memset(at, 0xA5, sizeof(kept));
        write_file(path, wr_buf_view(&good));
        noticed += notices_damage(dir.path);
        memcpy(at, kept, sizeof(kept));
    }
    /* Half of the pages are hit in the middle, where some have nothing. */
    if (noticed < pages / 2)
        fail_msg("only %zu of %zu damaged pages were noticed", noticed, pages);
    for (size_t len = 0; len < good.len; len += 3 * PAGE_BYTES + 100) {
        write_file(path, wr_span_cut(wr_buf_view(&good), 0, len));
        (void)notices_damage(dir.path);
    }
    write_file(path, wr_buf_view(&good));
    assert_false(notices_damage(dir.path));
    wr_buf_release(&good);
    wr_test_dir_remove(&dir);
}

static void a_text_changed_on_disk_is_corrupt(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store = open_store(dir.path);
    weir_miss miss;
    (void)state;

    assert_int_equal(put_text(store, 1, WEIR_DURABLE_NORMAL), WEIR_OK);
    assert_int_equal(put_text(store, 2, WEIR_DURABLE_NORMAL), WEIR_OK);
    wr_db_exec(&wr_sqlite_of(store)->db,
               "UPDATE artifact SET data = substr(data, 1, 500) || x'00' || substr(data, 502)"
               " WHERE id = 1; UPDATE artifact SET codec = 9 WHERE id = 2;");
    assert_int_equal(get_text(store, 1, &miss), WEIR_NOTFOUND);
    assert_int_equal(miss, WEIR_MISS_CORRUPT);
    assert_int_equal(get_text(store, 2, &miss), WEIR_NOTFOUND);
    assert_int_equal(miss, WEIR_MISS_CORRUPT);
    weir_store_close(store);
    wr_test_dir_remove(&dir);
}

/* Finds `bytes` in the file and turns one of them over. */
static void flip_in_file(const char *path, weir_span bytes)
{
    struct wr_buf file;
    read_whole(path, &file);
    size_t at = wr_span_find(wr_buf_view(&file), bytes, 0);
    assert_true(at != SIZE_MAX);
    file.bytes[at + bytes.len / 2] ^= 0x10;
    write_file(path, wr_buf_view(&file));
    wr_buf_release(&file);
}

/* A part of what is stored of text `index`, as it stands in the file. */
static void stored_bytes(struct weir_store *store, size_t index, char bytes[32])
{
    char sql[128];
    struct wr_db *db = &wr_sqlite_of(store)->db;
    (void)snprintf(sql, sizeof(sql), "SELECT substr(data, 40, 32) FROM artifact WHERE id = %zu",
                   index);
    wr_db_start(db);
    sqlite3_stmt *read = wr_db_make(db, sql);
    assert_true(wr_db_next(db, read));
    assert_int_equal(wr_db_column(read, 0).len, 32);
    memcpy(bytes, wr_db_column(read, 0).ptr, 32);
    wr_db_drop(read);
}

static void assert_has(struct weir_store *store, size_t index, bool wanted)
{
    char text[TEXT_BYTES_MAX];
    struct weir_artifact artifact = {.text = text_of(index, text)};
    bool is_there = !wanted;
    assert_int_equal(wr_sha256(artifact.text, artifact.hash.bytes), WEIR_OK);
    assert_int_equal(weir_store_has(store, LOCAL, &artifact.hash, 1, &is_there, NULL), WEIR_OK);
    assert_int_equal(is_there, wanted);
}

static void a_damaged_text_is_healed_by_the_next_commit(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store = open_store(dir.path);
    struct weir_verify_report report;
    char path[WR_TEST_PATH_BYTES], bytes[2][32];
    weir_miss miss;
    (void)state;

    path_in(&dir, "store.db", path);
    for (size_t i = 1; i <= 5; i++) /* odd ones are kept as they are, even ones compressed */
        assert_int_equal(put_text(store, i, WEIR_DURABLE_NORMAL), WEIR_OK);
    stored_bytes(store, 4, bytes[0]);
    stored_bytes(store, 5, bytes[1]);
    weir_store_close(store);
    flip_in_file(path, (weir_span){bytes[0], 32});
    flip_in_file(path, (weir_span){bytes[1], 32});

    store = open_store(dir.path);
    for (size_t i = 4; i <= 5; i++) {
        assert_has(store, i, false);
        assert_int_equal(get_text(store, i, &miss), WEIR_NOTFOUND);
        assert_int_equal(miss, WEIR_MISS_CORRUPT);
        assert_int_equal(put_text(store, i, WEIR_DURABLE_NORMAL), WEIR_OK);
        assert_int_equal(get_text(store, i, NULL), WEIR_OK);
        assert_has(store, i, true);
    }
    assert_int_equal(weir_store_verify(store, NULL, NULL, &report, NULL), WEIR_OK);
    assert_int_equal(report.artifacts_count, 5);
    assert_int_equal(report.corrupt_count, 0);
    weir_store_close(store);
    wr_test_dir_remove(&dir);
}

/* Damage that no statement did: the database counts no loss. */
static void what_a_read_found_damaged_is_not_there_any_more(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store = open_store(dir.path);
    weir_miss miss;
    (void)state;

    assert_int_equal(put_text(store, 1, WEIR_DURABLE_NORMAL), WEIR_OK);
    assert_has(store, 1, true);
    wr_db_exec(&wr_sqlite_of(store)->db,
               "DROP TRIGGER artifact_changed;"
               "UPDATE artifact SET data = substr(data, 1, 500) || x'00' || substr(data, 502)");
    assert_has(store, 1, true); /* it is remembered and not read again */
    assert_int_equal(get_text(store, 1, &miss), WEIR_NOTFOUND);
    assert_int_equal(miss, WEIR_MISS_CORRUPT);
    assert_has(store, 1, false);
    weir_store_close(store);
    wr_test_dir_remove(&dir);
}

/* Each column by itself, in a store that has seen the row whole and so trusts it. */
static void a_change_in_any_column_is_healed(void **state)
{
    static const char *const changes[] = {
        "UPDATE artifact SET data = substr(data, 1, 500) || x'00' || substr(data, 502)",
        "UPDATE artifact SET data = substr(data, 1, 500)",
        "UPDATE artifact SET data = x''",
        "UPDATE artifact SET codec = 9",
        "UPDATE artifact SET text_bytes = text_bytes + 1",
        "UPDATE artifact SET text_bytes = -1",
        "UPDATE artifact SET hash = x'00' || substr(hash, 2)",
        "UPDATE artifact SET hash = substr(hash, 1, 31) || x'00'",
        "UPDATE artifact SET hash = x'01'",
        "UPDATE artifact SET checksum = checksum + 1",
    };
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store = open_store(dir.path);
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(changes); i++) {
        assert_int_equal(put_text(store, 3, WEIR_DURABLE_NORMAL), WEIR_OK);
        assert_int_equal(put_text(store, 3, WEIR_DURABLE_NORMAL), WEIR_OK);
        assert_has(store, 3, true);
        wr_db_exec(&wr_sqlite_of(store)->db, changes[i]);
        assert_has(store, 3, false);
        (void)!get_text(store, 3, NULL);
        if (put_text(store, 3, WEIR_DURABLE_NORMAL) || get_text(store, 3, NULL))
            fail_msg("not healed: %s", changes[i]);
        assert_has(store, 3, true);
    }
    weir_store_close(store);
    wr_test_dir_remove(&dir);
}

static void a_healing_that_is_taken_back_is_done_again(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store = open_store(dir.path);
    char text[TEXT_BYTES_MAX];
    struct weir_artifact twice[] = {{.text = text_of(3, text)}, {.text = text_of(3, text)}};
    struct weir_mark marks[] = {{.kind = WEIR_MARK_STEP, .value = WR_LIT("a")},
                                {.kind = WEIR_MARK_STEP, .value = WR_LIT("b")}};
    struct weir_batch batch = {.tenant = LOCAL,
                               .session = WR_LIT("s"),
                               .artifacts = twice,
                               .artifacts_count = 2,
                               .marks = marks,
                               .marks_count = 2};
    (void)state;

    assert_int_equal(put_text(store, 3, WEIR_DURABLE_NORMAL), WEIR_OK);
    wr_db_exec(&wr_sqlite_of(store)->db, "UPDATE artifact SET data = x'00'");
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_INVALID);
    assert_int_equal(weir_store_trouble(store), WEIR_TROUBLE_CONFLICT);
    assert_has(store, 3, false);
    batch.marks_count = 1;
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_OK);
    assert_has(store, 3, true);
    weir_store_close(store);
    wr_test_dir_remove(&dir);
}

/* The text lies on a chain of pages, and the chain is broken: SQLite can neither read nor free it.
 * Nothing may rest on that text, and everything else goes on. */
static void what_cannot_be_healed_is_not_promised(void **state)
{
    enum { LARGE_BYTES = 40000 };
    static char text[LARGE_BYTES];
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store = open_store(dir.path);
    struct weir_artifact artifact = {.text = {text, sizeof(text)}};
    struct weir_batch batch = {
        .tenant = LOCAL, .session = WR_LIT("s"), .artifacts = &artifact, .artifacts_count = 1};
    struct wr_buf file;
    char path[WR_TEST_PATH_BYTES];
    weir_miss miss;
    bool is_there = true;
    (void)state;

    for (uint32_t i = 0, noise = 1; i < LARGE_BYTES; i++) {
        noise = noise * 1664525u + 1013904223u;
        text[i] = (char)(noise >> 24);
    }
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_OK);
    weir_store_close(store);
    path_in(&dir, "store.db", path);
    read_whole(path, &file);
    size_t at = wr_span_find(wr_buf_view(&file), (weir_span){text + 20000, 32}, 0);
    assert_true(at != SIZE_MAX);
    memset(file.bytes + at / PAGE_BYTES * PAGE_BYTES, 0xEE, 4);
    write_file(path, wr_buf_view(&file));
    wr_buf_release(&file);

    store = open_store(dir.path);
    struct weir_lookup lookup = {LOCAL, weir_hash_handle(&artifact.hash), false};
    assert_int_equal(weir_store_has(store, LOCAL, &artifact.hash, 1, &is_there, NULL), WEIR_OK);
    assert_false(is_there);
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_INVALID);
    assert_int_equal(weir_store_trouble(store), WEIR_TROUBLE_CORRUPT);
    assert_int_equal(weir_store_get(store, &lookup, &artifact, &miss, NULL), WEIR_NOTFOUND);
    assert_int_equal(miss, WEIR_MISS_CORRUPT);
    assert_int_equal(put_text(store, 3, WEIR_DURABLE_NORMAL), WEIR_OK);
    assert_int_equal(get_text(store, 3, NULL), WEIR_OK);
    weir_store_close(store);
    wr_test_dir_remove(&dir);
}

/* ---- promises ---- */

static void full_durability_is_for_the_commit_that_asks(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store = open_store(dir.path);
    struct wr_db *db = &wr_sqlite_of(store)->db;
    (void)state;

    assert_int_equal(wr_db_number(db, "PRAGMA synchronous"), 1);
    assert_int_equal(put_text(store, 1, WEIR_DURABLE_FULL), WEIR_OK);
    assert_int_equal(wr_db_number(db, "PRAGMA synchronous"), 2);
    assert_int_equal(put_text(store, 2, WEIR_DURABLE_NORMAL), WEIR_OK);
    assert_int_equal(wr_db_number(db, "PRAGMA synchronous"), 1);
    weir_store_close(store);
    wr_test_dir_remove(&dir);
}

static void what_is_purged_is_not_in_the_file(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store = open_store(dir.path);
    struct weir_artifact artifact = {.text = WR_LIT("a secret of 31 bytes, kept plain")};
    struct weir_batch batch = {
        .tenant = LOCAL, .session = WR_LIT("s"), .artifacts = &artifact, .artifacts_count = 1};
    struct weir_gc_report report;
    struct wr_buf file;
    char path[WR_TEST_PATH_BYTES];
    (void)state;

    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_OK);
    assert_int_equal(weir_store_purge(store, LOCAL, WR_LIT("s"), &report, NULL), WEIR_OK);
    weir_store_close(store);
    path_in(&dir, "store.db", path);
    read_whole(path, &file);
    assert_true(wr_span_find(wr_buf_view(&file), WR_LIT("a secret"), 0) == SIZE_MAX);
    wr_buf_release(&file);
    wr_test_dir_remove(&dir);
}

static void what_is_collected_frees_the_disk(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store = open_store(dir.path);
    struct weir_gc_options options = {.now_ms = 1000, .retention_ms = 10};
    struct weir_gc_report report;
    struct weir_store_stats before, after;
    (void)state;

    for (size_t i = 0; i < TEXTS; i++)
        assert_int_equal(put_text(store, i, WEIR_DURABLE_NORMAL), WEIR_OK);
    assert_int_equal(weir_store_stats(store, &before, NULL), WEIR_OK);
    assert_int_equal(weir_store_gc(store, &options, &report, NULL), WEIR_OK);
    assert_int_equal(report.artifacts_count, TEXTS);
    assert_int_equal(weir_store_stats(store, &after, NULL), WEIR_OK);
    assert_true(after.file_bytes < before.file_bytes / 2);
    assert_int_equal(wr_db_number(&wr_sqlite_of(store)->db, "PRAGMA freelist_count"), 0);
    assert_int_equal(after.expired_count, TEXTS);
    weir_store_close(store);
    wr_test_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_for_their_owner_alone),
        cmocka_unit_test(what_was_stored_is_there_next_time),
        cmocka_unit_test(a_missing_store_is_not_made_unasked),
        cmocka_unit_test(a_directory_that_cannot_be_is_an_error),
        cmocka_unit_test(what_is_not_ours_is_not_touched),
        cmocka_unit_test(a_newer_store_is_not_touched),
        cmocka_unit_test(a_locked_store_is_waited_for_and_then_reported),
        cmocka_unit_test(two_stores_on_one_directory_see_each_other),
        cmocka_unit_test(processes_may_make_the_store_at_once),
        cmocka_unit_test(a_full_disk_keeps_what_was_stored),
        cmocka_unit_test(a_full_file_keeps_what_was_stored),
        cmocka_unit_test(a_store_that_may_not_be_written_is_still_read),
        cmocka_unit_test(its_schema_is_not_written_by_hand),
        cmocka_unit_test(damage_is_noticed_page_by_page),
        cmocka_unit_test(a_text_changed_on_disk_is_corrupt),
        cmocka_unit_test(a_damaged_text_is_healed_by_the_next_commit),
        cmocka_unit_test(what_a_read_found_damaged_is_not_there_any_more),
        cmocka_unit_test(a_change_in_any_column_is_healed),
        cmocka_unit_test(a_healing_that_is_taken_back_is_done_again),
        cmocka_unit_test(what_cannot_be_healed_is_not_promised),
        cmocka_unit_test(full_durability_is_for_the_commit_that_asks),
        cmocka_unit_test(what_is_purged_is_not_in_the_file),
        cmocka_unit_test(what_is_collected_frees_the_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
