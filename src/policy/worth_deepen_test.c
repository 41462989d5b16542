/* When the deep step is taken, what goes in it and what stays. Tokens are four bytes; a result of
 * the tests has 1000 of them and its call 5 or so. With the prices of most (w 1.25, r 0.1) and 40
 * turns left a step pays where gain * 4 > rest * 1.15 * margin. */
#include "policy/stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"
#include "tests/test_run.h"
#include "weir/store.h"

enum { BODY_BYTES_MAX = 1 << 22, TURNS_MAX = 64, RESULT_TOKENS = 1000, STUB_GAIN_TOKENS = 952 };
enum { NEVER_PCT = 100000, WIDE_TOKENS = 1000000 };

/* Only cold and forced steps; a margin lets others in. */
#define POLICY(params) "policies: {p: {stages: [{stage: deepen" params "}]}}"
#define NO_PAY         ", margin_pct: 100000"

/* Cut to 220 tokens, what a command printed is missed in 34 %, and used again late in 21 %. */
static const char odds_table[] =
    "# version\t1\n# turns_left\t40\n# turns_left_min\t40\n# recall_tokens\t600\n"
    "# call_tokens\t80\n# prompt_tokens\t60000\n"
    "process\t0\t15\t5\t0\t0\t34\t18\t0\t0\t21\t15\t5\t0\t0\n"
    "file\t0\t22\t11\t0\t0\t50\t31\t0\t0\t23\t22\t11\t0\t0\n"
    "other\t0\t15\t6\t0\t0\t25\t12\t0\t0\t5\t15\t6\t0\t0\n";

/* ---- sessions ---- */

static void write_user(struct wr_buf *out, const char *text)
{
    wr_buf_printf(out, "%s{\"role\":\"user\",\"content\":\"%s\"}",
                  out->bytes[out->len - 1] == '[' ? "" : ",", text);
}

static void write_call(struct wr_buf *out, uint32_t id, const char *tool, const char *arguments)
{
    wr_buf_printf(out,
                  ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c%u\","
                  "\"type\":\"function\",\"function\":{\"name\":\"%s\",\"arguments\":\"%s\"}}]},"
                  "{\"role\":\"tool\",\"tool_call_id\":\"c%u\",\"content\":\"",
                  id, tool, arguments, id);
}

/* Lines of 40 bytes. */
static void write_result(struct wr_buf *out, uint32_t id, uint32_t tokens)
{
    for (uint32_t i = 0; i < tokens / 10; i++)
        wr_buf_printf(out, "row %04u/%04u: the waters here are calm\\n", id, i);
    wr_buf_text(out, "\"}");
}

static void write_run(struct wr_buf *out, uint32_t id, uint32_t tokens)
{
    char arguments[64];
    (void)snprintf(arguments, sizeof(arguments), "{\\\"command\\\":\\\"./step %u\\\"}", id);
    write_call(out, id, "Bash", arguments);
    write_result(out, id, tokens);
}

static void begin(struct wr_buf *out)
{
    wr_buf_init(out, BODY_BYTES_MAX);
    wr_buf_text(out, "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"weir_recall\"}}],"
                     "\"messages\":[");
    write_user(out, "go");
}

/* Turn n has the n-th result. */
static void write_runs(struct wr_buf *out, uint32_t count, uint32_t tokens)
{
    begin(out);
    for (uint32_t i = 1; i <= count; i++)
        write_run(out, i, tokens);
    wr_buf_text(out, "]}");
}

struct deepened {
    struct wr_buf body;
    struct wr_odds odds;
    struct wr_fold_turn turns[TURNS_MAX];
    struct test_run_facts facts;
    struct test_run run;
};

/* Told nothing yet but the odds and a wide window. So that sums can be done by hand, 40 turns are
 * left in whatever turn it is asked. */
static void prepare(struct deepened *d)
{
    *d = (struct deepened){.facts = {.window_tokens = WIDE_TOKENS}};
    assert_int_equal(wr_odds_read(&d->odds, wr_span_of(odds_table), NULL), WEIR_OK);
    d->facts.odds = &d->odds;
    d->facts.turns = d->turns;
}

static void deepen(struct deepened *d, const char *yaml)
{
    test_run_open_with(&d->run, wr_buf_view(&d->body), yaml, &d->facts);
}

static void done(struct deepened *d)
{
    test_run_close(&d->run);
    wr_buf_release(&d->body);
}

static const struct wr_fold *fold_of(const struct deepened *d)
{
    return &d->run.run.fold;
}

