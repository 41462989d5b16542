#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/span.h"
#include "policy/stage.h"
#include "session/settings.h"

static void everything_may_be_left_out(void **state)
{
    struct wr_settings s;
    (void)state;
    assert_int_equal(wr_settings_read(&s, WR_LIT(""), NULL), WEIR_OK);
    assert_string_equal(s.policy, "auto");
    assert_int_equal(s.tool_iterations_max, 0); /* the turns of the run are the bound */
    assert_false(s.continues);
    assert_true(s.history_tokens_max == WR_SETTING_UNSAID); /* the policy's own */
    assert_true(s.result_tokens_max == WR_SETTING_UNSAID);
    assert_true(s.truncation == WR_SETTING_UNSAID);
    assert_true(s.keep_first == WR_SETTING_UNSAID && s.keep_last == WR_SETTING_UNSAID);
    assert_int_equal(s.limits.turns_max, 200);
    assert_int_equal(s.limits.tokens_max, 1000000);
    assert_int_equal(s.limits.tool_calls_max, 200);
    assert_int_equal(s.limits.cost_micro_usd_max, 2000000);
    assert_int_equal(s.limits.elapsed_ms_max, 30 * 60 * 1000);
    assert_int_equal(s.session_limits.turns_max + s.session_limits.tokens_max +
                         s.session_limits.tool_calls_max + s.session_limits.cost_micro_usd_max +
                         s.session_limits.elapsed_ms_max,
                     0); /* a session has no end of its own */
    assert_true(s.threshold_bp == WR_SETTING_UNSAID);
}

static void everything_may_be_said(void **state)
{
    struct wr_settings s;
    (void)state;
    assert_int_equal(
        wr_settings_read(
            &s,
            WR_LIT("model:\n"
                   "  provider: anthropic\n"
                   "  name: claude-sonnet-4-20250514\n"
                   "  max_input_tokens: 150000\n"
                   "  max_output_tokens: 8192\n"
                   "session:\n"
                   "  on_disconnect: continue\n"
                   "  max_tool_iterations: 7\n"
                   "  compression_threshold: 0.65\n"
                   "  context:\n"
                   "    max_history_tokens: 0\n"
                   "    max_tool_result_tokens: 100\n"
                   "    tool_result_truncation: both\n"
                   "    tool_result_keep_first: 0\n"
                   "    tool_result_keep_last: 0\n"
                   "  limits: {turns: 3, tokens: 4, tool_calls: 5, cost_usd: 0.5, minutes: 2,\n"
                   "           session: {turns: 6, tokens: 7, tool_calls: 8, cost_usd: 9,\n"
                   "                     minutes: 10}}\n"
                   "  summary: {at: 0.9, max_tokens: 500, timeout_ms: 10, max_cost_usd: 0.01}\n"),
            NULL),
        WEIR_OK);
    assert_string_equal(s.model, "claude-sonnet-4-20250514");
    assert_int_equal(s.input_tokens_max, 150000);
    assert_int_equal(s.output_tokens_max, 8192);
    assert_true(s.continues);
    assert_int_equal(s.tool_iterations_max, 7);
    assert_int_equal(s.threshold_bp, 6500);
    assert_int_equal(s.history_tokens_max, 0);
    assert_int_equal(s.result_tokens_max, 100);
    assert_int_equal(s.truncation, WR_CAP_BOTH);
    assert_int_equal(s.keep_first + s.keep_last, 0);
    assert_int_equal(s.limits.cost_micro_usd_max, 500000);
    assert_int_equal(s.limits.elapsed_ms_max, 120000);
    assert_int_equal(s.session_limits.turns_max, 6);
    assert_int_equal(s.session_limits.tokens_max, 7);
    assert_int_equal(s.session_limits.tool_calls_max, 8);
    assert_int_equal(s.session_limits.cost_micro_usd_max, 9000000);
    assert_int_equal(s.session_limits.elapsed_ms_max, 600000);
    assert_int_equal(s.summary_at_bp, 9000);
    assert_int_equal(s.summary_cost_micro_usd, 10000);
    assert_string_equal(s.policy, "layers"); /* its fields were given, its name was not */
}

static const struct {
    const char *behaviour, *yaml, *says;
} wrong[] = {
    {"a result may not have zero tokens", "session:\n  context:\n    max_tool_result_tokens: 0\n",
     "line 3, column 29: max_tool_result_tokens is a whole number from 1"},
    {"a strategy that is none", "session: {context: {tool_result_truncation: middle}}",
     "line 1, column 45: tool_result_truncation is one of head, tail, both"},
    {"a key that is none", "session:\n  contxt: {}\n",
     "line 2, column 3: 'contxt' is nothing that session can be told"},
    {"a limit of the session that is none", "session: {limits: {session: {day: 1}}}",
     "line 1, column 30: 'day' is nothing that limits.session can be told"},
    {"a section that is none", "sesion: {}", "line 1, column 1: 'sesion' is nothing"},
    {"a negative number", "session: {context: {tool_result_keep_first: -1}}", "line 1, column 45"},
    {"a share over one", "session: {compression_threshold: 1.5}",
     "compression_threshold is a decimal"},
    {"a list for a number", "model: {max_input_tokens: [1]}", "line 1, column 27"},
    {"no pairs", "session: 5", "line 1, column 10: `name: value` pairs are wanted"},
    {"a key twice", "session: {policy: a, policy: b}", "'policy' is here twice"},
    {"on_disconnect", "session: {on_disconnect: stop}", "on_disconnect is one of pause, continue"},
    {"no YAML", "session: {", "line"},
};

static void what_is_wrong_is_said_with_line_and_column(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(wrong); i++) {
        struct wr_settings s = {.tool_iterations_max = 77};
        struct weir_err err = {0};
        print_message("%s\n", wrong[i].behaviour);
        assert_int_not_equal(wr_settings_read(&s, wr_span_of(wrong[i].yaml), &err), WEIR_OK);
        if (!strstr(err.text, wrong[i].says))
            fail_msg("'%s' does not say '%s'", err.text, wrong[i].says);
        assert_int_equal(s.tool_iterations_max, 77); /* nothing was taken */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_may_be_left_out),
        cmocka_unit_test(everything_may_be_said),
        cmocka_unit_test(what_is_wrong_is_said_with_line_and_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
