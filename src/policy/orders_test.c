#include "policy/orders.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/test_run.h"

/* ---- lines ---- */

static void a_line_is_read_and_written_again(void **state)
{
    static const char *const lines[] = {"pin tool Read",
                                        "pin path src/with a space.c",
                                        "pin handle wr_0123456789abcdef0123",
                                        "unpin tool *",
                                        "back",
                                        "undo",
                                        "now",
                                        "exact",
                                        "resume",
                                        "odds 1",
                                        "odds 500"};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(lines); i++) {
        struct wr_order order;
        struct wr_buf out;
        wr_buf_init(&out, 1024);
        assert_true(wr_order_read(wr_span_of(lines[i]), &order));
        wr_order_write(&out, &order);
        assert_true(wr_span_is(wr_buf_view(&out), lines[i]));
        wr_buf_release(&out);
    }
}

static void what_is_no_order_is_refused(void **state)
{
    static const char *const lines[] = {
        "",         "pin",      "pin tool",         "pin tool ",         "pin x y",
        "undo it",  "Pin tool", "pin path a\nundo", "pin path \x1b[31m", "odds 0",
        "odds 501", "odds many"};
    char too_long[WR_ORDER_BYTES_MAX + 2];
    struct wr_order order;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(lines); i++)
        assert_false(wr_order_read(wr_span_of(lines[i]), &order));
    memset(too_long, 'a', sizeof(too_long) - 1);
    too_long[sizeof(too_long) - 1] = '\0';
    memcpy(too_long, "pin path ", 9);
    assert_false(wr_order_read(wr_span_of(too_long), &order));
}

static void pins_fit_what_is_meant(void **state)
{
    static const struct {
        const char *pattern, *name;
        bool is_path, fits;
    } rows[] = {
        {"Read", "Read", false, true},
        {"Read", "ReadAll", false, false},
        {"read_file", "mcp__fs__read_file", false, true},
        {"read_file", "fs.read_file", false, true},
        {"shell*", "shell_command", false, true},
        {"*", "", false, false},
        {"src/a.c", "src/a.c", true, true},
        {"src/a.c", "/home/me/src/a.c", true, true},
        {"./src/a.c", "/home/me/src/a.c", true, true},
        {"a.c", "src/ba.c", true, false},
        {"*.c", "/home/me/src/a.c", true, true},
        {"src/*", "/home/me/src/x/a.c", true, true},
        {"src/*", "/home/me/lib/a.c", true, false},
        {"*a*b*c*", "xaxbxc", true, true},
        {"*a*b*c*", "xaxcxb", true, false},
        {"", "a", true, false},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        weir_span pattern = wr_span_of(rows[i].pattern), name = wr_span_of(rows[i].name);
        bool fits =
            rows[i].is_path ? wr_pin_fits_path(pattern, name) : wr_pin_fits_tool(pattern, name);
        if (fits != rows[i].fits)
            fail_msg("'%s' and '%s'", rows[i].pattern, rows[i].name);
    }
}

/* ---- fold ---- */

/* What is said in the middle of a session, heard by its fold: which results are whole in the end,
 * and what the last step was for. Six files are read, a thousand tokens each, one a turn. */

enum { READS = 6, TURNS = READS + 1, BODY_BYTES_MAX = 1 << 20, LINES = 100 };

/* Nothing happens unless it is asked for. */
static const char policy[] =
    "policies: {p: {stages: [{stage: deepen, keep_turns: 1, over: 50, margin_pct: 100000, "
    "quiet_turns: 100000, gain_bp: 10000}]}}";

