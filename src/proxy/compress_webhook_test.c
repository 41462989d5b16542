/* What a webhook is answered; a real request is played by tests/upstream/call_cases.py. */
#include "proxy/compress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

#define LET_THROUGH "{\"verdict\":true}"

static void each_row_holds(void **state)
{
    static const struct {
        const char *behaviour, *body;
        weir_status status;
    } rows[] = {
        {"a request without results",
         "{\"request\":{\"json\":{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":"
         "\"x\"}]}},\"eventType\":\"beforeRequestHook\"}",
         WEIR_OK},
        {"another event", "{\"request\":{\"json\":{}},\"eventType\":\"afterRequestHook\"}",
         WEIR_OK},
        {"an event that is none", "{\"request\":{\"json\":{}},\"eventType\":7}", WEIR_OK},
        {"a body that no API has", "{\"request\":{\"json\":{\"input\":[1]}}}", WEIR_OK},
        {"a body that is none", "{\"request\":{\"json\":null}}", WEIR_OK},
        {"no body", "{\"request\":{}}", WEIR_OK},
        {"no request", "{}", WEIR_INVALID},
        {"a request that is none", "{\"request\":[]}", WEIR_INVALID},
        {"no object", "[]", WEIR_INVALID},
        {"no JSON", "{\"request\":", WEIR_SYNTAX},
        {"nothing", "", WEIR_SYNTAX},
    };
    struct wr_compress how = {
        .policy = "auto", .tenant = WR_LIT("local"), .session = {"", 0}, .now_ms = 1};
    (void)state;
    assert_int_equal(weir_engine_new(&how.engine, NULL), WEIR_OK);
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct weir_err err = {0};
        struct wr_buf answer;
        wr_buf_init(&answer, WR_CALL_PAGE_ANSWER_BYTES_MAX);
        weir_status status = wr_webhook_answer(&how, wr_span_of(rows[i].body), &answer, &err);
        bool is_said = status ? err.text[0] != '\0' : wr_span_is(wr_buf_view(&answer), LET_THROUGH);
        if (status != rows[i].status || !is_said)
            fail_msg("%s: %d %.*s", rows[i].behaviour, status, (int)answer.len, answer.bytes);
        wr_buf_release(&answer);
    }
    weir_engine_free(how.engine);
}

/* With a way back that the request itself offers. */
static void a_request_that_was_changed_is_sent_back(void **state)
{
    struct wr_compress how = {
        .policy = "auto", .tenant = WR_LIT("local"), .session = {"", 0}, .now_ms = 1};
    struct wr_buf body, answer;
    (void)state;
    assert_int_equal(weir_engine_new(&how.engine, NULL), WEIR_OK);
    assert_int_equal(weir_store_new_memory(0, &how.store), WEIR_OK);
    wr_buf_init(&body, WR_CALL_PAGE_BODY_BYTES_MAX);
    wr_buf_text(&body,
                "{\"request\":{\"json\":{\"model\":\"gpt-4o\",\"tools\":[{\"type\":\"function\","
                "\"function\":{\"name\":\"weir_recall\",\"parameters\":{\"type\":\"object\"}}}],"
                "\"messages\":[{\"role\":\"user\",\"content\":\"go\"},{\"role\":\"assistant\","
                "\"content\":null,\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\",\"function\":"
                "{\"name\":\"bash\",\"arguments\":\"{\\\"command\\\":\\\"cat "
                "log\\\"}\"}}]},{\"role\":\"tool\",\"tool_call_id\":"
                "\"c\",\"content\":\"");
    for (int i = 0; i < 900; i++)
        wr_buf_printf(&body, "%05d src/mod_%d.py: item %d is fine\\n", i, i % 7, i * 7919 % 1000);
    wr_buf_text(&body, "\"}]}},\"eventType\":\"beforeRequestHook\"}");
    for (int is_bypassed = 0; is_bypassed < 2; is_bypassed++) {
        how.is_bypassed = is_bypassed;
        wr_buf_init(&answer, WR_CALL_PAGE_ANSWER_BYTES_MAX);
        assert_int_equal(wr_webhook_answer(&how, wr_buf_view(&body), &answer, NULL), WEIR_OK);
        wr_buf_byte(&answer, '\0');
        bool is_sent = strstr(answer.bytes, "{\"verdict\":true,\"transformedData\":{\"request\":{"
                                            "\"json\":{\"model\":\"gpt-4o\",") == answer.bytes;
        assert_int_equal(is_sent, !is_bypassed);
        assert_null(strstr(answer.bytes, "00450 src/"));
        assert_int_equal(strstr(answer.bytes, "weir_recall {") != NULL, is_sent);
        wr_buf_release(&answer);
    }
    wr_buf_release(&body);
    weir_store_close(how.store);
    weir_engine_free(how.engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_row_holds),
                                       cmocka_unit_test(a_request_that_was_changed_is_sent_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
