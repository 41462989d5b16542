/* A store whose files are removed, moved or replaced while it is open: what is committed afterwards
 * is found at the path by another process, whatever happened to the files. */
#include "store/sqlite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/span.h"
#include "store/ledger.h"
#include "store/store.h"
#include "tests/test_dir.h"

#define LOCAL WR_LIT("local")

enum { BEFORE = 12, AFTER = 6, TEXT_BYTES = 3000 };

/* ---- short ways to say things ---- */

static weir_span text_of(int index, char text[TEXT_BYTES])
{
    uint32_t noise = (uint32_t)index + 1;
    for (size_t i = 0; i < TEXT_BYTES; i++) {
        noise = noise * 1664525u + 1013904223u;
        text[i] = (char)('a' + (noise >> 24) % 26);
    }
    return (weir_span){text, TEXT_BYTES};
}

static weir_status put_text(struct weir_store *store, int index)
{
    char text[TEXT_BYTES];
    struct weir_artifact artifact = {.text = text_of(index, text)};
    struct weir_batch batch = {
        .tenant = LOCAL, .session = WR_LIT("s"), .artifacts = &artifact, .artifacts_count = 1};
    return weir_store_commit(store, &batch, NULL);
}

static bool has_text(struct weir_store *store, int index)
{
    char text[TEXT_BYTES];
    struct weir_lookup lookup = {.tenant = LOCAL};
    struct weir_artifact artifact;
    assert_int_equal(weir_handle_of(text_of(index, text), &lookup.handle), WEIR_OK);
    return !weir_store_get(store, &lookup, &artifact, NULL, NULL);
}

static struct weir_store *open_store(const char *dir)
{
    struct weir_store *store;
    assert_int_equal(weir_store_open(dir, NULL, &store, NULL, NULL), WEIR_OK);
    return store;
}

/* Runs this program anew as `task`: a process that was only forked would share what SQLite knows of
 * our files. Gives its exit status. */
