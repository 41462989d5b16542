/* tally.c -- rows added up: what requests cost, and what the same would have cost unchanged.
 *
 * The real cost is the usage at the model's prices. The other one cannot be measured, so it is
 * played through beside it: for each lane (below) it is kept how many tokens are in the provider's
 * cache really, and how many would be had nothing been changed, and each request is priced in both
 * worlds. What others broke is broken in both; what a step of ours broke is broken in the real one
 * alone, so that every step is charged to us. docs/telemetry.md has the rules one by one.
 */
#include "ledger/tally.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/write.h"
#include "models/cache.h"
#include "models/registry.h"

/* A lane is what shares a prefix: the requests of a session to one model by one path. An agent's
 * helpers run under its session with other models, or beside it. */
struct lane {
    uint64_t key; /* 0: the place is free */
    int64_t last_ms;
    bool differs;                /* something was changed: the two prompts are not the same */
    uint64_t cached, cached_raw; /* tokens in the cache: really, and if nothing had been changed */
    bool made_differs;        /* the same of prompts in shadow, had they been sent: they differ */
    uint64_t cached_made;     /* from what was sent, and this would be cached */
    uint64_t raw_tokens;      /* of the last prompt */
    uint64_t recalled_tokens; /* of that, what recalls brought */
    uint64_t held_tokens;     /* taken out of the history that the provider holds */
    uint64_t output_tokens;   /* of the last answer */
    uint32_t ttl_s;
};

struct wr_tallier {
    const struct wr_models *models;
    struct lane *lanes; /* open addressing */
    size_t lanes_count, lanes_cap;
};

/* One row on its way into the sums. */
struct row {
    const struct wr_record *record;
    const struct wr_model *model;
    uint64_t window_tokens; /* 0: not known */
    int64_t time_ms;
    bool is_estimated, is_priced;
    struct wr_usage usage, raw; /* really, and if nothing had been changed */
    struct wr_usage made;       /* of a request in shadow: had its projection been sent */
    uint64_t sent_tokens, raw_tokens;
    bool is_refused; /* unchanged, it would have been: it is longer than the window */
};

/* ---- life ---- */

struct wr_tallier *wr_tallier_new(const struct wr_models *models)
{
    struct wr_tallier *tallier = calloc(1, sizeof(*tallier));
    if (!tallier)
        return NULL;
    tallier->models = models;
    return tallier;
}

void wr_tallier_free(struct wr_tallier *tallier)
{
    if (!tallier)
        return;
    free(tallier->lanes);
    free(tallier);
}

/* ---- lanes ---- */

static struct lane *lane_place(struct lane *lanes, size_t cap, uint64_t key)
{
    size_t at = key & (cap - 1);
    while (lanes[at].key && lanes[at].key != key)
        at = (at + 1) & (cap - 1);
    return &lanes[at];
}

/* Twice the room. At the cap all are forgotten: their sessions begin anew, as far as sums go. */
static bool grow_lanes(struct wr_tallier *t)
{
    size_t cap = t->lanes_cap ? t->lanes_cap * 2 : 256;
    bool forgets = cap > WR_TALLY_LANES_MAX;

    if (forgets) {
        memset(t->lanes, 0, t->lanes_cap * sizeof(*t->lanes));
        t->lanes_count = 0;
        return true;
    }
    struct lane *lanes = calloc(cap, sizeof(*lanes));
    if (!lanes)
        return false;
    for (size_t i = 0; i < t->lanes_cap; i++)
        if (t->lanes[i].key)
            *lane_place(lanes, cap, t->lanes[i].key) = t->lanes[i];
    free(t->lanes);
    t->lanes = lanes;
    t->lanes_cap = cap;
    return true;
}

/* NULL: out of memory. */
static struct lane *find_lane(struct wr_tallier *t, const struct wr_ledger_row *row,
                              const struct wr_record *record)
{
    const weir_span parts[] = {row->tenant, row->session, row->model, record->path};
    uint64_t hashes[4];

    for (size_t i = 0; i < 4; i++)
        hashes[i] = wr_hash64(parts[i]);
    uint64_t key = wr_hash64((weir_span){(const char *)hashes, sizeof(hashes)}) | 1;
    if (t->lanes_count * 2 >= t->lanes_cap && !grow_lanes(t))
        return NULL;
    struct lane *lane = lane_place(t->lanes, t->lanes_cap, key);
    if (!lane->key) {
        t->lanes_count++;
        *lane = (struct lane){.key = key};
    }
    return lane;
}

