#include "engine/projection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"
#include "tests/test_world.h"

/* ---- answer ---- */

/* What the answer may take is not there for the prompt; and a request that lets it take more or
 * less than the one before changes nothing that was sent. */

enum { WINDOW_TOKENS = 16000 };

static struct weir_project_options in_window(const char *policy, uint32_t window_tokens)
{
    struct weir_project_options options = at(policy, NOON_MS);
    options.window_tokens = window_tokens;
    return options;
}

static const struct {
    const char *behaviour, *policy;
    weir_dialect dialect;
    uint32_t answer_tokens;
    bool fits;
} rooms[] = {
    {"nothing is said of the answer", "cold", WEIR_DIALECT_CHAT, 0, true},
    {"the answer is short", "cold", WEIR_DIALECT_CHAT, 1000, true},
    {"prompt and answer are more than the window", "cold", WEIR_DIALECT_CHAT, 8000, false},
    {"and in Messages", "cold", WEIR_DIALECT_MESSAGES, 8000, false},
    {"and in Responses", "cold", WEIR_DIALECT_RESPONSES, 8000, false},
    {"a share of the window that a document names is never above the room", "guarded-mid",
     WEIR_DIALECT_CHAT, 8000, false},
    {"the share of clearing neither", "tiered", WEIR_DIALECT_CHAT, 8000, false},
    {"nor that of compressing", "compress", WEIR_DIALECT_CHAT, 8000, false},
    {"an answer of the whole window is not meant", "cold", WEIR_DIALECT_CHAT, 16000, true},
};

/* About 11,000 tokens, all of which came turn by turn. */
static void a_prompt_leaves_room_for_its_answer(void **state)
{
    for (size_t i = 0; i < WR_COUNT_OF(rooms); i++) {
        struct world *w = open_world(state);
        struct test_talk talk = {.dialect = rooms[i].dialect,
                                 .model = "some-local-model",
                                 .lines = 62,
                                 .answer = rooms[i].answer_tokens};
        struct answer *a = NULL;
        for (talk.results = 1; talk.results <= 8; talk.results++)
            a = ask(w, &talk, in_window(rooms[i].policy, WINDOW_TOKENS));
        if (rooms[i].fits == a->is_changed)
            fail_msg("%s: %s, %" PRIu64 " tokens", rooms[i].behaviour,
                     a->is_changed ? "changed" : "untouched", a->tokens_after);
        if (rooms[i].answer_tokens == 8000 && a->tokens_after > WINDOW_TOKENS - 8000)
            fail_msg("%s: %" PRIu64 " tokens leave no room", rooms[i].behaviour, a->tokens_after);
        close_world(w);
    }
}

static void another_answer_moves_no_step_that_was_taken(void **state)
{
    static const uint32_t answers[] = {0, 8000, 500, 0, 6000, 6000, 200, 9000};
    struct world *w = open_world(state);
    struct test_talk talk = {
        .dialect = WEIR_DIALECT_CHAT, .model = "some-local-model", .lines = 60};
    struct answer *before = NULL;
    uint32_t steps = 0;

    for (talk.results = 1; talk.results <= 16; talk.results++) {
        talk.answer = answers[talk.results % 8];
        if (talk.results % 3 == 0)
            restart(w);
        struct answer *a = ask(w, &talk, in_window("auto", WINDOW_TOKENS));
        if (before && !a->is_step && !extends(before, a))
            fail_msg("%u results: what was sent changed without a step", talk.results);
        assert_string_not_equal(a->reason, "unexplained");
        steps += a->is_step;
        before = a;
        /* Sent again, even with another answer, it is the same again. */
        struct test_talk again = talk;
        again.answer = answers[(talk.results + 1) % 8];
        struct answer *same = ask(w, &again, in_window("auto", WINDOW_TOKENS));
        assert_false(same->is_step);
        assert_int_equal(same->tokens_after, a->tokens_after);
    }
    assert_true(steps > 0);
    close_world(w);
}

