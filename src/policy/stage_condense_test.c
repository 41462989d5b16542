/* What is too long for a condenser: it keeps its head and tail. */
#include "policy/stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/test_run.h"

#define LINE "row %07u says that the waters are level\\n"

static const char policy[] = "policies: {p: {stages: [{stage: lossless}, {stage: condense}]}}";

/* One result of `lines` lines, the first and the last of which say so. */
static void write_body(struct wr_buf *out, uint32_t lines, const char *line)
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
} cases[] = {
    {"a long result is condensed", 20000, NULL, WR_FORM_CONDENSED},
    {"one of more than WR_CONDENSE_BYTES_MAX keeps its head and tail", 60000, NULL, WR_FORM_CAPPED},
    {"so does one of more than WR_CONDENSE_LINES_MAX lines", 70000, "ab\\n", WR_FORM_CAPPED},
    {"and one of no more lines is condensed", 60000, "ab\\n", WR_FORM_CONDENSED},
};

static void what_is_too_long_for_a_condenser_keeps_its_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct test_run run;
        struct wr_buf body;
        wr_buf_init(&body, WR_OUTPUT_BYTES_MAX);
        write_body(&body, cases[i].lines, cases[i].line);
        test_run_open(&run, wr_buf_view(&body), policy, 0);
        uint32_t result = test_transcript_find(&run.test, WEIR_KIND_TOOL_RESULT, 0);
        const struct wr_fold_segment *now = &run.run.fold.segments[result];
        weir_span last = WR_LIT("the last line");

        if (now->form != cases[i].form || !wr_span_starts(now->text, WR_LIT("the first line")))
            fail_msg("%s: it is %s", cases[i].behaviour, wr_form_name(now->form));
        if (now->form == WR_FORM_CAPPED && wr_span_find(now->text, last, 0) == SIZE_MAX)
            fail_msg("%s: it has no tail", cases[i].behaviour);
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
        write_body(&body, 200, NULL);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_too_long_for_a_condenser_keeps_its_ends),
        cmocka_unit_test(a_text_is_too_long_by_bytes_or_lines),
        cmocka_unit_test(rules_for_tools_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
