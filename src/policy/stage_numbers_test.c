/* Numbers that leave what was read, and what other stages make of such a result. Tokens are four
 * bytes. */
#include "policy/stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"
#include "tests/test_run.h"

#define P(stages) "policies: {p: {stages: [" stages "]}}"
#define TIDY      "{stage: numbers}"

enum { LINES = 200, BODY_BYTES_MAX = 1 << 20 };

/* All results are the same. */
struct call {
    const char *tool, *arguments;
};

#define READ                                          \
    {                                                 \
        "Read", "{\\\"file_path\\\":\\\"src/a.c\\\"}" \
    }

static void write_body(struct wr_buf *out, const struct call *calls, uint32_t count, bool recall)
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
        for (uint32_t n = 1; n <= LINES; n++)
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
} cases[] = {
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
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct test_run run;
        struct wr_buf body;
        uint32_t result = WR_SEGMENT_NONE;

        wr_buf_init(&body, BODY_BYTES_MAX);
        write_body(&body, cases[i].calls, cases[i].count, !cases[i].has_no_recall);
        test_run_open(&run, wr_buf_view(&body), cases[i].yaml, cases[i].window_tokens);
        for (uint32_t n = 0; n < cases[i].count; n++) {
            result = test_transcript_find(&run.test, WEIR_KIND_TOOL_RESULT, n);
            enum wr_form form = run.run.fold.segments[result].form;
            if (form != cases[i].forms[n])
                fail_msg("%s: result %u is %s", cases[i].behaviour, n + 1, wr_form_name(form));
        }
        weir_span text = run.run.fold.segments[result].text;
        if (cases[i].front && (!wr_span_starts(text, wr_span_of(cases[i].front)) ||
                               !wr_span_has(text, wr_span_of(cases[i].says))))
            fail_msg("%s:\n%.*s", cases[i].behaviour, (int)text.len, text.ptr);
        test_run_close(&run);
        wr_buf_release(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_says_all_stays_in_use)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
