/* `weir models`: the registry as a table, or all that is believed of one name and by which rule.
 *
 * A price or a window that is not known is left out of the text and null in JSON; it is never 0,
 * which would mean free. Prices are in USD for a million tokens, as providers publish them.
 */
#include "base/table.h"
#include "cli/open.h"

#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "models/registry.h"
#include "models/window.h"

struct models_options {
    const char *config;
    bool as_json;
};

#define VALUES struct models_options

static const struct wr_option options[] = {
    {"config", WR_FILE(config),
     "your overrides (YAML): prices, windows, aliases, new models; see docs/models.md"},
    {"json", WR_FLAG(as_json), "the same as JSON"},
};

/* ---- text ---- */

/* "2.5": USD per million tokens, without needless zeros. */
static void put_price(struct wr_buf *out, uint32_t micro_usd)
{
    uint32_t decimals = micro_usd % 1000000;
    int places = 6;
    if (micro_usd == WR_PRICE_UNSET) {
        wr_buf_text(out, "?");
        return;
    }
    wr_buf_printf(out, "%u", micro_usd / 1000000);
    if (!decimals)
        return;
    for (; decimals % 10 == 0; decimals /= 10)
        places--;
    wr_buf_printf(out, ".%0*u", places, decimals);
}

static void put_named_price(struct wr_buf *out, const char *name, uint32_t micro_usd)
{
    if (micro_usd == WR_PRICE_UNSET)
        return;
    wr_buf_text(out, name);
    put_price(out, micro_usd);
}

static void put_prices(struct wr_buf *out, const struct wr_prices *prices)
{
    put_named_price(out, "input ", prices->input);
    put_named_price(out, ", cache read ", prices->cache_read);
    put_named_price(out, ", write ", prices->cache_write);
    put_named_price(out, ", write 5m ", prices->cache_write_5m);
    put_named_price(out, ", write 30m ", prices->cache_write_30m);
    put_named_price(out, ", write 1h ", prices->cache_write_1h);
    put_named_price(out, ", output ", prices->output);
    if (prices->cache_read == WR_PRICE_UNSET)
        wr_buf_text(out, "; cache reads count as input");
    if (prices->cache_write == WR_PRICE_UNSET && prices->cache_write_5m == WR_PRICE_UNSET &&
        prices->cache_write_30m == WR_PRICE_UNSET)
        wr_buf_text(out, "; cache writes count as input");
}

static void put_price_lines(struct wr_buf *out, const struct wr_model *model)
{
    wr_buf_text(out, "  price        ");
    if (model->prices.input == WR_PRICE_UNSET) {
        wr_buf_text(out, "not known: costs are reported as unknown\n");
        return;
    }
    wr_buf_text(out, "USD per million tokens: ");
    put_prices(out, &model->prices);
    wr_buf_byte(out, '\n');
    for (uint32_t i = 0; i < model->tiers_count; i++) {
        wr_buf_printf(out, "  tier         above %s input tokens the whole request: ",
                      WR_GROUPED(model->tiers[i].above_tokens));
        put_prices(out, &model->tiers[i].prices);
        wr_buf_byte(out, '\n');
    }
}

static void put_duration(struct wr_buf *out, uint32_t seconds)
{
    if (seconds % 3600 == 0)
        wr_buf_printf(out, "%u h", seconds / 3600);
    else
        wr_buf_printf(out, "%u min", seconds / 60);
}

