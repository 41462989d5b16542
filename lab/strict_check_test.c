#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "lab/strict_check.h"

#define CALL(id)                                                                   \
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"" id "\"," \
    "\"type\":\"function\",\"function\":{\"name\":\"Bash\",\"arguments\":\"{}\"}}]}"
#define RESULT(id, text) "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"" text "\"}"
#define BODY(messages)                                                                      \
    "{\"model\":\"gpt-5.1\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}," messages \
    "],\"seed\":1}"

static const char before[] =
    BODY(CALL("a") "," RESULT("a", "one") "," CALL("b") "," RESULT("b", "two"));

static const struct {
    const char *behaviour, *after;
    bool has_same_root, has_same_calls, has_same_seed;
} rows[] = {
    {"the same body is the same", before, true, true, true},
    {"a result may have another text",
     BODY(CALL("a") "," RESULT("a", "short") "," CALL("b") "," RESULT("b", "two")), true, true,
     true},
    {"a call may leave with its result", BODY(CALL("b") "," RESULT("b", "two")), true, true, true},
    {"a call that lost its result is seen", BODY(CALL("a") "," CALL("b") "," RESULT("b", "two")),
     true, false, true},
    {"a result that lost its call is seen",
     BODY(RESULT("a", "one") "," CALL("b") "," RESULT("b", "two")), true, false, true},
    {"an id that changed is seen",
     BODY(CALL("c") "," RESULT("c", "one") "," CALL("b") "," RESULT("b", "two")), true, false,
     true},
    {"an order that changed is seen",
     BODY(CALL("b") "," RESULT("b", "two") "," CALL("a") "," RESULT("a", "one")), true, false,
     true},
    {"another model is seen", "{\"model\":\"gpt-4\",\"messages\":[],\"seed\":1}", false, true,
     true},
    {"a field that changed is seen", "{\"model\":\"gpt-5.1\",\"messages\":[],\"seed\":2}", false,
     true, false},
    {"a field that is gone is seen", "{\"model\":\"gpt-5.1\",\"messages\":[]}", false, true, false},
    {"a field that was added is seen",
     "{\"model\":\"gpt-5.1\",\"messages\":[],\"seed\":1,\"user\":\"x\"}", false, true, true},
};

static void read_body(struct wr_strict_body *body, struct wr_arena *arena, const char *text)
{
    assert_int_equal(wr_strict_body_read(body, arena, wr_span_of(text), "chat", NULL), WEIR_OK);
}

static void test_structure(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_strict_body in, out;
        struct wr_arena arena;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        read_body(&in, &arena, before);
        read_body(&out, &arena, rows[i].after);
        if (wr_strict_same_root(&in, &out) != rows[i].has_same_root)
            fail_msg("%s: fields beside the messages", rows[i].behaviour);
        if (wr_strict_same_calls(&in, &out) != rows[i].has_same_calls)
            fail_msg("%s: calls", rows[i].behaviour);
        if (wr_strict_same_value(&in, &out, &arena, WR_LIT("/seed")) != rows[i].has_same_seed)
            fail_msg("%s: /seed", rows[i].behaviour);
        wr_arena_release(&arena);
    }
}

static void test_handles(void **state)
{
    struct wr_strict_handles handles;
    struct wr_arena arena;

    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_strict_handles(&handles, &arena,
                                       WR_LIT("wr_00000000000000000001 and "
                                              "wr_00000000000000000002\n"
                                              "wr_00000000000000000001 xwr_00000000000000000003")),
                     WEIR_OK);
    assert_int_equal(handles.count, 2);
    wr_arena_release(&arena);
}

static const struct {
    const char *behaviour, *form;
    bool is_recallable;
    uint64_t count, kept;
} signal_rows[] = {
    {"a form with the error keeps it", "a.c:3:1: error: no such gate", false, 1, 1},
    {"a form without it has lost it", "all is well", false, 1, 0},
    {"a form that promises a way back has it there", "[cleared]", true, 1, 1},
};

static void test_signals(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(signal_rows); i++) {
        struct wr_strict_signals signals = {0};
        struct wr_strict_body in, out;
        struct wr_arena arena;
        struct wr_buf text;

        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        wr_buf_init(&text, 4096);
        wr_buf_printf(&text,
                      "{\"messages\":[" CALL("a") ",{\"role\":\"tool\",\"tool_call_id\":\"a\","
                                                  "\"content\":\"%s\"}]}",
                      signal_rows[i].form);
        wr_buf_byte(&text, '\0');
        read_body(&in, &arena,
                  "{\"messages\":[" CALL("a") "," RESULT("a", "cc a.c\\na.c:3:1: error: no such "
                                                              "gate\\n") "]}");
        read_body(&out, &arena, text.bytes);
        assert_int_equal(wr_strict_count_signals(&signals, &arena, &in, &out,
                                                 wr_strict_result_of(&in, WR_LIT("a")),
                                                 signal_rows[i].is_recallable),
                         WEIR_OK);
        if (signals.count != signal_rows[i].count || signals.kept != signal_rows[i].kept)
            fail_msg("%s: %d of %d", signal_rows[i].behaviour, (int)signals.kept,
                     (int)signals.count);
        wr_buf_release(&text);
        wr_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_structure),
        cmocka_unit_test(test_handles),
        cmocka_unit_test(test_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
