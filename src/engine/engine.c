/* The public engine and its requests.
 *
 * A request is a body that was read, its segments to look at, and edits by hand. Everything lives
 * in its arena. Bodies that were written are kept until the request is freed, however often it is
 * written, because the caller may hold any of them.
 *
 * The engine is made once and used for all requests. Beside the models, the meter, the policies and
 * the odds it holds memories, each of which changes nothing but time: of calls and their handles,
 * of texts that stages made, of how bodies began that came and that were sent, of folds to go on
 * from, and of marks that could not be written yet. Requests point into the first of them, so an
 * engine that is given up lives until the last of its requests is freed. */
#include "engine/engine.h"

#include <stdlib.h>

#include "api/api.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/text.h"
#include "engine/projection_policy.h"
#include "engine/record.h"
#include "engine/run.h"
#include "engine/steer.h"
#include "models/registry.h"
#include "policy/worth.h"
#include "transcript/transcript.h"
#include "weir/engine.h"

/* ---- the engine ---- */

enum { BYTES_A_TOKEN = 4 }; /* where a sum needs no more than that */

struct weir_engine {
    struct wr_models *models;
    struct wr_meter *meter;
    struct wr_policies *policies;
    struct wr_policies *older[WR_POLICIES_OLDER_MAX]; /* that were renewed, the newest first */
    uint32_t policies_number;                         /* which reading of them it has */
    struct wr_memo *memo;
    struct wr_starts *came, *sent; /* how bodies began that came, and that were made of them */
    struct wr_text_memo *texts;
    struct wr_marks_held *held;
    struct wr_fold_memo *folds;
    struct wr_odds odds;
    uint32_t users_count; /* requests that are alive and point into the memo */
    bool is_given_up;     /* weir_engine_free() was called while there were some */
};

static void engine_release(struct weir_engine *engine)
{
    wr_fold_memo_free(engine->folds);
    wr_marks_held_free(engine->held);
    wr_text_memo_free(engine->texts);
    wr_starts_free(engine->sent);
    wr_starts_free(engine->came);
    wr_memo_free(engine->memo);
    wr_policies_free(engine->policies);
    for (size_t i = 0; i < WR_POLICIES_OLDER_MAX; i++)
        wr_policies_free(engine->older[i]);
    wr_meter_free(engine->meter);
    wr_models_free(engine->models);
    free(engine);
}

weir_status weir_engine_new(struct weir_engine **engine, struct weir_err *err)
{
    *engine = NULL;
    struct weir_engine *e = calloc(1, sizeof(*e));
    if (!e)
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    weir_status status = wr_models_new(&e->models, NULL, err);
    if (!status)
        status = wr_meter_new(&e->meter);
    if (!status)
        status = wr_policies_new(&e->policies, (weir_span){"", 0}, err);
    if (!status)
        status = wr_memo_new(&e->memo, WR_MEMO_BYTES_MAX);
    if (!status)
        status = wr_starts_new(&e->came, WR_STARTS_BYTES_MAX);
    if (!status)
        status = wr_starts_new(&e->sent, WR_STARTS_BYTES_MAX);
    if (!status)
        status = wr_text_memo_new(&e->texts, WR_TEXT_MEMO_BYTES_MAX);
    if (!status)
        status = wr_marks_held_new(&e->held);
    if (!status)
        status = wr_fold_memo_new(&e->folds);
    if (!status)
        status = wr_odds_read(&e->odds, wr_odds_embedded(), err);
    if (status) {
        engine_release(e);
        return status;
    }
    *engine = e;
    return WEIR_OK;
}

/* Languages that free things in an order of their own choice use this library too, so an engine
 * that is given up before its requests waits for them. */
void weir_engine_free(struct weir_engine *engine)
{
    if (!engine)
        return;
    WR_ASSERT(!engine->is_given_up);
    engine->is_given_up = true;
    if (!engine->users_count)
        engine_release(engine);
}

/* A request begins and ends to point into the engine's memo. While one does, the memo does not
 * begin anew, and weir_engine_free() waits: the last to leave frees an engine that was given up. */
