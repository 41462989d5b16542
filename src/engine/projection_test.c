/* When a session's requests take a step, and that what was decided once stays decided: in another
 * process and later too. */
#include "engine/projection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"
#include "tests/test_world.h"

/* ---- cold ---- */

static const struct {
    const char *behaviour;
    weir_dialect dialect;
    const char *model, *ttl;
    int64_t first_ms, pause_ms;
    bool is_cold;
} pauses[] = {
    {"a marker of 5 minutes lives 5 minutes", WEIR_DIALECT_MESSAGES, "claude-sonnet-4-5", "5m",
     NOON_MS, 300000, false},
    {"and not a millisecond more", WEIR_DIALECT_MESSAGES, "claude-sonnet-4-5", "5m", NOON_MS,
     300001, true},
    {"a marker of an hour lives an hour", WEIR_DIALECT_MESSAGES, "claude-sonnet-4-5", "1h", NOON_MS,
     3600000, false},
    {"and not a millisecond more than an hour", WEIR_DIALECT_MESSAGES, "claude-sonnet-4-5", "1h",
     NOON_MS, 3600001, true},
    {"Messages without a marker are never cached", WEIR_DIALECT_MESSAGES, "claude-sonnet-4-5", NULL,
     NOON_MS, 1, true},
    {"gpt-5 keeps what the registry says", WEIR_DIALECT_CHAT, "gpt-5", NULL, NOON_MS, 300000,
     false},
    {"gpt-5 forgets after that", WEIR_DIALECT_CHAT, "gpt-5", NULL, NOON_MS, 300001, true},
    {"gpt-5.6-sol keeps half an hour", WEIR_DIALECT_RESPONSES, "gpt-5.6-sol", NULL, NOON_MS,
     1800000, false},
    {"gpt-5.6-sol forgets after that", WEIR_DIALECT_RESPONSES, "gpt-5.6-sol", NULL, NOON_MS,
     1800001, true},
    {"where no time is published nothing expires", WEIR_DIALECT_CHAT, "deepseek-flash", NULL,
     NOON_MS, 90 * DAY_MS, false},
    {"a clock that goes back expires nothing", WEIR_DIALECT_CHAT, "gpt-5", NULL, NOON_MS, -DAY_MS,
     false},
    {"a request without a time expires nothing", WEIR_DIALECT_CHAT, "gpt-5", NULL, NOON_MS,
     -NOON_MS, false},
    {"a pause after a request without a time is not known", WEIR_DIALECT_CHAT, "gpt-5", NULL, 0,
     NOON_MS, false},
};

static void a_step_is_taken_when_the_cache_has_expired(void **state)
{
    for (size_t i = 0; i < WR_COUNT_OF(pauses); i++) {
        struct test_talk talk = {.dialect = pauses[i].dialect,
                                 .model = pauses[i].model,
                                 .ttl = pauses[i].ttl,
                                 .results = 7};
        struct world *w = open_world(state);
        struct answer *first = ask(w, &talk, at("cold", pauses[i].first_ms));
        if (first->is_changed)
            fail_msg("%s: the first request was changed", pauses[i].behaviour);
        talk.results = 8;
        struct answer *a = ask(w, &talk, at("cold", pauses[i].first_ms + pauses[i].pause_ms));
        if (a->is_step != pauses[i].is_cold || a->is_changed != pauses[i].is_cold ||
            w->store.marks[WEIR_MARK_STEP] != pauses[i].is_cold)
            fail_msg("%s: %s, %u step marks", pauses[i].behaviour,
                     a->is_step ? "a step" : "no step", w->store.marks[WEIR_MARK_STEP]);
        if (extends(first, a) == pauses[i].is_cold)
            fail_msg("%s: a step is what changes the prefix", pauses[i].behaviour);
        if (pauses[i].is_cold)
            assert_string_equal(a->reason, "cold");
        close_world(w);
    }
}

