/* The arithmetic of another project's offline simulator, followed step by step so that its
 * published figures come out (tests/workload_published_test.c). Its policies are a table: which
 * form a result takes when it arrives, under pressure, when its loop is over. They are that
 * project's own and are not to be mixed up with our presets of similar names, which run in the
 * engine.
 *
 * A loop: prepare() brings the prompt below its thresholds, request() pays for it, arrive() adds a
 * result, complete() ends the loop; need_*() pay for what is wanted and no longer there. */
#include "lab/workload.h"

#include <string.h>

#include "base/span.h"

/* How a result stands in the prompt. */
enum form {
    FORM_RAW,
    FORM_SUMMARY,     /* and its handle */
    FORM_BY_KIND,     /* an excerpt of working evidence, a summary of the rest */
    FORM_BUDGETED,    /* the same, as far as the budget for excerpts goes */
    FORM_RECOVERABLE, /* the same, but files without an excerpt are a handle alone */
    FORM_HANDLE,
    FORM_MARKER,
};

enum { MARKER_TOKENS = 8, CALL_TOKENS = 28, RECOVERY_OUTPUT_TOKENS = 64, GROUP_DIVISOR = 64 };
#define NO_LIMIT UINT64_MAX

struct policy {
    const char *name;
    enum form arrival, pressure;
    bool folds; /* completed loops take the form `completed` */
    enum form completed;
    bool reforms_old; /* older loops take the form `pressure` when the prompt is large */
    bool decays;      /* which then holds for recoverable forms too */
    bool pins;        /* a recovery of raw content brings back an excerpt */
    uint64_t pressure_exact, completed_exact, old_exact; /* budgets, a loop */
    double loop_ratio;       /* of the limit: above it the current loop is under pressure; 0: the
                                threshold of the prices */
    double loop_ratio_small; /* the same below 200K */
};

static const struct policy policies[] = {
    {"raw-snapshot", FORM_RAW, FORM_RAW, .pressure_exact = NO_LIMIT},
    {"immediate-summary", FORM_SUMMARY, FORM_SUMMARY, .pressure_exact = NO_LIMIT},
    {"adaptive-first", FORM_BY_KIND, FORM_BY_KIND, .pressure_exact = NO_LIMIT},
    {"loop-boundary-summary", FORM_RAW, FORM_SUMMARY, .folds = true, .completed = FORM_SUMMARY,
     .pressure_exact = NO_LIMIT, .loop_ratio = 1, .loop_ratio_small = 1},
    {"pressure-summary", FORM_RAW, FORM_SUMMARY, .reforms_old = true, .pressure_exact = NO_LIMIT},
    {"pressure-adaptive", FORM_RAW, FORM_BY_KIND, .reforms_old = true, .pressure_exact = NO_LIMIT},
    {"evidence-budget", FORM_RAW, FORM_BUDGETED, .reforms_old = true, .pressure_exact = 6000,
     .completed_exact = 6000, .old_exact = 6000},
    {"recoverable-balanced", FORM_RAW, FORM_RECOVERABLE, .folds = true,
     .completed = FORM_RECOVERABLE, .reforms_old = true, .decays = true, .pressure_exact = 18000,
     .completed_exact = 2000, .loop_ratio = 0.80, .loop_ratio_small = 0.80},
    {"guarded-mid", FORM_RAW, FORM_RECOVERABLE, .folds = true, .completed = FORM_RECOVERABLE,
     .reforms_old = true, .decays = true, .pins = true, .pressure_exact = 18000,
     .completed_exact = 2000, .loop_ratio = 0.85, .loop_ratio_small = 0.80},
    {"guarded-mid-unpinned", FORM_RAW, FORM_RECOVERABLE, .folds = true,
     .completed = FORM_RECOVERABLE, .reforms_old = true, .decays = true, .pressure_exact = 18000,
     .completed_exact = 2000, .loop_ratio = 0.85, .loop_ratio_small = 0.80},
};

uint32_t wr_workload_policies_count(void)
{
    return WR_COUNT_OF(policies);
}

const char *wr_workload_policy_name(uint32_t policy)
{
    return policies[policy].name;
}

struct shown { /* a result in the prompt */
    const struct wr_workload_call *call;
    enum form form;
    uint64_t tokens;
    bool is_exact;
};

