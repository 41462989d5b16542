#include "ledger/context.h"

#include <stdio.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/write.h"
#include "ledger/find.h"
#include "ledger/line.h"
#include "models/lookup.h"
#include "policy/budget.h"

/* The latest row of each prompt that the session has. */
struct prompt {
    uint64_t key;
    int64_t id;
    int64_t tokens;
};

enum { PROMPTS_MAX = 64 };

struct reading {
    struct wr_context *context;
    struct wr_tallier *tallier;
    struct wr_arena *arena; /* of the context */
    struct wr_arena row;    /* of one row */
    struct prompt prompts[PROMPTS_MAX];
    size_t prompts_count;
    int64_t shown_id;
};

/* ---- the rows ---- */

static struct prompt *prompt_of(struct reading *r, uint64_t key)
{
    for (size_t i = 0; i < r->prompts_count; i++)
        if (r->prompts[i].key == key)
            return &r->prompts[i];
    if (r->prompts_count == PROMPTS_MAX)
        return NULL;
    r->prompts[r->prompts_count] = (struct prompt){.key = key};
    return &r->prompts[r->prompts_count++];
}

static void keep_step(struct wr_context_step *step, const struct wr_json *doc,
                      const struct wr_line *line, int64_t time_ms)
{
    wr_json_id reason = wr_json_find(doc, 0, "step_reason");
    weir_span word =
        wr_json_is(doc, reason, WR_JSON_STRING) ? wr_json_inner(doc, reason) : WR_LIT("");

    step->time_ms = time_ms;
    step->tokens_before = (uint64_t)line->estimated_tokens_before;
    step->tokens_after =
        line->estimated_tokens_after > 0 ? (uint64_t)line->estimated_tokens_after : 0;
    (void)snprintf(step->reason, sizeof(step->reason), "%.*s", (int)word.len, word.ptr);
}

static weir_status on_row(void *user, const struct wr_ledger_row *row)
{
    struct reading *r = user;
    struct wr_tally *tallies[] = {&r->context->tally};
    struct wr_json doc;
    struct wr_line line;
    weir_status status = wr_tallier_add(r->tallier, row, tallies, 1);

    if (status == WEIR_SYNTAX)
        return WEIR_OK; /* a damaged row: the others still stand */
    wr_arena_reset(&r->row);
    if (!status)
        status = wr_json_parse(&doc, &r->row, row->line, NULL, NULL);
    if (status)
        return status;
    wr_line_read(&doc, &line);
    if (line.estimated_tokens_before <= 0)
        return WEIR_OK;
    if (line.step && line.changed)
        keep_step(&r->context->last_step, &doc, &line, row->time_ms);
    struct prompt *prompt = prompt_of(r, wr_hash64(row->model) ^ wr_hash64(line.path) * 3);
    if (prompt)
        *prompt = (struct prompt){prompt->key, row->id, line.estimated_tokens_before};
    return WEIR_OK;
}

static const struct prompt *largest(const struct reading *r)
{
    const struct prompt *found = NULL;
    for (size_t i = 0; i < r->prompts_count; i++)
        if (!found || r->prompts[i].tokens > found->tokens)
            found = &r->prompts[i];
    return found;
}

/* ---- when the policy does what ---- */

static void find_thresholds(struct wr_context *c)
{
    const struct wr_policy *policy = wr_policy_find(c->policy);

    struct wr_stage_room room = {c->window_tokens, c->usable_tokens};

    c->is_policy_known = policy != NULL;
    for (uint32_t i = 0; policy && i < policy->stages_count; i++) {
        const struct wr_stage *stage = &policy->stages[i];
        c->thresholds[c->thresholds_count++] =
            (struct wr_threshold){stage->def->name, stage->def->what, wr_stage_when(stage, &room)};
    }
}

/* ---- the row that is shown ---- */

static uint64_t number_or(const struct wr_json *doc, const char *name, uint64_t otherwise)
{
    int64_t number = wr_line_number(doc, name);
    return number < 0 ? otherwise : (uint64_t)number;
}

