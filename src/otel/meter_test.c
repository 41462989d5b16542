#include "otel/meter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

static size_t count_of(weir_span text, const char *word)
{
    size_t count = 0;
    for (size_t at = 0; (at = wr_span_find(text, wr_span_of(word), at)) != SIZE_MAX; at++)
        count++;
    return count;
}

static void write_all(const struct wr_otel_meter *meter, struct wr_buf *out)
{
    struct wr_json_writer w;

    wr_buf_reset(out);
    wr_json_write_init(&w, out);
    wr_json_write_array(&w);
    wr_otel_meter_write(meter, 2000, &w);
    wr_json_write_array_end(&w);
    assert_int_equal(wr_buf_status(out), WEIR_OK);
}

static void take_one(struct wr_otel_meter *meter, const char *model, uint64_t input)
{
    struct wr_cost cost = {.micro_usd = 500000, .known = true};
    struct wr_record r;

    wr_record_init(&r);
    r.end = WR_LIT("done");
    r.status = 200;
    r.provider = WR_LIT("openai");
    (void)snprintf(r.model, sizeof(r.model), "%s", model);
    r.is_usage_known = true;
    r.usage.input_tokens = (int64_t)input;
    r.total_us = 30000;
    wr_otel_meter_take(meter, &r, &cost);
}

static void sums_grow_and_buckets_count(void **state)
{
    struct wr_otel_meter *meter = wr_otel_meter_new(1000);
    struct wr_buf out;

    (void)state;
    assert_non_null(meter);
    wr_buf_init(&out, 1 << 24);
    assert_true(wr_otel_meter_is_empty(meter));
    take_one(meter, "a", 4); /* the bound itself belongs to its bucket */
    take_one(meter, "a", 5);
    take_one(meter, "b", 100000000);
    write_all(meter, &out);
    weir_span text = wr_buf_view(&out);
    assert_int_equal(
        count_of(text, "\"count\":\"2\",\"sum\":9,\"bucketCounts\":[\"0\",\"1\",\"1\","), 1);
    assert_int_equal(count_of(text, "\"0\",\"1\"],\"explicitBounds\":[1,4,16"), 1);
    assert_int_equal(count_of(text, "\"count\":\"2\",\"sum\":0.060000"), 1);
    assert_int_equal(count_of(text, "\"asDouble\":1.000000"), 1);
    assert_int_equal(count_of(text, "\"startTimeUnixNano\":\"1000000000\",\"timeUnixNano\":"
                                    "\"2000000000\""),
                     2 + 2 + 8 * 2);
    assert_int_equal(count_of(text, "\"name\":\"weir.cost\""), 1);
    assert_int_equal(count_of(text, "\"gen_ai.token.type\""), 2);
    wr_buf_release(&out);
    wr_otel_meter_free(meter);
}

static void hostile_names_make_one_series(void **state)
{
    struct wr_otel_meter *meter = wr_otel_meter_new(0);
    struct wr_buf out;
    char model[32];

    (void)state;
    wr_buf_init(&out, 1 << 24);
    for (int i = 0; i < WR_OTEL_SERIES_MAX + 500; i++) {
        (void)snprintf(model, sizeof(model), "made-up-%d", i);
        take_one(meter, model, 1);
    }
    write_all(meter, &out);
    weir_span text = wr_buf_view(&out);
    assert_int_equal(count_of(text, "\"gen_ai.token.type\""), WR_OTEL_SERIES_MAX);
    assert_int_equal(count_of(text, "\"made-up-255\""), 0);
    assert_int_equal(count_of(text, "\"count\":\"501\",\"sum\":501,"), 1);
    wr_buf_release(&out);
    wr_otel_meter_free(meter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_grow_and_buckets_count),
                                       cmocka_unit_test(hostile_names_make_one_series)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
