/* The arithmetic of a saving and of a step, done by hand. Prices are in hundredths of plain input:
 * a write of 125 and a read of 10 are 1.25 and 0.1. */
#include "policy/worth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"

/* Exactly so many turns are left, in whatever turn it is asked. */
static struct wr_odds odds_of(uint32_t turns_left)
{
    return (struct wr_odds){.turns_left = turns_left,
                            .turns_left_min = turns_left,
                            .recall_tokens = 600,
                            .call_tokens = 80,
                            .prompt_tokens = 60000};
}

struct told {
    struct wr_odds odds;
    struct wr_fold_input input;
    struct wr_fold fold;
};

static const struct wr_fold *tell(struct told *told, uint32_t turns_left,
                                  struct wr_fold_prices prices)
{
    told->odds = odds_of(turns_left);
    told->input = (struct wr_fold_input){.odds = &told->odds, .prices = prices};
    told->fold = (struct wr_fold){.input = &told->input};
    return &told->fold;
}

/* ---- prices ---- */

static void prices_that_are_not_known_are_those_of_most(void **state)
{
    static const struct {
        const char *behaviour;
        struct wr_fold_prices given, used;
    } cases[] = {
        {"nothing is known", {0, 0, 0, 0}, {125, 10, 500, 0}},
        {"all is known", {100, 50, 400, 7}, {100, 50, 400, 7}},
        {"no price for output", {100, 50, 0, 0}, {100, 50, 500, 0}},
        {"no price for a read", {100, 0, 400, 0}, {125, 10, 400, 0}},
        {"no price for a write", {0, 10, 400, 0}, {125, 10, 400, 0}},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct told told;
        struct wr_fold_prices p = wr_worth_prices(tell(&told, 1, cases[i].given));
        if (p.write_pct != cases[i].used.write_pct || p.read_pct != cases[i].used.read_pct ||
            p.output_pct != cases[i].used.output_pct || p.tier_tokens != cases[i].used.tier_tokens)
            fail_msg("%s: %u %u %u", cases[i].behaviour, p.write_pct, p.read_pct, p.output_pct);
    }
}

/* ---- how long it will go on ---- */

static void as_many_turns_are_left_as_there_were(void **state)
{
    static const struct {
        const char *behaviour;
        uint32_t turn, left;
    } cases[] = {
        {"the first request", 0, 6},
        {"before the least", 5, 6},
        {"at the least", 6, 6},
        {"one later, one more", 7, 7},
        {"in the midst", 25, 25},
        {"at the most", 40, 40},
        {"beyond it no more", 41, 40},
        {"a long session", 5000, 40},
        {"as long as can be", UINT32_MAX, 40},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct told told;
        (void)tell(&told, 40, (struct wr_fold_prices){0});
        told.odds.turns_left_min = 6;
        told.fold.turn = cases[i].turn;
        if (wr_worth_turns_left(&told.fold) != cases[i].left)
            fail_msg("%s: %u turns are left", cases[i].behaviour, wr_worth_turns_left(&told.fold));
    }
}

/* ---- on arrival ---- */

static void leaving_out_saves_a_write_and_all_reads(void **state)
{
    struct told told;
    (void)state;
    /* 1000 * (1.25 + 0.1 * 40) = 5250 tokens */
    assert_int_equal(
        wr_worth_saves(tell(&told, 40, (struct wr_fold_prices){125, 10, 500, 0}), 1000), 525000);
    /* 1000 * (1.25 + 0.05 * 40) = 3250 */
    assert_int_equal(wr_worth_saves(tell(&told, 40, (struct wr_fold_prices){125, 5, 500, 0}), 1000),
                     325000);
    /* in the last turn only the write is left: 1000 * 1.25 */
    assert_int_equal(wr_worth_saves(tell(&told, 0, (struct wr_fold_prices){125, 10, 500, 0}), 1000),
                     125000);
    assert_int_equal(wr_worth_saves(tell(&told, 40, (struct wr_fold_prices){0}), 0), 0);
}

static void a_recall_reads_everything_once_more(void **state)
{
    struct told told;
    (void)state;
    /* 60000 * 0.1 + 600 * (1.25 + 0.1 * 40) + 80 * 5 = 6000 + 3150 + 400 = 9550 tokens */
    assert_int_equal(wr_worth_recall(tell(&told, 40, (struct wr_fold_prices){125, 10, 500, 0})),
                     955000);
    /* 60000 * 0.05 + 600 * (1.25 + 0.05 * 40) + 80 * 5 = 3000 + 1950 + 400 = 5350 */
    assert_int_equal(wr_worth_recall(tell(&told, 40, (struct wr_fold_prices){125, 5, 500, 0})),
                     535000);
    /* where nothing is cached: 60000 + 600 * 41 + 80 * 4 = 84920 */
    assert_int_equal(wr_worth_recall(tell(&told, 40, (struct wr_fold_prices){100, 100, 400, 0})),
                     8492000);
}

/* ---- a step in a live cache ---- */

/* It pays iff N > (w - r) / r * S / D. At S = D that is 11.5, 24, 49, 19 and 39 turns. */
static const struct {
    const char *behaviour;
    uint32_t write_pct, read_pct;
    uint64_t gain, suffix;
    uint32_t turns_least; /* the least that pays */
} steps[] = {
    {"w 1.25, r 0.1: more than 11.5, so 12", 125, 10, 5000, 5000, 12},
    {"w 1.25, r 0.05: more than 24", 125, 5, 5000, 5000, 25},
    {"w 1, r 0.02: more than 49", 100, 2, 5000, 5000, 50},
    {"an hour, w 2, r 0.1: more than 19", 200, 10, 5000, 5000, 20},
    {"an hour, w 2, r 0.05: more than 39", 200, 5, 5000, 5000, 40},
    {"twice as much behind it takes twice as long: 23", 125, 10, 5000, 10000, 24},
    {"a tenth behind it: 1.15", 125, 10, 5000, 500, 2},
    {"nothing behind it pays at once", 125, 10, 5000, 0, 1},
    {"a write that is no dearer than a read costs nothing", 100, 100, 5000, 5000, 1},
};

