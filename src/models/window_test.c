#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/span.h"
#include "models/window.h"

static const struct {
    const char *behaviour, *model; /* NULL: the request names none */
    struct wr_window_evidence evidence;
    uint32_t tokens;
    enum wr_window_source source;
    bool capped;
} cases[] = {
    {"the configuration wins over everything",
     "gpt-5.4",
     {.configured_tokens = 50000, .loaded_tokens = 8192, .observed_tokens = 90000},
     50000,
     WR_WINDOW_CONFIG,
     false},
    {"a loaded size wins over the registry",
     "qwen3.7-plus",
     {.loaded_tokens = 32768},
     32768,
     WR_WINDOW_LOADED,
     false},
    {"the registry wins over what was observed",
     "o3",
     {.observed_tokens = 400000},
     200000,
     WR_WINDOW_REGISTRY,
     false},
    {"a form of an id is the registry's",
     "openai/o3-2025-04-16",
     {0},
     200000,
     WR_WINDOW_REGISTRY,
     false},
    {"a name may ask for its window",
     "claude-sonnet-4-5[1m]",
     {0},
     1000000,
     WR_WINDOW_REGISTRY,
     false},
    {"a prompt may have the input limit, not the context",
     "gpt-5",
     {0},
     272000,
     WR_WINDOW_REGISTRY,
     false},
    {"what was said of this use has no other limit",
     "gpt-5",
     {.configured_tokens = 300000},
     300000,
     WR_WINDOW_CONFIG,
     false},
    {"a family's default says so", "claude-9", {0}, 200000, WR_WINDOW_FAMILY, false},
    {"more was accepted than the family's default",
     "claude-9",
     {.observed_tokens = 300000},
     300000,
     WR_WINDOW_OBSERVED,
     false},
    {"less was accepted: that says nothing",
     "claude-9",
     {.observed_tokens = 3000},
     200000,
     WR_WINDOW_FAMILY,
     false},
    {"an unknown model with something observed",
     "mine",
     {.observed_tokens = 70000},
     70000,
     WR_WINDOW_OBSERVED,
     false},
    {"an unknown model: Weir's fallback", "mine", {0}, 32000, WR_WINDOW_FALLBACK, false},
    {"a small request observed does not lower it",
     "mine",
     {.observed_tokens = 900},
     32000,
     WR_WINDOW_FALLBACK,
     false},
    {"a policy's own fallback",
     "mine",
     {.fallback_tokens = WR_FALLBACK_LAYERS_TOKENS},
     128000,
     WR_WINDOW_FALLBACK,
     false},
    {"no model at all", NULL, {0}, 32000, WR_WINDOW_FALLBACK, false},
    {"an overflow error caps the registry",
     "o3",
     {.overflow_tokens = 128000},
     128000,
     WR_WINDOW_REGISTRY,
     true},
    {"and the configuration",
     "o3",
     {.configured_tokens = 500000, .overflow_tokens = 200000},
     200000,
     WR_WINDOW_CONFIG,
     true},
    {"but never raises", "o3", {.overflow_tokens = 900000}, 200000, WR_WINDOW_REGISTRY, false},
};

static void windows(void **state)
{
    struct wr_models *models;
    (void)state;
    assert_int_equal(wr_models_new(&models, NULL, NULL), WEIR_OK);
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_window_evidence evidence = cases[i].evidence;
        struct wr_model_match match;
        if (cases[i].model) {
            match = wr_models_lookup(models, wr_span_of(cases[i].model));
            evidence.match = &match;
        }
        struct wr_window window = wr_window_select(&evidence);
        if (window.tokens != cases[i].tokens || window.source != cases[i].source ||
            window.capped != cases[i].capped)
            fail_msg("%s: %u from %s", cases[i].behaviour, window.tokens,
                     wr_window_source_text(window.source));
    }
    wr_models_free(models);
}

static const struct {
    const char *behaviour, *model;
    uint64_t asked_tokens;
    uint32_t window_tokens, tokens;
    bool is_named;
} reserves[] = {
    {"nothing is said: a twentieth", "o3", 0, 200000, 10000, false},
    {"as much as was asked", "o3", 8000, 200000, 8000, true},
    {"the output limit caps it", "o3", 150000, 200000, 100000, true},
    {"between input limit and context it takes nothing", "gpt-5", 128000, 272000, 0, true},
    {"of a smaller window it takes all that was asked", "gpt-5", 10000, 100000, 10000, true},
    {"an unknown model has no limit", "mine", 8000, 16000, 8000, true},
    {"a quarter is left", "mine", 15000, 16000, 12000, true},
    {"nobody means all of it", "mine", 16000, 16000, 800, false},
};

static void answers_take_what_they_may(void **state)
{
    struct wr_models *models;
    (void)state;
    assert_int_equal(wr_models_new(&models, NULL, NULL), WEIR_OK);
    for (size_t i = 0; i < WR_COUNT_OF(reserves); i++) {
        struct wr_model_match match = wr_models_lookup(models, wr_span_of(reserves[i].model));
        struct wr_reserve_input input = {reserves[i].asked_tokens, reserves[i].window_tokens,
                                         match.model};
        struct wr_reserve reserve = wr_window_reserve(&input);
        if (reserve.tokens != reserves[i].tokens || reserve.is_named != reserves[i].is_named)
            fail_msg("%s: %u", reserves[i].behaviour, reserve.tokens);
    }
    wr_models_free(models);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(windows),
                                       cmocka_unit_test(answers_take_what_they_may)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