/* ---- what was used ---- */

static uint64_t written_tokens(const struct wr_usage *usage)
{
    return usage->cache_write_5m_tokens + usage->cache_write_1h_tokens +
           usage->cache_write_30m_tokens;
}

static bool charges_writes(const struct wr_model *model)
{
    return model->cache &&
           (model->cache->mode == WR_CACHE_EXPLICIT || model->cache->mode == WR_CACHE_BREAKPOINT);
}

static bool is_warm(const struct lane *lane, int64_t time_ms)
{
    return lane->last_ms && time_ms - lane->last_ms < (int64_t)lane->ttl_s * 1000;
}

/* A request whose answer said nothing: all that was cached is read, unless it expired or a step
 * was taken, and the rest is written where writing is charged. */
static struct wr_usage estimate_usage(const struct row *row, const struct lane *lane)
{
    struct wr_usage usage = {.input_tokens = row->sent_tokens};
    bool is_read = is_warm(lane, row->time_ms) && !wr_record_was_step(row->record);
    uint64_t read = is_read ? lane->cached : 0;

    if (row->sent_tokens < row->model->min_cacheable_tokens)
        return usage;
    usage.cache_read_tokens = read < row->sent_tokens ? read : row->sent_tokens;
    usage.input_tokens -= usage.cache_read_tokens;
    if (charges_writes(row->model)) {
        uint64_t *kind = row->model->cache->mode == WR_CACHE_BREAKPOINT
                             ? &usage.cache_write_30m_tokens
                             : &usage.cache_write_5m_tokens;
        *kind = usage.input_tokens;
        usage.input_tokens = 0;
    }
    return usage;
}

static uint64_t at_most(uint64_t number, uint64_t number_max)
{
    return number < number_max ? number : number_max;
}

/* All three are token counts: at most a few WR_MODEL_TOKENS_MAX, so the product fits. */
static uint64_t scale_tokens(uint64_t number, uint64_t by, uint64_t of)
{
    return of ? at_most(number * by / of, WR_MODEL_TOKENS_MAX) : number;
}

/* The provider holds the shortened history: all that was ever taken out is missing in its count. */
static uint64_t raw_of_delta(const struct row *row, struct lane *lane)
{
    uint64_t before = row->record->tokens_before, after = row->record->tokens_after;
    if (wr_record_was_changed(row->record) && before > after)
        lane->held_tokens += before - after;
    return at_most(row->sent_tokens + lane->held_tokens, WR_MODEL_TOKENS_MAX);
}

/* The prompt as it came, in the provider's own tokens: our estimates of the two give the ratio. */
static uint64_t raw_of(const struct row *row, struct lane *lane)
{
    uint64_t before = row->record->tokens_before, after = row->record->tokens_after;
    if (row->record->is_delta && row->sent_tokens)
        return raw_of_delta(row, lane);
    lane->held_tokens = 0;
    if (!wr_record_was_changed(row->record) || !before || !after)
        return row->sent_tokens;
    return scale_tokens(row->sent_tokens, before, after);
}

static void read_usage(struct row *row, struct lane *lane)
{
    const struct wr_record *r = row->record;
    bool is_answered = r->status >= 200 && r->status < 300;

    if (r->is_usage_known) {
        row->usage = wr_record_usage(r, row->model);
        row->sent_tokens = wr_usage_input_total(&row->usage);
    } else if (is_answered && r->tokens_before) {
        bool is_other = wr_record_was_changed(r) && r->tokens_after;
        row->is_estimated = true;
        row->sent_tokens = is_other ? r->tokens_after : r->tokens_before;
        row->usage = estimate_usage(row, lane);
    }
    row->raw_tokens = raw_of(row, lane);
    row->raw = row->made = row->usage;
}

/* ---- the same request unchanged ---- */

