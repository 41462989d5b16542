/* The page and the rows of a simulation whose figures are set by hand. */
#include "lab/simulate_html.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "lab/simulate_csv.h"
#include "lab/test_play.h"

static const char *const names[] = {"exact", "auto", "head-tail"};
enum { NAMES = 3 };

static struct wr_simulate_options options(void)
{
    return (struct wr_simulate_options){.policies = names,
                                        .policies_count = NAMES,
                                        .model = "claude-sonnet-5-5",
                                        .window_tokens = 200000};
}

/* Raw costs 4 dollars and the floor 2; `auto` costs 3, or 5 where it is `dear`. */
static void add(struct wr_simulate_report *report, const char *agent, const char *path, bool dear)
{
    static struct wr_simulated s;
    struct wr_session session = {.agent = wr_span_of(agent)};
    memset(&s, 0, sizeof(s));
    s.floor_micro_usd = 2000000;
    s.requests_count = s.points_count = 2;
    for (int i = 0; i < NAMES; i++) {
        struct wr_lane_result *r = &s.lanes[i];
        r->is_cost_known = true;
        r->requests = 2;
        r->cost_micro_usd = i == 0 ? 4000000 : i == 1 ? (dear ? 5000000 : 3000000) : 3500000;
        r->prompt_tokens = 1000;
        r->read_tokens = 600;
        r->written_tokens = 300;
        r->evidence.all[WR_EVIDENCE_SUPPORTED] = 9;
        r->evidence.all[i == 2 ? WR_EVIDENCE_LOST : WR_EVIDENCE_RECALLABLE] = i ? 1 : 0;
        r->evidence.first_sight[WR_EVIDENCE_SUPPORTED] = 3;
        r->evidence.first_sight[WR_EVIDENCE_RECALLABLE] = i == 1;
        s.points[i][0] = 200;
        s.points[i][1] = 800;
    }
    assert_int_equal(wr_simulate_report_add(report, &session, path, &s), WEIR_OK);
}

struct made {
    struct wr_simulate_set set;
    struct wr_buf out;
};

static void make(struct made *m)
{
    struct wr_simulate_options o = options();
    *m = (struct made){.set.count = 1};
    assert_int_equal(wr_simulate_report_new(&m->set.reports[0], &o), WEIR_OK);
    add(m->set.reports[0], "pi", "b,\"1\".json", false);
    add(m->set.reports[0], "=codex<i>", "a<script>&'.json", true);
    wr_buf_init(&m->out, WR_OUTPUT_BYTES_MAX);
}

static void release(struct made *m)
{
    for (uint32_t i = 0; i < m->set.count; i++)
        wr_simulate_report_free(m->set.reports[i]);
    wr_buf_release(&m->out);
}

static uint32_t count_of(const struct wr_buf *text, const char *words)
{
    uint32_t count = 0;
    size_t at = 0;
    while ((at = wr_span_find(wr_buf_view(text), wr_span_of(words), at)) != SIZE_MAX) {
        count++;
        at++;
    }
    return count;
}

static void expect(const struct made *m, const char *behaviour, const char *words, uint32_t count)
{
    if (count_of(&m->out, words) != count)
        fail_msg("%s: \"%s\" %u times", behaviour, words, count_of(&m->out, words));
}

/* ---- the page ---- */

static void the_page_says_costs_and_losses(void **state)
{
    struct made m;
    (void)state;
    make(&m);
    wr_simulate_html(&m.set, &m.out);
    assert_int_equal(wr_buf_status(&m.out), WEIR_OK);
    expect(&m, "what auto costs", "{\"policy\":\"auto\",\"cost_usd\":8,", 1);
    expect(&m, "what head-tail lost is said", "\"lost\":2", 1);
    expect(&m, "what is not ours is named", "\"others\":[\"exact\",\"head-tail\"]", 1);
    expect(&m, "worst session of auto",
           "{\"policy\":\"auto\",\"ratio\":1.250000,\"path\":\"a\\u003cscript>&'.json\"}", 1);
    expect(&m, "a life a policy", "\"points\":[200,800]", NAMES);
    expect(&m, "with its requests", "\"requests\":2,\"policies\":[", 1);
    expect(&m, "logs without times are counted", "\"sessions_without_times\":2", 1);
    expect(&m, "a name is no markup", "a<script", 0);
    expect(&m, "nor is an agent's", "=codex\\u003ci>", NAMES);
    expect(&m, "no models side by side for one", "\"by_model\"", 0);
    release(&m);
}

