/* context.c -- what fills a session's window.
 *
 * A session's rows are read twice: first all of them, for the sums and to find the latest row of
 * each prompt (an agent's helpers have prompts of their own under its session), then the one that
 * is shown, which is the largest of those. Keeping every row would need memory for the longest
 * session.
 */
#include "ledger/context.h"

#include <stdio.h>

#include "base/ascii.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "engine/record_row.h"
#include "json/write.h"
#include "models/registry.h"
#include "policy/budget.h"

/* The latest row of each prompt that the session has. */
struct prompt {
    uint64_t key;
    int64_t id;
    int64_t tokens;
};

enum { PROMPTS_MAX = 64, PART_DIGITS = 6 };

#define LISTED "`weir sessions` lists them"

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

static void keep_step(struct wr_context_step *step, const struct wr_record *record, int64_t time_ms)
{
    step->time_ms = time_ms;
    step->tokens_before = record->tokens_before;
    step->tokens_after = record->tokens_after;
    (void)snprintf(step->reason, sizeof(step->reason), "%.*s", (int)record->step_reason.len,
                   record->step_reason.len ? record->step_reason.ptr : "");
}

static weir_status on_row(void *user, const struct wr_ledger_row *row)
{
    struct reading *r = user;
    struct wr_tally *tallies[] = {&r->context->tally};
    struct wr_record record;
    weir_status status = wr_row_parse(row->line, &r->row, &record);

    if (status == WEIR_SYNTAX)
        return WEIR_OK; /* a damaged row: the others still stand */
    if (!status)
        status = wr_tallier_add(r->tallier, row, &record, tallies, 1);
    if (status || !record.tokens_before || record.is_hook)
        return status;
    if (wr_record_was_step(&record) && wr_record_was_changed(&record))
        keep_step(&r->context->last_step, &record, row->time_ms);
    struct prompt *prompt = prompt_of(r, wr_hash64(row->model) ^ wr_hash64(record.path) * 3);
    if (prompt)
        *prompt = (struct prompt){prompt->key, row->id, (int64_t)record.tokens_before};
    return WEIR_OK;
}

static const struct prompt *largest_prompt(const struct reading *r)
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

static void read_figures(struct reading *r, const struct wr_record *record,
                         const struct wr_model *model)
{
    struct wr_context *c = r->context;
    struct wr_usage usage = wr_record_usage(record, model);

    c->is_delta = record->is_delta;
    c->raw_tokens = record->tokens_before;
    c->sent_tokens = wr_record_was_changed(record) ? record->tokens_after : record->tokens_before;
    c->policy = wr_arena_copy(r->arena, wr_span_of(record->policy));
    c->window_tokens = record->budget.window_tokens;
    c->usable_tokens = record->budget.usable_tokens;
    memcpy(c->tokens, wr_record_sent_tokens(record), sizeof(c->tokens));
    c->usage_tokens = record->is_usage_known ? (int64_t)wr_usage_input_total(&usage) : -1;
    c->usage_read_tokens = record->is_usage_known ? record->usage.cache_read_tokens : -1;
}

struct showing {
    struct reading *reading;
    const struct wr_models *models;
};

static weir_status on_shown(void *user, const struct wr_ledger_row *row)
{
    struct showing *s = user;
    struct reading *r = s->reading;
    struct wr_record record;

    if (row->id != r->shown_id)
        return WEIR_OK;
    weir_status status = wr_row_parse(row->line, &r->row, &record);
    if (status)
        return status;
    r->context->time_ms = row->time_ms;
    r->context->model = wr_arena_copy(r->arena, row->model);
    read_figures(r, &record, wr_models_lookup(s->models, row->model).model);
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
    const struct prompt *prompt = largest_prompt(r);
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
        wr_json_member_number(w, wr_category_name((enum wr_category)i), c->tokens[i]);
    if (wr_context_held(c))
        wr_json_member_number(w, "provider_held", wr_context_held(c));
    if (free_tokens >= 0)
        wr_json_member_number(w, "free", (uint64_t)free_tokens);
    wr_json_write_object_end(w);
}

