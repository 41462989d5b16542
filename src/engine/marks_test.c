/* Marks written to a store and found again by the session, the turns before them, the policy and
 * the window. */
#include "engine/marks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

enum { TURNS_MAX = 512, NOW_MS = 1000000 };
#define TENANT WR_LIT("local")

static const struct wr_policy one = {.name = "one"}, *const policy = &one;

struct world {
    struct wr_arena arena;
    struct weir_store *store;
    struct wr_marks_held *held;
    wr_hash128 hashes[TURNS_MAX];
    uint32_t ends[TURNS_MAX];
};

static struct world *open_world(void)
{
    static struct world world;
    wr_arena_init(&world.arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(weir_store_new_memory(0, &world.store), WEIR_OK);
    assert_int_equal(wr_marks_held_new(&world.held), WEIR_OK);
    for (uint32_t i = 0; i < TURNS_MAX; i++)
        world.hashes[i] = (wr_hash128){i + 1, ~(uint64_t)i};
    return &world;
}

static void close_world(struct world *w)
{
    wr_marks_held_free(w->held);
    weir_store_close(w->store);
    wr_arena_release(&w->arena);
}

/* The marks of a conversation of so many turns; those from `forks_at` on are another's. */
struct asked {
    uint32_t turns, forks_at; /* 0: no fork */
    const struct wr_policy *policy;
    uint64_t window_tokens, model, head;
    weir_span tenant, session; /* empty: "local", "s" */
};

static struct wr_marks read_marks(struct world *w, const struct asked *asked)
{
    struct wr_marks marks;
    struct wr_trail trail = {.turns = w->hashes,
                             .ends = w->ends,
                             .turns_count = asked->turns,
                             .head = asked->head,
                             .model = asked->model};
    wr_hash128 *turns = WR_ARENA_ARRAY(&w->arena, wr_hash128, asked->turns + 1);
    for (uint32_t i = 0; i < asked->turns; i++) {
        turns[i] = w->hashes[i];
        turns[i].high ^= asked->forks_at && i >= asked->forks_at;
    }
    trail.turns = turns;
    struct wr_marks_input input = {.trail = &trail,
                                   .store = w->store,
                                   .tenant = asked->tenant.len ? asked->tenant : TENANT,
                                   .session = asked->session.len ? asked->session : WR_LIT("s"),
                                   .policy = asked->policy ? asked->policy : policy,
                                   .window_tokens = asked->window_tokens,
                                   .held = w->held};
    assert_int_equal(wr_marks_read(&marks, &w->arena, &input), WEIR_OK);
    return marks;
}

static struct wr_marks read_turns(struct world *w, uint32_t turns)
{
    struct asked asked = {.turns = turns};
    return read_marks(w, &asked);
}

static void commit(struct world *w, const struct wr_marks *marks)
{
    struct weir_batch batch = {.tenant = TENANT,
                               .session = WR_LIT("s"),
                               .marks = marks->list,
                               .marks_count = marks->list_count};
    assert_int_equal(weir_store_commit(w->store, &batch, NULL), WEIR_OK);
}

/* ---- what is found ---- */

static void a_mark_is_found_by_what_stands_before_it(void **state)
{
    static const struct wr_stage_def def = {.name = "x"};
    static const struct wr_policy other = {
        .name = "one", .stages = {{.def = &def}}, .stages_count = 1};
    static const struct wr_policy renamed = {.name = "two"};
    const struct {
        const char *behaviour;
        struct asked asked;
        bool is_found;
    } cases[] = {
        {"the same turns", {.turns = 5}, true},
        {"more turns", {.turns = 9}, true},
        {"a fork behind it", {.turns = 9, .forks_at = 5}, true},
        {"a fork at it", {.turns = 9, .forks_at = 4}, false},
        {"a fork before it", {.turns = 9, .forks_at = 2}, false},
        {"a rewind before it", {.turns = 4}, false},
        {"another policy", {.turns = 5, .policy = &other}, false},
        {"another name of the policy", {.turns = 5, .policy = &renamed}, true},
        {"another window", {.turns = 5, .window_tokens = 7}, false},
        {"another tenant", {.turns = 5, .tenant = WR_LIT("other")}, false},
        {"another model and head", {.turns = 5, .model = 7, .head = 7}, true},
    };
    struct world *w = open_world();
    struct wr_marks marks = read_turns(w, 5);
    (void)state;
    assert_int_equal(marks.list_count, 0);
    assert_int_equal(wr_marks_add(&marks, WEIR_MARK_STEP, 4, WR_LIT("cold")), WEIR_OK);
    commit(w, &marks);
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_marks found = read_marks(w, &cases[i].asked);
        bool is_found = false;
        for (uint32_t turn = 0; turn < cases[i].asked.turns; turn++)
            is_found |= found.turns[turn].is_cold;
        if (is_found != cases[i].is_found || found.list_count != cases[i].is_found)
            fail_msg("%s: %s", cases[i].behaviour, is_found ? "found" : "not found");
        if (is_found && !found.turns[4].is_cold)
            fail_msg("%s: at another turn", cases[i].behaviour);
    }
    close_world(w);
}

