#include "policy/stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"
#include "tests/test_file.h"
#include "tests/test_run.h"

/* ---- cap ---- */

static void assert_capped(const char *behaviour, weir_span text, uint64_t tokens_max,
                          enum wr_cap_keep keep, weir_span expected)
{
    struct wr_buf out;
    bool is_cut;
    wr_buf_init(&out, 1 << 20);
    wr_cap_text(&out, text, tokens_max, keep, &is_cut);
    if (!wr_span_eq(wr_buf_view(&out), expected))
        fail_msg("%s: got %.*s", behaviour, (int)out.len, out.bytes);
    wr_buf_release(&out);
}

static const struct {
    const char *behaviour, *text;
    uint64_t tokens_max;
    enum wr_cap_keep keep;
    const char *expected;
} cases[] = {
    {"a text that fits stays", "abcdefgh", 2, WR_CAP_HEAD, "abcdefgh"},
    {"a few bytes over a whole token still fit", "abcdefghijk", 2, WR_CAP_HEAD, "abcdefghijk"},
    {"the head stays, the indicator behind it", "abcdefghijkl", 2, WR_CAP_HEAD,
     "abcdefgh\n\n[truncated: kept first ~2 of ~3 tokens (head)]"},
    {"the tail stays, the indicator before it", "abcdefghijkl", 2, WR_CAP_TAIL,
     "[truncated: kept last ~2 of ~3 tokens (tail)]\n\nefghijkl"},
    {"half of each stays, the indicator between", "abcdefghijkl", 2, WR_CAP_BOTH,
     "abcd\n\n[truncated: kept first+last ~2 of ~3 tokens (both)]\n\nijkl"},
    {"no character is cut in two at the head", "aaaaaaaéaaaa", 2, WR_CAP_HEAD,
     "aaaaaaa\n\n[truncated: kept first ~2 of ~3 tokens (head)]"},
    {"no character is cut in two at the tail", "aaaaéaaaaaaa", 2, WR_CAP_TAIL,
     "[truncated: kept last ~2 of ~3 tokens (tail)]\n\naaaaaaa"},
};

static void texts_are_cut_as_the_document_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        assert_capped(cases[i].behaviour, wr_span_of(cases[i].text), cases[i].tokens_max,
                      cases[i].keep, wr_span_of(cases[i].expected));
}

static enum wr_cap_keep keep_of(const struct wr_json *doc, wr_json_id word)
{
    if (wr_json_text_is(doc, word, "tail"))
        return WR_CAP_TAIL;
    return wr_json_text_is(doc, word, "both") ? WR_CAP_BOTH : WR_CAP_HEAD;
}

static void golden_cases_pass(void **state)
{
    static const char *const names[] = {"text", "max_tokens", "strategy", "expected"};
    struct wr_buf file;
    struct wr_arena arena;
    struct wr_json doc;
    size_t checked = 0;
    (void)state;

    wr_buf_init(&file, 1 << 20);
    if (!wr_test_file("../shared/fixtures/duragent.json", &file)) {
        wr_buf_release(&file);
        skip();
    }
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_json_parse(&doc, &arena, wr_buf_view(&file), NULL, NULL), WEIR_OK);
    wr_json_id list = wr_json_find(&doc, 0, "truncate");
    for (wr_json_id c = wr_json_first(&doc, list); c != WR_JSON_NONE;
         c = wr_json_next(&doc, list, c)) {
        wr_json_id values[4];
        int64_t tokens_max;
        assert_true(wr_json_pick(&doc, c, names, 4, values));
        assert_true(wr_json_i64(&doc, values[1], &tokens_max));
        assert_capped("golden", wr_json_text(&doc, &arena, values[0]), (uint64_t)tokens_max,
                      keep_of(&doc, values[2]), wr_json_text(&doc, &arena, values[3]));
        checked++;
    }
    assert_true(checked > 10);
    wr_arena_release(&arena);
    wr_buf_release(&file);
}

