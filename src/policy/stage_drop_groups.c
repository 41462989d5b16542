/* drop_groups: the last resort. When the prompt still does not fit, the oldest groups of calls and
 * results of the running loop leave; the newest group and everything that is not a group stay.
 *
 * The document leaves no trace of them. Here a notice stands in their place, because what leaves
 * must have a way back; and they leave deeper than needed, so that the next request need not do it
 * again. */
#include "policy/stage.h"

#include "base/limits.h"
#include "policy/budget.h"

enum { DEPTH_BP = 8000 }; /* of the room, to which a step goes down */

/* Collects the oldest groups until what is left is below `goal_tokens`. */
static uint32_t collect(struct wr_fold *fold, uint64_t goal_tokens, uint32_t *list)
{
    const struct wr_transcript *t = fold->transcript;
    uint64_t left_tokens = fold->total_tokens;
    uint32_t count = 0;

    for (uint32_t g = 0; g < fold->arrived && left_tokens > goal_tokens; g++) {
        if (t->segments[g].group != g || !wr_fold_group_may_leave(fold, g))
            continue;
        for (uint32_t i = g; i < fold->group_end[g]; i++) {
            if (t->segments[i].group != g || fold->segments[i].form == WR_FORM_DROPPED)
                continue;
            list[count++] = i;
            left_tokens -= fold->segments[i].tokens;
        }
    }
    return count;
}

static weir_status drop_request(struct wr_fold *fold, const struct wr_stage *stage)
{
    uint64_t limit_tokens = wr_fold_threshold(fold, 10000 - (uint64_t)stage->params[0]);
    struct wr_fold_replacement r = {.role = WEIR_ROLE_SYSTEM, .reason = WR_STEP_WINDOW};
    struct wr_buf notice;
    bool taken;

    if (fold->total_tokens <= limit_tokens)
        return WEIR_OK;
    uint32_t *list = wr_stage_list(fold);
    if (!list)
        return wr_arena_status(fold->arena);
    uint32_t count = collect(fold, wr_share_tokens(limit_tokens, DEPTH_BP), list);
    weir_status status = wr_stage_omit(fold, list, count, &r);
    if (status || !count)
        return status;
    wr_buf_init(&notice, WR_OUTPUT_BYTES_MAX);
    wr_buf_text(&notice, "[older calls and their results omitted]");
    status = wr_stage_keep(fold, &notice, &r.text);
    return status ? status : wr_fold_replace(fold, &r, &taken);
}

const struct wr_stage_def wr_stage_drop_groups = {
    .name = "drop_groups",
    .what = "when the prompt still does not fit, the oldest groups leave",
    .request = drop_request,
    .params = {{"margin_bp", 1000, 0, 9000, NULL,
                "share of the window kept free, in basis points"}},
    .params_count = 1,
};