static struct wr_memo *enter_engine(struct weir_engine *engine)
{
    WR_ASSERT(!engine->is_given_up);
    if (!engine->users_count++) {
        wr_memo_begin(engine->memo);
        wr_text_memo_begin(engine->texts);
    }
    return engine->memo;
}

void wr_engine_use_odds(struct weir_engine *engine, const struct wr_odds *odds)
{
    engine->odds = *odds;
}

static void leave_engine(struct weir_engine *engine)
{
    WR_ASSERT(engine->users_count > 0);
    if (!--engine->users_count && engine->is_given_up)
        engine_release(engine);
}

/* ---- a request ---- */

const char *weir_version(void)
{
    return WEIR_VERSION_STRING;
}

static weir_status make_ranges(struct weir_request *r)
{
    const struct wr_transcript *t = &r->transcript;
    uint32_t total = 0;

    r->ranges_start = WR_ARENA_ARRAY(&r->arena, uint32_t, (size_t)t->segments_count + 1);
    if (!r->ranges_start)
        return wr_arena_status(&r->arena);
    for (uint32_t i = 0; i < t->segments_count; i++) {
        r->ranges_start[i] = total;
        total += t->segments[i].parts_count;
    }
    r->ranges = WR_ARENA_ARRAY(&r->arena, weir_range, total);
    if (!r->ranges)
        return wr_arena_status(&r->arena);
    for (uint32_t i = 0; i < t->segments_count; i++) {
        for (uint32_t p = 0; p < t->segments[i].parts_count; p++) {
            const struct wr_json_node *node = &r->doc.nodes[t->segments[i].parts[p]];
            r->ranges[r->ranges_start[i] + p] = (weir_range){node->start + 1, node->end - 1};
        }
    }
    return WEIR_OK;
}

static weir_status read_body(struct weir_request *r, struct wr_memo *memo, weir_span body,
                             const struct weir_request_options *options, struct weir_err *err)
{
    struct weir_request_options own;
    weir_status status = WR_OPTIONS_READ(&own, options, err);
    if (status)
        return status;
    struct wr_starts *starts = r->engine ? r->engine->came : NULL;
    struct wr_start start;
    struct wr_json_options json = {.start =
                                       wr_starts_find(starts, body, &start) ? &start.json : NULL};
    struct wr_api_options reading = {
        .dialect = own.dialect, .path = own.path, .memo = memo, .start = &start};
    status = wr_json_parse(&r->doc, &r->arena, body, &json, err);
    if (!status)
        status = wr_api_read(&r->transcript, &r->arena, &r->doc, &reading, err);
    if (status)
        return status;
    wr_starts_keep(starts, &r->transcript, &start);
    r->transcript.start = NULL;
    status = make_ranges(r);
    if (!status)
        status = wr_plan_init(&r->plan, &r->arena, &r->transcript);
    return status ? wr_fail(err, status, 0, "%s", weir_status_text(status)) : WEIR_OK;
}

/* With an engine (NULL: none) handles may be in its memo: the request is one of its users until
 * weir_request_free(). */
static weir_status new_request(weir_span body, const struct weir_request_options *options,
                               struct weir_engine *engine, struct weir_request **request,
                               struct weir_err *err)
{
    *request = NULL;
    struct weir_request *r = calloc(1, sizeof(*r));
    if (!r)
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    wr_arena_init(&r->arena, WR_ARENA_BYTES_MAX);
    r->engine = engine;
    struct wr_memo *memo = engine ? enter_engine(engine) : NULL;
    weir_status status = read_body(r, memo, body, options, err);
    if (status) {
        weir_request_free(r);
        return status;
    }
    *request = r;
    return WEIR_OK;
}

weir_status weir_request_new(weir_span body, const struct weir_request_options *options,
                             struct weir_request **request, struct weir_err *err)
{
    return new_request(body, options, NULL, request, err);
}

