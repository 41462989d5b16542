/* Small requests folded by small policies; a listing names every segment that is not exact. */
#include "policy/fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "policy/stage.h"
#include "wire/test_transcript.h"

enum { BODY_BYTES_MAX = 1 << 20 };

struct folded {
    struct test_transcript test;
    struct wr_ways ways;
    struct wr_fold_input input;
    struct wr_fold fold;
};

static void fold_body(struct folded *f, weir_span body, const struct wr_policy *policy,
                      uint64_t window_tokens)
{
    test_transcript_open(&f->test, body);
    const struct wr_transcript *t = &f->test.transcript;
    uint64_t *tokens = WR_ARENA_ARRAY(&f->test.arena, uint64_t, t->segments_count);
    for (uint32_t i = 0; i < t->segments_count; i++)
        tokens[i] = test_count(NULL, wr_segment_text(t, &t->segments[i], &f->test.arena));
    assert_int_equal(wr_ways_read(&f->ways, &f->test.arena, t), WEIR_OK);
    f->input = (struct wr_fold_input){.transcript = t,
                                      .tokens = tokens,
                                      .policy = policy,
                                      .ways = &f->ways,
                                      .window_tokens = window_tokens,
                                      .count = test_count};
    assert_int_equal(wr_fold_run(&f->fold, &f->test.arena, &f->input), WEIR_OK);
}

/* "b:cleared d:masked step:pressure": call ids of results that are not exact, and the step taken
 * now. */
static void list_forms(const struct folded *f, struct wr_buf *out)
{
    const struct wr_transcript *t = &f->test.transcript;
    for (uint32_t i = 0; i < t->segments_count; i++) {
        if (t->segments[i].kind != WEIR_KIND_TOOL_RESULT ||
            f->fold.segments[i].form == WR_FORM_EXACT)
            continue;
        wr_buf_append(out, t->segments[i].call_id);
        wr_buf_printf(out, ":%s ", wr_form_name(f->fold.segments[i].form));
    }
    const struct wr_fold_step *step = wr_fold_step_now(&f->fold);
    if (step)
        wr_buf_printf(out, "step:%s ", wr_step_reason_text(step->reason));
}

/* A chat request: a result of `sizes[i]` bytes for each letter from 'a', each in its own turn. */
struct session {
    const char *tools; /* JSON of the tools list; NULL: weir_recall is offered */
    const size_t *sizes;
    size_t count;
    const char *tool;
    const char *ending; /* further messages, with a leading comma; NULL: none */
};

static void write_session(struct wr_buf *out, const struct session *s)
{
    wr_buf_printf(
        out,
        "{\"model\":\"m\",\"tools\":[%s],\"messages\":[{\"role\":\"user\",\"content\":\"start\"}",
        s->tools ? s->tools
                 : "{\"type\":\"function\",\"function\":{\"name\":\"mcp__weir__weir_recall\"}}");
    for (size_t i = 0; i < s->count; i++) {
        char id = (char)('a' + i);
        wr_buf_printf(out,
                      ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"%c\","
                      "\"type\":\"function\","
                      "\"function\":{\"name\":\"%s\",\"arguments\":\"{}\"}}]},"
                      "{\"role\":\"tool\",\"tool_call_id\":\"%c\",\"content\":\"",
                      id, s->tool, id);
        for (size_t b = 0; b < s->sizes[i]; b++)
            wr_buf_byte(out, b % 60 == 59 ? ' ' : id);
        wr_buf_text(out, "\"}");
    }
    wr_buf_printf(out, "%s]}", s->ending ? s->ending : "");
}

static const size_t even[] = {2000, 2000, 2000, 2000, 2000, 2000};
static const size_t one_large[] = {2000, 100000, 2000};
static const size_t tiny[] = {40, 40, 40, 40, 40, 40};

static const struct wr_policy mask_policy = {
    .name = "mask", .stages = {{.def = &wr_stage_mask, .params = {1, 1, 1}}}, .stages_count = 1};
static const struct wr_policy mask_off_policy = {
    .name = "mask", .stages = {{.def = &wr_stage_mask, .params = {0, 0, 1}}}, .stages_count = 1};
static const struct wr_policy mask_batch_policy = {
    .name = "mask", .stages = {{.def = &wr_stage_mask, .params = {1, 1, 4}}}, .stages_count = 1};
static const struct wr_policy clear_policy = {
    .name = "clear",
    .stages = {{.def = &wr_stage_clear, .params = {5000, 1000, 2, 0}}},
    .stages_count = 1};
