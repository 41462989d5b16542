/* fields.h -- setting one fact of a model from its written form.
 *
 * The registry (JSON) and the user's overrides (YAML) have the same fields; this is the one place
 * that knows their names, their ranges and what to say when a value is wrong.
 */
#ifndef WR_MODELS_FIELDS_H
#define WR_MODELS_FIELDS_H

#include "models/registry.h"
#include "weir/status.h"

/* What named rules there are to refer to. */
struct wr_rule_book {
    const struct wr_cache_rule *caches;
    uint32_t caches_count;
    const struct wr_image_rule *images;
    uint32_t images_count;
};

/* A model with nothing known: prices unset, factor 1. */
struct wr_model wr_model_blank(void);

/* Sets `key` to `value`. Texts are borrowed, not copied. WEIR_NOTFOUND: there is no such field.
 * WEIR_INVALID: not a value for it; err->text says what would be. */
WEIR_MUST_USE weir_status wr_model_set(struct wr_model *model, const struct wr_rule_book *book,
                                       weir_span key, weir_span value, struct weir_err *err);
WEIR_MUST_USE weir_status wr_prices_set(struct wr_prices *prices, weir_span key, weir_span value,
                                        struct weir_err *err);
WEIR_MUST_USE weir_status wr_cache_rule_set(struct wr_cache_rule *rule, weir_span key,
                                            weir_span value, struct weir_err *err);
WEIR_MUST_USE weir_status wr_image_rule_set(struct wr_image_rule *rule, weir_span key,
                                            weir_span value, struct weir_err *err);

/* A plain decimal ("2", "0.075") times 10^scale as a whole number; more decimals than `scale`,
 * signs and exponents are refused, as is what exceeds `most`. */
bool wr_decimal_scaled(weir_span text, uint32_t scale, uint32_t most, uint32_t *number);

/* Whole tokens, 1 to WR_MODEL_TOKENS_MAX; '_' may stand between digits (YAML users write 200_000).
 */
bool wr_token_count(weir_span text, uint32_t *tokens);

#endif