/* Weir's own tools in the provider's own tokens. */
static uint64_t own_tools(const struct row *row)
{
    const struct wr_record *r = row->record;
    return r->tokens_before && !wr_record_is_shadow(r)
               ? scale_tokens(r->own_tools_tokens, row->raw_tokens, r->tokens_before)
               : 0;
}

/* How long the prompt would have been: without what recalls brought and what our own tools take,
 * and no longer than the window, since a longer one could not have been sent. */
static uint64_t unchanged_prompt(struct row *row, struct lane *lane)
{
    if (row->raw_tokens < lane->raw_tokens)
        lane->recalled_tokens = 0; /* the agent has begun anew */
    uint64_t ours = lane->recalled_tokens + own_tools(row);
    uint64_t prompt = row->raw_tokens > ours ? row->raw_tokens - ours : row->raw_tokens;
    uint64_t window = row->window_tokens;

    row->is_refused = window && prompt > window && prompt > row->sent_tokens;
    if (!row->is_refused)
        return prompt;
    return window > row->sent_tokens ? window : row->sent_tokens;
}

static bool is_bust_ours(const struct row *row)
{
    return row->record->is_bust ? row->record->bust == WR_BUST_WEIR
                                : wr_record_was_step(row->record);
}

/* How much of `prompt` would have been read. What was lost for a reason that is not ours would have
 * been lost as well. */
static uint64_t unchanged_read(const struct row *row, const struct lane *lane, uint64_t prompt)
{
    uint64_t really = row->usage.cache_read_tokens, read;

    if (is_bust_ours(row) && is_warm(lane, row->time_ms))
        read = lane->cached_raw > really ? lane->cached_raw : really;
    else if (row->record->is_bust || !is_warm(lane, row->time_ms))
        read = scale_tokens(really, prompt, row->sent_tokens);
    else if (lane->cached_raw + really > lane->cached)
        read = lane->cached_raw + really - lane->cached;
    else
        read = 0;
    return at_most(read, prompt);
}

/* The tokens that are not read are divided into written and plain input as they really were. */
static void split_rest(const struct wr_usage *usage, uint64_t rest, struct wr_usage *other)
{
    uint64_t really = wr_usage_input_total(usage) - usage->cache_read_tokens;

    if (!really) {
        other->input_tokens = rest;
        return;
    }
    other->cache_write_5m_tokens = scale_tokens(usage->cache_write_5m_tokens, rest, really);
    other->cache_write_1h_tokens = scale_tokens(usage->cache_write_1h_tokens, rest, really);
    other->cache_write_30m_tokens = scale_tokens(usage->cache_write_30m_tokens, rest, really);
    other->input_tokens = rest - written_tokens(other);
}

static void imagine_unchanged(struct row *row, struct lane *lane)
{
    uint64_t prompt = unchanged_prompt(row, lane);

    lane->differs = lane->differs || prompt != row->sent_tokens;
    if (!lane->differs)
        return;
    row->raw = (struct wr_usage){.output_tokens = row->usage.output_tokens};
    row->raw.cache_read_tokens = unchanged_read(row, lane, prompt);
    split_rest(&row->usage, prompt - row->raw.cache_read_tokens, &row->raw);
}

/* ---- a request in shadow, had its projection been sent ---- */

/* What stands before the first turn is the least that a step leaves as it was. How much more is not
 * in the row: the estimate is what a step costs at most. */
static uint64_t kept_by_step(const struct row *row)
{
    const struct wr_record *r = row->record;
    uint64_t head = r->came_tokens[WR_CATEGORY_SYSTEM] + r->came_tokens[WR_CATEGORY_TOOLS];
    return scale_tokens(head, row->sent_tokens, r->tokens_before);
}

static uint64_t made_read(const struct row *row, const struct lane *lane, uint64_t prompt)
{
    uint64_t really = row->usage.cache_read_tokens, read = 0;

    if (row->record->is_bust || !is_warm(lane, row->time_ms))
        read = scale_tokens(really, prompt, row->sent_tokens);
    else if (row->record->is_step)
        read = at_most(kept_by_step(row), lane->cached_made);
    else if (lane->cached_made + really > lane->cached)
        read = lane->cached_made + really - lane->cached;
    return at_most(read, prompt);
}

