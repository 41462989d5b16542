/* Sets one fact of a model, a price, a cache rule or an image rule from its written form.
 *
 * The registry (JSON) and the user's overrides (YAML) have the same fields. Both readers hand over
 * a name and a value as text, and everything about a field is said here once: its name, its range,
 * and the words of the complaint. A complaint has no place; the reader adds line and column, or the
 * byte.
 *
 * Numbers are read as decimals into whole numbers: a price of 0.075 USD is 75000 micro-dollars. No
 * floating point is involved, so a price is the same on every machine.
 */
#include "models/fields.h"

#include "base/ascii.h"
#include "base/err.h"
#include "base/span.h"

struct wr_model wr_model_blank(void)
{
    const struct wr_prices none = {WR_PRICE_UNSET, WR_PRICE_UNSET, WR_PRICE_UNSET, WR_PRICE_UNSET,
                                   WR_PRICE_UNSET, WR_PRICE_UNSET, WR_PRICE_UNSET};
    return (struct wr_model){.prices = none, .factor_bp = 10000};
}

bool wr_decimal_scaled(weir_span text, uint32_t scale, uint32_t most, uint32_t *number)
{
    uint64_t n = 0;
    bool after_point = false;
    uint32_t decimals = 0;

    if (!text.len || !wr_is_digit(text.ptr[0]) || !wr_is_digit(text.ptr[text.len - 1]))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '.' && !after_point) {
            after_point = true;
            continue;
        }
        if (!wr_is_digit(text.ptr[i]))
            return false;
        /* Further zeros after the last place change nothing. */
        if (after_point && decimals == scale) {
            if (text.ptr[i] != '0')
                return false;
            continue;
        }
        n = n * 10 + (uint64_t)(text.ptr[i] - '0');
        decimals += after_point;
        if (n > most)
            return false;
    }
    for (; decimals < scale; decimals++)
        n *= 10;
    if (n > most)
        return false;
    *number = (uint32_t)n;
    return true;
}

bool wr_token_count(weir_span text, uint32_t *tokens)
{
    uint64_t n = 0;
    if (!text.len || !wr_is_digit(text.ptr[0]) || !wr_is_digit(text.ptr[text.len - 1]))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '_')
            continue;
        if (!wr_is_digit(text.ptr[i]))
            return false;
        n = n * 10 + (uint64_t)(text.ptr[i] - '0');
        if (n > WR_MODEL_TOKENS_MAX)
            return false;
    }
    *tokens = (uint32_t)n;
    return n > 0;
}

static weir_status refuse_field(struct weir_err *err, weir_span key, const char *wanted)
{
    return wr_fail(err, WEIR_INVALID, 0, "%.*s must be %s", (int)(key.len < 40 ? key.len : 40),
                   key.ptr, wanted);
}

static weir_status set_tokens(uint32_t *field, weir_span key, weir_span value, struct weir_err *err)
{
    return wr_token_count(value, field)
               ? WEIR_OK
               : refuse_field(err, key, "a whole number of tokens from 1 to 1000000000");
}

static weir_status set_flag(bool *field, weir_span key, weir_span value, struct weir_err *err)
{
    *field = wr_span_is(value, "true");
    return *field || wr_span_is(value, "false") ? WEIR_OK : refuse_field(err, key, "true or false");
}

static weir_status set_tokenizer(struct wr_model *model, weir_span key, weir_span value,
                                 struct weir_err *err)
{
    for (int t = WR_TOKENIZER_ESTIMATE; t <= WR_TOKENIZER_CL100K; t++) {
        if (!wr_span_is(value, wr_tokenizer_text((enum wr_tokenizer)t)))
            continue;
        model->tokenizer = (enum wr_tokenizer)t;
        if (t != WR_TOKENIZER_ESTIMATE)
            model->factor_bp = 10000;
        return WEIR_OK;
    }
    return refuse_field(err, key, "estimate, o200k_base or cl100k_base");
}

static weir_status set_factor(struct wr_model *model, weir_span key, weir_span value,
                              struct weir_err *err)
{
    uint32_t factor_bp;
    if (!wr_decimal_scaled(value, 4, 100000, &factor_bp) || factor_bp < 1000)
        return refuse_field(err, key, "a decimal from 0.1 to 10 with at most four places");
    model->factor_bp = factor_bp;
    return WEIR_OK;
}

static weir_status set_cache(struct wr_model *model, const struct wr_rule_book *book, weir_span key,
                             weir_span value, struct weir_err *err)
{
    for (uint32_t i = 0; i < book->caches_count; i++)
        if (wr_span_eq(book->caches[i].name, value)) {
            model->cache = &book->caches[i];
            return WEIR_OK;
        }
    return refuse_field(err, key, "the name of a cache rule: `weir models --json` lists them");
}

static weir_status set_image(struct wr_model *model, const struct wr_rule_book *book, weir_span key,
                             weir_span value, struct weir_err *err)
{
    for (uint32_t i = 0; i < book->images_count; i++)
        if (wr_span_eq(book->images[i].name, value)) {
            model->image = &book->images[i];
            return WEIR_OK;
        }
    return refuse_field(err, key, "the name of an image rule: `weir models --json` lists them");
}

