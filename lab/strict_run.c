/* A case is executed three ways (strict.h). A turn of a way:
 *
 *   take_request, grow_request   the body, as given or grown by some messages
 *   send                         through the engine, and what comes out is read from its bytes
 *   check                        structure, outcome, handles, signals; the first failure is kept
 *   recover                      what is required and only a recall away is recalled, and the
 *                                request sent again, at most ROUNDS_MAX times
 *
 * This is not lane.c: a lane plays recorded messages as Chat and asks what the answers used, a
 * case posts given bodies in any API, damages the store, starts the engine anew between turns and
 * checks what must not change. They share the writing of recalls (recall.h). Time is the thread's
 * own, so that a busy machine does not fail the goal for it. */
#include "lab/strict.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "engine/engine.h"
#include "engine/record.h"
#include "lab/strict_store.h"
#include "models/registry.h"
#include "policy/meter.h"
#include "policy/policy.h"
#include "weir/engine.h"

/* A session of more requests than this is a long one. */
enum { LONG_REQUESTS = 20, ROUNDS_MAX = 3, STEP_MS = 1000, FIRST_MS = 1000000 };

enum { DETAIL_BYTES = 100 }; /* of a text that is named in a failure */

static const char yaml[] = "policies:\n  duplicates-only:\n    stages:\n      - stage: reference\n";

struct wr_strict_runner {
    const char *policies[WR_STRICT_WAYS];
    struct weir_engine *engine;
    struct wr_models *models;
    struct wr_meter *meter;
    struct wr_memo *memo;
};

static weir_status restart(struct wr_strict_runner *r, struct weir_err *err)
{
    weir_engine_free(r->engine);
    r->engine = NULL;
    weir_status status = weir_engine_new(&r->engine, err);
    return status ? status : weir_engine_load_policies(r->engine, wr_span_of(yaml), err);
}

static weir_status check_policy(const char *policy, struct weir_err *err)
{
    struct wr_policies *policies = NULL;
    weir_status status = wr_policies_new(&policies, wr_span_of(yaml), err);
    if (!status && !wr_policies_find(policies, wr_span_of(policy)))
        status = wr_fail(err, WEIR_NOTFOUND, 0,
                         "no policy is called '%.60s'; `weir policies` lists them", policy);
    wr_policies_free(policies);
    return status;
}

weir_status wr_strict_runner_new(struct wr_strict_runner **runner, const char *policy,
                                 struct weir_err *err)
{
    *runner = NULL;
    weir_status status = check_policy(policy, err);
    if (status)
        return status;
    struct wr_strict_runner *r = calloc(1, sizeof(*r));
    if (!r)
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    r->policies[WR_STRICT_EXACT] = "exact";
    r->policies[WR_STRICT_CURRENT] = "duplicates-only";
    r->policies[WR_STRICT_OPTIMIZED] = policy;
    status = restart(r, err);
    if (!status)
        status = wr_models_new(&r->models, NULL, err);
    if (!status)
        status = wr_meter_new(&r->meter);
    if (!status)
        status = wr_memo_new(&r->memo, WR_MEMO_BYTES_MAX);
    if (status)
        wr_strict_runner_free(r);
    else
        *runner = r;
    return status;
}

void wr_strict_runner_free(struct wr_strict_runner *r)
{
    if (!r)
        return;
    wr_memo_free(r->memo);
    wr_meter_free(r->meter);
    wr_models_free(r->models);
    weir_engine_free(r->engine);
    free(r);
}

/* ---- a case, one way ---- */

struct lane {
    struct wr_strict_runner *runner;
    const struct wr_case *c;
    enum wr_strict_way way;
    struct weir_store *store;
    struct wr_strict_figures *figures;
    uint32_t *covered;
    uint64_t *seen; /* changes of results whose signals were counted: hashes */
    uint32_t seen_count, seen_cap;
    weir_handle *made; /* handles that this way put into requests */
    uint32_t made_count, made_cap;
    struct wr_buf head; /* the body up to the end of its list */
    weir_span tail;     /* and from there on; part of the case's file */
    struct wr_buf body;
    bool has_list;
    uint32_t turn; /* from 0 */
    int64_t now_ms;
    uint64_t instructions; /* of the request before; 0: none */
};

