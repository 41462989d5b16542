/* registry.h -- the models Weir knows, read once and then only looked at: sizes, prices and what
 * they make of a request, cache rules, how to count for each; and which one a name means.
 *
 * 1. Tokens are tokens of the model itself. 0 is "not known" wherever a size may be unknown.
 * 2. Prices are micro-dollars per million tokens (2.50 USD/MTok is 2500000), as published: what was
 *    not published is WR_PRICE_UNSET, and wr_prices_resolve() says what is charged for it.
 * 3. A tier reprices the whole request once its input, cached part included, is above the
 *    threshold.
 * 4. The base is data/models.json, which is part of the library; a user's YAML is laid over it
 *    (docs/models.md has both formats). A registry never changes after wr_models_new(), so it may
 *    be shared by threads, and the pointers it gives live until wr_models_free().
 */
#ifndef WR_MODELS_REGISTRY_H
#define WR_MODELS_REGISTRY_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/limits.h"
#include "weir/span.h"
#include "weir/status.h"

/* ==== a model ==== */

#define WR_PRICE_UNSET UINT32_MAX

struct wr_prices { /* micro-dollars per million tokens */
    uint32_t input;
    uint32_t cache_read;
    uint32_t cache_write; /* of any lifetime that has no price of its own */
    uint32_t cache_write_5m;
    uint32_t cache_write_1h;
    uint32_t cache_write_30m;
    uint32_t output;
};

struct wr_price_tier {
    uint32_t above_tokens; /* of input; more than this is in the tier */
    struct wr_prices prices;
};

enum wr_cache_mode {
    WR_CACHE_NONE,
    WR_CACHE_EXPLICIT,   /* only at markers that the request carries */
    WR_CACHE_BREAKPOINT, /* one implicit breakpoint near the end, and explicit ones */
    WR_CACHE_PREFIX,     /* the longest prefix seen before, without being asked */
};

struct wr_cache_rule {
    weir_span name;
    enum wr_cache_mode mode;
    uint32_t ttl_s, ttl_long_s; /* 0: not published */
    uint32_t breakpoints_max;   /* 0: does not apply */
    uint32_t lookback_blocks;   /* 0: no limit */
    uint32_t keys_max;          /* latest breakpoints the provider considers; 0: no limit */
    uint32_t step_tokens;       /* hits are rounded down to this; 0 or 1: not rounded */
    uint32_t hit_percent;       /* of what is live, how much is read on average; 0: all of it */
};

enum wr_tokenizer {
    WR_TOKENIZER_ESTIMATE, /* no public tokenizer: the fitted estimate times `factor_bp` */
    WR_TOKENIZER_O200K,
    WR_TOKENIZER_CL100K,
};

enum wr_image_kind { WR_IMAGE_FIXED, WR_IMAGE_PATCH, WR_IMAGE_TILE };

struct wr_image_rule { /* fields of other kinds are 0; see models/image.h for the arithmetic */
    weir_span name;
    enum wr_image_kind kind;
    uint32_t unknown_tokens; /* an image whose size is not known */
    uint32_t low_tokens;     /* when low detail is asked for; 0: makes no difference */
    uint32_t patch_px, edge_px_max, patches_max, multiplier_bp;
    uint32_t fit_px, short_px, tile_px, small_px, base_tokens, tile_tokens;
};

struct wr_model {
    weir_span id;
    weir_span provider;
    uint32_t window_tokens;
    uint32_t input_tokens_max; /* 0: the window */
    uint32_t output_tokens_max;
    struct wr_prices prices;
    struct wr_price_tier tiers[WR_MODEL_TIERS_MAX]; /* rising thresholds */
    uint32_t tiers_count;
    uint32_t min_cacheable_tokens;
    const struct wr_cache_rule *cache;
    const struct wr_image_rule *image;
    enum wr_tokenizer tokenizer;
    uint32_t factor_bp; /* tokens of this model for 10000 of o200k_base; 10000 where the tokenizer
                           is known */
    bool preserved_thinking; /* signed thinking binds the prefix: facts of the provider, law L4 */
    bool overridden;         /* the user's file set something */
    bool is_window_set;      /* the user's file set the window or the input limit */
    weir_span note;          /* a doubt worth showing; may be empty */
};

/* A family stands for models that the registry does not list. */
struct wr_family {
    struct wr_model model;                     /* id is "family/NAME" */
    weir_span patterns[WR_MODEL_PATTERNS_MAX]; /* lower case; a leading ^ ties it to the start */
    uint32_t patterns_count;
    bool in_table; /* belongs to the fixed table of defaults that wr_models_table_window() asks */
};