weir_status wr_model_set(struct wr_model *model, const struct wr_rule_book *book, weir_span key,
                         weir_span value, struct weir_err *err)
{
    if (wr_span_is(key, "window"))
        return set_tokens(&model->window_tokens, key, value, err);
    if (wr_span_is(key, "max_input"))
        return set_tokens(&model->input_tokens_max, key, value, err);
    if (wr_span_is(key, "max_output"))
        return set_tokens(&model->output_tokens_max, key, value, err);
    if (wr_span_is(key, "min_cacheable"))
        return set_tokens(&model->min_cacheable_tokens, key, value, err);
    if (wr_span_is(key, "preserved_thinking"))
        return set_flag(&model->preserved_thinking, key, value, err);
    if (wr_span_is(key, "tokenizer"))
        return set_tokenizer(model, key, value, err);
    if (wr_span_is(key, "factor"))
        return set_factor(model, key, value, err);
    if (wr_span_is(key, "cache"))
        return set_cache(model, book, key, value, err);
    if (wr_span_is(key, "image"))
        return set_image(model, book, key, value, err);
    if (wr_span_is(key, "provider"))
        model->provider = value;
    else if (wr_span_is(key, "note"))
        model->note = value;
    else
        return wr_fail(err, WEIR_NOTFOUND, 0, "no such field of a model");
    return WEIR_OK;
}

weir_status wr_prices_set(struct wr_prices *prices, weir_span key, weir_span value,
                          struct weir_err *err)
{
    struct {
        const char *name;
        uint32_t *field;
    } fields[] = {
        {"input", &prices->input},
        {"cache_read", &prices->cache_read},
        {"write", &prices->cache_write},
        {"write_5m", &prices->cache_write_5m},
        {"write_1h", &prices->cache_write_1h},
        {"write_30m", &prices->cache_write_30m},
        {"output", &prices->output},
    };
    for (size_t i = 0; i < WR_COUNT_OF(fields); i++)
        if (wr_span_is(key, fields[i].name))
            return wr_decimal_scaled(value, 6, WR_MODEL_PRICE_MAX, fields[i].field)
                       ? WEIR_OK
                       : refuse_field(err, key,
                                      "USD per million tokens, 0 to 1000, at most six decimals");
    return wr_fail(err, WEIR_NOTFOUND, 0, "no such price");
}

static weir_status set_whole_number(uint32_t *field, weir_span key, weir_span value,
                                    struct weir_err *err)
{
    return wr_decimal_scaled(value, 0, WR_MODEL_TOKENS_MAX, field)
               ? WEIR_OK
               : refuse_field(err, key, "a whole number up to 1000000000");
}

static weir_status set_cache_mode(struct wr_cache_rule *rule, weir_span value, struct weir_err *err)
{
    for (int m = WR_CACHE_NONE; m <= WR_CACHE_PREFIX; m++)
        if (wr_span_is(value, wr_cache_mode_text((enum wr_cache_mode)m))) {
            rule->mode = (enum wr_cache_mode)m;
            return WEIR_OK;
        }
    return refuse_field(err, WR_LIT("mode"), "none, explicit, breakpoint or prefix");
}

weir_status wr_cache_rule_set(struct wr_cache_rule *rule, weir_span key, weir_span value,
                              struct weir_err *err)
{
    struct {
        const char *name;
        uint32_t *field;
    } fields[] = {
        {"ttl_s", &rule->ttl_s},
        {"ttl_long_s", &rule->ttl_long_s},
        {"breakpoints_max", &rule->breakpoints_max},
        {"lookback_blocks", &rule->lookback_blocks},
        {"keys_max", &rule->keys_max},
        {"step_tokens", &rule->step_tokens},
        {"hit_percent", &rule->hit_percent},
    };
    if (wr_span_is(key, "mode"))
        return set_cache_mode(rule, value, err);
    if (wr_span_is(key, "name")) {
        rule->name = value;
        return WEIR_OK;
    }
    for (size_t i = 0; i < WR_COUNT_OF(fields); i++)
        if (wr_span_is(key, fields[i].name))
            return set_whole_number(fields[i].field, key, value, err);
    return wr_fail(err, WEIR_NOTFOUND, 0, "no such field of a cache rule");
}

static weir_status set_image_kind(struct wr_image_rule *rule, weir_span value, struct weir_err *err)
{
    if (wr_span_is(value, "fixed"))
        rule->kind = WR_IMAGE_FIXED;
    else if (wr_span_is(value, "patch"))
        rule->kind = WR_IMAGE_PATCH;
    else if (wr_span_is(value, "tile"))
        rule->kind = WR_IMAGE_TILE;
    else
        return refuse_field(err, WR_LIT("kind"), "fixed, patch or tile");
    return WEIR_OK;
}

weir_status wr_image_rule_set(struct wr_image_rule *rule, weir_span key, weir_span value,
                              struct weir_err *err)
{
    struct {
        const char *name;
        uint32_t *field;
    } fields[] = {
        {"unknown_tokens", &rule->unknown_tokens},
        {"low_tokens", &rule->low_tokens},
        {"patch_px", &rule->patch_px},
        {"edge_px_max", &rule->edge_px_max},
        {"patches_max", &rule->patches_max},
        {"fit_px", &rule->fit_px},
        {"short_px", &rule->short_px},
        {"tile_px", &rule->tile_px},
        {"small_px", &rule->small_px},
        {"base_tokens", &rule->base_tokens},
        {"tile_tokens", &rule->tile_tokens},
    };
    if (wr_span_is(key, "kind"))
        return set_image_kind(rule, value, err);
    if (wr_span_is(key, "name")) {
        rule->name = value;
        return WEIR_OK;
    }
    if (wr_span_is(key, "multiplier"))
        return wr_decimal_scaled(value, 4, 1000000, &rule->multiplier_bp)
                   ? WEIR_OK
                   : refuse_field(err, key, "a decimal up to 100 with at most four places");
    for (size_t i = 0; i < WR_COUNT_OF(fields); i++)
        if (wr_span_is(key, fields[i].name))
            return set_whole_number(fields[i].field, key, value, err);
    return wr_fail(err, WEIR_NOTFOUND, 0, "no such field of an image rule");
}
