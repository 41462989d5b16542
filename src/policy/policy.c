/* Policies as data: finding them by name, the rules for single tools, comparing and hashing.
 *
 * The hash is what marks and pins in a store are held to: it covers stages, values and rules, and
 * neither name nor description. A stage that gains or loses a parameter so ends the marks of every
 * session that runs it; policy_test.c has the hashes of the presets, so that nobody does that by
 * accident. */
#include "policy/policy.h"

#include <string.h>

#include "base/hash.h"
#include "base/span.h"
#include "models/window.h"
#include "policy/presets.h"
#include "policy/stage.h"

static const struct wr_stage_def *const stage_defs[] = {
    &wr_stage_cap,
    &wr_stage_evict,
    &wr_stage_reference,
    &wr_stage_mask,
    &wr_stage_clear,
    &wr_stage_fold_loops,
    &wr_stage_summarise_active,
    &wr_stage_summary,
    &wr_stage_fill,
    &wr_stage_drop_groups,
    &wr_stage_prune_arguments,
    &wr_stage_rehydrate,
    &wr_stage_condense,
    &wr_stage_lossless,
    &wr_stage_numbers,
    &wr_stage_select,
    &wr_stage_weigh,
    &wr_stage_deepen,
    &wr_stage_fit,
};

/* ---- the presets ---- */

uint32_t wr_policy_count(void)
{
    return wr_presets_count;
}

const struct wr_policy *wr_policy_at(uint32_t index)
{
    return index < wr_policy_count() ? &wr_presets[index] : NULL;
}

bool wr_policy_is_called(const struct wr_policy *policy, weir_span name)
{
    return wr_span_is(name, policy->name) || (policy->alias && wr_span_is(name, policy->alias));
}

const struct wr_policy *wr_policy_find(weir_span name)
{
    for (uint32_t i = 0; i < wr_presets_count; i++)
        if (wr_policy_is_called(&wr_presets[i], name))
            return &wr_presets[i];
    return NULL;
}

const char *wr_policy_tighter(weir_span name)
{
    const char *last = NULL;
    for (const char *const *rung = wr_presets_ladder; *rung; rung++) {
        if (wr_span_is(name, *rung))
            return rung[1];
        last = *rung;
    }
    return last;
}

/* ---- the stages ---- */

uint32_t wr_stage_def_count(void)
{
    return WR_COUNT_OF(stage_defs);
}

const struct wr_stage_def *wr_stage_def_at(uint32_t index)
{
    return index < wr_stage_def_count() ? stage_defs[index] : NULL;
}

const struct wr_stage_def *wr_stage_def_find(weir_span name)
{
    for (size_t i = 0; i < WR_COUNT_OF(stage_defs); i++)
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

/* A single '_' is part of too many names. */
weir_span wr_tool_last_part(weir_span name)
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
    weir_span last = wr_tool_last_part(tool);

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
