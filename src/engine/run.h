/* run.h -- a policy run on a request: folded, turned into a plan, applied and validated.
 *
 * What must be in the store before the result may leave is listed in `artifacts` (law L2): whoever
 * sends the result commits them first, and sends the original where that fails. A fold that goes on
 * from a state takes what that had listed for committed.
 */
#ifndef WR_ENGINE_RUN_H
#define WR_ENGINE_RUN_H

#include "base/hash.h"
#include "engine/alternate.h"
#include "engine/settle.h"
#include "policy/fold.h"

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

#endif