static void several_models_stand_side_by_side(void **state)
{
    struct wr_simulate_options o = options();
    struct made m;
    (void)state;
    make(&m);
    o.model = "gpt-5.5";
    assert_int_equal(wr_simulate_report_new(&m.set.reports[m.set.count++], &o), WEIR_OK);
    add(m.set.reports[1], "pi", "b.json", true);
    wr_simulate_html(&m.set, &m.out);
    expect(&m, "both models", "\"by_model\":[", 1);
    expect(&m, "with the second's costs",
           "{\"policy\":\"auto\",\"cost_usd\":5.000000,\"cost_ratio_to_exact\":1.250000,"
           "\"floor_multiple\":2.500000,",
           1);
    wr_buf_reset(&m.out);
    wr_simulate_models_table(&m.set, &m.out);
    expect(&m, "the same as text", "     5.00  125.0%    2.50x\n", 1);
    wr_buf_reset(&m.out);
    wr_simulate_models_json(&m.set, &m.out);
    expect(&m, "and for programs", "\"by_model\":[", 1);
    expect(&m, "each by its name", "{\"model\":\"gpt-5.5\"", 1);
    release(&m);
}

static void a_page_without_raw_has_no_ratios(void **state)
{
    static const char *const only[] = {"auto"};
    struct wr_simulate_options o = options();
    struct made m = {.set.count = 1};
    (void)state;
    o.policies = only;
    o.policies_count = 1;
    wr_buf_init(&m.out, WR_OUTPUT_BYTES_MAX);
    assert_int_equal(wr_simulate_report_new(&m.set.reports[0], &o), WEIR_OK);
    wr_simulate_html(&m.set, &m.out); /* nor any session */
    add(m.set.reports[0], "pi", "b.json", false);
    wr_buf_reset(&m.out);
    wr_simulate_html(&m.set, &m.out);
    expect(&m, "no ratio", "\"cost_ratio_to_exact\":", 0);
    expect(&m, "no comparison of sessions", "\"worst\":[]", 1);
    release(&m);
}

/* ---- rows ---- */

static void rows_are_sorted_and_quoted(void **state)
{
    struct made m;
    (void)state;
    make(&m);
    wr_simulate_csv_head(&m.out);
    wr_simulate_csv_rows(m.set.reports[0], &m.out);
    expect(&m, "a head and a row a session and policy", "\r\n", 1 + 2 * NAMES);
    expect(&m, "commas and quotes are quoted",
           ",\"b,\"\"1\"\".json\",0,0,auto,2,3.000000,0.750000,", 1);
    expect(&m, "no text is a formula", ",\"'=codex<i>\",a<script>&'.json,", NAMES);
    expect(&m, "floor, its multiple, tokens, first sight, lost, recalls, steps",
           "2.000000,1.500000,1000,0.750000,0,0,0,0,0,0\r\n", 1);
    if (wr_span_find(wr_buf_view(&m.out), WR_LIT("a<script>"), 0) >
        wr_span_find(wr_buf_view(&m.out), WR_LIT("b,"), 0))
        fail_msg("rows are not sorted by path");
    release(&m);
}

static void the_table_says_what_goes_below_the_floor(void **state)
{
    struct made m;
    (void)state;
    make(&m);
    m.set.reports[0]->rows[0].cells[1].cost_micro_usd = 1000000;
    wr_simulate_report_table(m.set.reports[0], UINT32_MAX, &m.out);
    expect(&m, "policy, how often, how far and where",
           "below the floor: auto in 1 session, lowest 0.500x in b,\"1\".json (1)\n", 1);
    expect(&m, "and no other", "below the floor", 1);
    expect(&m, "a median for each agent", "5.00  125.0%  125.0%  2.50x", 1);
    release(&m);
}

/* ---- a session's life ---- */

static void points_are_the_prompts(void **state)
{
    static const struct test_play play = {.lines = 300, .quotes = true, .more = 3};
    static struct wr_simulated s;
    struct wr_simulate_options o = options();
    struct wr_simulator *simulator;
    struct test_played played;
    uint64_t sum = 0;
    (void)state;
    test_play_open(&played, &play);
    assert_int_equal(wr_simulator_new(&simulator, &o, NULL), WEIR_OK);
    assert_int_equal(wr_simulate_session(simulator, &played.session, &s), WEIR_OK);
    assert_int_equal(s.points_count, s.requests_count);
    for (uint32_t i = 0; i < s.points_count; i++) {
        assert_true(!i || s.points[0][i] > s.points[0][i - 1]);
        sum += s.points[0][i];
    }
    assert_int_equal(sum, s.lanes[0].prompt_tokens);
    wr_simulator_free(simulator);
    test_play_close(&played);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_page_says_costs_and_losses),
                                       cmocka_unit_test(several_models_stand_side_by_side),
                                       cmocka_unit_test(a_page_without_raw_has_no_ratios),
                                       cmocka_unit_test(rows_are_sorted_and_quoted),
                                       cmocka_unit_test(the_table_says_what_goes_below_the_floor),
                                       cmocka_unit_test(points_are_the_prompts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
