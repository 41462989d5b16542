/* models.h -- what is known of a model by its name: window, prices, cache rules, tokenizer.
 *
 *     struct weir_models *models;
 *     struct weir_model model = WEIR_MODEL_INIT;
 *     if (weir_models_new(none, &models, &err) == WEIR_OK) {
 *         weir_models_lookup(models, name, &model);
 *         ...model.window_tokens, model.prices.input_micro_usd...
 *         weir_models_free(models);
 *     }
 *
 * A lookup always answers, and `rule` says how sure the answer is: names with dates, prefixes and
 * tags are found, then families, and the rest is "unknown" with nothing known of it. A registry
 * never changes once made: any number of threads may read it at once.
 */
#ifndef WEIR_MODELS_H
#define WEIR_MODELS_H

#include <stdbool.h>

#include "weir/span.h"
#include "weir/status.h"

WEIR_BEGIN_DECLS

struct weir_models; /* the registry that is part of the library, and the caller's additions */

/* Micro-dollars for a million tokens: 2.50 USD are 2500000. What is not published is filled by what
 * is charged for it: a read of the cache as input, a write as the shortest lifetime that has a
 * price. */
struct weir_model_prices {
    uint32_t input_micro_usd, output_micro_usd;
    uint32_t cache_read_micro_usd;
    uint32_t cache_write_5m_micro_usd, cache_write_30m_micro_usd, cache_write_1h_micro_usd;
};

/* Texts live as long as the registry. A size or time of 0 is not known. */
struct weir_model {
    size_t struct_bytes; /* sizeof, by WEIR_MODEL_INIT: no more than this is filled in */
    weir_span id, provider;
    const char *rule; /* "exact", "alias", "form", "family", "fallback": how the name was found */
    uint32_t window_tokens, input_tokens_max, output_tokens_max;
    bool is_priced;                  /* false: no price is known, and `prices` is all 0 */
    struct weir_model_prices prices; /* of a request below the first tier */
    uint32_t tier_above_tokens; /* more input than this costs more (weir_models_cost()); 0: no */
    const char *cache;          /* "none", "explicit" (at markers), "breakpoint" (one by itself, and
                                 * markers),          "prefix" (what was seen before) */
    uint32_t cache_ttl_s, cache_ttl_long_s;
    uint32_t cache_breakpoints_max; /* markers in one request; 0: does not apply */
    uint32_t cache_tokens_min;      /* a shorter prefix is not cached */
    const char *tokenizer;          /* "o200k_base", "cl100k_base", or "estimate": not public */
    bool binds_thinking; /* signed thinking holds only while nothing before it is changed */
    weir_span note;      /* a doubt worth showing; may be empty */
};
#define WEIR_MODEL_INIT WEIR_OPTIONS_INIT(struct weir_model)

/* `yaml` (empty: none) has prices, windows, aliases and models of your own, the `models` section of
 * weir.yaml (docs/models.md); nothing of it is kept. WEIR_SYNTAX and WEIR_INVALID: `err` names line
 * and column. */
WEIR_API WEIR_MUST_USE weir_status weir_models_new(weir_span yaml, struct weir_models **models,
                                                   struct weir_err *err);
WEIR_API void weir_models_free(struct weir_models *models); /* NULL is fine */

/* Fills `model`, whose struct_bytes is set. */
WEIR_API void weir_models_lookup(const struct weir_models *models, weir_span name,
                                 struct weir_model *model);

/* The ids of the registry's models, one after the other; an empty span past the last. */
WEIR_API weir_span weir_models_id(const struct weir_models *models, size_t index);

/* Disjoint: `input_tokens` are neither read from the cache nor written to it. */
struct weir_usage {
    uint64_t input_tokens, cache_read_tokens, output_tokens;
    uint64_t cache_write_5m_tokens, cache_write_30m_tokens, cache_write_1h_tokens;
};

/* What such a request costs, its tier included. False: no price is known. */
WEIR_API bool weir_models_cost(const struct weir_models *models, weir_span name,
                               const struct weir_usage *usage, uint64_t *micro_usd);

WEIR_END_DECLS

#endif