struct turn { /* a loop in the prompt: the current one, or one that is over */
    const struct wr_workload_loop *loop;
    struct shown *shown;
    uint32_t shown_count;
    uint64_t tokens;    /* of one that is over */
    bool is_summarised; /* by a model: its results are gone */
    uint64_t summary_tokens;
    uint32_t summarised_count; /* calls of the current loop that the summary stands for */
};

struct run {
    const struct policy *policy;
    const struct wr_workload_prices *prices;
    struct wr_workload_result *result;
    struct turn *turns; /* that are over */
    uint32_t turns_count;
    struct turn current;
    uint64_t stable_tokens, limit_tokens, threshold_tokens, target_tokens, loop_threshold_tokens;
    uint64_t last_tokens;   /* of the request before; 0: there was none */
    uint64_t common_tokens; /* at most so much of it stands unchanged */
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t call_tokens(const struct wr_workload_call *call)
{
    return call->purpose_tokens + call->args_tokens + CALL_TOKENS;
}

/* ---- forms ---- */

static uint64_t summary_of(const struct wr_workload_call *call)
{
    return least(call->raw_tokens, call->summary_tokens + call->handle_tokens);
}

static uint64_t excerpt_of(const struct wr_workload_call *call)
{
    return least(call->raw_tokens, call->excerpt_tokens + call->handle_tokens);
}

static struct shown form_by_kind(const struct wr_workload_call *call)
{
    struct shown s = {call, FORM_BY_KIND, summary_of(call), call->is_working};
    if (call->is_working)
        s.tokens = excerpt_of(call);
    else if (!call->is_reference && !call->is_process)
        s.tokens = least(call->raw_tokens, call->summary_tokens);
    return s;
}

/* An excerpt while the budget lasts; `used` counts what is exact so far. */
static struct shown form_in_budget(const struct wr_workload_call *call, enum form form,
                                   uint64_t used, uint64_t budget)
{
    struct shown s = {call, form, summary_of(call), false};
    bool is_candidate = call->is_working && (form == FORM_BUDGETED || call->is_read);
    if (!is_candidate)
        return s;
    uint64_t excerpt = excerpt_of(call);
    s.is_exact = budget == NO_LIMIT || used + excerpt <= budget;
    if (s.is_exact)
        s.tokens = excerpt;
    else if (form == FORM_RECOVERABLE)
        s.tokens = least(call->raw_tokens, call->handle_tokens);
    return s;
}

static struct shown form_of(const struct wr_workload_call *call, enum form form, uint64_t used,
                            uint64_t budget)
{
    switch (form) {
    case FORM_RAW:
        return (struct shown){call, form, call->raw_tokens, call->is_working};
    case FORM_SUMMARY:
        return (struct shown){call, form, summary_of(call), false};
    case FORM_BY_KIND:
        return form_by_kind(call);
    case FORM_HANDLE:
        return (struct shown){call, form, least(call->raw_tokens, call->handle_tokens), false};
    case FORM_MARKER:
        return (struct shown){call, form, least(call->raw_tokens, MARKER_TOKENS), false};
    case FORM_BUDGETED:
    case FORM_RECOVERABLE:
        break;
    }
    return form_in_budget(call, form, used, budget);
}

/* Gives one result another form if that is smaller; its excerpt counts in any case. */
static void reform(struct run *r, struct shown *shown, enum form form, uint64_t *used,
                   uint64_t budget)
{
    struct shown next = form_of(shown->call, form, *used, budget);
    if (next.is_exact)
        *used += next.tokens;
    if (next.tokens >= shown->tokens)
        return;
    r->result->shown_tokens -= shown->tokens - next.tokens;
    *shown = next;
}

static bool is_reducible(const struct run *r, const struct shown *shown)
{
    return shown->form == FORM_RAW ||
           (r->policy->decays && (shown->form == FORM_RECOVERABLE || shown->form == FORM_BUDGETED));
}

/* ---- sizes ---- */

static uint64_t current_tokens(const struct turn *t)
{
    uint64_t tokens = t->is_summarised ? t->summary_tokens : t->loop->user_tokens;
    for (uint32_t i = t->is_summarised ? t->summarised_count : 0; i < t->shown_count; i++)
        tokens += call_tokens(t->shown[i].call) + t->shown[i].tokens;
    return tokens;
}

static uint64_t completed_tokens(const struct turn *t)
{
    uint64_t tokens = t->loop->user_tokens + t->loop->answer_tokens;
    for (uint32_t i = 0; i < t->shown_count; i++)
        tokens += call_tokens(t->shown[i].call) + t->shown[i].tokens;
    return tokens;
}

static uint64_t history_tokens(const struct run *r)
{
    uint64_t tokens = 0;
    for (uint32_t i = 0; i < r->turns_count; i++)
        tokens += r->turns[i].tokens;
    return tokens;
}

static uint64_t prompt_tokens(const struct run *r)
{
    return r->stable_tokens + history_tokens(r) + current_tokens(&r->current);
}

/* ---- the current loop under pressure ---- */

static bool reform_current(struct run *r, enum form form, uint64_t budget, bool only_reducible)
{
    bool changed = false;
    uint64_t used = 0;
    for (uint32_t i = 0; i < r->current.shown_count; i++) {
        if (only_reducible && !is_reducible(r, &r->current.shown[i]))
            continue;
        reform(r, &r->current.shown[i], form, &used, budget);
        changed = true; /* counted so even where the form stays, as the original does */
    }
    return changed;
}

static bool press_current(struct run *r)
{
    static const enum form harder[] = {FORM_SUMMARY, FORM_HANDLE, FORM_MARKER};
    if (r->current.is_summarised && r->current.summarised_count == r->current.shown_count)
        return false;
    if (prompt_tokens(r) <= least(r->loop_threshold_tokens, r->limit_tokens))
        return false;
    bool changed = reform_current(r, r->policy->pressure, r->policy->pressure_exact, true);
    for (size_t i = 0; i < WR_COUNT_OF(harder); i++) {
        if (prompt_tokens(r) <= r->limit_tokens)
            return changed;
        changed |= reform_current(r, harder[i], NO_LIMIT, false);
    }
    return changed;
}

/* ---- summaries by a model ---- */

static void pay_compaction(struct run *r, uint64_t input_tokens, uint64_t output_tokens)
{
    struct wr_workload_result *m = r->result;
    m->compactions++;
    m->compaction_input_tokens += input_tokens;
    m->compaction_output_tokens += output_tokens;
    m->compaction_usd += ((double)input_tokens * r->prices->input_usd +
                          (double)output_tokens * r->prices->output_usd) /
                         1e6;
}

static uint64_t group_tokens(const struct run *r, uint64_t before)
{
    uint64_t per_loop = r->prices->compaction_output_tokens;
    return r->prices->snapshot_overhead_tokens +
           least(most(per_loop, before / GROUP_DIVISOR), per_loop * 8);
}

/* Turns [from, to) become one summary; what that saved. */
static uint64_t group(struct run *r, uint32_t from, uint32_t to)
{
    uint64_t before = 0;
    struct turn *first = NULL;
    for (uint32_t i = from; i < to; i++) {
        before += r->turns[i].tokens;
        if (!first && r->turns[i].tokens)
            first = &r->turns[i];
    }
    uint64_t after = group_tokens(r, before);
    if (!first || after >= before)
        return 0;
    for (uint32_t i = from; i < to; i++)
        if (r->turns[i].tokens) {
            r->turns[i].tokens = 0;
            r->turns[i].is_summarised = true;
        }
    first->tokens = after;
    pay_compaction(r, r->prices->snapshot_overhead_tokens + before, after);
    return before - after;
}

/* How far from `from` to `to` a summary must reach for the prompt to come down to `target`. */
static uint32_t group_end(const struct run *r, uint32_t from, uint32_t to, uint64_t target)
{
    uint64_t whole = prompt_tokens(r), projected = whole, taken = 0;
    uint32_t end = from;
    for (uint32_t i = from; i < to; i++) {
        if (projected <= target && projected <= r->limit_tokens)
            break;
        if (!r->turns[i].tokens)
            continue;
        taken += r->turns[i].tokens;
        end = i + 1;
        uint64_t after = group_tokens(r, taken);
        projected = whole - (taken > after ? taken - after : 0);
    }
    return end;
}

static uint32_t filled_count(const struct run *r, uint32_t end)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < end; i++)
        count += r->turns[i].tokens > 0;
    return count;
}

