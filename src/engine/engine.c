/* The public engine: what is made once and used for all requests.
 *
 * Beside the models, the meter, the policies and the odds it holds memories, each of which changes
 * nothing but time: of calls and their handles, of texts that stages made, of how bodies began that
 * came and that were sent, of folds to go on from, and of marks that could not be written yet.
 * Requests point into the first of them, so an engine that is given up lives until the last of its
 * requests is freed.
 */
#include "engine/engine.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/sized.h"
#include "engine/foretell.h"
#include "engine/projection_policy.h"
#include "engine/record.h"
#include "models/cost.h"
#include "policy/worth.h"
#include "transcript/starts.h"
#include "weir/engine.h"

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

struct wr_memo *wr_engine_enter(struct weir_engine *engine)
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

struct wr_starts *wr_engine_starts(struct weir_engine *engine)
{
    return engine->came;
}

void wr_engine_leave(struct weir_engine *engine)
{
    WR_ASSERT(engine->users_count > 0);
    if (!--engine->users_count && engine->is_given_up)
        engine_release(engine);
}

weir_status weir_engine_request(struct weir_engine *engine, weir_span body,
                                const struct weir_request_options *options,
                                struct weir_request **request, struct weir_err *err)
{
    return wr_request_new(body, options, engine, request, err);
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

/* ==== prices ==== */

static uint32_t percent(uint64_t price, uint64_t of)
{
    return (uint32_t)((price * 100 + of / 2) / of);
}

struct wr_fold_prices wr_fold_prices_of(const struct wr_model *model)
{
    struct wr_prices p = wr_model_prices(model, 0, NULL);
    struct wr_fold_prices prices = {0};
    if (p.input == WR_PRICE_UNSET || !p.input)
        return prices;
    prices.write_pct = percent(p.cache_write, p.input);
    /* What a cache that promises no hit does not read costs what input does. */
    uint64_t hits = wr_cache_read_likely(model, 100);
    prices.read_pct =
        (uint32_t)((percent(p.cache_read, p.input) * hits + 100 * (100 - hits)) / 100);
    prices.output_pct = p.output == WR_PRICE_UNSET ? 0 : percent(p.output, p.input);
    prices.tier_tokens = model->tiers_count ? model->tiers[0].above_tokens : 0;
    return prices;
}
