#include "replay/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

static const char lines[] = "{\"role\":\"system\",\"content\":\"be brief\"}\n"
                            "{\"role\":\"user\",\"content\":\"hi \\u00e9\"}\n"
                            "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":"
                            "\"c1\",\"type\":\"function\",\"function\":"
                            "{\"name\":\"Read\",\"arguments\":\"{\\\"path\\\":\\\"a\\\"}\"}}]}\n"
                            "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"text\"}\n"
                            "\n"
                            "{\"role\":\"assistant\",\"content\":\"done\"}\n";

static const struct {
    const char *behaviour;
    weir_dialect dialect;
    uint32_t messages_count;
    const char *expected;
} cases[] = {
    {"a chat request has the messages as they stand", WEIR_DIALECT_CHAT, 2,
     "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"be brief\"},"
     "{\"role\":\"user\",\"content\":\"hi \\u00e9\"}]}"},
    {"responses: calls and results are items", WEIR_DIALECT_RESPONSES, 4,
     "{\"model\":\"m\",\"input\":[{\"type\":\"message\",\"role\":\"system\",\"content\":[{\"type\":"
     "\"input_text\","
     "\"text\":\"be "
     "brief\"}]},{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\","
     "\"text\":"
     "\"hi "
     "\\u00e9\"}]},{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"Read\",\"arguments\":"
     "\"{\\\"path\\\":"
     "\\\"a\\\"}\"},{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":\"text\"}]}"},
    {"messages: instructions apart, arguments an object, results the user's", WEIR_DIALECT_MESSAGES,
     4,
     "{\"model\":\"m\",\"system\":[{\"type\":\"text\",\"text\":\"be "
     "brief\"}],\"messages\":[{\"role\":\"user\","
     "\"content\":[{\"type\":\"text\",\"text\":\"hi "
     "\\u00e9\"}]},{\"role\":\"assistant\",\"content\":[{\"type\":"
     "\"tool_use\",\"id\":\"c1\",\"name\":\"Read\",\"input\":{\"path\":\"a\"}}]},{\"role\":"
     "\"user\",\"content\":"
     "[{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"content\":\"text\"}]}]}"},
};

static void requests_are_written_in_each_dialect(void **state)
{
    struct wr_arena arena;
    struct wr_session session;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_session_read(&session, &arena, wr_span_of(lines), NULL), WEIR_OK);
    assert_int_equal(session.messages_count, 5);
    assert_int_equal(session.requests_count, 2);
    assert_int_equal(session.requests[1], 4);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wr_session_request request = {cases[i].dialect, cases[i].messages_count, "m", false};
        struct wr_buf out;
        wr_buf_init(&out, 1 << 16);
        wr_session_write(&session, &request, &out);
        if (!wr_span_is(wr_buf_view(&out), cases[i].expected))
            fail_msg("%s\n%.*s", cases[i].behaviour, (int)out.len, out.bytes);
        wr_buf_release(&out);
    }
    wr_arena_release(&arena);
}

static void a_line_that_is_no_message_is_named_by_its_byte(void **state)
{
    struct wr_arena arena;
    struct wr_session session;
    struct weir_err err = {0};
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_session_read(&session, &arena, WR_LIT("{\"role\":\"user\"}\n[1]\n"), &err),
                     WEIR_INVALID);
    assert_int_equal(err.at_byte, 16);
    assert_int_equal(
        wr_session_read(&session, &arena, WR_LIT("{\"role\":\"user\"}\n{\"a\"}\n"), &err),
        WEIR_SYNTAX);
    assert_int_equal(err.at_byte, 20);
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_written_in_each_dialect),
        cmocka_unit_test(a_line_that_is_no_message_is_named_by_its_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