static void a_step_pays_after_so_many_turns(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(steps); i++)
        for (uint32_t turns = 0; turns < 60; turns++) {
            struct told told;
            const struct wr_fold *fold =
                tell(&told, turns,
                     (struct wr_fold_prices){steps[i].write_pct, steps[i].read_pct, 500, 0});
            bool pays = wr_worth_step(fold, steps[i].gain, steps[i].suffix, 100) > 0;
            if (pays != (turns >= steps[i].turns_least))
                fail_msg("%s: at %u turns it %s", steps[i].behaviour, turns,
                         pays ? "pays" : "does not pay");
        }
}

static void a_margin_asks_for_that_much_more(void **state)
{
    static const struct {
        uint64_t margin_pct;
        uint32_t turns_least;
    } cases[] = {{50, 6}, {100, 12}, {150, 18}, {200, 24}, {250, 29}, {0, 1}};
    /* 11.5 turns times the margin: 5.75, 11.5, 17.25, 23, 28.75, 0 */
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        for (uint32_t turns = 0; turns < 40; turns++) {
            struct told told;
            const struct wr_fold *fold =
                tell(&told, turns, (struct wr_fold_prices){125, 10, 500, 0});
            assert_int_equal(wr_worth_step(fold, 5000, 5000, cases[i].margin_pct) > 0,
                             turns >= cases[i].turns_least);
        }
}

/* gain * r * N - rest * (w - r) * margin, in hundredths of a token. */
static void a_step_brings_its_reads_less_what_is_written_again(void **state)
{
    static const struct {
        uint32_t turns, write_pct, read_pct;
        uint64_t gain, suffix, margin_pct;
        int64_t net;
    } cases[] = {
        {40, 125, 10, 5000, 5000, 100, 2000000 - 575000},
        {40, 125, 10, 5000, 5000, 150, 2000000 - 862500},
        {6, 125, 10, 5000, 5000, 100, 300000 - 575000},
        {6, 125, 10, 5000, 50000, 150, 300000 - 8625000},
        {40, 100, 2, 5000, 10000, 100, 400000 - 980000},
        {40, 125, 10, 5000, 5000, 0, 2000000},
        {40, 50, 100, 5000, 5000, 100, 20000000}, /* writing is the cheaper of the two */
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct told told;
        const struct wr_fold *fold =
            tell(&told, cases[i].turns,
                 (struct wr_fold_prices){cases[i].write_pct, cases[i].read_pct, 500, 0});
        int64_t net = wr_worth_step(fold, cases[i].gain, cases[i].suffix, cases[i].margin_pct);
        if (net != cases[i].net)
            fail_msg("row %zu: %lld, not %lld", i, (long long)net, (long long)cases[i].net);
    }
}

static void nothing_to_gain_never_pays(void **state)
{
    struct told told;
    (void)state;
    const struct wr_fold *fold = tell(&told, 1000, (struct wr_fold_prices){0});
    assert_true(wr_worth_step(fold, 0, 0, 100) == 0);
    assert_true(wr_worth_step(fold, 0, 5000, 0) == 0);
    assert_true(wr_worth_step(fold, 0, 5000, 100) == -575000);
}

/* The sum: reading it from now on, against 48 % of a recall of it. */
static void what_was_recalled_leaves_where_reading_it_is_dearer(void **state)
{
    static const struct {
        const char *behaviour;
        struct wr_fold_prices prices;
        uint32_t turns;
        uint64_t tokens;
        bool leaves;
    } cases[] = {
        {"a small text stays", {125, 10, 500, 0}, 40, 500, false},
        {"a large one early in a session stays", {125, 10, 500, 0}, 6, 8000, false},
        {"late it leaves", {125, 10, 500, 0}, 40, 8000, true},
        {"where reading is dear, a small one too", {100, 50, 400, 0}, 20, 3200, true},
        {"but not a smaller one", {100, 50, 400, 0}, 20, 3000, false},
        {"prices that are not known are those of most", {0, 0, 0, 0}, 40, 8000, true},
    };
    static const struct wr_odds odds = {
        .turns_left = 40, .turns_left_min = 6, .prompt_tokens = 60000, .call_tokens = 80};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        if (wr_worth_exchange_leaves(&cases[i].prices, &odds, cases[i].turns, cases[i].tokens) !=
            cases[i].leaves)
            fail_msg("%s", cases[i].behaviour);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prices_that_are_not_known_are_those_of_most),
        cmocka_unit_test(as_many_turns_are_left_as_there_were),
        cmocka_unit_test(leaving_out_saves_a_write_and_all_reads),
        cmocka_unit_test(a_recall_reads_everything_once_more),
        cmocka_unit_test(a_step_pays_after_so_many_turns),
        cmocka_unit_test(a_margin_asks_for_that_much_more),
        cmocka_unit_test(a_step_brings_its_reads_less_what_is_written_again),
        cmocka_unit_test(nothing_to_gain_never_pays),
        cmocka_unit_test(what_was_recalled_leaves_where_reading_it_is_dearer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
