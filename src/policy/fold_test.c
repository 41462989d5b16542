/* Small requests folded by small policies; a listing names every segment that is not exact. */
#include "policy/fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "models/window.h"
#include "policy/stage.h"
#include "tests/test_transcript.h"
#include "base/span.h"

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

static const struct wr_policy mask_off_policy = {
    .name = "mask", .stages = {{.def = &wr_stage_mask, .params = {0, 0, 1}}}, .stages_count = 1};
static const struct wr_policy clear_policy = {
    .name = "clear",
    .stages = {{.def = &wr_stage_clear, .params = {5000, 1000, 2, 0}}},
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
static const struct wr_policy drop_policy = {
    .name = "drop",
    .stages = {{.def = &wr_stage_drop_groups, .params = {1000}}},
    .stages_count = 1};

#define SAYS(role, text) ",{\"role\":\"" role "\",\"content\":\"" text "\"}"
#define DONE             SAYS("assistant", "done") SAYS("user", "next")
#define FIFTY            "fifty characters of a text that is the same again "
#define SAME             FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY FIFTY
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

#define THOUGHT                                                                     \
    ",{\"role\":\"assistant\",\"content\":\"done\",\"thinking_blocks\":[{\"type\":" \
    "\"thinking\",\"thinking\":\"hm\",\"signature\":\"s\"}]}"
#define THINKS                                                                              \
    ",{\"role\":\"assistant\",\"content\":null,\"thinking_blocks\":[{\"type\":"             \
    "\"thinking\",\"thinking\":\"hm\",\"signature\":\"s\"}],\"tool_calls\":[{\"id\":\"z\"," \
    "\"type\":\"function\",\"function\":{\"name\":\"run\",\"arguments\":\"{}\"}}]},"        \
    "{\"role\":\"tool\",\"tool_call_id\":\"z\",\"content\":\"ok\"}"

/* Thinking was signed over what stands before it: where that changes it goes, if the model binds
 * the two. Only calls whose results have just come keep theirs. */
static void a_step_takes_the_thinking_that_was_signed_over_it(void **state)
{
    static const struct {
        const char *behaviour, *ending;
        bool binds;
        enum wr_form form;
    } rows[] = {{"of an earlier answer", THINKS DONE, true, WR_FORM_DROPPED},
                {"if the model binds the two", THINKS DONE, false, WR_FORM_EXACT},
                {"of the newest answer", THOUGHT SAYS("user", "next"), true, WR_FORM_DROPPED},
                {"not of calls that are open", THINKS, true, WR_FORM_EXACT}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct session session = {NULL, even, 2, "run", rows[i].ending};
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
        f.input.binds_thinking = rows[i].binds;
        assert_int_equal(wr_fold_give(&f.fold, first, &form), WEIR_OK);
        assert_int_equal(f.fold.segments[first].form, WR_FORM_CLEARED);
        if (f.fold.segments[thinking].form != rows[i].form)
            fail_msg("%s: form %d", rows[i].behaviour, f.fold.segments[thinking].form);
        test_transcript_close(&f.test);
        wr_buf_release(&body);
    }
}

/* ---- the window ---- */

/* What two turns say of the window, and the room that is left of it at the second. */
static const struct {
    const char *behaviour;
    uint64_t window_tokens, reserve_tokens;
    bool is_named;
    uint32_t factor_bp;
    struct wr_fold_turn first, second;
    uint64_t tokens, reserve, room, half; /* half: of what the input may take */
} rooms[] = {
    {"all of it", 1000, 0, false, 0, {0}, {0}, 1000, 0, 1000, 500},
    {"one that was not named may be shorter", 1000, 100, false, 0, {0}, {0}, 1000, 100, 1000, 450},
    {"one that was named may not", 1000, 100, true, 0, {0}, {0}, 1000, 100, 900, 450},
    {"one that leaves a token", 1000, 999, true, 0, {0}, {0}, 1000, 999, 1, 0},
    {"one that would take all is not named", 1000, 1000, true, 0, {0}, {0}, 1000, 1000, 1000, 0},
    {"one that is larger than all takes a share",
     1000,
     1001,
     false,
     0,
     {0},
     {0},
     1000,
     1000 / WR_RESERVE_SHARE,
     1000,
     (1000 - 1000 / WR_RESERVE_SHARE) / 2},
    {"no window, no bound", 0, 100, false, 0, {0}, {0}, 0, 0, UINT64_MAX, UINT64_MAX},
    {"in tokens as we count", 1000, 100, true, 20000, {0}, {0}, 500, 50, 450, 225},
    {"a refusal narrows it", 1000, 0, false, 0, {.window_tokens = 800}, {0}, 800, 0, 800, 400},
    {"not to more than it was",
     1000,
     0,
     false,
     0,
     {.window_tokens = 1200},
     {0},
     1000,
     0,
     1000,
     500},
    {"or says it where nobody knew", 0, 0, false, 0, {.window_tokens = 800}, {0}, 800, 0, 800, 400},
    {"a second one narrows it more",
     1000,
     0,
     false,
     0,
     {.window_tokens = 800},
     {.window_tokens = 700},
     700,
     0,
     700,
     350},
    {"but never widens it",
     1000,
     0,
     false,
     0,
     {.window_tokens = 800},
     {.window_tokens = 900},
     800,
     0,
     800,
     400},
    {"in a narrowed window an answer has its share at most",
     1000,
     500,
     false,
     0,
     {.window_tokens = 800},
     {0},
     800,
     800 / WR_RESERVE_SHARE,
     800,
     (800 - 800 / WR_RESERVE_SHARE) / 2},
    {"unless it was named", 1000, 500, true, 0, {.window_tokens = 800}, {0}, 800, 500, 300, 150},
    {"a turn names the answer",
     1000,
     0,
     false,
     0,
     {.answer = WR_ANSWER_NAMED, .answer_tokens = 300},
     {0},
     1000,
     300,
     700,
     350},
    {"a later one leaves it to a share",
     1000,
     0,
     false,
     0,
     {.answer = WR_ANSWER_NAMED, .answer_tokens = 300},
     {.answer = WR_ANSWER_DEFAULT},
     1000,
     1000 / WR_RESERVE_SHARE,
     1000,
     (1000 - 1000 / WR_RESERVE_SHARE) / 2},
    {"a turn says how many of ours a token is",
     1000,
     100,
     true,
     0,
     {.factor_bp = 20000},
     {.factor_bp = 5000},
     2000,
     200,
     1800,
     900},
};

static void the_window_is_as_the_turns_say(void **state)
{
    struct session session = {NULL, even, 1, "run", NULL};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rooms); i++) {
        struct wr_fold_turn turns[] = {rooms[i].first, rooms[i].second};
        struct folded f;
        struct wr_buf body;
        wr_buf_init(&body, BODY_BYTES_MAX);
        write_session(&body, &session);
        fold_body(&f, wr_buf_view(&body), &mask_off_policy, rooms[i].window_tokens);
        assert_int_equal(f.test.transcript.turns_count, 2);
        f.input.reserve_tokens = rooms[i].reserve_tokens;
        f.input.is_reserve_named = rooms[i].is_named;
        f.input.factor_bp = rooms[i].factor_bp;
        f.input.turns = turns;
        assert_int_equal(wr_fold_run(&f.fold, &f.test.arena, &f.input), WEIR_OK);
        uint64_t room = wr_fold_room(&f.fold), half = wr_fold_threshold(&f.fold, 5000);
        if (f.fold.window.tokens != rooms[i].tokens || room != rooms[i].room ||
            half != rooms[i].half || f.fold.window.reserve_tokens != rooms[i].reserve)
            fail_msg("%s: %llu, %llu for the answer, room for %llu, half of it %llu",
                     rooms[i].behaviour, (unsigned long long)f.fold.window.tokens,
                     (unsigned long long)f.fold.window.reserve_tokens, (unsigned long long)room,
                     (unsigned long long)half);
        test_transcript_close(&f.test);
        wr_buf_release(&body);
    }
}

