#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/span.h"
#include "json/json.h"
#include "models/fields.h"
#include "models/registry.h"
#include "tests/test_file.h"

static void embedded(void **state)
{
    struct wr_models *models;
    struct weir_err err = {0};
    (void)state;
    if (wr_models_new(&models, NULL, &err))
        fail_msg("byte %zu: %s", err.at_byte, err.text);
    assert_true(wr_models_count(models) >= 73);
    assert_true(wr_span_starts(wr_models_generated(models), WR_LIT("20")));

    const struct wr_model *fable = wr_models_find(models, WR_LIT("claude-fable-5-1"));
    assert_true(fable->preserved_thinking);
    assert_int_equal(fable->cache->mode, WR_CACHE_EXPLICIT);
    assert_int_equal(fable->cache->ttl_long_s, 3600);
    assert_int_equal(fable->min_cacheable_tokens, 512);
    assert_int_equal(fable->tokenizer, WR_TOKENIZER_ESTIMATE);
    assert_true(fable->factor_bp > 10000);
    const struct wr_model *sol = wr_models_find(models, WR_LIT("gpt-6.1-sol"));
    assert_int_equal(sol->input_tokens_max, 922000);
    assert_int_equal(sol->cache->mode, WR_CACHE_BREAKPOINT);
    assert_int_equal(sol->tokenizer, WR_TOKENIZER_O200K);
    assert_int_equal(wr_models_find(models, WR_LIT("gpt-5.4"))->cache->step_tokens, 128);
    wr_models_free(models);
}

static uint64_t fact_number(const struct wr_json *doc, wr_json_id object, const char *key)
{
    int64_t n = 0;
    wr_json_id id = wr_json_find(doc, object, key);
    return id != WR_JSON_NONE && wr_json_i64(doc, id, &n) ? (uint64_t)n : 0;
}

static uint32_t fact_price(const struct wr_json *doc, wr_json_id object, const char *key)
{
    uint32_t price = WR_PRICE_UNSET;
    wr_json_id id = wr_json_find(doc, object, key);
    if (id != WR_JSON_NONE && wr_json_kind(doc, id) == WR_JSON_NUMBER)
        assert_true(wr_decimal_scaled(wr_json_raw(doc, id), 6, WR_MODEL_PRICE_MAX, &price));
    return price;
}

static void compare_fact(const struct wr_models *models, const struct wr_json *doc, wr_json_id fact)
{
    weir_span id = wr_json_inner(doc, wr_json_find(doc, fact, "id"));
    const struct wr_model *model = wr_models_find(models, id);
    wr_json_id usd = wr_json_find(doc, fact, "usd_per_mtok");
    wr_json_id tiers = wr_json_find(doc, fact, "long_context_tiers");
    bool same = model && model->window_tokens == fact_number(doc, fact, "context_window") &&
                model->input_tokens_max == fact_number(doc, fact, "max_input_tokens") &&
                model->output_tokens_max == fact_number(doc, fact, "max_output_tokens") &&
                model->min_cacheable_tokens == fact_number(doc, fact, "min_cacheable_tokens") &&
                model->prices.input == fact_price(doc, usd, "input") &&
                model->prices.cache_read == fact_price(doc, usd, "cache_read") &&
                model->prices.cache_write == fact_price(doc, usd, "cache_write_default") &&
                model->prices.cache_write_5m == fact_price(doc, usd, "cache_write_5m") &&
                model->prices.cache_write_1h == fact_price(doc, usd, "cache_write_1h") &&
                model->prices.cache_write_30m == fact_price(doc, usd, "cache_write_30m") &&
                model->prices.output == fact_price(doc, usd, "output") &&
                model->tiers_count == wr_json_count(doc, tiers);
    if (!same)
        fail_msg("%.*s differs from the facts", (int)id.len, id.ptr);
    uint32_t i = 0;
    for (wr_json_id tier = wr_json_first(doc, tiers); tier != WR_JSON_NONE;
         tier = wr_json_next(doc, tiers, tier), i++) {
        wr_json_id tier_usd = wr_json_find(doc, tier, "usd_per_mtok");
        assert_int_equal(model->tiers[i].above_tokens,
                         fact_number(doc, tier, "input_tokens_above"));
        assert_int_equal(model->tiers[i].prices.input, fact_price(doc, tier_usd, "input"));
        assert_int_equal(model->tiers[i].prices.cache_read,
                         fact_price(doc, tier_usd, "cache_read"));
        assert_int_equal(model->tiers[i].prices.output, fact_price(doc, tier_usd, "output"));
    }
}

