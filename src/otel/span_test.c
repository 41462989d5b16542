#include "otel/span.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

static void a_parent_is_read_or_is_none(void **state)
{
    static const struct {
        const char *header;
        bool is_one, is_unsampled;
    } rows[] = {
        {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", true, false},
        {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", true, true},
        {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03", true, false},
        {"01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", true, false},
        {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", false, false},
        {"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false, false},
        {"00-00000000000000000000000000000000-b7ad6b7169203331-01", false, false},
        {"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", false, false},
        {"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", false, false},
        {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0x", false, false},
        {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", false, false},
        {"", false, false},
    };

    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_record_trace trace;
        assert_int_equal(wr_otel_parent_read(wr_span_of(rows[i].header), &trace), rows[i].is_one);
        assert_string_equal(trace.trace_id,
                            rows[i].is_one ? "0af7651916cd43dd8448eb211c80319c" : "");
        assert_string_equal(trace.parent_id, rows[i].is_one ? "b7ad6b7169203331" : "");
        assert_int_equal(trace.is_unsampled, rows[i].is_unsampled);
    }
}

static struct wr_record make_record(void)
{
    struct wr_record r;

    wr_record_init(&r);
    r.time_ms = 1700000000123;
    r.total_us = 1500;
    r.status = 200;
    r.end = WR_LIT("done");
    r.asks_model = true;
    r.provider = WR_LIT("openai");
    (void)snprintf(r.model, sizeof(r.model), "gpt-4o");
    (void)snprintf(r.trace.trace_id, sizeof(r.trace.trace_id), "0af7651916cd43dd8448eb211c80319c");
    return r;
}

/* Whether the span has this text in it. */
static bool says(const struct wr_record *r, const char *text)
{
    struct wr_cost cost = {.micro_usd = 1234567, .known = true};
    struct wr_buf out;

    wr_buf_init(&out, 1 << 16);
    wr_otel_span_write(r, "b7ad6b7169203331", &cost, &out);
    assert_int_equal(wr_buf_status(&out), WEIR_OK);
    bool found = wr_span_find(wr_buf_view(&out), wr_span_of(text), 0) != SIZE_MAX;
    wr_buf_release(&out);
    return found;
}

static void a_span_says_what_is_known_and_no_more(void **state)
{
    struct wr_record r = make_record();

    (void)state;
    assert_true(says(&r, "\"name\":\"chat gpt-4o\",\"kind\":3,\"startTimeUnixNano\":"
                         "\"1700000000123000000\",\"endTimeUnixNano\":\"1700000000124500000\""));
    assert_true(says(&r, "\"status\":{}"));
    assert_false(says(&r, "parentSpanId"));
    assert_false(says(&r, "gen_ai.usage"));
    assert_false(says(&r, "weir.cost"));
    r.is_usage_known = true;
    r.usage.input_tokens = 100;
    r.usage.cache_read_tokens = 60;
    assert_true(
        says(&r, "{\"key\":\"gen_ai.usage.input_tokens\",\"value\":{\"intValue\":\"100\"}}"));
    assert_true(says(&r, "{\"key\":\"weir.cost.usd\",\"value\":{\"doubleValue\":1.234567}}"));
    assert_false(says(&r, "output_tokens"));
    r.api = &wr_api_messages; /* which counts what was cached apart */
    assert_true(says(&r, "\"gen_ai.usage.input_tokens\",\"value\":{\"intValue\":\"160\"}"));
    r.api = &wr_api_gemini;
    assert_true(says(&r, "\"name\":\"generate_content gpt-4o\""));
    r.answer_finish = WR_LIT("stop");
    assert_true(says(&r, "{\"arrayValue\":{\"values\":[{\"stringValue\":\"stop\"}]}}"));
}

static void a_failure_is_one_of_few_words(void **state)
{
    static const struct {
        uint64_t status;
        const char *end, *answer_error, *error;
    } rows[] = {{200, "done", "", ""},
                {200, "done", "overloaded_error", "overloaded_error"},
                {429, "done", "", "429"},
                {418, "done", "", "_OTHER"},
                {0, "upstream_timeout", "", "upstream_timeout"},
                {200, "client_gone", "", "client_gone"}};

    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_record r = make_record();
        r.status = rows[i].status;
        r.end = wr_span_of(rows[i].end);
        r.answer_error = wr_span_of(rows[i].answer_error);
        assert_true(wr_span_is(wr_otel_error(&r), rows[i].error));
        assert_int_equal(says(&r, "\"status\":{\"code\":2}"), *rows[i].error != '\0');
    }
}

/* A receiver refuses a batch with a text that is none. */
static void what_is_no_text_is_left_out(void **state)
{
    struct wr_record r = make_record();

    (void)state;
    (void)snprintf(r.model, sizeof(r.model), "half \xed\xa0\x80");
    r.session = WR_LIT("\xff\xfe");
    assert_true(says(&r, "\"name\":\"chat\""));
    assert_false(says(&r, "gen_ai.request.model"));
    assert_false(says(&r, "gen_ai.conversation.id"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_parent_is_read_or_is_none),
                                       cmocka_unit_test(a_span_says_what_is_known_and_no_more),
                                       cmocka_unit_test(a_failure_is_one_of_few_words),
                                       cmocka_unit_test(what_is_no_text_is_left_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