static void a_cold_step_is_replayed_for_ever(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = claude;
    (void)ask(w, &talk, at("cold", NOON_MS));
    talk.results = 8;
    struct answer *step = ask(w, &talk, at("cold", NOON_MS + DAY_MS));
    assert_true(step->is_step);
    restart(w);
    struct answer *again = ask(w, &talk, at("cold", NOON_MS + DAY_MS + SECOND_MS));
    assert_true(is_same(step, again));
    assert_false(again->is_step);
    restart(w);
    struct answer *later = ask(w, &talk, at("cold", NOON_MS + 400 * DAY_MS));
    assert_true(is_same(step, later));
    assert_false(later->is_step);
    for (talk.results = 9; talk.results < 14; talk.results++) {
        restart(w);
        struct answer *next =
            ask(w, &talk, at("cold", NOON_MS + 400 * DAY_MS + talk.results * SECOND_MS));
        assert_false(next->is_step);
        assert_true(extends(step, next));
        assert_int_equal(w->store.marks[WEIR_MARK_STEP], 1); /* named again by the batch */
        step = next;
    }
    talk.results--;
    assert_true(is_same(step, ask(w, &talk, at("cold", 0))));
    close_world(w);
}

static void a_pause_with_little_to_gain_changes_nothing(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = claude;
    talk.lines = 12;
    (void)ask(w, &talk, at("cold", NOON_MS));
    talk.results = 8;
    struct answer *a = ask(w, &talk, at("cold", NOON_MS + DAY_MS));
    assert_false(a->is_changed);
    assert_false(a->is_step);
    assert_int_equal(w->store.marks[WEIR_MARK_STEP], 0);
    assert_int_equal(w->store.marks[WEIR_MARK_SENT], 1);
    close_world(w);
}

static void without_a_cache_steps_still_wait_for_enough_to_gain(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = claude;
    uint32_t steps = 0;
    talk.ttl = NULL;
    talk.lines = 40; /* about 900 tokens: one of them is not enough */
    for (talk.results = 1; talk.results <= 20; talk.results++) {
        struct answer *a = ask(w, &talk, at("cold", NOON_MS + talk.results));
        steps += a->is_step;
        if (talk.results == 1)
            assert_false(a->is_step);
    }
    assert_true(steps > 0);
    assert_true(steps <= 9);
    close_world(w);
}

/* A gateway behind us may add the markers: the answers tell. */
static void a_session_that_is_told_of_its_cache_is_a_cached_one(void **state)
{
    for (int restarts = 0; restarts < 2; restarts++) {
        struct world *w = open_world(state);
        struct test_talk talk = with_results(&claude, 7);
        struct weir_project_options told = at("cold", NOON_MS);
        talk.ttl = NULL;
        (void)ask(w, &talk, told);
        told.reads_cache = true;
        told.now_ms++;
        talk.results = 8;
        struct answer *before = ask(w, &talk, told);
        assert_false(before->is_step);
        for (talk.results = 9; talk.results <= 12; talk.results++) {
            if (restarts)
                restart(w); /* from here on the marks say it */
            struct answer *now = ask(w, &talk, at("cold", NOON_MS + talk.results * SECOND_MS));
            assert_false(now->is_step);
            assert_true(extends(before, now));
            before = now;
        }
        struct answer *late = ask(w, &talk, at("cold", NOON_MS + DAY_MS));
        assert_true(late->is_step);
        assert_string_equal(late->reason, "cold");

        struct test_talk other = talk; /* nobody told this one */
        other.first = "something else";
        other.results = 7;
        (void)ask(w, &other, at("cold", NOON_MS));
        other.results = 8;
        assert_true(ask(w, &other, at("cold", NOON_MS + 1))->is_step);
        close_world(w);
    }
}