static void agrees_with_the_facts(void **state)
{
    struct wr_buf text;
    struct wr_arena arena;
    struct wr_json doc;
    struct wr_models *models;
    (void)state;
    wr_buf_init(&text, 1 << 20);
    wr_arena_init(&arena, 1 << 24);
    assert_int_equal(wr_models_new(&models, NULL, NULL), WEIR_OK);
    if (wr_test_file("../shared/facts/models.json", &text)) {
        assert_int_equal(wr_json_parse(&doc, &arena, wr_buf_view(&text), NULL, NULL), WEIR_OK);
        wr_json_id list = wr_json_find(&doc, 0, "models");
        assert_int_equal(wr_json_count(&doc, list), wr_models_count(models));
        for (wr_json_id fact = wr_json_first(&doc, list); fact != WR_JSON_NONE;
             fact = wr_json_next(&doc, list, fact))
            compare_fact(models, &doc, fact);
    }
    wr_models_free(models);
    wr_arena_release(&arena);
    wr_buf_release(&text);
}

/* What a YAML makes of one model: window, max output, input, cache read and output price, factor.
 */
static const struct {
    const char *behaviour, *yaml, *name;
    uint32_t window, max_output, input, cache_read, output, factor_bp;
} overrides[] = {
    {"an empty file changes nothing", "# nothing\n", "o3", 200000, 100000, 2000000, 500000, 8000000,
     10000},
    {"a window", "models:\n  o3:\n    window: 150_000\n", "o3", 150000, 100000, 2000000, 500000,
     8000000, 10000},
    {"one price; the others stay", "models: {o3: {price: {cache_read: 0.25}}}", "o3", 200000,
     100000, 2000000, 250000, 8000000, 10000},
    {"an input price moves what was charged as input", "models: {gpt-5.4: {price: {input: 3}}}",
     "gpt-5.4", 1050000, 128000, 3000000, 250000, 15000000, 10000},
    {"a new model starts from what its name suggests",
     "models:\n  claude-tiny:\n    price: {input: 0.5, output: 1}\n", "claude-tiny", 200000, 0,
     500000, WR_PRICE_UNSET, 1000000, 15000},
    {"a new model like another", "models: {mine: {like: o3, window: 1000}}", "mine", 1000, 100000,
     2000000, 500000, 8000000, 10000},
    {"a new model with a tokenizer", "models: {mine: {window: 9000, tokenizer: o200k_base}}",
     "mine", 9000, 0, WR_PRICE_UNSET, WR_PRICE_UNSET, WR_PRICE_UNSET, 10000},
    {"a factor", "models: {mine: {window: 9000, factor: 1.25}}", "mine", 9000, 0, WR_PRICE_UNSET,
     WR_PRICE_UNSET, WR_PRICE_UNSET, 12500},
    {"an alias of a new model that stands before it",
     "aliases: {fast: mine}\nmodels: {mine: {like: o3, window: 1000}}", "FAST", 1000, 100000,
     2000000, 500000, 8000000, 10000},
    {"an alias in a request's form", "aliases: {fast: o3}", "openai/fast:free", 200000, 100000,
     2000000, 500000, 8000000, 10000},
    {"a family", "models: {family/claude: {window: 500000}}", "claude-9", 500000, 0, WR_PRICE_UNSET,
     WR_PRICE_UNSET, WR_PRICE_UNSET, 15000},
    {"the fallback", "models: {unknown: {window: 64000}}", "nobody", 64000, 0, WR_PRICE_UNSET,
     WR_PRICE_UNSET, WR_PRICE_UNSET, 11000},
};

