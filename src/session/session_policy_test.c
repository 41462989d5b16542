#include "session/session_policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/span.h"
#include "policy/budget.h"
#include "policy/stage.h"

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
        cmocka_unit_test(the_engine_runs_what_the_session_does_not),
        cmocka_unit_test(what_the_session_does_itself_is_told),
        cmocka_unit_test(what_ran_before_the_settings_changed_is_there_too),
        cmocka_unit_test(a_policy_that_is_not_there_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
