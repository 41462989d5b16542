#include "weir/models.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/span.h"

static struct weir_models *open_models(const char *yaml)
{
    struct weir_models *models;
    struct weir_err err = {0};
    if (weir_models_new(wr_span_of(yaml), &models, &err))
        fail_msg("%s", err.text);
    return models;
}

static void every_id_is_found_by_itself(void **state)
{
    struct weir_models *models = open_models("");
    size_t count = 0;
    (void)state;

    for (weir_span id; (id = weir_models_id(models, count)).len; count++) {
        struct weir_model model = WEIR_MODEL_INIT;
        weir_models_lookup(models, id, &model);
        assert_true(wr_span_eq(model.id, id));
        assert_string_equal(model.rule, "exact");
        assert_true(model.window_tokens > 0);
        assert_true(strlen(model.cache) && strlen(model.tokenizer) && model.provider.len);
        assert_int_equal(model.is_priced, model.prices.input_micro_usd > 0);
    }
    assert_true(count > 10);
    weir_models_free(models);
}

static void names_of_other_spellings_are_found(void **state)
{
    struct weir_models *models = open_models("");
    struct weir_model model = WEIR_MODEL_INIT;
    (void)state;

    weir_models_lookup(models, WR_LIT("us.anthropic.claude-haiku-4-5-20251001-v1:0"), &model);
    assert_true(wr_span_is(model.id, "claude-haiku-4-5"));
    assert_string_equal(model.cache, "explicit");
    assert_int_equal(model.cache_breakpoints_max, 4);
    assert_string_equal(model.tokenizer, "estimate");
    weir_models_lookup(models, WR_LIT("nobody's model"), &model);
    assert_string_equal(model.rule, "fallback");
    assert_false(model.is_priced);
    assert_int_equal(model.prices.input_micro_usd, 0);
    weir_models_free(models);
}

static const char own_yaml[] = "models:\n"
                               "  my-model:\n"
                               "    window: 50000\n"
                               "    price: {input: 2.5, output: 10}\n";

static void a_callers_own_models_are_laid_over(void **state)
{
    struct weir_models *models = open_models(own_yaml);
    struct weir_model model = WEIR_MODEL_INIT;
    struct weir_usage usage = {.input_tokens = 1000000, .output_tokens = 100000};
    uint64_t micro_usd;
    struct weir_err err = {0};
    (void)state;

    weir_models_lookup(models, WR_LIT("my-model"), &model);
    assert_int_equal(model.window_tokens, 50000);
    assert_true(model.is_priced);
    assert_int_equal(model.prices.input_micro_usd, 2500000);
    assert_int_equal(model.prices.cache_read_micro_usd, 2500000);
    assert_true(weir_models_cost(models, WR_LIT("my-model"), &usage, &micro_usd));
    assert_int_equal(micro_usd, 3500000);
    assert_false(weir_models_cost(models, WR_LIT("nobody's model"), &usage, &micro_usd));
    weir_models_free(models);
    assert_int_not_equal(weir_models_new(WR_LIT("models: ["), &models, &err), WEIR_OK);
    assert_null(models);
    assert_true(strlen(err.text) > 0);
    weir_models_free(NULL);
}

static void no_more_is_filled_than_the_caller_has(void **state)
{
    struct weir_models *models = open_models("");
    struct weir_model model;
    (void)state;

    memset(&model, 0x55, sizeof(model));
    model.struct_bytes = offsetof(struct weir_model, cache);
    weir_models_lookup(models, WR_LIT("gpt-4.1"), &model);
    assert_true(wr_span_is(model.id, "gpt-4.1"));
    assert_int_equal(model.cache_ttl_s, 0x55555555);
    assert_int_equal(model.struct_bytes, offsetof(struct weir_model, cache));
    weir_models_free(models);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_id_is_found_by_itself),
        cmocka_unit_test(names_of_other_spellings_are_found),
        cmocka_unit_test(a_callers_own_models_are_laid_over),
        cmocka_unit_test(no_more_is_filled_than_the_caller_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