/* ---- condense ---- */

/* What is too long for a condenser: it keeps its head and tail. */

#define LINE "row %07u says that the waters are level\\n"

static const char policy[] = "policies: {p: {stages: [{stage: lossless}, {stage: condense}]}}";

/* One result of `lines` lines, the first and the last of which say so. */
static void condense_write_body(struct wr_buf *out, uint32_t lines, const char *line)
{
    wr_buf_text(out, "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"weir_recall\"}}],"
                     "\"messages\":[{\"role\":\"user\",\"content\":\"go\"},"
                     "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c\","
                     "\"type\":\"function\",\"function\":{\"name\":\"Bash\",\"arguments\":"
                     "\"{\\\"command\\\":\\\"./step\\\"}\"}}]},"
                     "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"the first line\\n");
    for (uint32_t i = 0; i < lines; i++) {
        if (line)
            wr_buf_text(out, line);
        else
            wr_buf_printf(out, LINE, i);
    }
    wr_buf_text(out, "the last line\\n\"}]}");
}

static const struct {
    const char *behaviour;
    uint32_t lines;
    const char *line; /* NULL: each is another */
    enum wr_form form;
} condense_cases[] = {
    {"a long result is condensed", 20000, NULL, WR_FORM_CONDENSED},
    {"one of more than WR_CONDENSE_BYTES_MAX keeps its head and tail", 60000, NULL, WR_FORM_CAPPED},
    {"so does one of more than WR_CONDENSE_LINES_MAX lines", 70000, "ab\\n", WR_FORM_CAPPED},
    {"and one of no more lines is condensed", 60000, "ab\\n", WR_FORM_CONDENSED},
};

static void what_is_too_long_for_a_condenser_keeps_its_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(condense_cases); i++) {
        struct test_run run;
        struct wr_buf body;
        wr_buf_init(&body, WR_OUTPUT_BYTES_MAX);
        condense_write_body(&body, condense_cases[i].lines, condense_cases[i].line);
        test_run_open(&run, wr_buf_view(&body), policy, 0);
        uint32_t result = test_transcript_find(&run.test, WEIR_KIND_TOOL_RESULT, 0);
        const struct wr_fold_segment *now = &run.run.fold.segments[result];
        weir_span last = WR_LIT("the last line");

        if (now->form != condense_cases[i].form ||
            !wr_span_starts(now->text, WR_LIT("the first line")))
            fail_msg("%s: it is %s", condense_cases[i].behaviour, wr_form_name(now->form));
        if (now->form == WR_FORM_CAPPED && wr_span_find(now->text, last, 0) == SIZE_MAX)
            fail_msg("%s: it has no tail", condense_cases[i].behaviour);
        assert_true(wr_span_find(now->text, WR_LIT("\n[weir wr_"), 0) != SIZE_MAX);
        if (now->form == WR_FORM_CONDENSED) /* no empty line before it */
            assert_true(wr_span_find(now->text, WR_LIT("\n\n[weir wr_"), 0) == SIZE_MAX);
        assert_int_equal(run.run.artifacts_count, 1);
        test_run_close(&run);
        wr_buf_release(&body);
    }
}

static void a_text_is_too_long_by_bytes_or_lines(void **state)
{
    static char text[WR_CONDENSE_BYTES_MAX + 1];
    (void)state;

    memset(text, 'x', sizeof(text));
    assert_false(wr_stage_is_too_long((weir_span){text, WR_CONDENSE_BYTES_MAX}));
    assert_true(wr_stage_is_too_long((weir_span){text, WR_CONDENSE_BYTES_MAX + 1}));
    memset(text, '\n', WR_CONDENSE_LINES_MAX);
    assert_false(wr_stage_is_too_long((weir_span){text, WR_CONDENSE_LINES_MAX}));
    assert_false(wr_stage_is_too_long((weir_span){text, WR_CONDENSE_LINES_MAX + 1}));
    text[WR_CONDENSE_LINES_MAX] = '\n';
    assert_true(wr_stage_is_too_long((weir_span){text, WR_CONDENSE_LINES_MAX + 1}));
    assert_false(wr_stage_is_too_long((weir_span){"", 0}));
}