/* The other way round: what was sent is what came, and the projection is what is imagined. */
static void imagine_made(struct row *row, struct lane *lane)
{
    const struct wr_record *r = row->record;
    bool is_other = wr_record_is_shadow(r) && r->is_changed && r->tokens_before && r->tokens_after;
    uint64_t prompt = is_other && !r->is_delta
                          ? scale_tokens(row->sent_tokens, r->tokens_after, r->tokens_before)
                          : row->sent_tokens;

    lane->made_differs = lane->made_differs || prompt != row->sent_tokens;
    if (!lane->made_differs)
        return;
    row->made = (struct wr_usage){.output_tokens = row->usage.output_tokens};
    row->made.cache_read_tokens = made_read(row, lane, prompt);
    split_rest(&row->usage, prompt - row->made.cache_read_tokens, &row->made);
}

/* ---- after it ---- */

static uint64_t cached_after(const struct wr_model *model, const struct wr_usage *usage)
{
    uint64_t step = model->cache ? model->cache->step_tokens : 0;
    uint64_t total = wr_usage_input_total(usage);

    if (!model->cache || model->cache->mode == WR_CACHE_NONE)
        return 0;
    if (charges_writes(model))
        return usage->cache_read_tokens + written_tokens(usage);
    return wr_cache_read_likely(model, step > 1 ? total - total % step : total);
}

static uint32_t ttl_of(const struct row *row)
{
    const struct wr_cache_rule *rule = row->model->cache;
    uint32_t ttl_s = rule ? rule->ttl_s : 0;

    if (rule && rule->ttl_long_s && row->usage.cache_write_1h_tokens)
        ttl_s = rule->ttl_long_s;
    return ttl_s ? ttl_s : WR_CACHE_UNPUBLISHED_TTL_S;
}

static void note_lane(struct lane *lane, const struct row *row)
{
    lane->cached = cached_after(row->model, &row->usage);
    lane->cached_raw = cached_after(row->model, &row->raw);
    lane->cached_made = cached_after(row->model, &row->made);
    lane->raw_tokens = row->raw_tokens;
    lane->output_tokens = row->usage.output_tokens;
    /* A read lengthens the life that the write gave. */
    if (!lane->ttl_s || written_tokens(&row->usage))
        lane->ttl_s = ttl_of(row);
    lane->last_ms = row->time_ms;
    /* If the prompt was sent unchanged and both caches hold the same, the two are the same again.
     */
    if (row->raw_tokens == row->sent_tokens && !lane->recalled_tokens &&
        lane->cached == lane->cached_raw)
        lane->differs = false;
}

/* Unchanged, this request would not exist: the request before would have got its answer, instead of
 * the call for the recall. */
static uint64_t skip_recall(struct row *row, struct lane *lane)
{
    uint64_t call_tokens = lane->output_tokens;

    row->raw = (struct wr_usage){.output_tokens = row->usage.output_tokens};
    if (row->raw_tokens > lane->raw_tokens)
        lane->recalled_tokens += row->raw_tokens - lane->raw_tokens;
    lane->differs = true;
    lane->raw_tokens = row->raw_tokens;
    lane->cached = cached_after(row->model, &row->usage);
    lane->output_tokens = row->usage.output_tokens;
    lane->last_ms = row->time_ms;
    return call_tokens;
}

/* ---- the sums ---- */

static void add_signs(struct wr_tally *tally, const struct wr_record *r)
{
    if (r->is_bust) {
        tally->busts[r->bust]++;
        tally->bust_tokens[r->bust] += r->cache_lost_tokens;
    }
#define X(name, text) tally->quality.name += r->quality.name;
    WR_QUALITY_MAP(X)
#undef X
}

static void add_tokens(struct wr_tally *tally, const struct row *row)
{
    tally->raw_tokens += row->raw_tokens;
    tally->sent_tokens += row->sent_tokens;
    tally->input_tokens += row->usage.input_tokens;
    tally->cache_read_tokens += row->usage.cache_read_tokens;
    tally->cache_write_tokens += written_tokens(&row->usage);
    tally->output_tokens += row->usage.output_tokens;
}

