/* test_plan.h -- for tests: a request, read, and a plan made over it from a few operations.
 *
 * JSON is written with ' for ", so that a request can be read here too. */
#ifndef WR_TESTS_TEST_PLAN_H
#define WR_TESTS_TEST_PLAN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "engine/plan.h"
#include "api/api.h"
#include "api/lawful.h"

enum { TEST_OPS_MAX = 5, TEST_BYTES_MAX = 64 << 20 };

enum test_verb { OP_NONE, OP_SET, OP_DROP, OP_INSERT, OP_MARK };

struct test_op {
    enum test_verb verb;
    uint32_t at; /* a segment; of an insertion the message it comes before, END: behind the last */
    enum wr_form form;
    const char *text;
    size_t bytes_max;
    bool refers;
    uint32_t refers_to;
};

#define END UINT32_MAX
#define EDIT(at, text)                                    \
    {                                                     \
        OP_SET, (at), WR_FORM_EDITED, (text), 0, false, 0 \
    }
#define FORM(form, at, text)                              \
    {                                                     \
        OP_SET, (at), WR_FORM_##form, (text), 0, false, 0 \
    }
#define ROOM(at, text, max)                                   \
    {                                                         \
        OP_SET, (at), WR_FORM_CAPPED, (text), (max), false, 0 \
    }
#define REFER(at, text, to)                                    \
    {                                                          \
        OP_SET, (at), WR_FORM_REFERENCE, (text), 0, true, (to) \
    }
#define DROP(at)                                          \
    {                                                     \
        OP_DROP, (at), WR_FORM_DROPPED, NULL, 0, false, 0 \
    }
#define INSERT(before, json)                                    \
    {                                                           \
        OP_INSERT, (before), WR_FORM_EXACT, (json), 0, false, 0 \
    }
/* The marker of segment `like`; END: the one beside the messages. */
#define ADD_MARKER(at, like)                                 \
    {                                                        \
        OP_MARK, (at), WR_FORM_EXACT, NULL, 0, false, (like) \
    }
#define TEST_COUNT_OF(array) (WR_COUNT_OF(array))

struct test_plan {
    struct wr_arena arena;
    struct wr_json doc;
    struct wr_transcript transcript;
    struct wr_plan plan;
    struct wr_buf out;
    struct weir_err err;
};

/* A copy of `text` with every ' turned into ". */
static inline weir_span test_quotes(struct wr_arena *arena, const char *text)
{
    weir_span given = wr_span_of(text);
    char *copy = wr_arena_alloc(arena, given.len);
    assert_non_null(copy);
    for (size_t i = 0; i < given.len; i++)
        copy[i] = given.ptr[i] == '\'' ? '"' : given.ptr[i];
    return (weir_span){copy, given.len};
}

static inline void test_transcript(struct wr_transcript *transcript, struct wr_json *doc,
                                   struct wr_arena *arena, const char *dialect, weir_span body)
{
    struct wr_api_options options = {.dialect = dialect};
    struct weir_err err = {0};
    if (wr_json_parse(doc, arena, body, NULL, &err) ||
        wr_api_read(transcript, arena, doc, &options, &err))
        fail_msg("cannot read the request: %s at byte %zu", err.text, err.at_byte);
}

static inline void test_plan_open(struct test_plan *p, const char *dialect, const char *body)
{
    *p = (struct test_plan){0};
    wr_arena_init(&p->arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&p->out, TEST_BYTES_MAX);
    test_transcript(&p->transcript, &p->doc, &p->arena, dialect, test_quotes(&p->arena, body));
    assert_int_equal(wr_plan_init(&p->plan, &p->arena, &p->transcript), WEIR_OK);
}

static inline void test_plan_close(struct test_plan *p)
{
    wr_buf_release(&p->out);
    wr_arena_release(&p->arena);
}

static inline wr_json_id test_message(const struct test_plan *p, uint32_t number)
{
    wr_json_id id = wr_json_first(&p->doc, p->transcript.list);
    while (number && number != END && id != WR_JSON_NONE) {
        id = wr_json_next(&p->doc, p->transcript.list, id);
        number--;
    }
    return number == END ? WR_JSON_NONE : id;
}

static inline weir_status test_plan_add(struct test_plan *p, const struct test_op *op)
{
    struct wr_change change = {.segment = op->at,
                               .form = op->form,
                               .bytes_max = op->bytes_max,
                               .refers_to = op->refers ? op->refers_to : WR_SEGMENT_NONE};
    p->err = (struct weir_err){0};
    if (op->verb == OP_DROP)
        return wr_plan_drop(&p->plan, op->at, &p->err);
    if (op->verb == OP_INSERT)
        return wr_plan_insert(&p->plan, test_message(p, op->at), test_quotes(&p->arena, op->text),
                              &p->err);
    if (op->verb == OP_MARK)
        return wr_plan_mark(&p->plan, op->at,
                            op->refers_to == END ? wr_find_marker(&p->doc, 0)
                                                 : p->transcript.segments[op->refers_to].marker,
                            &p->err);
    change.text = wr_span_of(op->text);
    return wr_plan_set(&p->plan, &change, &p->err);
}

/* All operations, which must be accepted. */
static inline void test_plan_add_all(struct test_plan *p, const struct test_op ops[TEST_OPS_MAX])
{
    for (size_t i = 0; i < TEST_OPS_MAX && ops[i].verb; i++)
        if (test_plan_add(p, &ops[i]))
            fail_msg("operation %zu was refused: %s", i, p->err.text);
}

/* Says whether `found` is `expected` (written with '), and prints both where it is not. */
static inline bool test_same(struct wr_arena *arena, weir_span found, const char *expected)
{
    if (wr_span_eq(found, test_quotes(arena, expected)))
        return true;
    print_error("expected %s\n   found %.*s\n", expected, (int)found.len, found.ptr);
    return false;
}

#endif
