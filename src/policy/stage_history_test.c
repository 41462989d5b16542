#include "policy/stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "tests/test_run.h"

/* ---- fill ---- */

/* Where history is cut so that it fits its budget. */

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

/* ---- summary ---- */

/* Which groups the middle has, and what the summary in their place stands for. */

enum { SUMMARY_BODY_BYTES_MAX = 1 << 16, RESULTS_COUNT = 6, RESULT_BYTES = 2000 };

/* Messages: the user's, then for each letter from 'a' a call and its result of 500 tokens: more
 * than half of a window of 5500 with the last one. */
static void summary_write_body(struct wr_buf *out, const char *tool)
{
    wr_buf_printf(out,
                  "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"%s\"}}],"
                  "\"messages\":[{\"role\":\"user\",\"content\":\"start\"}",
                  tool);
    for (int i = 0; i < RESULTS_COUNT; i++) {
        wr_buf_printf(out,
                      ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"%c\","
                      "\"type\":\"function\",\"function\":{\"name\":\"run\",\"arguments\":"
                      "\"{}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"%c\",\"content\":\"",
                      'a' + i, 'a' + i);
        for (int b = 0; b < RESULT_BYTES; b++)
            wr_buf_byte(out, (char)('a' + i));
        wr_buf_text(out, "\"}");
    }
    wr_buf_text(out, "]}");
}

#define SUMMARY_STAGE(params) "policies: {p: {stages: [{stage: summary, " params "}]}}"

static const struct {
    const char *behaviour, *yaml;
    uint64_t window_tokens;
    const char *recall, *gone; /* letters of the results that leave */
} summary_cases[] = {
    {"below its share nothing leaves", SUMMARY_STAGE("at_bp: 5000, head: 2, tail: 2"), 10000,
     "weir_recall", ""},
    {"past it the middle does", SUMMARY_STAGE("at_bp: 5000, head: 2, tail: 2"), 5500, "weir_recall",
     "bcde"},
    {"without a way back it stays", SUMMARY_STAGE("at_bp: 5000, head: 2, tail: 2"), 5500, "other",
     ""},
    {"a head of one message leaves the first call open",
     SUMMARY_STAGE("at_bp: 5000, head: 1, tail: 2"), 5500, "weir_recall", "abcde"},
    {"a head that ends between two groups", SUMMARY_STAGE("at_bp: 5000, head: 3, tail: 2"), 5500,
     "weir_recall", "bcde"},
    {"a head that cuts a group keeps all of it", SUMMARY_STAGE("at_bp: 5000, head: 4, tail: 2"),
     5500, "weir_recall", "cde"},
    {"a tail that cuts a group keeps all of it", SUMMARY_STAGE("at_bp: 5000, head: 2, tail: 3"),
     5500, "weir_recall", "bcd"},
    {"a tail of everything", SUMMARY_STAGE("at_bp: 5000, head: 2, tail: 13"), 5500, "weir_recall",
     ""},
    {"a window that is not known has a size of its own",
     SUMMARY_STAGE("trigger_tokens: 2999, head: 2, tail: 2"), 0, "weir_recall", "bcde"},
    {"and up to it nothing leaves", SUMMARY_STAGE("trigger_tokens: 4000, head: 2, tail: 2"), 0,
     "weir_recall", ""},
};

static void check_case(size_t n)
{
    char gone[RESULTS_COUNT + 1] = "";
    uint32_t standing = 0;
    struct test_run r;
    struct wr_buf body;

    wr_buf_init(&body, SUMMARY_BODY_BYTES_MAX);
    summary_write_body(&body, summary_cases[n].recall);
    test_run_open(&r, wr_buf_view(&body), summary_cases[n].yaml, summary_cases[n].window_tokens);
    struct wr_fold *fold = &r.run.fold;
    for (uint32_t i = 0; i < fold->transcript->segments_count; i++)
        if (fold->transcript->segments[i].kind == WEIR_KIND_TOOL_RESULT &&
            fold->segments[i].form == WR_FORM_DROPPED)
            strncat(gone, fold->transcript->segments[i].call_id.ptr, 1);
    if (strcmp(gone, summary_cases[n].gone))
        fail_msg("%s: '%s' left", summary_cases[n].behaviour, gone);
    for (uint32_t i = 0; i < fold->inserts_count; i++) {
        weir_span original;
        if (fold->inserts[i].is_gone)
            continue; /* a later summary took its place */
        standing++;
        assert_int_equal(wr_fold_insert_original(fold, i, &original), WEIR_OK);
        for (char c = 'a'; c < 'a' + RESULTS_COUNT; c++) {
            char words[9] = {c, c, c, c, c, c, c, c, 0};
            bool is_in = wr_span_find(original, wr_span_of(words), 0) != SIZE_MAX;
            if (is_in != (strchr(gone, c) != NULL))
                fail_msg("%s: the summary stands for %c: %d", summary_cases[n].behaviour, c, is_in);
        }
    }
    assert_int_equal(standing, gone[0] != 0);
    test_run_close(&r);
    wr_buf_release(&body);
}

static void the_middle_leaves_in_whole_groups(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(summary_cases); i++)
        check_case(i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_loops_leave),
        cmocka_unit_test(the_notice_says_how_many_messages_left),
        cmocka_unit_test(nothing_moves_inside_a_loop),
        cmocka_unit_test(the_middle_leaves_in_whole_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
