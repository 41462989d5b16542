#include "policy/policy.h"

#include <string.h>

#include "base/hash.h"
#include "base/span.h"
#include "models/window.h"
#include "policy/stage.h"

static const struct wr_stage_def *const stage_defs[] = {
    &wr_stage_cap,      &wr_stage_evict,       &wr_stage_reference,        &wr_stage_mask,
    &wr_stage_clear,    &wr_stage_fold_loops,  &wr_stage_summarise_active, &wr_stage_summary,
    &wr_stage_fill,     &wr_stage_drop_groups, &wr_stage_prune_arguments,  &wr_stage_rehydrate,
    &wr_stage_condense, &wr_stage_lossless,    &wr_stage_select,           &wr_stage_weigh,
    &wr_stage_deepen,   &wr_stage_fit,
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define EXACT(name)                      \
    {                                    \
        .tool = (name), .is_exact = true \
    }

/* Tools that page by themselves, or whose results are short, as the document of `tiered` has them.
 */
static const struct wr_tool_rule tiered_evict_tools[] = {
    EXACT("ls"),        EXACT("glob"),       EXACT("grep"),  EXACT("read_file"),
    EXACT("edit_file"), EXACT("write_file"), EXACT("delete")};
static const struct wr_tool_rule tiered_clear_tools[] = {EXACT("record_attempt")};

/* auto and its variants differ in what they risk: the price of a miss at first sight, the margin of
 * a saving over its expected cost, and the newest turns that a step leaves alone. */
#define AUTO_STAGES(miss_tokens, margin_pct, keep_turns)                                   \
    {                                                                                      \
        {.def = &wr_stage_reference, .params = {64}},                                      \
            {.def = &wr_stage_weigh, .params = {300, 10000, (margin_pct), (miss_tokens)}}, \
            {.def = &wr_stage_deepen,                                                      \
             .params = {(keep_turns), 200, 500, 8500, 5000, 40, 400, 1000}},               \
            {.def = &wr_stage_summary, .params = {9200, 170000, 0, 6, 4000}},              \
            {.def = &wr_stage_drop_groups, .params = {0}}, {.def = &wr_stage_fit},         \
    }

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
     .stages = {{.def = &wr_stage_evict,
                 .params = {20000, 5, 5, 1000},
                 .tools = tiered_evict_tools,
                 .tools_count = COUNT(tiered_evict_tools)},
                {.def = &wr_stage_clear,
                 .params = {6000, 60000, 0, 0},
                 .tools = tiered_clear_tools,
                 .tools_count = COUNT(tiered_clear_tools)},
                {.def = &wr_stage_summary, .params = {8500, 170000, 0, 6, 4000}}},
     .stages_count = 3},
    {.name = "smart",
     .what = "lossless transforms, duplicates to references, older results cleared at 50 %, "
             "candidates by utility as room shrinks",
     .stages = {{.def = &wr_stage_lossless, .params = {300}},
                {.def = &wr_stage_reference, .params = {64}},
                {.def = &wr_stage_clear, .params = {5000, 25600, 1, 3}},
                {.def = &wr_stage_select, .params = {128, 300, 300}},
                {.def = &wr_stage_rehydrate, .params = {8000}}},
     .stages_count = 5},
    {.name = "auto",
     .what = "condensed on arrival where it pays, re-formed in deep steps when the cache is cold, "
             "the window forces it or it pays",
     .stages = AUTO_STAGES(18000, 200, 1),
     .stages_count = 6},
    {.name = "lean",
     .what = "auto that saves more and lets the model recall more often",
     .stages = AUTO_STAGES(4000, 100, 0),
     .stages_count = 6},
    {.name = "careful",
     .what = "auto that keeps nearly everything the next action may quote",
     .stages = AUTO_STAGES(90000, 250, 3),
     .stages_count = 6},
};

static const struct {
    const char *alias, *name;
} aliases[] = {{"duckagent_recoverable_decay_guarded_mid", "guarded-mid"}};

uint32_t wr_policy_count(void)
{
    return COUNT(presets);
}

const struct wr_policy *wr_policy_at(uint32_t index)
{
    return index < wr_policy_count() ? &presets[index] : NULL;
}

const struct wr_policy *wr_policy_find(weir_span name)
{
    for (size_t i = 0; i < COUNT(aliases); i++)
        if (wr_span_is(name, aliases[i].alias))
            name = wr_span_of(aliases[i].name);
    for (uint32_t i = 0; i < wr_policy_count(); i++)
        if (wr_span_is(name, presets[i].name))
            return &presets[i];
    return NULL;
}

uint32_t wr_stage_def_count(void)
{
    return COUNT(stage_defs);
}

