/* A chat whose result is capped, and what comes back when the user names its handle. */
#include "policy/stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"
#include "tests/test_run.h"

enum { BODY_BYTES_MAX = 1 << 20, LINES = 200 };

#define POLICY(stages) "policies: {p: {stages: [" stages "]}}"
#define CAP            "{stage: cap, max_tokens: 200}, "

static void write_result(struct wr_buf *out)
{
    for (int i = 1; i <= LINES; i++)
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

    wr_buf_init(&result, BODY_BYTES_MAX);
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
} cases[] = {
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
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_buf body, listing;
        struct test_run r;
        wr_buf_init(&body, BODY_BYTES_MAX);
        wr_buf_init(&listing, BODY_BYTES_MAX);
        write_session(&body, cases[i].says);
        test_run_open(&r, wr_buf_view(&body), cases[i].yaml, cases[i].window_tokens);
        list_blocks(r.run.settled.body, &listing);
        test_text_is(cases[i].behaviour, wr_buf_view(&listing), cases[i].expected);
        assert_null(wr_fold_step_now(&r.run.fold));
        assert_true(!r.run.fold.chosen.rehydrated_tokens ||
                    r.run.tokens_after <= cases[i].window_tokens);
        test_run_close(&r);
        wr_buf_release(&listing);
        wr_buf_release(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(originals_come_back_when_they_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