/* Of 200 lines, about 2,000 tokens, the tool `Bash` printed. */
static const struct {
    const char *behaviour, *stage;
    enum wr_form form;
    bool is_short; /* at most a tenth is left */
} by_tool[] = {
    {"no rule", "{stage: condense, run_to: 1000}", WR_FORM_CONDENSED, false},
    {"a tool may be left alone", "{stage: condense, tools: {Bash: exact}}", WR_FORM_EXACT, false},
    {"another's rule is none", "{stage: condense, run_to: 1000, tools: {Read: exact}}",
     WR_FORM_CONDENSED, false},
    {"a tool has a size of its own", "{stage: condense, tools: {Bash: {run_over: 100000}}}",
     WR_FORM_EXACT, false},
    {"and a size to come down to", "{stage: condense, run_to: 1000, tools: {Bash: {run_to: 100}}}",
     WR_FORM_CONDENSED, true},
};

static void rules_for_tools_hold(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(by_tool); i++) {
        char yaml[256];
        struct test_run run;
        struct wr_buf body;
        wr_buf_init(&body, WR_OUTPUT_BYTES_MAX);
        condense_write_body(&body, 200, NULL);
        (void)snprintf(yaml, sizeof(yaml), "policies: {p: {stages: [%s]}}", by_tool[i].stage);
        test_run_open(&run, wr_buf_view(&body), yaml, 0);
        uint32_t result = test_transcript_find(&run.test, WEIR_KIND_TOOL_RESULT, 0);
        const struct wr_fold_segment *now = &run.run.fold.segments[result];
        bool is_short = now->text.ptr && now->text.len < body.len / 10;
        if (now->form != by_tool[i].form || is_short != by_tool[i].is_short)
            fail_msg("%s: it is %s, %zu of %zu bytes", by_tool[i].behaviour,
                     wr_form_name(now->form), now->text.len, body.len);
        test_run_close(&run);
        wr_buf_release(&body);
    }
}

/* ---- numbers ---- */

/* Numbers that leave what was read, and what other stages make of such a result. Tokens are four
 * bytes. */

#define P(stages) "policies: {p: {stages: [" stages "]}}"
#define TIDY      "{stage: numbers}"

enum { NUMBERS_LINES = 200, NUMBERS_BODY_BYTES_MAX = 1 << 20 };

/* All results are the same. */
struct call {
    const char *tool, *arguments;
};

#define READ                                          \
    {                                                 \
        "Read", "{\\\"file_path\\\":\\\"src/a.c\\\"}" \
    }

static void numbers_write_body(struct wr_buf *out, const struct call *calls, uint32_t count,
                               bool recall)
{
    wr_buf_printf(out,
                  "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"%s\"}}],"
                  "\"messages\":[{\"role\":\"user\",\"content\":\"go\"}",
                  recall ? "weir_recall" : "Read");
    for (uint32_t i = 0; i < count; i++) {
        wr_buf_printf(
            out,
            ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c%u\","
            "\"type\":\"function\",\"function\":{\"name\":\"%s\",\"arguments\":\"%s\"}}]},"
            "{\"role\":\"tool\",\"tool_call_id\":\"c%u\",\"content\":\"",
            i + 1, calls[i].tool, calls[i].arguments, i + 1);
        for (uint32_t n = 1; n <= NUMBERS_LINES; n++)
            wr_buf_printf(out, "%6u\xe2\x86\x92    total += weigh(item_%u);\\n", n, n);
        wr_buf_text(out, "\"}");
    }
    wr_buf_text(out, "]}");
}

