/* usage.h -- what a provider says that a request used, in the words of all three APIs.
 *
 * A field that was not said is -1, never 0: absent usage is unknown. Of a stream that says it twice
 * the later figures stand.
 */
#ifndef WR_API_USAGE_H
#define WR_API_USAGE_H

#include "json/json.h"
#include "weir/session.h"

#define WR_USAGE_MAP(X)       \
    X(input_tokens)           \
    X(output_tokens)          \
    X(total_tokens)           \
    X(cache_read_tokens)      \
    X(cache_write_tokens)     \
    X(cache_write_5m_tokens)  \
    X(cache_write_30m_tokens) \
    X(cache_write_1h_tokens)  \
    X(cache_write_12h_tokens) \
    X(reasoning_tokens)

struct wr_seen_usage {
#define X(name) int64_t name;
    WR_USAGE_MAP(X)
#undef X
};

void wr_seen_usage_init(struct wr_seen_usage *usage);
bool wr_seen_usage_is_known(const struct wr_seen_usage *usage);

/* Takes over what the object `id` says; what is no object says nothing. */
void wr_seen_usage_read(struct wr_seen_usage *usage, const struct wr_json *doc, wr_json_id id);

/* With what was not said as 0, and the input without what came from the cache or went there. */
struct weir_session_usage wr_seen_usage_split(const struct wr_seen_usage *usage,
                                              bool counts_cached_apart);

#endif