static const struct wr_tool_rule protected_tools[] = {
    {.tool = "keep_me", .is_exact = true},
    {.tool = "young", .set = 1U << WR_CLEAR_OLDER_TURNS, .params = {0, 0, 0, 3}}};
static const struct wr_policy clear_exempt_policy = {.name = "clear",
                                                     .stages = {{.def = &wr_stage_clear,
                                                                 .params = {5000, 1000, 2, 0},
                                                                 .tools = protected_tools,
                                                                 .tools_count = 2}},
                                                     .stages_count = 1};
static const struct wr_tool_rule evict_tools[] = {
    {.tool = "read_file", .is_exact = true},
    {.tool = "chatty", .set = 1U << WR_EVICT_OVER_TOKENS, .params = {400}}};
static const struct wr_policy evict_policy = {.name = "evict",
                                              .stages = {{.def = &wr_stage_evict,
                                                          .params = {20000, 5, 5, 1000},
                                                          .tools = evict_tools,
                                                          .tools_count = 2}},
                                              .stages_count = 1};
static const struct wr_tool_rule cap_tools[] = {
    {.tool = "chatty", .set = 1U << WR_CAP_MAX_TOKENS, .params = {100}}};
static const struct wr_policy cap_policy = {.name = "cap",
                                            .stages = {{.def = &wr_stage_cap,
                                                        .params = {8000, WR_CAP_BOTH},
                                                        .tools = cap_tools,
                                                        .tools_count = 1}},
                                            .stages_count = 1};
static const struct wr_policy drop_policy = {
    .name = "drop",
    .stages = {{.def = &wr_stage_drop_groups, .params = {1000}}},
    .stages_count = 1};

static const struct wr_policy loops_policy = {
    .name = "loops",
    .stages = {{.def = &wr_stage_fold_loops, .params = {0, 10}}},
    .stages_count = 1};

static const struct wr_policy reference_policy = {
    .name = "reference",
    .stages = {{.def = &wr_stage_reference, .params = {50}}},
    .stages_count = 1};

#define SAYS(role, text) ",{\"role\":\"" role "\",\"content\":\"" text "\"}"
#define DONE             SAYS("assistant", "done") SAYS("user", "next")
#define MARKED                                                                       \
    ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"z\","       \
    "\"type\":\"function\",\"function\":{\"name\":\"run\",\"arguments\":\"{}\"}}]}," \
    "{\"role\":\"tool\",\"tool_call_id\":\"z\",\"content\":\"[cleared]\\n"           \
    "[weir wr_0123456789abcdef0123: ~9 tokens left out]\"}"

#define FIFTY "fifty characters of a text that is the same again "
#define SAME  FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY
#define SHOWS(id, text)                                                              \
    ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"" id "\","  \
    "\"type\":\"function\",\"function\":{\"name\":\"run\",\"arguments\":\"{}\"}}]}," \
    "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"" text "\"}"

