#include "ledger/line.h"

#include "base/span.h"

int64_t wr_line_number(const struct wr_json *doc, const char *name)
{
    wr_json_id id = wr_json_find(doc, 0, name);
    int64_t number;
    return id != WR_JSON_NONE && wr_json_i64(doc, id, &number) && number >= 0 &&
                   number <= WR_MODEL_TOKENS_MAX
               ? number
               : -1;
}

static weir_span word(const struct wr_json *doc, const char *name)
{
    wr_json_id id = wr_json_find(doc, 0, name);
    return wr_json_is(doc, id, WR_JSON_STRING) ? wr_json_inner(doc, id) : WR_LIT("");
}

void wr_line_read(const struct wr_json *doc, struct wr_line *line)
{
    *line = (struct wr_line){.api = word(doc, "api"),
                             .path = word(doc, "path"),
                             .end = word(doc, "end"),
                             .cache_bust_cause = word(doc, "cache_bust_cause"),
                             .is_shadow = wr_json_find(doc, 0, "shadow_changed") != WR_JSON_NONE};
#define X(name) line->name = wr_line_number(doc, #name);
    WR_LINE_NUMBER_MAP(X)
#undef X
#define X(name) line->name = wr_json_is(doc, wr_json_find(doc, 0, #name), WR_JSON_TRUE);
    WR_LINE_BOOL_MAP(X)
#undef X
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

struct wr_usage wr_line_usage(const struct wr_line *line, const struct wr_model *model)
{
    /* 12 hours have no published price: they are charged as the lifetime beside them. */
    struct wr_usage usage = {
        .input_tokens = or_zero(line->usage_input_tokens),
        .cache_read_tokens = or_zero(line->usage_cache_read_tokens),
        .cache_write_5m_tokens = or_zero(line->usage_cache_write_5m_tokens),
        .cache_write_1h_tokens = or_zero(line->usage_cache_write_1h_tokens),
        .cache_write_30m_tokens =
            or_zero(line->usage_cache_write_30m_tokens > 0 ? line->usage_cache_write_30m_tokens
                                                           : line->usage_cache_write_12h_tokens),
        .output_tokens = or_zero(line->usage_output_tokens),
    };
    uint64_t told =
        usage.cache_write_5m_tokens + usage.cache_write_1h_tokens + usage.cache_write_30m_tokens;
    uint64_t written = or_zero(line->usage_cache_write_tokens);

    if (written > told)
        *default_write(&usage, model) += written - told;
    /* Messages counts input without the cache, the others with it. */
    uint64_t cached = usage.cache_read_tokens + (written > told ? written : told);
    if (!wr_span_is(line->api, "messages"))
        usage.input_tokens -= cached < usage.input_tokens ? cached : usage.input_tokens;
    return usage;
}
