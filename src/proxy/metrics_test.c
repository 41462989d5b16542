#include "proxy/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

/* The number behind `name` at the beginning of a line; -1: there is no such line. */
static long long value_of(const struct wr_metrics *metrics, const char *name)
{
    struct wr_buf out;
    char wanted[160];
    long long value = -1;

    wr_buf_init(&out, 1 << 20);
    wr_metrics_write(metrics, &out);
    (void)snprintf(wanted, sizeof(wanted), "\n%s ", name);
    size_t at = wr_span_find(wr_buf_view(&out), wr_span_of(wanted), 0);
    wr_buf_byte(&out, '\0');
    if (at != SIZE_MAX)
        value = strtoll(out.bytes + at + strlen(wanted), NULL, 10);
    wr_buf_release(&out);
    return value;
}

static void a_status_is_counted_by_its_class(void **state)
{
    static const struct {
        int status;
        const char *class_;
    } rows[] = {{0, "none"},  {99, "none"}, {100, "1xx"}, {200, "2xx"},
                {302, "3xx"}, {404, "4xx"}, {599, "5xx"}, {600, "none"}};
    char name[80];
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_metrics *metrics = wr_metrics_new();
        struct wr_record record = {
            .api = &wr_api_chat, .status = (uint64_t)rows[i].status, .end = WR_LIT("done")};
        assert_non_null(metrics);
        wr_metrics_count(metrics, &record);
        (void)snprintf(name, sizeof(name), "weir_requests_total{api=\"chat\",status=\"%s\"}",
                       rows[i].class_);
        if (value_of(metrics, name) != 1)
            fail_msg("%d is not in %s", rows[i].status, rows[i].class_);
    }
}

static void every_api_is_counted(void **state)
{
    struct wr_metrics *metrics = wr_metrics_new();
    char name[80];

    (void)state;
    assert_non_null(metrics);
    for (size_t i = 0; i < WR_APIS_COUNT; i++) {
        struct wr_record record = {.api = wr_apis[i], .status = 200, .end = WR_LIT("done")};
        wr_metrics_count(metrics, &record);
        (void)snprintf(name, sizeof(name), "weir_requests_total{api=\"%s\",status=\"2xx\"}",
                       wr_apis[i]->name);
        if (value_of(metrics, name) != 1)
            fail_msg("%s is not counted", wr_apis[i]->name);
    }
}

/* What was only tried in shadow is never among what was done. */
static void shadow_and_sent_are_counted_apart(void **state)
{
    static const struct {
        enum wr_deed deed;
        long long shadow_changed, shadow_after, changed, after, steps;
    } rows[] = {{WR_DEED_SHADOWED, 1, 40, 0, 0, 0}, {WR_DEED_PROJECTED, 0, 0, 1, 40, 1}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_metrics *metrics = wr_metrics_new();
        struct wr_record record = {.api = &wr_api_messages,
                                   .status = 200,
                                   .end = WR_LIT("done"),
                                   .is_collected = true,
                                   .deed = rows[i].deed,
                                   .tokens_before = 100,
                                   .tokens_after = 40,
                                   .is_changed = true,
                                   .is_step = true};
        wr_metrics_count(metrics, &record);
        assert_int_equal(value_of(metrics, "weir_requests_read_total"), 1);
        assert_int_equal(value_of(metrics, "weir_shadow_changed_total"), rows[i].shadow_changed);
        assert_int_equal(value_of(metrics, "weir_shadow_tokens_after_total"), rows[i].shadow_after);
        assert_int_equal(value_of(metrics, "weir_requests_changed_total"), rows[i].changed);
        assert_int_equal(value_of(metrics, "weir_tokens_after_total"), rows[i].after);
        assert_int_equal(value_of(metrics, "weir_steps_total"), rows[i].steps);
    }
}

static void a_bucket_holds_all_that_was_quicker(void **state)
{
    struct wr_metrics *metrics = wr_metrics_new();
    static const uint64_t total_us[] = {1, 2000000, 4000000000};
    long long last = 0, sum_of_counts;
    struct wr_buf out;
    size_t buckets = 0, at = 0;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct wr_record record = {
            .api = &wr_api_chat, .end = WR_LIT("done"), .total_us = total_us[i]};
        wr_metrics_count(metrics, &record);
    }
    wr_buf_init(&out, 1 << 20);
    wr_metrics_write(metrics, &out);
    wr_buf_byte(&out, '\0');
    weir_span text = wr_buf_view(&out), name = WR_LIT("weir_total_seconds_bucket{le=\"");
    while ((at = wr_span_find(text, name, at)) != SIZE_MAX) {
        const char *number = strstr(out.bytes + at, "\"} ");
        assert_non_null(number);
        sum_of_counts = strtoll(number + 3, NULL, 10);
        assert_true(sum_of_counts >= last);
        last = sum_of_counts;
        buckets++;
        at += name.len;
    }
    assert_int_equal(buckets, WR_METRICS_BUCKETS + 1);
    assert_int_equal(last, 3); /* +Inf has all of them */
    assert_int_equal(value_of(metrics, "weir_total_seconds_count"), 3);
    wr_buf_release(&out);
}

