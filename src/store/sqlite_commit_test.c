#include "store/sqlite.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <cmocka.h>
#include <sys/resource.h>

#include "base/span.h"
#include "store/store.h"
#include "tests/test_dir.h"

enum { FILE_BYTES_MAX = 8192 };

static weir_status put_text(struct weir_store *store)
{
    struct weir_artifact artifact = {.text = WR_LIT("a text")};
    struct weir_batch batch = {.tenant = WR_LIT("local"),
                               .session = WR_LIT("s"),
                               .artifacts = &artifact,
                               .artifacts_count = 1};
    return weir_store_commit(store, &batch, NULL);
}

/* No file may grow beyond that; the limit that was. */
static struct rlimit limit_files(rlim_t bytes)
{
    struct rlimit old, small;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = bytes;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    return old;
}

/* A log that was put into the file begins anew: a page of it may be written and overwritten where
 * nothing else has room. */
static void a_page_that_fits_is_not_room(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store;
    (void)state;

    assert_int_equal(weir_store_open(dir.path, NULL, &store, NULL, NULL), WEIR_OK);
    struct wr_db *db = &wr_sqlite_of(store)->db;
    assert_int_equal(put_text(store), WEIR_OK);
    wr_db_exec(db, "PRAGMA wal_checkpoint(FULL)");
    struct rlimit old = limit_files(FILE_BYTES_MAX);
    weir_status status = wr_store_probe(store, true, NULL);
    weir_trouble trouble = weir_store_trouble(store);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(status, WEIR_LIMIT);
    assert_int_equal(trouble, WEIR_TROUBLE_FULL);

    assert_int_equal(wr_store_probe(store, true, NULL), WEIR_OK);
    assert_int_equal(wr_db_number(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'room'"), 0);
    assert_int_equal(put_text(store), WEIR_OK);
    weir_store_close(store);
    wr_test_dir_remove(&dir);
}

/* There is room, and yet nothing can be changed. */
static void a_store_that_refuses_changes_is_not_well(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store;
    (void)state;

    assert_int_equal(weir_store_open(dir.path, NULL, &store, NULL, NULL), WEIR_OK);
    struct wr_db *db = &wr_sqlite_of(store)->db;
    wr_db_start(db);
    wr_db_exec(db, "CREATE TEMP TRIGGER refuses BEFORE UPDATE ON main.artifact_loss"
                   " BEGIN SELECT RAISE(FAIL, 'no changes'); END");
    assert_int_equal(db->code, 0);
    assert_int_equal(wr_store_probe(store, false, NULL), WEIR_OK);
    assert_int_not_equal(wr_store_probe(store, true, NULL), WEIR_OK);

    wr_db_start(db);
    wr_db_exec(db, "DROP TRIGGER refuses");
    assert_int_equal(db->code, 0);
    assert_int_equal(wr_store_probe(store, true, NULL), WEIR_OK);
    assert_int_equal(put_text(store), WEIR_OK);
    weir_store_close(store);
    wr_test_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_page_that_fits_is_not_room),
                                       cmocka_unit_test(a_store_that_refuses_changes_is_not_well)};

    return cmocka_run_group_tests_name("sqlite_commit", tests, NULL, NULL);
}