/* One line of valid text, whatever the detail is. */
static void append_detail(struct wr_strict_figures *f, size_t at, weir_span detail)
{
    size_t len = detail.len < DETAIL_BYTES ? detail.len : DETAIL_BYTES;
    while (len && len < detail.len && wr_utf8_is_tail(detail.ptr[len]))
        len--;
    for (size_t i = 0; i < len && at + 1 < sizeof(f->failure); i++)
        f->failure[at++] = (unsigned char)detail.ptr[i] < ' ' ? ' ' : detail.ptr[i];
    f->failure[at] = '\0';
}

static void fail_lane(struct lane *l, const char *what, weir_span detail)
{
    struct wr_strict_figures *f = l->figures;
    if (!f->is_success)
        return;
    f->is_success = false;
    f->failed_turn = l->turn + 1;
    int len = snprintf(f->failure, sizeof(f->failure) - DETAIL_BYTES, "%s%s", what,
                       detail.len ? ": " : "");
    append_detail(f, len > 0 ? (size_t)len : 0, detail);
}

static void fail_if(struct lane *l, bool is_wrong, const char *what)
{
    if (is_wrong)
        fail_lane(l, what, WR_LIT(""));
}

/* ---- the conversation ---- */

static wr_json_id find_list(const struct wr_json *doc, wr_json_id request)
{
    wr_json_id list = wr_json_find(doc, request, "messages");
    if (list == WR_JSON_NONE)
        list = wr_json_find(doc, request, "input");
    return wr_json_is(doc, list, WR_JSON_ARRAY) ? list : WR_JSON_NONE;
}

static void take_request(struct lane *l, wr_json_id request)
{
    const struct wr_json *doc = l->c->doc;
    weir_span raw = wr_json_raw(doc, request);
    wr_json_id list = find_list(doc, request);
    size_t cut = raw.len;

    l->has_list = list != WR_JSON_NONE;
    if (l->has_list)
        cut = doc->nodes[list].end - 1 - doc->nodes[request].start;
    wr_buf_reset(&l->head);
    wr_buf_append(&l->head, wr_span_cut(raw, 0, cut));
    l->tail = wr_span_cut(raw, cut, raw.len);
}

static bool is_models_own(const struct wr_json *doc, wr_json_id item)
{
    static const char *const types[] = {"function_call", "custom_tool_call", "local_shell_call",
                                        "reasoning"};
    wr_json_id type = wr_json_find(doc, item, "type");
    if (wr_json_text_is(doc, wr_json_find(doc, item, "role"), "assistant"))
        return true;
    for (size_t i = 0; i < WR_COUNT_OF(types); i++)
        if (wr_json_text_is(doc, type, types[i]))
            return true;
    return false;
}

/* What the model said since the last request is what that one's answer cost. */
static weir_status grow_request(struct lane *l, wr_json_id append, struct weir_err *err)
{
    const struct wr_json *doc = l->c->doc;
    if (!l->has_list)
        return wr_fail(err, WEIR_INVALID, doc->nodes[append].start,
                       "case '%.*s', turn %u: the request before has no list to append to",
                       (int)l->c->id.len, l->c->id.ptr, l->turn + 1);
    WR_JSON_EACH(id, doc, append) {
        weir_span item = wr_json_raw(doc, id);
        if (l->head.len && l->head.bytes[l->head.len - 1] != '[')
            wr_buf_byte(&l->head, ',');
        wr_buf_append(&l->head, item);
        if (is_models_own(doc, id))
            l->figures->output_tokens += wr_meter_count(l->runner->meter, item);
    }
    return l->head.status;
}

/* ---- one request ---- */

struct exchange {
    const struct wr_case_turn *turn;
    struct wr_arena arena;
    struct weir_request *request;
    struct weir_projected projected;
    struct wr_strict_body in, out;
    struct wr_strict_handles handles; /* in what is sent */
    struct wr_record record;          /* what the engine did; zeroed: it was not asked */
    bool is_changed;
    bool is_recovery;
    bool is_unreadable; /* what is sent is no request; said already */
};

static bool is_projected(const struct lane *l)
{
    return !l->c->is_foreign;
}

