/* Deadlines: what is new and not done in time stays whole, and stays so in every later request and
 * process; what was sent before keeps its form however long it takes. The clock is a script. */
#include "engine/projection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/test_world.h"

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
    /* And nothing of it stays: in time again, it is as it was sent. */
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
