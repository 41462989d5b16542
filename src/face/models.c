#include "weir/models.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/span.h"
#include "face/face.h"
#include "models/registry.h"

struct weir_models {
    struct wr_models *registry;
};

weir_status weir_models_new(weir_span yaml, struct weir_models **models, struct weir_err *err)
{
    struct wr_models_source source = {.overrides = yaml, .overrides_shared = true};
    struct weir_models *m = calloc(1, sizeof(*m));

    *models = NULL;
    if (!m)
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    weir_status status = wr_models_new(&m->registry, &source, err);
    if (status) {
        free(m);
        return status;
    }
    *models = m;
    return WEIR_OK;
}

void weir_models_free(struct weir_models *models)
{
    if (!models)
        return;
    wr_models_free(models->registry);
    free(models);
}

static struct weir_model_prices prices_of(const struct wr_model *model)
{
    struct wr_prices p = wr_prices_resolve(&model->prices);
    bool has_output = p.output != WR_PRICE_UNSET;

    return (struct weir_model_prices){.input_micro_usd = p.input,
                                      .output_micro_usd = has_output ? p.output : 0,
                                      .cache_read_micro_usd = p.cache_read,
                                      .cache_write_5m_micro_usd = p.cache_write_5m,
                                      .cache_write_30m_micro_usd = p.cache_write_30m,
                                      .cache_write_1h_micro_usd = p.cache_write_1h};
}

void wr_face_model(const struct wr_models *models, weir_span name, struct weir_model *model)
{
    struct wr_model_match match = wr_models_lookup(models, name);
    const struct wr_model *m = match.model;
    struct weir_model own = {
        .struct_bytes = model->struct_bytes,
        .id = m->id,
        .provider = m->provider,
        .rule = wr_model_rule_text(match.rule),
        .window_tokens = match.window_tokens,
        .input_tokens_max = m->input_tokens_max,
        .output_tokens_max = m->output_tokens_max,
        .is_priced = m->prices.input != WR_PRICE_UNSET,
        .tier_above_tokens = m->tiers_count ? m->tiers[0].above_tokens : 0,
        .cache = wr_cache_mode_text(m->cache->mode),
        .cache_ttl_s = m->cache->ttl_s,
        .cache_ttl_long_s = m->cache->ttl_long_s,
        .cache_breakpoints_max = m->cache->breakpoints_max,
        .cache_tokens_min = m->min_cacheable_tokens,
        .tokenizer = wr_tokenizer_text(m->tokenizer),
        .binds_thinking = m->preserved_thinking,
        .note = m->note,
    };
    if (own.is_priced)
        own.prices = prices_of(m);
    /* A caller of another version has more or fewer members: as of options, 0 is the first size. */
    size_t bytes = model->struct_bytes ? model->struct_bytes : sizeof(own);
    if (bytes > sizeof(own))
        memset((char *)model + sizeof(own), 0, bytes - sizeof(own));
    memcpy(model, &own, bytes < sizeof(own) ? bytes : sizeof(own));
}

void weir_models_lookup(const struct weir_models *models, weir_span name, struct weir_model *model)
{
    wr_face_model(models->registry, name, model);
}

weir_span weir_models_id(const struct weir_models *models, size_t index)
{
    if (index >= wr_models_count(models->registry))
        return WR_LIT("");
    return wr_models_at(models->registry, (uint32_t)index)->id;
}

bool weir_models_cost(const struct weir_models *models, weir_span name,
                      const struct weir_usage *usage, uint64_t *micro_usd)
{
    struct wr_usage used = {.input_tokens = usage->input_tokens,
                            .cache_read_tokens = usage->cache_read_tokens,
                            .cache_write_5m_tokens = usage->cache_write_5m_tokens,
                            .cache_write_30m_tokens = usage->cache_write_30m_tokens,
                            .cache_write_1h_tokens = usage->cache_write_1h_tokens,
                            .output_tokens = usage->output_tokens};
    struct wr_cost cost = wr_cost(wr_models_lookup(models->registry, name).model, &used);

    *micro_usd = cost.micro_usd;
    return cost.known;
}