const char *wr_cache_mode_text(enum wr_cache_mode mode);
const char *wr_tokenizer_text(enum wr_tokenizer tokenizer);

/* ==== what a request costs ==== */

/* What a request costs, in whole micro-dollars.
 *
 * 1. Integer arithmetic: the same usage costs the same everywhere. Each kind of token is priced in
 *    pico-dollars, and only the sum is rounded, half up.
 * 2. Cached and written tokens are charged at their own prices. Input above a tier's threshold, the
 *    cached part included, reprices the whole request.
 */

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

/* ==== the registry ==== */

enum { WR_MODELS_SCHEMA = 1 };

struct wr_models;

struct wr_models_source {
    weir_span registry;    /* JSON; empty: the embedded one */
    weir_span overrides;   /* YAML; empty: none */
    bool overrides_shared; /* the YAML has other sections as well (weir.yaml): they are skipped */
};

struct wr_alias {
    weir_span name; /* lower case */
    const struct wr_model *model;
};

/* `source` may be NULL: the embedded registry alone. The texts are copied. Failure: WEIR_SYNTAX or
 * WEIR_INVALID, with err->text naming line and column for the YAML, err->at_byte for the JSON;
 * WEIR_LIMIT; WEIR_NOMEM. */
WEIR_MUST_USE weir_status wr_models_new(struct wr_models **models,
                                        const struct wr_models_source *source,
                                        struct weir_err *err);
void wr_models_free(struct wr_models *models); /* NULL is fine */

weir_span wr_models_generated(const struct wr_models *models); /* the date of its facts */

uint32_t wr_models_count(const struct wr_models *models);
const struct wr_model *wr_models_at(const struct wr_models *models, uint32_t index);
uint32_t wr_models_alias_count(const struct wr_models *models);
struct wr_alias wr_models_alias_at(const struct wr_models *models, uint32_t index);

/* The model, family or fallback whose id is `id`, letter case aside, or NULL. No other rule. */
const struct wr_model *wr_models_find(const struct wr_models *models, weir_span id);

/* ==== the model that a request names ==== */

/* From a name in a request to what Weir knows about that model.
 *
 * 1. The first rule that fits decides: the id itself; an alias; the id behind a prefix, date or
 * tag; a family pattern; the fallback. A lookup always answers, and says by which rule.
 * 2. Looking up the id of the answer gives the same answer.
 */

/* What was taken off a name to find it. */
enum wr_name_change {                       /* bits */
                      WR_NAME_PREFIXED = 1, /* a path or vendor in front was taken off */
                      WR_NAME_DATED = 2,    /* a date, or a word like -latest */
                      WR_NAME_TAGGED = 4,   /* ":free", "-v1:0", "-thinking" */
                      WR_NAME_WINDOW = 8,   /* "[1m]" */
                      WR_NAME_SPELT = 16,   /* "claude-opus-4.5" for "claude-opus-4-5" */
};

enum wr_model_rule {
    WR_RULE_EXACT,
    WR_RULE_ALIAS,
    WR_RULE_FORM,   /* a dated, prefixed, tagged or differently spelt form of an id or alias */
    WR_RULE_FAMILY, /* `pattern` was found in the name */
    WR_RULE_FALLBACK,
};

struct wr_model_match {
    enum wr_model_rule rule;
    const struct wr_model *model; /* never NULL */
    unsigned changes;             /* enum wr_name_change bits, for WR_RULE_FORM */
    weir_span pattern;            /* for WR_RULE_FAMILY */
    uint32_t window_tokens; /* the model's, or what the name asked for ("[1m]"); 0: not known */
};

enum { WR_SUGGESTIONS_MAX = 3, WR_TABLE_WINDOW_TOKENS = 128000 };

struct wr_model_match wr_models_lookup(const struct wr_models *models, weir_span name);

/* "dated and prefixed form of claude-opus-4-5": one line, for people. */
void wr_model_match_describe(const struct wr_model_match *match, struct wr_buf *out);
const char *wr_model_rule_text(enum wr_model_rule rule);

/* The ids and aliases nearest to `name`, nearest first; returns how many were near enough. */
uint32_t wr_models_suggest(const struct wr_models *models, weir_span name,
                           weir_span suggestions[WR_SUGGESTIONS_MAX]);

/* The fixed table of default windows by family (docs/models.md), nothing else: 128,000 where no
 * pattern fits. The `layers` policy is defined by it. */
uint32_t wr_models_table_window(const struct wr_models *models, weir_span name);

#endif