static void each_kind_says_what_it_says(void **state)
{
    struct world *w = open_world();
    struct wr_marks marks = read_turns(w, 6);
    (void)state;
    assert_int_equal(wr_marks_add(&marks, WEIR_MARK_ATTACHED, 1, (weir_span){"", 0}), WEIR_OK);
    assert_int_equal(wr_marks_add(&marks, WEIR_MARK_KEPT_WHOLE, 3, (weir_span){"", 0}), WEIR_OK);
    assert_int_equal(wr_marks_add(&marks, WEIR_MARK_STEP, 4, WR_LIT("cold")), WEIR_OK);
    assert_int_equal(wr_marks_add(&marks, WEIR_MARK_WINDOW, 4, WR_LIT("8000")), WEIR_OK);
    commit(w, &marks);
    struct wr_marks found = read_turns(w, 6);
    const bool whole[] = {true, true, false, true, false, false};
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(found.turns[i].is_whole, whole[i]);
        assert_int_equal(found.turns[i].is_cold, i == 4);
        assert_int_equal(found.turns[i].window_tokens, i == 4 ? 8000 : 0);
    }
    assert_int_equal(found.list_count, 4); /* the next batch names them all again */
    commit(w, &found);
    close_world(w);
}

static void a_window_may_be_said_again_and_a_broken_one_is_none(void **state)
{
    struct world *w = open_world();
    static const char *const said[] = {"9000", "5000", "many"};
    static const uint64_t tokens[] = {9000, 5000, 0};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct wr_marks marks = read_turns(w, 2);
        assert_int_equal(wr_marks_add(&marks, WEIR_MARK_WINDOW, 1, wr_span_of(said[i])), WEIR_OK);
        commit(w, &marks);
        assert_int_equal(read_turns(w, 2).turns[1].window_tokens, tokens[i]);
    }
    close_world(w);
}

/* ---- the last request ---- */

static weir_status add_sent(struct wr_marks *marks, int64_t at_ms, wr_hash128 forms)
{
    struct wr_sent sent;
    return wr_marks_add_sent(marks, marks->trail.turns_count - 1, at_ms, forms, &sent);
}

