/* settle.h -- a plan carried out: applied, validated, and where it fails rolled back.
 *
 * 1. A finding about a segment takes that segment's change back and keeps the rest.
 * 2. A finding about the structure takes all of them back: the original goes on, byte for byte.
 * 3. Nothing stands: the result is the input, not a copy made by other means (law L1).
 * 4. Carrying out a plan again gives the same again: what it marks in the plan it does not read.
 */
#ifndef WR_ENGINE_SETTLE_H
#define WR_ENGINE_SETTLE_H

#include "engine/plan.h"
#include "engine/validate.h"

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

#endif
