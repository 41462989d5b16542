/* line.h -- the figures of a request's line (docs/telemetry.md) that sums are made of.
 *
 * What a line does not say is -1, false or empty; an older line says less.
 */
#ifndef WR_LEDGER_LINE_H
#define WR_LEDGER_LINE_H

#include "json/json.h"
#include "models/cost.h"

/* The members that are numbers, under their names in the line. */
#define WR_LINE_NUMBER_MAP(X)        \
    X(status)                        \
    X(estimated_tokens_before)       \
    X(estimated_tokens_after)        \
    X(shadow_estimated_tokens_after) \
    X(usage_input_tokens)            \
    X(usage_output_tokens)           \
    X(usage_cache_read_tokens)       \
    X(usage_cache_write_tokens)      \
    X(usage_cache_write_5m_tokens)   \
    X(usage_cache_write_30m_tokens)  \
    X(usage_cache_write_1h_tokens)   \
    X(usage_cache_write_12h_tokens)  \
    X(model_context_window_tokens)   \
    X(own_tools_tokens)              \
    X(cache_expected_tokens)         \
    X(cache_bust_tokens)

/* The members that are true or false. */
#define WR_LINE_BOOL_MAP(X) \
    X(changed)              \
    X(step)                 \
    X(shadow_changed)       \
    X(usage_known)          \
    X(delta)                \
    X(recall_only)

struct wr_line {
#define X(name) int64_t name;
    WR_LINE_NUMBER_MAP(X)
#undef X
#define X(name) bool name;
    WR_LINE_BOOL_MAP(X)
#undef X
    bool is_shadow;                  /* shadow_changed is there, true or not */
    weir_span api, path;             /* as they stand in the line, escapes and all */
    weir_span cache_bust_cause, end; /* the same */
};

/* Reads the line in `doc`, which is an object. */
void wr_line_read(const struct wr_json *doc, struct wr_line *line);

/* The number `name` of the line, or -1. */
int64_t wr_line_number(const struct wr_json *doc, const char *name);

/* What the provider says that the request used, in disjoint kinds. `model` says how a write of
 * which the lifetime was not said is charged. */
struct wr_usage wr_line_usage(const struct wr_line *line, const struct wr_model *model);

#endif