static void the_newest_request_that_is_extended_is_the_last(void **state)
{
    struct world *w = open_world();
    (void)state;
    assert_false(read_turns(w, 3).last.is_known);
    for (uint32_t turns = 2; turns <= 4; turns++) {
        struct asked asked = {.turns = turns, .model = 10 + turns, .head = 20, .window_tokens = 30};
        struct wr_marks marks = read_marks(w, &asked);
        assert_int_equal(add_sent(&marks, NOW_MS + turns, (wr_hash128){turns, 99}), WEIR_OK);
        commit(w, &marks);
    }
    static const struct {
        struct asked asked;
        uint32_t turn; /* 0: not known */
    } cases[] = {
        {{.turns = 1}, 0},
        {{.turns = 2}, 1},
        {{.turns = 4}, 3},
        {{.turns = 9}, 3},
        {{.turns = 9, .forks_at = 2}, 1},
        {{.turns = 9, .forks_at = 1}, 0},
        {{.turns = 9, .window_tokens = 8, .model = 8}, 3}, /* under whatever it was sent */
    };
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_sent last = read_marks(w, &cases[i].asked).last;
        assert_int_equal(last.is_known, cases[i].turn > 0);
        if (!last.is_known)
            continue;
        assert_int_equal(last.turn, cases[i].turn);
        assert_int_equal(last.at_ms, NOW_MS + cases[i].turn + 1);
        assert_int_equal(last.model, 11 + cases[i].turn);
        assert_int_equal(last.head, 20);
        assert_int_equal(last.window_tokens, 30);
        assert_int_equal(last.policy, wr_policy_hash(policy));
        assert_int_equal(last.forms.low, cases[i].turn + 1);
        assert_int_equal(last.forms.high, 99);
    }
    close_world(w);
}

static void sending_it_again_is_the_last_time(void **state)
{
    struct world *w = open_world();
    static const int64_t times[] = {5, -1, INT64_MAX, 0};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct wr_marks marks = read_turns(w, 2);
        assert_int_equal(add_sent(&marks, times[i], (wr_hash128){i, i}), WEIR_OK);
        commit(w, &marks);
        assert_true(read_turns(w, 2).last.at_ms == times[i]);
        assert_int_equal(read_turns(w, 2).list_count, 0); /* it is said anew, not repeated */
    }
    close_world(w);
}

static void the_last_request_is_sought_so_far_back(void **state)
{
    struct world *w = open_world();
    struct wr_marks marks = read_turns(w, 2);
    (void)state;
    assert_int_equal(add_sent(&marks, NOW_MS, (wr_hash128){1, 1}), WEIR_OK);
    commit(w, &marks);
    assert_true(read_turns(w, 1 + WR_MARKS_LOOK_BACK_TURNS).last.is_known);
    assert_false(read_turns(w, 2 + WR_MARKS_LOOK_BACK_TURNS).last.is_known);
    for (uint32_t i = 1; i <= 2; i++) { /* by a session that copies too */
        struct asked asked = {.turns = i + WR_MARKS_LOOK_BACK_TURNS, .session = WR_LIT("second")};
        struct wr_marks copied = read_marks(w, &asked);
        assert_true(copied.is_copied);
        assert_int_equal(copied.last.is_known, i == 1);
    }
    close_world(w);
}

static void what_cannot_be_read_was_not_sent(void **state)
{
    static const char *const values[] = {
        "", "0000000000000001", "000000000000000g 0000000000000001 ",
        ("0000000000000001 0000000000000001 0000000000000001 0000000000000001 0000000000000001 "
         "0000000000000001 ")};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(values); i++) {
        struct world *w = open_world();
        struct wr_marks marks = read_turns(w, 2);
        assert_int_equal(add_sent(&marks, NOW_MS, (wr_hash128){1, 1}), WEIR_OK);
        marks.list[0].value = wr_span_of(values[i]);
        commit(w, &marks);
        assert_false(read_turns(w, 2).last.is_known);
        close_world(w);
    }
}

/* ---- sessions ---- */

/* A session sends its turns one after the other, and decides something at turns 1 and 4. */
static void send_turns(struct world *w, weir_span session, uint32_t turns)
{
    for (uint32_t n = 1; n <= turns; n++) {
        struct asked asked = {.turns = n, .session = session};
        struct wr_marks marks = read_marks(w, &asked);
        if (n == 2 || n == 5)
            assert_int_equal(wr_marks_add(&marks, WEIR_MARK_STEP, n - 1, WR_LIT("cold")), WEIR_OK);
        assert_int_equal(add_sent(&marks, NOW_MS + n, (wr_hash128){n, session.len}), WEIR_OK);
        commit(w, &marks);
    }
}

