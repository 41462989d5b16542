/* One request's way through the engine.
 *
 *   identify        whose request it is, which model, which conversation (the trail of its turns)
 *   learn_calls     of a delta: calls that the provider holds and the host remembers
 *   project         as often as the store is replaced under it, at most TRIES_MAX times:
 *     pin, policy   what the session keeps, and what is said now (projection_policy.c)
 *     measure       tokens of each segment, the window, what the answer may take, ways back
 *     read_marks    what earlier requests decided; where the last fold is remembered it is gone on
 *                   from, if its originals are still in the store
 *     run           fold, plan, result (run.c)
 *     find_step     whether the result changes what was sent before, by comparing
 *     commit        originals, marks and pins in one transaction (law L2); a store that cannot be
 *                   written leaves what is new whole
 *   answer, remember
 *
 * A step is found by comparing with the mark of what was sent, not by asking the stages: another
 * model, window or tools list shows in the same way, and so would a fault of ours.
 */
#include "engine/projection.h"

#include <string.h>

#include "api/api.h"
#include "api/lawful.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "engine/cache_marker.h"
#include "engine/projection_policy.h"
#include "engine/record.h"
#include "models/registry.h"
#include "models/window.h"
#include "policy/worth.h"

enum { TTL_MS = 300000, TTL_LONG_MS = 3600000 }; /* of a marker that says nothing, and "1h" */
enum { TRIES_MAX = 3, SESSION_HEX_BYTES = 32 };

/* ---- who and what ---- */

/* A name for a session that was given none: the hash of what it began with. */
static weir_status name_session(struct wr_projection *p)
{
    char *name = wr_arena_alloc(&p->request->arena, SESSION_HEX_BYTES + 1);
    wr_hash128 first = p->trail.turns_count ? p->trail.turns[0] : (wr_hash128){0, 0};

    if (!name)
        return wr_arena_status(&p->request->arena);
    (void)snprintf(name, SESSION_HEX_BYTES + 1, "%016llx%016llx", (unsigned long long)first.low,
                   (unsigned long long)first.high);
    p->session = (weir_span){name, SESSION_HEX_BYTES};
    return WEIR_OK;
}

static weir_status identify(struct wr_projection *p)
{
    const struct weir_project_options *o = p->options;
    struct weir_request *r = p->request;
    weir_span name = o->model ? wr_span_of(o->model) : r->transcript.model;

    p->match = wr_models_lookup(p->models, name);
    p->tenant = o->tenant.len ? o->tenant : WR_LIT(WEIR_TENANT_DEFAULT);
    p->session = o->session;
    /* What counts tokens is in it too: summaries are cut by tokens. */
    p->input.memo_seed = wr_hash64_seeded(p->match.model->id, wr_hash64(p->tenant));
    weir_status status = wr_trail_read(&p->trail, &r->arena, &r->transcript);
    if (!status && o->model)
        p->trail.model = wr_hash64(wr_span_of(o->model));
    if (!status && o->alternates)
        p->trail.head = wr_hash64_seeded(WR_LIT("alternates"), p->trail.head);
    if (!status && r->transcript.drops_thinking)
        p->trail.head = wr_hash64_seeded(WR_LIT("drops thinking"), p->trail.head);
    return status || p->session.len ? status : name_session(p);
}

/* Results whose calls the provider holds: what the host remembers of them is as good. */
static weir_status learn_calls(struct wr_projection *p)
{
    struct wr_transcript *t = &p->request->transcript;
    const struct weir_project_options *o = p->options;
    weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < t->segments_count && t->is_delta && !status; i++) {
        const struct wr_segment *s = &t->segments[i];
        if (s->kind != WEIR_KIND_TOOL_RESULT || s->pair != WR_SEGMENT_NONE || !s->call_id.len)
            continue;
        for (size_t k = 0; k < o->calls_count && !status; k++)
            if (wr_span_eq(o->calls[k].id, s->call_id))
                status = wr_transcript_know_call(t, i, o->calls[k].name, o->calls[k].arguments);
    }
    return status;
}

/* ---- measures ---- */

