#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/span.h"
#include "json/json.h"
#include "models/fields.h"
#include "models/registry.h"
#include "tests/test_file.h"

static const struct {
    const char *behaviour, *model;
    struct wr_usage usage;
    uint64_t micro_usd;
    uint32_t tier;
} cases[] = {
    {"nothing costs nothing", "gpt-5.4", {0}, 0, 0},
    {"input at the input price", "gpt-5.4", {.input_tokens = 1000000 / 4}, 625000, 0},
    {"output at the output price", "gpt-5.4", {.output_tokens = 1000}, 15000, 0},
    {"reads at the read price", "claude-opus-5-5", {.cache_read_tokens = 200000}, 40000, 0},
    {"five-minute writes at their price",
     "claude-opus-5-5",
     {.cache_write_5m_tokens = 1000},
     5000,
     0},
    {"one-hour writes at theirs", "claude-opus-5-5", {.cache_write_1h_tokens = 1000}, 8000, 0},
    {"thirty-minute writes at theirs", "gpt-6.1-sol", {.cache_write_30m_tokens = 1000}, 2500, 0},
    {"a write nobody prices is input", "gpt-5.4", {.cache_write_30m_tokens = 1000}, 2500, 0},
    {"a write of another lifetime is at the general write price",
     "qwen3.8-flash",
     {.cache_write_5m_tokens = 1000},
     200,
     0},
    {"or at the price of the lifetime that has one",
     "gpt-6.1-sol",
     {.cache_write_5m_tokens = 1000},
     2500,
     0},
    {"a read nobody prices is input", "claude-fable-5-2", {.cache_read_tokens = 1000}, 8000, 0},
    {"all kinds add up",
     "claude-opus-5-5",
     {.input_tokens = 1000,
      .cache_read_tokens = 10000,
      .cache_write_5m_tokens = 2000,
      .output_tokens = 500},
     4000 + 2000 + 10000 + 10000,
     0},
    {"at the threshold the base price holds", "gpt-6.1-sol", {.input_tokens = 272000}, 544000, 0},
    {"one token above reprices all of it", "gpt-6.1-sol", {.input_tokens = 272001}, 1088004, 1},
    {"cached tokens count towards the threshold",
     "gpt-6.1-sol",
     {.input_tokens = 1, .cache_read_tokens = 272000, .output_tokens = 1000},
     4 + 54400 + 15000,
     1},
    {"output does not", "gpt-6.1-sol", {.input_tokens = 272000, .output_tokens = 1000}, 554000, 0},
    {"five times the price above 100k",
     "claude-haiku-5-5",
     {.input_tokens = 100001, .output_tokens = 1000},
     50001 + 2500,
     1},
    {"a tier's one-hour write keeps its multiple",
     "claude-haiku-5-5",
     {.cache_write_1h_tokens = 200000},
     200000,
     1},
    {"the sum is rounded, not its parts",
     "gpt-5-nano",
     {.input_tokens = 5, .cache_read_tokens = 50},
     1,
     0},
    {"half a micro-dollar rounds up", "claude-haiku-5-5", {.input_tokens = 5}, 1, 0},
    {"counts that cannot be are capped, not wrapped",
     "gpt-5.4",
     {.output_tokens = UINT64_MAX},
     15000000000u,
     0},
};

static void costs(void **state)
{
    struct wr_models *models;
    (void)state;
    assert_int_equal(wr_models_new(&models, NULL, NULL), WEIR_OK);
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        const struct wr_model *model = wr_models_find(models, wr_span_of(cases[i].model));
        assert_non_null(model);
        struct wr_cost cost = wr_cost(model, &cases[i].usage);
        if (!cost.known || cost.micro_usd != cases[i].micro_usd || cost.tier != cases[i].tier)
            fail_msg("%s: %llu in tier %u", cases[i].behaviour, (unsigned long long)cost.micro_usd,
                     cost.tier);
    }
    wr_models_free(models);
}

