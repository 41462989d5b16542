#include "session/settings.h"

#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"
#include "policy/budget.h"
#include "policy/stage.h"

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

/* ---- what a session makes of its policy ---- */

#define LAYERS(mask) \
    "[{stage: cap, max_tokens: 8000, keep: head}, " mask "{stage: drop_groups, margin_bp: 1000}]"
#define OWN_FILL "mine: {stages: [{stage: fill, history_tokens: 700}, {stage: cap, max_tokens: 9}]}"

/* What the engine runs of each policy, under which name. */
static const struct {
    const char *behaviour, *settings, *own;
    const char *name, *stages;
} cases[] = {
    {"history is the session's", "{policy: layers}", "", "session-layers",
     LAYERS("{stage: mask, keep_first: 2, keep_last: 5, batch: 10}, ")},
    {"its settings are those of the stages",
     "{context: {max_tool_result_tokens: 123, tool_result_truncation: tail, "
     "tool_result_keep_first: 3, tool_result_keep_last: 4}}",
     "", "session-layers",
     "[{stage: cap, max_tokens: 123, keep: tail}, {stage: mask, keep_first: 3, keep_last: 4, "
     "batch: 10}, {stage: drop_groups, margin_bp: 1000}]"},
    {"both zero: no masking", "{context: {tool_result_keep_first: 0, tool_result_keep_last: 0}}",
     "", "session-layers", LAYERS("")},
    {"what settings leave out is the policy's own, which need not be a preset",
     "{policy: mine, context: {tool_result_truncation: tail}}", OWN_FILL, "session-mine",
     "[{stage: cap, max_tokens: 9, keep: tail}]"},
    {"a policy that keeps no history within a budget has nothing of that",
     "{policy: tiered, "
     "context: {max_tool_result_tokens: 5}}",
     "", "session-tiered",
     "[{stage: evict, tools: {ls: exact, glob: exact, grep: exact, read_file: exact, edit_file: "
     "exact, write_file: exact, delete: exact}}, {stage: clear, tools: {record_attempt: exact}}]"},
    {"the last stage's summary is the session's", "{policy: compress}", "", "session-compress",
     "[{stage: clear, at_bp: 8000, trigger_tokens: 25600, keep: 1, older_turns: 4}]"},
    {"a threshold that is one moves", "{policy: compress, compression_threshold: 0.7}", "",
     "session-compress",
     "[{stage: clear, at_bp: 7000, trigger_tokens: 25600, keep: 1, older_turns: 4}]"},
    {"one of two does not", "{policy: mine, compression_threshold: 0.7}",
     "mine: {stages: [{stage: clear, at_bp: 5000}, {stage: summary, at_bp: 5001}]}", "session-mine",
     "[{stage: clear, at_bp: 5000}]"},
    {"a summary with stages behind it is the engine's", "{policy: mine}",
     "mine: {stages: [{stage: summary}, {stage: drop_groups}]}", "mine",
     "[{stage: summary}, {stage: drop_groups}]"},
    {"a last resort behind it is nobody's", "{policy: mine}",
     "mine: {stages: [{stage: clear}, {stage: summary}, {stage: fit}]}", "session-mine",
     "[{stage: clear}]"},
    {"what is all the engine's keeps its name", "{policy: guarded-mid}", "", "guarded-mid",
     "[{stage: fold_loops}, {stage: summarise_active}, {stage: fit}]"},
    {"nothing stays nothing", "{policy: exact}", "", "exact", "[]"},
    {"a policy of the user's that has the very name goes behind", "{policy: compress}",
     "session-compress: {stages: []}", "session-compress",
     "[{stage: clear, at_bp: 8000, trigger_tokens: 25600, keep: 1, older_turns: 4}]"},
};

static struct wr_policies *load(const char *body)
{
    char yaml[2048];
    struct weir_err err = {0};
    struct wr_policies *policies;
    (void)snprintf(yaml, sizeof(yaml), "policies: {%s}", body);
    if (wr_policies_new(&policies, wr_span_of(yaml), &err))
        fail_msg("%s: %s", yaml, err.text);
    return policies;
}