static const struct {
    const char *behaviour, *yaml;
    struct call calls[3];
    uint32_t count;
    bool has_no_recall;
    uint64_t window_tokens;
    enum wr_form forms[3];
    const char *front; /* of the last result's text; NULL: it stays */
    const char *says;  /* and what stands in it */
} numbers_cases[] = {
    {"of ten numbers nine leave",
     P(TIDY),
     {READ},
     1,
     false,
     0,
     {WR_FORM_TIDIED},
     "     1\xe2\x86\x92    total += weigh(item_1);\n    total += weigh(item_2);\n",
     "~403 tokens of line numbers left out; weir_recall {"},
    {"who reads by a command has asked for numbers",
     P(TIDY),
     {{"Bash", "{\\\"command\\\":\\\"nl -ba src/a.c\\\"}"}},
     1,
     false,
     0,
     {0},
     NULL,
     ""},
    {"a tool may be left alone",
     P("{stage: numbers, tools: {Read: exact}}"),
     {READ},
     1,
     false,
     0,
     {0},
     NULL,
     ""},
    {"the same text later points at it, since all is there",
     P("{stage: reference}, " TIDY),
     {READ, READ},
     2,
     false,
     0,
     {WR_FORM_TIDIED, WR_FORM_REFERENCE},
     "[same output as the earlier call c1]",
     "weir_recall {"},
    {"without a recall tool the bytes are not there to point at",
     P("{stage: reference}, " TIDY),
     {READ, {"Read", "{\\\"file_path\\\":\\\"src/b.c\\\"}"}},
     2,
     true,
     0,
     {WR_FORM_TIDIED, WR_FORM_TIDIED},
     "     1\xe2\x86\x92",
     "; Read {\"path\":\"src/b.c\"} shows the file as it is now]"},
    {"without a recall tool a second read is the way back to them, and brings them",
     P(TIDY),
     {READ, READ},
     2,
     true,
     0,
     {WR_FORM_TIDIED, WR_FORM_EXACT},
     NULL,
     ""},
    {"who reads again did not come back for numbers",
     P(TIDY),
     {READ, READ},
     2,
     false,
     0,
     {WR_FORM_TIDIED, WR_FORM_TIDIED},
     "     1\xe2\x86\x92",
     "line numbers"},
    {"a condenser takes it like a whole one, and leaves numbers out itself",
     P(TIDY ", {stage: condense, read_over: 1000, read_to: 500}"),
     {READ},
     1,
     false,
     0,
     {WR_FORM_CONDENSED},
     "     1\xe2\x86\x92    total += weigh(item_1);\n    total += weigh(item_2);\n",
     " lines left out: "},
    {"so do steps",
     P(TIDY ", {stage: clear, at_bp: 1000, keep: 1}"),
     {READ, READ},
     2,
     false,
     6000,
     {WR_FORM_CLEARED, WR_FORM_TIDIED},
     "     1\xe2\x86\x92",
     "line numbers"},
};

static void what_says_all_stays_in_use(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(numbers_cases); i++) {
        struct test_run run;
        struct wr_buf body;
        uint32_t result = WR_SEGMENT_NONE;

        wr_buf_init(&body, NUMBERS_BODY_BYTES_MAX);
        numbers_write_body(&body, numbers_cases[i].calls, numbers_cases[i].count,
                           !numbers_cases[i].has_no_recall);
        test_run_open(&run, wr_buf_view(&body), numbers_cases[i].yaml,
                      numbers_cases[i].window_tokens);
        for (uint32_t n = 0; n < numbers_cases[i].count; n++) {
            result = test_transcript_find(&run.test, WEIR_KIND_TOOL_RESULT, n);
            enum wr_form form = run.run.fold.segments[result].form;
            if (form != numbers_cases[i].forms[n])
                fail_msg("%s: result %u is %s", numbers_cases[i].behaviour, n + 1,
                         wr_form_name(form));
        }
        weir_span text = run.run.fold.segments[result].text;
        if (numbers_cases[i].front && (!wr_span_starts(text, wr_span_of(numbers_cases[i].front)) ||
                                       !wr_span_has(text, wr_span_of(numbers_cases[i].says))))
            fail_msg("%s:\n%.*s", numbers_cases[i].behaviour, (int)text.len, text.ptr);
        test_run_close(&run);
        wr_buf_release(&body);
    }
}

