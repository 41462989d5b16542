/* Sessions of calls in all three dialects, pruned, and read again from the bytes that would leave.
 */
#include "policy/stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"
#include "tests/test_run.h"

enum { BODY_BYTES_MAX = 1 << 20, WINDOW_TOKENS = 2000 };

#define POLICY(params) "policies: {p: {stages: [{stage: prune_arguments, at_bp: 1" params "}]}}"

/* In the arguments, @ is a text of a thousand bytes and more, with quotes and line breaks in it. */
struct call {
    const char *tool, *arguments;
    bool is_after_thinking;
};

static void write_long(struct wr_buf *out)
{
    for (int i = 0; i < 40; i++)
        wr_buf_printf(out, "line %d says \\\"%c\\\"\\n", i, 'a' + i % 26);
}

static void write_arguments(struct wr_buf *out, const char *arguments)
{
    for (; *arguments; arguments++) {
        if (*arguments == '@')
            write_long(out);
        else
            wr_buf_byte(out, *arguments == '\'' ? '"' : *arguments);
    }
}

static void write_quoted(struct wr_buf *out, const char *arguments)
{
    struct wr_buf json;
    wr_buf_init(&json, BODY_BYTES_MAX);
    write_arguments(&json, arguments);
    wr_buf_byte(out, '"');
    wr_json_escape(out, wr_buf_view(&json));
    wr_buf_byte(out, '"');
    wr_buf_release(&json);
}

static void write_chat(struct wr_buf *out, const struct call *call, int id)
{
    wr_buf_printf(out,
                  ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c%d\","
                  "\"type\":\"function\",\"function\":{\"name\":\"%s\",\"arguments\":",
                  id, call->tool);
    write_quoted(out, call->arguments);
    wr_buf_printf(out, "}}]},{\"role\":\"tool\",\"tool_call_id\":\"c%d\",\"content\":\"ok\"}", id);
}

static void write_responses(struct wr_buf *out, const struct call *call, int id)
{
    wr_buf_printf(out,
                  ",{\"type\":\"function_call\",\"call_id\":\"c%d\",\"name\":\"%s\","
                  "\"arguments\":",
                  id, call->tool);
    write_quoted(out, call->arguments);
    wr_buf_printf(
        out, "},{\"type\":\"function_call_output\",\"call_id\":\"c%d\",\"output\":\"ok\"}", id);
}

static void write_messages(struct wr_buf *out, const struct call *call, int id)
{
    wr_buf_text(out, ",{\"role\":\"assistant\",\"content\":[");
    if (call->is_after_thinking)
        wr_buf_text(out, "{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"s\"},");
    wr_buf_printf(out, "{\"type\":\"tool_use\",\"id\":\"c%d\",\"name\":\"%s\",\"input\":", id,
                  call->tool);
    write_arguments(out, call->arguments);
    wr_buf_printf(out,
                  "}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
                  "\"tool_use_id\":\"c%d\",\"content\":\"ok\"}]}",
                  id);
}

struct session {
    const char *tools; /* NULL: weir_recall is there */
    struct call calls[4];
};

static void write_session(struct wr_buf *out, weir_dialect dialect, const struct session *s)
{
    static const char *const heads[] = {
        [WEIR_DIALECT_CHAT] = "\"function\":{\"name\":\"weir_recall\"},\"type\":\"function\"",
        [WEIR_DIALECT_RESPONSES] = "\"name\":\"weir_recall\",\"type\":\"function\"",
        [WEIR_DIALECT_MESSAGES] = "\"name\":\"weir_recall\",\"input_schema\":{}"};
    wr_buf_printf(out, "{\"model\":\"m\",%s\"tools\":[{%s}],\"%s\":[",
                  dialect == WEIR_DIALECT_MESSAGES ? "\"system\":\"s\",\"max_tokens\":9," : "",
                  s->tools ? s->tools : heads[dialect],
                  dialect == WEIR_DIALECT_RESPONSES ? "input" : "messages");
    wr_buf_text(out, "{\"role\":\"user\",\"content\":\"begin\"}");
    for (int i = 0; i < 4 && s->calls[i].tool; i++) {
        if (dialect == WEIR_DIALECT_CHAT)
            write_chat(out, &s->calls[i], i);
        else if (dialect == WEIR_DIALECT_RESPONSES)
            write_responses(out, &s->calls[i], i);
        else
            write_messages(out, &s->calls[i], i);
    }
    wr_buf_text(out, "]}");
}

/* "c0{'file_path':'a','content':#} c1..." with # for a pruned string: the arguments of every call
 * as they leave. */