static void the_same_request_again_gives_the_same_bytes(void **state)
{
    static const char *const names[] = {"cut", "cold"};
    for (size_t p = 0; p < 2; p++) {
        struct world *w = open_world(state);
        struct test_talk talk = gpt;
        struct answer *last = NULL;
        for (talk.results = 5; talk.results < 9; talk.results++) {
            int64_t now_ms = NOON_MS + talk.results * DAY_MS;
            struct answer *a = ask(w, &talk, at(names[p], now_ms));
            struct answer *b = ask(w, &talk, at(names[p], now_ms + SECOND_MS));
            assert_true(is_same(a, b));
            assert_false(b->is_step);
            restart(w);
            assert_true(is_same(a, ask(w, &talk, at(names[p], now_ms + 2 * SECOND_MS))));
            last = a;
        }
        assert_true(last->is_changed);
        close_world(w);
    }
}

/* Long after, with nothing sent since: it was warm or not, what it was sent as is what it is. */
static void an_old_request_sent_again_takes_no_step_that_others_replay(void **state)
{
    struct world *w = open_world(state);
    struct test_talk old = with_results(&gpt, 7), live = with_results(&gpt, 8);
    struct answer *first = ask(w, &old, at("cold", NOON_MS));
    struct answer *second = ask(w, &live, at("cold", NOON_MS + SECOND_MS));
    struct answer *again = ask(w, &old, at("cold", NOON_MS + DAY_MS));
    assert_true(is_same(first, again));
    assert_false(again->is_step);
    live.results = 9;
    struct answer *third = ask(w, &live, at("cold", NOON_MS + 2 * SECOND_MS));
    assert_false(third->is_step);
    assert_true(extends(second, third));
    close_world(w);
}

/* ---- forks and rewinds ---- */

static void forks_and_rewinds_share_only_what_they_have_in_common(void **state)
{
    struct world *w = open_world(state);
    struct test_talk five = with_results(&claude, 5), eight = with_results(&claude, 8);
    struct test_talk early = eight, late = with_results(&claude, 9);
    early.forks_at = 6;
    late.forks_at = 9;
    struct answer *before = ask(w, &five, at("cold", NOON_MS));
    struct answer *step = ask(w, &eight, at("cold", NOON_MS + DAY_MS));
    assert_true(step->is_step);

    struct answer *rewound = ask(w, &five, at("cold", NOON_MS + 200 * SECOND_MS));
    assert_true(is_same(before, rewound));
    assert_false(rewound->is_step);
    struct answer *fork = ask(w, &early, at("cold", NOON_MS + 400 * SECOND_MS));
    assert_false(fork->is_changed); /* the step was taken after they parted */
    assert_false(fork->is_step);
    struct answer *late_fork = ask(w, &late, at("cold", NOON_MS + DAY_MS + SECOND_MS));
    assert_true(extends(step, late_fork));
    assert_false(late_fork->is_step);
    struct test_talk nine = with_results(&claude, 9);
    struct answer *on = ask(w, &nine, at("cold", NOON_MS + DAY_MS + 2 * SECOND_MS));
    assert_true(extends(step, on));
    assert_false(on->is_step);
    close_world(w);
}

static void another_tenant_knows_nothing_of_it(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = claude;
    struct weir_project_options other = at("cold", NOON_MS + DAY_MS);
    other.tenant = WR_LIT("other");
    (void)ask(w, &talk, at("cold", NOON_MS));
    talk.results = 8;
    assert_false(ask(w, &talk, other)->is_step);
    assert_true(ask(w, &talk, at("cold", NOON_MS + DAY_MS))->is_step);
    other.now_ms += SECOND_MS;
    assert_false(ask(w, &talk, other)->is_changed);
    close_world(w);
}

/* ---- declared steps ---- */

enum { SAME = 1 };

static const struct {
    const char *behaviour;
    const char *policy, *model, *tool;
    uint32_t window_tokens; /* SAME: what the first model had */
    bool has_no_recall;
    const char *reason; /* NULL: the prefix stays */
} changes[] = {
    {"nothing else changes", "cold", "gpt-5", NULL, 0, false, NULL},
    {"another model with another window", "cold", "gpt-4.1", NULL, 0, false, "model"},
    {"another model with the same window", "cold", "gpt-4.1", NULL, SAME, false, NULL},
    {"another policy", "colder", "gpt-5", NULL, 0, false, "policy"},
    {"a policy that does the same", "cold_again", "gpt-5", NULL, 0, false, NULL},
    {"another window", "cold", "gpt-5", NULL, 100000, false, "window"},
    {"one more tool", "cold", "gpt-5", "Grep", 0, false, NULL},
    {"no recall any more", "cold", "gpt-5", NULL, 0, true, "tools"},
};