static void a_session_that_begins_copies_once(void **state)
{
    const struct {
        const char *behaviour;
        struct asked asked;
        uint32_t steps, last; /* marks found; turns that were sent of it, 0: none */
    } cases[] = {
        {"the same turns", {.turns = 6}, 2, 6},
        {"one more", {.turns = 7}, 2, 6},
        {"a fork behind both", {.turns = 7, .forks_at = 5}, 2, 5},
        {"a fork between them", {.turns = 7, .forks_at = 4}, 1, 4},
        {"a fork before them", {.turns = 7, .forks_at = 1}, 0, 1},
        {"another beginning", {.turns = 7, .forks_at = 0, .tenant = WR_LIT("other")}, 0, 0},
        {"another window: what was sent is known all the same",
         {.turns = 6, .window_tokens = 9},
         0,
         6},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct world *w = open_world();
        struct asked asked = cases[i].asked;
        send_turns(w, WR_LIT("first"), 6);
        asked.session = WR_LIT("second");
        struct wr_marks marks = read_marks(w, &asked);
        uint32_t steps = 0;
        for (uint32_t turn = 0; turn < asked.turns; turn++)
            steps += marks.turns[turn].is_cold;
        if (steps != cases[i].steps || marks.last.is_known != (cases[i].last > 0) ||
            marks.is_copied != (cases[i].last > 0))
            fail_msg("%s: %u steps", cases[i].behaviour, steps);
        /* That of the newest turn is written when it is sent. */
        uint32_t sent = cases[i].last < asked.turns ? cases[i].last : asked.turns - 1;
        assert_int_equal(marks.list_count, steps + sent);
        if (marks.last.is_known &&
            (marks.last.turn + 1 != cases[i].last || marks.last.forms.low != cases[i].last))
            fail_msg("%s: %u turns were sent", cases[i].behaviour, marks.last.turn + 1);
        if (!asked.tenant.len) {
            assert_int_equal(add_sent(&marks, NOW_MS, (wr_hash128){1, 1}), WEIR_OK);
            commit(w, &marks);
            asked.turns++;
            struct wr_marks again = read_marks(w, &asked);
            assert_false(again.is_copied);
            assert_int_equal(again.last.turn + 2, asked.turns);
            assert_int_equal(again.list_count, cases[i].steps);
        }
        close_world(w);
    }
}

static void the_newest_session_with_the_longest_chain_is_copied(void **state)
{
    struct world *w = open_world();
    struct asked asked = {.turns = 4, .session = WR_LIT("new")};
    (void)state;
    send_turns(w, WR_LIT("long one"), 4);
    send_turns(w, WR_LIT("newer"), 3);
    assert_int_equal(read_marks(w, &asked).last.forms.high, sizeof("long one") - 1);
    send_turns(w, WR_LIT("newest one of all"), 4);
    assert_int_equal(read_marks(w, &asked).last.forms.high, sizeof("newest one of all") - 1);
    asked.turns = 3;
    assert_int_equal(read_marks(w, &asked).last.forms.high, sizeof("newest one of all") - 1);
    close_world(w);
}

/* A rewind to turns that were copied finds them as its own; nothing is copied a second time. */
static void what_was_copied_is_kept_for_rewinds(void **state)
{
    struct world *w = open_world();
    struct asked asked = {.turns = 6, .session = WR_LIT("second")};
    (void)state;
    send_turns(w, WR_LIT("first"), 5);
    struct wr_marks marks = read_marks(w, &asked);
    assert_int_equal(add_sent(&marks, NOW_MS, (wr_hash128){1, 1}), WEIR_OK);
    commit(w, &marks);
    send_turns(w, WR_LIT("third"), 6);
    asked = (struct asked){.turns = 4, .forks_at = 3, .session = WR_LIT("second")};
    marks = read_marks(w, &asked);
    assert_false(marks.is_copied);
    assert_true(marks.turns[1].is_cold);
    assert_int_equal(marks.last.turn, 2);
    assert_int_equal(marks.last.forms.high, sizeof("first") - 1);
    close_world(w);
}

