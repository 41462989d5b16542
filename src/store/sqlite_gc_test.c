/* What bounds a store: how many handles gc() remembers, and the cap of one in memory; by which time
 * a session is old. */
#include "store/sqlite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/test_dir.h"

#define LOCAL WR_LIT("local")

enum { SESSIONS = 5 };

static weir_span text_of(int index)
{
    static const char *const texts[SESSIONS] = {"one", "two", "three", "four", "five"};
    return wr_span_of(texts[index]);
}

/* Each session is used a millisecond after the one before, and has one text. */
static void fill_store(struct weir_store *store)
{
    for (int i = 0; i < SESSIONS; i++) {
        struct weir_artifact artifact = {.text = text_of(i)};
        struct weir_batch batch = {.tenant = LOCAL,
                                   .session = text_of(i),
                                   .used_ms = i + 1,
                                   .artifacts = &artifact,
                                   .artifacts_count = 1};
        assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_OK);
    }
}

static weir_miss miss_of(struct weir_store *store, int index)
{
    struct weir_lookup lookup = {.tenant = LOCAL};
    struct weir_artifact artifact;
    weir_miss miss = WEIR_MISS_NONE;
    assert_int_equal(weir_handle_of(text_of(index), &lookup.handle), WEIR_OK);
    (void)!weir_store_get(store, &lookup, &artifact, &miss, NULL);
    return miss;
}

/* They leave one a run, so that each has a time of its own. */
static void collect_all(struct weir_store *store)
{
    for (int i = 0; i < SESSIONS; i++) {
        struct weir_gc_options options = {.now_ms = 12 + i, .retention_ms = 10};
        struct weir_gc_report report;
        assert_int_equal(weir_store_gc(store, &options, &report, NULL), WEIR_OK);
        assert_int_equal(report.artifacts_count, 1);
    }
}

static void the_oldest_expired_handles_are_forgotten(void **state)
{
    static const struct {
        int64_t count_max;
        int forgotten;
    } cases[] = {{3, 2}, {4, 1}, {5, 0}, {6, 0}};
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_sqlite_options options = {.expired_count_max = cases[i].count_max};
        struct wr_test_dir dir = wr_test_dir_new();
        struct weir_store *store;
        weir_trouble trouble;
        assert_int_equal(wr_sqlite_open(dir.path, &options, &store, &trouble, NULL), WEIR_OK);
        fill_store(store);
        collect_all(store);
        for (int text = 0; text < SESSIONS; text++)
            assert_int_equal(miss_of(store, text), text < cases[i].forgotten
                                                       ? WEIR_MISS_NEVER_STORED
                                                       : WEIR_MISS_EXPIRED);
        weir_store_close(store);
        wr_test_dir_remove(&dir);
    }
}

static void a_store_in_memory_has_a_cap(void **state)
{
    static char text[20000];
    struct weir_artifact artifact = {.text = {text, sizeof(text)}};
    struct weir_batch batch = {
        .tenant = LOCAL, .session = WR_LIT("s"), .artifacts = &artifact, .artifacts_count = 1};
    struct weir_store_stats stats;
    struct weir_store *store;
    (void)state;

    assert_int_equal(weir_store_new_memory(10000, &store), WEIR_OK);
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_LIMIT);
    assert_int_equal(weir_store_trouble(store), WEIR_TROUBLE_FULL);
    assert_int_equal(weir_store_stats(store, &stats, NULL), WEIR_OK);
    assert_int_equal(stats.artifacts_count, 0);
    artifact.text.len = 5;
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_OK);
    weir_store_close(store);
}

static void a_session_was_used_when_a_batch_of_it_came_but_for_a_moment(void **state)
{
    static const struct {
        int64_t batch_ms, used_ms;
    } rows[] = {
        {5000, 5000},
        {5000 + WR_STORE_TOUCH_MS - 1, 5000},
        {5000 + WR_STORE_TOUCH_MS, 5000 + WR_STORE_TOUCH_MS},
        {4000, 5000 + WR_STORE_TOUCH_MS}, /* a clock that was put back */
        {9000, 9000},
    };
    struct weir_store_stats stats;
    struct weir_store *store;
    (void)state;

    assert_int_equal(weir_store_new_memory(0, &store), WEIR_OK);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct weir_batch batch = {
            .tenant = LOCAL, .session = WR_LIT("s"), .used_ms = rows[i].batch_ms};
        assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_OK);
        assert_int_equal(weir_store_stats(store, &stats, NULL), WEIR_OK);
        assert_int_equal(stats.newest_used_ms, rows[i].used_ms);
    }
    weir_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_expired_handles_are_forgotten),
        cmocka_unit_test(a_store_in_memory_has_a_cap),
        cmocka_unit_test(a_session_was_used_when_a_batch_of_it_came_but_for_a_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
