#include "api/usage.h"

#include "base/limits.h"
#include "base/span.h"

enum { PATH_PARTS_MAX = 3 };

/* One table for all APIs: no two of them use a name for two things. Input tokens are counted
 * without the cache by Messages and with it by the others; that is left as it is said. */
static const struct {
    const char *path[PATH_PARTS_MAX];
    size_t offset;
} fields[] = {
    {{"prompt_tokens"}, offsetof(struct wr_seen_usage, input_tokens)},
    {{"input_tokens"}, offsetof(struct wr_seen_usage, input_tokens)},
    {{"completion_tokens"}, offsetof(struct wr_seen_usage, output_tokens)},
    {{"output_tokens"}, offsetof(struct wr_seen_usage, output_tokens)},
    {{"total_tokens"}, offsetof(struct wr_seen_usage, total_tokens)},
    {{"prompt_tokens_details", "cached_tokens"}, offsetof(struct wr_seen_usage, cache_read_tokens)},
    {{"input_tokens_details", "cached_tokens"}, offsetof(struct wr_seen_usage, cache_read_tokens)},
    {{"cache_read_input_tokens"}, offsetof(struct wr_seen_usage, cache_read_tokens)},
    {{"prompt_tokens_details", "cache_write_tokens"},
     offsetof(struct wr_seen_usage, cache_write_tokens)},
    {{"input_tokens_details", "cache_write_tokens"},
     offsetof(struct wr_seen_usage, cache_write_tokens)},
    {{"cache_creation_input_tokens"}, offsetof(struct wr_seen_usage, cache_write_tokens)},
    {{"cache_creation", "ephemeral_5m_input_tokens"},
     offsetof(struct wr_seen_usage, cache_write_5m_tokens)},
    {{"cache_creation", "ephemeral_1h_input_tokens"},
     offsetof(struct wr_seen_usage, cache_write_1h_tokens)},
    {{"input_tokens_details", "cache_write_tokens_details", "ttl_30m_tokens"},
     offsetof(struct wr_seen_usage, cache_write_30m_tokens)},
    {{"input_tokens_details", "cache_write_tokens_details", "ttl_12h_tokens"},
     offsetof(struct wr_seen_usage, cache_write_12h_tokens)},
    {{"prompt_eval_count"}, offsetof(struct wr_seen_usage, input_tokens)},
    {{"eval_count"}, offsetof(struct wr_seen_usage, output_tokens)},
    {{"promptTokenCount"}, offsetof(struct wr_seen_usage, input_tokens)},
    {{"candidatesTokenCount"}, offsetof(struct wr_seen_usage, output_tokens)},
    {{"thoughtsTokenCount"}, offsetof(struct wr_seen_usage, reasoning_tokens)},
    {{"totalTokenCount"}, offsetof(struct wr_seen_usage, total_tokens)},
    {{"cachedContentTokenCount"}, offsetof(struct wr_seen_usage, cache_read_tokens)},
    {{"inputTokens"}, offsetof(struct wr_seen_usage, input_tokens)},
    {{"outputTokens"}, offsetof(struct wr_seen_usage, output_tokens)},
    {{"totalTokens"}, offsetof(struct wr_seen_usage, total_tokens)},
    {{"cacheReadInputTokens"}, offsetof(struct wr_seen_usage, cache_read_tokens)},
    {{"cacheWriteInputTokens"}, offsetof(struct wr_seen_usage, cache_write_tokens)},
    {{"completion_tokens_details", "reasoning_tokens"},
     offsetof(struct wr_seen_usage, reasoning_tokens)},
    {{"output_tokens_details", "reasoning_tokens"},
     offsetof(struct wr_seen_usage, reasoning_tokens)},
};

void wr_seen_usage_init(struct wr_seen_usage *usage)
{
#define X(name) usage->name = -1;
    WR_USAGE_MAP(X)
#undef X
}

bool wr_seen_usage_is_known(const struct wr_seen_usage *usage)
{
    return usage->input_tokens >= 0 || usage->output_tokens >= 0;
}

void wr_seen_usage_read(struct wr_seen_usage *usage, const struct wr_json *doc, wr_json_id id)
{
    for (size_t i = 0; i < WR_COUNT_OF(fields); i++) {
        wr_json_id at = id;
        int64_t number;
        for (size_t part = 0; part < PATH_PARTS_MAX && fields[i].path[part]; part++)
            at = wr_json_is(doc, at, WR_JSON_OBJECT) ? wr_json_find(doc, at, fields[i].path[part])
                                                     : WR_JSON_NONE;
        if (at != WR_JSON_NONE && wr_json_i64(doc, at, &number) && number >= 0 &&
            number <= WR_MODEL_TOKENS_MAX)
            *(int64_t *)((char *)usage + fields[i].offset) = number;
    }
}

static uint64_t known(int64_t tokens)
{
    return tokens > 0 ? (uint64_t)tokens : 0;
}

struct weir_session_usage wr_seen_usage_split(const struct wr_seen_usage *usage,
                                              bool counts_cached_apart)
{
    struct weir_session_usage split = {.input_tokens = known(usage->input_tokens),
                                       .output_tokens = known(usage->output_tokens),
                                       .cache_read_tokens = known(usage->cache_read_tokens),
                                       .cache_write_tokens = known(usage->cache_write_tokens)};
    uint64_t cached = split.cache_read_tokens + split.cache_write_tokens;

    if (!counts_cached_apart)
        split.input_tokens = split.input_tokens > cached ? split.input_tokens - cached : 0;
    return split;
}