static int run_task(const char *task, const char *dir, int first, int end)
{
    char from[16], to[16];
    pid_t pid;
    int status;

    (void)snprintf(from, sizeof(from), "%d", first);
    (void)snprintf(to, sizeof(to), "%d", end);
    pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        (void)execl("/proc/self/exe", "sqlite_place_test", task, dir, from, to, (char *)NULL);
        _exit(255);
    }
    assert_true(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* A store that has been there for a while: its tables are in the database, not in the log alone. */
static struct weir_store *open_used_store(const char *dir)
{
    weir_store_close(open_store(dir));
    return open_store(dir);
}

/* How many of the texts from `first` to before `end` another process finds at the path. */
static int count_found(const char *dir, int first, int end)
{
    return run_task("count", dir, first, end);
}

static int run_as_task(char **argv)
{
    bool is_count = !strcmp(argv[1], "count");
    int first = (int)strtol(argv[3], NULL, 10), end = (int)strtol(argv[4], NULL, 10), count = 0;
    struct weir_store_options options = {.must_exist = is_count};
    struct weir_store *store;

    if (weir_store_open(argv[2], &options, &store, NULL, NULL))
        return 255;
    for (int i = first; i < end; i++)
        count += is_count ? has_text(store, i) : !put_text(store, i);
    weir_store_close(store);
    return count;
}

static void say_path(char out[2 * WR_TEST_PATH_BYTES], const char *dir, const char *name)
{
    (void)snprintf(out, (size_t)2 * WR_TEST_PATH_BYTES, "%s%s", dir, name);
}

static void remove_named(const char *dir, const char *name)
{
    char path[2 * WR_TEST_PATH_BYTES];
    say_path(path, dir, name);
    assert_int_equal(unlink(path), 0);
}

/* ---- what happens to the files ---- */

static void lose_database(const char *dir)
{
    remove_named(dir, "/store.db");
}

static void lose_all_files(const char *dir)
{
    remove_named(dir, "/store.db");
    remove_named(dir, "/store.db-wal");
    remove_named(dir, "/store.db-shm");
}

static void move_directory(const char *dir)
{
    char away[2 * WR_TEST_PATH_BYTES];
    say_path(away, dir, ".away");
    assert_int_equal(rename(dir, away), 0);
}

static void remake_directory(const char *dir)
{
    lose_all_files(dir);
    assert_int_equal(rmdir(dir), 0);
    assert_int_equal(mkdir(dir, 0700), 0);
}

/* Another store, which holds other things, takes the place of this one. */
static void put_other(const char *dir)
{
    char other[2 * WR_TEST_PATH_BYTES], from[3 * WR_TEST_PATH_BYTES], to[2 * WR_TEST_PATH_BYTES];

    say_path(other, dir, ".away");
    assert_int_equal(run_task("put", other, 1000, 1001), 1);
    lose_all_files(dir);
    (void)snprintf(from, sizeof(from), "%s/store.db", other);
    say_path(to, dir, "/store.db");
    assert_int_equal(rename(from, to), 0);
}

static void lose_log(const char *dir)
{
    remove_named(dir, "/store.db-wal");
}

static void lose_index(const char *dir)
{
    remove_named(dir, "/store.db-shm");
}

static void lose_log_and_index(const char *dir)
{
    lose_log(dir);
    lose_index(dir);
}

/* And somebody has had a look at the store since, which makes the files anew. */
static void lose_log_and_look(const char *dir)
{
    lose_log_and_index(dir);
    (void)count_found(dir, 0, 1);
}

static void lose_index_and_look(const char *dir)
{
    lose_index(dir);
    (void)count_found(dir, 0, 1);
}

static const struct {
    const char *what;
    void (*lose)(const char *dir);
    bool is_kept; /* what was committed before is still there */
} losses[] = {
    {"the database file is removed", lose_database, false},
    {"all files are removed", lose_all_files, false},
    {"the directory is moved away", move_directory, false},
    {"the directory is removed and made again", remake_directory, false},
    {"another store is put in its place", put_other, false},
    {"the log is removed", lose_log, true},
    {"the index of the log is removed", lose_index, true},
    {"log and index are removed", lose_log_and_index, true},
    {"log and index are removed and made by another", lose_log_and_look, true},
    {"the index is removed and made by another", lose_index_and_look, true},
};

enum { LOSSES_COUNT = WR_COUNT_OF(losses) };

static void remove_away(const struct wr_test_dir *dir)
{
    struct wr_test_dir away;
    (void)snprintf(away.path, sizeof(away.path), "%.400s.away", dir->path);
    wr_test_dir_remove(&away);
}

/* ---- tests ---- */

#define EXPECT(condition)                                             \
    do {                                                              \
        if (!(condition))                                             \
            fail_msg("%s: %s is not so", losses[i].what, #condition); \
    } while (0)

/* The handle that commits is told once; one that only reads and rows of requests follow as well. */
static void what_is_committed_after_a_loss_is_at_the_path(void **state)
{
    (void)state;
    for (size_t i = 0; i < LOSSES_COUNT; i++) {
        struct wr_test_dir dir = wr_test_dir_new();
        struct weir_store *store = open_used_store(dir.path), *other = open_store(dir.path);
        struct wr_ledger *ledger;
        struct wr_ledger_row row = {.tenant = LOCAL, .session = WR_LIT("s"), .line = WR_LIT("{}")};
        assert_int_equal(wr_ledger_open(dir.path, NULL, &ledger, NULL, NULL), WEIR_OK);
        for (int at = 0; at < BEFORE; at++)
            EXPECT(!put_text(store, at));
        EXPECT(has_text(other, 0));
        losses[i].lose(dir.path);

        weir_status status = put_text(store, BEFORE);
        EXPECT(losses[i].is_kept ? status == WEIR_OK : status == WEIR_IO);
        EXPECT(losses[i].is_kept || weir_store_trouble(store) == WEIR_TROUBLE_REPLACED);
        EXPECT(weir_store_replacements(store) == !losses[i].is_kept);
        for (int at = BEFORE; at < BEFORE + AFTER; at++)
            EXPECT(!put_text(store, at));
        EXPECT(count_found(dir.path, BEFORE, BEFORE + AFTER) == AFTER);
        EXPECT(count_found(dir.path, 0, BEFORE) == (losses[i].is_kept ? BEFORE : 0));
        EXPECT(has_text(other, BEFORE));
        EXPECT(!wr_ledger_add(ledger, &row, 1, NULL));
        wr_ledger_close(ledger);
        weir_store_close(other);
        weir_store_close(store);
        EXPECT(count_found(dir.path, BEFORE, BEFORE + AFTER) == AFTER);
        wr_test_dir_remove(&dir);
        remove_away(&dir);
    }
}

static ino_t index_number(const char *dir)
{
    char path[2 * WR_TEST_PATH_BYTES];
    struct stat found;
    say_path(path, dir, "/store.db-shm");
    return stat(path, &found) ? 0 : found.st_ino;
}

/* Whoever has the removed database open still uses its index: SQLite would share it. */
static void a_new_database_shares_no_index_with_one_that_was_removed(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *old = open_used_store(dir.path);
    (void)state;
    assert_int_equal(put_text(old, 0), WEIR_OK);
    ino_t before = index_number(dir.path);
    assert_true(before);
    lose_database(dir.path);
    struct weir_store *store = open_store(dir.path);
    assert_int_equal(put_text(store, BEFORE), WEIR_OK);
    assert_true(index_number(dir.path));
    assert_int_not_equal(index_number(dir.path), before);
    assert_false(has_text(store, 0));
    weir_store_close(store);
    weir_store_close(old);
    wr_test_dir_remove(&dir);
}

/* What a store remembers to have seen does not outlive the file in which it saw it. */
static void what_was_seen_before_a_loss_is_looked_for_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < LOSSES_COUNT; i++) {
        struct wr_test_dir dir = wr_test_dir_new();
        struct weir_store *store = open_used_store(dir.path);
        char text[TEXT_BYTES];
        struct weir_artifact artifact = {.text = text_of(0, text)};
        struct weir_batch batch = {
            .tenant = LOCAL, .session = WR_LIT("s"), .artifacts = &artifact, .artifacts_count = 1};
        bool is_there = false;
        EXPECT(!weir_store_commit(store, &batch, NULL));
        EXPECT(!weir_store_has(store, LOCAL, &artifact.hash, 1, &is_there, NULL) && is_there);
        losses[i].lose(dir.path);
        EXPECT(!weir_store_has(store, LOCAL, &artifact.hash, 1, &is_there, NULL));
        EXPECT(is_there == losses[i].is_kept);
        EXPECT(!weir_store_commit(store, &batch, NULL)); /* the loss is known by now */
        EXPECT(count_found(dir.path, 0, 1) == 1);
        weir_store_close(store);
        wr_test_dir_remove(&dir);
        remove_away(&dir);
    }
}