static void copies_can_be_dropped(void **state)
{
    struct world *w = open_world();
    struct asked asked = {.turns = 9, .session = WR_LIT("second")};
    (void)state;
    send_turns(w, WR_LIT("first"), 5);
    struct wr_marks marks = read_marks(w, &asked);
    assert_true(marks.is_copied && marks.list_count);
    wr_marks_drop_copies(&marks);
    assert_false(marks.is_copied || marks.list_count || marks.last.is_known);
    assert_false(marks.turns[1].is_cold || marks.turns[4].is_cold);
    close_world(w);
}

/* Marks as they were written before sessions were in their keys: by the turns alone. */
static void marks_of_older_stores_are_those_of_a_session_without_a_name(void **state)
{
    static const char sent[] =
        "0000000000000005 0000000000000001 0000000000000002 0000000000000003 "
        "0000000000000004 000000000000002a 000000000000002b ";
    struct world *w = open_world();
    struct weir_mark marks[2] = {{.kind = WEIR_MARK_STEP, .value = WR_LIT("cold")},
                                 {.kind = WEIR_MARK_SENT, .value = wr_span_of(sent)}};
    uint64_t step[] = {w->hashes[1].low, w->hashes[1].high, wr_policy_hash(policy), 0};
    uint64_t last[] = {w->hashes[2].low, w->hashes[2].high, 0, 0};
    (void)state;
    for (int i = 0; i < WEIR_HASH_BYTES; i++) {
        marks[0].key.bytes[i] = (unsigned char)(step[i / 8] >> 8 * (i % 8));
        marks[1].key.bytes[i] = (unsigned char)(last[i / 8] >> 8 * (i % 8));
    }
    struct weir_batch batch = {
        .tenant = TENANT, .session = WR_LIT("s"), .marks = marks, .marks_count = 2};
    assert_int_equal(weir_store_commit(w->store, &batch, NULL), WEIR_OK);

    struct wr_marks found = read_turns(w, 4);
    assert_true(found.is_copied);
    assert_true(found.turns[1].is_cold);
    assert_int_equal(found.last.turn, 2);
    assert_int_equal(found.last.forms.low, 0x2a);
    assert_int_equal(add_sent(&found, NOW_MS, (wr_hash128){1, 1}), WEIR_OK);
    commit(w, &found);
    struct wr_marks next = read_turns(w, 5);
    assert_false(next.is_copied);
    assert_true(next.turns[1].is_cold);
    assert_int_equal(next.last.turn, 3);
    close_world(w);
}

/* ---- what waits for the store ---- */

static void what_is_held_is_whole_until_it_is_written_and_after(void **state)
{
    struct world *w = open_world();
    struct wr_marks third = read_turns(w, 3);
    (void)state;
    wr_marks_hold(w->held, TENANT, &third);
    wr_marks_hold(w->held, TENANT, &third); /* once is enough */
    struct wr_marks marks = read_turns(w, 5);
    assert_true(marks.turns[2].is_whole);
    assert_false(marks.turns[1].is_whole);
    struct asked other = {.turns = 5, .tenant = WR_LIT("other")};
    assert_false(read_marks(w, &other).turns[2].is_whole);
    struct asked fork = {.turns = 5, .forks_at = 2};
    assert_false(read_marks(w, &fork).turns[2].is_whole);

    assert_int_equal(marks.list_count, 0);
    assert_int_equal(wr_marks_add_held(&marks, w->held, WR_LIT("other")), WEIR_OK);
    assert_int_equal(marks.list_count, 0);
    assert_int_equal(wr_marks_add_held(&marks, w->held, TENANT), WEIR_OK);
    assert_int_equal(marks.list_count, 1);
    assert_int_equal(marks.list[0].kind, WEIR_MARK_KEPT_WHOLE);
    commit(w, &marks);
    wr_marks_release_held(w->held, TENANT);
    marks = read_turns(w, 5);
    assert_true(marks.turns[2].is_whole);
    assert_int_equal(wr_marks_add_held(&marks, w->held, TENANT), WEIR_OK);
    assert_int_equal(marks.list_count, 1); /* from the store; nothing is held any more */
    close_world(w);
}