static weir_status project(struct lane *l, struct exchange *x)
{
    const struct wr_case *c = l->c;
    struct weir_request_options reading = {.dialect = c->dialect};
    struct weir_project_options options = {
        .policy = l->runner->policies[c->mode == WR_CASE_EXACT ? WR_STRICT_EXACT : l->way],
        .window_tokens = c->window_tokens,
        .store = l->store,
        .session = c->id,
        .now_ms = l->now_ms};
    uint64_t begun_us = wr_clock_thread_us();
    weir_status status =
        weir_engine_request(l->runner->engine, wr_buf_view(&l->body), &reading, &x->request, NULL);
    if (!status)
        status = wr_engine_project(l->runner->engine, x->request, &options, &x->record,
                                   &x->projected, NULL);
    l->figures->times_us[l->figures->times_count++] = (uint32_t)(wr_clock_thread_us() - begun_us);
    return status;
}

static weir_status measure(struct lane *l, struct exchange *x)
{
    struct wr_measure measure;
    const struct wr_transcript *t = &x->out.transcript;
    const struct wr_model *model = wr_models_lookup(l->runner->models, t->model).model;
    weir_status status = wr_meter_use_model(l->runner->meter, model, NULL);
    if (!status)
        status = wr_meter_measure(l->runner->meter, t, &x->arena, &measure);
    if (status)
        return status;
    l->figures->requests++;
    l->figures->input_tokens += measure.total_tokens;
    l->figures->over_window += l->c->window_tokens && measure.total_tokens > l->c->window_tokens;
    return WEIR_OK;
}

static bool has_fallen_back(const struct exchange *x)
{
    return x->record.counters.full_request_fallback_count || x->record.held_back.ptr;
}

/* Projects the conversation as it stands, and reads what is sent. */
static weir_status send_request(struct lane *l, struct exchange *x, struct weir_err *err)
{
    wr_buf_reset(&l->body);
    wr_buf_append(&l->body, wr_buf_view(&l->head));
    wr_buf_append(&l->body, l->tail);
    if (l->body.status)
        return l->body.status;
    wr_memo_begin(l->runner->memo);
    weir_status status = wr_strict_body_read(&x->in, &x->arena, wr_buf_view(&l->body),
                                             l->c->dialect, l->runner->memo);
    if (status)
        return status == WEIR_NOMEM
                   ? status
                   : wr_fail(err, WEIR_INVALID, l->c->doc->nodes[l->c->turns[0].request].start,
                             "case '%.*s', turn %u: no request of any of the three APIs",
                             (int)l->c->id.len, l->c->id.ptr, l->turn + 1);
    weir_span sent = wr_buf_view(&l->body);
    status = is_projected(l) ? project(l, x) : WEIR_OK;
    if (!status && is_projected(l) && l->c->mode != WR_CASE_SHADOW)
        sent = x->projected.body;
    x->is_changed = !wr_span_eq(sent, wr_buf_view(&l->body));
    l->figures->changed += x->is_changed;
    if (!status) {
        status = wr_strict_body_read(&x->out, &x->arena, sent, l->c->dialect, NULL);
        x->is_unreadable = status && status != WEIR_NOMEM;
        l->figures->corrupted += x->is_unreadable;
        fail_if(l, x->is_unreadable, "what was sent cannot be read");
    }
    if (!status)
        status = wr_strict_handles(&x->handles, &x->arena, x->out.words);
    return status ? status : measure(l, x);
}

/* ---- what must be true of it ---- */

static void check_structure(struct lane *l, struct exchange *x)
{
    struct wr_strict_figures *f = l->figures;
    bool is_same = wr_strict_same_root(&x->in, &x->out);
    weir_span moved = WR_LIT("");

    for (uint32_t i = 0; i < x->turn->pointers.count && !moved.len; i++)
        if (!wr_strict_same_value(&x->in, &x->out, &x->arena, x->turn->pointers.items[i]))
            moved = x->turn->pointers.items[i];
    bool links = wr_strict_same_calls(&x->in, &x->out);
    f->continuations++;
    f->continuations_kept += is_same && !moved.len;
    f->links_kept += links;
    fail_if(l, !is_same, "a field beside the messages has changed");
    if (moved.len)
        fail_lane(l, "a value has changed", moved);
    fail_if(l, !links, "calls and results do not fit together as they did");
}

