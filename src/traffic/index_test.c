/* Sessions from rows of a ledger that the test writes. */
#include "traffic/index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/test_dir.h"

struct fixture {
    struct wr_test_dir dir;
    struct wr_models *models;
    struct wr_ledger *ledger;
    struct wr_traffic_index *index;
    struct wr_arena arena;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    f->dir = wr_test_dir_new();
    assert_int_equal(wr_models_new(&f->models, NULL, NULL), WEIR_OK);
    assert_int_equal(wr_ledger_open(f->dir.path, NULL, &f->ledger, NULL, NULL), WEIR_OK);
    f->index = wr_traffic_index_new(WR_LIT("local"), f->models);
    assert_non_null(f->index);
    wr_arena_init(&f->arena, WR_ARENA_BYTES_MAX);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    wr_traffic_index_free(f->index);
    wr_ledger_close(f->ledger);
    wr_models_free(f->models);
    wr_test_dir_remove(&f->dir);
    wr_arena_release(&f->arena);
    free(f);
    return 0;
}

struct row {
    const char *session, *agent;
    int64_t time_ms;
    uint64_t tokens;
    int is_failed;
};

static void add(struct fixture *f, struct row row)
{
    char line[512];
    int bytes = snprintf(line, sizeof(line),
                         "{\"time_ms\":%lld,\"api\":\"chat\",\"path\":\"/v1/chat/completions\","
                         "\"status\":%d,\"session\":\"%s\",\"model\":\"gpt-5\","
                         "\"rollout_mode\":\"active\",\"estimated_tokens_before\":%llu,"
                         "\"estimated_tokens_after\":%llu,\"changed\":true,\"policy\":\"auto\","
                         "\"usage_known\":true,\"usage_input_tokens\":%llu,"
                         "\"usage_output_tokens\":10}",
                         (long long)row.time_ms, row.is_failed ? 500 : 200, row.session,
                         (unsigned long long)row.tokens, (unsigned long long)row.tokens / 2,
                         (unsigned long long)row.tokens / 2);
    struct wr_ledger_row made = {.time_ms = row.time_ms,
                                 .tenant = WR_LIT("local"),
                                 .session = wr_span_of(row.session),
                                 .agent = wr_span_of(row.agent),
                                 .model = WR_LIT("gpt-5"),
                                 .line = {line, (size_t)bytes}};
    assert_int_equal(wr_ledger_add(f->ledger, &made, 1, NULL), WEIR_OK);
}

/* The names of those that fit, one behind the other. */
static void assert_finds(struct fixture *f, struct wr_traffic_filter filter, const char *names)
{
    char found[256] = "";
    size_t count, at = 0;

    assert_int_equal(wr_traffic_index_refresh(f->index, f->ledger, NULL), WEIR_OK);
    const struct wr_traffic_session **sessions =
        wr_traffic_index_find(f->index, f->ledger, &filter, &f->arena, &count);
    assert_non_null(sessions);
    for (size_t i = 0; i < count; i++)
        at += (size_t)snprintf(found + at, sizeof(found) - at, "%s%.*s", i ? " " : "",
                               (int)sessions[i]->session.len, sessions[i]->session.ptr);
    assert_string_equal(found, names);
}

static void sessions_are_sorted_and_filtered(void **state)
{
    struct fixture *f = *state;

    add(f, (struct row){"small", "codex", 1000, 2000, 0});
    add(f, (struct row){"large", "pi", 2000, 200000, 0});
    add(f, (struct row){"busy", "codex", 3000, 2000, 1});
    add(f, (struct row){"busy", "codex", 4000, 2000, 0});
    assert_finds(f, (struct wr_traffic_filter){.since_ms = 0}, "busy large small");
    assert_finds(f, (struct wr_traffic_filter){.sort = WR_TRAFFIC_SORT_COST}, "large busy small");
    assert_finds(f, (struct wr_traffic_filter){.sort = WR_TRAFFIC_SORT_SAVED}, "large busy small");
    assert_finds(f, (struct wr_traffic_filter){.sort = WR_TRAFFIC_SORT_REQUESTS},
                 "busy large small");
    assert_finds(f, (struct wr_traffic_filter){.sort = WR_TRAFFIC_SORT_TROUBLE},
                 "busy large small");
    assert_finds(f, (struct wr_traffic_filter){.agent = WR_LIT("codex")}, "busy small");
    assert_finds(f, (struct wr_traffic_filter){.model = WR_LIT("gpt-6")}, "");
    assert_finds(f, (struct wr_traffic_filter){.since_ms = 2000}, "busy large");
    assert_finds(f, (struct wr_traffic_filter){.words = WR_LIT("LARG")}, "large");
    assert_finds(f, (struct wr_traffic_filter){.words = WR_LIT("Pi")}, "large");
    assert_finds(f, (struct wr_traffic_filter){.words = WR_LIT("longer than any of the names")},
                 "");
}

static void many_sessions_are_each_found(void **state)
{
    enum { MANY = 300 };
    struct fixture *f = *state;
    char name[32];

    for (int i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof(name), "s%d", i);
        add(f, (struct row){name, "codex", 1000 + i, 100, 0});
    }
    do
        assert_int_equal(wr_traffic_index_refresh(f->index, f->ledger, NULL), WEIR_OK);
    while (!wr_traffic_index_progress(f->index).is_whole);
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof(name), "s%d", i);
        const struct wr_traffic_session *s = wr_traffic_index_session(f->index, wr_span_of(name));
        assert_non_null(s);
        assert_int_equal(s->first_ms, 1000 + i);
    }
    assert_null(wr_traffic_index_session(f->index, WR_LIT("s300")));
    assert_int_equal(wr_traffic_index_report(f->index)->all.requests_count, MANY);
}

/* Reading in parts comes to an end, and looking again reads nothing twice. */
static void an_index_is_whole_in_the_end(void **state)
{
    struct fixture *f = *state;
    struct wr_traffic_index *index = f->index;
    uint64_t rows_count, read_count = 0;
    int64_t first_id;

    for (int i = 0; i < 40; i++) {
        add(f, (struct row){"one", "codex", 1000 + i, 2000, 0});
        assert_int_equal(wr_traffic_index_refresh(index, f->ledger, NULL), WEIR_OK);
        wr_traffic_index_look_again(index);
        struct wr_traffic_progress progress = wr_traffic_index_progress(index);
        assert_true(progress.is_whole);
        assert_int_equal(progress.read_count, read_count + 1);
        read_count = progress.read_count;
    }
    assert_int_equal(wr_ledger_extent(f->ledger, &rows_count, &first_id, NULL), WEIR_OK);
    assert_int_equal(rows_count, 40);
}

static void a_spark_has_few_points_and_keeps_the_peaks(void **state)
{
    struct wr_spark spark = {.count = 0};
    (void)state;

    for (uint64_t i = 1; i <= 1000; i++)
        wr_spark_add(&spark, i == 501 ? 99999 : i, i / 2);
    assert_in_range(spark.count, WR_SPARK_POINTS / 2, WR_SPARK_POINTS);
    uint32_t most = 0;
    for (uint32_t i = 0; i < spark.count; i++)
        most = spark.came[i] > most ? spark.came[i] : most;
    assert_int_equal(most, 99999);
    assert_int_equal(spark.came[spark.count - 1], 1000);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(sessions_are_sorted_and_filtered),
        TEST(many_sessions_are_each_found),
        TEST(an_index_is_whole_in_the_end),
        cmocka_unit_test(a_spark_has_few_points_and_keeps_the_peaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