/* ---- time ---- */

/* Each question takes a millisecond. */
static uint64_t tick_us(void *user)
{
    uint64_t *now_us = user;
    return *now_us += 1000;
}

/* Four results, each of which would be evicted as it arrives. The clock is asked once for each turn
 * that is known, for each segment of those that are new, and for each request. */
static const struct {
    const char *behaviour;
    struct wr_fold_deadline deadline;
    struct wr_fold_turn last; /* what is known of the newest turn */
    const char *expected;
    bool is_late;
    uint32_t turn, from;
    uint64_t count;
    weir_status status;
} clocks[] = {
    {"without a clock there is time",
     {.new_us_max = 1},
     {0},
     "a:evicted b:evicted c:evicted d:evicted ",
     false,
     0,
     0,
     0,
     WEIR_OK},
    {"what is known has all the time",
     {.now_us = tick_us, .new_us_max = 1, .known_turns = 5},
     {0},
     "a:evicted b:evicted c:evicted d:evicted ",
     false,
     0,
     0,
     0,
     WEIR_OK},
    {"new turns have as long as it takes",
     {.now_us = tick_us, .new_us_max = 1000, .known_turns = 4},
     {0},
     "a:evicted b:evicted c:evicted d:evicted ",
     false,
     0,
     0,
     0,
     WEIR_OK},
    {"a microsecond longer, and it was up behind its result",
     {.now_us = tick_us, .new_us_max = 999, .known_turns = 4},
     {0},
     "a:evicted b:evicted c:evicted d:evicted ",
     true,
     4,
     1,
     0,
     WEIR_OK},
    {"what comes later stays whole",
     {.now_us = tick_us, .new_us_max = 999, .known_turns = 3},
     {0},
     "a:evicted b:evicted c:evicted ",
     true,
     3,
     1,
     1,
     WEIR_OK},
    {"all has time to its end",
     {.now_us = tick_us, .all_us_max = 1000000, .known_turns = 5},
     {0},
     "a:evicted b:evicted c:evicted d:evicted ",
     false,
     0,
     0,
     0,
     WEIR_OK},
    {"and none behind it",
     {.now_us = tick_us, .all_us_max = 3000, .known_turns = 5},
     {0},
     NULL,
     false,
     0,
     0,
     0,
     WEIR_LIMIT},
    {"a turn that was late is so again",
     {.now_us = NULL},
     {.is_late = true},
     "a:evicted b:evicted c:evicted ",
     false,
     0,
     0,
     0,
     WEIR_OK},
    {"from where it was",
     {.now_us = NULL},
     {.is_late = true, .late_from = 1},
     "a:evicted b:evicted c:evicted d:evicted ",
     false,
     0,
     0,
     0,
     WEIR_OK},
    {"one that was sent whole is so again",
     {.now_us = NULL},
     {.is_whole = true},
     "a:evicted b:evicted c:evicted ",
     false,
     0,
     0,
     0,
     WEIR_OK},
};