static const struct {
    const char *behaviour;
    const struct wr_policy *policy;
    struct session session;
    uint64_t window_tokens;
    const char *expected;
} cases[] = {
    {"the middle is masked as soon as one lies in it",
     &mask_policy,
     {NULL, even, 6, "run", NULL},
     100000,
     "b:masked c:masked d:masked e:masked step:pressure "},
    {"both numbers zero: nothing is masked",
     &mask_off_policy,
     {NULL, even, 6, "run", NULL},
     100000,
     ""},
    {"nothing is masked before a batch lies in the middle",
     &mask_batch_policy,
     {NULL, even, 5, "run", NULL},
     100000,
     ""},
    {"then the whole batch is, in one step",
     &mask_batch_policy,
     {NULL, even, 6, "run", NULL},
     100000,
     "b:masked c:masked d:masked e:masked step:pressure "},
    {"results too small to be worth it stay",
     &mask_policy,
     {NULL, tiny, 6, "run", NULL},
     100000,
     ""},
    {"below the threshold nothing is cleared",
     &clear_policy,
     {NULL, even, 6, "run", NULL},
     100000,
     ""},
    {"above it all but the last two are",
     &clear_policy,
     {NULL, even, 5, "run", NULL},
     5000,
     "a:cleared b:cleared c:cleared step:pressure "},
    {"and stay so, without another step",
     &clear_policy,
     {NULL, even, 6, "run", NULL},
     5000,
     "a:cleared b:cleared c:cleared "},
    {"without a window the number of tokens decides",
     &clear_policy,
     {NULL, even, 3, "run", NULL},
     0,
     "a:cleared step:pressure "},
    {"a protected tool is never cleared",
     &clear_exempt_policy,
     {NULL, even, 6, "keep_me", NULL},
     5000,
     ""},
    {"a tool may have to be older than others",
     &clear_exempt_policy,
     {NULL, even, 6, "young", NULL},
     5000,
     "a:cleared b:cleared step:pressure "},
    {"no way back: nothing is taken", &clear_policy, {"", even, 6, "run", NULL}, 5000, ""},
    {"a very large result leaves as it arrives, without a step",
     &evict_policy,
     {NULL, one_large, 3, "run", NULL},
     200000,
     "b:evicted "},
    {"or at a size of its tool's own",
     &evict_policy,
     {NULL, even, 2, "chatty", NULL},
     200000,
     "a:evicted b:evicted "},
    {"a tool that is exempt is not evicted, whoever offers it",
     &evict_policy,
     {NULL, one_large, 3, "mcp__fs__read_file", NULL},
     200000,
     ""},
    {"a tool that is exempt is not evicted",
     &evict_policy,
     {NULL, one_large, 3, "read_file", NULL},
     200000,
     ""},
    {"a result over the cap is cut as it arrives",
     &cap_policy,
     {NULL, one_large, 3, "run", NULL},
     200000,
     "b:capped "},
    {"the cap may be a tool's own",
     &cap_policy,
     {NULL, even, 2, "mcp__x__chatty", NULL},
     200000,
     "a:capped b:capped "},
    {"a completed loop folds",
     &loops_policy,
     {NULL, even, 2, "run", DONE},
     100000,
     "a:dropped b:dropped step:loop completed "},
    {"a loop that came with a marker was left standing, and stays",
     &loops_policy,
     {NULL, even, 2, "run", MARKED DONE},
     100000,
     ""},
    {"the same text again becomes a reference",
     &reference_policy,
     {NULL, even, 1, "run", SHOWS("x", SAME) SHOWS("y", SAME) SHOWS("z", SAME)},
     100000,
     "y:reference z:reference "},
    {"a short one does not",
     &reference_policy,
     {NULL, even, 1, "run", SHOWS("x", FIFTY) SHOWS("y", FIFTY)},
     100000,
     ""},
    {"what fits is not dropped", &drop_policy, {NULL, even, 6, "run", NULL}, 100000, ""},
    {"the oldest groups leave when it does not fit",
     &drop_policy,
     {NULL, even, 6, "run", NULL},
     3000,
     "a:dropped b:dropped step:window "},
};

static void segments_get_the_forms_their_policy_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct folded f;
        struct wr_buf body, listing;
        wr_buf_init(&body, BODY_BYTES_MAX);
        wr_buf_init(&listing, BODY_BYTES_MAX);
        write_session(&body, &cases[i].session);
        fold_body(&f, wr_buf_view(&body), cases[i].policy, cases[i].window_tokens);
        list_forms(&f, &listing);
        test_text_is(cases[i].behaviour, wr_buf_view(&listing), cases[i].expected);
        test_transcript_close(&f.test);
        wr_buf_release(&listing);
        wr_buf_release(&body);
    }
}

static void a_form_ends_with_the_marker_that_brings_it_back(void **state)
{
    struct session session = {NULL, even, 6, "run", NULL};
    struct folded f;
    struct wr_buf body;
    struct wr_handle handle, found;
    (void)state;

    wr_buf_init(&body, BODY_BYTES_MAX);
    write_session(&body, &session);
    fold_body(&f, wr_buf_view(&body), &clear_policy, 5000);
    uint32_t first = test_transcript_find(&f.test, WEIR_KIND_TOOL_RESULT, 0);
    const struct wr_fold_segment *now = &f.fold.segments[first];
    weir_span original =
        wr_segment_text(&f.test.transcript, &f.test.transcript.segments[first], &f.test.arena);
    assert_int_equal(wr_handle_of(original, &handle), WEIR_OK);
    assert_true(wr_marker_find(now->text, &found));
    assert_string_equal(handle.text, found.text);
    assert_true(wr_span_starts(now->text, WR_LIT("[cleared]\n[weir wr_")));
    assert_true(wr_span_find(now->text, WR_LIT("mcp__weir__weir_recall {\"handle\":\"wr_"), 0) !=
                SIZE_MAX);
    test_transcript_close(&f.test);
    wr_buf_release(&body);
}

