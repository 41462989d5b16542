/* form_case.h -- for tests: one text and the form it is condensed to, a row of a table. */
#ifndef WR_CONDENSE_FORM_CASE_H
#define WR_CONDENSE_FORM_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "condense/condense_check.h"
#include "condense/form_check.h"

struct form_case {
    const char *behaviour;
    const char *text;
    size_t bytes_budget;
    const char *query, *focus; /* NULL: none */
    const char *expected;
};

static inline weir_span form_case_words(const char *words)
{
    return words ? wr_span_of(words) : (weir_span){"", 0};
}

/* Prints what differs and returns how many rows do. */
static inline unsigned form_case_row(const struct form_case *row, wr_condense_fn *condense,
                                     enum wr_output_kind kind)
{
    struct wr_arena arena;
    struct wr_condensed out;
    struct wr_condense_input input = {.text = wr_span_of(row->text),
                                      .kind = kind,
                                      .query = form_case_words(row->query),
                                      .focus = form_case_words(row->focus),
                                      .bytes_budget = row->bytes_budget};
    const char *broken = condense_check(&input, condense);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(condense(&out, &arena, &input), WEIR_OK);
    if (!broken && !forms_are_of_lines(&out, input.text))
        broken = "a form is made of its own line";
    if (!broken && !wr_span_is(out.text, row->expected))
        broken = "the result is what the row says";
    if (broken)
        print_error("%s: broken: %s\n--- expected\n%s--- result\n%.*s---\n", row->behaviour, broken,
                    row->expected, (int)out.text.len, out.text.ptr);
    wr_arena_release(&arena);
    return broken != NULL;
}

static inline void form_case_rows(const struct form_case *rows, size_t count,
                                  wr_condense_fn *condense, enum wr_output_kind kind)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += form_case_row(&rows[i], condense, kind);
    if (wrong)
        fail_msg("%u of %zu rows", wrong, count);
}

#endif