/* A session whose pin is found goes on with it; its commit finds out, and from then on it is what
 * the path holds. A pin that is not found may be in the store at the path. */
static void a_pin_is_of_the_store_at_the_path_once_a_commit_has_looked(void **state)
{
    (void)state;
    for (size_t i = 0; i < LOSSES_COUNT; i++) {
        struct wr_test_dir dir = wr_test_dir_new();
        struct weir_store *store = open_used_store(dir.path), *other = open_store(dir.path);
        struct weir_pin pin = {.model = WR_LIT("m"), .value = WR_LIT("kept")};
        struct weir_pin late = {.model = WR_LIT("late"), .value = WR_LIT("kept")};
        struct weir_batch batch = {
            .tenant = LOCAL, .session = WR_LIT("s"), .pins = &pin, .pins_count = 1};
        bool is_kept = losses[i].is_kept;
        EXPECT(!weir_store_commit(store, &batch, NULL));
        losses[i].lose(dir.path);

        (void)!weir_store_pin(store, LOCAL, WR_LIT("s"), &pin, NULL);
        weir_status status = put_text(store, BEFORE);
        EXPECT(is_kept ? status == WEIR_OK : weir_store_replacements(store) == 1);
        status = weir_store_pin(store, LOCAL, WR_LIT("s"), &pin, NULL);
        EXPECT(status == (is_kept ? WEIR_OK : WEIR_NOTFOUND));
        batch.pins = &late;
        EXPECT(!weir_store_commit(store, &batch, NULL));
        EXPECT(!weir_store_pin(other, LOCAL, WR_LIT("s"), &late, NULL));
        weir_store_close(other);
        weir_store_close(store);
        wr_test_dir_remove(&dir);
        remove_away(&dir);
    }
}

