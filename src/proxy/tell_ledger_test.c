#include "proxy/tell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/limits.h"
#include "base/span.h"
#include "store/sqlite.h"
#include "tests/test_dir.h"

struct fixture {
    struct wr_test_dir dir;
    struct wr_metrics *metrics;
    struct wr_ledger *ledger;
    size_t rows_count;
    int64_t last_time_ms;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    f->dir = wr_test_dir_new();
    f->metrics = wr_metrics_new();
    assert_non_null(f->metrics);
    assert_int_equal(wr_ledger_open(f->dir.path, NULL, &f->ledger, NULL, NULL), WEIR_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    wr_ledger_close(f->ledger);
    (void)munmap(f->metrics, sizeof(*f->metrics));
    wr_test_dir_remove(&f->dir);
    free(f);
    return 0;
}

static void add(struct wr_ledger_writer *writer, int64_t time_ms)
{
    struct wr_ledger_row row = {.time_ms = time_ms,
                                .tenant = WR_LIT("local"),
                                .session = WR_LIT("s"),
                                .agent = WR_LIT("codex"),
                                .model = WR_LIT("gpt-5"),
                                .line = WR_LIT("{\"n\":1}"),
                                .report = WR_LIT("{\"edits\":[]}")};
    wr_ledger_writer_add(writer, &row, NULL);
}

static weir_status see(void *user, const struct wr_ledger_row *row)
{
    struct fixture *f = user;
    assert_true(row->time_ms > f->last_time_ms); /* in the order they were added */
    assert_true(wr_span_is(row->line, "{\"n\":1}"));
    assert_true(wr_span_is(row->agent, "codex"));
    f->last_time_ms = row->time_ms;
    f->rows_count++;
    return WEIR_OK;
}

static size_t rows_in_store(struct fixture *f)
{
    struct wr_ledger_filter all = {0};
    f->rows_count = 0;
    f->last_time_ms = 0;
    assert_int_equal(wr_ledger_each(f->ledger, &all, see, f, NULL), WEIR_OK);
    return f->rows_count;
}

static void all_rows_are_there_at_the_end(void **state)
{
    struct fixture *f = *state;
    struct wr_ledger_row report;
    enum { ROWS = 1000 };
    struct wr_ledger_writer *writer = wr_ledger_writer_new(f->dir.path, f->metrics);

    assert_non_null(writer);
    for (int i = 1; i <= ROWS; i++)
        add(writer, i);
    wr_ledger_writer_free(writer);
    assert_int_equal(rows_in_store(f), ROWS);
    assert_int_equal(f->metrics->ledger_rows, ROWS);
    assert_int_equal(f->metrics->ledger_rows_lost, 0);
    assert_int_equal(wr_ledger_report(f->ledger, WR_LIT("local"), WR_LIT("s"), &report, NULL),
                     WEIR_OK);
    assert_int_equal(report.time_ms, ROWS);
}

static void add_said(struct wr_ledger_writer *writer, size_t bytes, enum wr_coding coding)
{
    struct wr_ledger_row row = {.time_ms = 1,
                                .tenant = WR_LIT("local"),
                                .session = WR_LIT("s"),
                                .line = WR_LIT("{\"n\":1}")};
    struct wr_said said = {.coding = coding};

    wr_buf_init(&said.came, 1 << 30);
    for (size_t i = 0; i < bytes; i++)
        wr_buf_byte(&said.came, 'x');
    wr_ledger_writer_add(writer, &row, &said);
    wr_buf_release(&said.came);
}

static void what_a_request_said_is_kept_or_counted(void **state)
{
    struct fixture *f = *state;
    struct wr_ledger_which which = {.tenant = WR_LIT("local"), .session = WR_LIT("s")};
    struct wr_ledger_writer *writer = wr_ledger_writer_new(f->dir.path, f->metrics);
    struct wr_ledger_row row;

    assert_non_null(writer);
    add_said(writer, 5000, WR_CODING_IDENTITY);
    add_said(writer, 5000, WR_CODING_GZIP); /* that is no gzip */
    add_said(writer, WR_LEDGER_SAID_BYTES_MAX + 1, WR_CODING_IDENTITY);
    wr_ledger_writer_free(writer);
    assert_int_equal(f->metrics->ledger_rows, 3);
    assert_int_equal(f->metrics->transcripts_skipped, 2);
    assert_int_equal(wr_ledger_said(f->ledger, &which, &row, NULL), WEIR_OK);
    assert_int_equal(row.came.len, 5000);
}

static void a_note_is_kept_with_all_it_has(void **state)
{
    struct fixture *f = *state;
    struct wr_ledger_note note = {.tenant = WR_LIT("local"),
                                  .session = WR_LIT("s"),
                                  .key = "a key",
                                  .time_ms = 7,
                                  .data = WR_LIT("what is remembered")};
    struct wr_ledger_writer *writer = wr_ledger_writer_new(f->dir.path, f->metrics);
    weir_span data;

    assert_non_null(writer);
    wr_ledger_writer_note(writer, &note, false);
    wr_ledger_writer_free(writer);
    assert_int_equal(wr_ledger_note(f->ledger, WR_LIT("local"), note.key, &data, NULL), WEIR_OK);
    assert_true(wr_span_is(data, "what is remembered"));
    assert_int_equal(wr_ledger_note(f->ledger, WR_LIT("other"), note.key, &data, NULL),
                     WEIR_NOTFOUND);
    assert_int_equal(f->metrics->ledger_notes_lost, 0);
}

/* Without being told to end. */
static void a_row_comes_by_itself(void **state)
{
    struct fixture *f = *state;
    struct wr_ledger_writer *writer = wr_ledger_writer_new(f->dir.path, f->metrics);

    assert_non_null(writer);
    add(writer, 1);
    while (!f->metrics->ledger_rows && !f->metrics->ledger_rows_lost)
        (void)usleep(1000);
    assert_int_equal(rows_in_store(f), 1);
    wr_ledger_writer_free(writer);
}

static void too_many_rows_are_counted_and_lost(void **state)
{
    struct fixture *f = *state;
    struct weir_store *store;
    struct wr_ledger_writer *writer;

    assert_int_equal(weir_store_open(f->dir.path, NULL, &store, NULL, NULL), WEIR_OK);
    wr_db_begin(&wr_sqlite_of(store)->db); /* nobody else writes now */
    writer = wr_ledger_writer_new(f->dir.path, f->metrics);
    assert_non_null(writer);
    for (int i = 1; i <= WR_PROXY_LEDGER_ROWS_MAX + 10; i++)
        add(writer, i);
    assert_int_equal(f->metrics->ledger_rows_lost, 10);
    wr_db_end(&wr_sqlite_of(store)->db);
    wr_ledger_writer_free(writer);
    assert_int_equal(rows_in_store(f), WR_PROXY_LEDGER_ROWS_MAX);
    weir_store_close(store);
}

static void a_store_that_is_held_does_not_keep_the_end_from_coming(void **state)
{
    struct fixture *f = *state;
    struct weir_store *store;

    assert_int_equal(weir_store_open(f->dir.path, NULL, &store, NULL, NULL), WEIR_OK);
    wr_db_begin(&wr_sqlite_of(store)->db);
    struct wr_ledger_writer *writer = wr_ledger_writer_new(f->dir.path, f->metrics);
    assert_non_null(writer);
    for (int i = 1; i <= 1000; i++)
        add(writer, i);
    wr_ledger_writer_free(writer);
    assert_int_equal(f->metrics->ledger_rows_lost, 1000);
    wr_db_end(&wr_sqlite_of(store)->db);
    assert_int_equal(rows_in_store(f), 0);
    weir_store_close(store);
}

static void without_a_store_rows_are_lost(void **state)
{
    struct fixture *f = *state;
    struct wr_ledger_writer *writer = wr_ledger_writer_new("/dev/null/nowhere", f->metrics);

    assert_non_null(writer);
    add(writer, 1);
    wr_ledger_writer_free(writer);
    assert_int_equal(f->metrics->ledger_rows_lost, 1);
    wr_ledger_writer_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_rows_are_there_at_the_end),
        TEST(what_a_request_said_is_kept_or_counted),
        TEST(a_note_is_kept_with_all_it_has),
        TEST(a_row_comes_by_itself),
        TEST(too_many_rows_are_counted_and_lost),
        TEST(a_store_that_is_held_does_not_keep_the_end_from_coming),
        TEST(without_a_store_rows_are_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
