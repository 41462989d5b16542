#include "policy/worth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"
#include "engine/record.h"
#include "policy/stage.h"
#include "tests/test_run.h"

/* ---- sums ---- */

/* The arithmetic of a saving and of a step, done by hand. Prices are in hundredths of plain input:
 * a write of 125 and a read of 10 are 1.25 and 0.1. */

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

/* ---- weigh ---- */

/* What is condensed on arrival, by arithmetic done by hand. Tokens are four bytes.
 *
 * The odds of the tests, for all that commands print: cut to 220, 500, 1000 and 2000 tokens the
 * next action misses something in 20, 5, 2 and 1 %, any later one in 50, 20, 10 and 5 %. With the
 * prices of most a token that stays for 40 turns costs 1.25 + 0.1 * 40 = 5.25, and a recall
 * 60000 * 0.1 + 600 * 5.25 + 80 * 5 = 9550. */

enum { BODY_BYTES_MAX = 1 << 20, LINE_TOKENS = 10 };

#define STAGE(params)  "policies: {p: {stages: [{stage: weigh" params "}]}}"
#define POLICY(params) STAGE(", miss_tokens: 0" params)

static const char table[] = "# version\t1\n# turns_left\t40\n# turns_left_min\t40\n"
                            "# recall_tokens\t600\n"
                            "# call_tokens\t80\n# prompt_tokens\t60000\n"
                            "process\t0\t20\t5\t2\t1\t50\t20\t10\t5\t9\t20\t5\t2\t1\n"
                            "list\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\n"
                            "other\t0\t99\t99\t99\t99\t99\t99\t99\t99\t99\t99\t99\t99\t99\n";

struct result {
    uint32_t tokens; /* a multiple of LINE_TOKENS */
    const char *tool, *command;
    const char *more; /* text behind it */
    bool has_no_recall;
};

static void write_body(struct wr_buf *out, const struct result *r)
{
    wr_buf_printf(out,
                  "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"%s\"}}],"
                  "\"messages\":[{\"role\":\"user\",\"content\":\"go\"},"
                  "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c\","
                  "\"type\":\"function\",\"function\":{\"name\":\"%s\",\"arguments\":"
                  "\"{\\\"command\\\":\\\"%s\\\"}\"}}]},"
                  "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"",
                  r->has_no_recall ? "other" : "weir_recall", r->tool ? r->tool : "Bash",
                  r->command ? r->command : "./step");
    for (uint32_t i = 0; i < r->tokens / LINE_TOKENS; i++)
        wr_buf_printf(out, "row %04u says that the waters are level\\n", i);
    wr_buf_printf(out, "%s\"}]}", r->more ? r->more : "");
}

struct weighed {
    struct wr_buf body;
    struct test_run run;
    const struct wr_fold_segment *now;
    uint64_t tokens_before;
};

static void weigh(struct weighed *w, const struct result *result, const char *yaml,
                  const struct test_run_facts *facts)
{
    wr_buf_init(&w->body, BODY_BYTES_MAX);
    write_body(&w->body, result);
    test_run_open_with(&w->run, wr_buf_view(&w->body), yaml, facts);
    uint32_t i = test_transcript_find(&w->run.test, WEIR_KIND_TOOL_RESULT, 0);
    w->now = &w->run.run.fold.segments[i];
    w->tokens_before = w->run.input.tokens[i];
}

static void done(struct weighed *w)
{
    test_run_close(&w->run);
    wr_buf_release(&w->body);
}

static struct wr_odds read_odds(void)
{
    struct wr_odds odds;
    assert_int_equal(wr_odds_read(&odds, wr_span_of(table), NULL), WEIR_OK);
    return odds;
}

/* Cut to 500 of 1000: saves 500 * 5.25 = 2625, costs 20 % of 9550 = 1910, with a margin of 137 %
 * 2616.7, of 138 % 2635.8. To 220: the next action misses something in 2000 basis points. */