/* A record with another number in each member: each is told under its own name. */
static void each_figure_of_a_record_has_a_name(void **state)
{
    static const struct {
        const char *name;
        long long value;
    } figures[] = {
        {"weir_request_bytes_total", 101},
        {"weir_sent_bytes_total", 102},
        {"weir_answer_bytes_total", 103},
        {"weir_own_recalls_total", 104},
        {"weir_own_recall_misses_total", 105},
        {"weir_failed_edits_total", 106},
        {"weir_blind_edits_total", 107},
        {"weir_own_legs_total", 1},
        {"weir_retries_total", 108},
        {"weir_clients_gone_total", 0},
        {"weir_upstream_moves_total", 1},
        {"weir_upstream_failures_total", 1},
        {"weir_deadline_hard_total", 1},
        {"weir_requests_read_total", 1},
        {"weir_requests_unread_total", 0},
        {"weir_tokens_before_total", 109},
        {"weir_tokens_after_total", 110},
        {"weir_requests_changed_total", 1},
        {"weir_requests_held_back_total", 1},
        {"weir_steps_total", 1},
        {"weir_shadow_changed_total", 0},
        {"weir_cache_judged_total", 1},
        {"weir_cache_expected_tokens_total", 111},
        {"weir_cache_busts_total{cause=\"model\"}", 1},
        {"weir_cache_busts_total{cause=\"host\"}", 0},
        {"weir_cache_bust_tokens_total{cause=\"model\"}", 112},
        {"weir_cache_bust_tokens_total{cause=\"host\"}", 0},
        {"weir_usage_input_tokens_total", 113},
        {"weir_usage_output_tokens_total", 114},
        {"weir_usage_cache_read_tokens_total", 115},
        {"weir_usage_cache_write_tokens_total", 116},
        {"weir_usage_unknown_total", 0},
        {"weir_added_seconds_count", 1},
        {"weir_added_seconds_bucket{le=\"0.000100\"}", 0},
        {"weir_added_seconds_bucket{le=\"0.000250\"}", 1},
        {"weir_first_byte_seconds_count", 1},
        {"weir_first_byte_seconds_bucket{le=\"0.000250\"}", 0},
        {"weir_first_byte_seconds_bucket{le=\"0.000500\"}", 1},
        {"weir_total_seconds_bucket{le=\"60.000000\"}", 0},
        {"weir_total_seconds_bucket{le=\"+Inf\"}", 1},
        {"weir_total_seconds_sum", 61},
        {"weir_exchanges", 0},
        {"weir_store_ok", 0},
        {"weir_mcp_requests_total", 0},
        {"weir_mcp_calls_total{tool=\"weir_context\",result=\"missed\"}", 0},
    };
    struct wr_record record = {.api = &wr_api_chat,
                               .status = 200,
                               .asks_model = true,
                               .end = WR_LIT("upstream_broke_off"),
                               .received_bytes = 101,
                               .sent_bytes = 102,
                               .answer_bytes = 103,
                               .own_recalls = 104,
                               .own_misses = 105,
                               .quality = {.failed_edits = 106, .blind_edits = 107},
                               .leg = 2,
                               .retries_count = 108,
                               .left_place = WR_LIT("1"),
                               .is_collected = true,
                               .not_read = WR_LIT(WR_DEADLINE_HARD),
                               .deed = WR_DEED_PROJECTED,
                               .tokens_before = 109,
                               .tokens_after = 110,
                               .is_changed = true,
                               .held_back = WR_LIT("x"),
                               .is_step = true,
                               .cache_expected_tokens = 111,
                               .is_bust = true,
                               .bust = WR_BUST_MODEL,
                               .cache_lost_tokens = 112,
                               .added_us = 101,
                               .first_byte_us = 251,
                               .total_us = 61000000};
    struct wr_metrics *metrics = wr_metrics_new();
    (void)state;
    wr_seen_usage_init(&record.usage);
    record.usage.input_tokens = 113;
    record.usage.output_tokens = 114;
    record.usage.cache_read_tokens = 115;
    record.usage.cache_write_tokens = 116;
    wr_metrics_count(metrics, &record);
    for (size_t i = 0; i < WR_COUNT_OF(figures); i++)
        if (value_of(metrics, figures[i].name) != figures[i].value)
            fail_msg("%s %lld", figures[i].name, value_of(metrics, figures[i].name));
}