static void a_mark_is_written_where_the_answer_changes(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = {.dialect = WEIR_DIALECT_CHAT, .model = "gpt-5", .lines = 10};
    static const uint32_t answers[] = {0, 4000, 4000, 0, 0, 2000};
    static const uint32_t marks[] = {0, 1, 1, 2, 2, 3}; /* named again by every commit */

    for (talk.results = 1; talk.results <= 6; talk.results++) {
        talk.answer = answers[talk.results - 1];
        restart(w);
        (void)ask(w, &talk, at("auto", NOON_MS));
        assert_int_equal(w->store.marks[WEIR_MARK_ANSWER], marks[talk.results - 1]);
    }
    close_world(w);
}

static void a_policy_under_another_name_has_the_same_window(void **state)
{
    static const char *const names[] = {"layers", "layers_too"};
    struct test_talk talk = {.dialect = WEIR_DIALECT_CHAT, .model = "some-local-model"};

    for (size_t i = 0; i < 2; i++) {
        struct world *w = open_world(state);
        assert_int_equal(ask(w, &talk, at(names[i], NOON_MS))->window_tokens, 128000);
        close_world(w);
    }
}

/* The registry's window holds until the server that runs the model says another. */
static void a_loaded_window_is_a_new_pin_and_a_step(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = {
        .dialect = WEIR_DIALECT_CHAT, .model = "some-local-model", .lines = 60};
    struct weir_project_options unknown = at("cold", NOON_MS), loaded = unknown;

    loaded.loaded_tokens = 8000;
    talk.results = 7;
    struct answer *first = ask(w, &talk, unknown);
    assert_int_equal(first->window_tokens, 32000);
    talk.results = 8;
    struct answer *told = ask(w, &talk, loaded);
    assert_int_equal(told->window_tokens, 8000);
    assert_true(told->is_step);
    assert_string_equal(told->reason, "window");
    assert_int_equal(w->store.pins, 1);
    restart(w);
    talk.results = 9;
    struct answer *kept = ask(w, &talk, unknown); /* nobody was asked yet in this process */
    assert_int_equal(kept->window_tokens, 8000);
    assert_false(kept->is_step);
    assert_true(extends(told, kept));
    close_world(w);
}

/* The provider counts half as much again as we do. */
static void a_learnt_count_moves_steps_to_come(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = {
        .dialect = WEIR_DIALECT_CHAT, .model = "some-local-model", .lines = 62};
    struct weir_project_options plain = in_window("cold", WINDOW_TOKENS), learnt = plain;
    struct weir_project_options little = plain;

    learnt.factor_bp = 15000;
    little.factor_bp = 10200;
    talk.results = 7;
    struct answer *before = ask(w, &talk, little);
    assert_false(before->is_changed);
    assert_int_equal(w->store.marks[WEIR_MARK_COUNT], 0); /* it makes no difference */
    struct answer *again = ask(w, &talk, learnt);
    assert_true(is_same(before, again)); /* what was sent stays as it was */
    talk.results = 8;
    struct answer *step = ask(w, &talk, learnt);
    assert_int_equal(w->store.marks[WEIR_MARK_COUNT], 1);
    assert_true(step->is_step); /* 10,400 tokens of ours are 15,600 of 16,000 */
    assert_string_equal(step->reason, "window");
    assert_int_equal(step->window_tokens, WINDOW_TOKENS);
    restart(w);
    talk.results = 9;
    struct answer *after = ask(w, &talk, plain); /* this process has not learnt it yet */
    assert_false(after->is_step);
    assert_true(extends(step, after));
    close_world(w);
}

/* Deep and seldom, in a small window too: how many of a hundred requests may take a step. Where
 * the words at the start take half of the window, three results fit at most. */
