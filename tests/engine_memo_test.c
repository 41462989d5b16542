/* What an engine remembers changes nothing but time: on made sessions, with rewinds and forks, with
 * every preset, an engine that remembers everything and one that forgets before each request send
 * the same bytes. Some requests are late, by a clock that is a script. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "policy/policy.h"
#include "lab/session.h"
#include "tests/fold_laws.h"
#include "tests/made_sessions.h"
#include "weir/weir.h"

enum { SEEDS = 3, REQUESTS_MAX = 70, REWIND_EVERY = 11, PAUSE_EVERY = 8 };
enum { REQUEST_MS = 20000, PAUSE_MS = 4 * 3600 * 1000, LATE_US = 30000 };

struct side {
    struct weir_engine *engine;
    struct weir_store *store;
    bool forgets;
};

struct walk {
    struct side sides[2];
    const char *policy;
    weir_dialect dialect;
    uint32_t window_tokens;
    int64_t now_ms;
    uint32_t asked;      /* of the clock, by the side at work */
    uint32_t late_after; /* so many questions; 0: never */
    struct wr_buf last;  /* of the first side */
    bool has_last;
};

static uint64_t read_clock(void *user)
{
    struct walk *w = user;
    return w->late_after && w->asked++ >= w->late_after ? LATE_US : 0;
}

static struct weir_projected project(struct walk *w, struct side *side, weir_span body,
                                     struct weir_request **request)
{
    struct weir_project_options options = {.policy = w->policy,
                                           .window_tokens = w->window_tokens,
                                           .store = side->store,
                                           .now_ms = w->now_ms,
                                           .clock_us = read_clock,
                                           .clock_user = w};
    struct weir_projected projected;

    w->asked = 0;
    if (side->forgets)
        assert_int_equal(weir_engine_load_policies(side->engine, WR_LIT(""), NULL), WEIR_OK);
    assert_int_equal(weir_engine_request(side->engine, body, NULL, request, NULL), WEIR_OK);
    assert_int_equal(weir_engine_project(side->engine, *request, &options, &projected, NULL),
                     WEIR_OK);
    return projected;
}

static bool extends(const struct walk *w, weir_span body)
{
    struct wr_arena scratch;
    wr_arena_init(&scratch, WR_ARENA_BYTES_MAX);
    bool ok = fold_laws_extends(wr_buf_view(&w->last), body, w->dialect, &scratch);
    wr_arena_release(&scratch);
    return ok;
}

static const char *what_is_wrong(struct walk *w, weir_span body)
{
    struct weir_request *requests[2];
    struct weir_projected sent[2];
    const char *wrong = NULL;

    for (int i = 0; i < 2; i++)
        sent[i] = project(w, &w->sides[i], body, &requests[i]);
    /* The clock is asked less often by an engine that remembers; being late is then another thing
     * for each, so that only the first side is looked at. */
    if (!w->late_after && !wr_span_eq(sent[0].body, sent[1].body))
        wrong = "an engine that forgets sends other bytes";
    else if (!w->late_after && sent[0].is_step != sent[1].is_step)
        wrong = "one engine declares a step, the other does not";
    else if (sent[0].is_step && !strcmp(sent[0].step_reason, "unexplained"))
        wrong = "a step that nothing explains";
    else if (w->has_last && !sent[0].is_step && !extends(w, sent[0].body))
        wrong = "the prefix changed without a step";
    wr_buf_reset(&w->last);
    wr_buf_append(&w->last, sent[0].body);
    w->has_last = true;
    for (int i = 0; i < 2; i++)
        weir_request_free(requests[i]);
    return wrong;
}

static bool request_is_same(struct walk *w, const struct wr_session *session, uint32_t number)
{
    struct wr_session_request request = {.dialect = w->dialect,
                                         .messages_count = session->requests[number],
                                         .model = "claude-sonnet-4-5",
                                         .with_tools = true};
    struct wr_buf body;

    w->now_ms += number % PAUSE_EVERY ? REQUEST_MS : PAUSE_MS;
    wr_buf_init(&body, WR_OUTPUT_BYTES_MAX);
    wr_session_write(session, &request, &body);
    const char *wrong = what_is_wrong(w, wr_buf_view(&body));
    if (wrong)
        printf("BROKEN: %s, %s, window %u, request %u: %s\n", w->policy,
               weir_dialect_name(w->dialect), w->window_tokens, number, wrong);
    wr_buf_release(&body);
    return !wrong;
}

