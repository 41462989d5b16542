/* What a session makes of its policy: the stages that it does itself, and the rest for the engine.
 *
 * The engine finds policies by name and compares them by hash, so what is left of a policy is one
 * of its own, "session-NAME". Those of all other policies are there too: the last request of a
 * session that was told another policy since was sent under one of them, and the engine holds on to
 * it while signed thinking binds the prefix (docs/policies.md, "Marks and pins").
 */
#include "session/session_policy.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/span.h"
#include "models/window.h"
#include "policy/budget.h"
#include "policy/stage.h"

static void set_said(int64_t *param, uint64_t value)
{
    if (value != WR_SETTING_UNSAID)
        *param = (int64_t)value;
}

/* What comes behind it is a last resort at most. */
static bool is_last(const struct wr_policy *policy, uint32_t index)
{
    while (++index < policy->stages_count)
        if (policy->stages[index].def != &wr_stage_fit)
            return false;
    return true;
}

static bool is_done_by_session(const struct wr_policy *policy, uint32_t index)
{
    enum wr_stage_work work = policy->stages[index].def->work;
    return work == WR_WORK_HISTORY || (work == WR_WORK_SUMMARY && is_last(policy, index));
}

/* A session that fills its history, or writes the summary, keeps itself within the window: the last
 * resort would take out what it is about to summarise. */
static bool is_left_to_session(const struct wr_policy *policy, uint32_t index)
{
    for (uint32_t i = 0; i < policy->stages_count; i++)
        if (is_done_by_session(policy, i))
            return policy->stages[index].def == &wr_stage_fit;
    return false;
}

static bool has_work(const struct wr_policy *policy, enum wr_stage_work work)
{
    for (uint32_t i = 0; i < policy->stages_count; i++)
        if (policy->stages[i].def->work == work)
            return true;
    return false;
}

/* The share of the window that two stages or more wait for, where it is one and the same for all;
 * else 0. Such a policy has one threshold, which `compression_threshold` moves. */
static int64_t shared_threshold(const struct wr_policy *policy)
{
    int64_t share = 0;
    uint32_t count = 0;

    for (uint32_t i = 0; i < policy->stages_count; i++) {
        const struct wr_stage *stage = &policy->stages[i];
        if (stage->def->acts_at != wr_stage_at_share)
            continue;
        if (count++ && stage->params[0] != share)
            return 0;
        share = stage->params[0];
    }
    return count > 1 ? share : 0;
}

/* `session.context` speaks of the stages of a policy that keeps history within a budget. */
static void set_context(struct wr_stage *stage, const struct wr_settings *s)
{
    if (stage->def == &wr_stage_cap) {
        set_said(&stage->params[WR_CAP_MAX_TOKENS], s->result_tokens_max);
        set_said(&stage->params[WR_CAP_KEEP], s->truncation);
    } else if (stage->def == &wr_stage_mask) {
        set_said(&stage->params[WR_MASK_KEEP_FIRST], s->keep_first);
        set_said(&stage->params[WR_MASK_KEEP_LAST], s->keep_last);
    } else if (stage->def == &wr_stage_fill) {
        set_said(&stage->params[WR_FILL_HISTORY_TOKENS], s->history_tokens_max);
    }
}

/* In a session's settings two zeros mean that nothing is masked. */
static bool is_switched_off(const struct wr_stage *stage, const struct wr_settings *s)
{
    bool is_said = s->keep_first != WR_SETTING_UNSAID || s->keep_last != WR_SETTING_UNSAID;
    return is_said && stage->def == &wr_stage_mask && !stage->params[WR_MASK_KEEP_FIRST] &&
           !stage->params[WR_MASK_KEEP_LAST];
}

static void take_stage(struct wr_session_policy *made, const struct wr_stage *stage,
                       bool is_sessions)
{
    if (!is_sessions) {
        made->engine.stages[made->engine.stages_count++] = *stage;
    } else if (stage->def->work == WR_WORK_SUMMARY) {
        made->has_summary = true;
        made->summary = *stage;
    } else {
        made->history_tokens = (uint64_t)stage->params[WR_FILL_HISTORY_TOKENS];
    }
}

/* Rules for tools in `made` are borrowed from `policy`. */
static void make_policy(struct wr_session_policy *made, const struct wr_policy *policy,
                        const struct wr_settings *settings)
{
    int64_t threshold = shared_threshold(policy);
    bool is_moved = threshold && settings->threshold_bp != WR_SETTING_UNSAID;

    memset(made, 0, sizeof(*made));
    made->engine.what = policy->what;
    made->is_idle = !policy->stages_count;
    /* A document that says what to take an unknown window for defines its policy by the table. */
    made->has_window_table = wr_policy_unknown_window(policy) != WR_FALLBACK_TOKENS;
    made->fills_history = has_work(policy, WR_WORK_HISTORY);
    made->threshold_bp = threshold ? (uint32_t)threshold : WR_COMPRESS_THRESHOLD_BP;
    if (settings->threshold_bp != WR_SETTING_UNSAID)
        made->threshold_bp = (uint32_t)settings->threshold_bp;
    for (uint32_t i = 0; i < policy->stages_count; i++) {
        struct wr_stage stage = policy->stages[i];
        if (is_left_to_session(policy, i))
            continue;
        if (is_moved && stage.def->acts_at == wr_stage_at_share)
            stage.params[0] = (int64_t)settings->threshold_bp;
        if (made->fills_history)
            set_context(&stage, settings);
        if (!made->fills_history || !is_switched_off(&stage, settings))
            take_stage(made, &stage, is_done_by_session(policy, i));
    }
    bool is_same = wr_policy_equal(&made->engine, policy);
    (void)snprintf(made->name, sizeof(made->name), "%s%.*s", is_same ? "" : "session-",
                   (int)(sizeof(made->name) - sizeof("session-")), policy->name);
    made->engine.name = made->name;
}

uint64_t wr_session_policy_clear_at(const struct wr_session_policy *policy, uint64_t window_tokens)
{
    struct wr_stage_room room = {window_tokens, window_tokens - window_tokens / WR_RESERVE_SHARE};

    for (uint32_t i = 0; i < policy->engine.stages_count; i++) {
        const struct wr_stage *stage = &policy->engine.stages[i];
        if (stage->def->work == WR_WORK_SHORTENS)
            return wr_stage_when(stage, &room).at_tokens;
    }
    return 0;
}

weir_status wr_session_policies(struct wr_policies *policies, const struct wr_settings *settings,
                                struct wr_session_policy *made, struct weir_err *err)
{
    const struct wr_policy *chosen = wr_policies_find(policies, wr_span_of(settings->policy));
    uint32_t count = wr_policies_count(policies);
    weir_status status = WEIR_OK;

    if (!chosen)
        return wr_fail(err, WEIR_NOTFOUND, 0,
                       "no policy is called '%.60s'; `weir policies` lists them", settings->policy);
    for (uint32_t i = 0; i < count && !status; i++) {
        make_policy(made, wr_policies_at(policies, i), settings);
        if (!wr_policies_find(policies, wr_span_of(made->name)))
            status = wr_policies_add(policies, &made->engine);
    }
    /* Last, so that it goes before a policy of the user's that has this very name. */
    make_policy(made, chosen, settings);
    const struct wr_policy *same = wr_policies_find(policies, wr_span_of(made->name));
    if (!status && (!same || !wr_policy_equal(same, &made->engine)))
        status = wr_policies_add(policies, &made->engine);
    return status ? wr_fail(err, status, 0, "no memory for the policies") : WEIR_OK;
}