void weir_request_free(struct weir_request *request)
{
    if (!request)
        return;
    for (struct wr_written *w = request->written; w; w = w->older)
        wr_buf_release(&w->body);
    wr_arena_release(&request->arena);
    if (request->engine)
        leave_engine(request->engine);
    free(request);
}

weir_dialect weir_request_dialect(const struct weir_request *request)
{
    return request->transcript.dialect;
}

weir_span weir_request_model(const struct weir_request *request)
{
    return request->transcript.model;
}

uint32_t weir_request_turns(const struct weir_request *request)
{
    return request->transcript.turns_count;
}

uint32_t weir_request_loops(const struct weir_request *request)
{
    return request->transcript.loops_count;
}

uint32_t weir_request_segments(const struct weir_request *request)
{
    return request->transcript.segments_count;
}

bool weir_request_is_delta(const struct weir_request *request)
{
    return request->transcript.is_delta;
}

static struct weir_handles view_handles(const struct wr_tool_handles *h)
{
    if (!h)
        return (struct weir_handles){
            .offset = -1, .limit = -1, .next_offset = -1, .total_lines = -1};
    return (struct weir_handles){
        .effect = wr_effect_kind_text(h->kind),
        .path = h->path,
        .query = h->query,
        .command = h->command,
        .process_id = h->process_id,
        .cursor = h->cursor,
        .mode = h->mode,
        .spill_path = h->spill_path,
        .start_line = h->start_line,
        .end_line = h->end_line,
        .offset = h->offset,
        .limit = h->limit,
        .next_offset = h->next_offset,
        .total_lines = h->total_lines,
        .has_exit_code = h->has_exit_code,
        .exit_code = h->exit_code,
        .truncated = wr_tool_cut_text(h->cut),
    };
}

weir_status weir_request_segment(const struct weir_request *request, uint32_t index,
                                 struct weir_segment *view)
{
    static const char *const stale[] = {
        [WR_FRESH] = "no", [WR_MAYBE_STALE] = "maybe", [WR_STALE] = "yes"};
    if (index >= request->transcript.segments_count)
        return WEIR_NOTFOUND;
    const struct wr_segment *s = &request->transcript.segments[index];
    *view = (struct weir_segment){
        .index = index,
        .turn = s->turn,
        .loop = s->loop,
        .group = s->group,
        .pair = s->pair,
        .role = s->role,
        .kind = s->kind,
        .class_ = s->class_,
        .why = s->why,
        .why_other = s->why_other,
        .tool = s->tool,
        .call_id = s->call_id,
        .span = wr_segment_range(&request->transcript, s),
        .parts = request->ranges + request->ranges_start[index],
        .parts_count = s->parts_count,
        .is_error = s->is_error || (s->handles && s->handles->is_error),
        .is_steering = s->is_steering,
        .is_superseded = s->is_superseded,
        .stale = stale[s->staleness],
        .handles = view_handles(s->handles),
    };
    return WEIR_OK;
}

weir_status weir_request_text(struct weir_request *request, uint32_t index, weir_span *text)
{
    if (index >= request->transcript.segments_count)
        return WEIR_NOTFOUND;
    *text = wr_segment_text(&request->transcript, &request->transcript.segments[index],
                            &request->arena);
    return text->ptr ? WEIR_OK : wr_arena_status(&request->arena);
}

weir_status weir_request_edit(struct weir_request *request, uint32_t index, weir_span text,
                              struct weir_err *err)
{
    size_t valid_bytes = wr_utf8_check(text, true);
    if (valid_bytes != text.len)
        return wr_fail(err, WEIR_INVALID, 0,
                       "the new text of segment %u is not UTF-8 from its byte %zu on", index,
                       valid_bytes);
    weir_span kept = wr_arena_copy(&request->arena, text);
    if (!kept.ptr)
        return wr_fail(err, wr_arena_status(&request->arena), 0, "no memory for the edit");
    struct wr_change change = {
        .segment = index, .form = WR_FORM_EDITED, .text = kept, .refers_to = WR_SEGMENT_NONE};
    return wr_plan_set(&request->plan, &change, err);
}

