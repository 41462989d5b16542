#include "engine/prices.h"

#include "models/cost.h"

static uint32_t percent(uint64_t price, uint64_t of)
{
    return (uint32_t)((price * 100 + of / 2) / of);
}

struct wr_fold_prices wr_fold_prices_of(const struct wr_model *model)
{
    struct wr_prices p = wr_model_prices(model, 0, NULL);
    struct wr_fold_prices prices = {0};
    if (p.input == WR_PRICE_UNSET || !p.input)
        return prices;
    prices.write_pct = percent(p.cache_write, p.input);
    /* What a cache that promises no hit does not read costs what input does. */
    uint64_t hits = wr_cache_read_likely(model, 100);
    prices.read_pct =
        (uint32_t)((percent(p.cache_read, p.input) * hits + 100 * (100 - hits)) / 100);
    prices.output_pct = p.output == WR_PRICE_UNSET ? 0 : percent(p.output, p.input);
    prices.tier_tokens = model->tiers_count ? model->tiers[0].above_tokens : 0;
    return prices;
}