static void write_body(struct wr_buf *out, const char *thinking)
{
    wr_buf_init(out, BODY_BYTES_MAX);
    wr_buf_text(out, "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"weir_recall\"}}],"
                     "\"messages\":[{\"role\":\"user\",\"content\":\"go\"}");
    for (int i = 0; i < READS; i++) {
        wr_buf_printf(out,
                      ",{\"role\":\"assistant\",\"content\":null,%s\"tool_calls\":[{\"id\":\"c%d\","
                      "\"type\":\"function\",\"function\":{\"name\":\"Read\",\"arguments\":"
                      "\"{\\\"file_path\\\":\\\"src/f%d.c\\\"}\"}}]},"
                      "{\"role\":\"tool\",\"tool_call_id\":\"c%d\",\"content\":\"",
                      thinking, i, i, i);
        for (int line = 0; line < LINES; line++)
            wr_buf_printf(out, "int f_%d_%03d; /* the waters are calm */\\n", i, line);
        wr_buf_text(out, "\"}");
    }
    wr_buf_text(out, "]}");
    assert_int_equal(wr_buf_status(out), WEIR_OK);
}

/* "012345": the results that are whole. */
static void whole_results(const struct test_run *r, char text[READS + 1])
{
    const struct wr_transcript *t = &r->test.transcript;
    int number = 0, len = 0;

    for (uint32_t i = 0; i < t->segments_count; i++) {
        if (t->segments[i].kind != WEIR_KIND_TOOL_RESULT)
            continue;
        if (r->run.fold.segments[i].form == WR_FORM_EXACT)
            text[len++] = (char)('0' + number);
        number++;
    }
    text[len] = '\0';
}

struct said {
    uint32_t turn; /* before it; 0: nothing */
    const char *orders;
};

static const struct {
    const char *behaviour;
    struct said said[3];
    const char *whole, *reason; /* reason: of the last step; NULL: there is none */
} rows[] = {
    {"nothing is taken unasked", {{0}}, "012345", NULL},
    {"what is asked for is taken", {{5, "now"}}, "345", "asked"},
    {"once", {{5, "now"}, {6, ""}}, "345", "asked"},
    {"again where it is asked again", {{4, "now"}, {6, "now"}}, "45", "asked"},
    {"what is pinned stays", {{2, "pin path src/f1.c"}, {5, "now"}}, "1345", "asked"},
    {"a pattern pins what it fits", {{1, "pin path f*.c"}, {5, "now"}}, "012345", NULL},
    {"a tool is pinned with all of its results",
     {{1, "pin tool Read"}, {5, "now"}},
     "012345",
     NULL},
    {"another tool is none of ours", {{1, "pin tool Bash"}, {5, "now"}}, "345", "asked"},
    {"an unpinned one goes",
     {{1, "pin path src/f1.c"}, {2, "unpin path src/f1.c"}, {5, "now"}},
     "345",
     "asked"},
    {"what still another pin keeps does not",
     {{1, "pin path src/f1.c\npin tool Read"}, {2, "unpin tool Read"}, {5, "now"}},
     "1345",
     "asked"},
    {"a pin alone brings nothing back", {{4, "now"}, {5, "pin path src/f1.c"}}, "2345", "asked"},
    {"`back` does", {{4, "now"}, {5, "pin path src/f1.c\nback"}}, "12345", "pinned"},
    {"the next step does too", {{4, "now"}, {5, "pin path src/f1.c"}, {6, "now"}}, "145", "asked"},
    {"undo gives back what the step took", {{5, "now"}, {6, "undo"}}, "012345", "undone"},
    {"of the last step alone", {{4, "now"}, {5, "now"}, {6, "undo"}}, "2345", "undone"},
    {"what was never taken is not undone", {{5, "undo"}}, "012345", NULL},
    {"a step is undone once", {{4, "now"}, {5, "undo"}, {6, "undo"}}, "012345", "undone"},
    {"a line that is none is not heard", {{5, "now please"}}, "012345", NULL},
};