static void check_outcome(struct lane *l, const struct exchange *x)
{
    bool may_change = l->way != WR_STRICT_EXACT && x->turn->outcome != WR_CASE_PASS_THROUGH;
    fail_if(l, x->is_changed && !may_change, "a request to be passed through was changed");
    if (x->turn->outcome == WR_CASE_REWRITE && l->way == WR_STRICT_OPTIMIZED)
        fail_if(l, !x->is_changed, "a request to be rewritten was passed through");
    for (uint32_t i = 0; i < x->turn->kept.count; i++)
        if (wr_span_find(x->out.words, x->turn->kept.items[i], 0) == SIZE_MAX)
            fail_lane(l, "a text that stays is gone", x->turn->kept.items[i]);
}

static bool is_listed(const struct wr_case_texts *list, weir_handle handle)
{
    char text[WEIR_HANDLE_TEXT_BYTES + 1];
    weir_handle_format(handle, text);
    for (uint32_t i = 0; i < list->count; i++)
        if (wr_span_is(list->items[i], text))
            return true;
    return false;
}

static weir_miss look_up(struct lane *l, weir_handle handle)
{
    struct weir_lookup lookup = {.tenant = WR_LIT("local"), .handle = handle};
    struct weir_artifact artifact;
    weir_miss miss = WEIR_MISS_NONE;
    weir_status status = weir_store_get(l->store, &lookup, &artifact, &miss, NULL);
    return status && miss == WEIR_MISS_NONE ? WEIR_MISS_NEVER_STORED : miss;
}

static void note_miss(struct lane *l, weir_miss miss)
{
    if (l->way == WR_STRICT_OPTIMIZED)
        *l->covered |= miss == WEIR_MISS_CORRUPT ? WR_COVER_BIT(CORRUPT_ARTIFACT)
                                                 : WR_COVER_BIT(MISSING_ARTIFACT);
}

static bool is_made_here(const struct lane *l, weir_handle handle)
{
    for (uint32_t i = 0; i < l->made_count; i++)
        if (!memcmp(&l->made[i], &handle, sizeof(handle)))
            return true;
    return false;
}

/* Notes the handles that are sent and did not come in: those the policy answers for from now on. */
static weir_status note_made(struct lane *l, const struct exchange *x)
{
    for (uint32_t i = 0; i < x->handles.count; i++) {
        char text[WEIR_HANDLE_TEXT_BYTES + 1];
        weir_handle_format(x->handles.items[i], text);
        if (wr_span_find(x->in.words, wr_span_of(text), 0) != SIZE_MAX ||
            is_made_here(l, x->handles.items[i]))
            continue;
        if (!WR_HEAP_ROOM(l->made, l->made_count, l->made_cap, 64))
            return WEIR_NOMEM;
        l->made[l->made_count++] = x->handles.items[i];
    }
    return WEIR_OK;
}

/* Every handle that was made here leads to its text, but for those that the case has damaged; and
 * what leads nowhere stays where it is. */
static void check_handles(struct lane *l, struct exchange *x)
{
    const struct wr_case_texts *lost = &x->turn->unresolved, *found = &x->turn->resolved;
    weir_handle handle;

    for (uint32_t i = 0; i < x->handles.count; i++) {
        weir_miss miss = look_up(l, x->handles.items[i]);
        if (miss == WEIR_MISS_NONE || is_listed(lost, x->handles.items[i]) ||
            !is_made_here(l, x->handles.items[i]))
            continue;
        l->figures->unresolved_refs++;
        fail_lane(l, "a handle leads nowhere", wr_span_of(weir_miss_text(miss)));
    }
    for (uint32_t i = 0; i < lost->count; i++) {
        weir_miss miss =
            weir_handle_parse(lost->items[i], &handle) ? look_up(l, handle) : WEIR_MISS_NONE;
        note_miss(l, miss);
        if (miss == WEIR_MISS_NONE)
            fail_lane(l, "a handle that should lead nowhere has a text", lost->items[i]);
        if (wr_span_find(x->out.words, lost->items[i], 0) == SIZE_MAX)
            fail_lane(l, "a handle that leads nowhere was taken out", lost->items[i]);
    }
    for (uint32_t i = 0; i < found->count; i++)
        if (weir_handle_parse(found->items[i], &handle) && is_made_here(l, handle) &&
            look_up(l, handle) != WEIR_MISS_NONE)
            fail_lane(l, "a handle that should have a text has none", found->items[i]);
}

/* ---- signals ---- */

/* Whether the form that the engine gave to a segment is bound by a way back (law L2) and not by its
 * signals (L5). */