static void add_counts(struct wr_tally *tally, const struct row *row)
{
    const struct wr_record *r = row->record;

    tally->requests_count++;
    tally->changed_count += wr_record_was_changed(r);
    tally->steps_count += wr_record_was_step(r);
    tally->failed_count += r->status < 200 || r->status >= 300;
    if (wr_record_is_shadow(r)) {
        tally->shadow_count++;
        tally->shadow_prompt_tokens += r->tokens_before;
        tally->shadow_would_send_tokens += r->tokens_after;
    }
    tally->estimated_count += row->is_estimated;
    tally->unpriced_count += !row->is_priced;
    tally->refused_count += row->is_refused;
    if (!tally->first_ms || row->time_ms < tally->first_ms)
        tally->first_ms = row->time_ms;
    if (row->time_ms > tally->last_ms)
        tally->last_ms = row->time_ms;
}

/* What a broken cache cost: the tokens that were written anew, less what reading them costs. A step
 * of ours makes the prompt shorter, so that of what was lost from the cache only a part is written
 * again; what is new in the request would have been written anyway. */
static uint64_t bust_cost(const struct row *row)
{
    struct wr_usage kept = row->usage;
    uint64_t *kinds[] = {&kept.cache_write_5m_tokens, &kept.cache_write_30m_tokens,
                         &kept.cache_write_1h_tokens, &kept.input_tokens};
    const struct wr_record *r = row->record;
    uint64_t left = r->cache_lost_tokens;

    if (r->bust == WR_BUST_WEIR && r->step_rewrites_tokens && r->tokens_after)
        left =
            at_most(scale_tokens(row->sent_tokens, r->step_rewrites_tokens, r->tokens_after), left);
    for (size_t i = 0; i < WR_COUNT_OF(kinds); i++) {
        uint64_t moved = at_most(*kinds[i], left);
        *kinds[i] -= moved;
        kept.cache_read_tokens += moved;
        left -= moved;
    }
    uint64_t really = wr_cost(row->model, &row->usage).micro_usd;
    uint64_t read = wr_cost(row->model, &kept).micro_usd;
    return really > read ? really - read : 0;
}

static void add_money(struct wr_tally *tally, const struct row *row, uint64_t call_tokens)
{
    struct wr_usage call = {.output_tokens = call_tokens};
    uint64_t unspent = wr_cost(row->model, &call).micro_usd;

    if (!row->is_priced)
        return;
    uint64_t paid = wr_cost(row->model, &row->usage).micro_usd;
    tally->micro_usd += paid;
    if (wr_record_is_shadow(row->record)) {
        tally->shadow_micro_usd += paid;
        tally->shadow_would_micro_usd += wr_cost(row->model, &row->made).micro_usd;
    }
    if (row->record->is_bust) {
        uint64_t cost = bust_cost(row);
        tally->bust_micro_usd[row->record->bust] += cost;
        tally->steps_micro_usd += row->record->bust == WR_BUST_WEIR ? cost : 0;
    }
    tally->unchanged_micro_usd += wr_cost(row->model, &row->raw).micro_usd;
    tally->unchanged_micro_usd -=
        unspent < tally->unchanged_micro_usd ? unspent : tally->unchanged_micro_usd;
}

/* The larger of what is known of the model and what the session was told. */
static void find_model(struct row *row, struct wr_model_match match)
{
    uint64_t told = row->record->budget.window_tokens;
    row->model = match.model;
    row->window_tokens = match.window_tokens;
    if (match.window_tokens && told > match.window_tokens)
        row->window_tokens = told;
}