weir_status weir_request_drop(struct weir_request *request, uint32_t index, struct weir_err *err)
{
    return wr_plan_drop(&request->plan, index, err);
}

static void fill_report(struct weir_write_report *report, const struct wr_settled *settled)
{
    const struct wr_finding *first = &settled->first;
    *report = (struct weir_write_report){settled->rolled_back_count, settled->is_fallback,
                                         first->found ? first->segment : WEIR_NONE,
                                         first->found ? first->what : NULL};
}

struct wr_buf *wr_request_output(struct weir_request *request)
{
    struct wr_written *written = WR_ARENA_ARRAY(&request->arena, struct wr_written, 1);
    if (!written)
        return NULL;
    wr_buf_init(&written->body, WR_OUTPUT_BYTES_MAX);
    written->older = request->written;
    request->written = written;
    return &written->body;
}

bool wr_request_take_output(struct weir_request *request, weir_span body, struct wr_buf *out)
{
    for (struct wr_written *w = request->written; w; w = w->older) {
        if (w->body.bytes != body.ptr || w->body.len != body.len || !body.ptr)
            continue;
        *out = w->body;
        wr_buf_init(&w->body, WR_OUTPUT_BYTES_MAX);
        return true;
    }
    return false;
}

/* What it takes to write is given back at once: a request may be written any number of times. */
weir_status weir_request_write(struct weir_request *request, weir_span *body,
                               struct weir_write_report *report, struct weir_err *err)
{
    struct wr_settled settled;
    struct wr_arena scratch;
    struct wr_buf *out = wr_request_output(request);

    if (!out)
        return wr_fail(err, wr_arena_status(&request->arena), 0, "no memory to write the request");
    wr_arena_init(&scratch, WR_ARENA_BYTES_MAX);
    weir_status status = wr_plan_settle(&request->plan, &scratch, out, &settled, err);
    wr_arena_release(&scratch);
    if (status || settled.body.ptr != out->bytes)
        wr_buf_release(out);
    if (status)
        return status;
    *body = settled.body;
    if (report)
        fill_report(report, &settled);
    return WEIR_OK;
}

/* ---- what becomes of a request ---- */

weir_status weir_engine_request(struct weir_engine *engine, weir_span body,
                                const struct weir_request_options *options,
                                struct weir_request **request, struct weir_err *err)
{
    return new_request(body, options, engine, request, err);
}

struct wr_meter *wr_engine_meter(struct weir_engine *engine)
{
    WR_ASSERT(!engine->is_given_up);
    return engine->meter;
}

const struct wr_models *wr_engine_models(const struct weir_engine *engine)
{
    return engine->models;
}

bool wr_engine_binds(const struct weir_engine *engine, const struct weir_request *request)
{
    return wr_holds_signed_thinking(&request->transcript) &&
           wr_models_lookup(engine->models, request->transcript.model).model->preserved_thinking;
}

bool wr_engine_leaves(const struct weir_engine *engine, const struct weir_request *request,
                      size_t exchange_bytes)
{
    const struct wr_model *model =
        wr_models_lookup(engine->models, request->transcript.model).model;
    struct wr_fold_prices prices = wr_fold_prices_of(model);

    return !wr_engine_binds(engine, request) &&
           wr_worth_exchange_leaves(&prices, &engine->odds, request->transcript.turns_count,
                                    exchange_bytes / BYTES_A_TOKEN);
}

void wr_engine_take_policies(struct weir_engine *engine, struct wr_policies *policies)
{
    wr_policies_free(engine->policies);
    engine->policies = policies;
}

weir_status weir_engine_load_policies(struct weir_engine *engine, weir_span yaml,
                                      struct weir_err *err)
{
    struct wr_policies *policies;
    weir_status status = wr_policies_new(&policies, yaml, err);
    if (status)
        return status;
    wr_fold_memo_clear(engine->folds);
    wr_engine_take_policies(engine, policies);
    return WEIR_OK;
}

