#include "lab/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "lab/import.h"

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
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
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

/* A session of five requests whose host compacted before the fourth: the first two messages are
 * kept, instructions come in the middle, and two user messages stand in a row. */
static const char rollout[] =
    "{\"type\":\"session_meta\",\"payload\":{\"instructions\":\"be brief\"}}\n"
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":"
    "[{\"type\":\"input_text\",\"text\":\"go\"}]}}\n"
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"custom_tool_call\",\"name\":\"apply_"
    "patch\","
    "\"input\":\"*** Begin\",\"call_id\":\"c1\"}}\n"
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"custom_tool_call_output\",\"call_id\":"
    "\"c1\","
    "\"output\":\"ok\"}}\n"
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"developer\","
    "\"content\":"
    "[{\"type\":\"input_text\",\"text\":\"be nice\"}]}}\n"
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"assistant\","
    "\"content\":"
    "[{\"type\":\"output_text\",\"text\":\"one\"}]}}\n"
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":"
    "[{\"type\":\"input_text\",\"text\":\"a\"}]}}\n"
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":"
    "[{\"type\":\"input_text\",\"text\":\"b\"}]}}\n"
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"assistant\","
    "\"content\":"
    "[{\"type\":\"output_text\",\"text\":\"two\"}]}}\n"
    "{\"type\":\"compacted\",\"payload\":{\"message\":\"so far\"}}\n"
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":"
    "[{\"type\":\"input_text\",\"text\":\"on\"}]}}\n"
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"assistant\","
    "\"content\":"
    "[{\"type\":\"output_text\",\"text\":\"three\"}]}}\n"
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":"
    "[{\"type\":\"input_text\",\"text\":\"last\"}]}}\n"
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"assistant\","
    "\"content\":"
    "[{\"type\":\"output_text\",\"text\":\"four\"}]}}\n";

static void import_rollout(struct wr_import *import, struct wr_arena *arena)
{
    wr_arena_init(arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_import_read(import, arena, wr_span_of(rollout), NULL), WEIR_OK);
    assert_int_equal(import->sessions[0].requests_count, 5);
    assert_int_equal(import->sessions[0].compactions_count, 1);
}

/* Whichever request is asked for after whichever, the body is that of wr_session_write(). */
static void a_body_that_grows_is_the_body_written_at_once(void **state)
{
    static const uint32_t order[] = {0, 1, 2, 3, 4, 4, 2, 3, 0, 4, 1, 3};
    struct wr_arena arena;
    struct wr_import import;
    (void)state;

    import_rollout(&import, &arena);
    const struct wr_session *s = &import.sessions[0];
    for (int d = WEIR_DIALECT_CHAT; d <= WEIR_DIALECT_CONVERSE; d++) {
        struct wr_session_request request = {(weir_dialect)d, 0, "m", WR_SESSION_TOOLS};
        struct wr_session_body body;
        wr_session_body_init(&body, s, &request);
        for (size_t i = 0; i < WR_COUNT_OF(order); i++) {
            struct wr_buf whole;
            wr_buf_init(&whole, 1 << 16);
            request.messages_count = s->requests[order[i]];
            wr_session_write(s, &request, &whole);
            weir_span grown = wr_session_body_at(&body, order[i]);
            if (!wr_span_eq(grown, wr_buf_view(&whole)))
                fail_msg("request %u as %s\n%.*s\n%.*s", order[i],
                         weir_dialect_name((weir_dialect)d), (int)grown.len, grown.ptr,
                         (int)whole.len, whole.bytes);
            wr_buf_release(&whole);
        }
        assert_int_equal(wr_session_body_status(&body), WEIR_OK);
        wr_session_body_release(&body);
    }
    wr_arena_release(&arena);
}