/* A shadow decision says the same of the window, under other names. */
static uint64_t window_figure(const struct wr_json *doc, const char *name, const char *shadow_name)
{
    return number_or(doc, name, number_or(doc, shadow_name, 0));
}

static weir_span word_of(struct reading *r, const struct wr_json *doc, const char *name)
{
    wr_json_id id = wr_json_find(doc, 0, name);
    return wr_json_is(doc, id, WR_JSON_STRING) ? wr_arena_copy(r->arena, wr_json_inner(doc, id))
                                               : WR_LIT("");
}

static void read_usage(struct wr_context *c, const struct wr_line *line,
                       const struct wr_model *model)
{
    struct wr_usage usage = wr_line_usage(line, model);
    c->usage_tokens = line->usage_known ? (int64_t)wr_usage_input_total(&usage) : -1;
    c->usage_read_tokens = line->usage_known ? line->usage_cache_read_tokens : -1;
}

static void read_figures(struct reading *r, const struct wr_json *doc)
{
    struct wr_context *c = r->context;
    struct wr_line line;

    wr_line_read(doc, &line);
    c->is_delta = line.delta;
    c->raw_tokens = (uint64_t)line.estimated_tokens_before;
    c->sent_tokens = line.changed && line.estimated_tokens_after >= 0
                         ? (uint64_t)line.estimated_tokens_after
                         : c->raw_tokens;
    c->policy = word_of(r, doc, "policy");
    if (!c->policy.len)
        c->policy = word_of(r, doc, "shadow_policy");
    c->window_tokens =
        window_figure(doc, "model_context_window_tokens", "shadow_model_context_window_tokens");
    c->usable_tokens = window_figure(doc, "effective_usable_context_tokens",
                                     "shadow_effective_usable_context_tokens");
#define X(name, text) c->tokens[WR_CATEGORY_##name] = number_or(doc, "context_" text "_tokens", 0);
    WR_CATEGORY_MAP(X)
#undef X
}

struct showing {
    struct reading *reading;
    const struct wr_models *models;
};

static weir_status on_shown(void *user, const struct wr_ledger_row *row)
{
    struct showing *s = user;
    struct reading *r = s->reading;
    struct wr_json doc;
    struct wr_line line;

    if (row->id != r->shown_id)
        return WEIR_OK;
    wr_arena_reset(&r->row);
    weir_status status = wr_json_parse(&doc, &r->row, row->line, NULL, NULL);
    if (status)
        return status;
    wr_line_read(&doc, &line);
    r->context->time_ms = row->time_ms;
    r->context->model = wr_arena_copy(r->arena, row->model);
    read_figures(r, &doc);
    read_usage(r->context, &line, wr_models_lookup(s->models, row->model).model);
    find_thresholds(r->context);
    return wr_arena_status(r->arena);
}

static weir_status read_session(struct wr_ledger *ledger, struct reading *r,
                                const struct wr_models *models, struct weir_err *err)
{
    struct wr_context *c = r->context;
    struct wr_ledger_filter filter = {.tenant = c->session.tenant, .session = c->session.session};
    struct showing showing = {r, models};
    weir_status status = wr_ledger_each(ledger, &filter, on_row, r, err);

    if (status)
        return status;
    const struct prompt *prompt = largest(r);
    if (!prompt)
        return wr_fail(err, WEIR_NOTFOUND, 0,
                       "no request of this session was read: is the proxy's mode `off`?");
    c->prompts_count = r->prompts_count;
    r->shown_id = prompt->id;
    filter.after_id = prompt->id - 1;
    return wr_ledger_each(ledger, &filter, on_shown, &showing, err);
}

weir_status wr_context_read(struct wr_ledger *ledger, weir_span tenant, weir_span session,
                            const struct wr_models *models, struct wr_arena *arena,
                            struct wr_context *context, struct weir_err *err)
{
    struct reading reading = {.context = context, .arena = arena};