static void time_that_is_up_leaves_the_rest_whole(void **state)
{
    struct session session = {NULL, even, 4, "chatty", NULL};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(clocks); i++) {
        struct wr_fold_turn turns[5] = {[4] = clocks[i].last};
        struct folded f;
        struct wr_buf body, listing;
        uint64_t now_us = 0;
        uint32_t from = 0;
        wr_buf_init(&body, BODY_BYTES_MAX);
        wr_buf_init(&listing, BODY_BYTES_MAX);
        write_session(&body, &session);
        fold_body(&f, wr_buf_view(&body), &mask_off_policy, 100000);
        assert_int_equal(f.test.transcript.turns_count, 5);
        f.input.policy = &evict_policy;
        f.input.turns = turns;
        f.input.deadline = clocks[i].deadline;
        f.input.deadline.user = &now_us;
        assert_int_equal(wr_fold_run(&f.fold, &f.test.arena, &f.input), clocks[i].status);
        if (clocks[i].expected) {
            list_forms(&f, &listing);
            test_text_is(clocks[i].behaviour, wr_buf_view(&listing), clocks[i].expected);
        }
        assert_int_equal(f.fold.late.is_up, clocks[i].is_late);
        assert_int_equal(f.fold.late.count, clocks[i].count);
        assert_int_equal(wr_fold_late_turn(&f.fold, clocks[i].turn, &from), clocks[i].is_late);
        assert_int_equal(from, clocks[i].from);
        if (clocks[i].is_late) {
            assert_false(wr_fold_late_turn(&f.fold, clocks[i].turn - 1, &from));
            assert_false(wr_fold_late_turn(&f.fold, 5, &from));
        }
        test_transcript_close(&f.test);
        wr_buf_release(&listing);
        wr_buf_release(&body);
    }
}

static void no_step_is_taken_where_all_was_sent_whole(void **state)
{
    struct session session = {NULL, even, 4, "run", NULL};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct wr_fold_turn whole = {.is_whole = i}, turns[5] = {whole, whole, whole, whole, whole};
        struct folded f;
        struct wr_buf body;
        wr_buf_init(&body, BODY_BYTES_MAX);
        write_session(&body, &session);
        fold_body(&f, wr_buf_view(&body), &clear_policy, 2500);
        f.input.turns = turns;
        assert_true(!wr_fold_run(&f.fold, &f.test.arena, &f.input) && i == !f.fold.steps_count);
        test_transcript_close(&f.test);
        wr_buf_release(&body);
    }
}