/* The session keeps its window, but for what a server says that it has loaded: that is a fact, and
 * another number than before is a new pin and a step. Not over signed thinking, which would be
 * bound to what was sent under the old one. */
static bool keeps_window(const struct wr_projection *p, const struct wr_window *window)
{
    if (!p->has_pin || p->options->window_tokens)
        return false;
    return window->source != WR_WINDOW_LOADED || wr_holds_signed_thinking(&p->request->transcript);
}

static uint64_t window_tokens(struct wr_projection *p)
{
    const struct weir_project_options *o = p->options;
    bool has_name = o->model || p->request->transcript.model.len;
    /* A server that is told a window loads the model anew with it. */
    uint32_t told_tokens = p->request->transcript.loads_tokens;
    struct wr_window_evidence evidence = {
        .configured_tokens = o->window_tokens,
        .loaded_tokens = told_tokens ? told_tokens : o->loaded_tokens,
        .observed_tokens = o->observed_tokens,
        .match = has_name ? &p->match : NULL,
        .fallback_tokens = wr_policy_unknown_window(p->input.policy)};
    struct wr_window window = wr_window_select(&evidence);

    p->window_source = wr_window_source_text(window.source);
    if (!keeps_window(p, &window)) {
        p->is_repinned = p->has_pin && window.source == WR_WINDOW_LOADED &&
                         window.tokens != p->pinned_window_tokens;
        return window.tokens;
    }
    p->window_source = p->pinned_source;
    return p->pinned_window_tokens;
}

/* Policies that count what a step costs also see to it that what stands before it is read. */
static bool is_weighing(const struct wr_policy *policy)
{
    for (uint32_t i = 0; i < policy->stages_count; i++)
        if (policy->stages[i].def->counts_cost)
            return true;
    return false;
}

/* What this request lets its answer take. Where there are marks they say it turn by turn, so that a
 * number that changes from request to request moves no step that was taken before (law L3). */
static void set_reserve(struct wr_projection *p)
{
    const struct weir_request *r = p->request;
    struct wr_reserve_input input = {.asked_tokens = r->transcript.answer_tokens_max,
                                     .window_tokens = (uint32_t)p->input.window_tokens,
                                     .model = p->match.model};

    p->reserve = wr_window_reserve(&input);
    p->input.reserve_tokens = p->reserve.tokens;
    p->input.is_reserve_named = p->reserve.is_named;
}

static weir_status measure(struct wr_projection *p, struct weir_err *err)
{
    struct weir_request *r = p->request;
    struct wr_fold_input *input = &p->input;
    struct wr_measure measured;

    weir_status status = wr_meter_use_model(p->meter, p->match.model, err);
    if (!status)
        status = wr_meter_measure(p->meter, &r->transcript, &r->arena, &measured);
    if (!status && p->options->store)
        status = wr_ways_read(&p->ways, &r->arena, &r->transcript);
    if (p->options->without_recall)
        p->ways.recall = (weir_span){"", 0};
    if (status)
        return status;
    input->transcript = &r->transcript;
    input->tokens = measured.segment_tokens;
    input->base_tokens = measured.base_tokens;
    input->overheads = measured.segment_overheads;
    input->message_overhead_tokens = measured.message_overhead_tokens;
    input->window_tokens = window_tokens(p);
    set_reserve(p);
    input->factor_bp = p->options->factor_bp;
    input->binds_thinking = p->match.model->preserved_thinking;
    input->keeps_originals = p->options->store != NULL;
    input->prices = wr_fold_prices_of(p->match.model);
    input->ways = &p->ways;
    input->places_markers = is_weighing(input->policy);
    input->alternates = p->options->alternates && wr_api_of(r->transcript.dialect)->may_alternate;
    return WEIR_OK;
}

/* ---- marks ---- */

static int64_t marker_ttl_ms(const struct wr_json *doc, wr_json_id marker)
{
    return wr_lawful_marker_is_long(doc, marker) ? TTL_LONG_MS : TTL_MS;
}