/* The form of the n-th result, from 1. */
static enum wr_form form_of(const struct deepened *d, uint32_t n)
{
    return fold_of(d)
        ->segments[test_transcript_find(&d->run.test, WEIR_KIND_TOOL_RESULT, n - 1)]
        .form;
}

static uint32_t count_form(const struct deepened *d, enum wr_form form)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < fold_of(d)->transcript->segments_count; i++)
        count += fold_of(d)->segments[i].form == form;
    return count;
}

static bool is_step(const struct deepened *d, enum wr_step_reason reason)
{
    const struct wr_fold_step *step = wr_fold_step_now(fold_of(d));
    return step && step->reason == reason;
}

/* ---- when ---- */

static void a_cold_cache_allows_a_step_and_a_live_one_does_not(void **state)
{
    struct deepened d;
    (void)state;
    for (int cold = 0; cold < 2; cold++) {
        prepare(&d);
        d.turns[8].is_cold = cold;
        write_runs(&d.body, 8, RESULT_TOKENS);
        deepen(&d, POLICY(NO_PAY));
        assert_int_equal(is_step(&d, WR_STEP_COLD), cold);
        assert_int_equal(wr_fold_took_cold(fold_of(&d)), cold);
        assert_int_equal(count_form(&d, WR_FORM_CLEARED), cold ? 5 : 0); /* of turns 1 to 5 */
        done(&d);
    }
}

/* gain 952 a result of turns 1 to 8 - 2 - 1; a tenth of 8000 and 1000 are not enough for one. */
static void a_step_must_free_a_share_of_the_prompt(void **state)
{
    static const struct {
        uint32_t results, tokens;
        const char *yaml;
        bool is_taken;
    } cases[] = {
        {4, RESULT_TOKENS, POLICY(NO_PAY), false},                   /* 952 of 1400 */
        {5, RESULT_TOKENS, POLICY(NO_PAY), true},                    /* 1904 of 1500 */
        {5, RESULT_TOKENS, POLICY(NO_PAY ", gain_bp: 2000"), false}, /* of 2000 */
        {8, 250, POLICY(NO_PAY), false},                             /* 5 * 202 of 1200 */
        {8, 200, POLICY(NO_PAY ", gain_bp: 0"), false},              /* each is too short */
    };
    struct deepened d;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        prepare(&d);
        d.turns[cases[i].results].is_cold = true;
        write_runs(&d.body, cases[i].results, cases[i].tokens);
        deepen(&d, cases[i].yaml);
        if (is_step(&d, WR_STEP_COLD) != cases[i].is_taken)
            fail_msg("row %zu: %s", i, cases[i].is_taken ? "no step" : "a step");
        assert_int_equal(count_form(&d, WR_FORM_CLEARED) > 0, cases[i].is_taken);
        done(&d);
    }
}

/* Ten results are about 10060 tokens. */
static void the_window_forces_a_step_down_to_its_share(void **state)
{
    static const struct {
        uint64_t window_tokens;
        const char *yaml;
        uint32_t stubs;
    } cases[] = {
        {12000, POLICY(NO_PAY), 0}, /* at 10200 */
        {11500, POLICY(NO_PAY), 5}, /* at 9775, to 5750: four leave 6252, five 5300 */
        {11500, POLICY(NO_PAY ", to_bp: 8000"), 1}, /* to 9200 */
        {11500, POLICY(NO_PAY ", at_bp: 9000"), 0}, /* at 10350 */
        {11500, POLICY(NO_PAY ", to_bp: 1"), 7},    /* all but the newest turns */
        {11500, POLICY(NO_PAY ", to_bp: 1, keep_turns: 6"), 3},
    };
    struct deepened d;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        prepare(&d);
        d.facts.window_tokens = cases[i].window_tokens;
        write_runs(&d.body, 10, RESULT_TOKENS);
        deepen(&d, cases[i].yaml);
        if (count_form(&d, WR_FORM_CLEARED) != cases[i].stubs)
            fail_msg("row %zu: %u stubs of %u", i, count_form(&d, WR_FORM_CLEARED), cases[i].stubs);
        assert_int_equal(is_step(&d, WR_STEP_WINDOW), cases[i].stubs > 0);
        assert_false(wr_fold_took_cold(fold_of(&d)));
        done(&d);
    }
}