    *context = (struct wr_context){.usage_tokens = -1, .usage_read_tokens = -1};
    weir_status status = wr_session_find(ledger, tenant, session, arena, &context->session, err);
    if (status)
        return status;
    reading.tallier = wr_tallier_new(models);
    if (!reading.tallier)
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    wr_arena_init(&reading.row, WR_ARENA_BYTES_MAX);
    status = read_session(ledger, &reading, models, err);
    wr_arena_release(&reading.row);
    wr_tallier_free(reading.tallier);
    return status;
}

/* A line without categories still has its size. */
static uint64_t estimate_of(const struct wr_context *context)
{
    uint64_t sum = 0;
    for (int i = 0; i < WR_CATEGORIES_COUNT; i++)
        sum += context->tokens[i];
    return sum ? sum : context->sent_tokens;
}

uint64_t wr_context_held(const struct wr_context *context)
{
    uint64_t estimate = estimate_of(context);
    if (!context->is_delta || context->usage_tokens < (int64_t)estimate)
        return 0;
    return (uint64_t)context->usage_tokens - estimate;
}

uint64_t wr_context_used(const struct wr_context *context)
{
    return estimate_of(context) + wr_context_held(context);
}

int64_t wr_context_free(const struct wr_context *context)
{
    uint64_t used = wr_context_used(context);
    if (!context->window_tokens || (context->is_delta && context->usage_tokens < 0))
        return -1;
    return context->window_tokens > used ? (int64_t)(context->window_tokens - used) : 0;
}

/* ---- as JSON ---- */

static void put_number(struct wr_json_writer *w, const char *key, uint64_t number)
{
    wr_json_write_key(w, key);
    wr_json_write_i64(w, number > INT64_MAX ? INT64_MAX : (int64_t)number);
}

static void put_text(struct wr_json_writer *w, const char *key, weir_span text)
{
    wr_json_write_key(w, key);
    wr_json_write_text(w, text);
}