/* How long the provider keeps what this request wrote. 0: it is not kept; -1: nobody knows. */
static int64_t ttl_ms(const struct wr_projection *p)
{
    const struct wr_transcript *t = &p->request->transcript;
    const struct wr_cache_rule *rule = p->match.model->cache;
    wr_json_id top = wr_find_marker(t->doc, 0);
    int64_t longest = top == WR_JSON_NONE ? 0 : marker_ttl_ms(t->doc, top);

    if (!wr_api_of(t->dialect)->marker_key)
        return rule && rule->ttl_s ? (int64_t)rule->ttl_s * 1000 : -1;
    for (uint32_t i = 0; i < t->segments_count; i++) {
        if (t->segments[i].marker == WR_JSON_NONE)
            continue;
        int64_t ttl = marker_ttl_ms(t->doc, t->segments[i].marker);
        longest = ttl > longest ? ttl : longest;
    }
    return longest;
}

/* A request without markers is not cached, unless the provider has reported cache reads: then a
 * gateway adds the markers, with the default lifetime. */
static bool is_cold(struct wr_projection *p)
{
    const struct wr_sent *last = &p->marks.last;
    int64_t ttl = ttl_ms(p), now_ms = p->options->now_ms;

    p->marks.is_cached = !ttl && (p->options->reads_cache || last->is_cached);
    if (p->marks.is_cached)
        ttl = TTL_MS;

    if (!last->is_known || ttl < 0 || (ttl && !last->at_ms))
        return false;
    if (last->turn + 1 == p->trail.turns_count)
        return false; /* sent again, it is to be the same again */
    if (ttl == 0)
        return true;
    return now_ms && now_ms > last->at_ms && now_ms - last->at_ms > ttl;
}

/* Turns that Weir has not seen were sent unchanged by somebody else. If a session begins with such
 * turns, another session that began with the same words does not tell how these were sent. */
static weir_status attach(struct wr_projection *p)
{
    struct wr_marks *marks = &p->marks;
    uint32_t newest = marks->trail.turns_count - 1;

    if (p->options->attaches && (!marks->last.is_known || marks->last.turn + 1 < newest))
        wr_marks_drop_copies(marks);
    bool is_resumed = p->extends.is_exact && !p->is_exact_said;
    bool attaches = p->options->attaches || is_resumed;
    p->is_back = (is_resumed || (p->options->attaches && p->options->was_whole)) &&
                 !p->is_pending && marks->last.is_known && newest;
    if (p->is_back) {
        /* Nothing differs from what was sent last, but for thinking that goes. (Of what was sent as
         * it came because somebody had said so there is a mark to compare with.) */
        if (!is_resumed)
            marks->last.is_known = marks->turns[newest].is_switched;
        p->folded = NULL;
    } else if (marks->list_count) {
        return WEIR_OK;
    }
    if (!attaches || !newest || (marks->last.is_known && !p->is_back))
        return WEIR_OK;
    for (uint32_t i = 0; i < newest; i++)
        marks->turns[i].is_whole = true;
    p->input.deadline.known_turns = newest;
    return wr_marks_add(marks, WEIR_MARK_ATTACHED, newest - 1, (weir_span){"", 0});
}

static weir_status narrow(struct wr_projection *p)
{
    struct wr_marks *marks = &p->marks;
    uint32_t tokens = p->options->overflow_tokens;

    return tokens ? wr_marks_add_window(marks, marks->trail.turns_count - 1, tokens) : WEIR_OK;
}

/* What the marks say of the answers to come by now. */
static struct wr_fold_turn answer_in_force(const struct wr_marks *marks)
{
    struct wr_fold_turn in_force = {.answer = WR_ANSWER_DEFAULT};

    for (uint32_t i = marks->trail.turns_count; i-- > 0;)
        if (marks->turns[i].answer != WR_ANSWER_AS_BEFORE)
            return marks->turns[i];
    return in_force;
}

/* A request that was sent already keeps what it had then: sent again, it is to be the same again.
 */
static bool is_sent_again(const struct wr_projection *p)
{
    const struct wr_sent *last = &p->marks.last;
    return last->is_known && last->turn == p->marks.trail.turns_count - 1 &&
           last->policy == p->marks.policy && last->window_tokens == p->marks.window_tokens;
}

