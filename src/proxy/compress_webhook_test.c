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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_row_holds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
