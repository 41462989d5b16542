#include "engine/job.h"

#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "engine/job_policy.h"
#include "engine/own_markers.h"
#include "engine/report.h"
#include "models/cost.h"
#include "models/window.h"

enum { TTL_MS = 300000, TTL_LONG_MS = 3600000 }; /* of a marker that says nothing, and "1h" */
enum { TRIES_MAX = 3, SESSION_HEX_BYTES = 32 };

/* ---- who and what ---- */

/* A name for a session that was given none: the hash of what it began with. */
static weir_status name_session(struct wr_job *job)
{
    char *name = wr_arena_alloc(&job->request->arena, SESSION_HEX_BYTES + 1);
    wr_hash128 first = job->trail.turns_count ? job->trail.turns[0] : (wr_hash128){0, 0};

    if (!name)
        return wr_arena_status(&job->request->arena);
    (void)snprintf(name, SESSION_HEX_BYTES + 1, "%016llx%016llx", (unsigned long long)first.low,
                   (unsigned long long)first.high);
    job->session = (weir_span){name, SESSION_HEX_BYTES};
    return WEIR_OK;
}

static weir_status identify(struct wr_job *job)
{
    const struct weir_project_options *o = job->options;
    struct weir_request *r = job->request;
    weir_span name = o->model ? wr_span_of(o->model) : r->transcript.model;

    job->match = wr_models_lookup(job->models, name);
    job->tenant = o->tenant.len ? o->tenant : WR_LIT(WEIR_TENANT_DEFAULT);
    job->session = o->session;
    /* What counts tokens is in it too: summaries are cut by tokens. */
    job->input.memo_seed = wr_hash64_seeded(job->match.model->id, wr_hash64(job->tenant));
    weir_status status = wr_trail_read(&job->trail, &r->arena, &r->transcript);
    if (!status && o->model)
        job->trail.model = wr_hash64(wr_span_of(o->model));
    if (!status && o->alternates)
        job->trail.head = wr_hash64_seeded(WR_LIT("alternates"), job->trail.head);
    return status || job->session.len ? status : name_session(job);
}