static void put_cache_line(struct wr_buf *out, const struct wr_model *model)
{
    static const char *const modes[] = {"none", "only at markers in the request",
                                        "an implicit breakpoint, and explicit ones",
                                        "the longest prefix seen before"};
    const struct wr_cache_rule *cache = model->cache;
    wr_buf_printf(out, "  cache        %s", modes[cache->mode]);
    if (cache->breakpoints_max)
        wr_buf_printf(out, ", at most %u", cache->breakpoints_max);
    if (cache->lookback_blocks)
        wr_buf_printf(out, ", looking back %u blocks", cache->lookback_blocks);
    if (cache->keys_max)
        wr_buf_printf(out, ", the latest %u considered", cache->keys_max);
    if (cache->step_tokens > 1)
        wr_buf_printf(out, ", in steps of %u tokens", cache->step_tokens);
    if (cache->hit_percent)
        wr_buf_printf(out, ", not promised: %u %% of it on average", cache->hit_percent);
    if (cache->ttl_s) {
        wr_buf_text(out, "; kept ");
        put_duration(out, cache->ttl_s);
        wr_buf_text(out, ", long ");
        put_duration(out, cache->ttl_long_s);
    }
    if (model->min_cacheable_tokens)
        wr_buf_printf(out, "; from %s tokens", WR_GROUPED(model->min_cacheable_tokens));
    else if (cache->mode != WR_CACHE_NONE)
        wr_buf_text(out, "; least size not published");
    wr_buf_byte(out, '\n');
}

static void put_tokenizer_line(struct wr_buf *out, const struct wr_model *model)
{
    if (model->tokenizer != WR_TOKENIZER_ESTIMATE) {
        wr_buf_printf(out, "  tokenizer    %s, exact\n", wr_tokenizer_text(model->tokenizer));
        return;
    }
    wr_buf_printf(out, "  tokenizer    not public: estimated, times %u.%02u\n",
                  model->factor_bp / 10000, model->factor_bp / 100 % 100);
}

static void put_size_lines(struct wr_buf *out, const struct wr_model_match *match)
{
    const struct wr_model *model = match->model;
    struct wr_window window = wr_window_select(&(struct wr_window_evidence){.match = match});
    const char *source = window.source == WR_WINDOW_FALLBACK ? "no source: a policy's fallback"
                                                             : wr_window_source_text(window.source);

    wr_buf_printf(out, "  window       %s tokens (%s%s)\n", WR_GROUPED(window.context_tokens),
                  source, model->overridden ? ", with your overrides" : "");
    if (model->input_tokens_max)
        wr_buf_printf(out, "  max input    %s\n", WR_GROUPED(model->input_tokens_max));
    if (model->output_tokens_max)
        wr_buf_printf(out, "  max output   %s\n", WR_GROUPED(model->output_tokens_max));
}

static void put_model(struct wr_buf *out, const struct wr_models *models,
                      const struct wr_model_match *match)
{
    const struct wr_model *model = match->model;
    weir_span generated = wr_models_generated(models);

    wr_buf_append(out, model->id);
    wr_buf_text(out, "\n  matched      ");
    wr_model_match_describe(match, out);
    wr_buf_printf(out, "\n  provider     %.*s\n", (int)model->provider.len, model->provider.ptr);
    put_size_lines(out, match);
    put_price_lines(out, model);
    put_cache_line(out, model);
    put_tokenizer_line(out, model);
    wr_buf_printf(out, "  images       rule %.*s\n", (int)model->image->name.len,
                  model->image->name.ptr);
    if (model->preserved_thinking)
        wr_buf_text(out, "  thinking     signed: what stands before it must not change\n");
    if (model->note.len)
        wr_buf_printf(out, "  note         %.*s\n", (int)model->note.len, model->note.ptr);
    wr_buf_printf(out, "  facts of     %.*s\n", (int)generated.len, generated.ptr);
}

static const struct wr_table_column columns[] = {
    {"model", .cut_min = 20},
    {"provider", .rank = 2, .cut_min = 8},
    {"window", .is_right = true},
    {"max out", .is_right = true, .rank = 3},
    {"in", .is_right = true},
    {"read", .is_right = true},
    {"write", .is_right = true},
    {"out", .is_right = true},
    {"tokenizer", .rank = 1, .cut_min = 10},
};

static void put_price_cell(struct wr_table *table, uint32_t micro_usd)
{
    struct wr_buf cell;

    wr_buf_init(&cell, WR_OUTPUT_BYTES_MAX);
    put_price(&cell, micro_usd);
    wr_table_cell(table, wr_buf_view(&cell));
    wr_buf_release(&cell);
}

