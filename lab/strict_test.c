#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/test_file.h"
#include "lab/strict.h"

enum { LINES = 450 };

/* ---- cases, written with ' for " ---- */

struct trial {
    struct wr_buf text;
    struct wr_arena arena;
    struct wr_cases cases;
    struct wr_strict_runner *runner;
    struct wr_strict_report report;
    weir_status status;
    struct weir_err err;
};

/* In a case `@` stands for a long output whose last line says "the gate is shut". */
static void write_case(struct wr_buf *out, const char *text)
{
    wr_buf_init(out, 1 << 22);
    for (; *text; text++) {
        if (*text == '@') {
            for (int line = 0; line < LINES; line++)
                wr_buf_printf(out, "cc -c src/part_%d.c -o build/part_%d.o\\n", line, line * 7);
            wr_buf_text(out, "the gate is shut");
        } else {
            wr_buf_byte(out, *text == '\'' ? '"' : *text);
        }
    }
}

static void begin(struct trial *t, const char *text, const char *policy)
{
    *t = (struct trial){.status = WEIR_OK};
    write_case(&t->text, text);
    wr_arena_init(&t->arena, WR_ARENA_BYTES_MAX);
    if (wr_cases_read(&t->cases, &t->arena, wr_buf_view(&t->text), &t->err))
        fail_msg("%s", t->err.text);
    if (wr_strict_runner_new(&t->runner, policy, &t->err))
        fail_msg("%s", t->err.text);
    wr_strict_report_init(&t->report, policy);
    t->status = wr_strict_report_add(&t->report, t->runner, &t->cases, &t->err);
    if (!t->status)
        assert_int_equal(wr_strict_report_finish(&t->report), WEIR_OK);
}

static void end(struct trial *t)
{
    wr_strict_report_release(&t->report);
    wr_strict_runner_free(t->runner);
    wr_arena_release(&t->arena);
    wr_buf_release(&t->text);
}

#define PAIR(id)                                                                         \
    "{'role':'assistant','content':null,'tool_calls':[{'id':'" id "','type':'function'," \
    "'function':{'name':'Bash','arguments':'{\\'command\\':\\'make\\'}'}}]},"            \
    "{'role':'tool','tool_call_id':'" id "','content':'@'}"
#define TOOLS "'tools':[{'type':'function','function':{'name':'weir_recall'}}],"
#define FIRST "'request':{'model':'gpt-5.1'," TOOLS "'messages':[{'role':'user','content':'go'}]}"
#define CASE(more, turns) \
    "{'scenarios':[{'id':'a','context_window_tokens':16384," more "'turns':[" turns "]}]}"
#define TWICE(more) "{" FIRST "},{'append':[" PAIR("a") "]},{'append':[" PAIR("b") "]" more "}"

/* ---- what makes a way succeed ---- */

static const struct {
    const char *behaviour, *text, *failure; /* of optimized; NULL: it succeeds */
} rows[] = {
    {"a duplicate is taken out and nothing is missed",
     CASE("", TWICE(",'required_text':['the gate is shut'],'expected_outcome':'rewrite'")), NULL},
    {"what was never said is lost", CASE("", TWICE(",'required_text':['the gate is open']")),
     "a required text is lost: the gate is open"},
    {"a pass-through that was changed fails", CASE("", TWICE(",'expected_outcome':'pass_through'")),
     "a request to be passed through was changed"},
    {"in exact mode nothing changes",
     CASE("'mode':'exact',", TWICE(",'expected_outcome':'pass_through'")), NULL},
    {"in shadow mode nothing changes",
     CASE("'mode':'shadow',", TWICE(",'expected_outcome':'pass_through'")), NULL},
    {"a route that is none of ours is not read",
     CASE("'route':'embeddings',", TWICE(",'expected_outcome':'pass_through'")), NULL},
    {"a rewrite that was not made fails", CASE("", "{" FIRST ",'expected_outcome':'rewrite'}"),
     "a request to be rewritten was passed through"},
    {"a pointer to nothing fails",
     CASE("", "{" FIRST ",'preserve_json_pointers':['/model','/metadata']}"),
     "a value has changed: /metadata"},
    {"a text that stays is there", CASE("", "{" FIRST ",'kept_text':['went']}"),
     "a text that stays is gone: went"},
    {"a handle that leads nowhere must be in what is sent",
     CASE("", "{" FIRST ",'unresolved_handles':['wr_00000000000000000001']}"),
     "a handle that leads nowhere was taken out: wr_00000000000000000001"},
    {"where the store is locked nothing is missed",
     CASE("", TWICE(",'required_text':['the gate is shut'],'store':'locked'")), NULL},
};