/* What was learnt of the provider's count moves the thresholds of steps to come, and only where it
 * makes a difference: every mark costs a row. */
static weir_status mark_count(struct wr_projection *p)
{
    enum { DIFFERENCE_BP = 300 };
    struct wr_marks *marks = &p->marks;
    uint32_t factor = p->options->factor_bp, before = 10000;

    for (uint32_t i = marks->trail.turns_count; i-- > 0;)
        if (marks->turns[i].factor_bp) {
            before = marks->turns[i].factor_bp;
            break;
        }
    uint32_t difference = factor > before ? factor - before : before - factor;
    if (!factor || difference < DIFFERENCE_BP || is_sent_again(p))
        return WEIR_OK;
    return wr_marks_add_count(marks, marks->trail.turns_count - 1, factor);
}

static weir_status mark_answer(struct wr_projection *p)
{
    struct wr_marks *marks = &p->marks;
    uint32_t newest = marks->trail.turns_count - 1;
    struct wr_fold_turn now = answer_in_force(marks);
    bool was_named = now.answer == WR_ANSWER_NAMED, is_named = p->reserve.is_named;

    if (is_sent_again(p) ||
        (is_named == was_named && (!is_named || now.answer_tokens == p->reserve.tokens)))
        return WEIR_OK;
    return wr_marks_add_answer(marks, newest, is_named, p->reserve.tokens);
}

static bool is_unchanged(const struct wr_projection *p)
{
    uint32_t count;
    const struct wr_fold_turn *known = wr_fold_state_turns(p->folded->state, &count);
    const struct wr_fold_turn *now = &p->marks.turns[count - 1];
    known += count - 1;
    return now->is_whole == known->is_whole && now->is_late == known->is_late &&
           now->is_cold == known->is_cold && now->is_switched == known->is_switched &&
           now->window_tokens == known->window_tokens && now->answer == known->answer &&
           now->answer_tokens == known->answer_tokens && now->factor_bp == known->factor_bp &&
           wr_span_eq(now->orders, known->orders);
}

/* Whether the store would bring back all of these. */
static bool are_stored(struct wr_projection *p, const weir_hash *hashes, uint32_t count)
{
    bool *is_there = WR_ARENA_ARRAY(&p->request->arena, bool, count);

    if (!is_there || weir_store_has(p->options->store, p->tenant, hashes, count, is_there, NULL))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!is_there[i])
            return false;
    return true;
}

/* The newest fold of this conversation that is remembered, or NULL. */
static const struct wr_folded *find_fold(struct wr_projection *p)
{
    uint32_t turns = p->trail.turns_count;
    uint64_t whose = wr_hash64_seeded(p->session, (uint64_t)(uintptr_t)p->options->store);

    p->fold_seed = wr_fold_memo_seed(&p->input, whose);
    for (uint32_t i = 0; i < turns && i < WR_MARKS_LOOK_BACK_TURNS; i++) {
        wr_hash128 key = wr_fold_memo_key(p->fold_seed, &p->trail, turns - 1 - i);
        const struct wr_folded *folded = wr_fold_memo_find(p->folds, key);
        if (folded)
            return folded;
    }
    return NULL;
}

/* Reads what was decided under the policy at hand. */
static weir_status find_marks(struct wr_projection *p)
{
    struct wr_marks_input input = {.trail = &p->trail,
                                   .store = p->options->store,
                                   .tenant = p->tenant,
                                   .session = p->session,
                                   .policy = p->input.policy,
                                   .window_tokens = p->input.window_tokens,
                                   .held = p->held};

    const struct wr_folded *folded = find_fold(p);
    if (folded) {
        input.known_turns = wr_fold_state_turns(folded->state, &input.known_turns_count);
        input.known_sent = &folded->sent;
        input.is_replaced = folded->replaced_count != p->replaced_count;
    }
    weir_status status = wr_marks_read(&p->marks, &p->request->arena, &input);
    p->folded = p->marks.is_remembered ? folded : NULL;
    return status;
}