weir_status wr_tallier_add(struct wr_tallier *tallier, const struct wr_ledger_row *row,
                           const struct wr_record *record, struct wr_tally *const *tallies,
                           size_t tallies_count)
{
    struct row r = {.time_ms = row->time_ms, .record = record};
    uint64_t call_tokens = 0;

    if (record->is_hook) {
        for (size_t i = 0; i < tallies_count; i++) {
            tallies[i]->hooked_count++;
            tallies[i]->hooked_raw_tokens += record->tokens_before;
            tallies[i]->hooked_sent_tokens += record->tokens_after;
        }
        return WEIR_OK;
    }
    if (!record->api) { /* of what was not read sizes are all that is known */
        for (size_t i = 0; i < tallies_count; i++) {
            tallies[i]->passed_count++;
            tallies[i]->passed_bytes += record->received_bytes + record->answer_bytes;
        }
        return WEIR_OK;
    }
    struct lane *lane = find_lane(tallier, row, record);
    if (!lane)
        return WEIR_NOMEM;
    find_model(&r, wr_models_lookup(tallier->models, row->model));
    read_usage(&r, lane);
    r.is_priced = wr_cost(r.model, &r.usage).known;
    if (r.sent_tokens && record->quality.is_recall_only && lane->last_ms) {
        call_tokens = skip_recall(&r, lane);
    } else if (r.sent_tokens) {
        imagine_unchanged(&r, lane);
        imagine_made(&r, lane);
        note_lane(lane, &r);
    }
    for (size_t i = 0; i < tallies_count; i++) {
        add_counts(tallies[i], &r);
        add_tokens(tallies[i], &r);
        add_money(tallies[i], &r, call_tokens);
        add_signs(tallies[i], record);
    }
    return WEIR_OK;
}

/* ---- as JSON ---- */

static void put_quality(struct wr_json_writer *w, const struct wr_tally *tally)
{
    wr_json_write_key(w, "quality");
    wr_json_write_object(w);
#define X(name, text)        \
    if (tally->quality.name) \
        wr_json_member_number(w, #name, tally->quality.name);
    WR_QUALITY_MAP(X)
#undef X
    wr_json_write_object_end(w);
}

void wr_tally_write_sums(const struct wr_tally *tally, struct wr_json_writer *w)
{
    wr_json_member_number(w, "requests", tally->requests_count);
    wr_json_member_number(w, "changed", tally->changed_count);
    wr_json_member_number(w, "steps", tally->steps_count);
    wr_json_member_number(w, "failed", tally->failed_count);
    wr_json_member_number(w, "shadow", tally->shadow_count);
    if (tally->shadow_count) {
        wr_json_member_number(w, "shadow_prompt_tokens", tally->shadow_prompt_tokens);
        wr_json_member_number(w, "shadow_would_send_tokens", tally->shadow_would_send_tokens);
        wr_json_member_number(w, "shadow_micro_usd", tally->shadow_micro_usd);
        wr_json_member_number(w, "shadow_would_micro_usd", tally->shadow_would_micro_usd);
    }
    wr_json_member_number(w, "estimated", tally->estimated_count);
    wr_json_member_number(w, "unpriced", tally->unpriced_count);
    wr_json_member_number(w, "raw_tokens", tally->raw_tokens);
    wr_json_member_number(w, "sent_tokens", tally->sent_tokens);
    wr_json_member_number(w, "input_tokens", tally->input_tokens);
    wr_json_member_number(w, "cache_read_tokens", tally->cache_read_tokens);
    wr_json_member_number(w, "cache_write_tokens", tally->cache_write_tokens);
    wr_json_member_number(w, "output_tokens", tally->output_tokens);
    wr_json_member_number(w, "micro_usd", tally->micro_usd);
    wr_json_member_number(w, "unchanged_micro_usd", tally->unchanged_micro_usd);
    wr_json_member_number(w, "steps_micro_usd", tally->steps_micro_usd);
    wr_json_member_number(w, "would_be_refused", tally->refused_count);
    wr_json_member_i64(w, "saved_micro_usd",
                       (int64_t)tally->unchanged_micro_usd - (int64_t)tally->micro_usd);
}

void wr_tally_write_busts(struct wr_json_writer *w, const char *key, const uint64_t *numbers)
{
    wr_json_write_key(w, key);
    wr_json_write_object(w);
    for (int i = 0; i < WR_BUSTS_COUNT; i++)
        wr_json_member_number(w, wr_bust_name((enum wr_bust)i), numbers[i]);
    wr_json_write_object_end(w);
}

void wr_tally_write_json(const struct wr_tally *tally, struct wr_json_writer *w)
{
    wr_tally_write_sums(tally, w);
    wr_tally_write_busts(w, "busts", tally->busts);
    put_quality(w, tally);
}