/* The window is wide, so its share is no measure of how far to go. */
static void a_dearer_tier_forces_a_step_below_it(void **state)
{
    struct deepened d;
    (void)state;
    for (int cold = 0; cold < 2; cold++) {
        prepare(&d);
        d.facts.prices.tier_tokens = 10000;
        d.turns[10].is_cold = cold;
        write_runs(&d.body, 10, RESULT_TOKENS);
        deepen(&d, POLICY(NO_PAY));
        if (!is_step(&d, WR_STEP_WINDOW) && !(cold && is_step(&d, WR_STEP_COLD)))
            fail_msg("no step above a dearer tier%s", cold ? ", though the cache is cold" : "");
        assert_true(fold_of(&d)->total_tokens < 9500);
        done(&d);
    }
    for (int share = 0; share < 2; share++) {
        prepare(&d);
        d.facts.prices.tier_tokens = 10000;
        write_runs(&d.body, 10, RESULT_TOKENS);
        deepen(&d, share ? POLICY(NO_PAY ", to_bp: 8000") : POLICY(NO_PAY));
        /* to 5000: five leave 5300, six 4348; to 8000: two leave 8156, three 7204 */
        assert_int_equal(count_form(&d, WR_FORM_CLEARED), share ? 3 : 6);
        done(&d);
    }
    prepare(&d);
    d.facts.prices.tier_tokens = 20000; /* not near yet */
    write_runs(&d.body, 10, RESULT_TOKENS);
    deepen(&d, POLICY(NO_PAY));
    assert_int_equal(count_form(&d, WR_FORM_CLEARED), 0);
    done(&d);
}

/* The margin at which a step of the newest turn just pays, from the tokens as they are. */
static uint64_t margin_limit(const struct deepened *d, uint32_t stubs)
{
    uint64_t gain = (uint64_t)stubs * STUB_GAIN_TOKENS, behind = 0;
    uint32_t first = test_transcript_find(&d->run.test, WEIR_KIND_TOOL_RESULT, 0);
    for (uint32_t i = first; i < fold_of(d)->transcript->segments_count; i++)
        behind += d->run.input.tokens[i];
    return gain * 400 / ((behind - gain) * 115 / 100); /* in percent: gain * 4 / (rest * 1.15) */
}

static void a_step_is_taken_where_it_pays_with_its_margin(void **state)
{
    struct deepened d;
    char yaml[160];
    (void)state;
    prepare(&d);
    write_runs(&d.body, 9, RESULT_TOKENS);
    deepen(&d, POLICY(NO_PAY));
    uint64_t limit = margin_limit(&d, 6);
    assert_true(limit > 500 && limit < 800); /* 5712 * 4 against about 3340 * 1.15 */
    done(&d);
    for (int more = -2; more <= 2; more += 4) {
        prepare(&d);
        write_runs(&d.body, 9, RESULT_TOKENS);
        (void)snprintf(yaml, sizeof(yaml), POLICY(", margin_pct: %d"), (int)limit + more);
        deepen(&d, yaml);
        assert_int_equal(is_step(&d, WR_STEP_PAYS), more < 0);
        assert_int_equal(count_form(&d, WR_FORM_CLEARED), more < 0 ? 6 : 0);
        done(&d);
    }
}

/* A result of 700 tokens, one that may not go, and five of 1000, two of which are old. From the
 * third on: 1904 * 4 against 3150 * 1.15 * 2, which just pays. From the first: 2556 * 4 against
 * 3300 * 2.3 with little between them, which brings more, and 23000 * 2.3 with much. */
static void a_step_begins_where_it_brings_most(void **state)
{
    struct deepened d;
    (void)state;
    for (int much = 0; much < 2; much++) {
        prepare(&d);
        begin(&d.body);
        write_run(&d.body, 1, 700);
        write_call(&d.body, 2, "Read", "{\\\"file_path\\\":\\\"/w/a.c\\\"}");
        write_result(&d.body, 2, much ? 20000 : 100);
        for (uint32_t i = 3; i <= 7; i++)
            write_run(&d.body, i, RESULT_TOKENS);
        wr_buf_text(&d.body, "]}");
        deepen(&d, POLICY(", margin_pct: 200, tools: {Read: exact}"));
        assert_true(is_step(&d, WR_STEP_PAYS));
        assert_int_equal(form_of(&d, 1), much ? WR_FORM_EXACT : WR_FORM_CLEARED);
        assert_int_equal(form_of(&d, 3), WR_FORM_CLEARED);
        assert_int_equal(form_of(&d, 4), WR_FORM_CLEARED);
        assert_int_equal(count_form(&d, WR_FORM_CLEARED), much ? 2 : 3);
        done(&d);
    }
}