/* The same words until some message, others from there on. */
static void write_fork(struct wr_buf *out, weir_span lines, uint32_t from)
{
    weir_span line;
    for (uint32_t i = 0; wr_span_line(&lines, &line); i++) {
        size_t at = wr_span_find(line, WR_LIT("\"content\":\""), 0);
        size_t cut = i < from || at == SIZE_MAX ? line.len : at + sizeof("\"content\":\"") - 1;
        wr_buf_append(out, wr_span_cut(line, 0, cut));
        if (cut < line.len)
            wr_buf_text(out, "Otherwise: ");
        wr_buf_append(out, wr_span_cut(line, cut, line.len));
        wr_buf_byte(out, '\n');
    }
}

/* Forward, now and then a few requests back, and from the middle on along the fork too. */
static bool walk_session(struct walk *w, const struct wr_session *main,
                         const struct wr_session *fork)
{
    uint32_t count = main->requests_count < REQUESTS_MAX ? main->requests_count : REQUESTS_MAX;
    bool ok = true;

    for (uint32_t n = 0; n < count && ok; n++) {
        ok = request_is_same(w, main, n);
        w->has_last = n % REWIND_EVERY != REWIND_EVERY - 1;
        if (ok && !w->has_last) {
            ok = request_is_same(w, main, n - n % 5);
            w->has_last = false;
        }
        if (ok && n > count / 2 && n < fork->requests_count && n % 3 == 0) {
            w->has_last = false;
            ok = request_is_same(w, fork, n);
            w->has_last = false;
        }
    }
    return ok;
}

static void open_side(struct side *side, bool forgets)
{
    side->forgets = forgets;
    assert_int_equal(weir_engine_new(&side->engine, NULL), WEIR_OK);
    assert_int_equal(weir_store_new_memory(0, &side->store), WEIR_OK);
}

static bool policies_agree(const struct wr_session *main, const struct wr_session *fork,
                           uint64_t seed, uint32_t late_after)
{
    static const weir_dialect dialects[] = {WEIR_DIALECT_CHAT,     WEIR_DIALECT_RESPONSES,
                                            WEIR_DIALECT_MESSAGES, WEIR_DIALECT_GEMINI,
                                            WEIR_DIALECT_OLLAMA,   WEIR_DIALECT_CONVERSE};
    static const uint32_t windows[] = {9000, 20000, 48000};
    bool ok = true;

    for (uint32_t p = 0; p < wr_policy_count(); p++) {
        struct walk w = {.policy = wr_policy_at(p)->name,
                         .dialect = dialects[(seed + p) % 5],
                         .window_tokens = windows[(seed + p / 3) % 3],
                         .now_ms = 1,
                         .late_after = late_after};
        wr_buf_init(&w.last, WR_OUTPUT_BYTES_MAX);
        open_side(&w.sides[0], false);
        open_side(&w.sides[1], true);
        ok &= walk_session(&w, main, fork);
        for (int i = 0; i < 2; i++) {
            weir_store_close(w.sides[i].store);
            weir_engine_free(w.sides[i].engine);
        }
        wr_buf_release(&w.last);
    }
    return ok;
}

static bool seed_agrees(uint64_t seed, uint32_t late_after)
{
    struct made_session made;
    struct wr_session main, fork;
    struct wr_arena arena;
    struct wr_buf other;

    made_session_new(&made, seed);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&other, WR_OUTPUT_BYTES_MAX);
    assert_int_equal(wr_session_read(&main, &arena, wr_buf_view(&made.lines), NULL), WEIR_OK);
    write_fork(&other, wr_buf_view(&made.lines), main.messages_count / 2);
    assert_int_equal(wr_session_read(&fork, &arena, wr_buf_view(&other), NULL), WEIR_OK);
    bool ok = policies_agree(&main, &fork, seed, late_after);
    if (!ok)
        printf("  made session %llu\n", (unsigned long long)seed);
    wr_buf_release(&other);
    wr_arena_release(&arena);
    made_session_free(&made);
    return ok;
}

static void forgetting_changes_nothing_but_time(void **state)
{
    bool ok = true;
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        ok &= seed_agrees(seed, 0);
    assert_true(ok);
}

static void late_requests_break_no_prefix(void **state)
{
    bool ok = true;
    (void)state;
    for (uint32_t late_after = 1; late_after < 6; late_after += 2)
        ok &= seed_agrees(SEEDS + late_after, late_after);
    assert_true(ok);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forgetting_changes_nothing_but_time),
        cmocka_unit_test(late_requests_break_no_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
