/* Where history is cut so that it fits its budget. */
#include "policy/stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "tests/test_run.h"

enum { BODY_BYTES_MAX = 1 << 16, LOOPS_COUNT = 4, WORDS_BYTES = 40, ANSWER_BYTES = 360 };

static void write_message(struct wr_buf *out, const char *role, char letter, int bytes)
{
    wr_buf_printf(out, "{\"role\":\"%s\",\"content\":\"", role);
    for (int i = 0; i < bytes; i++)
        wr_buf_byte(out, letter);
    wr_buf_text(out, "\"},");
}

/* Four completed loops of 10 + 90 tokens, then words of the user, and what `ending` adds. */
static void write_body(struct wr_buf *out, const char *tool, const char *ending)
{
    wr_buf_printf(out,
                  "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"%s\"}}],"
                  "\"messages\":[",
                  tool);
    for (int i = 0; i < LOOPS_COUNT; i++) {
        write_message(out, "user", (char)('1' + i), WORDS_BYTES);
        write_message(out, "assistant", (char)('a' + i), ANSWER_BYTES);
    }
    wr_buf_printf(out, "{\"role\":\"user\",\"content\":\"go on\"}%s]}", ending);
}

#define STAGE(tokens) "policies: {p: {stages: [{stage: fill, history_tokens: " tokens "}]}}"

static const struct {
    const char *behaviour, *yaml;
    uint64_t window_tokens;
    const char *recall, *gone;
} cases[] = {
    {"history that fits stays", STAGE("400"), 100000, "weir_recall", ""},
    {"a token too many, and it goes down to four fifths", STAGE("399"), 100000, "weir_recall",
     "1a"},
    {"two loops that just fit stay", STAGE("250"), 100000, "weir_recall", "1a2b"},
    {"one that just fits stays", STAGE("125"), 100000, "weir_recall", "1a2b3c"},
    {"one of which only the answer fits leaves", STAGE("124"), 100000, "weir_recall", "1a2b3c4d"},
    {"the room of the window is a budget too", STAGE("0"), 400, "weir_recall", "1a2b"},
    {"a window that is not known has none", STAGE("10"), 0, "weir_recall", ""},
    {"without a way back it stays", STAGE("250"), 100000, "other", ""},
};

static void the_oldest_loops_leave(void **state)
{
    (void)state;
    for (size_t n = 0; n < WR_COUNT_OF(cases); n++) {
        char gone[2 * LOOPS_COUNT + 2] = "";
        struct test_run r;
        struct wr_buf body;

        wr_buf_init(&body, BODY_BYTES_MAX);
        write_body(&body, cases[n].recall, "");
        test_run_open(&r, wr_buf_view(&body), cases[n].yaml, cases[n].window_tokens);
        const struct wr_fold *fold = &r.run.fold;
        for (uint32_t i = 0; i < fold->transcript->segments_count; i++)
            if (fold->segments[i].form == WR_FORM_DROPPED)
                strncat(gone, wr_fold_text(&r.run.fold, i).ptr, 1);
        if (strcmp(gone, cases[n].gone))
            fail_msg("%s: '%s' left", cases[n].behaviour, gone);
        test_run_close(&r);
        wr_buf_release(&body);
    }
}

static void the_notice_says_how_many_messages_left(void **state)
{
    struct test_run r;
    struct wr_buf body;
    (void)state;

    wr_buf_init(&body, BODY_BYTES_MAX);
    write_body(&body, "weir_recall", "");
    test_run_open(&r, wr_buf_view(&body), STAGE("250"), 100000);
    const struct wr_fold *fold = &r.run.fold;
    assert_false(fold->inserts[fold->inserts_count - 1].is_gone);
    assert_true(wr_span_starts(fold->inserts[fold->inserts_count - 1].text,
                               WR_LIT("[conversation truncated — 4 older messages omitted]\n")));
    test_run_close(&r);
    wr_buf_release(&body);
}

/* The cut is made when a loop begins, and stays where it is while the loop goes on. */
static void nothing_moves_inside_a_loop(void **state)
{
    static const char ending[] =
        ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"i\","
        "\"type\":\"function\",\"function\":{\"name\":\"run\",\"arguments\":\"{}\"}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"i\",\"content\":\"done\"}";
    struct test_run before, after;
    struct wr_buf body, longer;
    (void)state;

    wr_buf_init(&body, BODY_BYTES_MAX);
    wr_buf_init(&longer, BODY_BYTES_MAX);
    write_body(&body, "weir_recall", "");
    write_body(&longer, "weir_recall", ending);
    test_run_open(&before, wr_buf_view(&body), STAGE("124"), 100000);
    test_run_open(&after, wr_buf_view(&longer), STAGE("124"), 100000);
    assert_non_null(wr_fold_step_now(&before.run.fold));
    assert_null(wr_fold_step_now(&after.run.fold));
    assert_int_equal(before.run.fold.inserts_count, after.run.fold.inserts_count);
    test_run_close(&before);
    test_run_close(&after);
    wr_buf_release(&longer);
    wr_buf_release(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_loops_leave),
        cmocka_unit_test(the_notice_says_how_many_messages_left),
        cmocka_unit_test(nothing_moves_inside_a_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
