/* What a policy showed of each result, and what answers used of it and did not find. */
#include "lab/misses.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "base/span.h"
#include "lab/simulate.h"
#include "lab/test_play.h"

static const char yaml[] = "policies: {short: {stages: [{stage: cap, max_tokens: 100}]}}";
static const char *const names[] = {"exact", "short", "head-tail"};
enum { EXACT, SHORT, HEAD_TAIL, LANES };

static const struct {
    const char *behaviour;
    struct test_play play;
    uint32_t results;
    /* of the first result, which alone holds the needle */
    uint32_t next, later, far;
    uint32_t next_missing, later_missing; /* where it is cut without a way back */
} cases[] = {
    {"an item that the next answer uses is missed at first sight",
     {.lines = 400, .quotes = true},
     2,
     1,
     0,
     0,
     1,
     0},
    {"an item that a later answer uses is missed later",
     {.lines = 400, .more = 2, .quotes_again = true},
     4,
     0,
     1,
     0,
     0,
     1},
    {"ten turns later is not far",
     {.lines = 400, .more = 9, .quotes_again = true},
     11,
     0,
     1,
     0,
     0,
     1},
    {"more than ten turns later is",
     {.lines = 400, .more = 10, .quotes_again = true},
     12,
     0,
     1,
     1,
     0,
     1},
    {"what the model has said itself since does not count",
     {.lines = 400, .quotes = true, .more = 12, .quotes_again = true},
     14,
     1,
     0,
     0,
     1,
     0},
    {"what nobody uses misses nothing", {.lines = 400}, 2, 0, 0, 0, 0, 0},
    {"what is shown whole misses nothing", {.lines = 2, .quotes = true}, 2, 1, 0, 0, 0, 0},
    {"a result that is there again after the host compacted has one row",
     {.lines = 400, .more = 3, .quotes_again = true, .is_compacted = true},
     4,
     1,
     0,
     0,
     1,
     0},
};

static struct wr_simulator *run(struct test_played *played, const struct test_play *play)
{
    static struct wr_simulated out;
    struct wr_simulate_options options = {.policies = names,
                                          .policies_count = LANES,
                                          .model = "claude-sonnet-4-5",
                                          .window_tokens = 200000,
                                          .with_misses = true,
                                          .policies_yaml = wr_span_of(yaml)};
    struct wr_simulator *simulator;
    struct test_play whole = *play;
    struct wr_session_compaction kept = {.at = 0};
    whole.is_compacted = false;
    test_play_open(played, &whole);
    if (play->is_compacted) { /* to the first call and its result */
        kept.at = played->session.messages_count - 1;
        kept.kept = played->session.messages;
        kept.kept_count = 3;
        played->session.compactions = &kept;
        played->session.compactions_count = 1;
    }
    assert_int_equal(wr_simulator_new(&simulator, &options, NULL), WEIR_OK);
    assert_int_equal(wr_simulate_session(simulator, &played->session, &out), WEIR_OK);
    return simulator;
}

static void check_case(size_t i, const struct wr_misses *m)
{
    const struct wr_miss_result *r = &m->results[0];
    const struct wr_miss *missed = m->missed;
    assert_int_equal(m->results_count, cases[i].results);
    assert_int_equal(r->turn, 2);
    assert_int_equal(r->next_count, cases[i].next);
    assert_int_equal(r->later_count, cases[i].later);
    assert_int_equal(r->far_count, cases[i].far);
    assert_int_equal(missed[EXACT].next_missing + missed[EXACT].later_missing, 0);
    assert_int_equal(missed[EXACT].shown_tokens, r->tokens);
    assert_int_equal(missed[HEAD_TAIL].next_missing, cases[i].next_missing);
    assert_int_equal(missed[HEAD_TAIL].later_missing, cases[i].later_missing);
    assert_int_equal(missed[SHORT].next_missing, cases[i].next_missing);
    assert_int_equal(missed[SHORT].later_missing, cases[i].later_missing);
    assert_true(missed[SHORT].shown_tokens > 0);
    assert_int_equal(missed[SHORT].shown_tokens<r->tokens, cases[i].play.lines> 100);
}

static void what_was_used_is_counted_where_it_came_from(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct test_played played;
        print_message("%s\n", cases[i].behaviour);
        struct wr_simulator *simulator = run(&played, &cases[i].play);
        check_case(i, wr_simulator_misses(simulator));
        wr_simulator_free(simulator);
        test_play_close(&played);
    }
}

static uint32_t count_lines(weir_span text)
{
    uint32_t count = 0;
    weir_span line;
    while (wr_span_line(&text, &line))
        count++;
    return count;
}

static void every_result_and_policy_has_its_row(void **state)
{
    static const struct test_play play = {.lines = 400, .quotes = true};
    struct wr_misses_of of = {"a,b.jsonl", 3, WR_LIT("=agent"), names, LANES};
    struct test_played played;
    struct wr_buf out;
    char row[200];
    (void)state;
    struct wr_simulator *simulator = run(&played, &play);
    const struct wr_misses *m = wr_simulator_misses(simulator);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_misses_csv_head(&out);
    wr_misses_csv_rows(m, &of, &out);
    (void)snprintf(row, sizeof(row),
                   "\r\n\"a,b.jsonl\",3,\"'=agent\",short,process,run,Bash,0,2,%llu,%llu,1,1,0,0,0,"
                   "process,0"
                   "\r\n",
                   (unsigned long long)m->results[0].tokens,
                   (unsigned long long)m->missed[SHORT].shown_tokens);
    assert_int_equal(count_lines(wr_buf_view(&out)), 1 + 2 * LANES);
    if (wr_span_find(wr_buf_view(&out), wr_span_of(row), 0) == SIZE_MAX)
        fail_msg("%s is not in\n%.*s", row, (int)out.len, out.bytes);
    assert_true(wr_span_find(wr_buf_view(&out), WR_LIT("sluice"), 0) == SIZE_MAX);
    wr_buf_release(&out);
    wr_simulator_free(simulator);
    test_play_close(&played);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_used_is_counted_where_it_came_from),
        cmocka_unit_test(every_result_and_policy_has_its_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