static void list_calls(weir_span body, struct wr_buf *out)
{
    struct test_transcript test;
    test_transcript_open(&test, body);
    for (uint32_t i = 0; i < test.transcript.segments_count; i++) {
        const struct wr_segment *s = &test.transcript.segments[i];
        struct wr_json doc;
        if (s->kind != WEIR_KIND_TOOL_CALL)
            continue;
        weir_span text = wr_segment_text(&test.transcript, s, &test.arena);
        assert_int_equal(wr_json_parse(&doc, &test.arena, text, NULL, NULL), WEIR_OK);
        wr_buf_append(out, s->call_id);
        size_t at = 0;
        for (wr_json_id n = 0; n < doc.nodes_count; n++) {
            if (doc.nodes[n].kind != WR_JSON_STRING || doc.nodes[n].is_key)
                continue;
            weir_span said = wr_json_text(&doc, &test.arena, n);
            bool is_long = said.len > 200, is_pruned = wr_marker_find(said, NULL);
            if (!is_long && !is_pruned)
                continue;
            wr_buf_append(out, wr_span_cut(text, at, doc.nodes[n].start));
            wr_buf_byte(out, is_pruned ? '#' : '@');
            if (is_pruned && !wr_span_starts(said, WR_LIT("[weir")))
                wr_buf_byte(out, '!');
            at = doc.nodes[n].end;
        }
        wr_buf_append(out, wr_span_cut(text, at, text.len));
        wr_buf_byte(out, ' ');
    }
    test_transcript_close(&test);
}

#define NEW(params) \
    "policies: {p: {stages: [{stage: prune_arguments, at_bp: 10000, older_turns: 9" params "}]}}"

#define FILLER                              \
    {                                       \
        "Bash", "{'command':'make'}", false \
    }

static const struct {
    const char *behaviour, *yaml;
    struct session session;
    const char *expected; /* ' for " */
    bool only_messages;
} cases[] = {
    {"long strings of a write leave, the rest stays",
     POLICY(", older_turns: 1"),
     {NULL,
      {{"Write", "{'n':1.50,'file_path':'a.c','content':'@', 'k':[true,null]}", false}, FILLER}},
     "c0{'n':1.50,'file_path':'a.c','content':#, 'k':[true,null]} c1{'command':'make'} ",
     false},
    {"every long string of an edit does, at any depth",
     POLICY(", older_turns: 1"),
     {NULL,
      {{"MultiEdit",
        "{'file_path':'a.c','edits':[{'old_string':'@','new_string':'x'},{'old_string':'y',"
        "'new_string':'@'}]}",
        false},
       FILLER}},
     "c0{'file_path':'a.c','edits':[{'old_string':#,'new_string':'x'},{'old_string':'y',"
     "'new_string':#}]} c1{'command':'make'} ",
     false},
    {"calls of the newest turns stay",
     POLICY(", older_turns: 2"),
     {NULL, {{"Write", "{'file_path':'a.c','content':'@'}", false}, FILLER}},
     "c0{'file_path':'a.c','content':@} c1{'command':'make'} ",
     false},
    {"shorter strings stay",
     POLICY(", older_turns: 1, min_tokens: 400"),
     {NULL, {{"Write", "{'file_path':'a.c','content':'@'}", false}, FILLER}},
     "c0{'file_path':'a.c','content':@} c1{'command':'make'} ",
     false},
    {"one of 168 tokens leaves where that is the least",
     POLICY(", older_turns: 1, min_tokens: 168"),
     {NULL, {{"Write", "{'file_path':'a.c','content':'@'}", false}, FILLER}},
     "c0{'file_path':'a.c','content':#} c1{'command':'make'} ",
     false},
    {"and stays where it is a token short of it",
     POLICY(", older_turns: 1, min_tokens: 169"),
     {NULL, {{"Write", "{'file_path':'a.c','content':'@'}", false}, FILLER}},
     "c0{'file_path':'a.c','content':@} c1{'command':'make'} ",
     false},
    {"a tool may have its own measure",
     POLICY(", older_turns: 1, min_tokens: 400, tools: {Write: {min_tokens: 64}}"),
     {NULL, {{"Write", "{'file_path':'a.c','content':'@'}", false}, FILLER}},
     "c0{'file_path':'a.c','content':#} c1{'command':'make'} ",
     false},
    {"a tool may be left alone",
     POLICY(", older_turns: 1, tools: {Write: exact}"),
     {NULL, {{"Write", "{'file_path':'a.c','content':'@'}", false}, FILLER}},
     "c0{'file_path':'a.c','content':@} c1{'command':'make'} ",
     false},
    {"calls that write nothing stay",
     POLICY(", older_turns: 1"),
     {NULL,
      {{"Grep", "{'pattern':'@'}", false},
       {"Bash", "{'command':'cat > a <<E\\n@E'}", false},
       FILLER}},
     "c0{'pattern':@} c1{'command':@} c2{'command':'make'} ",
     false},
    {"without a way back nothing leaves",
     POLICY(", older_turns: 1"),
     {"\"name\":\"other\"", {{"Write", "{'file_path':'a.c','content':'@'}", false}, FILLER}},
     "c0{'file_path':'a.c','content':@} c1{'command':'make'} ",
     false},
    {"nothing leaves beside signed thinking",
     POLICY(", older_turns: 1"),
     {NULL, {{"Write", "{'file_path':'a.c','content':'@'}", true}, FILLER}},
     "c0{'file_path':'a.c','content':@} c1{'command':'make'} ",
     true},
    {"a new call of 180 tokens and more leaves as it is first sent again",
     NEW(", new_over: 170"),
     {NULL, {FILLER, {"Write", "{'file_path':'a.c','content':'@'}", false}}},
     "c0{'command':'make'} c1{'file_path':'a.c','content':#} ",
     false},
    {"and has left for good by the time that others come",
     NEW(", new_over: 170"),
     {NULL, {{"Write", "{'file_path':'a.c','content':'@'}", false}, FILLER, FILLER}},
     "c0{'file_path':'a.c','content':#} c1{'command':'make'} c2{'command':'make'} ",
     false},
    {"a shorter one stays",
     NEW(", new_over: 400"),
     {NULL, {FILLER, {"Write", "{'file_path':'a.c','content':'@'}", false}}},
     "c0{'command':'make'} c1{'file_path':'a.c','content':@} ",
     false},
    {"a new call beside signed thinking stays",
     NEW(", new_over: 170"),
     {NULL, {{"Write", "{'file_path':'a.c','content':'@'}", true}, FILLER}},
     "c0{'file_path':'a.c','content':@} c1{'command':'make'} ",
     true},
    {"where no name is left the note says which file it was",
     POLICY(", older_turns: 1"),
     {NULL,
      {{"apply_patch", "{'input':'*** Begin Patch\\n*** Add File: a.c\\n+@\\n*** End Patch'}",
        false},
       FILLER}},
     "c0{'input':#!} c1{'command':'make'} ",
     false},
};

