/* Sessions that have the same turns: what one decides is nothing to another, but for what a fork
 * takes along when it begins (law L3). Each is compared with itself alone, under another tenant. */
#include "engine/projection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"
#include "tests/test_world.h"

#define A WR_LIT("a")
#define B WR_LIT("b")

static int64_t clock_ms;

/* A request of a session that is one of several, as the proxy makes them. */
static struct answer *say(struct world *w, weir_span session, const struct test_talk *talk,
                          uint32_t results)
{
    struct test_talk now = with_results(talk, results);
    struct weir_project_options options = {.policy_default = "cut",
                                           .session = session,
                                           .attaches = true,
                                           .now_ms = NOON_MS + (clock_ms += SECOND_MS)};
    return ask(w, &now, options);
}

/* The same where nobody else is. */
static struct answer *say_alone(struct world *w, const struct test_talk *talk, uint32_t results)
{
    struct test_talk now = with_results(talk, results);
    struct weir_project_options options = {.policy_default = "cut",
                                           .tenant = WR_LIT("alone"),
                                           .session = A,
                                           .attaches = true,
                                           .now_ms = NOON_MS + (clock_ms += SECOND_MS)};
    return ask(w, &now, options);
}

/* Where B comes, whole, among the requests of A; and whether the processes end in between. */
static const struct {
    const char *behaviour;
    uint32_t b_before; /* the result of A's before which B comes */
    bool restarts;
} meetings[] = {
    {"B comes before A begins", 1, false},
    {"B comes before A begins, and processes end", 1, true},
    {"B comes while A is behind it", 3, false},
    {"B comes while A is behind it, and processes end", 3, true},
};

static void one_that_attaches_turns_no_other_back_to_whole(void **state)
{
    enum { B_RESULTS = 5, LAST = 7 };
    for (size_t i = 0; i < WR_COUNT_OF(meetings); i++) {
        struct world *w = open_world(state);
        struct answer *a = NULL, *b = NULL;
        for (uint32_t n = 1; n <= LAST; n++) {
            if (n == meetings[i].b_before) {
                b = say(w, B, &gpt, B_RESULTS);
                if (b->is_step || !is_whole(b, 1) || !is_whole(b, B_RESULTS - 1))
                    fail_msg("%s: B does not begin whole", meetings[i].behaviour);
            }
            struct answer *before = a, *alone = say_alone(w, &gpt, n);
            if (meetings[i].restarts)
                restart(w);
            a = say(w, A, &gpt, n);
            if (!is_same(a, alone) || a->is_step || (before && !extends(before, a)))
                fail_msg("%s: A is another at result %u", meetings[i].behaviour, n);
        }
        struct answer *after = say(w, B, &gpt, B_RESULTS + 1);
        if (after->is_step || !extends(b, after) || !is_whole(after, 1))
            fail_msg("%s: B is another after A", meetings[i].behaviour);
        close_world(w);
    }
}

/* The whole of a session's forms, its rewinds too, on another process. */
static void a_fork_keeps_the_forms_of_what_it_has_in_common(void **state)
{
    for (int restarts = 0; restarts < 2; restarts++) {
        struct world *w = open_world(state);
        struct test_talk fork = gpt;
        fork.forks_at = 5;
        struct answer *third = NULL, *fourth = NULL;
        for (uint32_t n = 1; n <= 4; n++) {
            third = fourth;
            fourth = say(w, A, &gpt, n);
        }
        (void)say(w, A, &gpt, 5);
        if (restarts)
            restart(w);
        struct answer *b = say(w, B, &fork, 5);
        assert_true(extends(fourth, b));
        assert_false(b->is_step);
        assert_false(is_whole(b, 1));
        if (restarts)
            restart(w);
        struct answer *next = say(w, B, &fork, 6);
        assert_true(extends(b, next));
        assert_false(next->is_step);
        if (restarts)
            restart(w);
        fork.forks_at = 4;
        struct answer *rewound = say(w, B, &fork, 4);
        assert_true(extends(third, rewound));
        assert_false(rewound->is_step);
        close_world(w);
    }
}

/* claude-opus-5-5 binds its thinking to what stands before it: a fork that came whole would be
 * refused. */
static void a_fork_keeps_its_forms_where_thinking_is_bound(void **state)
{
    struct world *w = open_world(state);
    struct test_talk talk = claude;
    talk.model = "claude-opus-5-5";
    talk.thinks_at = 3;
    struct answer *a = NULL;
    for (uint32_t n = 1; n <= 4; n++)
        a = say(w, A, &talk, n);
    talk.forks_at = 5;
    struct answer *b = say(w, B, &talk, 5);
    assert_true(extends(a, b));
    assert_false(b->is_step);
    assert_false(is_whole(b, 1));
    close_world(w);
}

static void what_another_decides_after_the_fork_is_not_seen(void **state)
{
    for (int restarts = 0; restarts < 2; restarts++) {
        struct world *w = open_world(state);
        struct answer *b = NULL;
        for (uint32_t n = 1; n <= 4; n++) {
            (void)say_alone(w, &gpt, n);
            (void)say(w, A, &gpt, n);
        }
        b = say(w, B, &gpt, 4);
        struct test_talk refused = with_results(&gpt, 4);
        struct weir_project_options narrow = {.policy = "tiered",
                                              .session = A,
                                              .overflow_tokens = 900,
                                              .now_ms = NOON_MS + (clock_ms += SECOND_MS)};
        (void)ask(w, &refused, narrow);
        narrow.policy = NULL;
        (void)ask(w, &refused, narrow);
        if (restarts)
            restart(w);
        struct answer *alone = say_alone(w, &gpt, 5), *next = say(w, B, &gpt, 5);
        assert_true(extends(b, next));
        assert_false(next->is_step);
        assert_int_equal(next->room_tokens, alone->room_tokens);
        assert_true(is_same(next, alone));
        close_world(w);
    }
}

/* Without a name a conversation is known by its first turn, and is a session like any other. */
static void sessions_without_a_name_are_those_of_their_first_words(void **state)
{
    struct world *w = open_world(state);
    weir_span none = {"", 0};
    struct test_talk other = gpt;
    other.first = "something else";
    struct answer *b = say(w, B, &gpt, 4);
    assert_true(is_whole(b, 1));
    struct answer *before = say(w, none, &gpt, 1);
    for (uint32_t n = 2; n <= 5; n++) {
        restart(w);
        struct answer *now = say(w, none, &gpt, n);
        assert_true(extends(before, now));
        assert_false(now->is_step);
        assert_false(is_whole(now, 1));
        before = now;
    }
    assert_true(is_whole(say(w, none, &other, 3), 1)); /* nobody has seen these */
    assert_true(is_whole(say(w, B, &gpt, 5), 1));
    close_world(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(one_that_attaches_turns_no_other_back_to_whole),
        BOTH(a_fork_keeps_the_forms_of_what_it_has_in_common),
        BOTH(a_fork_keeps_its_forms_where_thinking_is_bound),
        BOTH(what_another_decides_after_the_fork_is_not_seen),
        BOTH(sessions_without_a_name_are_those_of_their_first_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
