/* run.h -- a policy run on a request: folded, turned into a plan, applied and validated.
 *
 * What must be in the store before the result may leave is listed in `artifacts` (law L2): whoever
 * sends the result commits them first, and sends the original where that fails.
 */
#ifndef WR_ENGINE_RUN_H
#define WR_ENGINE_RUN_H

#include "engine/project.h"
#include "policy/fold.h"

struct wr_artifact {
    struct wr_handle handle;
    weir_span text;
};

struct wr_run {
    struct wr_fold fold;
    struct wr_plan plan;
    struct wr_projection projection;
    struct wr_artifact *artifacts;
    uint32_t artifacts_count;
    uint64_t tokens_before, tokens_after; /* of the whole prompt; after: as folded */
};

/* Everything is in `arena`, the result's bytes in `out` or in the request itself. Fails for lack of
 * memory or room only; the original is then still there to send. */
WEIR_MUST_USE weir_status wr_run_policy(struct wr_run *run, struct wr_arena *arena,
                                        const struct wr_fold_input *input, struct wr_buf *out,
                                        struct weir_err *err);

/* Takes everything back: the original is what leaves, and the report says so. */
void wr_run_fall_back(struct wr_run *run, const char *reason);

/* What was done and why, as one JSON object (docs/policies.md). `held_back`: why nothing of it was
 * sent after all, or NULL. */
void wr_run_report(const struct wr_run *run, const char *held_back, struct wr_buf *out);

#endif