static void a_step_is_declared_exactly_where_the_prefix_changes(void **state)
{
    for (size_t i = 0; i < WR_COUNT_OF(changes); i++) {
        struct world *w = open_world(state);
        struct test_talk talk = gpt;
        (void)ask(w, &talk, at("cold", NOON_MS));
        talk.results = 8;
        struct answer *before = ask(w, &talk, at("cold", NOON_MS + DAY_MS));
        assert_true(before->is_step);
        talk.results = 9;
        talk.model = changes[i].model;
        talk.tool = changes[i].tool;
        talk.has_no_recall = changes[i].has_no_recall;
        struct weir_project_options options = at(changes[i].policy, NOON_MS + DAY_MS + SECOND_MS);
        options.window_tokens = changes[i].window_tokens == SAME ? (uint32_t)before->window_tokens
                                                                 : changes[i].window_tokens;
        struct answer *a = ask(w, &talk, options);
        const char *reason = changes[i].reason ? changes[i].reason : "";
        if (strcmp(a->reason, reason) || a->is_step == extends(before, a))
            fail_msg("%s: \"%s\", not \"%s\"; it %s", changes[i].behaviour, a->reason, reason,
                     extends(before, a) ? "extends" : "does not extend");
        close_world(w);
    }
}

/* The forms of an arrival are a policy's too, and no mark says them. */
static void forms_of_arrival_change_with_the_policy_only(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = gpt;
    struct answer *a = ask(w, &talk, at("cut", NOON_MS));
    talk.results = 8;
    talk.model = "gpt-4.1";
    struct answer *b = ask(w, &talk, at("cut", NOON_MS + SECOND_MS));
    assert_true(a->is_changed);
    assert_true(extends(a, b));
    assert_false(b->is_step);
    talk.results = 9;
    struct answer *c = ask(w, &talk, at("cut_more", NOON_MS + 2 * SECOND_MS));
    assert_string_equal(c->reason, "policy");
    close_world(w);
}

/* `exact` has no stages, and is a policy all the same. */
static void from_exact_and_to_exact_are_steps_too(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = gpt;
    struct answer *a = ask(w, &talk, at("exact", NOON_MS));
    talk.results = 8;
    struct answer *b = ask(w, &talk, at("cut", NOON_MS + SECOND_MS));
    talk.results = 9;
    struct answer *c = ask(w, &talk, at("exact", NOON_MS + 2 * SECOND_MS));
    bool is_declared = !strcmp(b->reason, "policy") && !strcmp(c->reason, "policy");
    assert_false(extends(a, b) || extends(b, c));
    close_world(w);
    if (!is_declared)
        fail_msg("the prefix changed and no step was declared");
}

static void instructions_that_grow_are_no_step_of_ours(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = claude;
    struct answer *a = ask(w, &talk, at("cut", NOON_MS));
    talk.results = 8;
    talk.has_more_head = true;
    struct answer *b = ask(w, &talk, at("cut", NOON_MS + SECOND_MS));
    bool does_extend = extends(a, b), is_step = b->is_step;
    close_world(w);
    assert_true(does_extend);
    if (is_step)
        fail_msg("a step was declared, and no message changed");
}

/* ---- thinking, deltas, presets ---- */

static void an_open_loop_with_signed_thinking_has_no_step(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = claude;
    talk.model = "claude-opus-5-5";
    talk.thinks_at = 2;
    (void)ask(w, &talk, at("cold", NOON_MS));
    talk.results = 8;
    struct answer *a = ask(w, &talk, at("cold", NOON_MS + DAY_MS));
    assert_false(a->is_changed);
    assert_false(a->is_step);
    assert_int_equal(w->store.marks[WEIR_MARK_STEP], 0);
    talk.last = "and now?";
    struct answer *b = ask(w, &talk, at("cold", NOON_MS + 2 * DAY_MS));
    assert_string_equal(b->reason, "cold");
    assert_int_equal(wr_span_find(wr_buf_view(&b->body), WR_LIT("signature"), 0), SIZE_MAX);
    close_world(w);
}