static void what_is_said_is_done(void **state)
{
    static struct wr_odds odds;
    struct wr_buf body;
    (void)state;
    assert_int_equal(wr_odds_read(&odds, wr_odds_embedded(), NULL), WEIR_OK);
    write_body(&body, "");
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_fold_turn turns[TURNS] = {{0}};
        struct test_run_facts facts = {.window_tokens = 1000000, .odds = &odds, .turns = turns};
        struct test_run r;
        char whole[READS + 1];
        for (size_t k = 0; k < WR_COUNT_OF(rows[i].said) && rows[i].said[k].turn; k++)
            turns[rows[i].said[k].turn].orders = wr_span_of(rows[i].said[k].orders);
        test_run_open_with(&r, wr_buf_view(&body), policy, &facts);
        whole_results(&r, whole);
        const struct wr_fold *fold = &r.run.fold;
        const char *reason =
            fold->steps_count ? wr_step_reason_text(fold->steps[fold->steps_count - 1].reason) : "";
        if (strcmp(whole, rows[i].whole) || strcmp(reason, rows[i].reason ? rows[i].reason : ""))
            fail_msg("%s: %s are whole, the last step was '%s'", rows[i].behaviour, whole, reason);
        test_run_close(&r);
    }
    wr_buf_release(&body);
}

/* Groups leave around one that somebody keeps, and no other is kept with it. */
static void a_pin_keeps_its_group_and_no_other(void **state)
{
    static const char drops[] = "policies: {p: {stages: [{stage: drop_groups}]}}";
    static const struct {
        const char *orders;
        bool has_first, has_second; /* of the results */
    } kept[] = {{"", false, false},
                {"pin path src/f0.c", true, false},
                {"pin path src/f1.c", false, true},
                {"pin tool Bash", false, false}};
    struct wr_buf body;
    (void)state;
    write_body(&body, "");
    for (size_t i = 0; i < WR_COUNT_OF(kept); i++) {
        struct wr_fold_turn turns[TURNS] = {{0}};
        struct test_run_facts facts = {.window_tokens = 5000, .turns = turns};
        struct test_run r;
        char whole[READS + 1];
        turns[1].orders = wr_span_of(kept[i].orders);
        test_run_open_with(&r, wr_buf_view(&body), drops, &facts);
        whole_results(&r, whole);
        if (kept[i].has_first != (strchr(whole, '0') != NULL) ||
            kept[i].has_second != (strchr(whole, '1') != NULL) || !strchr(whole, '5'))
            fail_msg("'%s': %s are whole", kept[i].orders, whole);
        test_run_close(&r);
    }
    wr_buf_release(&body);
}

/* What was left out comes back with all that its message costs, and the notice of it goes; what had
 * another form costs no more than its text. At 6,041 tokens all of it fills the window. */
static void an_undo_counts_what_came_back(void **state)
{
    static const char sums_up[] =
        "policies: {p: {stages: [{stage: summary, at_bp: 8000, head: 1, tail: 2}]}}";
    static const struct {
        const char *yaml, *before, *last;
        uint64_t room_tokens;
        const char *whole;
    } undone[] = {{sums_up, "", "", 6041, "45"},
                  {sums_up, "", "undo", 6041, "012345"},
                  {sums_up, "", "undo", 6040, "45"},
                  {policy, "now", "undo", 6041, "012345"}};
    static struct wr_odds odds;
    struct wr_buf body;
    (void)state;
    assert_int_equal(wr_odds_read(&odds, wr_odds_embedded(), NULL), WEIR_OK);
    write_body(&body, "");
    for (size_t i = 0; i < WR_COUNT_OF(undone); i++) {
        struct wr_fold_turn turns[TURNS] = {{0}};
        struct test_run_facts facts = {.window_tokens = undone[i].room_tokens,
                                       .overhead_tokens = 10,
                                       .odds = &odds,
                                       .turns = turns};
        struct test_run r;
        char whole[READS + 1];
        turns[TURNS - 2].orders = wr_span_of(undone[i].before);
        turns[TURNS - 1].orders = wr_span_of(undone[i].last);
        test_run_open_with(&r, wr_buf_view(&body), undone[i].yaml, &facts);
        const struct wr_fold *fold = &r.run.fold;
        whole_results(&r, whole);
        assert_string_equal(whole, undone[i].whole);
        assert_int_equal(fold->total_tokens, wr_fold_tokens_from(fold, 0, fold->arrived));
        test_run_close(&r);
    }
    wr_buf_release(&body);
}

