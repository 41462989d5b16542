/* projection.h -- one request on its way through the engine, from the body that was read to the
 * body that is sent.
 *
 *   weir_request    the body, read (engine/engine.h)
 *   wr_projection   that request under way: whose it is, its model, window, policy and marks
 *     wr_run        what the policy makes of it: the fold, the plan, the result (engine/run.h)
 *       wr_plan     which segments change, and what they say from then on (engine/plan.h)
 *       wr_settled  the plan carried out and checked (engine/run.h)
 *   wr_record       what was done and why (engine/record.h)
 *   weir_projected  what the caller gets
 */
#ifndef WR_ENGINE_PROJECTION_H
#define WR_ENGINE_PROJECTION_H

#include "engine/engine.h"
#include "engine/marks.h"
#include "engine/record.h"
#include "engine/run.h"
#include "engine/steer.h"
#include "engine/trail.h"
#include "models/window.h"
#include "policy/meter.h"
#include "policy/policy.h"
#include "weir/engine.h"

struct wr_projection {
    /* given; borrowed */
    struct weir_request *request;
    const struct weir_project_options *options;
    const struct wr_models *models;
    struct wr_meter *meter;
    const struct wr_policies *policies;
    struct wr_policies *const *older; /* WR_POLICIES_OLDER_MAX of them; NULL: none */
    struct wr_marks_held *held;
    struct wr_fold_memo *folds;
    struct wr_starts *starts;   /* of results that were read again */
    struct wr_fold_input input; /* `count` and `user` are given */

    /* found */
    weir_span tenant, session;
    struct wr_model_match match;
    struct wr_ways ways;
    struct wr_trail trail;
    struct wr_marks marks;
    wr_hash128 fold_seed;           /* of keys in `folds` */
    const struct wr_folded *folded; /* the fold this one goes on from; NULL: from the start */
    wr_hash128 from_key; /* of that in `folds`, where its texts are; and that very state */
    const struct wr_fold_state *from_state;
    struct wr_sent sent;  /* this request, as it was committed; else not known */
    weir_hash *originals; /* that the session has in the store by now, as far as this one rests on
                           * them */
    uint32_t originals_count;
    struct wr_order_head said; /* of the session: how much there is to hear */
    bool is_exact_said;        /* messages are to go as they came */
    struct wr_sent extends;    /* the newest request that this one goes on from, whatever became */
    bool has_marks; /* it has a store, a policy that does something, and its whole history */
    bool has_pin;
    bool is_back;                  /* it was sent as it came since the last time it was projected */
    bool is_pending;               /* `asked` waits; input.policy is the last one */
    const struct wr_policy *asked; /* by this request, or by the pin */
    struct wr_policies *kept_policies; /* of the last policy, if it was kept with the session */
    weir_trouble store_trouble;        /* of the commit */
    bool is_last_try;                  /* whatever becomes of the store */
    bool is_outrun;                    /* another has committed to the session meanwhile */
    uint64_t replaced_count;           /* of the store that the marks are read from */
    uint32_t pinned_window_tokens;
    const char *window_source, *pinned_source; /* constants */
    bool is_repinned;          /* a server says another window than the session had */
    struct wr_reserve reserve; /* what this request's answer may take */
    char pinned_policy[WR_POLICY_NAME_BYTES_MAX + 1];
    char pinned_tools[WR_TOOLS_BYTES_MAX + 1];
    struct wr_run run;
};

/* Fills in the engine's part of `record`, which was zeroed, and of `projected` the body and what
 * the record does not tell. WEIR_NOTFOUND: there is no such policy. Any other failure leaves the
 * request to be sent as it came. */
WEIR_MUST_USE weir_status wr_project(struct wr_projection *p, struct wr_record *record,
                                     struct weir_projected *projected, struct weir_err *err);

#endif
