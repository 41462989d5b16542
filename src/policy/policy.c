#include "policy/policy.h"

#include <string.h>

#include "base/span.h"
#include "policy/stage.h"

static const struct wr_stage_def *const stage_defs[] = {
    &wr_stage_cap,   &wr_stage_evict,       &wr_stage_reference,        &wr_stage_mask,
    &wr_stage_clear, &wr_stage_fold_loops,  &wr_stage_summarise_active, &wr_stage_summary,
    &wr_stage_fill,  &wr_stage_drop_groups,
};

/* Parameters that a preset leaves out have the defaults of their stage, which are its document's.
 */
static const struct wr_policy presets[] = {
    {.name = "exact", .what = "nothing is changed: the bytes that leave are the bytes that came"},
    {.name = "guarded-mid",
     .what = "completed loops fold into one summary; under pressure the running loop's results too",
     .stages = {{.def = &wr_stage_fold_loops, .params = {2000, 220}},
                {.def = &wr_stage_summarise_active, .params = {18000, 220}}},
     .stages_count = 2},
    {.name = "compress",
     .what = "at 80 % older results are cleared, then the middle becomes a structured summary",
     .stages = {{.def = &wr_stage_clear, .params = {8000, 25600, 1, 4}},
                {.def = &wr_stage_summary, .params = {8000, 25600, 2, 6, 4000}}},
     .stages_count = 2},
    {.name = "layers",
     .what = "results capped on arrival, history filled newest first, the middle masked, groups "
             "dropped last",
     .stages = {{.def = &wr_stage_cap, .params = {8000, WR_CAP_HEAD}},
                {.def = &wr_stage_fill, .params = {20000}},
                {.def = &wr_stage_mask, .params = {2, 5, 10}},
                {.def = &wr_stage_drop_groups, .params = {1000}}},
     .stages_count = 4},
    {.name = "tiered",
     .what = "very large results evicted on arrival, older ones cleared at 60 %, a summary at 85 %",
     .stages = {{.def = &wr_stage_evict, .params = {20000, 5, 5, 1000}},
                {.def = &wr_stage_clear,
                 .params = {6000, 60000, 0, 0},
                 .exempt = {"record_attempt"},
                 .exempt_count = 1},
                {.def = &wr_stage_summary, .params = {8500, 170000, 0, 6, 4000}}},
     .stages_count = 3},
};

static const struct {
    const char *alias, *name;
} aliases[] = {{"duckagent_recoverable_decay_guarded_mid", "guarded-mid"}};

uint32_t wr_policy_count(void)
{
    return sizeof(presets) / sizeof(presets[0]);
}

const struct wr_policy *wr_policy_at(uint32_t index)
{
    return index < wr_policy_count() ? &presets[index] : NULL;
}

const struct wr_policy *wr_policy_find(weir_span name)
{
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        if (wr_span_is(name, aliases[i].alias))
            name = wr_span_of(aliases[i].name);
    for (uint32_t i = 0; i < wr_policy_count(); i++)
        if (wr_span_is(name, presets[i].name))
            return &presets[i];
    return NULL;
}

uint32_t wr_stage_def_count(void)
{
    return sizeof(stage_defs) / sizeof(stage_defs[0]);
}

const struct wr_stage_def *wr_stage_def_at(uint32_t index)
{
    return index < wr_stage_def_count() ? stage_defs[index] : NULL;
}

bool wr_stage_exempts(const struct wr_stage *stage, weir_span tool)
{
    for (uint32_t i = 0; i < stage->exempt_count; i++)
        if (wr_span_is(tool, stage->exempt[i]))
            return true;
    return false;
}