static const struct {
    const char *behaviour, *yaml;
    struct result result;
    struct wr_fold_prices prices;
    uint64_t saves, costs; /* 0: it stays */
} cases[] = {
    {"a saving above its cost is taken",
     POLICY(", margin_pct: 137, first_sight_bp: 1000"),
     {.tokens = 1000},
     {0},
     262500,
     191000},
    {"one below its cost is not",
     POLICY(", margin_pct: 138, first_sight_bp: 1000"),
     {.tokens = 1000},
     {0},
     0,
     0},
    {"odds at the bar may be taken",
     POLICY(", margin_pct: 100, first_sight_bp: 500"),
     {.tokens = 1000},
     {0},
     262500,
     191000},
    {"odds above it may not, whatever is saved",
     POLICY(", margin_pct: 0, first_sight_bp: 499"),
     {.tokens = 1000},
     {0},
     0,
     0},
    {"where the next action may miss much the deepest cut is taken",
     POLICY(", margin_pct: 0, first_sight_bp: 2000"),
     {.tokens = 1000},
     {0},
     409500,
     477500},
    /* 780 * 5.25 = 4095 less 4775 is a loss; 2625 less 1910 is not */
    {"the cut that pays best is taken",
     POLICY(", margin_pct: 100, first_sight_bp: 2000"),
     {.tokens = 1000},
     {0},
     262500,
     191000},
    /* to 500: 3500 * 5.25 - 1910 = 16465; to 1000: 3000 * 5.25 - 955 = 14795 */
    {"deeper is not always worse",
     POLICY(", first_sight_bp: 1000"),
     {.tokens = 4000},
     {0},
     1837500,
     191000},
    /* To 500 it is 18375 - 2865, to 1000 15750 - 1432.5: 1192.5 less, with 3 strings in 100 fewer
     * missed, which are worth it from 39750 tokens a string on. */
    {"a miss at first sight that is cheap",
     STAGE(", miss_tokens: 39000"),
     {.tokens = 4000},
     {0},
     1837500,
     191000},
    {"one that is dear makes the cut shallower",
     STAGE(", miss_tokens: 40000"),
     {.tokens = 4000},
     {0},
     1575000,
     95500},
    {"a very dear one leaves it whole",
     STAGE(", miss_tokens: 10000000"),
     {.tokens = 4000},
     {0},
     0,
     0},
    /* w 1, r 0.02: a token 1.8, a recall 1200 + 1080 + 400 = 2680: 900 against 536 * 1.5 */
    {"prices that are known count",
     POLICY(", first_sight_bp: 1000"),
     {.tokens = 1000},
     {100, 2, 500, 0},
     90000,
     53600},
    {"those of most do not make it worth it",
     POLICY(", first_sight_bp: 1000"),
     {.tokens = 1000},
     {0},
     0,
     0},
    {"a tiny result stays, whatever it would save",
     POLICY(", first_sight_bp: 1000"),
     {.tokens = 300, .command = "ls"},
     {0},
     0,
     0},
    /* 600 to 220: 380 * 5.25 */
    {"a larger one of that kind does not",
     POLICY(", first_sight_bp: 1000"),
     {.tokens = 600, .command = "ls"},
     {0},
     199500,
     0},
    {"below what the policy says it stays",
     POLICY(", over: 600, first_sight_bp: 1000"),
     {.tokens = 600, .command = "ls"},
     {0},
     0,
     0},
    {"a tool may have another bound",
     POLICY(", tools: {Bash: {over: 600}}, first_sight_bp: 1000"),
     {.tokens = 600, .command = "ls"},
     {0},
     0,
     0},
    {"which is that tool's alone",
     POLICY(", tools: {Grep: {over: 600}}, first_sight_bp: 1000"),
     {.tokens = 600, .command = "ls"},
     {0},
     199500,
     0},
    {"a tool may be left alone",
     POLICY(", tools: {Bash: exact}, first_sight_bp: 1000"),
     {.tokens = 600, .command = "ls"},
     {0},
     0,
     0},
    {"a cut must leave a fifth at least",
     POLICY(", margin_pct: 0, first_sight_bp: 500"),
     {.tokens = 620},
     {0},
     0,
     0},
    {"without a way back nothing is cut",
     POLICY(", first_sight_bp: 1000"),
     {.tokens = 600, .command = "ls", .has_no_recall = true},
     {0},
     0,
     0},
    {"a kind without odds of its own has those of the rest",
     POLICY(", margin_pct: 0, first_sight_bp: 1000"),
     {.tokens = 1000, .tool = "web_fetch"},
     {0},
     0,
     0},
};

static void what_is_worth_it_is_condensed(void **state)
{
    struct wr_odds odds = read_odds();
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct test_run_facts facts = {.odds = &odds, .prices = cases[i].prices};
        struct weighed w;
        weigh(&w, &cases[i].result, cases[i].yaml, &facts);
        assert_int_equal(w.tokens_before, cases[i].result.tokens);
        bool is_taken = w.now->form == WR_FORM_CONDENSED;
        if (is_taken != (cases[i].saves > 0) || w.now->value.is_weighed != is_taken)
            fail_msg("%s: it was %s", cases[i].behaviour, wr_form_name(w.now->form));
        if (is_taken &&
            (w.now->value.saves != cases[i].saves || w.now->value.costs != cases[i].costs))
            fail_msg("%s: saves %llu, costs %llu", cases[i].behaviour,
                     (unsigned long long)w.now->value.saves,
                     (unsigned long long)w.now->value.costs);
        if (is_taken && w.now->tokens >= w.tokens_before)
            fail_msg("%s: it is not smaller", cases[i].behaviour);
        assert_false(w.run.run.step.is_taken); /* nothing of it was sent before */
        done(&w);
    }
}