static void others_keep_what_is_held_for_them(void **state)
{
    struct world *w = open_world();
    struct wr_marks marks = read_turns(w, 3);
    (void)state;
    wr_marks_hold(w->held, TENANT, &marks);
    wr_marks_hold(w->held, WR_LIT("other"), &marks);
    wr_marks_release_held(w->held, TENANT);
    assert_false(read_turns(w, 3).turns[2].is_whole);
    struct asked other = {.turns = 3, .tenant = WR_LIT("other")};
    assert_true(read_marks(w, &other).turns[2].is_whole);
    close_world(w);
}

/* Another node has sent three turns meanwhile: its forms hold for those. What is held of later
 * turns, and for others, stays. */
static void what_was_sent_since_is_held_no_more(void **state)
{
    struct world *w = open_world();
    struct asked other = {.turns = 5, .tenant = WR_LIT("other")};
    (void)state;

    for (uint32_t turns = 2; turns <= 4; turns++) {
        struct wr_marks marks = read_turns(w, turns);
        wr_marks_hold(w->held, TENANT, &marks);
        wr_marks_hold(w->held, WR_LIT("other"), &marks);
    }
    struct wr_marks sent = read_turns(w, 3);
    assert_int_equal(add_sent(&sent, NOW_MS, (wr_hash128){1, 1}), WEIR_OK);
    commit(w, &sent);
    for (int i = 0; i < 2; i++) { /* the second finds what the first has left */
        struct wr_marks marks = read_turns(w, 5);
        assert_false(marks.turns[1].is_whole || marks.turns[2].is_whole);
        assert_true(marks.turns[3].is_whole);
        marks = read_marks(w, &other);
        for (uint32_t turn = 1; turn <= 3; turn++)
            assert_true(marks.turns[turn].is_whole);
    }
    close_world(w);
}

static void the_oldest_is_forgotten_where_too_many_wait(void **state)
{
    struct world *w = open_world();
    (void)state;
    assert_true(WR_MARKS_HELD_MAX + 1 <= TURNS_MAX);
    for (uint32_t turns = 1; turns <= WR_MARKS_HELD_MAX + 1; turns++) {
        struct wr_marks marks = read_turns(w, turns);
        wr_marks_hold(w->held, TENANT, &marks);
    }
    struct wr_marks all = read_turns(w, WR_MARKS_HELD_MAX + 1);
    assert_false(all.turns[0].is_whole);
    for (uint32_t i = 1; i <= WR_MARKS_HELD_MAX; i++)
        assert_true(all.turns[i].is_whole);
    assert_int_equal(wr_marks_add_held(&all, w->held, TENANT), WEIR_OK);
    assert_int_equal(all.list_count, WR_MARKS_HELD_MAX);
    close_world(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mark_is_found_by_what_stands_before_it),
        cmocka_unit_test(each_kind_says_what_it_says),
        cmocka_unit_test(a_window_may_be_said_again_and_a_broken_one_is_none),
        cmocka_unit_test(the_newest_request_that_is_extended_is_the_last),
        cmocka_unit_test(sending_it_again_is_the_last_time),
        cmocka_unit_test(the_last_request_is_sought_so_far_back),
        cmocka_unit_test(what_cannot_be_read_was_not_sent),
        cmocka_unit_test(a_session_that_begins_copies_once),
        cmocka_unit_test(the_newest_session_with_the_longest_chain_is_copied),
        cmocka_unit_test(what_was_copied_is_kept_for_rewinds),
        cmocka_unit_test(copies_can_be_dropped),
        cmocka_unit_test(marks_of_older_stores_are_those_of_a_session_without_a_name),
        cmocka_unit_test(what_is_held_is_whole_until_it_is_written_and_after),
        cmocka_unit_test(others_keep_what_is_held_for_them),
        cmocka_unit_test(what_was_sent_since_is_held_no_more),
        cmocka_unit_test(the_oldest_is_forgotten_where_too_many_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
