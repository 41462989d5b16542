/* Prefix stability through the public engine, with its real meter, framing and store: what a
 * request repeats of the one before has the same bytes unless a step is declared.
 *
 * The same for a fleet of three nodes on one PostgreSQL, each request at another node than the one
 * before: it is what a node makes of it that is alone, with a store of its own, to the byte. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/fold_laws.h"
#include "tests/test_fleet.h"
#include "tests/traces.h"
#include "weir/weir.h"

enum {
    FLEET_SESSIONS_TRIED = 2,
    SESSIONS_TRIED = 8,
    REQUESTS_TRIED = 30,
    PAUSE_EVERY = 8,
    RESTART_EVERY = 5
};
enum { REQUEST_MS = 20000, PAUSE_MS = 4 * 3600 * 1000 };

struct walk {
    struct test_fleet fleet, alone;
    struct weir_engine *engine; /* of the node whose turn it is */
    struct weir_store *store;
    const char *policy;
    weir_dialect dialect;
    uint32_t window_tokens, requests_max;
    int64_t now_ms;
    bool without_recall, thinks; /* bound thinking before every output */
    struct fold_laws_signed *signed_over;
    struct wr_buf last;
    bool has_last;
    uint64_t requests, steps, cold_steps, forced;
};

static struct weir_project_options options_of(const struct walk *w)
{
    return (struct weir_project_options){.policy = w->policy,
                                         .window_tokens = w->window_tokens,
                                         .store = w->store,
                                         .tenant = wr_span_of(w->policy),
                                         .now_ms = w->now_ms};
}

/* Another process, with an empty memo, on the same store, gives the same bytes. */
static bool is_same_after_restart(const struct walk *w, weir_span body, weir_span expected)
{
    struct weir_project_options options = options_of(w);
    struct weir_projected projected;
    struct weir_request *read;
    struct weir_engine *engine;

    assert_int_equal(weir_engine_new(&engine, NULL), WEIR_OK);
    assert_int_equal(weir_engine_request(engine, body, NULL, &read, NULL), WEIR_OK);
    assert_int_equal(weir_engine_project(engine, read, &options, &projected, NULL), WEIR_OK);
    bool same = wr_span_eq(projected.body, expected);
    weir_request_free(read);
    weir_engine_free(engine);
    return same;
}

/* What a node that is alone, and has seen all of it, makes of the request. */
static bool is_same_alone(struct walk *w, weir_span body, const struct weir_projected *expected)
{
    struct weir_project_options options = options_of(w);
    struct weir_engine *engine = w->alone.nodes[0].engine;
    struct weir_projected projected;
    struct weir_request *read;

    options.store = w->alone.nodes[0].store;
    assert_int_equal(weir_engine_request(engine, body, NULL, &read, NULL), WEIR_OK);
    assert_int_equal(weir_engine_project(engine, read, &options, &projected, NULL), WEIR_OK);
    bool same =
        wr_span_eq(projected.body, expected->body) && projected.is_step == expected->is_step;
    weir_request_free(read);
    return same;
}

static const char *what_is_wrong(struct walk *w, const struct weir_projected *p, weir_span body,
                                 uint32_t n)
{
    struct wr_arena scratch;
    wr_arena_init(&scratch, WR_ARENA_BYTES_MAX);
    bool extends =
        !w->has_last || fold_laws_extends(wr_buf_view(&w->last), p->body, w->dialect, &scratch);
    const char *unbound = w->thinks ? fold_laws_unbound(w->signed_over, p->body, &scratch) : NULL;
    wr_arena_release(&scratch);
    if (unbound)
        return unbound;
    if (p->held_back)
        return p->held_back;
    if (!extends && !p->is_step)
        return "the prefix changed without a step";
    if (extends && p->is_step && w->has_last)
        return "a step was declared, and nothing changed";
    if (p->is_step && !strcmp(p->step_reason, "unexplained"))
        return "a step that nothing explains";
    if (n % RESTART_EVERY == 0 && !is_same_after_restart(w, body, p->body))
        return "another process gives other bytes";
    if (w->alone.nodes_count && !is_same_alone(w, body, p))
        return "a node that is alone gives other bytes";
    return NULL;
}

