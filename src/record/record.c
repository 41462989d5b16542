/* The record of a request: how it begins, what usage and prices add to it, how it is settled. */
#include "record/record.h"

#include <string.h>

#include "models/lookup.h"

const char *wr_bust_name(enum wr_bust bust)
{
    static const char *const names[] = {
#define X(name, text) text,
        WR_BUST_MAP(X)
#undef X
    };
    return names[bust];
}

void wr_record_init(struct wr_record *record)
{
    *record = (struct wr_record){.hash_failures_count = -1, .micro_usd = -1};
    wr_seen_usage_init(&record->usage);
}

void wr_record_forget(struct wr_record *record)
{
    struct wr_record was = *record;

    wr_record_init(record);
    record->time_ms = was.time_ms;
    record->api = was.api;
    record->asks_model = was.asks_model;
    record->upstream = was.upstream;
    record->base_url = was.base_url;
    record->path = was.path;
    record->tenant = was.tenant;
    record->user = was.user;
    record->team = was.team;
    record->agent = was.agent;
    record->run = was.run;
    record->provider = was.provider;
    record->trace = was.trace;
    record->spend = was.spend;
    record->place = was.place;
    record->place_url = was.place_url;
    record->left_place = was.left_place;
    record->left_reason = was.left_reason;
    record->places_tried = was.places_tried;
    record->received_bytes = was.received_bytes;
    record->sent_bytes = was.sent_bytes;
    record->retries_count = was.retries_count;
    record->retry_reason = was.retry_reason;
}

void wr_record_settle(struct wr_record *record)
{
    bool is_late = record->deed == WR_DEED_LATE;

    if (!is_late && record->deed != WR_DEED_UNWAITED)
        return;
    if (is_late)
        record->held_back = WR_LIT(WR_DEADLINE_HARD);
    else if (record->is_changed)
        record->held_back = WR_LIT("nobody waited for the projection");
    if (record->is_changed)
        record->has_projection = false;
    record->is_changed = record->is_step = false;
    record->step_reason = (weir_span){NULL, 0};
    record->tokens_after = record->tokens_before;
    memcpy(record->made_tokens, record->came_tokens, sizeof(record->made_tokens));
}

static uint64_t or_zero(int64_t number)
{
    return number > 0 ? (uint64_t)number : 0;
}

/* The lifetime that a request gets without asking for one. */
static uint64_t *default_write(struct wr_usage *usage, const struct wr_model *model)
{
    return model->cache && model->cache->mode == WR_CACHE_BREAKPOINT
               ? &usage->cache_write_30m_tokens
               : &usage->cache_write_5m_tokens;
}

struct wr_usage wr_record_usage(const struct wr_record *record, const struct wr_model *model)
{
    const struct wr_seen_usage *said = &record->usage;
    /* 12 hours have no published price: they are charged as the lifetime beside them. */
    struct wr_usage usage = {
        .input_tokens = or_zero(said->input_tokens),
        .cache_read_tokens = or_zero(said->cache_read_tokens),
        .cache_write_5m_tokens = or_zero(said->cache_write_5m_tokens),
        .cache_write_1h_tokens = or_zero(said->cache_write_1h_tokens),
        .cache_write_30m_tokens =
            or_zero(said->cache_write_30m_tokens > 0 ? said->cache_write_30m_tokens
                                                     : said->cache_write_12h_tokens),
        .output_tokens = or_zero(said->output_tokens),
    };
    uint64_t told =
        usage.cache_write_5m_tokens + usage.cache_write_1h_tokens + usage.cache_write_30m_tokens;
    uint64_t written = or_zero(said->cache_write_tokens);

    if (written > told)
        *default_write(&usage, model) += written - told;
    /* Messages counts input without the cache, the others with it. */
    uint64_t cached = usage.cache_read_tokens + (written > told ? written : told);
    if (!(record->api && record->api->counts_cached_apart))
        usage.input_tokens -= cached < usage.input_tokens ? cached : usage.input_tokens;
    return usage;
}

void wr_record_price(struct wr_record *record, const struct wr_models *models)
{
    weir_span name = record->model[0] ? wr_span_of(record->model) : record->answer_model;

    if (!record->is_usage_known || !name.len || !models)
        return;
    const struct wr_model *model = wr_models_lookup(models, name).model;
    struct wr_usage usage = wr_record_usage(record, model);
    struct wr_cost cost = wr_cost(model, &usage);
    record->micro_usd = cost.known ? (int64_t)cost.micro_usd : -1;
}

const char *wr_category_name(enum wr_category category)
{
    static const char *const names[] = {
#define X(name, text) text,
        WR_CATEGORY_MAP(X)
#undef X
    };
    return names[category];
}
