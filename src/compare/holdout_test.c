/* Sessions that are drawn with a fixed seed, as rows of a ledger. */
#include "compare/holdout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/span.h"
#include "models/registry.h"

struct world {
    struct wr_models *models;
    struct wr_holdout *holdout;
    struct wr_buf out;
};

static void set_out(struct world *w)
{
    struct weir_err err = {0};

    assert_int_equal(wr_models_new(&w->models, NULL, &err), WEIR_OK);
    w->holdout = wr_holdout_new(w->models, 0);
    assert_non_null(w->holdout);
    wr_buf_init(&w->out, 1 << 20);
}

static void put_back(struct world *w)
{
    wr_buf_release(&w->out);
    wr_holdout_free(w->holdout);
    wr_models_free(w->models);
}

static void add_row(struct world *w, const char *session, const char *members, uint64_t bucket)
{
    char line[1024];

    (void)snprintf(line, sizeof(line),
                   "{\"api\":\"chat\",\"path\":\"/v1/chat/completions\",\"status\":200,"
                   "\"rollout_mode\":\"holdout\",\"rollout_canary_bucket\":%llu,"
                   "\"rollout_canary_percent\":50,\"usage_known\":true,\"usage_input_tokens\":1000,"
                   "\"usage_output_tokens\":10%s}",
                   (unsigned long long)bucket, members);
    struct wr_ledger_row row = {.time_ms = 1000000,
                                .tenant = WR_LIT("local"),
                                .session = wr_span_of(session),
                                .agent = WR_LIT("codex"),
                                .model = WR_LIT("gpt-5"),
                                .line = wr_span_of(line)};
    assert_int_equal(wr_holdout_add(w->holdout, &row), WEIR_OK);
}

/* Each session is of one task: 10 to 12 requests alone, half as many with Weir. */
static void add_sessions(struct world *w, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        for (unsigned arm = 0; arm < 2; arm++) {
            char session[32];
            unsigned requests = arm ? 5 + i % 2 : 10 + i % 3;
            (void)snprintf(session, sizeof(session), "s-%u-%u", i, arm);
            for (unsigned k = 0; k + 1 < requests; k++)
                add_row(w, session, "", arm ? 90 : 10);
            add_row(w, session, ",\"task_quality_task_completed\":1", arm ? 90 : 10);
        }
}

static void few_sessions_have_no_verdict(void **state)
{
    struct world w;

    (void)state;
    set_out(&w);
    add_sessions(&w, WR_HOLDOUT_LEAST - 1);
    wr_holdout_write(w.holdout, &w.out);
    wr_buf_byte(&w.out, '\0');
    assert_non_null(strstr(w.out.bytes, "\"sessions_alone\":19,\"sessions_weir\":19"));
    assert_null(strstr(w.out.bytes, "\"verdict\":\"less\""));
    assert_null(strstr(w.out.bytes, "\"low\""));
    /* Nineteen and nineteen: at the present shares two more make twenty of each. */
    const char *turns = strstr(w.out.bytes, "\"turns_a_task\"");
    assert_non_null(turns);
    const char *needed = strstr(turns, "\"sessions_needed_for_5_percent\":");
    assert_non_null(needed);
    assert_true(strtoul(strchr(needed, ':') + 1, NULL, 10) >= 2);
    put_back(&w);
}

static void enough_sessions_tell_what_differs(void **state)
{
    struct world w;

    (void)state;
    set_out(&w);
    add_sessions(&w, WR_HOLDOUT_LEAST + 10);
    wr_holdout_print(w.holdout, &w.out);
    wr_buf_byte(&w.out, '\0');
    assert_non_null(strstr(w.out.bytes, "codex, gpt-5: 30 sessions left alone with 30 tasks"));
    const char *turns = strstr(w.out.bytes, "turns a task");
    assert_non_null(turns);
    assert_non_null(strstr(turns, "less with Weir"));
    const char *corrections = strstr(w.out.bytes, "corrections");
    assert_non_null(corrections);
    assert_non_null(strstr(corrections, "too few to tell"));
    put_back(&w);
}

static void nothing_of_a_holdout_is_said(void **state)
{
    struct world w;

    (void)state;
    set_out(&w);
    wr_holdout_print(w.holdout, &w.out);
    wr_buf_byte(&w.out, '\0');
    assert_non_null(strstr(w.out.bytes, "no session of a holdout"));
    put_back(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_sessions_have_no_verdict),
        cmocka_unit_test(enough_sessions_tell_what_differs),
        cmocka_unit_test(nothing_of_a_holdout_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
