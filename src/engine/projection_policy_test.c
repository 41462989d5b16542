/* A policy that is said while a session runs: it beats the pin, as a step; where thinking is bound
 * to what was sent it waits. */
#include "engine/projection_policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/test_world.h"

static struct weir_project_options said(const char *policy, weir_pinning pinning)
{
    return (struct weir_project_options){.policy = policy,
                                         .policy_default = "cut",
                                         .session = WR_LIT("s"),
                                         .attaches = true,
                                         .pinning = pinning,
                                         .now_ms = NOON_MS};
}

static struct answer *next(struct world *w, struct test_talk *talk,
                           struct weir_project_options options)
{
    talk->results++;
    return ask(w, talk, options);
}

static void what_is_said_now_beats_the_pin_and_is_kept(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = with_results(&gpt, 0);
    for (int i = 0; i < 4; i++)
        assert_string_equal(next(w, &talk, said(NULL, WEIR_PIN_FIRST))->policy, "cut");
    struct answer *change = next(w, &talk, said("exact", WEIR_PIN_POLICY));
    assert_string_equal(change->policy, "exact");
    assert_true(change->is_step);
    assert_string_equal(change->reason, "policy");
    assert_false(change->is_changed);
    restart(w);
    struct answer *after = next(w, &talk, said(NULL, WEIR_PIN_FIRST));
    assert_string_equal(after->policy, "exact");
    assert_false(after->is_step);
    assert_true(extends(change, after));
    struct answer *same = next(w, &talk, said("exact", WEIR_PIN_POLICY));
    assert_false(same->is_step);
    assert_int_equal(w->store.pins, 0);
    close_world(w);
}

static void what_is_said_for_one_request_is_not_kept(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = with_results(&gpt, 0);
    assert_string_equal(next(w, &talk, said("exact", WEIR_PIN_NOTHING))->policy, "exact");
    assert_int_equal(w->store.pins, 0);
    assert_string_equal(next(w, &talk, said(NULL, WEIR_PIN_FIRST))->policy, "cut");
    assert_int_equal(w->store.pins, 1);
    assert_string_equal(next(w, &talk, said("exact", WEIR_PIN_NOTHING))->policy, "exact");
    assert_string_equal(next(w, &talk, said(NULL, WEIR_PIN_FIRST))->policy, "cut");
    close_world(w);
}

/* Projected, then sent by somebody who changes nothing, then projected again: what was sent last
 * stays, and what comes is projected. */
static void a_session_that_comes_back_stays_as_it_was_sent_last(void **state)
{
    for (int restarts = 0; restarts < 2; restarts++) {
        struct world *w = open_world(state);
        struct test_talk talk = with_results(&gpt, 0);
        for (int i = 0; i < 3; i++)
            (void)next(w, &talk, said(NULL, WEIR_PIN_FIRST));
        struct answer *whole = next(w, &talk, said("exact", WEIR_PIN_NOTHING));
        assert_true(whole->is_step);
        talk.results++; /* nobody here sees this one */
        struct weir_project_options back = said(NULL, WEIR_PIN_FIRST);
        back.was_whole = true;
        if (restarts)
            restart(w);
        struct answer *first = next(w, &talk, back);
        assert_false(first->is_step);
        assert_true(extends(whole, first));
        for (uint32_t i = 1; i <= 5; i++)
            assert_true(is_whole(first, i));
        assert_false(is_whole(first, 6));
        if (restarts)
            restart(w);
        struct answer *second = next(w, &talk, said(NULL, WEIR_PIN_FIRST));
        assert_false(second->is_step);
        assert_true(extends(first, second));
        assert_false(is_whole(second, 7));
        talk.results = 5; /* as it was sent last, whatever is remembered of the time before */
        struct answer *again = ask(w, &talk, said(NULL, WEIR_PIN_FIRST));
        restart(w);
        assert_true(is_same(again, ask(w, &talk, said(NULL, WEIR_PIN_FIRST))));
        close_world(w);
    }
}

static bool has_thinking(const struct answer *a)
{
    return wr_span_find(wr_buf_view(&a->body), WR_LIT("\"signature\""), 0) != SIZE_MAX;
}

static void a_change_waits_for_the_user_where_thinking_is_bound(void **state)
{
    static const char *const changes[] = {"exact", "cut_more"};
    for (size_t i = 0; i < 2; i++) {
        struct world *w = open_world(state);
        struct test_talk talk = with_results(&claude, 0);
        struct answer *before = NULL;
        talk.model = "claude-opus-5-5";
        talk.thinks_at = 2;
        for (int n = 0; n < 4; n++)
            before = next(w, &talk, said(NULL, WEIR_PIN_FIRST));
        struct answer *waits = next(w, &talk, said(changes[i], WEIR_PIN_POLICY));
        assert_true(waits->is_pending);
        assert_string_equal(waits->policy, "cut");
        assert_false(waits->is_step);
        assert_true(extends(before, waits));
        assert_true(has_thinking(waits));
        restart(w);
        struct answer *still = next(w, &talk, said(changes[i], WEIR_PIN_POLICY));
        assert_true(still->is_pending);
        assert_true(extends(waits, still));

        talk.last = "and now the other one";
        struct answer *change = ask(w, &talk, said(changes[i], WEIR_PIN_POLICY));
        assert_false(change->is_pending);
        assert_string_equal(change->policy, changes[i]);
        assert_true(change->is_step);
        assert_string_equal(change->reason, "policy");
        assert_false(has_thinking(change));
        restart(w);
        struct answer *again = ask(w, &talk, said(NULL, WEIR_PIN_FIRST));
        assert_true(is_same(change, again));
        assert_false(again->is_step);
        close_world(w);
    }
}