/* One stub frees 952 tokens, two 1904. */
static void a_step_that_pays_frees_a_thousand_tokens_at_least(void **state)
{
    struct deepened d;
    (void)state;
    for (uint32_t results = 2; results <= 3; results++) {
        prepare(&d);
        write_runs(&d.body, results, RESULT_TOKENS);
        deepen(&d, POLICY(", margin_pct: 0, keep_turns: 0"));
        assert_int_equal(is_step(&d, WR_STEP_PAYS), results == 3);
        assert_int_equal(count_form(&d, WR_FORM_CLEARED), results == 3 ? 2 : 0);
        done(&d);
    }
}

/* The window is used to 9775 of 10060. Cold, all seven old results go, not just the five that bring
 * it to its share; but not for the 952 tokens of one, of 2006 that are wanted. */
static void a_cold_cache_goes_before_the_window(void **state)
{
    struct deepened d;
    (void)state;
    for (int little = 0; little < 2; little++) {
        prepare(&d);
        d.facts.window_tokens = 11500;
        d.turns[10].is_cold = true;
        write_runs(&d.body, 10, RESULT_TOKENS);
        deepen(&d, little ? POLICY(NO_PAY ", keep_turns: 8") : POLICY(NO_PAY));
        assert_true(is_step(&d, little ? WR_STEP_WINDOW : WR_STEP_COLD));
        assert_int_equal(wr_fold_took_cold(fold_of(&d)), !little);
        assert_int_equal(count_form(&d, WR_FORM_CLEARED), little ? 1 : 7);
        done(&d);
    }
}

/* The first of many turns: with 6 left a stub of 1000 tokens saves 952 * 1.85 = 1761, and a recall
 * costs 7510, of which 34 % are 2553. In turn 20 it is 952 * 3.25 = 3094 against 21 % of 8350. */
static void a_result_is_weighed_by_the_turns_that_are_left(void **state)
{
    struct deepened d;
    (void)state;
    for (int late = 0; late < 2; late++) {
        uint32_t results = late ? 20 : 6;
        prepare(&d);
        d.odds.turns_left_min = 6;
        d.turns[results].is_cold = true;
        write_runs(&d.body, results, RESULT_TOKENS);
        deepen(&d, POLICY(NO_PAY));
        assert_int_equal(is_step(&d, WR_STEP_COLD), late);
        assert_int_equal(form_of(&d, 1), late ? WR_FORM_CLEARED : WR_FORM_EXACT);
        uint32_t first = test_transcript_find(&d.run.test, WEIR_KIND_TOOL_RESULT, 0);
        assert_int_equal(fold_of(&d)->segments[first].value.is_weighed, late);
        done(&d);
    }
}

static void between_two_steps_with_a_live_cache_it_is_quiet(void **state)
{
    static const uint32_t quiet[] = {0, 3, 7, 20};
    struct deepened d;
    char yaml[160];
    uint32_t steps_before = UINT32_MAX;
    (void)state;
    for (size_t q = 0; q < WR_COUNT_OF(quiet); q++) {
        prepare(&d);
        write_runs(&d.body, 30, RESULT_TOKENS);
        (void)snprintf(yaml, sizeof(yaml), POLICY(", margin_pct: 50, quiet_turns: %u"), quiet[q]);
        deepen(&d, yaml);
        const struct wr_fold *fold = fold_of(&d);
        assert_true(fold->steps_count >= 1);
        for (uint32_t i = 1; i < fold->steps_count; i++)
            assert_true(fold->steps[i].turn - fold->steps[i - 1].turn >= quiet[q]);
        assert_true(fold->steps_count < steps_before);
        steps_before = fold->steps_count;
        done(&d);
    }
}

static void an_expired_cache_need_not_wait(void **state)
{
    struct deepened d;
    (void)state;
    prepare(&d);
    d.turns[8].is_cold = d.turns[12].is_cold = true;
    write_runs(&d.body, 12, RESULT_TOKENS);
    deepen(&d, POLICY(NO_PAY ", quiet_turns: 20"));
    assert_int_equal(fold_of(&d)->steps_count, 2);
    assert_true(is_step(&d, WR_STEP_COLD));
    done(&d);
}

/* ---- what ---- */