void wr_engine_renew_policies(struct weir_engine *engine, uint32_t number, weir_span yaml)
{
    struct wr_policies **older = engine->older, *policies;

    if (number <= engine->policies_number || wr_policies_new(&policies, yaml, NULL))
        return;
    wr_fold_memo_clear(engine->folds);
    wr_policies_free(older[WR_POLICIES_OLDER_MAX - 1]);
    memmove(older + 1, older, (WR_POLICIES_OLDER_MAX - 1) * sizeof(*older));
    older[0] = engine->policies;
    engine->policies = policies;
    engine->policies_number = number;
}

weir_status weir_engine_load_models(struct weir_engine *engine, weir_span yaml,
                                    struct weir_err *err)
{
    struct wr_models_source source = {.overrides = yaml, .overrides_shared = true};
    struct wr_models *models;
    weir_status status = wr_models_new(&models, &source, err);
    if (status)
        return status;
    wr_fold_memo_clear(engine->folds);
    wr_models_free(engine->models);
    engine->models = models;
    return WEIR_OK;
}

/* What the public struct tells of the record; words in it are constants. */
static void tell_record(const struct wr_record *record, struct weir_projected *p)
{
    p->is_changed = record->is_changed;
    p->is_step = record->is_step;
    p->step_reason = record->step_reason.ptr;
    p->tokens_before = record->tokens_before;
    p->tokens_after = record->tokens_after;
    p->held_back = record->held_back.ptr;
    p->is_pending = record->is_pending;
    p->answer_tokens = (uint32_t)record->answer_tokens;
}

weir_status wr_engine_project(struct weir_engine *engine, struct weir_request *request,
                              const struct weir_project_options *options, struct wr_record *record,
                              struct weir_projected *projected, struct weir_err *err)
{
    WR_ASSERT(!engine->is_given_up);
    /* Both stay as long as the request: it may be asked what would become of it. */
    struct weir_project_options *own = wr_arena_zalloc(&request->arena, sizeof(*own));
    struct wr_projection *projection = wr_arena_zalloc(&request->arena, sizeof(*projection));

    *projected = (struct weir_projected){.body = request->doc.text};
    if (!own || !projection)
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    weir_status status = WR_OPTIONS_READ(own, options, err);
    if (status)
        return status;
    *projection = (struct wr_projection){.request = request,
                                         .options = own,
                                         .models = engine->models,
                                         .meter = engine->meter,
                                         .policies = engine->policies,
                                         .older = engine->older,
                                         .held = engine->held,
                                         .folds = engine->folds,
                                         .starts = engine->sent,
                                         .input = {.odds = &engine->odds,
                                                   .memo = engine->texts,
                                                   .count = wr_meter_count,
                                                   .user = engine->meter}};
    status = wr_project(projection, record, projected, err);
    request->projection = status ? NULL : projection;
    if (!status)
        tell_record(record, projected);
    if (!status || status == WEIR_NOTFOUND)
        return status;
    *projected = (struct weir_projected){.body = request->doc.text};
    return wr_fail(err, status, 0, "%s", weir_status_text(status));
}

weir_status wr_engine_foretell(struct weir_request *request, struct wr_buf *out)
{
    return request->projection ? wr_foretell(request->projection, out) : WEIR_NOTFOUND;
}

weir_status weir_engine_project(struct weir_engine *engine, struct weir_request *request,
                                const struct weir_project_options *options,
                                struct weir_projected *projected, struct weir_err *err)
{
    struct wr_record record = {0};
    struct wr_buf json;
    weir_status status = wr_engine_project(engine, request, options, &record, projected, err);

    if (status)
        return status;
    wr_buf_init(&json, WR_OUTPUT_BYTES_MAX);
    wr_record_report(&record, &json);
    status = wr_buf_status(&json);
    if (!status) {
        projected->report = wr_arena_copy(&request->arena, wr_buf_view(&json));
        status = projected->report.ptr ? WEIR_OK : wr_arena_status(&request->arena);
    }
    wr_buf_release(&json);
    if (!status)
        return WEIR_OK;
    *projected = (struct weir_projected){.body = request->doc.text};
    return wr_fail(err, status, 0, "%s", weir_status_text(status));
}
