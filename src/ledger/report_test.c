#include "ledger/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"
#include "json/json.h"

static const struct {
    int64_t time_ms;
    const char *text;
} times[] = {
    {0, "1970-01-01 00:00"},
    {951782400000, "2000-02-29 00:00"},
    {1709251199000, "2024-02-29 23:59"},
    {1709251200000, "2024-03-01 00:00"},
    {1794755598228, "2026-11-15 15:13"},
    {4102444799999, "2099-12-31 23:59"},
    {-5, "1970-01-01 00:00"},
};

static void times_are_those_of_the_calendar(void **state)
{
    char text[WR_REPORT_TIME_BYTES];
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(times); i++) {
        wr_report_time(times[i].time_ms, text);
        assert_string_equal(text, times[i].text);
    }
}

static const char line[] =
    "{\"status\":200,\"api\":\"chat\",\"end\":\"done\",\"changed\":false,\"usage_known\":true,"
    "\"estimated_tokens_before\":1000,\"estimated_tokens_after\":1000,"
    "\"usage_input_tokens\":1000,\"usage_output_tokens\":10,\"usage_cache_read_tokens\":0,"
    "\"cache_expected_tokens\":900,\"cache_bust_tokens\":900,\"cache_bust_cause\":\"host\","
    "\"task_quality_recalls\":2}";

static struct wr_ledger_row row(int64_t time_ms, const char *agent, const char *model)
{
    return (struct wr_ledger_row){.time_ms = time_ms,
                                  .tenant = WR_LIT("local"),
                                  .session = WR_LIT("s"),
                                  .agent = wr_span_of(agent),
                                  .model = wr_span_of(model),
                                  .line = wr_span_of(line)};
}

/* Every name once, and the figures of all. */
static void expect_json(const struct wr_report *report)
{
    static const char *const names[] = {"requests", "busts", "bust_tokens", "quality"};
    wr_json_id found[4];
    struct wr_arena arena;
    struct wr_json doc;
    struct wr_buf out;
    int64_t number = 0;

    wr_buf_init(&out, 1000000);
    wr_arena_init(&arena, 10 * 1000 * 1000);
    wr_report_json(report, &out);
    assert_int_equal(wr_json_parse(&doc, &arena, wr_buf_view(&out), NULL, NULL), WEIR_OK);
    assert_true(wr_json_pick(&doc, wr_json_find(&doc, 0, "all"), names, 4, found));
    assert_true(wr_json_i64(&doc, wr_json_find(&doc, found[3], "recalls"), &number));
    assert_int_equal(number, 8);
    wr_arena_release(&arena);
    wr_buf_release(&out);
}

static void rows_are_counted_once_in_every_list(void **state)
{
    const struct wr_ledger_row rows[] = {
        row(7200000, "codex", "gpt-5"),      row(7200001, "claude-code", "gpt-5"),
        row(3600000, "codex", "gpt-5-mini"), row(10800000, "codex", "gpt-5"),
        row(1000, "codex", "gpt-5"), /* before */
    };
    struct wr_models *models;
    struct wr_report report;
    struct wr_ledger_row bad = row(7200002, "codex", "gpt-5");
    (void)state;
    assert_int_equal(wr_models_new(&models, NULL, NULL), WEIR_OK);
    assert_int_equal(wr_report_init(&report, models, 3600000), WEIR_OK);
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        assert_int_equal(wr_report_add(&report, &rows[i]), WEIR_OK);
    bad.line = WR_LIT("{\"status\":");
    assert_int_equal(wr_report_add(&report, &bad), WEIR_OK);
    wr_report_sort(&report);
    assert_int_equal(report.damaged_count, 1);
    assert_int_equal(report.all.requests_count, 4);
    assert_int_equal(report.all.busts[WR_BUST_HOST], 4);
    assert_int_equal(report.all.bust_tokens[WR_BUST_HOST], 3600);
    assert_int_equal(report.all.quality.recalls, 8);
    assert_int_equal(report.agents.count, 2);
    assert_true(wr_span_is(report.agents.items[0].name, "codex"));
    assert_int_equal(report.agents.items[0].tally.requests_count, 3);
    assert_int_equal(report.models.count, 2);
    assert_int_equal(report.models.items[0].tally.requests_count, 3);
    assert_int_equal(report.hours_count, 3); /* in time, though one came late */
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(report.hours[i].start_ms, 3600000 * ((int64_t)i + 1));
    assert_int_equal(report.hours[1].requests_count, 2);
    expect_json(&report);
    wr_report_release(&report);
    wr_models_free(models);
}

static void many_names_share_the_last_place(void **state)
{
    struct wr_models *models;
    struct wr_report report;
    char agent[32];
    (void)state;
    assert_int_equal(wr_models_new(&models, NULL, NULL), WEIR_OK);
    assert_int_equal(wr_report_init(&report, models, 0), WEIR_OK);
    for (int i = 0; i < WR_REPORT_NAMES_MAX + 10; i++) {
        (void)snprintf(agent, sizeof(agent), "agent-%d", i);
        struct wr_ledger_row one = row(1000 + i, agent, "gpt-5");
        assert_int_equal(wr_report_add(&report, &one), WEIR_OK);
    }
    assert_int_equal(report.agents.count, WR_REPORT_NAMES_MAX);
    assert_int_equal(report.agents.items[WR_REPORT_NAMES_MAX - 1].tally.requests_count, 11);
    assert_true(wr_span_is(report.agents.items[WR_REPORT_NAMES_MAX - 1].name, "other"));
    wr_report_release(&report);
    wr_models_free(models);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_those_of_the_calendar),
        cmocka_unit_test(rows_are_counted_once_in_every_list),
        cmocka_unit_test(many_names_share_the_last_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