static bool summarise_current(struct run *r)
{
    struct turn *t = &r->current;
    const struct wr_workload_prices *p = r->prices;
    uint64_t before = current_tokens(t), user = t->loop->user_tokens;
    if (before <= user)
        return false;
    uint64_t after = user + p->loop_compaction_overhead_tokens +
                     least(before - user, p->compaction_output_tokens);
    pay_compaction(r, p->snapshot_overhead_tokens + before, after);
    t->is_summarised = true;
    t->summary_tokens = after;
    t->summarised_count = t->shown_count;
    return after < before;
}

/* What is too wide even so keeps the user's words alone. */
static void cut_current(struct run *r)
{
    struct turn *t = &r->current;
    const struct wr_workload_prices *p = r->prices;
    uint64_t before = current_tokens(t);
    t->summary_tokens = t->loop->user_tokens + p->loop_compaction_overhead_tokens;
    t->summarised_count = t->shown_count;
    pay_compaction(r, p->snapshot_overhead_tokens + before, t->summary_tokens);
}

/* ---- older loops ---- */

static bool reform_old(struct run *r, struct turn *t)
{
    uint64_t used = 0, before = t->tokens;
    bool any = false;
    for (uint32_t i = 0; i < t->shown_count; i++)
        any |= is_reducible(r, &t->shown[i]);
    if (t->is_summarised || !any)
        return false;
    for (uint32_t i = 0; i < t->shown_count; i++) {
        if (is_reducible(r, &t->shown[i]))
            reform(r, &t->shown[i], r->policy->pressure, &used, r->policy->old_exact);
        else if (t->shown[i].is_exact)
            used += t->shown[i].tokens;
    }
    t->tokens = completed_tokens(t);
    return t->tokens < before;
}