static void the_newest_turns_stay(void **state)
{
    struct deepened d;
    char yaml[160];
    (void)state;
    for (uint32_t keep = 0; keep < 6; keep++) {
        prepare(&d);
        d.turns[10].is_cold = true;
        write_runs(&d.body, 10, RESULT_TOKENS);
        (void)snprintf(yaml, sizeof(yaml), POLICY(NO_PAY ", keep_turns: %u"), keep);
        deepen(&d, yaml);
        for (uint32_t n = 1; n <= 10; n++)
            if ((form_of(&d, n) == WR_FORM_CLEARED) != (n + keep < 10))
                fail_msg("keep_turns %u: result %u of 10 is %s", keep, n,
                         wr_form_name(form_of(&d, n)));
        done(&d);
    }
}

static void outdated_reads_go_first(void **state)
{
    struct deepened d;
    (void)state;
    prepare(&d);
    begin(&d.body);
    for (uint32_t i = 1; i <= 10; i++) {
        if (i == 4) {
            write_call(&d.body, i, "Read", "{\\\"file_path\\\":\\\"/w/a.c\\\"}");
            write_result(&d.body, i, RESULT_TOKENS);
        } else if (i == 6) {
            write_call(&d.body, i, "Edit",
                       "{\\\"file_path\\\":\\\"/w/a.c\\\",\\\"old_string\\\":\\\"x\\\","
                       "\\\"new_string\\\":\\\"y\\\"}");
            wr_buf_text(&d.body, "The file /w/a.c has been updated.\"}");
        } else {
            write_run(&d.body, i, RESULT_TOKENS);
        }
    }
    wr_buf_text(&d.body, "]}");
    d.facts.window_tokens = 10300; /* at 8755 of about 9090, to 8240: one stub is enough */
    deepen(&d, POLICY(NO_PAY ", to_bp: 8000"));
    assert_true(is_step(&d, WR_STEP_WINDOW));
    assert_int_equal(count_form(&d, WR_FORM_CLEARED), 1);
    assert_int_equal(form_of(&d, 4), WR_FORM_CLEARED);
    uint32_t read = test_transcript_find(&d.run.test, WEIR_KIND_TOOL_RESULT, 3);
    weir_span text = fold_of(&d)->segments[read].text;
    assert_true(wr_span_starts(text, WR_LIT("[older result, outdated since: /w/a.c]\n[weir wr_")));
    done(&d);
}

/* What a command printed is used again late in 21 %, else in 34 %: late is over ten turns. */
static void the_odds_are_those_of_its_age(void **state)
{
    struct deepened d;
    (void)state;
    prepare(&d);
    d.turns[14].is_cold = true;
    write_runs(&d.body, 14, RESULT_TOKENS);
    deepen(&d, POLICY(NO_PAY));
    for (uint32_t n = 1; n <= 10; n++) {
        uint32_t result = test_transcript_find(&d.run.test, WEIR_KIND_TOOL_RESULT, n - 1);
        assert_int_equal(form_of(&d, n), WR_FORM_CLEARED);
        assert_int_equal(fold_of(&d)->segments[result].value.ever_miss_bp, n < 4 ? 2100 : 3400);
    }
    done(&d);
}

/* In turn 20 a recall costs 8350, of which 23 % are 1920 and a fifth of that 384. A stub of 400
 * tokens saves 352 * 3.25 = 1144. */
static void an_outdated_read_is_asked_for_a_fifth_as_often(void **state)
{
    struct deepened d;
    (void)state;
    for (int outdated = 0; outdated < 2; outdated++) {
        prepare(&d);
        d.odds.turns_left_min = 6;
        d.turns[20].is_cold = true;
        begin(&d.body);
        write_call(&d.body, 1, "Read", "{\\\"file_path\\\":\\\"/w/a.c\\\"}");
        write_result(&d.body, 1, 400);
        write_call(&d.body, 2, "Edit",
                   outdated ? "{\\\"file_path\\\":\\\"/w/a.c\\\"}"
                            : "{\\\"file_path\\\":\\\"/w/b.c\\\"}");
        wr_buf_text(&d.body, "The file has been updated.\"}");
        for (uint32_t i = 3; i <= 20; i++)
            write_run(&d.body, i, RESULT_TOKENS);
        wr_buf_text(&d.body, "]}");
        deepen(&d, POLICY(NO_PAY));
        assert_true(is_step(&d, WR_STEP_COLD));
        assert_int_equal(form_of(&d, 1), outdated ? WR_FORM_CLEARED : WR_FORM_EXACT);
        uint32_t read = test_transcript_find(&d.run.test, WEIR_KIND_TOOL_RESULT, 0);
        if (outdated)
            assert_int_equal(fold_of(&d)->segments[read].value.ever_miss_bp, 23 * 20);
        done(&d);
    }
}