static void a_small_window_is_no_reason_to_step_at_every_request(void **state)
{
    enum { REQUESTS = 100, WORDS_BYTES_MAX = 32 * 1024 };
    static const struct {
        const char *behaviour;
        uint32_t lines, words, steps_max;
    } rows[] = {{"short results", 8, 0, 8},
                {"longer ones", 26, 0, 25},
                {"very long ones, which stay whole: three fit", 60, 0, 36},
                /* The four newest turns that a step of `auto` leaves are most of what is left. */
                {"half of the window is taken", 26, 2500, 80},
                {"and more of it", 8, 3500, 40}};
    static char words[WORDS_BYTES_MAX];

    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct world *w = open_world(state);
        struct test_talk talk = {.dialect = WEIR_DIALECT_CHAT,
                                 .model = "some-local-model",
                                 .lines = rows[i].lines,
                                 .first = words};
        uint32_t steps = 0;
        size_t len = 0;
        for (uint32_t k = 0; k <= rows[i].words; k++)
            len += (size_t)snprintf(words + len, sizeof(words) - len, "word ");
        for (talk.results = 1; talk.results <= REQUESTS; talk.results++) {
            struct answer *a = ask(w, &talk, in_window("auto", 6000));
            steps += a->is_step;
            assert_true(a->tokens_after <= 6000);
            wr_buf_release(&a->input);
            wr_buf_release(&a->body);
            w->answers_count--;
        }
        if (steps > rows[i].steps_max)
            fail_msg("%s: %u steps of %d", rows[i].behaviour, steps, REQUESTS);
        close_world(w);
    }
}

/* ---- late ---- */

/* Deadlines: what is new and not done in time stays whole, and stays so in every later request and
 * process; what was sent before keeps its form however long it takes. The clock is a script. */

/* Stands still, but for one jump after so many questions. */
struct script {
    uint32_t jumps_after;
    uint64_t jump_us;
    uint32_t asked;
};

static uint64_t read_script(void *user)
{
    struct script *s = user;
    return s->asked++ >= s->jumps_after ? 5000000 + s->jump_us : 5000000;
}

static struct weir_project_options timed(const char *policy, int64_t now_ms, struct script *script)
{
    struct weir_project_options options = at(policy, now_ms);
    options.clock_us = read_script;
    options.clock_user = script;
    return options;
}

enum { LATE_US = 25001, IN_TIME_US = 25000, CALLS = 6 };

#define TOO_LATE "what is new stays whole: the deadline has passed"

static void what_is_new_stays_whole_once_time_is_up(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = with_results(&gpt, 3);
    struct answer *last = ask(w, &talk, at("cut", NOON_MS));
    assert_false(is_whole(last, 3));

    struct script slow = {1, LATE_US, 0};
    talk.results = 4;
    struct answer *late = ask(w, &talk, timed("cut", NOON_MS + 1, &slow));
    assert_string_equal(late->held, TOO_LATE);
    assert_true(is_whole(late, 4));
    assert_false(is_whole(late, 3));
    assert_false(late->is_step);
    assert_true(extends(last, late));
    assert_int_equal(w->store.marks[WEIR_MARK_KEPT_WHOLE], 1);
    for (talk.results = 5; talk.results < 9; talk.results++) {
        struct answer *next = ask(w, &talk, at("cut", NOON_MS + talk.results));
        assert_true(extends(late, next));
        assert_true(is_whole(next, 4));
        assert_false(is_whole(next, talk.results));
        assert_false(next->is_step);
        assert_string_equal(next->held, "");
        late = next;
        if (talk.results % 2)
            restart(w);
    }
    close_world(w);
}

static void in_time_is_in_time(void **state)
{
    struct world *w = open_world(state);
    struct script exact = {1, IN_TIME_US, 0};
    struct test_talk talk = with_results(&gpt, 3);
    struct answer *a = ask(w, &talk, timed("cut", NOON_MS, &exact));
    assert_true(exact.asked > 3);
    assert_string_equal(a->held, "");
    assert_false(is_whole(a, 3));
    assert_int_equal(w->store.marks[WEIR_MARK_KEPT_WHOLE], 0);
    close_world(w);
}

/* ---- several results in one turn ---- */

