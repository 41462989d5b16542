/* test_join.h -- legs through wr_join, as the proxy does it, for tests. Each call of ours is
 * answered with "found N", counted over all legs. */
#ifndef TESTS_TEST_JOIN_H
#define TESTS_TEST_JOIN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/join.h"
#include "base/limits.h"
#include "base/span.h"

enum { TEST_LEGS_MAX = 4 };

struct test_joined {
    struct wr_buf shown;    /* what the client has */
    struct wr_buf said;     /* verdicts and calls: "ask c1 {...};" */
    struct wr_buf elements; /* of all legs that asked, one a line */
    struct wr_buf exchange;
    wr_hash128 seen;
    bool has_exchange, is_broken, is_new; /* is_new: there was memory for a join */
};

static inline void test_join_feed(struct wr_join *join, weir_span bytes, size_t piece_bytes,
                                  struct wr_buf *out)
{
    while (bytes.len) {
        size_t piece = bytes.len < piece_bytes ? bytes.len : piece_bytes;
        char *copy = malloc(piece); /* so that a sanitizer sees what is kept of it */
        if (!copy)
            return;
        memcpy(copy, bytes.ptr, piece);
        wr_join_feed(join, (weir_span){copy, piece}, out);
        free(copy);
        bytes = wr_span_from(bytes, piece);
    }
}

static inline void test_join_answer(struct wr_join *join, struct test_joined *j, size_t *count)
{
    const struct wr_own_call *calls;
    size_t calls_count = wr_join_calls(join, &calls);

    for (size_t i = 0; i < calls_count; i++) {
        char text[32];
        int bytes = snprintf(text, sizeof(text), "found %zu", ++*count);
        wr_buf_byte(&j->said, ' ');
        wr_buf_append(&j->said, calls[i].id);
        wr_buf_byte(&j->said, ' ');
        wr_buf_append(&j->said, calls[i].arguments);
        wr_join_set_result(join, i, (weir_span){text, (size_t)bytes}, false);
    }
    wr_buf_byte(&j->said, ';');
}

/* Legs end with NULL. */
static inline void test_join_run(struct test_joined *j, const struct wr_api *api, bool is_stream,
                                 const char *const *legs, size_t piece_bytes)
{
    static const char *const words[] = {"plain", "ask", "beside"};
    struct wr_join *join = wr_join_new(api, is_stream);
    size_t count = 0;

    *j = (struct test_joined){.is_new = join != NULL};
    wr_buf_init(&j->shown, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&j->said, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&j->elements, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&j->exchange, WR_OUTPUT_BYTES_MAX);
    for (size_t i = 0; join && legs[i]; i++) {
        test_join_feed(join, wr_span_of(legs[i]), piece_bytes, &j->shown);
        enum wr_join_verdict verdict = wr_join_end_leg(join, &j->shown);
        wr_buf_text(&j->said, words[verdict]);
        test_join_answer(join, j, &count);
        if (wr_join_is_broken(join))
            break;
        if (verdict != WR_JOIN_ASK) {
            wr_join_finish(join, &j->shown);
            break;
        }
        wr_buf_append(&j->elements, wr_join_elements(join));
        wr_buf_byte(&j->elements, '\n');
        wr_join_next(join);
    }
    if (join && wr_join_is_broken(join)) {
        j->is_broken = true;
        wr_join_fail(join, "it broke", &j->shown);
    }
    j->has_exchange = join && wr_join_exchange(join, &j->exchange, &j->seen);
    wr_join_free(join);
}

static inline void test_join_release(struct test_joined *j)
{
    wr_buf_release(&j->shown);
    wr_buf_release(&j->said);
    wr_buf_release(&j->elements);
    wr_buf_release(&j->exchange);
}

#endif
