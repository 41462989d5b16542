#include "engine/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"
#include "engine/record.h"
#include "policy/stage.h"
#include "tests/test_run.h"

/* ---- run ---- */

/* Steps over signed thinking that a gateway hands on in a field beside the content, as
 * `thinking_blocks` or `reasoning_details`: the thinking leaves, call and result stay a pair. And
 * what a run says of itself: the tokens that leave, and what was done. */

enum { BODY_BYTES_MAX = 1 << 20, WINDOW_TOKENS = 4000 };

#define SIGNED   "{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"c2ln\"}"
#define REDACTED "{\"type\":\"redacted_thinking\",\"data\":\"c2ln\"}"
#define DETAIL   "{\"type\":\"reasoning.text\",\"text\":\"hm\",\"signature\":\"c2ln\"}"

/* Results become [cleared]; the newest stays, and no group leaves. */
#define CLEAR "policies: {p: {stages: [{stage: clear, at_bp: 1000, keep: 1}]}}"
/* The oldest groups leave whole. */
#define DROP "policies: {p: {stages: [{stage: drop_groups}]}}"

/* A call whose message has `fields` beside it, and its result of 1000 tokens. */
static void write_pair(struct wr_buf *out, uint32_t id, const char *content, const char *fields)
{
    wr_buf_printf(out,
                  ",{\"role\":\"assistant\",\"content\":%s,%s\"tool_calls\":[{\"id\":\"c%u\","
                  "\"type\":\"function\",\"function\":{\"name\":\"Bash\",\"arguments\":\"{}\"}}]},"
                  "{\"role\":\"tool\",\"tool_call_id\":\"c%u\",\"content\":\"",
                  content, fields, id, id);
    for (int i = 0; i < 100; i++)
        wr_buf_printf(out, "row %04u/%04d: the waters here are calm\\n", id, i);
    wr_buf_text(out, "\"}");
}

static void write_body(struct wr_buf *out, const char *content, const char *fields)
{
    wr_buf_init(out, BODY_BYTES_MAX);
    wr_buf_text(out, "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"weir_recall\"}}],"
                     "\"messages\":[{\"role\":\"user\",\"content\":\"go\"}");
    for (uint32_t i = 1; i <= 4; i++)
        write_pair(out, i, content, fields);
    wr_buf_text(out, ",{\"role\":\"assistant\",\"content\":\"done\"},"
                     "{\"role\":\"user\",\"content\":\"and now?\"}]}");
}

static const struct {
    const char *behaviour, *yaml, *content, *fields;
    const char *left; /* in the place of the fields */
    uint32_t calls;   /* that stay */
} cases[] = {
    {"one block leaves its field", CLEAR, "null", "\"thinking_blocks\":[" SIGNED "],",
     "\"content\":null,\"thinking_blocks\":[],\"tool_calls\"", 4},
    {"all blocks do", CLEAR, "null", "\"thinking_blocks\":[ " SIGNED " ,\n" REDACTED "],",
     "\"content\":null,\"thinking_blocks\":[", 4},
    {"words beside them stay", CLEAR, "\"so be it\"", "\"thinking_blocks\":[" SIGNED "],",
     "\"content\":\"so be it\",\"thinking_blocks\":[],\"tool_calls\"", 4},
    {"another gateway's field", CLEAR, "null", "\"reasoning_details\":[" DETAIL "," DETAIL "],",
     "\"reasoning_details\":[],\"tool_calls\"", 4},
    {"reasoning that nobody signed stays", CLEAR, "null",
     "\"reasoning_content\":\"hm\",\"thinking_blocks\":[" SIGNED "],",
     "\"reasoning_content\":\"hm\",\"thinking_blocks\":[],\"tool_calls\"", 4},
    {"a group that leaves takes its thinking, the others lose theirs", DROP, "null",
     "\"thinking_blocks\":[" SIGNED "],", "\"thinking_blocks\":[],\"tool_calls\"", 2},
    {"one whose thinking a stage before has taken can leave",
     "policies: {p: {stages: [{stage: clear, at_bp: 1000, keep: 1}, {stage: drop_groups, "
     "margin_bp: 9000}]}}",
     "null", "\"thinking_blocks\":[" SIGNED "],", "\"content\":\"done\"", 0},
};