static void write_parallel(struct wr_buf *out, uint32_t more)
{
    struct test_talk talk = gpt;
    wr_buf_init(out, TEST_BODY_BYTES_MAX);
    test_talk_head(out, &talk);
    wr_buf_text(out, "{\"role\":\"user\",\"content\":\"start\"},{\"role\":\"assistant\","
                     "\"content\":null,\"tool_calls\":[");
    for (uint32_t i = 1; i <= CALLS; i++)
        wr_buf_printf(out,
                      "%s{\"id\":\"p%u\",\"type\":\"function\",\"function\":{\"name\":\"Bash\","
                      "\"arguments\":\"{}\"}}",
                      i > 1 ? "," : "", i);
    wr_buf_text(out, "]}");
    for (uint32_t i = 1; i <= CALLS; i++) {
        wr_buf_printf(out, ",{\"role\":\"tool\",\"tool_call_id\":\"p%u\",\"content\":\"", i);
        test_talk_result(out, &talk, i);
        wr_buf_text(out, "\"}");
    }
    for (uint32_t i = 1; i <= more; i++)
        test_talk_chat(out, &talk, CALLS + i);
    wr_buf_text(out, "]}");
}

static struct answer *ask_parallel(struct world *w, uint32_t more,
                                   struct weir_project_options options)
{
    struct answer *a = &w->answers[w->answers_count++];
    struct weir_projected p;
    struct weir_request *request;

    a->dialect = WEIR_DIALECT_CHAT;
    write_parallel(&a->input, more);
    options.store = &w->store.store;
    assert_int_equal(weir_engine_request(w->engine, wr_buf_view(&a->input), NULL, &request, NULL),
                     WEIR_OK);
    assert_int_equal(weir_engine_project(w->engine, request, &options, &p, NULL), WEIR_OK);
    check_recall(w, p.body, options.tenant);
    keep_answer(a, &p);
    weir_request_free(request);
    return a;
}

static uint32_t count_cut(const struct answer *a)
{
    uint32_t cut = 0;
    while (cut < CALLS && !is_whole(a, cut + 1))
        cut++;
    for (uint32_t i = cut; i < CALLS; i++)
        assert_true(is_whole(a, i + 1));
    return cut;
}

static void what_was_done_in_time_stays_done(void **state)
{
    uint32_t seen = 0;
    for (uint32_t asked = 1; asked < 16; asked++) {
        struct world *w = open_world(state);
        struct script slow = {asked, LATE_US, 0};
        struct answer *late = ask_parallel(w, 0, timed("cut", NOON_MS, &slow));
        uint32_t cut = count_cut(late);
        seen |= 1U << cut;
        restart(w);
        struct answer *again = ask_parallel(w, 0, at("cut", NOON_MS + 1));
        assert_true(is_same(late, again));
        struct answer *next = ask_parallel(w, 1, at("cut", NOON_MS + 2));
        assert_true(extends(late, next));
        assert_false(next->is_step);
        assert_int_equal(count_cut(next), cut);
        assert_false(is_whole(next, CALLS + 1));
        restart(w);
        assert_true(is_same(next, ask_parallel(w, 1, at("cut", NOON_MS + 3))));
        close_world(w);
    }
    assert_int_equal(seen, (1U << (CALLS + 1)) - 1); /* none, one, ... all of them in time */
}

/* ---- what was sent before ---- */

static void what_was_sent_keeps_its_form_however_long_it_takes(void **state)
{
    struct test_talk talk = with_results(&gpt, 6);
    for (uint32_t asked = 1; asked < 9; asked++) {
        struct world *w = open_world(state);
        struct script slow = {asked, 1900000, 0};
        talk.results = 6;
        struct answer *sent = ask(w, &talk, at("cut", NOON_MS));
        restart(w);
        assert_true(is_same(sent, ask(w, &talk, timed("cut", NOON_MS + 1, &slow))));
        restart(w);
        slow.asked = 0;
        talk.results = 7;
        struct answer *next = ask(w, &talk, timed("cut", NOON_MS + 2, &slow));
        assert_true(extends(sent, next));
        assert_false(next->is_step);
        close_world(w);
    }
}