static void test_success(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct trial t;
        begin(&t, rows[i].text, "smart");
        if (t.status)
            fail_msg("%s: %s", rows[i].behaviour, t.err.text);
        const struct wr_strict_figures *f = &t.report.rows[0].result.ways[WR_STRICT_OPTIMIZED];
        if (f->is_success != !rows[i].failure ||
            (rows[i].failure && !wr_span_is(wr_span_of(f->failure), rows[i].failure)))
            fail_msg("%s: '%s'", rows[i].behaviour, f->failure);
        if (t.report.lines[WR_STRICT_optimized_success_rate_percent] != (rows[i].failure ? 0 : 100))
            fail_msg("%s: the rate", rows[i].behaviour);
        end(&t);
    }
}

/* ---- what a recall costs ---- */

static void test_recovery(void **state)
{
    struct trial t;
    (void)state;
    begin(&t,
          CASE("", "{" FIRST "},{'append':[" PAIR("a") "],'required_text':['build/part_1400.o']},"
                                                       "{'append':[{'role':'assistant','content':'"
                                                       "on'},{'role':'user','content':'do'}],"
                                                       "'required_text':['build/part_1400.o']}"),
          "smart");
    assert_int_equal(t.status, WEIR_OK);
    const struct wr_strict_figures *f = t.report.rows[0].result.ways;
    assert_true(f[WR_STRICT_OPTIMIZED].is_success);
    assert_int_equal(f[WR_STRICT_OPTIMIZED].recoveries, 1); /* what came back stays */
    assert_int_equal(f[WR_STRICT_OPTIMIZED].requests, 4);
    assert_int_equal(f[WR_STRICT_EXACT].requests, 3);
    assert_true(f[WR_STRICT_OPTIMIZED].output_tokens > f[WR_STRICT_EXACT].output_tokens);
    assert_int_equal(t.report.lines[WR_STRICT_optimized_missing_context_recovery_turns], 1);
    end(&t);
}

/* ---- the report ---- */

static void test_report(void **state)
{
    struct trial t;
    struct wr_buf out;
    struct wr_json doc;

    (void)state;
    begin(&t, CASE("", TWICE("")), "smart");
    assert_int_equal(t.status, WEIR_OK);
    assert_false(t.report.is_passed); /* one case covers too little */
    assert_true(t.report.covered & WR_COVER_BIT(WINDOW_16K));
    assert_true(t.report.covered & WR_COVER_BIT(REPEATED_BUILD));
    assert_true(t.report.covered & WR_COVER_BIT(DUPLICATE_CALLS));
    assert_false(t.report.covered & WR_COVER_BIT(CONTINUATION));
    assert_int_equal(t.report.lines[WR_STRICT_eligible_long_sessions], 0);
    wr_buf_init(&out, 1 << 20);
    wr_strict_report_json(&t.report, &out);
    assert_int_equal(wr_json_parse(&doc, &t.arena, wr_buf_view(&out), NULL, NULL), WEIR_OK);
    assert_true(wr_json_is(&doc, wr_json_find(&doc, 0, "passed"), WR_JSON_FALSE));
    assert_true(
        wr_json_text_is(&doc, wr_json_find(&doc, 0, "required_replay_coverage"), "missing"));
    wr_buf_release(&out);
    end(&t);
}