static void put_quality(struct wr_json_writer *w, const struct wr_tally *tally)
{
    wr_json_write_key(w, "quality");
    wr_json_write_object(w);
#define X(name, text)        \
    if (tally->quality.name) \
        put_number(w, #name, tally->quality.name);
    WR_QUALITY_MAP(X)
#undef X
    wr_json_write_object_end(w);
}

void wr_tally_write_json(const struct wr_tally *tally, struct wr_json_writer *w)
{
    put_number(w, "requests", tally->requests_count);
    put_number(w, "changed", tally->changed_count);
    put_number(w, "steps", tally->steps_count);
    put_number(w, "failed", tally->failed_count);
    put_number(w, "shadow", tally->shadow_count);
    if (tally->shadow_count) {
        put_number(w, "shadow_prompt_tokens", tally->shadow_prompt_tokens);
        put_number(w, "shadow_would_send_tokens", tally->shadow_would_send_tokens);
    }
    put_number(w, "estimated", tally->estimated_count);
    put_number(w, "unpriced", tally->unpriced_count);
    put_number(w, "raw_tokens", tally->raw_tokens);
    put_number(w, "sent_tokens", tally->sent_tokens);
    put_number(w, "input_tokens", tally->input_tokens);
    put_number(w, "cache_read_tokens", tally->cache_read_tokens);
    put_number(w, "cache_write_tokens", tally->cache_write_tokens);
    put_number(w, "output_tokens", tally->output_tokens);
    put_number(w, "micro_usd", tally->micro_usd);
    put_number(w, "unchanged_micro_usd", tally->unchanged_micro_usd);
    put_number(w, "steps_micro_usd", tally->steps_micro_usd);
    put_number(w, "would_be_refused", tally->refused_count);
    wr_json_write_key(w, "saved_micro_usd");
    wr_json_write_i64(w, (int64_t)tally->unchanged_micro_usd - (int64_t)tally->micro_usd);
    wr_json_write_key(w, "busts");
    wr_json_write_object(w);
    for (int i = 0; i < WR_BUSTS_COUNT; i++)
        put_number(w, wr_bust_name((enum wr_bust)i), tally->busts[i]);
    wr_json_write_object_end(w);
    put_quality(w, tally);
}

static void put_usage(struct wr_json_writer *w, const char *key, int64_t tokens)
{
    wr_json_write_key(w, key);
    if (tokens < 0)
        wr_json_write_null(w);
    else
        wr_json_write_i64(w, tokens);
}

static void put_categories(struct wr_json_writer *w, const struct wr_context *c)
{
    int64_t free_tokens = wr_context_free(c);

    wr_json_write_key(w, "categories");
    wr_json_write_object(w);
    for (int i = 0; i < WR_CATEGORIES_COUNT; i++)
        put_number(w, wr_category_name((enum wr_category)i), c->tokens[i]);
    if (wr_context_held(c))
        put_number(w, "provider_held", wr_context_held(c));
    if (free_tokens >= 0)
        put_number(w, "free", (uint64_t)free_tokens);
    wr_json_write_object_end(w);
}

static void put_thresholds(struct wr_json_writer *w, const struct wr_context *c)
{
    wr_json_write_key(w, "thresholds");
    wr_json_write_array(w);
    for (uint32_t i = 0; i < c->thresholds_count; i++) {
        const struct wr_threshold *t = &c->thresholds[i];
        wr_json_write_object(w);
        put_text(w, "stage", wr_span_of(t->stage));
        put_text(w, "what", wr_span_of(t->what));
        if (t->when.words)
            put_text(w, "when", wr_span_of(t->when.words));
        if (t->when.at_tokens)
            put_number(w, "at_tokens", t->when.at_tokens);
        if (t->when.share_bp)
            put_number(w, "at_basis_points", t->when.share_bp);
        wr_json_write_object_end(w);
    }
    wr_json_write_array_end(w);
}

static void put_last_step(struct wr_json_writer *w, const struct wr_context *c)
{
    wr_json_write_key(w, "last_step");
    if (!c->last_step.time_ms) {
        wr_json_write_null(w);
        return;
    }
    wr_json_write_object(w);
    put_text(w, "reason", wr_span_of(c->last_step.reason));
    wr_json_write_key(w, "time_ms");
    wr_json_write_i64(w, c->last_step.time_ms);
    put_number(w, "tokens_before", c->last_step.tokens_before);
    put_number(w, "tokens_after", c->last_step.tokens_after);
    wr_json_write_object_end(w);
}

static void put_context(struct wr_json_writer *w, const struct wr_context *c)
{
    wr_json_write_object(w);
    put_text(w, "session", c->session.session);
    put_text(w, "tenant", c->session.tenant);
    put_text(w, "agent", c->session.agent);
    put_text(w, "model", c->model);
    put_text(w, "policy", c->policy);
    wr_json_write_key(w, "time_ms");
    wr_json_write_i64(w, c->time_ms);
    put_number(w, "prompts", c->prompts_count);
    put_number(w, "window_tokens", c->window_tokens);
    put_number(w, "usable_tokens", c->usable_tokens);
    put_number(w, "estimated_tokens_before", c->raw_tokens);
    put_number(w, "estimated_tokens_after", c->sent_tokens);
    put_usage(w, "usage_tokens", c->usage_tokens);
    put_usage(w, "usage_cache_read_tokens", c->usage_read_tokens);
    wr_json_write_key(w, "is_delta");
    wr_json_write_bool(w, c->is_delta);
    put_categories(w, c);
    put_thresholds(w, c);
    put_last_step(w, c);
    wr_json_write_key(w, "sums");
    wr_json_write_object(w);
    wr_tally_write_json(&c->tally, w);
    wr_json_write_object_end(w);
    wr_json_write_object_end(w);
}

weir_status wr_context_write_json(struct wr_ledger *ledger, weir_span tenant, weir_span session,
                                  const struct wr_models *models, struct wr_buf *out,
                                  struct weir_err *err)
{
    struct wr_context context;
    struct wr_arena arena;
    struct wr_json_writer w;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_status status = wr_context_read(ledger, tenant, session, models, &arena, &context, err);
    if (!status) {
        wr_json_write_init(&w, out);
        put_context(&w, &context);
        status = wr_buf_status(out);
    }
    wr_arena_release(&arena);
    return status;
}