static void no_price(void **state)
{
    struct wr_model model = wr_model_blank();
    struct wr_usage usage = {.input_tokens = 1000};
    (void)state;
    struct wr_cost cost = wr_cost(&model, &usage);
    assert_false(cost.known);
    assert_int_equal(cost.micro_usd, 0);
}

/* Price profiles of another simulator: the same numbers must give its cost. */
static uint32_t micro_price(const struct wr_json *doc, wr_json_id prices, const char *key)
{
    uint32_t price = 0;
    wr_json_id id = wr_json_find(doc, prices, key);
    assert_int_not_equal(id, WR_JSON_NONE);
    assert_true(wr_decimal_scaled(wr_json_raw(doc, id), 6, WR_MODEL_PRICE_MAX, &price));
    return price;
}

static void check_profile(weir_span text, const char *path)
{
    struct wr_arena arena;
    struct wr_json doc;
    wr_arena_init(&arena, 1 << 20);
    assert_int_equal(wr_json_parse(&doc, &arena, text, NULL, NULL), WEIR_OK);
    wr_json_id prices = wr_json_find(&doc, 0, "pricing");
    struct wr_model model = wr_model_blank();
    model.prices.input = micro_price(&doc, prices, "input_per_million");
    model.prices.cache_read = micro_price(&doc, prices, "cached_input_per_million");
    model.prices.output = micro_price(&doc, prices, "output_per_million");

    struct wr_usage usage = {
        .input_tokens = 30000, .cache_read_tokens = 170000, .output_tokens = 2000};
    uint64_t pico = 30000u * (uint64_t)model.prices.input +
                    170000u * (uint64_t)model.prices.cache_read +
                    2000u * (uint64_t)model.prices.output;
    struct wr_cost cost = wr_cost(&model, &usage);
    if (!cost.known || cost.micro_usd != (pico + 500000) / 1000000 || !cost.micro_usd)
        fail_msg("%s: %llu", path, (unsigned long long)cost.micro_usd);
    wr_arena_release(&arena);
}

static void price_profiles(void **state)
{
    static const char *const names[] = {
        "anthropic-claude-sonnet-4", "deepseek-chat", "deepseek-v4-flash", "deepseek-v4-pro-promo",
        "deepseek-v4-pro-regular",   "kimi-k2.6",     "openai-gpt-5.4",    "openai-gpt-5.5",
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(names); i++) {
        struct wr_buf path, text;
        wr_buf_init(&path, 256);
        wr_buf_init(&text, 1 << 20);
        wr_buf_printf(&path, "../shared/fixtures/duckagent-pricing/%s.json", names[i]);
        wr_buf_byte(&path, '\0');
        if (wr_test_file(path.bytes, &text))
            check_profile(wr_buf_view(&text), path.bytes);
        wr_buf_release(&path);
        wr_buf_release(&text);
    }
}

/* The registry's own entries against the profiles of the same models. */
static void profiles_agree_with_registry(void **state)
{
    static const struct {
        const char *model;
        uint64_t micro_usd; /* of 30000 input, 170000 read, 2000 output at the profile's prices */
    } known[] = {
        {"kimi-k2.6", 28500 + 27200 + 8000},
        {"gpt-5.4", 75000 + 42500 + 30000},
        {"gpt-5.4-mini", 22500 + 12750 + 9000},
        {"gpt-5.5", 150000 + 85000 + 60000},
    };
    struct wr_usage usage = {
        .input_tokens = 30000, .cache_read_tokens = 170000, .output_tokens = 2000};
    struct wr_models *models;
    (void)state;
    assert_int_equal(wr_models_new(&models, NULL, NULL), WEIR_OK);
    for (size_t i = 0; i < WR_COUNT_OF(known); i++) {
        const struct wr_model *model = wr_models_find(models, wr_span_of(known[i].model));
        assert_int_equal(wr_cost(model, &usage).micro_usd, known[i].micro_usd);
    }
    wr_models_free(models);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs),
        cmocka_unit_test(no_price),
        cmocka_unit_test(price_profiles),
        cmocka_unit_test(profiles_agree_with_registry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
