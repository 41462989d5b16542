#include "weir/engine.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "engine/request.h"
#include "engine/run.h"
#include "models/window.h"
#include "policy/meter.h"
#include "policy/policy_yaml.h"

enum { RESERVE_SHARE = 20 };

struct weir_engine {
    struct wr_models *models;
    struct wr_meter *meter;
    struct wr_policies *policies;
    struct wr_memo *memo;
    uint32_t memo_users_count; /* requests that are alive and point into the memo */
};

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
    if (status) {
        weir_engine_free(e);
        return status;
    }
    *engine = e;
    return WEIR_OK;
}

void weir_engine_free(struct weir_engine *engine)
{
    if (!engine)
        return;
    wr_memo_free(engine->memo);
    wr_policies_free(engine->policies);
    wr_meter_free(engine->meter);
    wr_models_free(engine->models);
    free(engine);
}

weir_status weir_engine_request(struct weir_engine *engine, weir_span body,
                                const struct weir_request_options *options,
                                struct weir_request **request, struct weir_err *err)
{
    if (!engine->memo_users_count)
        wr_memo_begin(engine->memo);
    return wr_request_new(body, options, engine->memo, &engine->memo_users_count, request, err);
}

weir_status weir_engine_load_policies(struct weir_engine *engine, weir_span yaml,
                                      struct weir_err *err)
{
    struct wr_policies *policies;
    weir_status status = wr_policies_new(&policies, yaml, err);
    if (status)
        return status;
    wr_policies_free(engine->policies);
    engine->policies = policies;
    return WEIR_OK;
}

/* What each preset's document assumes of a window that nobody knows. */
static uint32_t fallback_tokens(const struct wr_policy *policy)
{
    if (wr_span_is(wr_span_of(policy->name), "layers"))
        return WR_FALLBACK_LAYERS_TOKENS;
    return WR_FALLBACK_GUARDED_MID_TOKENS;
}

/* What is held free for the answer: a share of the window, whatever this request asks for. A number
 * that changes from request to request may not steer a fold (law L3). */
static uint64_t reserve_tokens(uint64_t window_tokens)
{
    return window_tokens / RESERVE_SHARE;
}

static weir_status measure(struct weir_engine *e, struct weir_request *r,
                           const struct weir_project_options *o, struct wr_fold_input *input,
                           struct weir_err *err)
{
    weir_span name = o->model ? wr_span_of(o->model) : r->transcript.model;
    struct wr_model_match match = wr_models_lookup(e->models, name);
    struct wr_window_evidence evidence = {.configured_tokens = o->window_tokens,
                                          .match = name.len ? &match : NULL,
                                          .fallback_tokens = fallback_tokens(input->policy)};
    struct wr_measure measured;

    weir_status status = wr_meter_use_model(e->meter, match.model, err);
    if (!status)
        status = wr_meter_measure(e->meter, &r->transcript, &r->arena, &measured);
    if (status)
        return status;
    input->transcript = &r->transcript;
    input->tokens = measured.segment_tokens;
    input->base_tokens = measured.base_tokens;
    input->overheads = measured.segment_overheads;
    input->message_overhead_tokens = measured.message_overhead_tokens;
    input->window_tokens = wr_window_select(&evidence).tokens;
    input->reserve_tokens = reserve_tokens(input->window_tokens);
    input->binds_thinking = match.model->preserved_thinking;
    input->count = wr_meter_count;
    input->user = e->meter;
    return WEIR_OK;
}

/* A name for a session that was given none: the hash of what it began with. */
static weir_status name_session(struct weir_request *r, weir_span *session)
{
    unsigned char digest[WR_SHA256_BYTES];
    char *name = wr_arena_alloc(&r->arena, 2 + 32);
    const struct wr_transcript *t = &r->transcript;
    uint32_t first = 0;

    if (!name)
        return wr_arena_status(&r->arena);
    while (first + 1 < t->segments_count && t->segments[first].role != WEIR_ROLE_USER)
        first++;
    weir_span text =
        t->segments_count ? wr_segment_text(t, &t->segments[first], &r->arena) : (weir_span){"", 0};
    if (!text.ptr)
        return wr_arena_status(&r->arena);
    weir_status status = wr_sha256(text, digest);
    for (int i = 0; i < 16; i++)
        (void)snprintf(name + 2 * i, 3, "%02x", digest[i]);
    *session = (weir_span){name, 32};
    return status;
}

