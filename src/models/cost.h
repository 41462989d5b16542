/* cost.h -- what a request costs, in whole micro-dollars.
 *
 * 1. Integer arithmetic: the same usage costs the same everywhere. Each kind of token is priced in
 *    pico-dollars, and only the sum is rounded, half up.
 * 2. Cached and written tokens are charged at their own prices. Input above a tier's threshold, the
 *    cached part included, reprices the whole request.
 */
#ifndef WR_MODELS_COST_H
#define WR_MODELS_COST_H

#include "models/model.h"

/* Disjoint kinds: `input_tokens` are those neither read from the cache nor written to it.
 * (Anthropic reports them so; OpenAI and Gemini report totals: subtract there.) */
struct wr_usage {
    uint64_t input_tokens;
    uint64_t cache_read_tokens;
    uint64_t cache_write_5m_tokens;
    uint64_t cache_write_1h_tokens;
    uint64_t cache_write_30m_tokens;
    uint64_t output_tokens;
};

struct wr_cost {
    uint64_t micro_usd;
    bool known;    /* false: the model has no price; micro_usd is 0 */
    uint32_t tier; /* 0: the base price; n: the n-th tier */
};

/* Fills what was not published. A read is charged as input. A write of one lifetime is charged as a
 * write of any, else as the shortest lifetime that has a price, else as input. An unset input or
 * output price stays unset. */
struct wr_prices wr_prices_resolve(const struct wr_prices *prices);

/* Counts above WR_MODEL_TOKENS_MAX are taken as that. */
struct wr_cost wr_cost(const struct wr_model *model, const struct wr_usage *usage);

/* What is read of `tokens` that the provider's cache should hold: all, or where it promises none,
 * what it reads on average. */
uint64_t wr_cache_read_likely(const struct wr_model *model, uint64_t tokens);

uint64_t wr_usage_input_total(const struct wr_usage *usage); /* all that is not output */

/* The prices for a request of that much input, resolved. `tier` may be NULL. */
struct wr_prices wr_model_prices(const struct wr_model *model, uint64_t input_tokens,
                                 uint32_t *tier);

#endif
