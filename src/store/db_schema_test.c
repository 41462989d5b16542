#include "store/db.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/span.h"
#include "store/ledger.h"
#include "store/sqlite.h"
#include "tests/test_dir.h"

#define LOCAL WR_LIT("local")

static weir_status open_with(const char *dir, const struct wr_schema *schema,
                             struct weir_store **store, weir_trouble *trouble)
{
    struct wr_sqlite_options options = {.schema = schema};
    return wr_sqlite_open(dir, &options, store, trouble, NULL);
}

static weir_status put_text(struct weir_store *store, weir_span text)
{
    struct weir_artifact artifact = {.text = text};
    struct weir_batch batch = {
        .tenant = LOCAL, .session = WR_LIT("s"), .artifacts = &artifact, .artifacts_count = 1};
    return weir_store_commit(store, &batch, NULL);
}

static void assert_there(struct weir_store *store, weir_span text)
{
    struct weir_lookup lookup = {.tenant = LOCAL};
    struct weir_artifact found;
    assert_int_equal(weir_handle_of(text, &lookup.handle), WEIR_OK);
    assert_int_equal(weir_store_get(store, &lookup, &found, NULL, NULL), WEIR_OK);
}

static void an_older_store_is_brought_up_to_date(void **state)
{
    const char *const steps[] = {wr_schema_current.steps[0],
                                 wr_schema_current.steps[1],
                                 wr_schema_current.steps[2],
                                 wr_schema_current.steps[3],
                                 "ALTER TABLE session ADD COLUMN agent TEXT;"
                                 "UPDATE session SET agent = 'unknown';",
                                 "CREATE TABLE more(x);"};
    struct wr_schema older = {steps, 4}, later = {steps, 6};
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store;
    weir_trouble trouble;
    (void)state;

    assert_int_equal(open_with(dir.path, &older, &store, &trouble), WEIR_OK);
    assert_int_equal(put_text(store, WR_LIT("from before")), WEIR_OK);
    weir_store_close(store);
    assert_int_equal(open_with(dir.path, &later, &store, &trouble), WEIR_OK);
    struct wr_db *db = &wr_sqlite_of(store)->db;
    assert_int_equal(wr_db_number(db, "PRAGMA user_version"), 6);
    assert_int_equal(wr_db_number(db, "SELECT count(*) FROM session WHERE agent = 'unknown'"), 1);
    assert_there(store, WR_LIT("from before"));
    assert_int_equal(put_text(store, WR_LIT("and after")), WEIR_OK);
    weir_store_close(store);
    /* The older program now finds a newer store. */
    assert_int_equal(open_with(dir.path, &older, &store, &trouble), WEIR_INVALID);
    assert_int_equal(trouble, WEIR_TROUBLE_NEWER);
    assert_null(store);
    wr_test_dir_remove(&dir);
}

static void an_upgrade_that_fails_changes_nothing(void **state)
{
    const char *const steps[] = {wr_schema_current.steps[0], wr_schema_current.steps[1],
                                 wr_schema_current.steps[2],
                                 "DELETE FROM artifact; DROP TABLE no_such_table;"};
    struct wr_schema older = {steps, 3}, broken = {steps, 4};
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store;
    weir_trouble trouble;
    (void)state;

    assert_int_equal(open_with(dir.path, &older, &store, &trouble), WEIR_OK);
    assert_int_equal(put_text(store, WR_LIT("from before")), WEIR_OK);
    weir_store_close(store);
    assert_int_not_equal(open_with(dir.path, &broken, &store, &trouble), WEIR_OK);
    assert_null(store);
    assert_int_equal(open_with(dir.path, &older, &store, &trouble), WEIR_OK);
    assert_there(store, WR_LIT("from before"));
    weir_store_close(store);
    wr_test_dir_remove(&dir);
}

