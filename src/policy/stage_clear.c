/* clear: once the prompt passes a share of the window, older results become `[cleared]`.
 *
 * Which are older is by count (the most recent `keep` stay; 0: 3 for windows under 100,000, else 6)
 * or by turns (`older_turns`). A step is taken only when it frees a twentieth of the window. */
#include "policy/stage.h"

#include "base/span.h"
#include "policy/budget.h"

static uint32_t keep_count(const struct wr_fold *fold, const struct wr_stage *stage)
{
    int64_t keep = stage->params[WR_CLEAR_KEEP];
    return keep ? (uint32_t)keep : wr_tiered_keep_recent(fold->window.tokens);
}

static bool is_old(const struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    return s->turn + (uint32_t)wr_stage_param(stage, s->tool, WR_CLEAR_OLDER_TURNS) < fold->turn;
}

static bool is_clearable(struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment)
{
    enum wr_form form = fold->segments[segment].form;
    bool is_shortened = form == WR_FORM_EVICTED || form == WR_FORM_CAPPED;
    return wr_fold_is_open(fold, stage, segment) ||
           (is_shortened && !wr_stage_exempts(stage, fold->transcript->segments[segment].tool));
}

static weir_status clear_request(struct wr_fold *fold, const struct wr_stage *stage)
{
    struct wr_fold_form form = {.form = WR_FORM_CLEARED,
                                .text = WR_LIT("[cleared]"),
                                .refers_to = WR_SEGMENT_NONE,
                                .reason = WR_STEP_PRESSURE};
    uint32_t *results = fold->scratch.lists[0], picked = 0;
    uint64_t gain_tokens = 0;
    weir_status status = WEIR_OK;

    if (fold->total_tokens <= wr_stage_trigger(fold, stage))
        return WEIR_OK;
    uint32_t count = wr_stage_results(fold, results), keep = keep_count(fold, stage);
    for (uint32_t i = 0; i + keep < count; i++) {
        if (!is_old(fold, stage, results[i]) || !is_clearable(fold, stage, results[i]) ||
            !wr_fold_gain(fold, results[i]))
            continue;
        gain_tokens += wr_fold_gain(fold, results[i]);
        results[picked++] = results[i];
    }
    if (gain_tokens < wr_fold_gain_min(fold))
        return WEIR_OK;
    for (uint32_t i = 0; i < picked && !status; i++)
        status = wr_fold_give(fold, results[i], &form);
    return status;
}

const struct wr_stage_def wr_stage_clear = {
    .name = "clear",
    .what = "past a share of the window, older results become [cleared]",
    .request = clear_request,
    .acts_at = wr_stage_at_share,
    .work = WR_WORK_SHORTENS,
    .params = {{"at_bp", 6000, 1, 10000, NULL, "share of the window, in basis points"},
               {"trigger_tokens", 60000, 1, 1000000000, NULL, "where the window is not known"},
               {"keep", 0, 0, 100000, NULL, "most recent results that stay; 0: by the window"},
               {"older_turns", 0, 0, 100000, NULL, "only results older than this many turns"}},
    .params_count = 4,
    .takes_tools = true,
    .tool_params = 1U << WR_CLEAR_OLDER_TURNS,
};