static void overriding(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(overrides); i++) {
        struct wr_models_source source = {.overrides = wr_span_of(overrides[i].yaml)};
        struct wr_models *models;
        struct weir_err err = {0};
        if (wr_models_new(&models, &source, &err))
            fail_msg("%s: %s", overrides[i].behaviour, err.text);
        struct wr_model_match match = wr_models_lookup(models, wr_span_of(overrides[i].name));
        const struct wr_model *m = match.model;
        if (match.window_tokens != overrides[i].window ||
            m->output_tokens_max != overrides[i].max_output ||
            m->prices.input != overrides[i].input ||
            m->prices.cache_read != overrides[i].cache_read ||
            m->prices.output != overrides[i].output || m->factor_bp != overrides[i].factor_bp)
            fail_msg("%s: %.*s, window %u, input %u", overrides[i].behaviour, (int)m->id.len,
                     m->id.ptr, match.window_tokens, m->prices.input);
        assert_ptr_equal(wr_models_lookup(models, m->id).model, m);
        wr_models_free(models);
    }
}

static void tiers_are_replaced(void **state)
{
    struct wr_models_source source = {
        .overrides = WR_LIT("models:\n  gpt-6.1-sol:\n    tiers:\n"
                            "      - {above: 100, input: 1, output: 2}\n"
                            "      - {above: 200, input: 3, output: 4, cache_read: 0.000001}\n")};
    struct wr_models *models;
    (void)state;
    assert_int_equal(wr_models_new(&models, &source, NULL), WEIR_OK);
    const struct wr_model *model = wr_models_find(models, WR_LIT("gpt-6.1-sol"));
    assert_int_equal(model->tiers_count, 2);
    assert_true(model->overridden);
    struct wr_usage usage = {.input_tokens = 150};
    assert_int_equal(wr_cost(model, &usage).micro_usd, 150);
    assert_int_equal(model->tiers[1].prices.cache_read, 1);
    wr_models_free(models);
}

/* The example that the manual gives must be one that is read. */
static void the_manual_is_right(void **state)
{
    struct wr_buf page;
    struct wr_models *models;
    struct weir_err err = {0};
    (void)state;
    wr_buf_init(&page, 1 << 20);
    assert_true(wr_test_file("docs/models.md", &page));
    weir_span text = wr_buf_view(&page);
    size_t start = wr_span_find(text, WR_LIT("```yaml\n"), 0);
    assert_int_not_equal(start, SIZE_MAX);
    size_t end = wr_span_find(text, WR_LIT("\n```"), start);
    struct wr_models_source source = {.overrides = wr_span_cut(text, start + 8, end)};
    if (wr_models_new(&models, &source, &err))
        fail_msg("docs/models.md: %s", err.text);
    const struct wr_model *fast = wr_models_lookup(models, WR_LIT("fast")).model;
    assert_true(wr_span_is(fast->id, "my-qwen"));
    assert_int_equal(fast->tiers_count, 1);
    assert_int_equal(wr_models_find(models, WR_LIT("gpt-6.1-sol"))->tiers_count, 0);
    wr_models_free(models);
    wr_buf_release(&page);
}