/* Its rows have no checksum: they are read, believed when they are whole, and healed when not. */
static void a_store_of_version_1_is_read_and_healed(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store;
    weir_trouble trouble;
    (void)state;

    assert_int_equal(open_with(dir.path, NULL, &store, &trouble), WEIR_OK);
    assert_int_equal(put_text(store, WR_LIT("whole, from before")), WEIR_OK);
    assert_int_equal(put_text(store, WR_LIT("damaged, from before")), WEIR_OK);
    wr_db_exec(&wr_sqlite_of(store)->db,
               "UPDATE artifact SET data = x'00' || substr(data, 2) WHERE id = 2;"
               "ALTER TABLE artifact DROP COLUMN checksum; DROP TABLE request; DROP TABLE report;"
               "DROP TABLE sample; DROP TABLE note; DROP TRIGGER artifact_deleted;"
               "DROP TRIGGER artifact_changed; DROP TABLE artifact_loss; DROP TABLE calibration; "
               "DROP TABLE piece; DROP TABLE said; DROP TABLE spend; DROP TABLE spend_hold; "
               "PRAGMA user_version = 1");
    weir_store_close(store);

    assert_int_equal(open_with(dir.path, NULL, &store, &trouble), WEIR_OK);
    struct wr_db *db = &wr_sqlite_of(store)->db;
    assert_int_equal(wr_db_number(db, "PRAGMA user_version"), wr_schema_current.steps_count);
    assert_there(store, WR_LIT("whole, from before"));
    assert_int_equal(put_text(store, WR_LIT("whole, from before")), WEIR_OK);
    assert_int_equal(wr_db_number(db, "SELECT checksum FROM artifact WHERE id = 1"), 0);
    assert_int_equal(put_text(store, WR_LIT("damaged, from before")), WEIR_OK);
    assert_there(store, WR_LIT("damaged, from before"));
    assert_int_not_equal(wr_db_number(db, "SELECT checksum FROM artifact WHERE id = 2"), 0);
    assert_int_equal(weir_store_hash_failures(store), 1);
    assert_int_equal(wr_db_number(db, "SELECT count(*) FROM artifact"), 2);
    weir_store_close(store);
    wr_test_dir_remove(&dir);
}

static void a_new_store_has_the_current_schema(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store;
    weir_trouble trouble;
    (void)state;

    assert_int_equal(open_with(dir.path, NULL, &store, &trouble), WEIR_OK);
    struct wr_db *db = &wr_sqlite_of(store)->db;
    assert_int_equal(wr_db_number(db, "PRAGMA user_version"), wr_schema_current.steps_count);
    assert_int_equal(wr_db_number(db, "PRAGMA application_id"), 0x77656972);
    assert_int_equal(wr_db_number(db, "PRAGMA auto_vacuum"), 2);
    assert_int_equal(wr_db_number(db, "SELECT count(*) FROM pragma_journal_mode"
                                      " WHERE journal_mode = 'wal'"),
                     1);
    weir_store_close(store);
    wr_test_dir_remove(&dir);
}

/* What schema 2 kept is there, and takes rows; the sessions are the ones it had. */
static void a_store_of_version_2_takes_rows(void **state)
{
    struct wr_schema older = {wr_schema_current.steps, 2};
    struct wr_test_dir dir = wr_test_dir_new();
    struct wr_ledger_row row = {.time_ms = 5,
                                .tenant = LOCAL,
                                .session = WR_LIT("s"),
                                .line = WR_LIT("{}"),
                                .report = WR_LIT("{}")};
    struct weir_store *store;
    struct wr_ledger *ledger;
    weir_trouble trouble;
    (void)state;

    assert_int_equal(open_with(dir.path, &older, &store, &trouble), WEIR_OK);
    assert_int_equal(put_text(store, WR_LIT("from before")), WEIR_OK);
    weir_store_close(store);
    assert_int_equal(wr_ledger_open(dir.path, NULL, &ledger, &trouble, NULL), WEIR_OK);
    assert_int_equal(wr_ledger_add(ledger, &row, 1, NULL), WEIR_OK);
    wr_ledger_close(ledger);
    assert_int_equal(open_with(dir.path, NULL, &store, &trouble), WEIR_OK);
    struct wr_db *db = &wr_sqlite_of(store)->db;
    assert_int_equal(wr_db_number(db, "PRAGMA user_version"), wr_schema_current.steps_count);
    assert_there(store, WR_LIT("from before"));
    assert_int_equal(wr_db_number(db, "SELECT count(*) FROM session"), 1);
    assert_int_equal(wr_db_number(db, "SELECT session_id FROM request"), 1);
    weir_store_close(store);
    wr_test_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_store_has_the_current_schema),
        cmocka_unit_test(an_older_store_is_brought_up_to_date),
        cmocka_unit_test(an_upgrade_that_fails_changes_nothing),
        cmocka_unit_test(a_store_of_version_1_is_read_and_healed),
        cmocka_unit_test(a_store_of_version_2_takes_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