static void long_strings_of_old_writes_leave(void **state)
{
    static const weir_dialect dialects[] = {WEIR_DIALECT_CHAT, WEIR_DIALECT_RESPONSES,
                                            WEIR_DIALECT_MESSAGES};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        for (size_t d = cases[i].only_messages ? 2 : 0; d < 3; d++) {
            struct wr_buf body, listing, expected;
            struct test_run r;
            wr_buf_init(&body, BODY_BYTES_MAX);
            wr_buf_init(&listing, BODY_BYTES_MAX);
            wr_buf_init(&expected, BODY_BYTES_MAX);
            write_session(&body, dialects[d], &cases[i].session);
            for (const char *c = cases[i].expected; *c; c++)
                wr_buf_byte(&expected, *c == '\'' ? '"' : *c);
            test_run_open(&r, wr_buf_view(&body), cases[i].yaml, WINDOW_TOKENS);
            list_calls(r.run.settled.body, &listing);
            if (!wr_span_eq(wr_buf_view(&listing), wr_buf_view(&expected)))
                fail_msg("%s, %s: got %.*s", cases[i].behaviour, weir_dialect_name(dialects[d]),
                         (int)listing.len, listing.bytes);
            test_run_close(&r);
            wr_buf_release(&expected);
            wr_buf_release(&listing);
            wr_buf_release(&body);
        }
}

/* What was output is new input: to leave it out changes nothing that was sent. */
static void a_new_call_is_pruned_without_a_step(void **state)
{
    struct session session = {
        NULL, {FILLER, {"Write", "{'file_path':'a.c','content':'@'}", false}, FILLER}};
    struct wr_buf body;
    struct test_run r;
    (void)state;
    wr_buf_init(&body, BODY_BYTES_MAX);
    write_session(&body, WEIR_DIALECT_CHAT, &session);
    test_run_open(&r, wr_buf_view(&body), NEW(", new_over: 170"), WINDOW_TOKENS);
    assert_int_equal(r.run.artifacts_count, 1);
    assert_int_equal(r.run.fold.steps_count, 0);
    test_run_close(&r);
    wr_buf_release(&body);
}

static void each_string_is_an_original_of_its_own(void **state)
{
    struct session session = {
        NULL, {{"Edit", "{'file_path':'a.c','old_string':'@','new_string':'+@'}", false}, FILLER}};
    struct wr_buf body, text;
    struct test_run r;
    (void)state;

    wr_buf_init(&body, BODY_BYTES_MAX);
    wr_buf_init(&text, BODY_BYTES_MAX);
    write_session(&body, WEIR_DIALECT_CHAT, &session);
    test_run_open(&r, wr_buf_view(&body), POLICY(", older_turns: 1"), WINDOW_TOKENS);
    assert_int_equal(r.run.artifacts_count, 2);
    wr_buf_text(&text, "+");
    for (int i = 0; i < 40; i++)
        wr_buf_printf(&text, "line %d says \"%c\"\n", i, 'a' + i % 26);
    assert_true(wr_span_eq(r.run.artifacts[1].text, wr_buf_view(&text)));
    assert_true(wr_span_eq(r.run.artifacts[0].text, wr_span_cut(wr_buf_view(&text), 1, text.len)));
    for (uint32_t i = 0; i < 2; i++)
        assert_true(wr_span_find(r.run.settled.body, wr_span_of(r.run.artifacts[i].handle.text),
                                 0) != SIZE_MAX);
    assert_non_null(wr_fold_step_now(&r.run.fold));
    test_run_close(&r);
    wr_buf_release(&text);
    wr_buf_release(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(long_strings_of_old_writes_leave),
                                       cmocka_unit_test(a_new_call_is_pruned_without_a_step),
                                       cmocka_unit_test(each_string_is_an_original_of_its_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