/* Moved away and back, it is the same store: nothing was lost. */
static void what_comes_back_is_what_it_was(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store_options options = {.must_exist = true};
    struct weir_store *writer = open_store(dir.path), *reader;
    struct weir_pin pin = {.model = WR_LIT("m")};
    char away[2 * WR_TEST_PATH_BYTES];
    (void)state;

    assert_int_equal(put_text(writer, 0), WEIR_OK);
    assert_int_equal(weir_store_open(dir.path, &options, &reader, NULL, NULL), WEIR_OK);
    move_directory(dir.path);
    assert_false(has_text(reader, 0));
    assert_int_equal(weir_store_trouble(reader), WEIR_TROUBLE_MISSING);
    /* That there is no store is no answer about what is in it. */
    assert_int_equal(weir_store_pin(reader, WR_LIT("local"), WR_LIT("s"), &pin, NULL), WEIR_IO);
    say_path(away, dir.path, ".away");
    assert_int_equal(rename(away, dir.path), 0);
    assert_true(has_text(reader, 0));
    assert_int_equal(weir_store_replacements(reader), 0);
    assert_int_equal(put_text(writer, 1), WEIR_OK);
    assert_int_equal(weir_store_replacements(writer), 0);
    weir_store_close(reader);
    weir_store_close(writer);
    assert_int_equal(count_found(dir.path, 0, 2), 2);
    wr_test_dir_remove(&dir);
}

/* A directory stands where the database should be: nothing can be kept, nothing is promised. */
static void what_cannot_be_made_anew_fails(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store = open_used_store(dir.path);
    char path[2 * WR_TEST_PATH_BYTES];
    (void)state;

    assert_int_equal(put_text(store, 0), WEIR_OK);
    lose_all_files(dir.path);
    say_path(path, dir.path, "/store.db");
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_not_equal(put_text(store, 1), WEIR_OK);
    assert_int_equal(weir_store_trouble(store), WEIR_TROUBLE_DENIED);
    assert_int_not_equal(wr_store_probe(store, true, NULL), WEIR_OK);
    assert_false(has_text(store, 0));
    assert_int_not_equal(wr_store_probe(store, false, NULL), WEIR_OK);
    assert_int_equal(rmdir(path), 0);
    uint64_t place = wr_store_place(store);
    assert_int_equal(wr_store_probe(store, true, NULL), WEIR_OK);
    assert_int_equal(weir_store_replacements(store), 1);
    assert_int_not_equal(wr_store_place(store), place);
    assert_int_equal(wr_store_probe(store, false, NULL), WEIR_OK);
    assert_int_equal(put_text(store, 1), WEIR_OK);
    weir_store_close(store);
    assert_int_equal(count_found(dir.path, 0, 2), 1);
    wr_test_dir_remove(&dir);
}

/* Somebody else writes into a log of their own: ours is not mixed with it. */
static void a_log_of_somebody_else_is_left_alone(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store = open_used_store(dir.path);
    struct weir_err err = {0};
    (void)state;

    assert_int_equal(put_text(store, 0), WEIR_OK);
    lose_log_and_index(dir.path);
    /* Their log is not written back when they close it: we have the file open too. */
    assert_int_equal(run_task("put", dir.path, 1, 2), 1);
    assert_int_equal(wr_store_probe(store, true, &err), WEIR_IO);
    assert_non_null(strstr(err.text, "start anew"));
    weir_store_close(store);
    assert_int_equal(count_found(dir.path, 1, 2), 1);
    wr_test_dir_remove(&dir);
}

