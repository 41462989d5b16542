/* The sentence and the small table of a simulation whose figures are set by hand. */
#include "lab/simulate_answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "lab/test_play.h"

#define DAY_MS (24 * 60 * 60 * 1000LL)

/* Raw costs 4 dollars, every other policy 3. */
static void add_session(struct wr_simulate_report *report, int64_t first_ms, int64_t last_ms,
                        uint64_t lost)
{
    static struct wr_simulated s;
    struct wr_session session = {.agent = WR_LIT("codex")};

    memset(&s, 0, sizeof(s));
    s.requests_count = s.points_count = 1;
    s.first_ms = first_ms;
    s.last_ms = last_ms;
    s.is_repriced = lost > 0;
    for (uint32_t i = 0; i < report->options.policies_count; i++) {
        struct wr_lane_result *r = &s.lanes[i];
        r->is_cost_known = true;
        r->cost_micro_usd = i ? 3000000 : 4000000;
        r->recalls = i ? 1 : 0;
        r->steps = i ? 2 : 0;
        r->steps_micro_usd = i ? 100000 : 0;
        r->evidence.all[WR_EVIDENCE_SUPPORTED] = 9;
        r->evidence.all[WR_EVIDENCE_LOST] = i ? lost : 0;
        r->evidence.first_sight[WR_EVIDENCE_SUPPORTED] = 3;
    }
    assert_int_equal(wr_simulate_report_add(report, &session, "a.jsonl", &s), WEIR_OK);
}

static struct wr_simulate_report *new_report(void)
{
    struct wr_simulate_options options = {.fallback_model = "some-model"};
    struct wr_simulate_report *report;

    options.policies = wr_simulate_answer_policies(&options.policies_count);
    assert_int_equal(wr_simulate_report_new(&report, &options), WEIR_OK);
    return report;
}

static void has(const struct wr_buf *out, const char *what, bool is_wanted)
{
    weir_span text = {out->bytes, out->len};
    if ((wr_span_find(text, wr_span_of(what), 0) != SIZE_MAX) != is_wanted)
        fail_msg("'%s' is %s in: %.*s", what, is_wanted ? "not" : "", (int)text.len, text.ptr);
}

static void the_sentence_says_what_was_paid_and_kept(void **state)
{
    struct wr_simulate_report *report = new_report();
    struct wr_habits habits = {.sent = {[WR_EFFECT_READ] = 300, [WR_EFFECT_RUN] = 100},
                               .unused = {[WR_EFFECT_READ] = 150}};
    struct wr_buf out;
    (void)state;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    add_session(report, 5 * DAY_MS, 6 * DAY_MS, 0);
    add_session(report, DAY_MS, 2 * DAY_MS, 0);
    wr_simulate_answer(report, &habits, true, 400, &out);
    has(&out,
        "Your 2 sessions of 5 days: $8.00 as they were, $6.00 with auto; nothing lost, 2 recalls. "
        "Your dearest habit: files that were read, 75 % of all that tools returned; 50 % of "
        "that was never used.\n",
        true);
    has(&out,
        "auto (default)         $6.00     25 %     100.0 %     100.0 %        2     0       4"
        "     $0.2000\n",
        true);
    wr_buf_reset(&out);
    wr_simulate_answer(report, &habits, true, 80, &out);
    has(&out, "auto (default)         $6.00     25 %     100.0 %     100.0 %        2     0\n",
        true);
    has(&out, "as some-model", false);
    wr_buf_release(&out);
    wr_simulate_report_free(report);
}

static void what_was_lost_or_is_not_known_is_said_so(void **state)
{
    struct wr_simulate_report *report = new_report();
    struct wr_habits habits = {.sent = {0}};
    struct wr_buf out;
    (void)state;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    add_session(report, INT64_MAX, INT64_MIN, 7);
    wr_simulate_answer(report, &habits, false, 400, &out);
    has(&out, "This session: $4.00 as it was, $3.00 with auto; 7 pieces lost, 1 recall.\n", true);
    has(&out, "habit", false);
    has(&out, "1 of them names no model whose price is known: as some-model.", true);
    wr_buf_release(&out);
    wr_simulate_report_free(report);
}

static void no_line_is_wider_than_it_may_be(void **state)
{
    static const uint32_t widths[] = {40, 60, 80, 120, 200};
    struct wr_simulate_report *report = new_report();
    struct wr_habits habits = {.sent = {[WR_EFFECT_READ] = 300}};
    (void)state;

    add_session(report, DAY_MS, 9 * DAY_MS, 0);
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        struct wr_buf out;
        size_t column = 0;
        wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
        wr_simulate_answer(report, &habits, true, widths[i], &out);
        for (size_t at = 0; at < out.len; at++) {
            column = out.bytes[at] == '\n' ? 0 : column + 1;
            assert_true(column <= (widths[i] < 52 ? 52 : widths[i]));
        }
        wr_buf_release(&out);
    }
    wr_simulate_report_free(report);
}

static void a_result_weighs_as_often_as_it_was_sent(void **state)
{
    struct wr_miss_result results[] = {
        {.effect = WR_EFFECT_READ, .turn = 1, .tokens = 10, .later_count = 1},
        {.effect = WR_EFFECT_READ, .turn = 4, .tokens = 100},
        {.effect = WR_EFFECT_RUN, .turn = 9, .tokens = 1000},
    };
    struct wr_misses misses = {.results = results, .results_count = 3};
    struct wr_habits habits = {.sent = {0}};
    (void)state;

    wr_habits_add(&habits, &misses, 4);
    assert_int_equal(habits.sent[WR_EFFECT_READ], 10 * 4 + 100);
    assert_int_equal(habits.unused[WR_EFFECT_READ], 100);
    assert_int_equal(habits.sent[WR_EFFECT_RUN], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sentence_says_what_was_paid_and_kept),
        cmocka_unit_test(what_was_lost_or_is_not_known_is_said_so),
        cmocka_unit_test(no_line_is_wider_than_it_may_be),
        cmocka_unit_test(a_result_weighs_as_often_as_it_was_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