/* Where another policy was in force before, thinking that was signed over what it sent may have to
 * go, or the policy to wait. */
static weir_status change_policy(struct wr_projection *p)
{
    uint32_t newest = p->trail.turns_count - 1;
    const struct wr_policy *last = NULL;

    enum wr_policy_change change = wr_projection_change_of_policy(p, &last);
    switch (change) {
    case WR_CHANGE_FREE:
        break;
    case WR_CHANGE_UNSIGNS:
        p->marks.turns[newest].is_switched = true;
        return wr_marks_add(&p->marks, WEIR_MARK_STEP, newest, WR_LIT(WR_STEP_POLICY_WORD));
    case WR_CHANGE_KEEPS:
    case WR_CHANGE_WAITS:
        p->is_pending = change == WR_CHANGE_WAITS;
        p->input.policy = last;
        p->input.places_markers = is_weighing(last);
        return find_marks(p);
    }
    return WEIR_OK;
}

static weir_status read_marks(struct wr_projection *p)
{
    p->has_marks = p->options->store && p->trail.turns_count && !p->request->transcript.is_delta;
    if (!p->has_marks)
        return wr_projection_hear_orders(p);
    p->input.reserve_tokens = p->input.window_tokens / WR_RESERVE_SHARE;
    p->input.is_reserve_named = false; /* until a mark says so */
    p->input.factor_bp = 0;
    weir_status status = find_marks(p);
    p->extends = p->marks.last;
    if (!status)
        status = change_policy(p);
    if (!status)
        status = attach(p);
    if (!status)
        status = wr_projection_hear_orders(p);
    if (!status)
        status = narrow(p);
    if (!status)
        status = mark_answer(p);
    if (!status)
        status = mark_count(p);
    if (status)
        return status;
    struct wr_fold_turn *now = &p->marks.turns[p->trail.turns_count - 1];
    bool is_cold_now = is_cold(p);
    now->is_cold = !now->is_switched && (now->is_cold || is_cold_now);
    p->input.turns = p->marks.turns;
    if (p->marks.last.is_known)
        p->input.deadline.known_turns = p->marks.last.turn + 1;
    /* A mark on the newest turn of what is remembered came after it: it is folded anew. */
    if (p->folded && !is_unchanged(p))
        p->folded = NULL;
    /* What was lost since is put back by a fold from the start, which commits all it rests on. */
    if (p->folded && !are_stored(p, p->folded->originals, p->folded->originals_count))
        p->folded = NULL;
    p->input.from = p->from_state = p->folded ? p->folded->state : NULL;
    if (p->folded)
        p->from_key = p->folded->key;
    return WEIR_OK;
}

/* ---- the run ---- */

#define TOO_LATE "what is new stays whole: the deadline has passed"

/* The clock runs from here on; known_turns is filled in with the marks. */
static void start_clock(struct wr_projection *p)
{
    const struct weir_project_options *o = p->options;
    uint64_t new_ms = o->deadline_ms ? o->deadline_ms : WR_PROJECT_NEW_MS_MAX;
    uint64_t all_ms = o->deadline_hard_ms ? o->deadline_hard_ms : WR_PROJECT_MS_MAX;

    if (o->clock_us)
        p->input.deadline = (struct wr_fold_deadline){.now_us = o->clock_us,
                                                      .user = o->clock_user,
                                                      .started_us = o->clock_us(o->clock_user),
                                                      .new_us_max = new_ms * 1000,
                                                      .all_us_max = all_ms * 1000};
}

/* Without a store nothing is taken out, and nobody asks. */
static weir_status find_own_markers(struct wr_projection *p)
{
    struct wr_arena *arena = &p->request->arena;
    struct wr_own_markers own = {.transcript = &p->request->transcript,
                                 .store = p->options->store,
                                 .tenant = p->tenant,
                                 .marks = p->has_marks ? &p->marks : NULL};
    if (!own.store || !p->input.policy->stages_count)
        return WEIR_OK;
    if (p->input.from && !wr_fold_state_fits(p->input.from, &p->input))
        p->input.from = NULL;
    if (p->input.from)
        own.first_segment = wr_fold_state_segments(p->input.from);
    bool *is_marked = WR_ARENA_ARRAY(arena, bool, own.transcript->segments_count);
    if (!is_marked)
        return wr_arena_status(arena);
    p->input.is_marked = is_marked;
    return wr_own_markers_find(&own, arena, is_marked);
}