static void a_stub_names_the_command_and_nothing_of_the_result(void **state)
{
    struct deepened d;
    (void)state;
    prepare(&d);
    d.turns[8].is_cold = true;
    write_runs(&d.body, 8, RESULT_TOKENS);
    deepen(&d, POLICY(NO_PAY));
    uint32_t first = test_transcript_find(&d.run.test, WEIR_KIND_TOOL_RESULT, 0);
    weir_span text = fold_of(&d)->segments[first].text;
    assert_true(wr_span_starts(text, WR_LIT("[older result: ./step 1]\n[weir wr_")));
    assert_int_equal(wr_span_find(text, WR_LIT("waters"), 0), SIZE_MAX);
    done(&d);
}

/* Recalled text is whole as it arrives; a step sends it back where it was used. */
static void recalled_text_leaves_in_a_step(void **state)
{
    struct deepened d;
    (void)state;
    for (int cold = 0; cold < 2; cold++) {
        prepare(&d);
        d.turns[8].is_cold = cold;
        begin(&d.body);
        for (uint32_t i = 1; i <= 8; i++) {
            if (i == 2 || i == 8) {
                write_call(&d.body, i, "weir_recall",
                           "{\\\"handle\\\":\\\"wr_0123456789abcdef0123\\\"}");
                write_result(&d.body, i, RESULT_TOKENS);
            } else {
                write_run(&d.body, i, RESULT_TOKENS);
            }
        }
        wr_buf_text(&d.body, "]}");
        deepen(&d, POLICY(NO_PAY ", keep_turns: 0"));
        uint32_t old = test_transcript_find(&d.run.test, WEIR_KIND_TOOL_RESULT, 1);
        uint32_t new = test_transcript_find(&d.run.test, WEIR_KIND_TOOL_RESULT, 7);
        assert_int_equal(fold_of(&d)->segments[old].form, cold ? WR_FORM_CLEARED : WR_FORM_EXACT);
        assert_int_equal(fold_of(&d)->segments[new].form, WR_FORM_EXACT);
        done(&d);
    }
}

/* 34 % of what commands print is asked for again, here always by a whole line: with a price on it
 * of 20,000 tokens that is 6,800 and a recall's 3,247, more than the 4,998 that a stub saves. */
static void a_line_that_is_quoted_blind_has_its_price(void **state)
{
    static const char table[] =
        "# version\t1\n# turns_left\t40\n# turns_left_min\t40\n# recall_tokens\t600\n"
        "# call_tokens\t80\n# prompt_tokens\t60000\n"
        "process\t0\t15\t5\t0\t0\t34\t18\t0\t0\t21\t15\t5\t0\t0\t34\t0\t0\t0\n"
        "other\t0\t15\t6\t0\t0\t25\t12\t0\t0\t5\t15\t6\t0\t0\n";
    struct deepened d;
    (void)state;
    for (int priced = 0; priced < 2; priced++) {
        prepare(&d);
        assert_int_equal(wr_odds_read(&d.odds, wr_span_of(table), NULL), WEIR_OK);
        d.turns[8].is_cold = true;
        write_runs(&d.body, 8, RESULT_TOKENS);
        deepen(&d, priced ? POLICY(NO_PAY ", quote_tokens: 20000") : POLICY(NO_PAY));
        assert_int_equal(is_step(&d, WR_STEP_COLD), !priced);
        done(&d);
    }
}

static void a_tool_that_is_exempt_stays(void **state)
{
    struct deepened d;
    (void)state;
    prepare(&d);
    d.turns[8].is_cold = true;
    write_runs(&d.body, 8, RESULT_TOKENS);
    deepen(&d, POLICY(NO_PAY ", tools: {Bash: exact}"));
    assert_int_equal(count_form(&d, WR_FORM_CLEARED), 0);
    done(&d);
}

static void what_was_condensed_may_become_a_stub(void **state)
{
    struct deepened d;
    (void)state;
    for (int cold = 0; cold < 2; cold++) {
        prepare(&d);
        d.turns[8].is_cold = cold;
        write_runs(&d.body, 8, 3000);
        deepen(&d, "policies: {p: {stages: [{stage: condense, run_over: 1500, run_to: 1000}, "
                   "{stage: deepen" NO_PAY "}]}}");
        assert_int_equal(count_form(&d, WR_FORM_CONDENSED), cold ? 3 : 8);
        assert_int_equal(count_form(&d, WR_FORM_CLEARED), cold ? 5 : 0);
        done(&d);
    }
}