static const struct {
    const char *behaviour, *yaml;
    weir_status status;
    const char *text; /* how the message begins */
} refused[] = {
    {"not YAML", "models: {", WEIR_SYNTAX, "line 2, column 1: "},
    {"a tab", "models:\n\t- x", WEIR_SYNTAX, "line 2, column 1: "},
    {"a list at the top", "- a", WEIR_INVALID, "line 1, column 1: key: value"},
    {"an unknown section", "prices: {}", WEIR_INVALID, "line 1, column 1: the sections are"},
    {"a section misspelt", "model: {}", WEIR_INVALID, "line 1, column 1: did you mean"},
    {"another schema", "schema: 2", WEIR_INVALID, "line 1, column 9: schema 1"},
    {"an unknown field", "models:\n  o3:\n    windows: 3\n", WEIR_INVALID,
     "line 3, column 5: no such field"},
    {"a window that is no number", "models:\n  o3:\n    window: big\n", WEIR_INVALID,
     "line 3, column 5: window must be a whole number"},
    {"a window of nothing", "models: {o3: {window: 0}}", WEIR_INVALID,
     "line 1, column 15: window must be"},
    {"an unknown price", "models:\n  o3:\n    price:\n      in: 3\n", WEIR_INVALID,
     "line 4, column 7: no such price"},
    {"a negative price", "models: {o3: {price: {input: -1}}}", WEIR_INVALID,
     "line 1, column 23: input must be USD"},
    {"a price with an exponent", "models: {o3: {price: {input: 1e3}}}", WEIR_INVALID,
     "line 1, column 23: input must be USD"},
    {"seven decimals", "models: {o3: {price: {input: 0.0000001}}}", WEIR_INVALID,
     "line 1, column 23: input must be USD"},
    {"half a price", "models: {mine: {window: 1000, price: {input: 1}}}", WEIR_INVALID,
     "line 1, column 10: give both"},
    {"tiers that fall",
     "models: {o3: {tiers: [{above: 9, input: 1, output: 1}, {above: 8, input: 1, output: 1}]}}",
     WEIR_INVALID, "line 1, column 10: tiers must be in rising"},
    {"a tier without a threshold", "models: {o3: {tiers: [{input: 1, output: 1}]}}", WEIR_INVALID,
     "line 1, column 23: a tier needs `above"},
    {"too many tiers", "models: {o3: {tiers: [{}, {}, {}, {}, {}]}}", WEIR_LIMIT,
     "line 1, column 22: at most 4"},
    {"a key twice", "models:\n  o3: {window: 5}\n  O3: {window: 6}\n", WEIR_INVALID,
     "line 3, column 3: this key is here twice"},
    {"like something unknown", "models: {mine: {like: nobody}}", WEIR_INVALID,
     "line 1, column 23: no model or family"},
    {"like on a listed model", "models: {o3: {like: gpt-5}}", WEIR_INVALID,
     "line 1, column 10: `like` is for new"},
    {"an alias of nothing", "aliases:\n  a: nobody\n", WEIR_INVALID,
     "line 2, column 6: no model has this id"},
    {"an alias that is a model", "aliases: {o3: gpt-5}", WEIR_INVALID,
     "line 1, column 11: this is a model already"},
    {"an alias of a family", "aliases: {a: family/claude}", WEIR_INVALID,
     "line 1, column 14: no model has this id"},
    {"an id with a blank", "models: {\"a b\": {window: 1000}}", WEIR_INVALID,
     "line 1, column 10: a model's id"},
    {"a flag that is none", "models: {o3: {preserved_thinking: 1}}", WEIR_INVALID,
     "line 1, column 15: preserved_thinking must be true"},
    {"an unknown tokenizer", "models: {o3: {tokenizer: p50k}}", WEIR_INVALID,
     "line 1, column 15: tokenizer must be"},
    {"an unknown cache rule", "models: {o3: {cache: magic}}", WEIR_INVALID,
     "line 1, column 15: cache must be"},
    {"bytes that are no text", "models: \xff\xfe\xff", WEIR_SYNTAX, "byte 8: "},
};

static void refusing(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(refused); i++) {
        struct wr_models_source source = {.overrides = wr_span_of(refused[i].yaml)};
        struct wr_models *models;
        struct weir_err err = {0};
        weir_status status = wr_models_new(&models, &source, &err);
        if (status != refused[i].status || models ||
            !wr_span_starts(wr_span_of(err.text), wr_span_of(refused[i].text)))
            fail_msg("%s: %s, \"%s\"", refused[i].behaviour, weir_status_text(status), err.text);
    }
}

static void other_sections_of_a_shared_file(void **state)
{
    struct wr_models_source source = {
        .overrides = WR_LIT("listen: 127.0.0.1:4141\nmode: active\nmodels: {o3: {window: 9000}}\n"),
        .overrides_shared = true};
    struct wr_models *models;
    (void)state;
    assert_int_equal(wr_models_new(&models, &source, NULL), WEIR_OK);
    assert_int_equal(wr_models_find(models, WR_LIT("o3"))->window_tokens, 9000);
    wr_models_free(models);
}

#define RULES                                                                                \
    "\"schema\":1,\"generated\":\"x\",\"cache_rules\":[{\"name\":\"c\",\"mode\":\"none\"}]," \
    "\"image_rules\":[{\"name\":\"i\",\"kind\":\"fixed\",\"unknown_tokens\":1}],"