static uint32_t count_calls(weir_span body)
{
    uint32_t count = 0;
    for (size_t at = 0; (at = wr_span_find(body, WR_LIT("\"tool_calls\":"), at)) != SIZE_MAX; at++)
        count++;
    return count;
}

static void thinking_leaves_its_field_and_the_call_stays(void **state)
{
    struct test_run_facts facts = {.window_tokens = WINDOW_TOKENS, .binds_thinking = true};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_buf body;
        struct test_run r;
        write_body(&body, cases[i].content, cases[i].fields);
        test_run_open_with(&r, wr_buf_view(&body), cases[i].yaml, &facts);
        weir_span out = r.run.settled.body;
        if (!r.run.step.is_taken || r.run.settled.is_fallback)
            fail_msg("%s: no step", cases[i].behaviour);
        if (wr_span_find(out, WR_LIT("c2ln"), 0) != SIZE_MAX)
            fail_msg("%s: a signature is left", cases[i].behaviour);
        if (wr_span_find(out, wr_span_of(cases[i].left), 0) == SIZE_MAX ||
            count_calls(out) != cases[i].calls)
            fail_msg("%s: got %.*s", cases[i].behaviour, (int)out.len, out.ptr);
        test_run_close(&r);
        wr_buf_release(&body);
    }
}

/* ---- what a run says of itself ---- */

static weir_span report_of(const struct wr_run *run, struct wr_buf *out)
{
    struct wr_record record = {0};
    wr_buf_init(out, BODY_BYTES_MAX);
    assert_int_equal(wr_run_record(run, &record), WEIR_OK);
    wr_record_report(&record, out);
    assert_int_equal(wr_buf_status(out), WEIR_OK);
    return wr_buf_view(out);
}

static uint64_t sum_of(const uint64_t tokens[WR_CATEGORIES_COUNT])
{
    uint64_t sum = 0;
    for (int i = 0; i < WR_CATEGORIES_COUNT; i++)
        sum += tokens[i];
    return sum;
}

/* By kind, before and after; what was taken out is missing where it was. */
static void what_a_prompt_consists_of_adds_up(void **state)
{
    static const struct {
        const char *yaml;
        bool are_results_fewer, is_other_more;
    } rows[] = {{"policies: {p: {stages: []}}", false, false},
                {CLEAR, true, false},
                {"policies: {p: {stages: [{stage: fold_loops}]}}", true, true}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_record record = {0};
        struct wr_buf body;
        struct test_run r;
        write_body(&body, "null", "");
        test_run_open(&r, wr_buf_view(&body), rows[i].yaml, WINDOW_TOKENS);
        assert_int_equal(wr_run_record(&r.run, &record), WEIR_OK);
        const uint64_t *came = record.came_tokens, *made = record.made_tokens;
        assert_int_equal(sum_of(came), r.run.tokens_before);
        assert_int_equal(sum_of(made), r.run.tokens_after);
        assert_true(came[WR_CATEGORY_USER] && came[WR_CATEGORY_RESULTS]);
        assert_int_equal(made[WR_CATEGORY_USER], came[WR_CATEGORY_USER]);
        assert_int_equal(made[WR_CATEGORY_RESULTS] < came[WR_CATEGORY_RESULTS],
                         rows[i].are_results_fewer);
        assert_int_equal(made[WR_CATEGORY_OTHER] > came[WR_CATEGORY_OTHER], rows[i].is_other_more);
        test_run_close(&r);
        wr_buf_release(&body);
    }
}