static bool compact(struct run *r, uint32_t old)
{
    uint32_t keep = (uint32_t)r->prices->keep_recent_loops;
    bool changed = group(r, 0, group_end(r, 0, old, r->target_tokens)) > 0;

    if (prompt_tokens(r) > r->limit_tokens)
        changed |= group(r, old, group_end(r, old, r->turns_count, r->limit_tokens)) > 0;
    while (prompt_tokens(r) > r->target_tokens && r->turns_count > keep + 1) {
        if (filled_count(r, old) < 2 || !group(r, 0, old))
            break;
        changed = true;
    }
    if (prompt_tokens(r) > r->limit_tokens)
        changed |= summarise_current(r);
    if (prompt_tokens(r) > r->limit_tokens && r->current.is_summarised) {
        cut_current(r);
        changed = true;
    }
    return changed;
}

/* Before each request: everything in its form. After a change only the stable prefix is what the
 * cache has. */
static void prepare(struct run *r)
{
    uint64_t keep = r->prices->keep_recent_loops;
    uint32_t old = r->turns_count > keep ? r->turns_count - (uint32_t)keep : 0;
    bool changed = press_current(r);

    if (prompt_tokens(r) > least(r->threshold_tokens, r->limit_tokens)) {
        for (uint32_t i = 0; i < old && r->policy->reforms_old; i++)
            if (reform_old(r, &r->turns[i])) {
                changed = true;
                if (prompt_tokens(r) <= r->target_tokens)
                    break;
            }
        if (prompt_tokens(r) > least(r->target_tokens, r->limit_tokens))
            changed |= compact(r, old);
    }
    if (changed)
        r->common_tokens = least(r->common_tokens, r->stable_tokens);
}

/* ---- a request ---- */

static uint64_t cached_tokens(const struct wr_workload_prices *p, uint64_t common)
{
    if (common < p->cache_min_tokens)
        return 0;
    return common - (common - p->cache_min_tokens) % p->cache_step_tokens;
}

/* False: over a limit, where the run ends. */
static bool request(struct run *r, uint64_t output_tokens)
{
    struct wr_workload_result *m = r->result;
    const struct wr_workload_prices *p = r->prices;
    uint64_t input = prompt_tokens(r);
    uint64_t cached = least(cached_tokens(p, least(r->last_tokens, r->common_tokens)), input);
    uint64_t limit = p->input_tokens ? p->input_tokens : p->context_tokens;
    uint64_t over = limit && input > limit ? 1 : 0;

    over += p->output_tokens && output_tokens > p->output_tokens;
    m->requests++;
    m->input_tokens += input;
    m->cached_tokens += cached;
    m->output_tokens += output_tokens;
    m->prompt_tokens_max = most(m->prompt_tokens_max, input);
    m->request_usd += ((double)cached * p->cached_usd + (double)(input - cached) * p->input_usd +
                       (double)output_tokens * p->output_usd) /
                      1e6;
    m->over_limit += over;
    m->penalty_usd += (double)over * p->failure_usd;
    r->last_tokens = input;
    r->common_tokens = NO_LIMIT;
    return !over;
}

