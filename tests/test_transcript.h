/* test_transcript.h -- a request's JSON as a transcript, for tests of what is built from one. */
#ifndef WR_TESTS_TEST_TRANSCRIPT_H
#define WR_TESTS_TEST_TRANSCRIPT_H

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "api/api.h"

struct test_transcript {
    struct wr_arena arena;
    struct wr_json doc;
    struct wr_transcript transcript;
};

/* `body` outlives it. */
static inline void test_transcript_open(struct test_transcript *test, weir_span body)
{
    struct wr_api_options options = {0};
    struct weir_err err = {0};
    wr_arena_init(&test->arena, WR_ARENA_BYTES_MAX);
    if (wr_json_parse(&test->doc, &test->arena, body, NULL, &err) ||
        wr_api_read(&test->transcript, &test->arena, &test->doc, &options, &err))
        fail_msg("%s at byte %zu", err.text, err.at_byte);
}

static inline void test_transcript_close(struct test_transcript *test)
{
    wr_arena_release(&test->arena);
}

/* The n-th segment of a kind, from 0. */
static inline uint32_t test_transcript_find(const struct test_transcript *test, weir_kind kind,
                                            uint32_t n)
{
    for (uint32_t i = 0; i < test->transcript.segments_count; i++)
        if (test->transcript.segments[i].kind == kind && !n--)
            return i;
    fail_msg("no such segment");
    return 0;
}

/* Four bytes a token, rounded up. */
static inline uint64_t test_count(void *user, weir_span text)
{
    (void)user;
    return (text.len + 3) / 4;
}

/* Compares, and on failure prints the behaviour and both texts. */
static inline void test_text_is(const char *behaviour, weir_span text, const char *expected)
{
    if (!wr_span_is(text, expected))
        fail_msg("%s\n--- expected\n%s\n--- got\n%.*s\n---", behaviour, expected, (int)text.len,
                 text.ptr);
}

#endif
