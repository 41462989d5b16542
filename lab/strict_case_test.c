#include "lab/strict_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

static const struct {
    const char *behaviour, *text, *expected; /* NULL: it is read */
} files[] = {
    {"a whole case is read",
     "{'scenarios':[{'id':'a','route':'chat','mode':'shadow','context_window_tokens':16384,"
     "'turns':[{'request':{'messages':[]},'required_text':['x'],'expected_outcome':'rewrite'},"
     "{'append':[],'store':'corrupt','pause_ms':5}],'restart_before_turns':[1]}]}",
     NULL},
    {"what is no JSON is refused", "{", ""},
    {"another file is refused", "{'cases':[]}", "`scenarios` is missing or empty"},
    {"a file without cases is refused", "{'scenarios':[]}", "`scenarios` is missing or empty"},
    {"a case has a name", "{'scenarios':[{'turns':[]}]}", "a case has an `id`"},
    {"a case has turns", "{'scenarios':[{'id':'a'}]}", "a list of `turns`"},
    {"a case is an object", "{'scenarios':[3]}", "a case is no object"},
    {"a turn has a request", "{'scenarios':[{'id':'a','turns':[{}]}]}",
     "either `request` or `append`"},
    {"a turn has not both", "{'scenarios':[{'id':'a','turns':[{'request':{},'append':[]}]}]}",
     "either `request` or `append`"},
    {"the first turn is whole", "{'scenarios':[{'id':'a','turns':[{'append':[]}]}]}",
     "the first turn"},
    {"a request is an object", "{'scenarios':[{'id':'a','turns':[{'request':'x'}]}]}",
     "`request` is no object"},
    {"an outcome is one of three",
     "{'scenarios':[{'id':'a','turns':[{'request':{},'expected_outcome':'fine'}]}]}",
     "`expected_outcome` has an unknown value"},
    {"a mode is one of three", "{'scenarios':[{'id':'a','mode':'off','turns':[{'request':{}}]}]}",
     "`mode` has an unknown value"},
    {"trouble is of a known kind",
     "{'scenarios':[{'id':'a','turns':[{'request':{},'store':'burnt'}]}]}",
     "`store` has an unknown value"},
    {"texts are a list", "{'scenarios':[{'id':'a','turns':[{'request':{},'required_text':'x'}]}]}",
     "`required_text` is no list"},
    {"texts are texts", "{'scenarios':[{'id':'a','turns':[{'request':{},'kept_text':[1]}]}]}",
     "`kept_text` holds something that is no text"},
    {"an empty text requires nothing and is refused",
     "{'scenarios':[{'id':'a','turns':[{'request':{},'required_text':['']}]}]}",
     "`required_text` holds something that is no text"},
    {"a window is a number",
     "{'scenarios':[{'id':'a','context_window_tokens':-1,'turns':[{'request':{}}]}]}",
     "`context_window_tokens` is no whole number"},
    {"a restart is before a turn that is there",
     "{'scenarios':[{'id':'a','turns':[{'request':{}}],'restart_before_turns':[1]}]}",
     "names a turn that is not there"},
};

static void in_json_quotes(struct wr_buf *out, const char *text)
{
    wr_buf_init(out, 1 << 16);
    for (; *text; text++)
        wr_buf_byte(out, *text == '\'' ? '"' : *text);
}

static void test_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(files); i++) {
        struct wr_arena arena;
        struct wr_cases cases;
        struct weir_err err = {0};
        struct wr_buf text;

        in_json_quotes(&text, files[i].text);
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        weir_status status = wr_cases_read(&cases, &arena, wr_buf_view(&text), &err);
        if (!files[i].expected != !status)
            fail_msg("%s: %s", files[i].behaviour, err.text);
        if (status == WEIR_INVALID &&
            wr_span_find(wr_span_of(err.text), wr_span_of(files[i].expected), 0) == SIZE_MAX)
            fail_msg("%s: '%s', not '%s'", files[i].behaviour, err.text, files[i].expected);
        wr_arena_release(&arena);
        wr_buf_release(&text);
    }
}

static void test_fields(void **state)
{
    struct wr_arena arena;
    struct wr_cases cases;
    struct wr_buf text;

    (void)state;
    in_json_quotes(&text, files[0].text);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_cases_read(&cases, &arena, wr_buf_view(&text), NULL), WEIR_OK);
    assert_int_equal(cases.count, 1);
    const struct wr_case *c = &cases.items[0];
    assert_string_equal(c->dialect, "chat");
    assert_int_equal(c->mode, WR_CASE_SHADOW);
    assert_int_equal(c->window_tokens, 16384);
    assert_int_equal(c->turns_count, 2);
    assert_int_equal(c->turns[0].outcome, WR_CASE_REWRITE);
    assert_int_equal(c->turns[0].required.count, 1);
    assert_int_equal(c->turns[1].trouble, WR_CASE_CORRUPT);
    assert_int_equal(c->turns[1].pause_ms, 5);
    assert_false(c->turns[0].restarts);
    assert_true(c->turns[1].restarts);
    wr_arena_release(&arena);
    wr_buf_release(&text);
}

static const struct {
    const char *behaviour, *pointer, *expected; /* NULL: nothing is there */
} pointers[] = {
    {"the empty pointer is the whole", "", "{\"a\":[1,{\"b/c\":2}],\"~\":3}"},
    {"a member by its name", "/a", "[1,{\"b/c\":2}]"},
    {"an element by its number", "/a/0", "1"},
    {"a slash in a name is ~1", "/a/1/b~1c", "2"},
    {"a tilde in a name is ~0", "/~0", "3"},
    {"past the end there is nothing", "/a/2", NULL},
    {"below a number there is nothing", "/a/0/x", NULL},
    {"a word is no number of an element", "/a/x", NULL},
    {"without a slash it is no pointer", "a", NULL},
};

static void test_pointers(void **state)
{
    struct wr_arena arena;
    struct wr_json doc;

    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(
        wr_json_parse(&doc, &arena, WR_LIT("{\"a\":[1,{\"b/c\":2}],\"~\":3}"), NULL, NULL),
        WEIR_OK);
    for (size_t i = 0; i < WR_COUNT_OF(pointers); i++) {
        wr_json_id id = wr_json_pointer(&doc, &arena, wr_span_of(pointers[i].pointer));
        bool is_right =
            pointers[i].expected
                ? id != WR_JSON_NONE && wr_span_is(wr_json_raw(&doc, id), pointers[i].expected)
                : id == WR_JSON_NONE;
        if (!is_right)
            fail_msg("%s", pointers[i].behaviour);
    }
    wr_arena_release(&arena);
}

/* ---- strict check ---- */

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
        cmocka_unit_test(test_files),    cmocka_unit_test(test_fields),
        cmocka_unit_test(test_pointers), cmocka_unit_test(test_structure),
        cmocka_unit_test(test_handles),  cmocka_unit_test(test_signals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