static weir_status run(struct wr_projection *p, struct weir_err *err)
{
    struct wr_buf *body = wr_request_output(p->request);
    if (!body)
        return wr_arena_status(&p->request->arena);
    weir_status status = find_own_markers(p);
    if (status)
        return status;
    return wr_run_policy(&p->run, &p->request->arena, &p->input, p->starts, body, err);
}

static enum wr_step_reason reason_of(const struct wr_projection *p, bool *is_unexplained)
{
    const struct wr_sent *last = &p->marks.last;
    const struct wr_fold *fold = &p->run.fold;
    const struct wr_fold_step *own = fold->steps_count ? &fold->steps[fold->steps_count - 1] : NULL;

    if (last->model != p->marks.trail.model)
        return WR_STEP_MODEL;
    if (last->policy != p->marks.policy)
        return WR_STEP_POLICY;
    if (last->window_tokens != p->marks.window_tokens || p->options->overflow_tokens)
        return WR_STEP_WINDOW;
    if (own && own->turn > last->turn) /* turns may have come that nobody here has seen */
        return own->reason;
    if (wr_transcript_has_late_answer(&p->request->transcript, p->trail.ends[last->turn]))
        return WR_STEP_LATE_RESULT;
    /* Where the server wants turns to be taken is part of the head, as its tools are. */
    *is_unexplained = last->head == p->marks.trail.head;
    return WR_STEP_TOOLS;
}

/* A step is what changes what was sent before: found by comparing, not by asking the stages. */
static void find_step(struct wr_projection *p)
{
    const struct wr_sent *last = &p->marks.last;
    struct wr_run_step step = {0};

    if (!p->has_marks)
        return;
    if (!last->is_known) { /* nothing was sent before that this could differ from */
        p->run.step = step;
        return;
    }
    wr_hash128 forms = wr_run_forms(&p->run, last->turn, p->trail.ends[last->turn]);
    step.is_taken = forms.low != last->forms.low || forms.high != last->forms.high;
    if (step.is_taken) {
        step.reason = reason_of(p, &step.is_unexplained);
        step.rewrites_tokens = wr_run_rewrites(&p->run, last->turn, p->trail.ends[last->turn]);
    }
    p->run.step = step;
}

static weir_status list_marks(struct wr_projection *p)
{
    struct wr_marks *marks = &p->marks;
    uint32_t newest = marks->trail.turns_count - 1;
    wr_hash128 forms = wr_run_forms(&p->run, newest, p->trail.ends[newest]);
    weir_status status = WEIR_OK;

    if (wr_fold_took_cold(&p->run.fold))
        status = wr_marks_add(marks, WEIR_MARK_STEP, newest, WR_LIT(WR_STEP_COLD_WORD));
    else
        marks->turns[newest].is_cold = false; /* nothing came of it */
    for (uint32_t i = 0; i <= newest && !status; i++) {
        uint32_t from;
        if (wr_fold_late_turn(&p->run.fold, i, &from) && !marks->turns[i].is_whole)
            status = wr_marks_add_late(marks, i, from);
    }
    /* What is remembered of the request before stands for other forms than it was sent in last. */
    if (!status && p->is_back)
        status =
            wr_marks_add_sent(marks, newest - 1, p->options->now_ms, (wr_hash128){0, 0}, &p->sent);
    if (!status)
        status = wr_marks_add_sent(marks, newest, p->options->now_ms, forms, &p->sent);
    return status ? status : wr_marks_add_held(marks, p->held, p->tenant);
}

/* ---- the commit ---- */

static weir_status fill_batch(struct wr_projection *p, struct weir_batch *batch,
                              struct weir_pin pins[WR_PROJECTION_PINS_MAX])
{
    struct wr_arena *arena = &p->request->arena;
    bool is_delta = p->request->transcript.is_delta;