static bool is_bound_by_way_back(const struct exchange *x, uint32_t segment)
{
    for (uint32_t i = 0; i < x->record.changes_count; i++) {
        const struct wr_record_change *change = &x->record.changes[i];
        if (change->segment == segment && !change->is_rolled_back)
            return change->form != WR_FORM_EXACT && change->form != WR_FORM_EDITED &&
                   change->form != WR_FORM_TIDIED && change->form != WR_FORM_CONDENSED;
    }
    return false;
}

/* True the first time that it is asked of a change. */
static bool is_new(struct lane *l, uint64_t hash)
{
    for (uint32_t i = 0; i < l->seen_count; i++)
        if (l->seen[i] == hash)
            return false;
    if (!WR_HEAP_ROOM(l->seen, l->seen_count, l->seen_cap, 256))
        return true;
    l->seen[l->seen_count++] = hash;
    return true;
}

/* Whether a handle that is sent leads to `text`: alone, or among what left with it, a loop or a
 * part of the conversation. */
static bool has_way_back(struct lane *l, const struct exchange *x, weir_span text)
{
    for (uint32_t i = 0; i < x->handles.count; i++) {
        struct weir_lookup lookup = {.tenant = WR_LIT("local"), .handle = x->handles.items[i]};
        struct weir_artifact artifact;
        if (!weir_store_get(l->store, &lookup, &artifact, NULL, NULL) &&
            wr_span_find(artifact.text, text, 0) != SIZE_MAX)
            return true;
    }
    return false;
}

static weir_status check_result(struct lane *l, struct exchange *x, uint32_t segment,
                                struct wr_strict_signals *signals)
{
    const struct wr_segment *s = &x->in.transcript.segments[segment];
    const struct wr_segment *sent = wr_strict_result_of(&x->out, s->call_id);
    weir_span before = wr_segment_text(&x->in.transcript, s, &x->arena);
    weir_span after = sent ? wr_segment_text(&x->out.transcript, sent, &x->arena) : WR_LIT("");

    if (!before.ptr || !after.ptr)
        return wr_arena_status(&x->arena);
    if (wr_span_eq(before, after) || !is_new(l, wr_hash64_seeded(after, wr_hash64(before))))
        return WEIR_OK;
    bool is_recallable = is_bound_by_way_back(x, segment) && has_way_back(l, x, before);
    return wr_strict_count_signals(signals, &x->arena, &x->in, &x->out, s, is_recallable);
}

static weir_status check_signals(struct lane *l, struct exchange *x)
{
    struct wr_strict_signals signals = {0};
    weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < x->in.transcript.segments_count && x->is_changed && !status; i++) {
        const struct wr_segment *s = &x->in.transcript.segments[i];
        /* A second result with the same id cannot be told from the first in what was sent. */
        if (s->kind == WEIR_KIND_TOOL_RESULT && wr_strict_result_of(&x->in, s->call_id) == s)
            status = check_result(l, x, i, &signals);
    }
    l->figures->signals += signals.count;
    l->figures->signals_kept += signals.kept;
    if (signals.lost.len)
        fail_lane(l, "a critical signal is gone", signals.lost);
    return status;
}

/* ---- turns ---- */

static weir_status note_coverage(struct lane *l, struct exchange *x)
{
    uint64_t instructions = wr_cover_instructions(&x->in, &x->arena);
    bool is_last =
        l->turn + 1 == l->c->turns_count || l->c->turns[l->turn + 1].request != WR_JSON_NONE;
    if (l->way != WR_STRICT_EXACT || x->is_recovery)
        return WEIR_OK;
    if (l->instructions && instructions && l->instructions != instructions)
        *l->covered |= WR_COVER_BIT(INSTRUCTIONS);
    l->instructions = instructions;
    return is_last ? wr_cover_request(&x->in, &x->arena, l->covered) : WEIR_OK;
}

static weir_status check_sent(struct lane *l, struct exchange *x)
{
    l->figures->later += l->turn > 0;
    l->figures->fallbacks += l->turn > 0 && has_fallen_back(x);
    check_structure(l, x);
    if (!x->is_recovery)
        check_outcome(l, x);
    weir_status status = note_made(l, x);
    check_handles(l, x);
    if (!status)
        status = check_signals(l, x);
    return status ? status : note_coverage(l, x);
}