/* The lines are arithmetic over the rows: made-up rows, and what must follow. */
static void test_arithmetic(void **state)
{
    static const uint64_t tokens[][WR_STRICT_WAYS] = {
        {1000, 900, 500}, {1000, 800, 810}, {1000, 1000, 1100}, {2000, 2000, 1000}};
    struct wr_strict_row made[4] = {{.window_tokens = 1}};
    struct wr_strict_report r;

    (void)state;
    wr_strict_report_init(&r, "smart");
    for (int i = 0; i < 4; i++) {
        made[i].result.is_eligible = i < 3;
        for (int way = 0; way < WR_STRICT_WAYS; way++)
            made[i].result.ways[way] = (struct wr_strict_figures){
                .input_tokens = tokens[i][way], .output_tokens = 5, .is_success = i || way < 2};
    }
    made[0].result.ways[WR_STRICT_OPTIMIZED].signals = 200;
    made[0].result.ways[WR_STRICT_OPTIMIZED].signals_kept = 199;
    r.rows = made;
    r.rows_count = 4;
    assert_int_equal(wr_strict_report_finish(&r), WEIR_OK);
    assert_int_equal(r.lines[WR_STRICT_eligible_long_sessions], 3);
    assert_int_equal(r.lines[WR_STRICT_median_input_token_reduction_percent_vs_exact], 19);
    assert_int_equal(r.lines[WR_STRICT_current_median_input_token_reduction_percent_vs_exact], 10);
    assert_int_equal(r.lines[WR_STRICT_median_additional_input_token_reduction_percent_vs_current],
                     -1);
    assert_int_equal(r.lines[WR_STRICT_long_sessions_with_at_least_20_percent_reduction_percent],
                     33);
    assert_int_equal(r.lines[WR_STRICT_optimized_median_total_tokens_until_completion], 815);
    assert_int_equal(r.lines[WR_STRICT_optimized_success_rate_percent], 75);
    assert_int_equal(r.lines[WR_STRICT_success_regression_basis_points], 2500);
    assert_int_equal(r.lines[WR_STRICT_critical_signal_recall_percent], 99);
    assert_false(wr_strict_is_met(&r, WR_STRICT_critical_signal_recall_percent));
    assert_false(r.is_passed);
    wr_strict_report_release(&r);
}

/* ---- what cannot be run ---- */

static void test_bad_cases(void **state)
{
    static const char *const texts[] = {
        "{'scenarios':[{'id':'a','turns':[{'request':{'model':'x'}}]}]}",
        "{'scenarios':[{'id':'a','turns':[{'request':{'model':'x','input':'hi'}},"
        "{'append':[{'role':'user','content':'x'}]}]}]}",
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(texts); i++) {
        struct trial t;
        begin(&t, texts[i], "smart");
        assert_int_equal(t.status, WEIR_INVALID);
        assert_true(wr_span_starts(wr_span_of(t.err.text), WR_LIT("case 'a', turn ")));
        end(&t);
    }
}

static void test_unknown_policy(void **state)
{
    struct wr_strict_runner *runner;
    struct weir_err err = {0};
    (void)state;
    assert_int_equal(wr_strict_runner_new(&runner, "smartest", &err), WEIR_NOTFOUND);
    assert_null(runner);
}

/* ---- scenarios made elsewhere ---- */

static void test_fixture(void **state)
{
    struct wr_buf text;
    (void)state;
    wr_buf_init(&text, 1 << 24);
    if (!wr_test_file("../shared/fixtures/prodex-replay.json", &text)) {
        wr_buf_release(&text);
        skip();
    }
    struct wr_cases cases;
    struct wr_arena arena;
    struct wr_strict_runner *runner;
    struct wr_strict_report report;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_cases_read(&cases, &arena, wr_buf_view(&text), NULL), WEIR_OK);
    assert_int_equal(wr_strict_runner_new(&runner, "smart", NULL), WEIR_OK);
    wr_strict_report_init(&report, "smart");
    assert_int_equal(wr_strict_report_add(&report, runner, &cases, NULL), WEIR_OK);
    for (uint32_t i = 0; i < report.rows_count; i++)
        for (int way = 0; way < WR_STRICT_WAYS; way++)
            if (!report.rows[i].result.ways[way].is_success)
                fail_msg("%.*s: %s", (int)report.rows[i].id.len, report.rows[i].id.ptr,
                         report.rows[i].result.ways[way].failure);
    wr_strict_report_release(&report);
    wr_strict_runner_free(runner);
    wr_arena_release(&arena);
    wr_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_success),   cmocka_unit_test(test_recovery),
        cmocka_unit_test(test_report),    cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_bad_cases), cmocka_unit_test(test_unknown_policy),
        cmocka_unit_test(test_fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
