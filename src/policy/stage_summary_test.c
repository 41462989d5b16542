/* Which groups the middle has, and what the summary in their place stands for. */
#include "policy/stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "tests/test_run.h"

enum { BODY_BYTES_MAX = 1 << 16, RESULTS_COUNT = 6, RESULT_BYTES = 2000 };

/* Messages: the user's, then for each letter from 'a' a call and its result of 500 tokens: more
 * than half of a window of 5500 with the last one. */
static void write_body(struct wr_buf *out, const char *tool)
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

#define STAGE(params) "policies: {p: {stages: [{stage: summary, " params "}]}}"

static const struct {
    const char *behaviour, *yaml;
    uint64_t window_tokens;
    const char *recall, *gone; /* letters of the results that leave */
} cases[] = {
    {"below its share nothing leaves", STAGE("at_bp: 5000, head: 2, tail: 2"), 10000, "weir_recall",
     ""},
    {"past it the middle does", STAGE("at_bp: 5000, head: 2, tail: 2"), 5500, "weir_recall",
     "bcde"},
    {"without a way back it stays", STAGE("at_bp: 5000, head: 2, tail: 2"), 5500, "other", ""},
    {"a head of one message leaves the first call open", STAGE("at_bp: 5000, head: 1, tail: 2"),
     5500, "weir_recall", "abcde"},
    {"a head that ends between two groups", STAGE("at_bp: 5000, head: 3, tail: 2"), 5500,
     "weir_recall", "bcde"},
    {"a head that cuts a group keeps all of it", STAGE("at_bp: 5000, head: 4, tail: 2"), 5500,
     "weir_recall", "cde"},
    {"a tail that cuts a group keeps all of it", STAGE("at_bp: 5000, head: 2, tail: 3"), 5500,
     "weir_recall", "bcd"},
    {"a tail of everything", STAGE("at_bp: 5000, head: 2, tail: 13"), 5500, "weir_recall", ""},
    {"a window that is not known has a size of its own",
     STAGE("trigger_tokens: 2999, head: 2, tail: 2"), 0, "weir_recall", "bcde"},
    {"and up to it nothing leaves", STAGE("trigger_tokens: 4000, head: 2, tail: 2"), 0,
     "weir_recall", ""},
};

static void check_case(size_t n)
{
    char gone[RESULTS_COUNT + 1] = "";
    uint32_t standing = 0;
    struct test_run r;
    struct wr_buf body;

    wr_buf_init(&body, BODY_BYTES_MAX);
    write_body(&body, cases[n].recall);
    test_run_open(&r, wr_buf_view(&body), cases[n].yaml, cases[n].window_tokens);
    struct wr_fold *fold = &r.run.fold;
    for (uint32_t i = 0; i < fold->transcript->segments_count; i++)
        if (fold->transcript->segments[i].kind == WEIR_KIND_TOOL_RESULT &&
            fold->segments[i].form == WR_FORM_DROPPED)
            strncat(gone, fold->transcript->segments[i].call_id.ptr, 1);
    if (strcmp(gone, cases[n].gone))
        fail_msg("%s: '%s' left", cases[n].behaviour, gone);
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
                fail_msg("%s: the summary stands for %c: %d", cases[n].behaviour, c, is_in);
        }
    }
    assert_int_equal(standing, gone[0] != 0);
    test_run_close(&r);
    wr_buf_release(&body);
}

static void the_middle_leaves_in_whole_groups(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        check_case(i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_middle_leaves_in_whole_groups)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
