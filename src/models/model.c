#include "models/model.h"

const char *wr_cache_mode_text(enum wr_cache_mode mode)
{
    switch (mode) {
    case WR_CACHE_NONE:
        return "none";
    case WR_CACHE_EXPLICIT:
        return "explicit";
    case WR_CACHE_BREAKPOINT:
        return "breakpoint";
    case WR_CACHE_PREFIX:
        return "prefix";
    }
    return "unknown";
}

const char *wr_tokenizer_text(enum wr_tokenizer tokenizer)
{
    switch (tokenizer) {
    case WR_TOKENIZER_ESTIMATE:
        return "estimate";
    case WR_TOKENIZER_O200K:
        return "o200k_base";
    case WR_TOKENIZER_CL100K:
        return "cl100k_base";
    }
    return "unknown";
}

/* ==== what a request costs ==== */

static uint32_t or_else(uint32_t price, uint32_t otherwise)
{
    return price == WR_PRICE_UNSET ? otherwise : price;
}

struct wr_prices wr_prices_resolve(const struct wr_prices *prices)
{
    uint32_t write = or_else(prices->cache_write, prices->cache_write_5m);
    write = or_else(or_else(write, prices->cache_write_30m), prices->input);
    return (struct wr_prices){
        .input = prices->input,
        .cache_read = or_else(prices->cache_read, prices->input),
        .cache_write = write,
        .cache_write_5m = or_else(prices->cache_write_5m, write),
        .cache_write_1h = or_else(prices->cache_write_1h, write),
        .cache_write_30m = or_else(prices->cache_write_30m, write),
        .output = prices->output,
    };
}

static uint64_t capped(uint64_t tokens)
{
    return tokens < WR_MODEL_TOKENS_MAX ? tokens : WR_MODEL_TOKENS_MAX;
}

uint64_t wr_cache_read_likely(const struct wr_model *model, uint64_t tokens)
{
    uint32_t percent = model->cache ? model->cache->hit_percent : 0;
    return percent && percent < 100 ? tokens * percent / 100 : tokens;
}

uint64_t wr_usage_input_total(const struct wr_usage *usage)
{
    return capped(usage->input_tokens) + capped(usage->cache_read_tokens) +
           capped(usage->cache_write_5m_tokens) + capped(usage->cache_write_1h_tokens) +
           capped(usage->cache_write_30m_tokens);
}

struct wr_prices wr_model_prices(const struct wr_model *model, uint64_t input_tokens,
                                 uint32_t *tier)
{
    uint32_t in = 0;
    while (in < model->tiers_count && input_tokens > model->tiers[in].above_tokens)
        in++;
    if (tier)
        *tier = in;
    return wr_prices_resolve(in ? &model->tiers[in - 1].prices : &model->prices);
}

/* At most 1e9 tokens at 1e9 a kind, six kinds: 6e18 fits 64 bits. */
_Static_assert((uint64_t)WR_MODEL_TOKENS_MAX *WR_MODEL_PRICE_MAX <= UINT64_MAX / 16,
               "a cost must not overflow");

struct wr_cost wr_cost(const struct wr_model *model, const struct wr_usage *usage)
{
    struct wr_cost cost = {0};
    struct wr_prices p = wr_model_prices(model, wr_usage_input_total(usage), &cost.tier);

    if (p.input == WR_PRICE_UNSET || p.output == WR_PRICE_UNSET)
        return cost;
    uint64_t pico = capped(usage->input_tokens) * p.input +
                    capped(usage->cache_read_tokens) * p.cache_read +
                    capped(usage->cache_write_5m_tokens) * p.cache_write_5m +
                    capped(usage->cache_write_1h_tokens) * p.cache_write_1h +
                    capped(usage->cache_write_30m_tokens) * p.cache_write_30m +
                    capped(usage->output_tokens) * p.output;
    cost.known = true;
    cost.micro_usd = (pico + 500000) / 1000000;
    return cost;
}