/* Thinking that is bound to what stands before it bars every step inside the loop: what was said
 * stays due. */
static void bound_thinking_makes_it_wait(void **state)
{
    static const char thinking[] =
        "\"thinking_blocks\":[{\"type\":\"thinking\",\"thinking\":\"hm\","
        "\"signature\":\"c2ln\"}],";
    static const char *const orders[] = {"now", "undo", "pin tool Read\nback"};
    static struct wr_odds odds;
    struct wr_buf body;
    (void)state;
    assert_int_equal(wr_odds_read(&odds, wr_odds_embedded(), NULL), WEIR_OK);
    write_body(&body, thinking);
    for (size_t i = 0; i < WR_COUNT_OF(orders); i++) {
        struct wr_fold_turn turns[TURNS] = {{0}};
        struct test_run_facts facts = {
            .window_tokens = 1000000, .odds = &odds, .turns = turns, .binds_thinking = true};
        struct test_run r;
        char whole[READS + 1];
        turns[4].orders = wr_span_of(orders[i]);
        test_run_open_with(&r, wr_buf_view(&body), policy, &facts);
        whole_results(&r, whole);
        assert_true(r.run.fold.has_signed);
        assert_string_equal(whole, "012345");
        assert_int_equal(r.run.fold.steps_count, 0);
        assert_true(wr_fold_is_due(&r.run.fold));
        test_run_close(&r);
    }
    wr_buf_release(&body);
}

/* The odds that a session began with decide as any others do: with ten times the odds of a blind
 * quote at their price nothing is worth taking. */
static void learned_odds_are_heard(void **state)
{
    static const char weighs[] =
        "policies: {p: {stages: [{stage: weigh, over: 300, margin_pct: 0, miss_tokens: 0, "
        "quote_tokens: 20000}]}}";
    static const char table[] =
        "# version\t1\n# turns_left\t40\n# turns_left_min\t40\n# recall_tokens\t600\n"
        "# call_tokens\t80\n# prompt_tokens\t60000\n"
        "other\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t10\t10\t10\t10\n";
    static const struct {
        const char *orders, *whole;
    } heard[] = {{"", ""}, {"odds 300", "345"}, {"odds 100", ""}, {"odds 0", ""}, {"odds 501", ""}};
    struct wr_odds odds;
    struct wr_buf body;
    (void)state;
    assert_int_equal(wr_odds_read(&odds, wr_span_of(table), NULL), WEIR_OK);
    write_body(&body, "");
    for (size_t i = 0; i < WR_COUNT_OF(heard); i++) {
        struct wr_fold_turn turns[TURNS] = {{0}};
        struct test_run_facts facts = {.window_tokens = 1000000, .odds = &odds, .turns = turns};
        struct test_run r;
        char whole[READS + 1];
        turns[4].orders = wr_span_of(heard[i].orders); /* what came before is as it was */
        test_run_open_with(&r, wr_buf_view(&body), weighs, &facts);
        whole_results(&r, whole);
        if (strcmp(whole, heard[i].whole))
            fail_msg("%s: %s are whole", heard[i].orders, whole);
        test_run_close(&r);
    }
    wr_buf_release(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_read_and_written_again),
        cmocka_unit_test(what_is_no_order_is_refused),
        cmocka_unit_test(pins_fit_what_is_meant),
        cmocka_unit_test(what_is_said_is_done),
        cmocka_unit_test(a_pin_keeps_its_group_and_no_other),
        cmocka_unit_test(an_undo_counts_what_came_back),
        cmocka_unit_test(bound_thinking_makes_it_wait),
        cmocka_unit_test(learned_odds_are_heard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
