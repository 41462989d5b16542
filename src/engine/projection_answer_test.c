/* What the answer may take is not there for the prompt; and a request that lets it take more or
 * less than the one before changes nothing that was sent. */
#include "engine/projection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"
#include "tests/test_world.h"

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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