static void the_report_names_what_was_done(void **state)
{
    static const struct {
        const char *yaml, *mode;
    } rows[] = {
        {"policies: {p: {stages: []}}", "exact_pass_through"},
        {CLEAR, "minimal_refs_only"},
        {"policies: {p: {stages: [{stage: cap, max_tokens: 200}]}}", "artifact_condensed"},
        {"policies: {p: {stages: [{stage: fold_loops}]}}", "artifact_condensed"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_buf body, report;
        struct test_run r;
        char mode[64];
        write_body(&body, "null", "");
        test_run_open(&r, wr_buf_view(&body), rows[i].yaml, WINDOW_TOKENS);
        (void)snprintf(mode, sizeof(mode), "\"budget_mode\":\"%s\"", rows[i].mode);
        if (wr_span_find(report_of(&r.run, &report), wr_span_of(mode), 0) == SIZE_MAX)
            fail_msg("%s: not %s", rows[i].yaml, mode);
        test_run_close(&r);
        wr_buf_release(&report);
        wr_buf_release(&body);
    }
}

/* A stage that makes up an error: validation takes its forms back (law L5). */
static weir_status invent(struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment)
{
    struct wr_fold_form form = {.form = WR_FORM_CONDENSED,
                                .text = WR_LIT("src/a.c:1:1: error: not so"),
                                .refers_to = WR_SEGMENT_NONE};
    return wr_fold_is_open(fold, stage, segment) ? wr_fold_give(fold, segment, &form) : WEIR_OK;
}

static void what_was_taken_back_counts_as_it_leaves(void **state)
{
    static const struct wr_stage_def inventing = {.name = "invent", .arrive = invent};
    static const struct wr_policy policy = {
        .name = "p", .stages = {{.def = &inventing}}, .stages_count = 1};
    struct wr_run run;
    struct wr_buf body, out;
    struct test_run r;
    (void)state;

    write_body(&body, "null", "");
    test_run_open(&r, wr_buf_view(&body), "policies: {p: {stages: []}}", WINDOW_TOKENS);
    r.input.policy = &policy;
    wr_buf_init(&out, BODY_BYTES_MAX);
    assert_int_equal(wr_run_policy(&run, &r.test.arena, &r.input, NULL, &out, NULL), WEIR_OK);
    assert_int_equal(run.settled.rolled_back_count, 4);
    assert_false(run.settled.is_fallback);
    assert_true(run.fold.total_tokens < run.tokens_before);
    assert_int_equal(run.tokens_after, run.tokens_before);
    wr_buf_release(&out);
    test_run_close(&r);
    wr_buf_release(&body);
}

/* A stage that leaves out a result and not its call, which no plan can do. */
static weir_status forget_half(struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment)
{
    (void)stage;
    if (fold->transcript->segments[segment].kind == WEIR_KIND_TOOL_RESULT)
        fold->segments[segment].form = WR_FORM_DROPPED;
    return WEIR_OK;
}

/* Law L6: doubt about one change is doubt about the whole. */
static void what_cannot_be_planned_leaves_as_it_came(void **state)
{
    static const struct wr_stage_def forgetting = {.name = "forget", .arrive = forget_half};
    static const struct wr_policy policy = {
        .name = "p", .stages = {{.def = &forgetting}}, .stages_count = 1};
    struct wr_run run;
    struct wr_buf body, out;
    struct test_run r;
    (void)state;

    write_body(&body, "null", "");
    test_run_open(&r, wr_buf_view(&body), "policies: {p: {stages: []}}", WINDOW_TOKENS);
    r.input.policy = &policy;
    wr_buf_init(&out, BODY_BYTES_MAX);
    assert_int_equal(wr_run_policy(&run, &r.test.arena, &r.input, NULL, &out, NULL), WEIR_OK);
    assert_true(run.settled.is_fallback);
    assert_ptr_equal(run.settled.body.ptr, body.bytes);
    assert_int_equal(run.settled.body.len, body.len);
    assert_string_equal(run.settled.first.what, "a change was not possible");
    assert_int_equal(run.tokens_after, run.tokens_before);
    assert_int_equal(run.originals_count, 0);
    assert_true(run.settled.rolled_back_count > 0);
    assert_int_equal(run.settled.rolled_back_count, run.plan.changes_count);
    for (uint32_t i = 0; i < run.plan.changes_count; i++) {
        assert_true(run.plan.changes[i].is_rolled_back);
        assert_string_equal(run.plan.changes[i].reason, "a change was not possible");
    }
    wr_buf_release(&out);
    test_run_close(&r);
    wr_buf_release(&body);
}

/* ---- over window ---- */

/* What a report says of a prompt that is over its window, and of one that is not. Four bytes are a
 * token. */

enum { OVER_WINDOW_BODY_BYTES_MAX = 1 << 20, OVER_WINDOW_WINDOW_TOKENS = 1000 };

#define AUTO              "policies: {p: {like: auto}}"
#define EXACT             "policies: {p: {like: exact}}"
#define OVER_WINDOW_CLEAR "policies: {p: {stages: [{stage: clear, at_bp: 5000, keep: 0}]}}"

struct prompt {
    uint32_t system_tokens, user_tokens, result_tokens;
    bool is_failure, has_thinking, has_no_recall, has_no_store;
};

static const struct {
    const char *behaviour, *yaml;
    struct prompt prompt;
    const char *expected; /* part of it; NULL: nothing is said */
} over_window_cases[] = {
    {"it fits", AUTO, {100, 100, 100, false, false, false, false}, NULL},
    {"a result gives way", AUTO, {100, 100, 2000, false, false, false, false}, NULL},
    {"the user's words", AUTO, {300, 1500, 100, false, false, false, false}, "user's words"},
    {"instructions", AUTO, {1500, 300, 100, false, false, false, false}, "instructions and tools"},
    {"a failure that has just come",
     OVER_WINDOW_CLEAR,
     {100, 100, 2000, true, false, false, false},
     "just come"},
    {"it gives way where it would be refused",
     AUTO,
     {100, 100, 2000, true, false, false, false},
     NULL},
    {"a failure beside thinking",
     OVER_WINDOW_CLEAR,
     {100, 100, 2000, true, true, false, false},
     "signed thinking"},
    {"no recall and no store", AUTO, {100, 100, 2000, false, false, true, true}, "no store"},
    {"no recall and no last resort",
     OVER_WINDOW_CLEAR,
     {100, 100, 2000, false, false, true, false},
     "no way back"},
    {"a last resort needs none", AUTO, {100, 100, 2000, false, false, true, false}, NULL},
    {"a result beside words that are too much",
     AUTO,
     {700, 600, 2000, false, false, false, false},
     "instructions and tools"},
    {"nothing is ever taken",
     EXACT,
     {100, 100, 2000, false, false, false, false},
     "policy takes nothing"},
};

static void write_lines(struct wr_buf *out, uint32_t tokens)
{
    for (uint32_t i = 0; i < tokens / 10; i++)
        wr_buf_printf(out, "row number %04u: the waters are calm....\\n", i);
}

static void over_window_write_body(struct wr_buf *out, const struct prompt *p)
{
    wr_buf_init(out, OVER_WINDOW_BODY_BYTES_MAX);
    wr_buf_printf(
        out,
        "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"%s\"}}],\"messages\":["
        "{\"role\":\"system\",\"content\":\"",
        p->has_no_recall ? "other" : "weir_recall");
    write_lines(out, p->system_tokens);
    wr_buf_text(out, "\"},{\"role\":\"user\",\"content\":\"");
    write_lines(out, p->user_tokens);
    wr_buf_printf(out, "\"},{\"role\":\"assistant\",\"content\":null,%s\"tool_calls\":[",
                  p->has_thinking ? "\"thinking_blocks\":[{\"type\":\"thinking\",\"thinking\":"
                                    "\"hm\",\"signature\":\"s\"}],"
                                  : "");
    wr_buf_text(out, "{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"Bash\","
                     "\"arguments\":\"{\\\"command\\\":\\\"make\\\"}\"}}]},"
                     "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"");
    wr_buf_text(out, p->is_failure ? "Exit code 1\\n" : "");
    write_lines(out, p->result_tokens);
    wr_buf_text(out, "\"}]}");
}

static void the_report_says_why_a_prompt_is_over_its_window(void **state)
{
    struct test_run_facts facts = {.window_tokens = OVER_WINDOW_WINDOW_TOKENS,
                                   .binds_thinking = true};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(over_window_cases); i++) {
        struct wr_buf body;
        struct test_run r;
        over_window_write_body(&body, &over_window_cases[i].prompt);
        facts.keeps_originals = !over_window_cases[i].prompt.has_no_store;
        test_run_open_with(&r, wr_buf_view(&body), over_window_cases[i].yaml, &facts);
        const char *said = wr_over_window(&r.run), *expected = over_window_cases[i].expected;
        if (!said != !expected || (said && !strstr(said, expected)))
            fail_msg("%s: %s", over_window_cases[i].behaviour, said ? said : "nothing was said");
        test_run_close(&r);
        wr_buf_release(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_prompt_consists_of_adds_up),
        cmocka_unit_test(the_report_names_what_was_done),
        cmocka_unit_test(what_was_taken_back_counts_as_it_leaves),
        cmocka_unit_test(what_cannot_be_planned_leaves_as_it_came),
        cmocka_unit_test(thinking_leaves_its_field_and_the_call_stays),
        cmocka_unit_test(the_report_says_why_a_prompt_is_over_its_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