/* What was found whole in the old one says nothing of the new one, though numbers are the same. */
static void nothing_is_trusted_of_another_store(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new(), away;
    char from[2 * WR_TEST_PATH_BYTES], to[2 * WR_TEST_PATH_BYTES];
    struct weir_store *store = open_used_store(dir.path), *other;
    (void)state;

    (void)snprintf(away.path, sizeof(away.path), "%.400s.away", dir.path);
    for (int i = 0; i < 2; i++)
        assert_int_equal(put_text(store, 0), WEIR_OK);
    other = open_store(away.path);
    assert_int_equal(put_text(other, 0), WEIR_OK);
    wr_db_exec(&wr_sqlite_of(other)->db, "UPDATE artifact SET data = zeroblob(length(data))");
    weir_store_close(other);
    lose_all_files(dir.path);
    say_path(from, away.path, "/store.db");
    say_path(to, dir.path, "/store.db");
    assert_int_equal(rename(from, to), 0);
    assert_int_equal(put_text(store, 0), WEIR_IO);
    assert_int_equal(weir_store_trouble(store), WEIR_TROUBLE_REPLACED);
    assert_int_equal(put_text(store, 0), WEIR_OK);
    assert_true(has_text(store, 0));
    weir_store_close(store);
    wr_test_dir_remove(&dir);
    wr_test_dir_remove(&away);
}

/* As somebody who may not write it: who is root may always. */
static void change_user(bool is_other)
{
    if (!getuid())
        assert_int_equal(seteuid(is_other ? 65534 : 0), 0);
}

/* In a folder whose name means something in a URI. When it may be written again it is the same. */
static void what_may_not_be_written_is_read_as_it_lies_there(void **state)
{
    static const char name[] = "/100% of a?b#c";
    struct wr_test_dir dir = wr_test_dir_in("/tmp"), inner; /* TMPDIR may be its owner's alone */
    char path[2 * WR_TEST_PATH_BYTES];
    struct weir_store *store;
    (void)state;

    (void)snprintf(inner.path, sizeof(inner.path), "%.400s%s", dir.path, name);
    assert_int_equal(run_task("put", inner.path, 0, 1), 1);
    say_path(path, inner.path, "/store.db");
    assert_int_equal(chmod(path, 0444) | chmod(inner.path, 0555) | chmod(dir.path, 0755), 0);
    change_user(true);
    store = open_store(inner.path);
    assert_true(has_text(store, 0));
    assert_int_not_equal(put_text(store, 1), WEIR_OK);
    assert_int_equal(weir_store_trouble(store), WEIR_TROUBLE_DENIED);
    change_user(false);
    assert_int_equal(chmod(path, 0600) | chmod(inner.path, 0700), 0);
    assert_int_equal(put_text(store, 1), WEIR_OK);
    assert_int_equal(weir_store_replacements(store), 0);
    weir_store_close(store);
    assert_int_equal(count_found(inner.path, 0, 2), 2);
    wr_test_dir_remove(&inner);
    wr_test_dir_remove(&dir);
}

int main(int argc, char **argv)
{
    if (argc == 5)
        return run_as_task(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_committed_after_a_loss_is_at_the_path),
        cmocka_unit_test(a_new_database_shares_no_index_with_one_that_was_removed),
        cmocka_unit_test(what_was_seen_before_a_loss_is_looked_for_again),
        cmocka_unit_test(a_pin_is_of_the_store_at_the_path_once_a_commit_has_looked),
        cmocka_unit_test(what_comes_back_is_what_it_was),
        cmocka_unit_test(what_cannot_be_made_anew_fails),
        cmocka_unit_test(a_log_of_somebody_else_is_left_alone),
        cmocka_unit_test(nothing_is_trusted_of_another_store),
        cmocka_unit_test(what_may_not_be_written_is_read_as_it_lies_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