static void thinking_binds_nothing_on_a_model_that_does_not_check_it(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = claude;
    talk.thinks_at = 2;
    (void)ask(w, &talk, at("cold", NOON_MS));
    talk.results = 8;
    assert_true(ask(w, &talk, at("cold", NOON_MS + DAY_MS))->is_step);
    close_world(w);
}

static void a_delta_writes_no_marks_and_no_pin(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = {
        .dialect = WEIR_DIALECT_RESPONSES, .model = "gpt-5", .results = 3, .is_delta = true};
    struct answer *a = ask(w, &talk, at("cut", NOON_MS));
    assert_true(a->is_changed);
    assert_int_equal(w->store.commits, 1);
    for (int i = 0; i < WEIR_MARK_KINDS_COUNT; i++)
        assert_int_equal(w->store.marks[i], 0);
    assert_int_equal(w->store.pins, 0);
    close_world(w);
}

static void markers_that_move_change_nothing(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = claude;
    talk.marks_newest = true;
    (void)ask(w, &talk, at("cold", NOON_MS));
    talk.results = 8;
    assert_true(ask(w, &talk, at("cold", NOON_MS + DAY_MS))->is_step);
    talk.results = 9;
    struct answer *a = ask(w, &talk, at("cold", NOON_MS + DAY_MS + SECOND_MS));
    assert_false(a->is_step);
    assert_false(is_whole(a, 1));
    close_world(w);
}

static void the_presets_of_our_own_take_one_deep_step_in_a_pause(void **state)
{
    static const char *const names[] = {"auto", "lean", "careful"};
    for (size_t i = 0; i < WR_COUNT_OF(names); i++) {
        struct world *w = open_world(state);
        struct test_talk talk = with_results(&claude, 25);
        talk.lines = 38; /* too short to be worth it on arrival, worth it ten turns later */
        struct answer *a = ask(w, &talk, at(names[i], NOON_MS));
        talk.results = 26;
        struct answer *b = ask(w, &talk, at(names[i], NOON_MS + DAY_MS));
        assert_string_equal(b->reason, "cold");
        assert_true(b->tokens_after < a->tokens_after);
        restart(w);
        talk.results = 27;
        assert_true(extends(b, ask(w, &talk, at(names[i], NOON_MS + DAY_MS + SECOND_MS))));
        close_world(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(a_step_is_taken_when_the_cache_has_expired),
        BOTH(a_cold_step_is_replayed_for_ever),
        BOTH(a_pause_with_little_to_gain_changes_nothing),
        BOTH(without_a_cache_steps_still_wait_for_enough_to_gain),
        BOTH(a_session_that_is_told_of_its_cache_is_a_cached_one),
        BOTH(the_same_request_again_gives_the_same_bytes),
        BOTH(an_old_request_sent_again_takes_no_step_that_others_replay),
        BOTH(forks_and_rewinds_share_only_what_they_have_in_common),
        BOTH(another_tenant_knows_nothing_of_it),
        BOTH(a_step_is_declared_exactly_where_the_prefix_changes),
        BOTH(forms_of_arrival_change_with_the_policy_only),
        BOTH(from_exact_and_to_exact_are_steps_too),
        BOTH(instructions_that_grow_are_no_step_of_ours),
        BOTH(an_open_loop_with_signed_thinking_has_no_step),
        BOTH(thinking_binds_nothing_on_a_model_that_does_not_check_it),
        BOTH(a_delta_writes_no_marks_and_no_pin),
        BOTH(markers_that_move_change_nothing),
        BOTH(the_presets_of_our_own_take_one_deep_step_in_a_pause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