/* Said once, it waits in the pin: nobody needs to say it again. */
static void what_waits_is_not_forgotten(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = with_results(&claude, 0);
    talk.model = "claude-opus-5-5";
    talk.thinks_at = 2;
    for (int n = 0; n < 4; n++)
        (void)next(w, &talk, said(NULL, WEIR_PIN_FIRST));
    struct answer *before = next(w, &talk, said("exact", WEIR_PIN_POLICY));
    assert_true(before->is_pending);
    for (int n = 0; n < 3; n++) {
        if (n)
            restart(w);
        struct answer *waits = next(w, &talk, said(NULL, WEIR_PIN_FIRST));
        assert_true(waits->is_pending);
        assert_string_equal(waits->policy, "cut");
        assert_false(waits->is_step);
        assert_true(extends(before, waits));
        before = waits;
    }
    talk.last = "and now the other one";
    struct answer *change = ask(w, &talk, said(NULL, WEIR_PIN_FIRST));
    assert_false(change->is_pending);
    assert_string_equal(change->policy, "exact");
    assert_true(change->is_step);
    assert_false(has_thinking(change));
    close_world(w);
}

/* The policy in force is said again before the other one could begin: nothing changes. */
static void what_waits_can_be_taken_back(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = with_results(&claude, 0);
    talk.model = "claude-opus-5-5";
    talk.thinks_at = 2;
    for (int n = 0; n < 4; n++)
        (void)next(w, &talk, said(NULL, WEIR_PIN_FIRST));
    struct answer *waits = next(w, &talk, said("exact", WEIR_PIN_POLICY));
    assert_true(waits->is_pending);
    struct answer *back = next(w, &talk, said("cut", WEIR_PIN_POLICY));
    assert_false(back->is_pending);
    assert_true(extends(waits, back));
    talk.last = "go on";
    struct answer *after = ask(w, &talk, said(NULL, WEIR_PIN_FIRST));
    assert_string_equal(after->policy, "cut");
    assert_false(after->is_step);
    assert_true(extends(back, after));
    close_world(w);
}

/* Another process, whose user has edited `cut` meanwhile. */
static void restart_edited(struct world *w)
{
    static const char edited[] = "policies:\n"
                                 "  cut: {stages: [{stage: cap, max_tokens: 200, tools: {Skill: "
                                 "exact}}]}\n";
    restart(w);
    weir_engine_free(w->engine);
    assert_int_equal(weir_engine_new(&w->engine, NULL), WEIR_OK);
    assert_int_equal(weir_engine_load_policies(w->engine, wr_span_of(edited), NULL), WEIR_OK);
}

/* What sent the loop so far is no policy of this process any more. It was kept with the session, or
 * it is lost with its pins; in neither case does thinking of the open loop go. */
static void an_edited_policy_waits_for_the_user(void **state)
{
    for (int is_lost = 0; is_lost < 2; is_lost++) {
        struct world *w = open_world(state);
        struct test_talk talk = with_results(&claude, 0);
        struct answer *before = NULL;
        talk.model = "claude-opus-5-5";
        talk.thinks_at = 2;
        for (int n = 0; n < 4; n++)
            before = next(w, &talk, said(NULL, WEIR_PIN_FIRST));
        restart_edited(w);
        w->store.hides_pins = is_lost;
        struct answer *waits = next(w, &talk, said(NULL, WEIR_PIN_FIRST));
        assert_true(waits->is_pending);
        assert_true(has_thinking(waits));
        assert_int_equal(waits->is_step, is_lost);
        assert_int_equal(waits->is_changed, !is_lost);
        assert_int_equal(extends(before, waits), !is_lost);
        assert_string_equal(waits->reason, is_lost ? "policy" : "");
        if (!is_lost)
            assert_string_equal(waits->policy, "cut");
        restart_edited(w);
        struct answer *still = next(w, &talk, said(NULL, WEIR_PIN_FIRST));
        assert_true(still->is_pending);
        assert_false(still->is_step);
        assert_true(extends(waits, still));

        talk.last = "and now the other one";
        struct answer *change = ask(w, &talk, said(NULL, WEIR_PIN_FIRST));
        assert_false(change->is_pending);
        assert_true(change->is_step);
        assert_string_equal(change->policy, "cut");
        assert_false(has_thinking(change));
        assert_true(change->is_changed);
        restart_edited(w);
        struct answer *again = ask(w, &talk, said(NULL, WEIR_PIN_FIRST));
        assert_true(is_same(change, again));
        assert_false(again->is_step);
        close_world(w);
    }
}

static void a_change_needs_no_waiting_where_nothing_is_signed(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = with_results(&claude, 0);
    talk.model = "claude-opus-5-5";
    for (int n = 0; n < 4; n++)
        (void)next(w, &talk, said(NULL, WEIR_PIN_FIRST));
    struct answer *change = next(w, &talk, said("exact", WEIR_PIN_POLICY));
    assert_false(change->is_pending);
    assert_true(change->is_step);
    assert_string_equal(change->policy, "exact");
    close_world(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(what_is_said_now_beats_the_pin_and_is_kept),
        BOTH(what_is_said_for_one_request_is_not_kept),
        BOTH(a_session_that_comes_back_stays_as_it_was_sent_last),
        BOTH(a_change_waits_for_the_user_where_thinking_is_bound),
        BOTH(what_waits_is_not_forgotten),
        BOTH(what_waits_can_be_taken_back),
        BOTH(an_edited_policy_waits_for_the_user),
        BOTH(a_change_needs_no_waiting_where_nothing_is_signed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
