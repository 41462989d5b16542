/* What is condensed on arrival, by arithmetic done by hand. Tokens are four bytes.
 *
 * The odds of the tests, for all that commands print: cut to 220, 500, 1000 and 2000 tokens the
 * next action misses something in 20, 5, 2 and 1 %, any later one in 50, 20, 10 and 5 %. With the
 * prices of most a token that stays for 40 turns costs 1.25 + 0.1 * 40 = 5.25, and a recall
 * 60000 * 0.1 + 600 * 5.25 + 80 * 5 = 9550. */
#include "policy/stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"
#include "engine/record.h"
#include "engine/run_record.h"
#include "tests/test_run.h"

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
        cmocka_unit_test(what_is_worth_it_is_condensed),
        cmocka_unit_test(what_was_weighed_is_told),
        cmocka_unit_test(a_session_that_may_end_soon_is_left_alone),
        cmocka_unit_test(without_odds_nothing_is_weighed),
        cmocka_unit_test(a_turn_that_was_kept_whole_stays_whole),
        cmocka_unit_test(the_signals_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