/* Law L2: everything taken out is in the store, or nothing is taken out. */
static weir_status keep_originals(struct weir_request *r, const struct weir_project_options *o,
                                  struct wr_run *run)
{
    struct weir_batch batch = {.tenant = o->tenant.len ? o->tenant : WR_LIT("local"),
                               .session = o->session,
                               .used_ms = o->now_ms,
                               .durability =
                                   r->transcript.is_delta ? WEIR_DURABLE_FULL : WEIR_DURABLE_NORMAL,
                               .artifacts_count = run->artifacts_count};
    batch.artifacts = WR_ARENA_ARRAY(&r->arena, struct weir_artifact, run->artifacts_count);
    if (!batch.artifacts)
        return wr_arena_status(&r->arena);
    for (uint32_t i = 0; i < run->artifacts_count; i++)
        batch.artifacts[i].text = run->artifacts[i].text;
    weir_status status = batch.session.len ? WEIR_OK : name_session(r, &batch.session);
    if (status)
        return status;
    if (weir_store_commit(o->store, &batch, NULL))
        wr_run_fall_back(run, weir_trouble_text(o->store->trouble));
    return WEIR_OK;
}

static weir_status report(struct weir_request *r, const struct wr_run *run,
                          struct weir_projected *p)
{
    struct wr_buf json;
    wr_buf_init(&json, WR_OUTPUT_BYTES_MAX);
    wr_run_report(run, p->held_back, &json);
    weir_status status = json.status;
    if (!status) {
        p->report = wr_arena_copy(&r->arena, wr_buf_view(&json));
        status = p->report.ptr ? WEIR_OK : wr_arena_status(&r->arena);
    }
    wr_buf_release(&json);
    return status;
}

static weir_status run_policy(struct weir_engine *e, struct weir_request *r,
                              const struct weir_project_options *o, const struct wr_policy *policy,
                              struct weir_projected *p, struct weir_err *err)
{
    struct wr_fold_input *input = WR_ARENA_ARRAY(&r->arena, struct wr_fold_input, 1);
    struct wr_ways ways = {.recall = {"", 0}};
    struct wr_buf *body = wr_request_output(r);
    struct wr_run run;

    if (!input || !body)
        return wr_arena_status(&r->arena);
    input->policy = policy;
    weir_status status = measure(e, r, o, input, err);
    if (!status && o->store)
        status = wr_ways_read(&ways, &r->arena, &r->transcript);
    input->ways = &ways;
    if (!status)
        status = wr_run_policy(&run, &r->arena, input, body, err);
    if (status)
        return status;
    if (run.artifacts_count)
        status = keep_originals(r, o, &run);
    p->body = run.projection.body;
    p->tokens_before = run.tokens_before;
    p->tokens_after = run.tokens_after;
    p->is_step = wr_fold_step_now(&run.fold) != NULL;
    p->held_back = run.projection.first.found ? run.projection.first.what : NULL;
    p->is_changed = p->body.ptr != r->doc.text.ptr;
    return status ? status : report(r, &run, p);
}

weir_status weir_engine_project(struct weir_engine *engine, struct weir_request *request,
                                const struct weir_project_options *options,
                                struct weir_projected *projected, struct weir_err *err)
{
    const char *name = options->policy ? options->policy : "exact";
    const struct wr_policy *policy = wr_policies_find(engine->policies, wr_span_of(name));

    *projected = (struct weir_projected){.body = request->doc.text};
    if (!policy)
        return wr_fail(err, WEIR_NOTFOUND, 0,
                       "no policy is called '%.60s'; `weir policies` lists them", name);
    weir_status status = run_policy(engine, request, options, policy, projected, err);
    if (!status)
        return WEIR_OK;
    *projected = (struct weir_projected){.body = request->doc.text};
    return wr_fail(err, status, 0, "%s", weir_status_text(status));
}