static void what_was_weighed_is_told(void **state)
{
    struct wr_odds odds = read_odds();
    struct test_run_facts facts = {.odds = &odds};
    struct result result = {.tokens = 4000};
    struct weighed w;
    struct wr_record record = {0};
    struct wr_buf report;
    (void)state;
    weigh(&w, &result, POLICY(", first_sight_bp: 1000"), &facts);
    assert_int_equal(w.now->value.next_miss_bp, 500);
    assert_int_equal(w.now->value.ever_miss_bp, 2000);
    assert_int_equal(w.now->value.turns_left, 40);
    wr_buf_init(&report, BODY_BYTES_MAX);
    assert_int_equal(wr_run_record(&w.run.run, &record), WEIR_OK);
    wr_record_report(&record, &report);
    assert_true(wr_span_find(wr_buf_view(&report),
                             WR_LIT("\"value\":{\"saves_tokens\":18375,\"costs_tokens\":1910,"
                                    "\"next_miss_basis_points\":500,"
                                    "\"ever_miss_basis_points\":2000,\"turns_left\":40}"),
                             0) != SIZE_MAX);
    wr_buf_release(&report);
    done(&w);
}

/* The result comes in turn 1. With 6 turns left a token costs 1.25 + 0.6 = 1.85 and a recall
 * 6000 + 600 * 1.85 + 400 = 7510: to 500 of 1000 saves 925 and costs 1502. With 1000 it is
 * 101.25 and 6000 + 60750 + 400 = 67150: 50625 against 13430. */
static void a_session_that_may_end_soon_is_left_alone(void **state)
{
    static const struct {
        uint32_t turns_left;
        uint64_t saves, costs; /* 0: it stays */
    } lengths[] = {{6, 0, 0}, {1000, 5062500, 1343000}};
    struct result result = {.tokens = 1000};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(lengths); i++) {
        struct wr_odds odds = read_odds();
        struct test_run_facts facts = {.odds = &odds};
        struct weighed w;
        odds.turns_left = 1000;
        odds.turns_left_min = lengths[i].turns_left;
        weigh(&w, &result, POLICY(", margin_pct: 100, first_sight_bp: 1000"), &facts);
        assert_int_equal(w.now->form, lengths[i].saves ? WR_FORM_CONDENSED : WR_FORM_EXACT);
        assert_int_equal(w.now->value.saves, lengths[i].saves);
        assert_int_equal(w.now->value.costs, lengths[i].costs);
        assert_int_equal(w.now->value.turns_left, lengths[i].saves ? lengths[i].turns_left : 0);
        done(&w);
    }
}

static void without_odds_nothing_is_weighed(void **state)
{
    struct test_run_facts facts = {0};
    struct result result = {.tokens = 4000};
    struct weighed w;
    (void)state;
    weigh(&w, &result, POLICY(", margin_pct: 0, first_sight_bp: 1000"), &facts);
    assert_int_equal(w.now->form, WR_FORM_EXACT);
    done(&w);
}

static void a_turn_that_was_kept_whole_stays_whole(void **state)
{
    static const struct wr_fold_turn turns[] = {{0}, {.is_whole = true}};
    struct wr_odds odds = read_odds();
    struct test_run_facts facts = {.odds = &odds, .turns = turns};
    struct result result = {.tokens = 4000};
    struct weighed w;
    (void)state;
    weigh(&w, &result, POLICY(", first_sight_bp: 1000"), &facts);
    assert_int_equal(w.now->form, WR_FORM_EXACT);
    done(&w);
}

/* Head and tail, and what says that something is wrong, whatever the cut. */
static void the_signals_stay(void **state)
{
    struct wr_odds odds = read_odds();
    struct test_run_facts facts = {.odds = &odds};
    struct result result = {.tokens = 4000, .more = "src/a.c:17:4: error: no such gate\\n"};
    struct weighed w;
    (void)state;
    weigh(&w, &result, POLICY(", first_sight_bp: 1000"), &facts);
    assert_int_equal(w.now->form, WR_FORM_CONDENSED);
    assert_true(wr_span_find(w.now->text, WR_LIT("src/a.c:17:4: error: no such gate"), 0) !=
                SIZE_MAX);
    assert_true(wr_span_find(w.now->text, WR_LIT("row 0000 "), 0) != SIZE_MAX);
    done(&w);
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
        cmocka_unit_test(what_is_worth_it_is_condensed),
        cmocka_unit_test(what_was_weighed_is_told),
        cmocka_unit_test(a_session_that_may_end_soon_is_left_alone),
        cmocka_unit_test(without_odds_nothing_is_weighed),
        cmocka_unit_test(a_turn_that_was_kept_whole_stays_whole),
        cmocka_unit_test(the_signals_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