const struct wr_stage_def *wr_stage_def_at(uint32_t index)
{
    return index < wr_stage_def_count() ? stage_defs[index] : NULL;
}

const struct wr_stage_def *wr_stage_def_find(weir_span name)
{
    for (size_t i = 0; i < COUNT(stage_defs); i++)
        if (wr_span_is(name, stage_defs[i]->name))
            return stage_defs[i];
    return NULL;
}

uint32_t wr_policy_unknown_window(const struct wr_policy *policy)
{
    for (uint32_t i = 0; i < policy->stages_count; i++)
        if (policy->stages[i].def->window_tokens)
            return policy->stages[i].def->window_tokens;
    return WR_FALLBACK_TOKENS;
}

/* ---- rules for tools ---- */

/* What stands behind the last `__`, '.' or '/'. A single '_' is part of too many names. */
static weir_span last_part(weir_span name)
{
    for (size_t i = name.len; i > 0; i--) {
        char c = name.ptr[i - 1];
        bool is_double = c == '_' && i > 1 && name.ptr[i - 2] == '_';
        if (c == '.' || c == '/' || is_double)
            return wr_span_cut(name, i, name.len);
    }
    return name;
}

const struct wr_tool_rule *wr_stage_rule(const struct wr_stage *stage, weir_span tool)
{
    const struct wr_tool_rule *found = NULL;
    weir_span last = last_part(tool);

    for (uint32_t i = 0; i < stage->tools_count; i++) {
        if (wr_span_is(tool, stage->tools[i].tool))
            return &stage->tools[i];
        if (!found && last.len && wr_span_is(last, stage->tools[i].tool))
            found = &stage->tools[i];
    }
    return found;
}

bool wr_stage_exempts(const struct wr_stage *stage, weir_span tool)
{
    const struct wr_tool_rule *rule = wr_stage_rule(stage, tool);
    return rule && rule->is_exact;
}

int64_t wr_stage_param(const struct wr_stage *stage, weir_span tool, uint32_t index)
{
    const struct wr_tool_rule *rule = wr_stage_rule(stage, tool);
    return rule && rule->set >> index & 1 ? rule->params[index] : stage->params[index];
}

static bool rules_equal(const struct wr_tool_rule *a, const struct wr_tool_rule *b)
{
    if (strcmp(a->tool, b->tool) || a->is_exact != b->is_exact || a->set != b->set)
        return false;
    for (uint32_t i = 0; i < WR_STAGE_PARAMS_MAX; i++)
        if (a->set >> i & 1 && a->params[i] != b->params[i])
            return false;
    return true;
}

static bool stages_equal(const struct wr_stage *a, const struct wr_stage *b)
{
    if (a->def != b->def || a->tools_count != b->tools_count)
        return false;
    for (uint32_t i = 0; i < a->def->params_count; i++)
        if (a->params[i] != b->params[i])
            return false;
    for (uint32_t i = 0; i < a->tools_count; i++)
        if (!rules_equal(&a->tools[i], &b->tools[i]))
            return false;
    return true;
}

bool wr_policy_equal(const struct wr_policy *a, const struct wr_policy *b)
{
    if (a->stages_count != b->stages_count)
        return false;
    for (uint32_t i = 0; i < a->stages_count; i++)
        if (!stages_equal(&a->stages[i], &b->stages[i]))
            return false;
    return true;
}

static uint64_t add_number(uint64_t hash, int64_t number)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)number >> 8 * i);
    return wr_hash64_seeded((weir_span){(const char *)bytes, sizeof(bytes)}, hash);
}

static uint64_t add_rule(uint64_t hash, const struct wr_tool_rule *rule)
{
    hash = wr_hash64_seeded(wr_span_of(rule->tool), hash);
    hash = add_number(hash, (int64_t)rule->set << 1 | rule->is_exact);
    for (uint32_t i = 0; i < WR_STAGE_PARAMS_MAX; i++)
        if (rule->set >> i & 1)
            hash = add_number(hash, rule->params[i]);
    return hash;
}

uint64_t wr_policy_hash(const struct wr_policy *policy)
{
    uint64_t hash = policy->stages_count;
    for (uint32_t i = 0; i < policy->stages_count; i++) {
        const struct wr_stage *stage = &policy->stages[i];
        hash = wr_hash64_seeded(wr_span_of(stage->def->name), hash);
        for (uint32_t p = 0; p < stage->def->params_count; p++)
            hash = add_number(hash, stage->params[p]);
        for (uint32_t r = 0; r < stage->tools_count; r++)
            hash = add_rule(hash, &stage->tools[r]);
    }
    return hash;
}