static void the_fold_of_a_longer_session_extends_the_fold_of_a_shorter_one(void **state)
{
    struct folded shorter, longer;
    struct wr_buf a, b;
    (void)state;

    for (size_t n = 1; n < 6; n++) {
        struct session first = {NULL, even, n, "run", NULL},
                       second = {NULL, even, n + 1, "run", NULL};
        wr_buf_init(&a, BODY_BYTES_MAX);
        wr_buf_init(&b, BODY_BYTES_MAX);
        write_session(&a, &first);
        write_session(&b, &second);
        fold_body(&shorter, wr_buf_view(&a), &clear_policy, 5000);
        fold_body(&longer, wr_buf_view(&b), &clear_policy, 5000);
        if (!wr_fold_step_now(&longer.fold))
            for (uint32_t i = 0; i < shorter.test.transcript.segments_count; i++)
                assert_int_equal(shorter.fold.segments[i].form, longer.fold.segments[i].form);
        test_transcript_close(&shorter.test);
        test_transcript_close(&longer.test);
        wr_buf_release(&a);
        wr_buf_release(&b);
    }
}

/* Nothing is changed yet. */
static void fold_untouched(struct folded *f, struct wr_buf *body, const size_t *sizes, size_t count)
{
    struct session session = {NULL, sizes, count, "run", NULL};
    wr_buf_init(body, BODY_BYTES_MAX);
    write_session(body, &session);
    fold_body(f, wr_buf_view(body), &mask_off_policy, 100000);
}

static uint64_t count_as_nothing(void *user, weir_span text)
{
    (void)user;
    (void)text;
    return 0;
}

/* What a result of `bytes` becomes when it is given `text_bytes` and the marker behind them. */
static enum wr_form give_text(size_t bytes, size_t text_bytes, wr_count_fn *count,
                              size_t *form_bytes)
{
    static char text[4096];
    size_t sizes[] = {bytes, 2000};
    struct folded f;
    struct wr_buf body;

    memset(text, 'x', sizeof(text));
    fold_untouched(&f, &body, sizes, 2);
    uint32_t first = test_transcript_find(&f.test, WEIR_KIND_TOOL_RESULT, 0);
    struct wr_fold_form form = {.form = WR_FORM_CLEARED,
                                .text = {text, text_bytes},
                                .refers_to = WR_SEGMENT_NONE,
                                .reason = WR_STEP_PRESSURE};
    f.input.count = count;
    assert_int_equal(wr_fold_give(&f.fold, first, &form), WEIR_OK);
    enum wr_form given = f.fold.segments[first].form;
    *form_bytes = f.fold.segments[first].text.len;
    test_transcript_close(&f.test);
    wr_buf_release(&body);
    return given;
}

/* Four bytes are a token, 500 are in the result: 468 are the most that its form may have. */
static void a_form_that_saves_little_is_not_taken(void **state)
{
    size_t bytes, marker_bytes;
    (void)state;
    assert_int_equal(give_text(2000, 4, test_count, &marker_bytes), WR_FORM_CLEARED);
    marker_bytes -= 4;
    size_t text_bytes = (500 - WR_FOLD_GAIN_TOKENS_MIN) * 4 - marker_bytes;
    assert_int_equal(give_text(2000, text_bytes, test_count, &bytes), WR_FORM_CLEARED);
    assert_int_equal(give_text(2000, text_bytes + 1, test_count, &bytes), WR_FORM_EXACT);
}

/* However few tokens it has: a counter may be wrong, bytes are bytes. */
static void a_form_is_shorter_in_bytes(void **state)
{
    size_t bytes, marker_bytes;
    (void)state;
    assert_int_equal(give_text(2000, 4, count_as_nothing, &marker_bytes), WR_FORM_CLEARED);
    marker_bytes -= 4;
    assert_int_equal(give_text(2000, 1999 - marker_bytes, count_as_nothing, &bytes),
                     WR_FORM_CLEARED);
    assert_int_equal(bytes, 1999);
    assert_int_equal(give_text(2000, 2000 - marker_bytes, count_as_nothing, &bytes), WR_FORM_EXACT);
}

/* Its text is the way back to what refers to it. */
static void what_is_referred_to_stays(void **state)
{
    struct folded f;
    struct wr_buf body;
    (void)state;
    fold_untouched(&f, &body, even, 3);
    uint32_t first = test_transcript_find(&f.test, WEIR_KIND_TOOL_RESULT, 0),
             second = test_transcript_find(&f.test, WEIR_KIND_TOOL_RESULT, 1);
    const struct wr_stage *stage = &clear_policy.stages[0];
    struct wr_fold_form form = {.form = WR_FORM_REFERENCE,
                                .text = WR_LIT("[as above]"),
                                .refers_to = first,
                                .reason = WR_STEP_PRESSURE};
    uint32_t group = f.test.transcript.segments[first].group;
    assert_true(wr_fold_is_plain(&f.fold, stage, first));
    assert_true(wr_fold_group_may_leave(&f.fold, group));
    assert_int_equal(wr_fold_give(&f.fold, second, &form), WEIR_OK);
    assert_int_equal(f.fold.segments[second].form, WR_FORM_REFERENCE);
    assert_false(wr_fold_is_plain(&f.fold, stage, first));
    assert_false(wr_fold_group_may_leave(&f.fold, group));
    test_transcript_close(&f.test);
    wr_buf_release(&body);
}