/* ---- what is needed and no longer there ---- */

static void pay_recovery(struct run *r, double probability, uint64_t tokens)
{
    struct wr_workload_result *m = r->result;
    if (!tokens) { /* there is no way back */
        m->recovery_usd += probability * r->prices->failure_usd;
        m->failures += probability;
        return;
    }
    tokens += r->prices->recovery_overhead_tokens;
    m->recovery_usd +=
        probability *
        ((double)tokens * r->prices->input_usd + RECOVERY_OUTPUT_TOKENS * r->prices->output_usd) /
        1e6;
    m->recovery_tokens += probability * (double)(tokens + RECOVERY_OUTPUT_TOKENS);
    m->recovery_calls += probability;
}

/* The share of what a need may be after that is still there. */
static double kept_share(const struct turn *t, enum wr_workload_need need)
{
    uint32_t of = 0, kept = 0;
    for (uint32_t i = 0; i < t->shown_count && !t->is_summarised; i++) {
        const struct shown *s = &t->shown[i];
        bool counts = need == WR_NEED_RAW || s->call->is_working;
        of += counts;
        kept += counts && (need == WR_NEED_RAW ? s->tokens >= s->call->raw_tokens : s->is_exact);
    }
    return of ? (double)kept / of : 0;
}

static uint64_t recovery_tokens(const struct run *r, const struct wr_workload_loop *loop,
                                enum wr_workload_need need)
{
    uint64_t tokens = 0, pinned = 0;
    for (uint32_t i = 0; i < loop->calls_count; i++) {
        const struct wr_workload_call *c = &loop->calls[i];
        uint64_t exact = most(c->recovery_tokens[WR_NEED_EXACT], c->excerpt_tokens);
        tokens = most(tokens, need == WR_NEED_RAW ? c->raw_tokens : c->recovery_tokens[need]);
        if (c->is_read && exact)
            pinned = most(pinned, least(c->raw_tokens, exact + c->handle_tokens));
    }
    return need == WR_NEED_RAW && r->policy->pins && pinned ? pinned : tokens;
}

static bool has_raw(const struct turn *t)
{
    for (uint32_t i = 0; i < t->shown_count; i++)
        if (t->shown[i].form == FORM_RAW)
            return true;
    return false;
}

static bool has_handle(const struct turn *t)
{
    for (uint32_t i = 0; i < t->shown_count; i++)
        if (t->shown[i].call->handle_tokens)
            return true;
    return false;
}

/* `said` is what the file says the recovery takes; UINT64_MAX: what the calls say. */
static void need_of(struct run *r, const struct turn *t, enum wr_workload_need need,
                    double probability, uint64_t said)
{
    if (need == WR_NEED_NONE || need == WR_NEED_CONCLUSION || probability <= 0)
        return;
    if (need == WR_NEED_HANDLE) {
        if (!has_handle(t))
            pay_recovery(r, probability, 0);
        return;
    }
    if (need == WR_NEED_DETAIL && !t->is_summarised && has_raw(t))
        return;
    if (need == WR_NEED_EXACT || need == WR_NEED_RAW)
        probability *= 1 - kept_share(t, need);
    if (probability <= 0)
        return;
    uint64_t tokens = recovery_tokens(r, t->loop, need);
    bool is_pinned = need == WR_NEED_RAW && r->policy->pins;
    pay_recovery(r, probability, said != UINT64_MAX && !is_pinned ? said : tokens);
}

static void need_all(struct run *r, const struct turn *t, const double *needs)
{
    for (int i = 0; i < WR_NEEDS; i++)
        need_of(r, t, (enum wr_workload_need)i, needs[i], UINT64_MAX);
}

static void need_earlier(struct run *r, const struct wr_workload_loop *loop)
{
    for (uint32_t i = 0; i < loop->events_count; i++) {
        const struct wr_workload_event *e = &loop->events[i];
        if (e->loops_back <= r->turns_count)
            need_of(r, &r->turns[r->turns_count - e->loops_back], e->need, e->probability,
                    e->recovery_tokens);
    }
}