static bool request_extends(struct walk *w, const struct wr_session *session, uint32_t n)
{
    static const char *const models[] = {[WEIR_DIALECT_CHAT] = "gpt-5",
                                         [WEIR_DIALECT_RESPONSES] = "gpt-5",
                                         [WEIR_DIALECT_MESSAGES] = "claude-sonnet-4-5",
                                         [WEIR_DIALECT_GEMINI] = "gemini-2.5-pro",
                                         [WEIR_DIALECT_OLLAMA] = "qwen3",
                                         [WEIR_DIALECT_CONVERSE] =
                                             "us.anthropic.claude-sonnet-4-5-20250929-v1:0"};
    const char *model = w->thinks ? "claude-sonnet-5-5" : models[w->dialect];
    struct wr_session_request request = {
        .dialect = w->dialect,
        .messages_count = session->requests[n],
        .model = model,
        .with_tools = w->without_recall ? WR_SESSION_TOOLS_WITHOUT_RECALL : WR_SESSION_TOOLS};
    struct weir_projected projected;
    struct weir_request *read;
    struct wr_buf body;

    const struct test_node *node = test_fleet_next(&w->fleet);
    w->engine = node->engine;
    w->store = node->store;
    w->now_ms += n % PAUSE_EVERY ? REQUEST_MS : PAUSE_MS;
    struct weir_project_options options = options_of(w);
    wr_buf_init(&body, WR_OUTPUT_BYTES_MAX);
    wr_session_write(session, &request, &body);
    assert_true(!w->thinks || fold_laws_think(&body, w->dialect));
    assert_int_equal(weir_engine_request(w->engine, wr_buf_view(&body), NULL, &read, NULL),
                     WEIR_OK);
    assert_int_equal(weir_engine_project(w->engine, read, &options, &projected, NULL), WEIR_OK);
    const char *wrong = what_is_wrong(w, &projected, wr_buf_view(&body), n);
    if (wrong)
        printf("BROKEN: %s, %s, request %u%s%s: %s\n", w->policy, weir_dialect_name(w->dialect), n,
               w->without_recall ? ", no recall" : "", w->thinks ? ", thinking" : "", wrong);
    wr_buf_reset(&w->last);
    wr_buf_append(&w->last, projected.body);
    w->has_last = true;
    w->requests++;
    w->steps += projected.is_step;
    w->forced += projected.is_step && w->thinks && !strcmp(projected.step_reason, "window");
    w->cold_steps += projected.is_step && !strcmp(projected.step_reason, "cold");
    weir_request_free(read);
    wr_buf_release(&body);
    return !wrong;
}

static bool session_extends(struct walk *w, const struct wr_session *session)
{
    uint32_t total = session->requests_count;
    uint32_t first = total > w->requests_max ? total - w->requests_max : 0;
    bool ok = true;
    wr_buf_init(&w->last, WR_OUTPUT_BYTES_MAX);
    w->has_last = false;
    w->signed_over = calloc(1, sizeof(*w->signed_over));
    assert_non_null(w->signed_over);
    for (uint32_t n = first; n < total && ok; n++)
        ok = request_extends(w, session, n);
    wr_buf_release(&w->last);
    free(w->signed_over);
    return ok;
}

static bool policies_extend(void *user, struct wr_session *session, size_t index, size_t place)
{
    struct walk *w = user;
    /* lean and careful are auto with other numbers; presets_test has them. */
    static const char *const policies[] = {"guarded-mid", "compress", "layers",
                                           "tiered",      "smart",    "auto"};
    static const weir_dialect dialects[] = {WEIR_DIALECT_CHAT,     WEIR_DIALECT_RESPONSES,
                                            WEIR_DIALECT_MESSAGES, WEIR_DIALECT_GEMINI,
                                            WEIR_DIALECT_OLLAMA,   WEIR_DIALECT_CONVERSE};
    static const uint32_t windows[] = {16000, 48000, 120000};
    bool ok = true;

    (void)place;
    for (size_t p = 0; p < WR_COUNT_OF(policies); p++) {
        w->policy = policies[p];
        w->dialect = dialects[(index + p) % WR_COUNT_OF(dialects)];
        w->window_tokens = windows[(index / 3 + p) % 3];
        w->without_recall = (index / 4 + p) % 2;
        w->thinks = (index / 2 + p) % 2 && w->dialect != WEIR_DIALECT_RESPONSES &&
                    w->dialect != WEIR_DIALECT_GEMINI && w->dialect != WEIR_DIALECT_OLLAMA &&
                    w->dialect != WEIR_DIALECT_CONVERSE;
        ok &= session_extends(w, session);
    }
    return ok;
}

static struct walk walk_sessions(const char *url, uint32_t sessions, uint32_t requests_max)
{
    struct walk w = {.requests_max = requests_max};

    test_fleet_open(&w.fleet, url);
    if (url)
        test_fleet_open(&w.alone, NULL);
    bool ok = traces_all_hold(sessions, policies_extend, &w);
    printf("note: %llu requests%s, %llu steps, %llu of them cold\n", (unsigned long long)w.requests,
           url ? " to three nodes in turn" : "", (unsigned long long)w.steps,
           (unsigned long long)w.cold_steps);
    test_fleet_close(&w.fleet);
    test_fleet_close(&w.alone);
    assert_true(ok);
    return w;
}

static void the_next_request_begins_with_the_last(void **state)
{
    struct walk w = walk_sessions(NULL, traces_setting("WEIR_SESSIONS", SESSIONS_TRIED),
                                  traces_setting("WEIR_REQUESTS", REQUESTS_TRIED));

    (void)state;
    assert_true(w.cold_steps > 0 && w.forced > 0);
}

static void in_a_fleet_it_does_as_for_one_alone(void **state)
{
    const char *url = wr_test_postgres();

    (void)state;
    if (!url)
        skip();
    struct walk w = walk_sessions(url, test_fleet_setting("WEIR_SESSIONS", 1, SESSIONS_TRIED),
                                  test_fleet_setting("WEIR_REQUESTS", 9, REQUESTS_TRIED));
    assert_true(w.steps > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_next_request_begins_with_the_last),
                                       cmocka_unit_test(in_a_fleet_it_does_as_for_one_alone)};
    test_fleet_filter();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