static void a_view_says_what_a_request_shares_with_the_one_before(void **state)
{
    static const struct {
        uint32_t count, shared;
        bool is_compacted;
    } expected[] = {{2, 0, false}, {5, 2, false}, {8, 5, false}, {7, 2, true}, {9, 7, false}};
    struct wr_arena arena;
    struct wr_import import;
    (void)state;

    import_rollout(&import, &arena);
    for (uint32_t n = 0; n < 5; n++) {
        struct wr_session_view view = wr_session_view(&import.sessions[0], n);
        assert_int_equal(wr_session_view_count(&view), expected[n].count);
        assert_int_equal(view.shared_count, expected[n].shared);
        assert_int_equal(view.is_compacted, expected[n].is_compacted);
    }
    import.sessions[0].compactions_count = 0;
    struct wr_session_view whole = wr_session_view(&import.sessions[0], 4);
    assert_int_equal(wr_session_view_count(&whole), 12);
    wr_arena_release(&arena);
}

static const struct {
    const char *behaviour;
    weir_dialect dialect;
    uint32_t request;
    enum wr_session_tools tools;
    const char *expected;
} bodies[] = {
    {"messages: instructions that come later stay where they came", WEIR_DIALECT_MESSAGES, 1,
     WR_SESSION_TOOLS_WITHOUT_RECALL,
     "{\"model\":\"m\",\"tools\":[{\"name\":\"apply_patch\",\"input_schema\":{\"type\":\"object\"}}"
     "],"
     "\"system\":[{\"type\":\"text\",\"text\":\"be "
     "brief\"}],\"messages\":[{\"role\":\"user\",\"content\":"
     "[{\"type\":\"text\",\"text\":\"go\"}]},{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_"
     "use\","
     "\"id\":\"c1\",\"name\":\"apply_patch\",\"input\":{\"input\":\"*** "
     "Begin\"}}]},{\"role\":\"user\","
     "\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"content\":\"ok\"}]},{"
     "\"role\":"
     "\"system\",\"content\":[{\"type\":\"text\",\"text\":\"be nice\"}]}]}"},
    {"the tools are those that were called, and recall", WEIR_DIALECT_RESPONSES, 0,
     WR_SESSION_TOOLS,
     "{\"model\":\"m\",\"tools\":[{\"type\":\"function\",\"name\":\"apply_patch\",\"parameters\":{"
     "\"type\":"
     "\"object\"}},{\"type\":\"function\",\"name\":\"weir_recall\",\"parameters\":{\"type\":"
     "\"object\"}}],"
     "\"input\":[{\"type\":\"message\",\"role\":\"system\",\"content\":[{\"type\":\"input_text\","
     "\"text\":"
     "\"be "
     "brief\"}]},{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\","
     "\"text\":"
     "\"go\"}]}]}"},
    {"after a compaction a request has what was kept, and what came since", WEIR_DIALECT_CHAT, 3,
     WR_SESSION_NO_TOOLS,
     "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"be "
     "brief\"},{\"role\":\"user\","
     "\"content\":\"go\"},{\"role\":\"system\",\"content\":\"be "
     "nice\"},{\"role\":\"user\",\"content\":"
     "\"a\"},{\"role\":\"user\",\"content\":\"b\"},{\"role\":\"user\",\"content\":\"so "
     "far\"},{\"role\":"
     "\"user\",\"content\":\"on\"}]}"},
};

static void bodies_are_as_they_should(void **state)
{
    struct wr_arena arena;
    struct wr_import import;
    (void)state;

    import_rollout(&import, &arena);
    for (size_t i = 0; i < WR_COUNT_OF(bodies); i++) {
        struct wr_session_request request = {bodies[i].dialect, 0, "m", bodies[i].tools};
        struct wr_session_body body;
        wr_session_body_init(&body, &import.sessions[0], &request);
        weir_span got = wr_session_body_at(&body, bodies[i].request);
        if (!wr_span_is(got, bodies[i].expected))
            fail_msg("%s\n%.*s", bodies[i].behaviour, (int)got.len, got.ptr);
        wr_session_body_release(&body);
    }
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_written_in_each_dialect),
        cmocka_unit_test(a_line_that_is_no_message_is_named_by_its_byte),
        cmocka_unit_test(a_body_that_grows_is_the_body_written_at_once),
        cmocka_unit_test(a_view_says_what_a_request_shares_with_the_one_before),
        cmocka_unit_test(bodies_are_as_they_should),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
