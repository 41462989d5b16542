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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_status_is_counted_by_its_class),
                                       cmocka_unit_test(every_api_is_counted),
                                       cmocka_unit_test(shadow_and_sent_are_counted_apart),
                                       cmocka_unit_test(a_bucket_holds_all_that_was_quicker)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