/* ---- a loop ---- */

/* A result arrives: whole, while that fits. */
static void arrive(struct run *r, const struct wr_workload_call *call)
{
    struct turn *t = &r->current;
    enum form form = r->policy->arrival;
    uint64_t used = 0;

    if (form == FORM_RAW && prompt_tokens(r) + call_tokens(call) + call->raw_tokens >
                                least(r->loop_threshold_tokens, r->limit_tokens))
        form = r->policy->pressure;
    for (uint32_t i = 0; i < t->shown_count; i++)
        used += t->shown[i].is_exact ? t->shown[i].tokens : 0;
    struct shown shown = form_of(call, form, used, r->policy->pressure_exact);
    r->result->raw_tokens += call->raw_tokens;
    r->result->shown_tokens += shown.tokens;
    t->shown[t->shown_count++] = shown;
}

static void complete(struct run *r)
{
    struct turn *t = &r->turns[r->turns_count];
    uint64_t before_tokens = history_tokens(r), used = 0;

    *t = r->current;
    t->tokens = current_tokens(&r->current) + t->loop->answer_tokens;
    r->turns_count++;
    if (r->policy->folds && !t->is_summarised) {
        uint64_t before = t->tokens;
        for (uint32_t i = 0; i < t->shown_count; i++)
            reform(r, &t->shown[i], r->policy->completed, &used, r->policy->completed_exact);
        t->tokens = completed_tokens(t);
        if (t->tokens != before)
            r->common_tokens =
                least(r->common_tokens, r->stable_tokens + before_tokens + t->loop->user_tokens);
    }
    need_all(r, t, t->loop->later);
}

static bool run_loop(struct run *r, const struct wr_workload_loop *loop)
{
    r->current.loop = loop;
    r->result->turns++;
    prepare(r);
    need_earlier(r, loop);
    for (uint32_t i = 0; i < loop->calls_count; i++) {
        prepare(r);
        if (!request(r, call_tokens(&loop->calls[i])))
            return false;
        arrive(r, &loop->calls[i]);
    }
    if (loop->calls_count) {
        prepare(r);
        need_all(r, &r->current, loop->own);
    }
    if (!request(r, loop->answer_tokens))
        return false;
    complete(r);
    r->result->turns_completed++;
    return true;
}

static void set_limits(struct run *r)
{
    const struct wr_workload_prices *p = r->prices;
    uint64_t limit = p->input_tokens ? p->input_tokens : p->context_tokens;
    double ratio = limit < 200000 ? r->policy->loop_ratio_small : r->policy->loop_ratio;

    r->stable_tokens = p->system_tokens + p->tool_schema_tokens + p->memory_catalog_tokens;
    r->threshold_tokens = r->target_tokens = p->context_threshold_tokens;
    if (limit && p->threshold_ratio > 0)
        r->threshold_tokens = most(1, (uint64_t)((double)limit * p->threshold_ratio));
    if (limit && p->target_ratio > 0)
        r->target_tokens = most(1, (uint64_t)((double)limit * p->target_ratio));
    r->target_tokens = least(r->target_tokens, r->threshold_tokens);
    r->loop_threshold_tokens =
        limit && ratio > 0 ? most(1, (uint64_t)((double)limit * ratio)) : r->threshold_tokens;
    r->limit_tokens = limit ? limit : r->threshold_tokens;
    r->common_tokens = NO_LIMIT;
}

weir_status wr_workload_run(const struct wr_workload *workload, uint32_t policy,
                            const struct wr_workload_prices *prices, struct wr_arena *arena,
                            struct wr_workload_result *result)
{
    struct run r = {.policy = &policies[policy], .prices = prices, .result = result};
    *result = (struct wr_workload_result){.policy = policies[policy].name};
    set_limits(&r);
    r.turns = WR_ARENA_ARRAY(arena, struct turn, workload->loops_count);
    if (!r.turns)
        return wr_arena_status(arena);
    for (uint32_t i = 0; i < workload->loops_count; i++) {
        r.current = (struct turn){0};
        r.current.shown = WR_ARENA_ARRAY(arena, struct shown, workload->loops[i].calls_count);
        if (!r.current.shown)
            return wr_arena_status(arena);
        if (!run_loop(&r, &workload->loops[i]))
            break;
    }
    return WEIR_OK;
}