#define MODEL(id) "{\"id\":\"" id "\",\"window\":1000,\"cache\":\"c\",\"image\":\"i\"}"
#define FALLBACK  "\"fallback\":{\"id\":\"unknown\",\"cache\":\"c\",\"image\":\"i\"},"
#define REST      FALLBACK "\"families\":[],"

static const struct {
    const char *behaviour, *json;
    weir_status status;
} registries[] = {
    {"a small one", "{" RULES REST "\"models\":[" MODEL("a") "]}", WEIR_OK},
    {"not JSON", "{", WEIR_SYNTAX},
    {"not an object", "[]", WEIR_INVALID},
    {"no models", "{" RULES REST "\"x\":1}", WEIR_INVALID},
    {"models that are no array", "{" RULES REST "\"models\":{}}", WEIR_INVALID},
    {"another schema", "{\"schema\":2}", WEIR_INVALID},
    {"an id twice", "{" RULES REST "\"models\":[" MODEL("a") "," MODEL("A") "]}", WEIR_INVALID},
    {"a model that is named as the fallback", "{" RULES REST "\"models\":[" MODEL("unknown") "]}",
     WEIR_INVALID},
    {"a model without a window",
     "{" RULES REST "\"models\":[{\"id\":\"a\",\"cache\":\"c\",\"image\":\"i\"}]}", WEIR_INVALID},
    {"a rule that is not there",
     "{" RULES REST "\"models\":[{\"id\":\"a\",\"window\":1000,\"cache\":\"d\",\"image\":\"i\"}]}",
     WEIR_INVALID},
    {"an unknown field",
     "{" RULES REST
     "\"models\":[{\"id\":\"a\",\"window\":1000,\"cache\":\"c\",\"image\":\"i\",\"x\":1}]}",
     WEIR_INVALID},
    {"a pattern that would fit all",
     "{" RULES
     "\"fallback\":{\"id\":\"unknown\",\"cache\":\"c\",\"image\":\"i\"},\"families\":[{\"id\":"
     "\"f\",\"match\":[\"\"],\"cache\":\"c\",\"image\":\"i\"}],\"models\":[]}",
     WEIR_INVALID},
};

static void other_registries(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(registries); i++) {
        struct wr_models_source source = {.registry = wr_span_of(registries[i].json)};
        struct wr_models *models;
        struct weir_err err = {0};
        weir_status status = wr_models_new(&models, &source, &err);
        if (status != registries[i].status)
            fail_msg("%s: %s, %s", registries[i].behaviour, weir_status_text(status), err.text);
        wr_models_free(models);
    }
}

static const struct {
    const char *behaviour, *text;
    bool right;
    uint32_t number; /* with six places */
} decimals[] = {
    {"whole", "2", true, 2000000},
    {"a fraction", "0.075", true, 75000},
    {"the least", "0.000001", true, 1},
    {"zeros behind do not count", "1.50000000", true, 1500000},
    {"zero", "0", true, 0},
    {"the most", "1000", true, 1000000000},
    {"more than the most", "1000.000001", false, 0},
    {"far more", "99999999999999999999999", false, 0},
    {"a seventh place", "0.0000001", false, 0},
    {"no digit before the point", ".5", false, 0},
    {"none after it", "5.", false, 0},
    {"two points", "1.2.3", false, 0},
    {"a sign", "+1", false, 0},
    {"nothing", "", false, 0},
};

static void reads_decimals(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(decimals); i++) {
        uint32_t number = 0;
        bool right =
            wr_decimal_scaled(wr_span_of(decimals[i].text), 6, WR_MODEL_PRICE_MAX, &number);
        if (right != decimals[i].right || (right && number != decimals[i].number))
            fail_msg("%s: %d, %u", decimals[i].behaviour, right, number);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(embedded),
        cmocka_unit_test(agrees_with_the_facts),
        cmocka_unit_test(overriding),
        cmocka_unit_test(tiers_are_replaced),
        cmocka_unit_test(the_manual_is_right),
        cmocka_unit_test(refusing),
        cmocka_unit_test(other_sections_of_a_shared_file),
        cmocka_unit_test(other_registries),
        cmocka_unit_test(reads_decimals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