    *batch = (struct weir_batch){.tenant = p->tenant,
                                 .session = p->session,
                                 .used_ms = p->options->now_ms,
                                 .durability = is_delta ? WEIR_DURABLE_FULL : WEIR_DURABLE_NORMAL,
                                 .artifacts_count = p->run.artifacts_count};
    batch->artifacts = WR_ARENA_ARRAY(arena, struct weir_artifact, p->run.artifacts_count);
    if (!batch->artifacts)
        return wr_arena_status(arena);
    for (uint32_t i = 0; i < p->run.artifacts_count; i++)
        batch->artifacts[i].text = p->run.artifacts[i].text;
    if (!p->has_marks)
        return WEIR_OK;
    weir_status status = list_marks(p);
    batch->marks = p->marks.list;
    batch->marks_count = p->marks.list_count;
    batch->pins = pins;
    return status ? status : wr_projection_write_pins(p, pins, &batch->pins_count);
}

static weir_status commit_batch(struct wr_projection *p, struct weir_batch *batch)
{
    struct weir_store *store = p->options->store;
    weir_status status = weir_store_commit(store, batch, NULL);
    if (status == WEIR_INVALID && weir_store_trouble(store) == WEIR_TROUBLE_CONFLICT &&
        batch->pins_count) {
        /* Another process has pinned the session meanwhile; what it said holds from now on. */
        batch->pins_count--;
        status = weir_store_commit(store, batch, NULL);
    }
    return status;
}

/* Whether everything that the run takes out is in the store, though nothing can be written now. */
static bool has_originals(struct wr_projection *p)
{
    uint32_t count = p->run.artifacts_count;
    weir_hash *hashes = WR_ARENA_ARRAY(&p->request->arena, weir_hash, count);

    if (!hashes)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (wr_sha256(p->run.artifacts[i].text, hashes[i].bytes))
            return false;
    return are_stored(p, hashes, count);
}

/* What is new stays whole, and stays so; what was sent before keeps its form where its original is
 * in the store already (law L6). */
static weir_status keep_new_whole(struct wr_projection *p, struct weir_err *err)
{
    const char *trouble = weir_trouble_text(weir_store_trouble(p->options->store));
    struct wr_fold_turn *now;

    p->store_trouble = weir_store_trouble(p->options->store);
    if (!p->has_marks) {
        wr_run_fall_back(&p->run, trouble);
        return WEIR_OK;
    }
    now = &p->marks.turns[p->trail.turns_count - 1];
    *now = (struct wr_fold_turn){.is_whole = true};
    p->sent.is_known = false;
    /* All originals are asked for, and there is no second chance: from the start, in any time. */
    p->input.from = NULL;
    p->input.deadline.now_us = NULL;
    wr_marks_hold(p->held, p->tenant, &p->marks);
    weir_status status = run(p, err);
    if (status)
        return status;
    if (has_originals(p))
        p->run.settled.first =
            (struct wr_finding){.found = true, .segment = WR_SEGMENT_NONE, .what = trouble};
    else
        wr_run_fall_back(&p->run, trouble);
    find_step(p);
    if (p->run.step.is_unexplained)
        p->run.step = (struct wr_run_step){.is_taken = true, .reason = WR_STEP_STORE};
    return WEIR_OK;
}

/* What the fold this one goes on from had put there, and what this one has. */
static weir_status list_originals(struct wr_projection *p, const struct weir_batch *batch)
{
    const struct wr_folded *folded = p->folded;
    uint32_t before = folded ? folded->originals_count : 0;
    uint32_t count = before + (uint32_t)batch->artifacts_count;

    p->originals = WR_ARENA_ARRAY(&p->request->arena, weir_hash, count);
    if (!p->originals)
        return wr_arena_status(&p->request->arena);
    if (before)
        memcpy(p->originals, folded->originals, before * sizeof(*p->originals));
    for (uint32_t i = before; i < count; i++)
        p->originals[i] = batch->artifacts[i - before].hash;
    p->originals_count = count;
    return WEIR_OK;
}