/* ---- rehydrate ---- */

/* A chat whose result is capped, and what comes back when the user names its handle. */

enum { REHYDRATE_BODY_BYTES_MAX = 1 << 20, REHYDRATE_LINES = 200 };

#define POLICY(stages) "policies: {p: {stages: [" stages "]}}"
#define CAP            "{stage: cap, max_tokens: 200}, "

static void write_result(struct wr_buf *out)
{
    for (int i = 1; i <= REHYDRATE_LINES; i++)
        wr_buf_printf(out, "line %03d of the result\n", i);
}

static void write_said(struct wr_buf *out, const char *role, const char *text)
{
    wr_buf_printf(out, ",{\"role\":\"%s\",\"content\":\"%s\"}", role, text);
}

/* In what the user says, @ is the handle of the result. */
static void write_session(struct wr_buf *out, const char *const *says)
{
    struct wr_buf result;
    struct wr_handle handle;

    wr_buf_init(&result, REHYDRATE_BODY_BYTES_MAX);
    write_result(&result);
    assert_int_equal(wr_handle_of(wr_buf_view(&result), &handle), WEIR_OK);
    wr_buf_text(out,
                "{\"model\":\"m\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":"
                "\"weir_recall\"}}],\"messages\":[{\"role\":\"user\",\"content\":\"begin\"},"
                "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"a\",\"type\":"
                "\"function\",\"function\":{\"name\":\"run\",\"arguments\":\"{}\"}}]},"
                "{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"");
    wr_json_escape(out, wr_buf_view(&result));
    wr_buf_text(out,
                "\"},{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"b\","
                "\"type\":\"function\",\"function\":{\"name\":\"run\",\"arguments\":\"{}\"}}]},"
                "{\"role\":\"tool\",\"tool_call_id\":\"b\",\"content\":\"short\"}");
    write_said(out, "assistant", "ran");
    for (; *says; says++) {
        wr_buf_text(out, ",{\"role\":\"user\",\"content\":\"");
        for (const char *c = *says; *c; c++) {
            if (*c == '@')
                wr_buf_text(out, handle.text);
            else
                wr_buf_byte(out, *c);
        }
        wr_buf_text(out, "\"}");
        if (says[1])
            write_said(out, "assistant", "well");
    }
    wr_buf_text(out, "]}");
    wr_buf_release(&result);
}

/* "2:1-200/200 " for each block that came back: the number of the user's message it stands behind,
 * the lines it has and how many there are; * where the rest has its marker. */
static void list_blocks(weir_span body, struct wr_buf *out)
{
    struct test_transcript test;
    uint32_t messages = 0;
    test_transcript_open(&test, body);
    for (uint32_t i = 0; i < test.transcript.segments_count; i++) {
        const struct wr_segment *s = &test.transcript.segments[i];
        if (s->role != WEIR_ROLE_USER || s->kind != WEIR_KIND_TEXT)
            continue;
        weir_span text = wr_segment_text(&test.transcript, s, &test.arena), first, line;
        if (!wr_marker_find(text, NULL)) {
            messages++;
            continue;
        }
        assert_true(wr_span_line(&text, &first));
        size_t at = wr_span_find(first, WR_LIT("lines "), 0) + strlen("lines ");
        wr_buf_printf(out, "%u:", messages);
        wr_buf_append(out, wr_span_cut(first, at, first.len - 1));
        bool has_rest = wr_marker_find(text, NULL);
        wr_buf_text(out, has_rest ? "* " : " ");
        int number = 0;
        while (wr_span_line(&text, &line) && !wr_span_starts(line, WR_LIT("[weir"))) {
            char expected[64];
            (void)snprintf(expected, sizeof(expected), "line %03d of the result", ++number);
            assert_true(wr_span_is(line, expected));
        }
        char said[32];
        (void)snprintf(said, sizeof(said), "1-%d of ", number);
        assert_true(wr_span_starts(wr_span_cut(first, at, first.len), wr_span_of(said)));
    }
    test_transcript_close(&test);
}

static const struct {
    const char *behaviour, *yaml;
    const char *says[4];
    uint64_t window_tokens;
    const char *expected;
} rehydrate_cases[] = {
    {"a handle that is named brings its original back, right behind the message",
     POLICY(CAP "{stage: rehydrate}"),
     {"show me @", NULL},
     100000,
     "2:1-200 of 200 "},
    {"no handle, nothing", POLICY(CAP "{stage: rehydrate}"), {"show me", NULL}, 100000, ""},
    {"it stays there in later requests",
     POLICY(CAP "{stage: rehydrate}"),
     {"show me @", "and now?", "and now?", NULL},
     100000,
     "2:1-200 of 200 "},
    {"named again it does not come twice",
     POLICY(CAP "{stage: rehydrate}"),
     {"show me @ and @", "again: @", NULL},
     100000,
     "2:1-200 of 200 "},
    {"named later it comes later",
     POLICY(CAP "{stage: rehydrate}"),
     {"hello", "show me `@`.", NULL},
     100000,
     "3:1-200 of 200 "},
    {"what does not fit into the budget stays out, with a marker",
     POLICY(CAP "{stage: rehydrate, max_tokens: 200}"),
     {"show me @", NULL},
     100000,
     "2:1-14 of 200* "},
    {"the window is a budget too",
     POLICY(CAP "{stage: rehydrate}"),
     {"show me @", NULL},
     720,
     "2:1-50 of 200* "},
    {"with no room there is nothing",
     POLICY(CAP "{stage: rehydrate}"),
     {"show me @", NULL},
     300,
     ""},
    {"a handle that nothing here has is a word",
     POLICY(CAP "{stage: rehydrate}"),
     {"show me wr_0123456789abcdef0123", NULL},
     100000,
     ""},
    {"what was not taken out need not come back",
     POLICY("{stage: rehydrate}"),
     {"show me @", NULL},
     100000,
     ""},
    {"what a step took out earlier comes back",
     POLICY("{stage: rehydrate}, {stage: clear, at_bp: 1, keep: 1, older_turns: 1}"),
     {"hello", "show me @", NULL},
     20000,
     "3:1-200 of 200 "},
};

static void originals_come_back_when_they_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rehydrate_cases); i++) {
        struct wr_buf body, listing;
        struct test_run r;
        wr_buf_init(&body, REHYDRATE_BODY_BYTES_MAX);
        wr_buf_init(&listing, REHYDRATE_BODY_BYTES_MAX);
        write_session(&body, rehydrate_cases[i].says);
        test_run_open(&r, wr_buf_view(&body), rehydrate_cases[i].yaml,
                      rehydrate_cases[i].window_tokens);
        list_blocks(r.run.settled.body, &listing);
        test_text_is(rehydrate_cases[i].behaviour, wr_buf_view(&listing),
                     rehydrate_cases[i].expected);
        assert_null(wr_fold_step_now(&r.run.fold));
        assert_true(!r.run.fold.chosen.rehydrated_tokens ||
                    r.run.tokens_after <= rehydrate_cases[i].window_tokens);
        test_run_close(&r);
        wr_buf_release(&listing);
        wr_buf_release(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_cut_as_the_document_says),
        cmocka_unit_test(golden_cases_pass),
        cmocka_unit_test(what_is_too_long_for_a_condenser_keeps_its_ends),
        cmocka_unit_test(a_text_is_too_long_by_bytes_or_lines),
        cmocka_unit_test(rules_for_tools_hold),
        cmocka_unit_test(what_says_all_stays_in_use),
        cmocka_unit_test(originals_come_back_when_they_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