/* Recalls what is required and not there. `*is_done`: nothing is left to be recalled. */
static weir_status recover(struct lane *l, struct exchange *x, bool *is_done)
{
    struct wr_strict_wants wants;
    size_t call_bytes, begin = l->head.len;

    *is_done = true;
    weir_status status = wr_strict_find_wants(&wants, &x->arena, &x->turn->required, x->out.words,
                                              &x->handles, l->store);
    if (status)
        return status;
    if (wants.lost.len)
        fail_lane(l, "a required text is lost", wants.lost);
    if (!wants.count)
        return WEIR_OK;
    if (!l->has_list || !wr_strict_offers_recall(&x->out)) {
        fail_lane(l, "a required text is gone and there is no tool to recall it",
                  wants.items[0].text);
        return WEIR_OK;
    }
    *is_done = false;
    status = wr_strict_recall(&l->head, &call_bytes, &x->arena, &wants, x->out.transcript.dialect,
                              l->figures->recoveries++, l->store);
    l->figures->output_tokens += wr_meter_count(
        l->runner->meter, wr_span_cut(wr_buf_view(&l->head), begin, begin + call_bytes));
    return status;
}

static weir_status run_request(struct lane *l, const struct wr_case_turn *turn, bool is_recovery,
                               bool *is_done, struct weir_err *err)
{
    struct exchange x = {.turn = turn, .is_recovery = is_recovery};
    wr_arena_init(&x.arena, WR_ARENA_BYTES_MAX);
    *is_done = true;
    weir_status status = send_request(l, &x, err);
    if (!status)
        status = check_sent(l, &x);
    if (!status)
        status = recover(l, &x, is_done);
    else if (x.is_unreadable)
        status = WEIR_OK;
    weir_request_free(x.request);
    wr_arena_release(&x.arena);
    return status;
}

static weir_status run_turn(struct lane *l, struct weir_err *err)
{
    const struct wr_case_turn *turn = &l->c->turns[l->turn];
    bool is_done = false;
    weir_status status = WEIR_OK;

    l->now_ms += STEP_MS + (int64_t)turn->pause_ms;
    wr_strict_store_damage(l->store, turn->trouble);
    if (turn->restarts)
        status = restart(l->runner, err);
    if (!status && turn->request != WR_JSON_NONE)
        take_request(l, turn->request);
    else if (!status)
        status = grow_request(l, turn->append, err);
    for (uint32_t round = 0; round < ROUNDS_MAX && !is_done && !status; round++)
        status = run_request(l, turn, round > 0, &is_done, err);
    if (!status && !is_done)
        fail_lane(l, "what is required was recalled and is still not there", WR_LIT(""));
    return status;
}

/* ---- the case ---- */

static weir_status run_way(struct lane *l, struct wr_arena *arena, struct weir_err *err)
{
    size_t times_max = (size_t)l->c->turns_count * ROUNDS_MAX;

    l->figures->is_success = true;
    l->figures->times_us = WR_ARENA_ARRAY(arena, uint32_t, times_max);
    if (!l->figures->times_us)
        return wr_arena_status(arena);
    l->now_ms = FIRST_MS;
    wr_buf_init(&l->head, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&l->body, WR_OUTPUT_BYTES_MAX);
    weir_status status = wr_strict_store_new(&l->store);
    for (l->turn = 0; l->turn < l->c->turns_count && !status; l->turn++)
        status = run_turn(l, err);
    weir_store_close(l->store);
    wr_buf_release(&l->head);
    wr_buf_release(&l->body);
    free(l->seen);
    free(l->made);
    return status;
}

weir_status wr_strict_run(struct wr_strict_runner *runner, const struct wr_case *c,
                          struct wr_arena *arena, struct wr_strict_result *result,
                          struct weir_err *err)
{
    weir_status status = WEIR_OK;
    *result = (struct wr_strict_result){.covered = wr_cover_case(c)};
    result->is_eligible =
        c->mode == WR_CASE_ACTIVE && !c->is_foreign && c->turns_count > LONG_REQUESTS;
    for (int way = 0; way < WR_STRICT_WAYS && !status; way++) {
        struct lane lane = {.runner = runner,
                            .c = c,
                            .way = (enum wr_strict_way)way,
                            .figures = &result->ways[way],
                            .covered = &result->covered};
        status = run_way(&lane, arena, err);
    }
    return status;
}