static void past_the_hard_cap_the_request_goes_as_it_came(void **state)
{
    struct world *w = open_world(state);
    struct script stuck = {1, 2000001, 0};
    struct weir_project_options options = timed("cut", NOON_MS + 1, &stuck);
    struct test_talk talk = with_results(&gpt, 6);
    struct answer *sent = ask(w, &talk, at("cut", NOON_MS));
    struct weir_projected p;
    struct weir_request *request;
    struct wr_buf body;

    restart(w);
    options.store = &w->store.store;
    wr_buf_init(&body, TEST_BODY_BYTES_MAX);
    test_talk_write(&body, &talk);
    assert_int_equal(weir_engine_request(w->engine, wr_buf_view(&body), NULL, &request, NULL),
                     WEIR_OK);
    assert_int_equal(weir_engine_project(w->engine, request, &options, &p, NULL), WEIR_LIMIT);
    assert_true(wr_span_eq(p.body, wr_buf_view(&body)));
    weir_request_free(request);
    wr_buf_release(&body);
    /* A projection that came too late changes nothing later: the next one in time is as before. */
    assert_true(is_same(sent, ask(w, &talk, at("cut", NOON_MS + 2))));
    close_world(w);
}

/* ---- steps ---- */

static void a_step_is_not_begun_when_time_is_up(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = claude;
    struct script slow = {1, LATE_US, 0};
    struct answer *first = ask(w, &talk, at("cold", NOON_MS));
    talk.results = 8;
    struct answer *late = ask(w, &talk, timed("cold", NOON_MS + DAY_MS, &slow));
    assert_false(late->is_step);
    assert_true(extends(first, late));
    assert_int_equal(w->store.marks[WEIR_MARK_STEP], 0);
    restart(w);
    assert_true(is_same(late, ask(w, &talk, at("cold", NOON_MS + 2 * DAY_MS))));
    talk.results = 9;
    struct answer *next = ask(w, &talk, at("cold", NOON_MS + 4 * DAY_MS));
    assert_true(next->is_step); /* there is time now */
    assert_string_equal(next->reason, "cold");
    restart(w);
    assert_true(is_same(next, ask(w, &talk, at("cold", NOON_MS + 5 * DAY_MS))));
    close_world(w);
}

static void a_prompt_that_would_be_refused_is_no_matter_of_time(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = with_results(&gpt, 12);
    struct script slow = {1, LATE_US, 0};
    struct weir_project_options options = timed("tiered", NOON_MS, &slow);
    options.window_tokens = 16000;
    struct answer *late = ask(w, &talk, options);
    assert_true(late->is_changed);
    assert_true(late->tokens_after < 16000);
    restart(w);
    options.clock_us = NULL;
    options.now_ms++;
    assert_true(is_same(late, ask(w, &talk, options)));
    close_world(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(a_prompt_leaves_room_for_its_answer),
        BOTH(another_answer_moves_no_step_that_was_taken),
        cmocka_unit_test(a_policy_under_another_name_has_the_same_window),
        BOTH(a_loaded_window_is_a_new_pin_and_a_step),
        BOTH(a_learnt_count_moves_steps_to_come),
        cmocka_unit_test(a_small_window_is_no_reason_to_step_at_every_request),
        BOTH(a_mark_is_written_where_the_answer_changes),
        BOTH(what_is_new_stays_whole_once_time_is_up),
        BOTH(in_time_is_in_time),
        cmocka_unit_test(what_was_done_in_time_stays_done),
        cmocka_unit_test(what_was_sent_keeps_its_form_however_long_it_takes),
        BOTH(past_the_hard_cap_the_request_goes_as_it_came),
        BOTH(a_step_is_not_begun_when_time_is_up),
        BOTH(a_prompt_that_would_be_refused_is_no_matter_of_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