/* Six results in a loop that is done, and the user's next words in turn 7. */
static void write_loops(struct wr_buf *out)
{
    begin(out);
    for (uint32_t i = 1; i <= 6; i++)
        write_run(out, i, RESULT_TOKENS);
    wr_buf_text(out, ",{\"role\":\"assistant\",\"content\":\"all is level\"}");
    write_user(out, "and the other bank?");
    wr_buf_text(out, "]}");
}

static void completed_loops_fold(void **state)
{
    struct deepened d;
    (void)state;
    prepare(&d);
    write_loops(&d.body);
    d.turns[7].is_cold = true;
    deepen(&d, POLICY(NO_PAY));
    const struct wr_fold *fold = fold_of(&d);
    weir_span body = d.run.run.settled.body;
    assert_true(is_step(&d, WR_STEP_COLD));
    assert_int_equal(fold->inserts_count, 1);
    assert_true(wr_span_starts(fold->inserts[0].text, WR_LIT("[COMPLETED AGENT LOOP SUMMARY]")));
    for (uint32_t n = 1; n <= 6; n++)
        assert_int_equal(form_of(&d, n), WR_FORM_DROPPED);
    assert_true(wr_span_find(body, WR_LIT("\"go\""), 0) != SIZE_MAX);
    assert_true(wr_span_find(body, WR_LIT("and the other bank?"), 0) != SIZE_MAX);
    done(&d);
}

/* Another Weir has weighed it: neither does it fold, nor do its other results become stubs. */
static void a_loop_that_came_with_a_marker_stays(void **state)
{
    struct deepened d;
    (void)state;
    prepare(&d);
    begin(&d.body);
    write_call(&d.body, 0, "Bash", "{}");
    wr_buf_text(&d.body, "[weir wr_0123456789abcdef0123: ~9 tokens left out]\"}");
    for (uint32_t i = 1; i <= 5; i++)
        write_run(&d.body, i, RESULT_TOKENS);
    wr_buf_text(&d.body, ",{\"role\":\"assistant\",\"content\":\"all is level\"}");
    write_user(&d.body, "and the other bank?");
    wr_buf_text(&d.body, "]}");
    d.turns[7].is_cold = true;
    deepen(&d, POLICY(NO_PAY));
    assert_int_equal(fold_of(&d)->inserts_count, 0);
    assert_int_equal(count_form(&d, WR_FORM_CLEARED), 0);
    done(&d);
}

/* In a budget it frees most of itself, and the budget is held. */
static void a_loop_folds_into_its_budget(void **state)
{
    struct deepened d;
    (void)state;
    prepare(&d);
    write_loops(&d.body);
    d.turns[7].is_cold = true;
    deepen(&d, POLICY(NO_PAY ", summary_tokens: 300"));
    const struct wr_fold *fold = fold_of(&d);
    assert_true(is_step(&d, WR_STEP_COLD));
    assert_int_equal(fold->inserts_count, 1);
    assert_in_range(fold->inserts[0].text.len / 4, 100, 120 + 300);
    assert_int_equal(form_of(&d, 1), WR_FORM_DROPPED);
    done(&d);
}

/* The loop has about 6040 tokens, of which a half may go. Counted again as stubs of its four older
 * results they would be more than all there is, and any step would pay. */
static void what_a_loop_frees_is_counted_once(void **state)
{
    struct deepened d;
    (void)state;
    prepare(&d);
    write_loops(&d.body);
    deepen(&d, POLICY(NO_PAY));
    assert_int_equal(fold_of(&d)->steps_count, 0);
    done(&d);
}

/* Much was said in the first loop and no tool called, so there is nothing to fold. The loop at work
 * has 1904 tokens to free, for which 20,000 would be written again. */
static void a_loop_that_cannot_fold_is_no_gain(void **state)
{
    struct deepened d;
    (void)state;
    prepare(&d);
    begin(&d.body);
    wr_buf_text(&d.body, ",{\"role\":\"assistant\",\"content\":\"");
    write_result(&d.body, 0, 20000);
    write_user(&d.body, "and now?");
    for (uint32_t i = 1; i <= 5; i++)
        write_run(&d.body, i, RESULT_TOKENS);
    wr_buf_text(&d.body, "]}");
    deepen(&d, POLICY(", margin_pct: 300"));
    assert_int_equal(count_form(&d, WR_FORM_CLEARED), 0);
    assert_int_equal(fold_of(&d)->steps_count, 0);
    done(&d);
}