static void put_thresholds(struct wr_json_writer *w, const struct wr_context *c)
{
    wr_json_write_key(w, "thresholds");
    wr_json_write_array(w);
    for (uint32_t i = 0; i < c->thresholds_count; i++) {
        const struct wr_threshold *t = &c->thresholds[i];
        wr_json_write_object(w);
        wr_json_member_text(w, "stage", wr_span_of(t->stage));
        wr_json_member_text(w, "what", wr_span_of(t->what));
        if (t->when.words)
            wr_json_member_text(w, "when", wr_span_of(t->when.words));
        if (t->when.at_tokens)
            wr_json_member_number(w, "at_tokens", t->when.at_tokens);
        if (t->when.share_bp)
            wr_json_member_number(w, "at_basis_points", t->when.share_bp);
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
    wr_json_member_text(w, "reason", wr_span_of(c->last_step.reason));
    wr_json_member_i64(w, "time_ms", c->last_step.time_ms);
    wr_json_member_number(w, "tokens_before", c->last_step.tokens_before);
    wr_json_member_number(w, "tokens_after", c->last_step.tokens_after);
    wr_json_write_object_end(w);
}

static void put_context(struct wr_json_writer *w, const struct wr_context *c)
{
    wr_json_write_object(w);
    wr_json_member_text(w, "session", c->session.session);
    wr_json_member_text(w, "tenant", c->session.tenant);
    wr_json_member_text(w, "agent", c->session.agent);
    wr_json_member_text(w, "model", c->model);
    wr_json_member_text(w, "policy", c->policy);
    wr_json_member_i64(w, "time_ms", c->time_ms);
    wr_json_member_number(w, "prompts", c->prompts_count);
    wr_json_member_number(w, "window_tokens", c->window_tokens);
    wr_json_member_number(w, "usable_tokens", c->usable_tokens);
    wr_json_member_number(w, "estimated_tokens_before", c->raw_tokens);
    wr_json_member_number(w, "estimated_tokens_after", c->sent_tokens);
    put_usage(w, "usage_tokens", c->usage_tokens);
    put_usage(w, "usage_cache_read_tokens", c->usage_read_tokens);
    wr_json_member_bool(w, "is_delta", c->is_delta);
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

/* ---- the session that somebody means ---- */

struct search {
    weir_span word;
    struct wr_arena *arena;
    struct wr_ledger_session *found;
    size_t count;
    bool is_whole; /* `found` has just that name */
};

static weir_span behind_colon(weir_span name)
{
    size_t at = wr_span_find(name, WR_LIT(":"), 0);
    return at == SIZE_MAX ? name : wr_span_cut(name, at + 1, name.len);
}

/* How `word` begins, part for part where it has a '/' and the name too. */
static bool begins_so(weir_span name, weir_span word)
{
    size_t in_name = wr_span_find(name, WR_LIT("/"), 0);
    size_t in_word = wr_span_find(word, WR_LIT("/"), 0);

    if (in_name == SIZE_MAX || in_word == SIZE_MAX)
        return wr_span_starts(name, word);
    return wr_span_starts(wr_span_cut(name, 0, in_name), wr_span_cut(word, 0, in_word)) &&
           wr_span_starts(wr_span_cut(name, in_name + 1, name.len),
                          wr_span_cut(word, in_word + 1, word.len));
}

/* Hashes and random numbers say nothing by themselves: their first digits are enough. */
static void put_part(struct wr_buf *out, weir_span part)
{
    size_t digits = 0;
    while (digits < part.len && (wr_is_lower_hex(part.ptr[digits]) || part.ptr[digits] == '-'))
        digits++;
    bool is_short = digits == part.len && digits > PART_DIGITS;
    wr_buf_append(out, is_short ? wr_span_cut(part, 0, PART_DIGITS) : part);
}

void wr_session_put_short(struct wr_buf *out, weir_span name)
{
    size_t slash = wr_span_find(name, WR_LIT("/"), 0);
    weir_span id = behind_colon(name);

    if (slash == SIZE_MAX || slash < name.len - id.len) {
        wr_buf_append(out, name);
        return;
    }
    wr_buf_append(out, wr_span_cut(name, 0, name.len - id.len));
    put_part(out, wr_span_cut(name, name.len - id.len, slash));
    wr_buf_byte(out, '/');
    put_part(out, wr_span_cut(name, slash + 1, name.len));
}

static weir_status keep_found(struct search *s, const struct wr_ledger_session *session)
{
    *s->found = *session;
    s->found->tenant = wr_arena_copy(s->arena, session->tenant);
    s->found->session = wr_arena_copy(s->arena, session->session);
    s->found->agent = wr_arena_copy(s->arena, session->agent);
    s->found->model = wr_arena_copy(s->arena, session->model);
    return wr_arena_status(s->arena);
}

/* They come newest first: of several with one whole name, of several tenants, the newest stays. */
static weir_status on_session(void *user, const struct wr_ledger_session *session)
{
    struct search *s = user;
    bool is_whole = wr_span_eq(session->session, s->word);

    if (!s->word.len)
        return s->count++ ? WEIR_OK : keep_found(s, session);
    if (!begins_so(session->session, s->word) &&
        !begins_so(behind_colon(session->session), s->word))
        return WEIR_OK;
    s->count++;
    if (s->is_whole || (s->count > 1 && !is_whole))
        return WEIR_OK;
    s->is_whole = is_whole;
    return keep_found(s, session);
}

weir_status wr_session_find(struct wr_ledger *ledger, weir_span tenant, weir_span word,
                            struct wr_arena *arena, struct wr_ledger_session *found,
                            struct weir_err *err)
{
    struct search search = {.word = word, .arena = arena, .found = found};
    struct wr_ledger_filter filter = {.tenant = tenant};
    weir_status status = wr_ledger_sessions(ledger, &filter, on_session, &search, err);

    if (status)
        return status;
    if (!search.count)
        return wr_fail(err, WEIR_NOTFOUND, 0,
                       word.len ? "no session is called so; " LISTED
                                : "no request has been kept yet");
    if (search.count > 1 && word.len && !search.is_whole)
        return wr_fail(err, WEIR_INVALID, 0,
                       "%zu sessions begin so; give more of the name; " LISTED, search.count);
    return WEIR_OK;
}
