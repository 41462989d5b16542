#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "policy/run_limits.h"

static const struct {
    const char *behaviour;
    struct wr_run_used used;
    uint64_t prompt_tokens, window_tokens;
    bool compress;
    enum wr_run_limit limit;
} cases[] = {
    {"a fresh run goes on", {0}, 1000, 200000, false, WR_RUN_LIMIT_NONE},
    {"one below every limit",
     {.tokens = 999999,
      .turns = 199,
      .tool_calls = 199,
      .cost_micro_usd = 1999999,
      .elapsed_ms = 1799999},
     0,
     200000,
     false,
     WR_RUN_LIMIT_NONE},
    {"tokens reached", {.tokens = 1000000}, 0, 200000, false, WR_RUN_LIMIT_TOKENS},
    {"turns reached", {.turns = 200}, 0, 200000, false, WR_RUN_LIMIT_TURNS},
    {"tool calls reached", {.tool_calls = 200}, 0, 200000, false, WR_RUN_LIMIT_TOOL_CALLS},
    {"two dollars spent", {.cost_micro_usd = 2000000}, 0, 200000, false, WR_RUN_LIMIT_COST},
    {"half an hour gone", {.elapsed_ms = 1800000}, 0, 200000, false, WR_RUN_LIMIT_TIME},
    {"the first of several is named",
     {.turns = 500, .elapsed_ms = 9999999},
     0,
     200000,
     false,
     WR_RUN_LIMIT_TURNS},
    {"a full window compresses", {0}, 170000, 200000, true, WR_RUN_LIMIT_NONE},
    {"little budget left compresses before it aborts",
     {.tokens = 900000},
     90000,
     200000,
     true,
     WR_RUN_LIMIT_NONE},
    {"compression is looked at even where the run must stop",
     {.tokens = 1000000},
     10,
     200000,
     true,
     WR_RUN_LIMIT_TOKENS},
};

static void verdicts(void **state)
{
    struct wr_run_limits limits = wr_run_limits_default();
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wr_compress_input prompt = {.content_tokens = cases[i].prompt_tokens,
                                           .window_tokens = cases[i].window_tokens};
        struct wr_run_verdict verdict = wr_run_check(&limits, &cases[i].used, &prompt);
        if (verdict.compress != cases[i].compress || verdict.limit != cases[i].limit ||
            verdict.aborted != (cases[i].limit != WR_RUN_LIMIT_NONE))
            fail_msg("%s: compress %d, limit %s", cases[i].behaviour, verdict.compress,
                     wr_run_limit_text(verdict.limit));
    }
}

static void each_is_configurable(void **state)
{
    struct wr_run_limits none = {0}, two_turns = {.turns_max = 2};
    struct wr_run_used used = {.tokens = UINT64_MAX,
                               .turns = 2,
                               .tool_calls = UINT64_MAX,
                               .cost_micro_usd = UINT64_MAX,
                               .elapsed_ms = UINT64_MAX};
    struct wr_compress_input prompt = {.content_tokens = 1, .window_tokens = 1000};
    (void)state;
    assert_false(wr_run_check(&none, &used, &prompt).aborted);
    assert_false(wr_run_check(&none, &used, &prompt).compress);
    assert_int_equal(wr_run_check(&two_turns, &used, &prompt).limit, WR_RUN_LIMIT_TURNS);
    assert_string_equal(wr_run_limit_text(WR_RUN_LIMIT_COST), "cost");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts),
        cmocka_unit_test(each_is_configurable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
