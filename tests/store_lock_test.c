/* A store that another process holds for writing: what is read still is, and what is stored already
 * may be relied on.
 *
 * `store_lock_test hold DIR` is that other process: it writes without committing, says "held", and
 * ends when its standard input does. tests/store_cli_test.sh uses it too.
 */
#include "store/sqlite.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <cmocka.h>
#include <sys/wait.h>

#include "base/hash.h"
#include "base/span.h"
#include "tests/test_dir.h"

#define LOCAL WR_LIT("local")

static const char *program; /* this one, as it was called */

/* ---- the other process ---- */

static int hold(const char *dir)
{
    char path[2 * WR_TEST_PATH_BYTES], byte;
    sqlite3 *db = NULL;

    (void)snprintf(path, sizeof(path), "%s/store.db", dir);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) ||
        sqlite3_exec(db,
                     "BEGIN EXCLUSIVE; INSERT INTO tenant(name) VALUES('not yet');"
                     "DELETE FROM artifact; DELETE FROM mark;",
                     NULL, NULL, NULL)) {
        (void)fprintf(stderr, "cannot hold %s: %s\n", path, sqlite3_errmsg(db));
        (void)sqlite3_close(db);
        return 2;
    }
    (void)puts("held");
    (void)fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    return sqlite3_close(db) ? 2 : 0; /* takes everything back */
}

struct holder {
    pid_t pid;
    int words; /* what is written to it ends it when closed */
};

/* Started anew and not only forked: SQLite's connections do not outlive a fork. */
static struct holder start_holder(const char *dir)
{
    int in[2], out[2];
    char said[5] = "";

    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        (void)dup2(in[0], STDIN_FILENO);
        (void)dup2(out[1], STDOUT_FILENO);
        (void)close(in[1]);
        (void)close(out[0]);
        (void)execl(program, program, "hold", dir, (char *)NULL);
        _exit(9);
    }
    (void)close(in[0]);
    (void)close(out[1]);
    ssize_t got = read(out[0], said, 4);
    (void)close(out[0]);
    assert_int_equal(got, 4);
    assert_string_equal(said, "held");
    return (struct holder){pid, in[1]};
}

static void end_holder(struct holder holder)
{
    int status = -1;
    (void)close(holder.words);
    assert_int_equal(waitpid(holder.pid, &status, 0), holder.pid);
    assert_int_equal(status, 0);
}

/* ---- this one ---- */

static struct weir_store *open_store(const char *dir)
{
    struct weir_store_options options = {.busy_ms_max = 30};
    struct weir_store *store;
    struct weir_err err = {0};
    if (weir_store_open(dir, &options, &store, NULL, &err))
        fail_msg("cannot open the store: %s", err.text);
    return store;
}

static weir_status put(struct weir_store *store, const char *text)
{
    struct weir_artifact artifact = {.text = wr_span_of(text)};
    struct weir_mark mark = {.kind = WEIR_MARK_STEP, .value = WR_LIT("cold")};
    struct weir_batch batch = {.tenant = LOCAL,
                               .session = WR_LIT("s"),
                               .artifacts = &artifact,
                               .artifacts_count = 1,
                               .marks = &mark,
                               .marks_count = 1};
    return weir_store_commit(store, &batch, NULL);
}

static void assert_has(struct weir_store *store, bool one, bool two)
{
    weir_hash hashes[2];
    bool is_there[2];
    assert_int_equal(wr_sha256(WR_LIT("one"), hashes[0].bytes), WEIR_OK);
    assert_int_equal(wr_sha256(WR_LIT("two"), hashes[1].bytes), WEIR_OK);
    assert_int_equal(weir_store_has(store, LOCAL, hashes, 2, is_there, NULL), WEIR_OK);
    assert_int_equal(is_there[0], one);
    assert_int_equal(is_there[1], two);
}

static weir_status count_mark(void *user, size_t key_index, const struct weir_mark *mark)
{
    (void)key_index;
    *(int *)user += wr_span_is(mark->value, "cold");
    return WEIR_OK;
}

static void assert_reads(struct weir_store *store)
{
    struct weir_lookup lookup = {.tenant = LOCAL};
    struct weir_artifact found;
    struct weir_verify_report report;
    weir_hash key = {{0}};
    int marks = 0;

    assert_int_equal(weir_handle_of(WR_LIT("one"), &lookup.handle), WEIR_OK);
    assert_int_equal(weir_store_get(store, &lookup, &found, NULL, NULL), WEIR_OK);
    assert_int_equal(weir_store_marks(store, LOCAL, &key, 1, count_mark, &marks, NULL), WEIR_OK);
    assert_int_equal(marks, 1);
    assert_int_equal(weir_store_verify(store, NULL, NULL, &report, NULL), WEIR_OK);
    assert_int_equal(report.artifacts_count, 1);
}

static void a_locked_store_says_what_it_has(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *before = open_store(dir.path);
    (void)state;

    assert_int_equal(put(before, "one"), WEIR_OK);
    assert_has(before, true, false);
    struct holder holder = start_holder(dir.path);
    struct weir_store *after = open_store(dir.path);
    struct weir_store *stores[] = {before, after};
    for (size_t i = 0; i < 2; i++) {
        assert_has(stores[i], true, false);
        assert_reads(stores[i]);
        assert_int_equal(put(stores[i], "two"), WEIR_IO);
        assert_int_equal(weir_store_trouble(stores[i]), WEIR_TROUBLE_LOCKED);
        assert_has(stores[i], true, false);
    }
    end_holder(holder);
    assert_has(after, true, false);
    assert_int_equal(put(before, "two"), WEIR_OK);
    assert_has(after, true, true);
    weir_store_close(before);
    weir_store_close(after);
    wr_test_dir_remove(&dir);
}

/* It may die as it likes: the lock goes with it, and so does what it had not committed. */
static void a_holder_that_is_killed_leaves_the_store_free(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store = open_store(dir.path);
    int status;
    (void)state;

    assert_int_equal(put(store, "one"), WEIR_OK);
    struct holder holder = start_holder(dir.path);
    assert_int_equal(put(store, "two"), WEIR_IO);
    assert_int_equal(kill(holder.pid, SIGKILL), 0);
    assert_int_equal(waitpid(holder.pid, &status, 0), holder.pid);
    (void)close(holder.words);
    assert_int_equal(put(store, "two"), WEIR_OK);
    assert_has(store, true, true);
    weir_store_close(store);
    wr_test_dir_remove(&dir);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_locked_store_says_what_it_has),
        cmocka_unit_test(a_holder_that_is_killed_leaves_the_store_free),
    };
    if (argc == 3 && !strcmp(argv[1], "hold"))
        return hold(argv[2]);
    program = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
