/* condense.h -- a shorter text that stands for the output of a tool (law L5).
 *
 * 1. A condenser is pure: the text and what the call asked in, a text and the lines it kept out. No
 * clock, locale or state; the same input gives the same bytes in every build.
 * 2. It chooses lines. What is kept is the very text of the line, unless cut_lines names it; where
 * lines were left out stands one gap line that says which (condense/keep.h). Lines count from 0
 * here, from 1 in what people read. Printed output is first cleaned (condense/lossless.h); its
 * lines keep their numbers, and a blank line behind a blank line counts as kept.
 * 3. All lines that carry signals are kept, whatever the budget: the set of signals of the result
 * equals that of the input. Validation checks it again.
 * 4. The result is never longer than the input; one that would be is the input itself, with is_same
 * set.
 * 5. Time is linear in the text.
 */
#ifndef WR_CONDENSE_CONDENSE_H
#define WR_CONDENSE_CONDENSE_H

#include <stdbool.h>

#include "base/arena.h"
#include "condense/lossless.h"
#include "condense/output_kind.h"

struct wr_condense_input {
    weir_span text;
    enum wr_output_kind kind;
    enum wr_output_origin origin; /* some are never condensed (condense/exempt.h) */
    weir_span command;            /* of a shell; empty: none */
    weir_span path;               /* what was read or searched; empty: not known */
    weir_span query;              /* what was sought; empty: nothing */
    weir_span focus;       /* words that matter now: what the newest turns name; may be empty */
    uint64_t first_number; /* the number that the text's first line has in its file; 0: 1 */
    uint32_t number_every; /* of so many lines of a file one keeps the number that a tool printed;
                            * 0: all do */
    size_t bytes_budget;   /* what the result should have at most; signals may take more */
    const struct wr_lossless_text *cleaned; /* what `text` is of; set by wr_condense() alone */
};

/* Lines [first, end), from 0. */
struct wr_line_range {
    uint32_t first, end;
};

/* How a line that is too long is written; see wr_keep_cut(). */
struct wr_line_cut {
    size_t line_bytes_max; /* 0: every line is written whole */
    weir_span what;        /* what is cut: "base64"; may be empty */
};

struct wr_condensed {
    weir_span text;                   /* in the arena, or the input's own */
    const struct wr_line_range *kept; /* ascending, apart */
    uint32_t kept_count;
    uint32_t lines_total;
    bool is_same;              /* nothing was left out */
    bool lines_moved;          /* a cursor mixed the lines (lossless.h, 4): nothing is in `kept` */
    struct wr_line_cut cut;    /* of the lines below */
    const uint32_t *cut_lines; /* kept, but shortened; ascending. All others are exact. */
    uint32_t cut_count;
    const weir_span *forms; /* of each line that has its own shorter form; NULL: none has */
};

/* Condenses by kind. Failure: WEIR_NOMEM, WEIR_LIMIT of the arena. */
WEIR_MUST_USE weir_status wr_condense(struct wr_condensed *out, struct wr_arena *arena,
                                      const struct wr_condense_input *input);

/* The same, for callers whose budget is a promise: at most a tenth over it, unless signals alone
 * take more. A condenser counts what lines cost before it has written them, so one that comes out
 * too long is asked again with less. */
WEIR_MUST_USE weir_status wr_condense_within(struct wr_condensed *out, struct wr_arena *arena,
                                             const struct wr_condense_input *input);

/* Whether an output is never condensed, whatever its size and the budget.
 *
 * Recalled text and plans: who asked for them needs all of them. What a tool says of an edit: it is
 * short, and the next action quotes it. That a file is unchanged: it points at a result that was
 * read before.
 *
 * Elsewhere: what is too small to be worth it, errors of the newest turn, results such a stub
 * points at, and all that is no tool's output (instructions, the user's words) never come this far;
 * that is the policy's rule (policy/fold.h). Ids of processes that still run stay in whatever is
 * condensed (note.h).
 */
bool wr_exempt_is(enum wr_output_origin origin, weir_span text);

#endif