/* ---- the way back ---- */

static void store_all(struct weir_store *store, const struct wr_run *run, struct wr_arena *arena)
{
    struct weir_artifact *artifacts =
        WR_ARENA_ARRAY(arena, struct weir_artifact, run->artifacts_count);
    for (uint32_t i = 0; i < run->artifacts_count; i++)
        artifacts[i].text = run->artifacts[i].text;
    struct weir_batch batch = {.tenant = WR_LIT("local"),
                               .session = WR_LIT("s"),
                               .artifacts = artifacts,
                               .artifacts_count = run->artifacts_count};
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_OK);
}

static void every_stub_is_recalled_from_the_store(void **state)
{
    struct deepened d;
    struct weir_store *store;
    uint32_t recalled = 0;
    (void)state;
    prepare(&d);
    d.turns[12].is_cold = true;
    write_runs(&d.body, 12, RESULT_TOKENS);
    deepen(&d, POLICY(NO_PAY));
    assert_int_equal(weir_store_new_memory(0, &store), WEIR_OK);
    store_all(store, &d.run.run, &d.run.test.arena);
    for (uint32_t n = 1; n <= 12; n++) {
        uint32_t i = test_transcript_find(&d.run.test, WEIR_KIND_TOOL_RESULT, n - 1);
        const struct wr_transcript *t = fold_of(&d)->transcript;
        struct weir_lookup lookup = {.tenant = WR_LIT("local")};
        struct weir_artifact found;
        if (form_of(&d, n) != WR_FORM_CLEARED)
            continue;
        assert_true(weir_handle_find(fold_of(&d)->segments[i].text, 0, &lookup.handle) != SIZE_MAX);
        assert_int_equal(weir_store_get(store, &lookup, &found, NULL, NULL), WEIR_OK);
        assert_true(wr_span_eq(found.text, wr_segment_text(t, &t->segments[i], &d.run.test.arena)));
        recalled++;
    }
    assert_int_equal(recalled, 9);
    weir_store_close(store);
    done(&d);
}

static void without_odds_there_is_no_step(void **state)
{
    struct deepened d;
    (void)state;
    prepare(&d);
    d.facts.odds = NULL;
    d.turns[8].is_cold = true;
    write_runs(&d.body, 8, RESULT_TOKENS);
    deepen(&d, POLICY(""));
    assert_int_equal(fold_of(&d)->steps_count, 0);
    done(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cold_cache_allows_a_step_and_a_live_one_does_not),
        cmocka_unit_test(a_step_must_free_a_share_of_the_prompt),
        cmocka_unit_test(the_window_forces_a_step_down_to_its_share),
        cmocka_unit_test(a_dearer_tier_forces_a_step_below_it),
        cmocka_unit_test(a_step_is_taken_where_it_pays_with_its_margin),
        cmocka_unit_test(a_step_begins_where_it_brings_most),
        cmocka_unit_test(a_step_that_pays_frees_a_thousand_tokens_at_least),
        cmocka_unit_test(a_cold_cache_goes_before_the_window),
        cmocka_unit_test(a_result_is_weighed_by_the_turns_that_are_left),
        cmocka_unit_test(between_two_steps_with_a_live_cache_it_is_quiet),
        cmocka_unit_test(an_expired_cache_need_not_wait),
        cmocka_unit_test(the_newest_turns_stay),
        cmocka_unit_test(outdated_reads_go_first),
        cmocka_unit_test(the_odds_are_those_of_its_age),
        cmocka_unit_test(an_outdated_read_is_asked_for_a_fifth_as_often),
        cmocka_unit_test(a_stub_names_the_command_and_nothing_of_the_result),
        cmocka_unit_test(recalled_text_leaves_in_a_step),
        cmocka_unit_test(a_line_that_is_quoted_blind_has_its_price),
        cmocka_unit_test(a_tool_that_is_exempt_stays),
        cmocka_unit_test(what_was_condensed_may_become_a_stub),
        cmocka_unit_test(completed_loops_fold),
        cmocka_unit_test(a_loop_that_came_with_a_marker_stays),
        cmocka_unit_test(a_loop_folds_into_its_budget),
        cmocka_unit_test(what_a_loop_frees_is_counted_once),
        cmocka_unit_test(a_loop_that_cannot_fold_is_no_gain),
        cmocka_unit_test(every_stub_is_recalled_from_the_store),
        cmocka_unit_test(without_odds_there_is_no_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