static struct wr_policies *make(const char *text, const char *own, struct wr_session_policy *made)
{
    char yaml[1024];
    struct wr_settings settings;
    struct weir_err err = {0};
    struct wr_policies *policies = load(own);
    (void)snprintf(yaml, sizeof(yaml), "session: %s", text);
    if (wr_settings_read(&settings, wr_span_of(yaml), &err) ||
        wr_session_policies(policies, &settings, made, &err))
        fail_msg("%s: %s", text, err.text);
    return policies;
}

static void the_engine_runs_what_the_session_does_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        char body[1024];
        struct wr_session_policy made;
        struct wr_policies *policies = make(cases[i].settings, cases[i].own, &made);
        (void)snprintf(body, sizeof(body), "x: {stages: %s}", cases[i].stages);
        struct wr_policies *wanted = load(body);
        const struct wr_policy *runs = wr_policies_find(policies, wr_span_of(made.name));
        if (strcmp(made.name, cases[i].name) || !runs ||
            !wr_policy_equal(runs, wr_policies_find(wanted, WR_LIT("x"))) ||
            !wr_policy_equal(runs, &made.engine))
            fail_msg("%s: %s", cases[i].behaviour, made.name);
        wr_policies_free(wanted);
        wr_policies_free(policies);
    }
}

static void what_the_session_does_itself_is_told(void **state)
{
    struct wr_session_policy made;
    (void)state;
    wr_policies_free(make("{policy: layers}", "", &made));
    assert_true(made.fills_history && made.has_window_table && !made.has_summary);
    assert_int_equal(made.history_tokens, WR_LAYERS_HISTORY_TOKENS);
    wr_policies_free(make("{context: {max_history_tokens: 0}}", "", &made));
    assert_true(made.fills_history);
    assert_int_equal(made.history_tokens, 0);
    wr_policies_free(make("{policy: mine}", OWN_FILL, &made));
    assert_int_equal(made.history_tokens, 700);
    wr_policies_free(make("{policy: tiered}", "", &made));
    assert_true(made.has_summary && !made.fills_history && !made.has_window_table);
    assert_int_equal(made.summary.params[WR_SUMMARY_AT_BP], 8500);
    assert_int_equal(made.threshold_bp, WR_COMPRESS_THRESHOLD_BP);
    wr_policies_free(make("{policy: compress, compression_threshold: 0.7}", "", &made));
    assert_int_equal(made.summary.params[WR_SUMMARY_AT_BP], 7000);
    assert_int_equal(made.threshold_bp, 7000);
    wr_policies_free(make("{policy: auto, compression_threshold: 0.6}", "", &made));
    assert_true(!made.has_summary && !made.is_idle);
    assert_int_equal(made.threshold_bp, 6000);
    wr_policies_free(make("{policy: exact}", "", &made));
    assert_true(made.is_idle);
}

static void what_ran_before_the_settings_changed_is_there_too(void **state)
{
    struct wr_session_policy made;
    struct wr_policies *policies = make("{policy: auto}", "", &made);
    (void)state;
    assert_non_null(wr_policies_find(policies, WR_LIT("session-tiered")));
    assert_non_null(wr_policies_find(policies, WR_LIT("session-layers")));
    assert_null(wr_policies_find(policies, WR_LIT("session-auto")));
    wr_policies_free(policies);
}

static void a_policy_that_is_not_there_is_named(void **state)
{
    struct wr_settings settings;
    struct wr_session_policy made;
    struct weir_err err = {0};
    struct wr_policies *policies = load("");
    (void)state;
    assert_int_equal(wr_settings_read(&settings, WR_LIT("session: {policy: no}"), NULL), WEIR_OK);
    assert_int_equal(wr_session_policies(policies, &settings, &made, &err), WEIR_NOTFOUND);
    assert_string_equal(err.text, "no policy is called 'no'; `weir policies` lists them");
    wr_policies_free(policies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_may_be_left_out),
        cmocka_unit_test(everything_may_be_said),
        cmocka_unit_test(what_is_wrong_is_said_with_line_and_column),
        cmocka_unit_test(the_engine_runs_what_the_session_does_not),
        cmocka_unit_test(what_the_session_does_itself_is_told),
        cmocka_unit_test(what_ran_before_the_settings_changed_is_there_too),
        cmocka_unit_test(a_policy_that_is_not_there_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