/* Results whose calls the provider holds: what the host remembers of them is as good. */
static weir_status learn_calls(struct wr_job *job)
{
    struct wr_transcript *t = &job->request->transcript;
    const struct weir_project_options *o = job->options;
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
static bool keeps_window(const struct wr_job *job, const struct wr_window *window)
{
    if (!job->has_pin || job->options->window_tokens)
        return false;
    return window->source != WR_WINDOW_LOADED ||
           wr_holds_signed_thinking(&job->request->transcript);
}

static uint64_t window_tokens(struct wr_job *job)
{
    const struct weir_project_options *o = job->options;
    bool has_name = o->model || job->request->transcript.model.len;
    struct wr_window_evidence evidence = {.configured_tokens = o->window_tokens,
                                          .loaded_tokens = o->loaded_tokens,
                                          .observed_tokens = o->observed_tokens,
                                          .match = has_name ? &job->match : NULL,
                                          .fallback_tokens =
                                              wr_policy_unknown_window(job->input.policy)};
    struct wr_window window = wr_window_select(&evidence);

    job->window_source = wr_window_source_text(window.source);
    if (!keeps_window(job, &window)) {
        job->is_repinned = job->has_pin && window.source == WR_WINDOW_LOADED &&
                           window.tokens != job->pinned_window_tokens;
        return window.tokens;
    }
    job->window_source = job->pinned_source;
    return job->pinned_window_tokens;
}

static uint32_t percent(uint64_t price, uint64_t of)
{
    return (uint32_t)((price * 100 + of / 2) / of);
}

static struct wr_fold_prices prices_of(const struct wr_model *model)
{
    struct wr_prices p = wr_model_prices(model, 0, NULL);
    struct wr_fold_prices prices = {0};
    if (p.input == WR_PRICE_UNSET || !p.input)
        return prices;
    prices.write_pct = percent(p.cache_write, p.input);
    prices.read_pct = percent(p.cache_read, p.input);
    prices.output_pct = p.output == WR_PRICE_UNSET ? 0 : percent(p.output, p.input);
    prices.tier_tokens = model->tiers_count ? model->tiers[0].above_tokens : 0;
    return prices;
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
static void set_reserve(struct wr_job *job)
{
    const struct weir_request *r = job->request;
    struct wr_reserve_input input = {.asked_tokens = r->transcript.answer_tokens_max,
                                     .window_tokens = (uint32_t)job->input.window_tokens,
                                     .model = job->match.model};

    job->reserve = wr_window_reserve(&input);
    job->input.reserve_tokens = job->reserve.tokens;
    job->input.is_reserve_named = job->reserve.is_named;
}

static weir_status measure(struct wr_job *job, struct weir_err *err)
{
    struct weir_request *r = job->request;
    struct wr_fold_input *input = &job->input;
    struct wr_measure measured;

    weir_status status = wr_meter_use_model(job->meter, job->match.model, err);
    if (!status)
        status = wr_meter_measure(job->meter, &r->transcript, &r->arena, &measured);
    if (!status && job->options->store)
        status = wr_ways_read(&job->ways, &r->arena, &r->transcript);
    if (status)
        return status;
    input->transcript = &r->transcript;
    input->tokens = measured.segment_tokens;
    input->base_tokens = measured.base_tokens;
    input->overheads = measured.segment_overheads;
    input->message_overhead_tokens = measured.message_overhead_tokens;
    input->window_tokens = window_tokens(job);
    set_reserve(job);
    input->factor_bp = job->options->factor_bp;
    input->binds_thinking = job->match.model->preserved_thinking;
    input->prices = prices_of(job->match.model);
    input->ways = &job->ways;
    input->places_markers = is_weighing(input->policy);
    input->alternates = job->options->alternates && r->transcript.dialect == WEIR_DIALECT_CHAT;
    return WEIR_OK;
}

/* ---- marks ---- */

static int64_t marker_ttl_ms(const struct wr_json *doc, wr_json_id marker)
{
    wr_json_id value = wr_json_find(doc, wr_json_value(marker), "ttl");
    bool is_long =
        wr_json_is(doc, value, WR_JSON_STRING) && wr_span_is(wr_json_inner(doc, value), "1h");
    return is_long ? TTL_LONG_MS : TTL_MS;
}

/* How long the provider keeps what this request wrote. 0: it is not kept; -1: nobody knows. */
static int64_t ttl_ms(const struct wr_job *job)
{
    const struct wr_transcript *t = &job->request->transcript;
    const struct wr_cache_rule *rule = job->match.model->cache;
    wr_json_id top = wr_find_marker(t->doc, 0);
    int64_t longest = top == WR_JSON_NONE ? 0 : marker_ttl_ms(t->doc, top);

    if (t->dialect != WEIR_DIALECT_MESSAGES)
        return rule && rule->ttl_s ? (int64_t)rule->ttl_s * 1000 : -1;
    for (uint32_t i = 0; i < t->segments_count; i++) {
        if (t->segments[i].marker == WR_JSON_NONE)
            continue;
        int64_t ttl = marker_ttl_ms(t->doc, t->segments[i].marker);
        longest = ttl > longest ? ttl : longest;
    }
    return longest;
}

/* What has no marker of its own is not kept, unless the provider has told that it is: then a
 * gateway adds them, for the time that they have unless told. */
static bool is_cold(struct wr_job *job)
{
    const struct wr_sent *last = &job->marks.last;
    int64_t ttl = ttl_ms(job), now_ms = job->options->now_ms;

    job->marks.is_cached = !ttl && (job->options->reads_cache || last->is_cached);
    if (job->marks.is_cached)
        ttl = TTL_MS;

    if (!last->is_known || ttl < 0 || (ttl && !last->at_ms))
        return false;
    if (last->turn + 1 == job->trail.turns_count)
        return false; /* sent again, it is to be the same again */
    if (ttl == 0)
        return true;
    return now_ms && now_ms > last->at_ms && now_ms - last->at_ms > ttl;
}

/* Turns that nobody here has seen were sent as they are by somebody else. Where a session begins
 * with such turns, that another one began with the same words says nothing of how they were sent.
 */
static weir_status attach(struct wr_job *job)
{
    struct wr_marks *marks = &job->marks;
    uint32_t newest = marks->trail.turns_count - 1;

    if (job->options->attaches && (!marks->last.is_known || marks->last.turn + 1 < newest))
        wr_marks_drop_copies(marks);
    job->is_back = job->options->attaches && job->options->was_whole && !job->is_pending &&
                   marks->last.is_known && newest;
    if (job->is_back) {
        /* Nothing differs from what was sent last, but for thinking that goes. */
        marks->last.is_known = marks->turns[newest].is_switched;
        job->folded = NULL;
    } else if (marks->list_count) {
        return WEIR_OK;
    }
    if (!job->options->attaches || !newest || (marks->last.is_known && !job->is_back))
        return WEIR_OK;
    for (uint32_t i = 0; i < newest; i++)
        marks->turns[i].is_whole = true;
    job->input.deadline.known_turns = newest;
    return wr_marks_add(marks, WEIR_MARK_ATTACHED, newest - 1, (weir_span){"", 0});
}

static weir_status narrow(struct wr_job *job)
{
    struct wr_marks *marks = &job->marks;
    uint32_t tokens = job->options->overflow_tokens;

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
static bool is_sent_again(const struct wr_job *job)
{
    const struct wr_sent *last = &job->marks.last;
    return last->is_known && last->turn == job->marks.trail.turns_count - 1 &&
           last->policy == job->marks.policy && last->window_tokens == job->marks.window_tokens;
}

/* What was learnt of the provider's count moves the thresholds of steps to come, and only where it
 * makes a difference: every mark costs a row. */
static weir_status mark_count(struct wr_job *job)
{
    enum { DIFFERENCE_BP = 300 };
    struct wr_marks *marks = &job->marks;
    uint32_t factor = job->options->factor_bp, before = 10000;

    for (uint32_t i = marks->trail.turns_count; i-- > 0;)
        if (marks->turns[i].factor_bp) {
            before = marks->turns[i].factor_bp;
            break;
        }
    uint32_t difference = factor > before ? factor - before : before - factor;
    if (!factor || difference < DIFFERENCE_BP || is_sent_again(job))
        return WEIR_OK;
    return wr_marks_add_count(marks, marks->trail.turns_count - 1, factor);
}

static weir_status mark_answer(struct wr_job *job)
{
    struct wr_marks *marks = &job->marks;
    uint32_t newest = marks->trail.turns_count - 1;
    struct wr_fold_turn now = answer_in_force(marks);
    bool was_named = now.answer == WR_ANSWER_NAMED, is_named = job->reserve.is_named;

    if (is_sent_again(job) ||
        (is_named == was_named && (!is_named || now.answer_tokens == job->reserve.tokens)))
        return WEIR_OK;
    return wr_marks_add_answer(marks, newest, is_named, job->reserve.tokens);
}

static bool is_unchanged(const struct wr_job *job)
{
    uint32_t count;
    const struct wr_fold_turn *known = wr_fold_state_turns(job->folded->state, &count);
    const struct wr_fold_turn *now = &job->marks.turns[count - 1];
    known += count - 1;
    return now->is_whole == known->is_whole && now->is_late == known->is_late &&
           now->is_cold == known->is_cold && now->is_switched == known->is_switched &&
           now->window_tokens == known->window_tokens && now->answer == known->answer &&
           now->answer_tokens == known->answer_tokens && now->factor_bp == known->factor_bp;
}

/* Whether the store would bring back all of these. */
static bool are_stored(struct wr_job *job, const weir_hash *hashes, uint32_t count)
{
    bool *is_there = WR_ARENA_ARRAY(&job->request->arena, bool, count);

    if (!is_there ||
        weir_store_has(job->options->store, job->tenant, hashes, count, is_there, NULL))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!is_there[i])
            return false;
    return true;
}

/* The newest fold of this conversation that is remembered, or NULL. */
static const struct wr_folded *find_fold(struct wr_job *job)
{
    uint32_t turns = job->trail.turns_count;
    uint64_t whose = wr_hash64_seeded(job->session, (uint64_t)(uintptr_t)job->options->store);

    job->fold_seed = wr_fold_memo_seed(&job->input, whose);
    for (uint32_t i = 0; i < turns && i < WR_MARKS_LOOK_BACK_TURNS; i++) {
        wr_hash128 key = wr_fold_memo_key(job->fold_seed, &job->trail, turns - 1 - i);
        const struct wr_folded *folded = wr_fold_memo_find(job->folds, key);
        if (folded)
            return folded;
    }
    return NULL;
}

/* Reads what was decided under the policy at hand. */
static weir_status find_marks(struct wr_job *job)
{
    struct wr_marks_input input = {.trail = &job->trail,
                                   .store = job->options->store,
                                   .tenant = job->tenant,
                                   .session = job->session,
                                   .policy = job->input.policy,
                                   .window_tokens = job->input.window_tokens,
                                   .held = job->held};

    const struct wr_folded *folded = find_fold(job);
    if (folded) {
        input.known_turns = wr_fold_state_turns(folded->state, &input.known_turns_count);
        input.known_sent = &folded->sent;
        input.is_replaced = folded->replaced_count != job->replaced_count;
    }
    weir_status status = wr_marks_read(&job->marks, &job->request->arena, &input);
    job->folded = job->marks.is_remembered ? folded : NULL;
    return status;
}

/* Where another policy was in force before, thinking that was signed over what it sent may have to
 * go, or the policy to wait. */
static weir_status change_policy(struct wr_job *job)
{
    uint32_t newest = job->trail.turns_count - 1;
    const struct wr_policy *last = NULL;

    switch (wr_job_change_of_policy(job, &last)) {
    case WR_CHANGE_FREE:
        break;
    case WR_CHANGE_UNSIGNS:
        job->marks.turns[newest].is_switched = true;
        return wr_marks_add(&job->marks, WEIR_MARK_STEP, newest, WR_LIT(WR_STEP_POLICY_WORD));
    case WR_CHANGE_WAITS:
        job->is_pending = true;
        job->input.policy = last;
        job->input.places_markers = is_weighing(last);
        return find_marks(job);
    }
    return WEIR_OK;
}

static weir_status read_marks(struct wr_job *job)
{
    job->has_marks =
        job->options->store && job->trail.turns_count && !job->request->transcript.is_delta;
    if (!job->has_marks)
        return WEIR_OK;
    job->input.reserve_tokens = job->input.window_tokens / WR_RESERVE_SHARE;
    job->input.is_reserve_named = false; /* until a mark says so */
    job->input.factor_bp = 0;
    weir_status status = find_marks(job);
    if (!status)
        status = change_policy(job);
    if (!status)
        status = attach(job);
    if (!status)
        status = narrow(job);
    if (!status)
        status = mark_answer(job);
    if (!status)
        status = mark_count(job);
    if (status)
        return status;
    struct wr_fold_turn *now = &job->marks.turns[job->trail.turns_count - 1];
    bool is_cold_now = is_cold(job);
    now->is_cold = !now->is_switched && (now->is_cold || is_cold_now);
    job->input.turns = job->marks.turns;
    if (job->marks.last.is_known)
        job->input.deadline.known_turns = job->marks.last.turn + 1;
    /* A mark on the newest turn of what is remembered came after it: it is folded anew. */
    if (job->folded && !is_unchanged(job))
        job->folded = NULL;
    /* What was lost since is put back by a fold from the start, which commits all it rests on. */
    if (job->folded && !are_stored(job, job->folded->originals, job->folded->originals_count))
        job->folded = NULL;
    job->input.from = job->folded ? job->folded->state : NULL;
    return WEIR_OK;
}

/* ---- the run ---- */

#define TOO_LATE "what is new stays whole: the deadline has passed"

/* The clock runs from here on; known_turns is filled in with the marks. */
static void start_clock(struct wr_job *job)
{
    const struct weir_project_options *o = job->options;
    uint64_t new_ms = o->deadline_ms ? o->deadline_ms : WR_PROJECT_NEW_MS_MAX;
    uint64_t all_ms = o->deadline_hard_ms ? o->deadline_hard_ms : WR_PROJECT_MS_MAX;

    if (o->clock_us)
        job->input.deadline = (struct wr_fold_deadline){.now_us = o->clock_us,
                                                        .user = o->clock_user,
                                                        .started_us = o->clock_us(o->clock_user),
                                                        .new_us_max = new_ms * 1000,
                                                        .all_us_max = all_ms * 1000};
}

/* Without a store nothing is taken out, and nobody asks. */
static weir_status find_own_markers(struct wr_job *job)
{
    struct wr_arena *arena = &job->request->arena;
    struct wr_own_markers own = {.transcript = &job->request->transcript,
                                 .store = job->options->store,
                                 .tenant = job->tenant,
                                 .marks = job->has_marks ? &job->marks : NULL};
    if (!own.store || !job->input.policy->stages_count)
        return WEIR_OK;
    if (job->input.from && !wr_fold_state_fits(job->input.from, &job->input))
        job->input.from = NULL;
    if (job->input.from)
        own.first_segment = wr_fold_state_segments(job->input.from);
    bool *is_marked = WR_ARENA_ARRAY(arena, bool, own.transcript->segments_count);
    if (!is_marked)
        return wr_arena_status(arena);
    job->input.is_marked = is_marked;
    return wr_own_markers_find(&own, arena, is_marked);
}

static weir_status run(struct wr_job *job, struct weir_err *err)
{
    struct wr_buf *body = wr_request_output(job->request);
    if (!body)
        return wr_arena_status(&job->request->arena);
    weir_status status = find_own_markers(job);
    if (status)
        return status;
    return wr_run_policy(&job->run, &job->request->arena, &job->input, body, err);
}

static enum wr_step_reason reason_of(const struct wr_job *job, bool *is_unexplained)
{
    const struct wr_sent *last = &job->marks.last;
    const struct wr_fold *fold = &job->run.fold;
    const struct wr_fold_step *own = fold->steps_count ? &fold->steps[fold->steps_count - 1] : NULL;

    if (last->model != job->marks.trail.model)
        return WR_STEP_MODEL;
    if (last->policy != job->marks.policy)
        return WR_STEP_POLICY;
    if (last->window_tokens != job->marks.window_tokens || job->options->overflow_tokens)
        return WR_STEP_WINDOW;
    if (own && own->turn > last->turn) /* turns may have come that nobody here has seen */
        return own->reason;
    if (wr_transcript_has_late_answer(&job->request->transcript, job->trail.ends[last->turn]))
        return WR_STEP_LATE_RESULT;
    /* Where the server wants turns to be taken is part of the head, as its tools are. */
    *is_unexplained = last->head == job->marks.trail.head;
    return WR_STEP_TOOLS;
}

/* A step is what changes what was sent before: found by comparing, not by asking the stages. */
static void find_step(struct wr_job *job)
{
    const struct wr_sent *last = &job->marks.last;
    struct wr_run_step step = {0};

    if (!job->has_marks)
        return;
    if (!last->is_known) { /* nothing was sent before that this could differ from */
        job->run.step = step;
        return;
    }
    wr_hash128 forms = wr_run_forms(&job->run, last->turn, job->trail.ends[last->turn]);
    step.is_taken = forms.low != last->forms.low || forms.high != last->forms.high;
    if (step.is_taken)
        step.reason = reason_of(job, &step.is_unexplained);
    job->run.step = step;
}

static weir_status list_marks(struct wr_job *job)
{
    struct wr_marks *marks = &job->marks;
    uint32_t newest = marks->trail.turns_count - 1;
    wr_hash128 forms = wr_run_forms(&job->run, newest, job->trail.ends[newest]);
    weir_status status = WEIR_OK;

    if (wr_fold_took_cold(&job->run.fold))
        status = wr_marks_add(marks, WEIR_MARK_STEP, newest, WR_LIT(WR_STEP_COLD_WORD));
    else
        marks->turns[newest].is_cold = false; /* nothing came of it */
    for (uint32_t i = 0; i <= newest && !status; i++) {
        uint32_t from;
        if (wr_fold_late_turn(&job->run.fold, i, &from) && !marks->turns[i].is_whole)
            status = wr_marks_add_late(marks, i, from);
    }
    /* What is remembered of the request before stands for other forms than it was sent in last. */
    if (!status && job->is_back)
        status = wr_marks_add_sent(marks, newest - 1, job->options->now_ms, (wr_hash128){0, 0},
                                   &job->sent);
    if (!status)
        status = wr_marks_add_sent(marks, newest, job->options->now_ms, forms, &job->sent);
    return status ? status : wr_marks_add_held(marks, job->held, job->tenant);
}

/* ---- the commit ---- */

static weir_status fill_batch(struct wr_job *job, struct weir_batch *batch,
                              struct weir_pin pins[WR_JOB_PINS_MAX])
{
    struct wr_arena *arena = &job->request->arena;
    bool is_delta = job->request->transcript.is_delta;

    *batch = (struct weir_batch){.tenant = job->tenant,
                                 .session = job->session,
                                 .used_ms = job->options->now_ms,
                                 .durability = is_delta ? WEIR_DURABLE_FULL : WEIR_DURABLE_NORMAL,
                                 .artifacts_count = job->run.artifacts_count};
    batch->artifacts = WR_ARENA_ARRAY(arena, struct weir_artifact, job->run.artifacts_count);
    if (!batch->artifacts)
        return wr_arena_status(arena);
    for (uint32_t i = 0; i < job->run.artifacts_count; i++)
        batch->artifacts[i].text = job->run.artifacts[i].text;
    if (!job->has_marks)
        return WEIR_OK;
    weir_status status = list_marks(job);
    batch->marks = job->marks.list;
    batch->marks_count = job->marks.list_count;
    batch->pins = pins;
    return status ? status : wr_job_write_pins(job, pins, &batch->pins_count);
}

static weir_status commit_batch(struct wr_job *job, struct weir_batch *batch)
{
    struct weir_store *store = job->options->store;
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
static bool has_originals(struct wr_job *job)
{
    uint32_t count = job->run.artifacts_count;
    weir_hash *hashes = WR_ARENA_ARRAY(&job->request->arena, weir_hash, count);

    if (!hashes)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (wr_sha256(job->run.artifacts[i].text, hashes[i].bytes))
            return false;
    return are_stored(job, hashes, count);
}

/* What is new stays whole, and stays so; what was sent before keeps its form where its original is
 * in the store already (law L6). */
static weir_status keep_new_whole(struct wr_job *job, struct weir_err *err)
{
    const char *trouble = weir_trouble_text(weir_store_trouble(job->options->store));
    struct wr_fold_turn *now;

    job->store_trouble = weir_store_trouble(job->options->store);
    if (!job->has_marks) {
        wr_run_fall_back(&job->run, trouble);
        return WEIR_OK;
    }
    now = &job->marks.turns[job->trail.turns_count - 1];
    *now = (struct wr_fold_turn){.is_whole = true};
    job->sent.is_known = false;
    /* All originals are asked for, and there is no second chance: from the start, in any time. */
    job->input.from = NULL;
    job->input.deadline.now_us = NULL;
    wr_marks_hold(job->held, job->tenant, &job->marks);
    weir_status status = run(job, err);
    if (status)
        return status;
    if (has_originals(job))
        job->run.projection.first =
            (struct wr_finding){.found = true, .segment = WR_SEGMENT_NONE, .what = trouble};
    else
        wr_run_fall_back(&job->run, trouble);
    find_step(job);
    if (job->run.step.is_unexplained)
        job->run.step = (struct wr_run_step){.is_taken = true, .reason = WR_STEP_STORE};
    return WEIR_OK;
}

/* What the fold this one goes on from had put there, and what this one has. */
static weir_status list_originals(struct wr_job *job, const struct weir_batch *batch)
{
    const struct wr_folded *folded = job->folded;
    uint32_t before = folded ? folded->originals_count : 0;
    uint32_t count = before + (uint32_t)batch->artifacts_count;

    job->originals = WR_ARENA_ARRAY(&job->request->arena, weir_hash, count);
    if (!job->originals)
        return wr_arena_status(&job->request->arena);
    if (before)
        memcpy(job->originals, folded->originals, before * sizeof(*job->originals));
    for (uint32_t i = before; i < count; i++)
        job->originals[i] = batch->artifacts[i - before].hash;
    job->originals_count = count;
    return WEIR_OK;
}

/* Another store was found in the place of the one that the marks were read from. */
static bool is_replaced(const struct wr_job *job)
{
    return job->options->store &&
           weir_store_replacements(job->options->store) != job->replaced_count;
}

/* Law L2: everything taken out is in the store, or nothing is taken out. */
static weir_status commit(struct wr_job *job, struct weir_err *err)
{
    struct weir_batch batch;
    struct weir_pin pins[WR_JOB_PINS_MAX];

    if (!job->options->store || (!job->run.artifacts_count && !job->has_marks))
        return WEIR_OK;
    weir_status status = fill_batch(job, &batch, pins);
    if (status)
        return status;
    if (is_replaced(job) && !job->is_last_try)
        return WEIR_OK; /* it is begun anew */
    if (commit_batch(job, &batch))
        return is_replaced(job) && !job->is_last_try ? WEIR_OK : keep_new_whole(job, err);
    if (!job->has_marks)
        return WEIR_OK;
    wr_marks_release_held(job->held, job->tenant);
    return list_originals(job, &batch);
}

/* ---- the answer ---- */

static weir_status report(struct wr_job *job, struct weir_projected *p)
{
    struct wr_arena *arena = &job->request->arena;
    struct wr_buf json;

    wr_buf_init(&json, WR_OUTPUT_BYTES_MAX);
    job->run.window_source = job->window_source;
    wr_run_report(&job->run, p->held_back, &json);
    weir_status status = json.status;
    if (!status) {
        p->report = wr_arena_copy(arena, wr_buf_view(&json));
        status = p->report.ptr ? WEIR_OK : wr_arena_status(arena);
    }
    wr_buf_release(&json);
    return status;
}

static void answer(const struct wr_job *job, struct weir_projected *p)
{
    const struct wr_run *r = &job->run;
    p->body = r->projection.body;
    p->tokens_before = r->tokens_before;
    p->tokens_after = r->tokens_after;
    p->answer_tokens = job->reserve.is_named ? job->reserve.tokens : 0;
    p->is_step = r->step.is_taken;
    p->is_known = job->has_marks && job->marks.last.is_known;
    p->step_reason = r->step.is_taken ? wr_run_step_text(&r->step) : NULL;
    p->held_back = r->projection.first.found ? r->projection.first.what
                   : r->fold.is_late         ? TOO_LATE
                                             : NULL;
    p->is_pending = job->is_pending;
    p->is_changed = p->body.ptr != job->request->doc.text.ptr;
    p->store_trouble = job->store_trouble;
}

/* A fold that ends with the model's own words would not end there in the next request; one that was
 * taken back stands for no commit. */
static void remember(struct wr_job *job)
{
    const struct wr_transcript *t = &job->request->transcript;

    if (!job->sent.is_known || job->run.projection.is_fallback ||
        t->segments[t->segments_count - 1].from_model)
        return;
    wr_hash128 key = wr_fold_memo_key(job->fold_seed, &job->trail, job->trail.turns_count - 1);
    struct wr_fold_commit committed = {&job->sent, job->originals, job->originals_count,
                                       job->replaced_count};
    wr_fold_memo_put(job->folds, key, &committed, &job->run.fold);
}

static weir_status project_once(struct wr_job *job, struct weir_err *err)
{
    wr_job_read_pin(job);
    job->replaced_count = job->options->store ? weir_store_replacements(job->options->store) : 0;
    weir_status status = wr_job_find_policy(job, err);
    if (!status)
        status = measure(job, err);
    if (!status)
        status = read_marks(job);
    if (!status)
        status = run(job, err);
    if (status)
        return status;
    find_step(job);
    return commit(job, err);
}

/* A store that is replaced meanwhile knows nothing of what was read from the old one. */
static weir_status project(struct wr_job *job, struct weir_err *err)
{
    const struct wr_job begun = *job;
    weir_status status = project_once(job, err);

    for (int tries = 1; tries < TRIES_MAX && !status && is_replaced(job); tries++) {
        wr_policies_free(job->kept_policies);
        *job = begun;
        job->is_last_try = tries + 1 == TRIES_MAX;
        status = project_once(job, err);
    }
    return status;
}

weir_status wr_job_run(struct wr_job *job, struct weir_projected *projected, struct weir_err *err)
{
    start_clock(job);
    weir_status status = identify(job);
    if (!status)
        status = learn_calls(job);
    if (!status)
        status = project(job, err);
    if (!status) {
        answer(job, projected);
        status = report(job, projected);
    }
    if (!status)
        remember(job);
    wr_policies_free(job->kept_policies);
    return status;
}
