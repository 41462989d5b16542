/* Prefix stability through the public engine, with its real meter, framing and store: what a
 * request repeats of the one before has the same bytes unless a step is declared. */
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
#include "tests/traces.h"
#include "weir/weir.h"

enum { SESSIONS_TRIED = 8, REQUESTS_TRIED = 30, PAUSE_EVERY = 8, RESTART_EVERY = 5 };
enum { REQUEST_MS = 20000, PAUSE_MS = 4 * 3600 * 1000 };

struct walk {
    struct weir_engine *engine;
    struct weir_store *store;
    const char *policy;
    weir_dialect dialect;
    uint32_t window_tokens;
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
    uint32_t wanted = traces_setting("WEIR_REQUESTS", REQUESTS_TRIED);
    uint32_t first = total > wanted ? total - wanted : 0;
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

static bool policies_extend(struct walk *w, const struct wr_session *session, size_t index)
{
    /* lean and careful are auto with other numbers; presets_test has them. */
    static const char *const policies[] = {"guarded-mid", "compress", "layers",
                                           "tiered",      "smart",    "auto"};
    static const weir_dialect dialects[] = {WEIR_DIALECT_CHAT,     WEIR_DIALECT_RESPONSES,
                                            WEIR_DIALECT_MESSAGES, WEIR_DIALECT_GEMINI,
                                            WEIR_DIALECT_OLLAMA,   WEIR_DIALECT_CONVERSE};
    static const uint32_t windows[] = {16000, 48000, 120000};
    bool ok = true;
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

static void the_next_request_begins_with_the_last(void **state)
{
    struct traces traces;
    struct walk w = {0};
    bool ok = true;
    (void)state;

    traces_open(&traces);
    assert_int_equal(weir_engine_new(&w.engine, NULL), WEIR_OK);
    assert_int_equal(weir_store_new_memory(0, &w.store), WEIR_OK);
    size_t step = traces_step(&traces, traces_setting("WEIR_SESSIONS", SESSIONS_TRIED));
    for (size_t i = 0; i < traces.count; i += step) {
        struct wr_arena arena;
        struct wr_buf text;
        struct wr_session session;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        traces_read(&traces, i, &text, &arena, &session);
        if (!policies_extend(&w, &session, i / step)) {
            printf("  in %s\n", traces.paths[i]);
            ok = false;
        }
        wr_buf_release(&text);
        wr_arena_release(&arena);
    }
    printf("note: %llu requests, %llu steps, %llu of them cold\n", (unsigned long long)w.requests,
           (unsigned long long)w.steps, (unsigned long long)w.cold_steps);
    assert_true(w.cold_steps > 0 && w.forced > 0);
    weir_store_close(w.store);
    weir_engine_free(w.engine);
    traces_close(&traces);
    assert_true(ok);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_next_request_begins_with_the_last)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