/* Law L2: everything taken out is in the store, or nothing is taken out. */
static weir_status commit(struct wr_projection *p, struct weir_err *err)
{
    struct weir_batch batch;
    struct weir_pin pins[WR_PROJECTION_PINS_MAX];

    if (!p->options->store || (!p->run.artifacts_count && !p->has_marks))
        return WEIR_OK;
    weir_status status = fill_batch(p, &batch, pins);
    if (status)
        return status;
    if (wr_projection_is_replaced(p) && !p->is_last_try)
        return WEIR_OK; /* it is begun anew */
    if (commit_batch(p, &batch)) {
        p->is_outrun = weir_store_trouble(p->options->store) == WEIR_TROUBLE_OUTRUN;
        return wr_projection_is_begun_anew(p) && !p->is_last_try ? WEIR_OK : keep_new_whole(p, err);
    }
    if (!p->has_marks)
        return WEIR_OK;
    wr_marks_release_held(p->held, p->tenant);
    return list_originals(p, &batch);
}

/* ---- the answer ---- */

static weir_status answer(struct wr_projection *p, struct wr_record *record,
                          struct weir_projected *projected)
{
    const struct wr_run *r = &p->run;

    p->run.window_source = p->window_source;
    weir_status status = wr_run_record(r, record);
    record->held_back = wr_word_of(r->settled.first.found ? r->settled.first.what
                                   : r->fold.late.is_up   ? TOO_LATE
                                                          : NULL);
    record->is_unmarked = p->has_marks && !p->sent.is_known;
    record->is_pending = p->is_pending || wr_fold_is_due(&r->fold);
    record->answer_tokens = p->reserve.is_named ? p->reserve.tokens : 0;
    projected->body = r->settled.body;
    projected->is_known = p->has_marks && p->marks.last.is_known;
    projected->store_trouble = p->store_trouble;
    return status;
}

/* A fold that ends with the model's own words would not end there in the next request; one that was
 * taken back stands for no commit. */
static void remember(struct wr_projection *p)
{
    const struct wr_transcript *t = &p->request->transcript;

    if (!p->sent.is_known || p->run.settled.is_fallback ||
        t->segments[t->segments_count - 1].from_model)
        return;
    wr_hash128 key = wr_fold_memo_key(p->fold_seed, &p->trail, p->trail.turns_count - 1);
    struct wr_fold_commit committed = {&p->sent, p->originals, p->originals_count,
                                       p->replaced_count};
    wr_fold_memo_put(p->folds, key, &committed, &p->run.fold);
}

static weir_status project_once(struct wr_projection *p, struct weir_err *err)
{
    wr_projection_begin(p, false);
    wr_projection_read_pins(p);
    p->replaced_count = p->options->store ? weir_store_replacements(p->options->store) : 0;
    weir_status status = wr_projection_find_policy(p, err);
    if (!status)
        status = measure(p, err);
    if (!status)
        status = read_marks(p);
    if (!status)
        status = run(p, err);
    if (status)
        return status;
    find_step(p);
    return commit(p, err);
}

/* A store that is replaced meanwhile knows nothing of what was read from the old one, or could not
 * be read any more. */
static weir_status project_request(struct wr_projection *p, struct weir_err *err)
{
    const struct wr_projection begun = *p;
    weir_status status = project_once(p, err);

    for (int tries = 1; tries < TRIES_MAX && wr_projection_is_begun_anew(p); tries++) {
        wr_policies_free(p->kept_policies);
        *p = begun;
        p->is_last_try = tries + 1 == TRIES_MAX;
        status = project_once(p, err);
    }
    wr_projection_begin(p, true);
    return status;
}

weir_status wr_project(struct wr_projection *p, struct wr_record *record,
                       struct weir_projected *projected, struct weir_err *err)
{
    start_clock(p);
    weir_status status = identify(p);
    record->first_turn = !status && p->trail.turns_count ? p->trail.turns[0].low : 0;
    if (!status)
        status = learn_calls(p);
    if (!status)
        status = project_request(p, err);
    if (!status)
        status = answer(p, record, projected);
    if (!status)
        remember(p);
    wr_policies_free(p->kept_policies);
    return status;
}