/* What did not happen is not counted. */
static void what_did_not_happen_is_no_figure(void **state)
{
    static const char *const figures[] = {
        "weir_own_legs_total",
        "weir_clients_gone_total",
        "weir_upstream_moves_total",
        "weir_upstream_failures_total",
        "weir_deadline_hard_total",
        "weir_requests_read_total",
        "weir_requests_changed_total",
        "weir_requests_held_back_total",
        "weir_steps_total",
        "weir_cache_judged_total",
        "weir_cache_busts_total{cause=\"host\"}",
        "weir_usage_unknown_total",
        "weir_added_seconds_count",
        "weir_first_byte_seconds_count",
        "weir_usage_input_tokens_total",
    };
    struct wr_record record = {
        .api = &wr_api_chat, .status = 404, .asks_model = true, .end = WR_LIT("done")};
    struct wr_metrics *metrics = wr_metrics_new();
    (void)state;
    wr_seen_usage_init(&record.usage);
    record.usage.input_tokens = 7; /* of a refusal */
    wr_metrics_count(metrics, &record);
    for (size_t i = 0; i < WR_COUNT_OF(figures); i++)
        if (value_of(metrics, figures[i]) != 0)
            fail_msg("%s", figures[i]);
    record.status = 200;
    record.usage.input_tokens = -1;
    record.end = WR_LIT("client_gone");
    wr_metrics_count(metrics, &record);
    assert_int_equal(value_of(metrics, "weir_usage_unknown_total"), 1);
    assert_int_equal(value_of(metrics, "weir_clients_gone_total"), 1);
    record.asks_model = false;
    record.is_collected = true;
    wr_metrics_count(metrics, &record); /* nobody would have told of its usage */
    assert_int_equal(value_of(metrics, "weir_usage_unknown_total"), 1);
    assert_int_equal(value_of(metrics, "weir_requests_unread_total"), 1);
}

static void a_call_of_a_tool_is_counted_by_its_result(void **state)
{
    struct wr_metrics *metrics = wr_metrics_new();
    struct wr_mcp_answer missed = {.tool = "weir_recall", .miss = WR_MCP_MISS_NONE + 1};
    struct wr_mcp_answer other = {.tool = "another"}, none = {.tool = NULL};
    long long all = 0;
    char name[128];
    (void)state;
    wr_metrics_count_mcp(metrics, &missed);
    wr_metrics_count_mcp(metrics, &other);
    wr_metrics_count_mcp(metrics, &none);
    assert_int_equal(value_of(metrics, "weir_mcp_requests_total"), 3);
    (void)snprintf(name, sizeof(name), "weir_mcp_calls_total{tool=\"weir_recall\",result=\"%s\"}",
                   wr_mcp_result_name(&missed));
    assert_int_equal(value_of(metrics, name), 1);
    for (int i = WR_MCP_MISS_NONE + 1; i < WR_MCP_MISSES_COUNT; i++) {
        (void)snprintf(name, sizeof(name), "weir_mcp_misses_total{reason=\"%s\"}",
                       wr_mcp_miss_name((enum wr_mcp_miss)i));
        assert_int_equal(value_of(metrics, name), i == WR_MCP_MISS_NONE + 1);
        all += value_of(metrics, name);
    }
    assert_int_equal(all, 1);
}

/* Prometheus wants each name told of before its first sample, once. */
static void every_name_is_told_of(void **state)
{
    struct wr_metrics *metrics = wr_metrics_new();
    struct wr_record record = {.api = &wr_api_chat, .status = 200, .end = WR_LIT("done")};
    struct wr_buf out;
    size_t heads = 0;
    char told[128] = "none";
    (void)state;
    wr_metrics_count(metrics, &record);
    atomic_store(&metrics->store_place, 1);
    atomic_store(&metrics->exchanges[1], 5);
    assert_int_equal(value_of(metrics, "weir_store_ok"), 1);
    assert_int_equal(value_of(metrics, "weir_exchanges"), 5);
    atomic_store(&metrics->store_trouble, WEIR_TROUBLE_FULL);
    assert_int_equal(value_of(metrics, "weir_store_ok"), 0);
    wr_buf_init(&out, 1 << 20);
    wr_metrics_write(metrics, &out);
    weir_span rest = wr_buf_view(&out);
    while (rest.len) {
        size_t bytes = wr_span_find(rest, WR_LIT("\n"), 0);
        weir_span line = wr_span_cut(rest, 0, bytes);
        rest = wr_span_from(rest, bytes + 1);
        if (wr_span_starts(line, WR_LIT("# TYPE "))) {
            size_t end = wr_span_find(line, WR_LIT(" "), strlen("# TYPE "));
            (void)snprintf(told, sizeof(told), "%.*s", (int)(end - strlen("# TYPE ")),
                           line.ptr + strlen("# TYPE "));
            heads++;
        } else if (!wr_span_starts(line, WR_LIT("# HELP ")) &&
                   !wr_span_starts(line, wr_span_of(told))) {
            fail_msg("%.*s is not told of", (int)line.len, line.ptr);
        }
    }
    assert_true(heads > 50);
    wr_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_figure_of_a_record_has_a_name),
                                       cmocka_unit_test(what_did_not_happen_is_no_figure),
                                       cmocka_unit_test(a_call_of_a_tool_is_counted_by_its_result),
                                       cmocka_unit_test(every_name_is_told_of),
                                       cmocka_unit_test(a_status_is_counted_by_its_class),
                                       cmocka_unit_test(every_api_is_counted),
                                       cmocka_unit_test(shadow_and_sent_are_counted_apart),
                                       cmocka_unit_test(a_bucket_holds_all_that_was_quicker)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