/* ---- which results may change ---- */

static const struct {
    const char *behaviour, *words;
    bool may_change;
} words[] = {
    {"nothing is said", NULL, true},
    {"nothing is said", "", true},
    {"it is kept", "-run", false},
    {"another is kept", "-runs", true},
    {"the first word that fits decides", "+run -*", true},
    {"the first word that fits decides", "-r* +run", false},
    {"a star fits all", "-*", false},
    {"blanks part words", "  -ran  -run", false},
    {"a star at the end only", "-*n", true},
};

static void a_session_says_whose_results_may_change(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(words); i++) {
        struct wr_fold_input input = {.tools = words[i].words};
        struct wr_fold fold = {.input = &input};
        if (wr_fold_may_change(&fold, WR_LIT("run")) != words[i].may_change)
            fail_msg("%s: %s", words[i].behaviour, words[i].words);
    }
}

/* ---- files that are read again ---- */

#define READS(id, path, text)                                                       \
    ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"" id "\"," \
    "\"type\":\"function\",\"function\":{\"name\":\"Read\",\"arguments\":"          \
    "\"{\\\"file_path\\\":\\\"" path "\\\"}\"}}]},"                                 \
    "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"" text "\"}"
#define MARKER "\\n[weir wr_0123456789abcdef0123: ~9 tokens left out]"

static const struct wr_policy evict_small_policy = {
    .name = "evict",
    .stages = {{.def = &wr_stage_evict, .params = {40, 0, 0, 1}}},
    .stages_count = 1};

static const struct {
    const char *behaviour, *messages, *expected;
    bool came_stepped;
} reads[] = {
    {"a file that is read again stays whole", READS("x", "/a", SAME) READS("y", "/a", SAME),
     "x:evicted ", false},
    {"another does not", READS("x", "/a", SAME) READS("y", "/b", SAME), "x:evicted y:evicted ",
     false},
    {"one whose earlier read was whole does not", READS("x", "/a", FIFTY) READS("y", "/a", SAME),
     "y:evicted ", false},
    {"one that was read whole in between does not",
     READS("x", "/a", SAME) READS("y", "/a", FIFTY) READS("z", "/a", SAME), "x:evicted z:evicted ",
     false},
    {"an earlier read that came with a marker was shortened",
     READS("x", "/a", "[cleared]" MARKER) READS("y", "/a", SAME), "", false},
    {"behind a notice nobody knows",
     SAYS("user", "[conversation truncated]" MARKER) READS("y", "/a", SAME), "", true},
    {"nor behind one that was joined to words",
     SAYS("user", "words\\n\\n[CONVERSATION SUMMARY]" MARKER) READS("y", "/a", SAME), "", true},
    {"words that only name one are words",
     SAYS("user", "words\\n[CONVERSATION SUMMARY]" MARKER) READS("y", "/a", SAME), "y:evicted ",
     false},
    {"a read behind the notice is known",
     SAYS("user", "[conversation truncated]" MARKER) READS("x", "/a", FIFTY) READS("y", "/a", SAME),
     "y:evicted ", true},
    {"a stub is what a step left",
     READS("x", "/b", "[older result: b]" MARKER) READS("y", "/a", SAME), "y:evicted ", true},
    {"so is an older answer", SAYS("assistant", "[older answer]" MARKER) SAYS("user", "next"), "",
     true},
    {"so are older words", SAYS("user", "[older message of the user]" MARKER), "", true},
};

static void a_file_that_is_read_again_comes_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(reads); i++) {
        struct session session = {NULL, NULL, 0, "run", reads[i].messages};
        struct folded f;
        struct wr_buf body, listing;
        wr_buf_init(&body, BODY_BYTES_MAX);
        wr_buf_init(&listing, BODY_BYTES_MAX);
        write_session(&body, &session);
        fold_body(&f, wr_buf_view(&body), &evict_small_policy, 100000);
        list_forms(&f, &listing);
        test_text_is(reads[i].behaviour, wr_buf_view(&listing), reads[i].expected);
        if (f.fold.came_stepped != reads[i].came_stepped)
            fail_msg("%s: stepped %d", reads[i].behaviour, f.fold.came_stepped);
        test_transcript_close(&f.test);
        wr_buf_release(&listing);
        wr_buf_release(&body);
    }
}