static void put_row(struct wr_table *table, const struct wr_model *m)
{
    struct wr_prices prices = wr_prices_resolve(&m->prices);
    bool half_hour = m->prices.cache_write_30m != WR_PRICE_UNSET;

    wr_table_cell(table, m->id);
    wr_table_cell(table, m->provider);
    wr_table_format(table, "%s", WR_GROUPED(m->window_tokens));
    wr_table_format(table, "%s", WR_GROUPED(m->output_tokens_max));
    put_price_cell(table, prices.input);
    put_price_cell(table, prices.cache_read);
    put_price_cell(table, half_hour ? prices.cache_write_30m : prices.cache_write_5m);
    put_price_cell(table, prices.output);
    wr_table_format(table, "%s%s%s", wr_tokenizer_text(m->tokenizer),
                    m->tiers_count ? ", tiers" : "", m->overridden ? ", overridden" : "");
}

static void put_table(struct wr_buf *out, const struct wr_models *models)
{
    weir_span generated = wr_models_generated(models);
    struct wr_arena arena;
    struct wr_table table;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_table_init(&table, columns, WR_COUNT_OF(columns), &arena);
    for (uint32_t i = 0; i < wr_models_count(models); i++)
        put_row(&table, wr_models_at(models, i));
    wr_table_print(&table, wr_cli_columns_told(), out);
    wr_arena_release(&arena);
    wr_buf_printf(out,
                  "%u models, facts of %.*s; prices in USD per million tokens,\n"
                  "write is the default lifetime's\n",
                  wr_models_count(models), (int)generated.len, generated.ptr);
    for (uint32_t i = 0; i < wr_models_alias_count(models); i++) {
        struct wr_alias alias = wr_models_alias_at(models, i);
        wr_buf_printf(out, "%.*s is %.*s\n", (int)alias.name.len, alias.name.ptr,
                      (int)alias.model->id.len, alias.model->id.ptr);
    }
}

/* ---- JSON ---- */

/* null where it is not known. */
static void json_tokens(struct wr_json_writer *w, const char *key, uint32_t tokens)
{
    wr_json_write_key(w, key);
    if (tokens)
        wr_json_write_i64(w, tokens);
    else
        wr_json_write_null(w);
}

static void json_price(struct wr_json_writer *w, const char *key, uint32_t micro_usd)
{
    wr_json_write_key(w, key);
    if (micro_usd == WR_PRICE_UNSET)
        wr_json_write_null(w);
    else
        wr_json_write_fixed(w, micro_usd / 1e6, 6);
}

static void json_prices(struct wr_json_writer *w, const struct wr_prices *published)
{
    struct wr_prices prices = wr_prices_resolve(published);
    json_price(w, "input", prices.input);
    json_price(w, "cache_read", prices.cache_read);
    json_price(w, "write_5m", prices.cache_write_5m);
    json_price(w, "write_30m", prices.cache_write_30m);
    json_price(w, "write_1h", prices.cache_write_1h);
    json_price(w, "output", prices.output);
}

static void json_cost(struct wr_json_writer *w, const struct wr_model *model)
{
    wr_json_member_object(w, "usd_per_mtok");
    json_prices(w, &model->prices);
    wr_json_write_object_end(w);
    wr_json_member_array(w, "tiers");
    for (uint32_t i = 0; i < model->tiers_count; i++) {
        wr_json_write_object(w);
        json_tokens(w, "above_tokens", model->tiers[i].above_tokens);
        json_prices(w, &model->tiers[i].prices);
        wr_json_write_object_end(w);
    }
    wr_json_write_array_end(w);
}

static void json_cache(struct wr_json_writer *w, const struct wr_model *model)
{
    wr_json_member_object(w, "cache");
    wr_json_member_text(w, "rule", model->cache->name);
    wr_json_member_word(w, "mode", wr_cache_mode_text(model->cache->mode));
    json_tokens(w, "ttl_s", model->cache->ttl_s);
    json_tokens(w, "ttl_long_s", model->cache->ttl_long_s);
    json_tokens(w, "hit_percent", model->cache->hit_percent);
    json_tokens(w, "min_cacheable_tokens", model->min_cacheable_tokens);
    wr_json_write_object_end(w);
}

