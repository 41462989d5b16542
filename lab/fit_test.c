/* The arithmetic of the fit, by hand: what is counted, what leans where, what is left out. */
#include "lab/fit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "lab/simulate_folds.h"
#include "policy/policy.h"

enum { READS = 10 };

/* Ten reads of 600 tokens, of which three missed something at 220 and one at 500; one more later,
 * and a line each time; the last two are used again long after. */
static void fill(struct wr_misses *m, struct wr_miss_result *results, struct wr_miss *missed)
{
    memset(missed, 0, sizeof(*missed) * (READS + 2) * WR_ODDS_CUTS_COUNT);
    for (uint32_t i = 0; i < READS; i++) {
        results[i] = (struct wr_miss_result){
            .class = WR_ODDS_FILE, .tokens = 600, .far_count = i >= READS - 2};
        struct wr_miss *at = &missed[i * WR_ODDS_CUTS_COUNT];
        at[0].next_missing = i < 3 ? 7 : 0;
        at[1].next_missing = i < 1;
        at[0].later_missing = i == 8;
        at[0].lines_missing = i == 8;
    }
    results[READS] = (struct wr_miss_result){.class = WR_ODDS_TEST, .tokens = 300};
    results[READS + 1] =
        (struct wr_miss_result){.class = WR_ODDS_FILE, .tokens = 900, .effect = WR_EFFECT_RECALL};
    *m = (struct wr_misses){.results = results,
                            .missed = missed,
                            .results_count = READS + 2,
                            .lanes_count = WR_ODDS_CUTS_COUNT};
}

static const struct wr_odds_row *row_of(const struct wr_odds *odds, enum wr_odds_class class)
{
    return wr_odds_find(odds, class, 600);
}

static void shares_lean_towards_those_of_their_size(void **state)
{
    struct wr_miss_result results[READS + 2];
    struct wr_miss missed[(READS + 2) * WR_ODDS_CUTS_COUNT];
    struct wr_misses misses;
    struct wr_odds odds = {.turns_left = 40};
    struct wr_fit fit = {0};
    struct wr_buf out;
    (void)state;
    fill(&misses, results, missed);
    assert_int_equal(wr_fit_add(&fit, &misses, 0), WEIR_OK);
    assert_int_equal(fit.count, READS); /* neither what was not cut nor what was recalled */
    wr_fit_odds(&fit, WR_FIT_NO_GROUP, &odds);
    assert_int_equal(odds.turns_left, 40);
    for (int i = 0; i < 2; i++) { /* a class of which nothing was seen is like all of its size */
        const struct wr_odds_row *row = row_of(&odds, i ? WR_ODDS_TEST : WR_ODDS_FILE);
        assert_int_equal(row->next_pct[0], 30);
        assert_int_equal(row->next_pct[1], 10);
        assert_int_equal(row->next_pct[2], 0); /* a cut to 1000 leaves 600 whole */
        assert_int_equal(row->ever_pct[0], 40);
        assert_int_equal(row->far_pct, 20);
        assert_int_equal(row->lack_pct[0], 150); /* five of one result at most */
        assert_int_equal(row->blind_pct[0], 10);
    }
    assert_int_equal(wr_odds_find(&odds, WR_ODDS_FILE, 1500)->next_pct[0], 0);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_buf_text(&out, "# version\t1\n# turns_left\t40\n# turns_left_min\t6\n# recall_tokens\t1\n"
                      "# call_tokens\t1\n# prompt_tokens\t1\n");
    wr_fit_write(&odds, &out);
    struct wr_odds again;
    assert_int_equal(wr_odds_read(&again, wr_buf_view(&out), NULL), WEIR_OK);
    assert_int_equal(again.rows_count, odds.rows_count);
    assert_memory_equal(again.rows, odds.rows, sizeof(odds.rows[0]) * odds.rows_count);
    wr_buf_release(&out);
    wr_fit_release(&fit);
}

static void a_group_is_left_out(void **state)
{
    struct wr_miss_result results[READS + 2];
    struct wr_miss missed[(READS + 2) * WR_ODDS_CUTS_COUNT];
    struct wr_misses misses;
    struct wr_odds odds = {0};
    struct wr_fit fit = {0};
    (void)state;
    fill(&misses, results, missed);
    assert_int_equal(wr_fit_add(&fit, &misses, 0), WEIR_OK);
    memset(missed, 0, sizeof(missed));
    assert_int_equal(wr_fit_add(&fit, &misses, 1), WEIR_OK);
    wr_fit_odds(&fit, 0, &odds);
    assert_int_equal(row_of(&odds, WR_ODDS_FILE)->next_pct[0], 0);
    wr_fit_odds(&fit, 1, &odds);
    assert_int_equal(row_of(&odds, WR_ODDS_FILE)->next_pct[0], 30);
    wr_fit_odds(&fit, WR_FIT_NO_GROUP, &odds);
    assert_int_equal(row_of(&odds, WR_ODDS_FILE)->next_pct[0], 15);
    wr_fit_release(&fit);
}

static void the_cuts_are_policies(void **state)
{
    struct wr_policies *policies;
    uint32_t count;
    const char *const *names = wr_fit_policies(&count);
    (void)state;
    assert_int_equal(wr_policies_new(&policies, wr_fit_yaml(), NULL), WEIR_OK);
    assert_int_equal(count, WR_ODDS_CUTS_COUNT);
    for (uint32_t i = 0; i < count; i++)
        assert_non_null(wr_policies_find(policies, wr_span_of(names[i])));
    wr_policies_free(policies);
}

static void a_log_belongs_to_the_folder_it_was_made_in(void **state)
{
    struct wr_repositories r = {0};
    (void)state;
    assert_int_equal(wr_repositories_of(&r, WR_LIT("/home/a/gate"), "x/cc-gate-01.jsonl"), 0);
    assert_int_equal(wr_repositories_of(&r, WR_LIT("/home/a/gate/"), "x/codex-gate-2.jsonl"), 0);
    assert_int_equal(wr_repositories_of(&r, WR_LIT("/b/gate/.worktrees/fix-1"), "c-1.json"), 0);
    assert_int_equal(wr_repositories_of(&r, WR_LIT("/c/gate__worktrees/two"), "c-2.json"), 0);
    assert_int_equal(wr_repositories_of(&r, WR_LIT(""), "x/cc-sill-01.jsonl.gz"), 1);
    assert_int_equal(wr_repositories_of(&r, WR_LIT(""), "y/cc-sill-02.jsonl"), 1);
    assert_int_equal(wr_repositories_of(&r, WR_LIT(""), "cc-weir.json"), 2);
    assert_string_equal(r.names[1], "cc-sill");
    wr_repositories_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_lean_towards_those_of_their_size),
        cmocka_unit_test(a_group_is_left_out),
        cmocka_unit_test(the_cuts_are_policies),
        cmocka_unit_test(a_log_belongs_to_the_folder_it_was_made_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
