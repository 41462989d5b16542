/* run.h -- a policy run on a request: folded, turned into a plan, applied and validated.
 *
 * What must be in the store before the result may leave is listed in `artifacts` (law L2): whoever
 * sends the result commits them first, and sends the original where that fails. A fold that goes on
 * from a state takes what that had listed for committed.
 */
#ifndef WR_ENGINE_RUN_H
#define WR_ENGINE_RUN_H

#include "base/hash.h"
#include "engine/plan.h"
#include "engine/validate.h"
#include "policy/fold.h"

/* ---- settle ----
 *
 * A plan carried out: applied, validated, and where it fails rolled back.
 *
 * 1. A finding about a segment takes that segment's change back and keeps the rest.
 * 2. A finding about the structure takes all of them back: the original goes on, byte for byte.
 * 3. Nothing stands: the result is the input, not a copy made by other means (law L1).
 * 4. Carrying out a plan again gives the same again: what it marks in the plan it does not read.
 */

struct wr_settled {
    weir_span body;             /* in the given buffer, or the input itself when nothing stands */
    uint32_t rolled_back_count; /* changes that did not stand */
    struct wr_finding first;    /* the first finding, if there was any */
    bool is_fallback;           /* the structure failed: all changes were taken back */
};

/* Carries out `plan`, marking in it what was rolled back and why. The result is in `out`, which is
 * empty when called, or borrowed from the request; a finding's detail may be in `arena`. Fails only
 * for lack of memory or room; the original is then still there to send. */
WEIR_MUST_USE weir_status wr_plan_settle(struct wr_plan *plan, struct wr_arena *arena,
                                         struct wr_buf *out, struct wr_settled *settled,
                                         struct weir_err *err);

/* ---- alternate ----
 *
 * A projection in which user and model still take turns.
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

/* ---- the run ---- */

struct wr_artifact {
    struct wr_handle handle;
    weir_span text;
};

/* A change of what was sent before. */
struct wr_run_step {
    bool is_taken;
    enum wr_step_reason reason;
    bool is_unexplained;      /* nothing that is known of explains it: law L3 is broken */
    uint64_t rewrites_tokens; /* of what was sent before, as it is sent now; 0: not known */
};

const char *wr_run_step_text(const struct wr_run_step *step); /* why it was taken */

struct wr_run {
    struct wr_fold fold;
    struct wr_run_step step;
    struct wr_plan plan;
    struct wr_alternation alternation;
    struct wr_settled settled;
    struct wr_artifact *artifacts;
    uint32_t artifacts_count;             /* not those that the session's store has already */
    uint32_t originals_count;             /* all that the result rests on */
    const char *window_source;            /* for the report; a constant */
    uint64_t tokens_before, tokens_after; /* of the whole prompt; after: as sent */
    uint32_t forms_end;                   /* segments that wr_run_forms() has gone through */
    wr_hash128 forms;                     /* what it had of them */
};

/* Everything is in `arena`, the result's bytes in `out` or in the request itself. `starts` knows
 * how results began that were read again before; NULL: nothing is known. Fails for lack of memory
 * or room only; the original is then still there to send. */
WEIR_MUST_USE weir_status wr_run_policy(struct wr_run *run, struct wr_arena *arena,
                                        const struct wr_fold_input *input, struct wr_starts *starts,
                                        struct wr_buf *out, struct weir_err *err);

/* What of a request whose newest turn was `last_turn`, up to segment `end`, is written into the
 * provider's cache again, behind the first place that steps since then have changed; 0: nobody
 * knows. */
uint64_t wr_run_rewrites(const struct wr_run *run, uint32_t last_turn, uint32_t end);

/* A hash of how the run leaves what a request had that ended before segment `end` and at turn
 * `turn`: equal where the same would be sent of it. */
wr_hash128 wr_run_forms(struct wr_run *run, uint32_t turn, uint32_t end);

/* Takes everything back: the original is what leaves, and the report says so. */
void wr_run_fall_back(struct wr_run *run, const char *reason);

/* ---- over window ----
 *
 * Why a prompt is larger than its room although all that is lawful was taken
 * out.
 */

/* A constant sentence; NULL: it is not over its window, or nobody knows the window. */
const char *wr_over_window(const struct wr_run *run);

#endif