static void json_model(struct wr_json_writer *w, const struct wr_model_match *match)
{
    const struct wr_model *model = match->model;
    struct wr_window window = wr_window_select(&(struct wr_window_evidence){.match = match});

    wr_json_write_object(w);
    wr_json_member_text(w, "id", model->id);
    wr_json_member_word(w, "rule", wr_model_rule_text(match->rule));
    wr_json_member_text(w, "provider", model->provider);
    json_tokens(w, "window_tokens", window.context_tokens);
    json_tokens(w, "prompt_tokens_max", window.tokens);
    wr_json_member_word(w, "window_source", wr_window_source_text(window.source));
    json_tokens(w, "input_tokens_max", model->input_tokens_max);
    json_tokens(w, "output_tokens_max", model->output_tokens_max);
    json_cost(w, model);
    json_cache(w, model);
    wr_json_member_word(w, "tokenizer", wr_tokenizer_text(model->tokenizer));
    wr_json_member_fixed(w, "factor", model->factor_bp / 1e4, 4);
    wr_json_member_text(w, "image_rule", model->image->name);
    wr_json_member_bool(w, "preserved_thinking", model->preserved_thinking);
    wr_json_member_bool(w, "overridden", model->overridden);
    wr_json_member_text(w, "note", model->note.ptr ? model->note : WR_LIT(""));
    wr_json_write_object_end(w);
}

static void json_all(struct wr_json_writer *w, const struct wr_models *models)
{
    wr_json_write_object(w);
    wr_json_member_text(w, "generated", wr_models_generated(models));
    wr_json_member_array(w, "models");
    for (uint32_t i = 0; i < wr_models_count(models); i++) {
        struct wr_model_match match = wr_models_lookup(models, wr_models_at(models, i)->id);
        wr_json_write_newline(w);
        json_model(w, &match);
    }
    wr_json_write_array_end(w);
    wr_json_write_object_end(w);
}

/* ---- the command ---- */

static int run_models(void *values, const struct wr_words *words)
{
    const struct models_options *o = values;
    const char *name = words->count ? words->items[0] : NULL;
    struct wr_models *models = wr_cli_models(o->config);
    struct wr_model_match match = {0};
    struct wr_json_writer writer;
    struct wr_buf out;
    int code = WR_EXIT_USAGE;

    wr_buf_init(&out, 2 * (size_t)WR_MODELS_BYTES_MAX);
    wr_json_write_init(&writer, &out);
    if (models && name)
        match = wr_models_lookup(models, wr_span_of(name));
    if (models && name && match.rule == WR_RULE_FALLBACK && strcmp(name, "unknown")) {
        code = wr_cli_fail_model(models, wr_span_of(name));
    } else if (models) {
        if (name && o->as_json)
            json_model(&writer, &match);
        else if (name)
            put_model(&out, models, &match);
        else if (o->as_json)
            json_all(&writer, models);
        else
            put_table(&out, models);
        if (o->as_json)
            wr_buf_byte(&out, '\n');
        code = o->as_json ? wr_cli_end(&out, WR_EXIT_OK) : wr_cli_end_fitted(&out, WR_EXIT_OK);
    }
    wr_buf_release(&out);
    wr_models_free(models);
    return code;
}

const struct wr_command wr_cmd_models = {
    .name = "models",
    .purpose = "what Weir believes of a model, and why",
    .usage = "[OPTIONS] [NAME]",
    .about = "Prints what Weir believes of a model and why: which rule matched the name, where the "
             "window comes from, prices, price tiers, cache rules, tokenizer. Without NAME: every "
             "model it knows.",
    WR_OPTIONS(options),
    .words_max = 1,
    .wants = "one name at a time",
    .list = wr_list_models,
    .example = "weir models us.anthropic.claude-haiku-4-5-20251001-v1:0",
    .run = run_models,
};
