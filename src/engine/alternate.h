/* alternate.h -- a projection in which user and model still take turns.
 *
 * Many servers behind the Chat API fill in a template that refuses two messages of the user in a
 * row, and instructions that do not stand first. For them (struct wr_fold_input, `alternates`):
 *
 * 1. What would be put in as a message of the user or as instructions (a summary, a notice) joins
 *    the nearest message of the user that stands before it, behind a blank line; where there is
 *    none, the first behind it. The user's own words keep every character. What a loop's summary
 *    says is the model's, as the loop was, and stays a message of its own.
 * 2. Where all that the model said between two messages of the user is gone, a line of the model's
 *    says so.
 *
 * So the messages that leave are those that came, less some of the model's and the tools'. It is a
 * function of the fold alone and changes only with a step (law L3).
 */
#ifndef WR_ENGINE_ALTERNATE_H
#define WR_ENGINE_ALTERNATE_H

#include "engine/plan.h"
#include "policy/fold.h"

struct wr_alternation {
    bool *is_joined;       /* of each insert: it is in a message of the user's */
    uint32_t joined_count; /* how many are */
    uint32_t lines_count;  /* that stand for what the model said */
};

/* What stands for it. */
#define WR_ALTERNATE_LINE "[older calls and their results omitted]"

/* Adds to the plan what the inserts of `fold` become; those that joined no message are for the
 * caller to put in. */
WEIR_MUST_USE weir_status wr_alternate_plan(struct wr_alternation *a, struct wr_fold *fold,
                                            struct wr_plan *plan, struct weir_err *err);

/* For an API all of whose servers want turns (`must_alternate`), when every insert is in the plan:
 * nothing is joined, but where two messages of one side would meet that did not before, or the
 * model would begin, a line of the other side stands between them. It depends on its two neighbours
 * alone, which only a step changes (law L3). */
WEIR_MUST_USE weir_status wr_alternate_fill(struct wr_alternation *a, struct wr_plan *plan,
                                            struct wr_arena *arena, struct weir_err *err);

#endif