/* Five lines from each end, as the policy says. */
static void an_evicted_result_shows_both_ends(void **state)
{
    struct folded f;
    struct wr_buf body, result;
    (void)state;
    wr_buf_init(&result, BODY_BYTES_MAX);
    wr_buf_init(&body, BODY_BYTES_MAX);
    for (int i = 1; i <= 40; i++)
        wr_buf_printf(&result, "%sline %d of what a chatty tool printed, and it goes on like this",
                      i > 1 ? "\\n" : "", i);
    wr_buf_byte(&result, '\0');
    wr_buf_printf(
        &body,
        "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"weir_recall\"}}],"
        "\"messages\":[{\"role\":\"user\",\"content\":\"go\"},"
        "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c\","
        "\"type\":\"function\",\"function\":{\"name\":\"chatty\",\"arguments\":\"{}\"}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"%s\"}]}",
        result.bytes);
    fold_body(&f, wr_buf_view(&body), &evict_policy, 100000);
    uint32_t first = test_transcript_find(&f.test, WEIR_KIND_TOOL_RESULT, 0);
    weir_span text = f.fold.segments[first].text;
    assert_int_equal(f.fold.segments[first].form, WR_FORM_EVICTED);
    for (int i = 1; i <= 40; i++) {
        char line[32];
        (void)snprintf(line, sizeof(line), "line %d of", i);
        bool is_shown = wr_span_find(text, wr_span_of(line), 0) != SIZE_MAX;
        if (is_shown != (i <= 5 || i > 35))
            fail_msg("line %d is %s:\n%.*s", i, is_shown ? "shown" : "not shown", (int)text.len,
                     text.ptr);
    }
    test_transcript_close(&f.test);
    wr_buf_release(&result);
    wr_buf_release(&body);
}

#define THINKS                                                                              \
    ",{\"role\":\"assistant\",\"content\":null,\"thinking_blocks\":[{\"type\":"             \
    "\"thinking\",\"thinking\":\"hm\",\"signature\":\"s\"}],\"tool_calls\":[{\"id\":\"z\"," \
    "\"type\":\"function\",\"function\":{\"name\":\"run\",\"arguments\":\"{}\"}}]},"        \
    "{\"role\":\"tool\",\"tool_call_id\":\"z\",\"content\":\"ok\"}"

/* Thinking was signed over what stands before it: where that changes it goes, if the model binds
 * the two. */
static void a_step_takes_the_thinking_that_was_signed_over_it(void **state)
{
    (void)state;
    for (int binds = 0; binds < 2; binds++) {
        struct session session = {NULL, even, 2, "run", THINKS DONE};
        struct folded f;
        struct wr_buf body;
        wr_buf_init(&body, BODY_BYTES_MAX);
        write_session(&body, &session);
        fold_body(&f, wr_buf_view(&body), &mask_off_policy, 100000);
        uint32_t first = test_transcript_find(&f.test, WEIR_KIND_TOOL_RESULT, 0),
                 thinking = test_transcript_find(&f.test, WEIR_KIND_REASONING, 0);
        struct wr_fold_form form = {.form = WR_FORM_CLEARED,
                                    .text = WR_LIT("[cleared]"),
                                    .refers_to = WR_SEGMENT_NONE,
                                    .reason = WR_STEP_PRESSURE};
        f.input.binds_thinking = binds;
        assert_int_equal(wr_fold_give(&f.fold, first, &form), WEIR_OK);
        assert_int_equal(f.fold.segments[first].form, WR_FORM_CLEARED);
        assert_int_equal(f.fold.segments[thinking].form, binds ? WR_FORM_DROPPED : WR_FORM_EXACT);
        test_transcript_close(&f.test);
        wr_buf_release(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_form_that_saves_little_is_not_taken),
        cmocka_unit_test(a_form_is_shorter_in_bytes),
        cmocka_unit_test(what_is_referred_to_stays),
        cmocka_unit_test(an_evicted_result_shows_both_ends),
        cmocka_unit_test(a_step_takes_the_thinking_that_was_signed_over_it),
        cmocka_unit_test(segments_get_the_forms_their_policy_says),
        cmocka_unit_test(a_form_ends_with_the_marker_that_brings_it_back),
        cmocka_unit_test(the_fold_of_a_longer_session_extends_the_fold_of_a_shorter_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