/* ---- originals ---- */

/* A session of eight groups, the oldest of which left in two steps, as one message. */
static void what_left_in_several_steps_is_one_original(void **state)
{
    static const size_t sizes[] = {400, 400, 400, 400, 400, 400, 400, 400};
    struct session session = {NULL, sizes, 8, "run", NULL};
    struct folded f;
    struct wr_buf body;
    weir_span text, again;
    struct wr_handle handle;
    (void)state;

    wr_buf_init(&body, BODY_BYTES_MAX);
    write_session(&body, &session);
    fold_body(&f, wr_buf_view(&body), &drop_policy, 605);
    uint32_t last = f.fold.inserts_count - 1;
    assert_true(f.fold.inserts_count > 1);
    for (uint32_t i = 0; i < last; i++)
        assert_true(f.fold.inserts[i].is_gone && !f.fold.inserts[i].is_absorbed);
    assert_int_equal(wr_fold_insert_original(&f.fold, last, &text), WEIR_OK);
    assert_int_equal(wr_handle_of(text, &handle), WEIR_OK);
    assert_string_equal(handle.text, f.fold.inserts[last].handle.text);
    assert_true(wr_fold_original(&f.fold, &handle, &again) && wr_span_eq(text, again));
    for (uint32_t i = 0; i < f.test.transcript.segments_count; i++) {
        const struct wr_segment *s = &f.test.transcript.segments[i];
        weir_span own = wr_fold_text(&f.fold, i);
        if (s->kind == WEIR_KIND_TOOL_RESULT)
            assert_int_equal(wr_span_find(text, wr_span_cut(own, 0, 40), 0) != SIZE_MAX,
                             f.fold.segments[i].form == WR_FORM_DROPPED);
    }
    f.fold.stage = wr_stage_drop_groups.name;
    assert_int_equal(wr_fold_own_insert(&f.fold), last);
    f.fold.stage = wr_stage_mask.name;
    assert_int_equal(wr_fold_own_insert(&f.fold), WR_INSERT_NONE);
    handle.text[5] = handle.text[5] == '0' ? '1' : '0';
    assert_false(wr_fold_original(&f.fold, &handle, &again));
    test_transcript_close(&f.test);
    wr_buf_release(&body);
}

/* Another policy sent what stands before: thinking that was signed over it goes, in that very turn.
 */
static void a_switch_takes_the_thinking_before_it(void **state)
{
    (void)state;
    for (int switched = 0; switched < 2; switched++) {
        struct session session = {NULL, even, 1, "run", THINKS DONE};
        struct wr_fold_turn turns[4] = {{0}};
        struct folded f;
        struct wr_buf body;
        wr_buf_init(&body, BODY_BYTES_MAX);
        write_session(&body, &session);
        fold_body(&f, wr_buf_view(&body), &mask_off_policy, 100000);
        assert_int_equal(f.test.transcript.turns_count, 4);
        turns[3].is_switched = switched;
        f.input.turns = turns;
        f.input.binds_thinking = true;
        assert_int_equal(wr_fold_run(&f.fold, &f.test.arena, &f.input), WEIR_OK);
        uint32_t thinking = test_transcript_find(&f.test, WEIR_KIND_REASONING, 0);
        assert_int_equal(f.fold.segments[thinking].form,
                         switched ? WR_FORM_DROPPED : WR_FORM_EXACT);
        test_transcript_close(&f.test);
        wr_buf_release(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_form_that_saves_little_is_not_taken),
        cmocka_unit_test(a_form_is_shorter_in_bytes),
        cmocka_unit_test(a_switch_takes_the_thinking_before_it),
        cmocka_unit_test(the_window_is_as_the_turns_say),
        cmocka_unit_test(time_that_is_up_leaves_the_rest_whole),
        cmocka_unit_test(no_step_is_taken_where_all_was_sent_whole),
        cmocka_unit_test(a_session_says_whose_results_may_change),
        cmocka_unit_test(a_file_that_is_read_again_comes_whole),
        cmocka_unit_test(what_left_in_several_steps_is_one_original),
        cmocka_unit_test(what_is_referred_to_stays),
        cmocka_unit_test(a_step_takes_the_thinking_that_was_signed_over_it),
        cmocka_unit_test(a_form_ends_with_the_marker_that_brings_it_back),
        cmocka_unit_test(the_fold_of_a_longer_session_extends_the_fold_of_a_shorter_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
