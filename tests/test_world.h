/* test_world.h -- for tests: sessions of several requests through the public engine, over a store
 * in memory or one on disk. */
#ifndef WR_TESTS_TEST_WORLD_H
#define WR_TESTS_TEST_WORLD_H

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test_session.h"
#include "tests/test_dir.h"
#include "tests/fold_laws.h"

enum { ANSWERS_MAX = 32, SECOND_MS = 1000, WORD_BYTES = 128 };
#define NOON_MS INT64_C(1750000000000)
#define DAY_MS  INT64_C(86400000)

/* cold: steps only when the cache is. cut: forms on arrival only. */
static const char policies[] =
    "policies:\n"
    "  cold: {stages: [{stage: deepen, keep_turns: 1, margin_pct: 100000}]}\n"
    "  colder: {stages: [{stage: deepen, keep_turns: 3, margin_pct: 100000}]}\n"
    "  cold_again: {stages: [{stage: deepen, keep_turns: 1, margin_pct: 100000}]}\n"
    "  cut: {stages: [{stage: cap, max_tokens: 300}]}\n"
    "  layers_too: {like: layers}\n"
    "  cut_more: {stages: [{stage: cap, max_tokens: 200}]}\n";

struct answer {
    struct wr_buf input, body;
    weir_dialect dialect;
    bool is_changed, is_step, is_pending;
    char reason[WORD_BYTES], held[WORD_BYTES], policy[WORD_BYTES];
    uint64_t tokens_after, window_tokens, room_tokens;
};

struct world {
    bool is_on_disk;
    struct wr_test_dir dir;
    struct test_store store;
    struct weir_engine *engine;
    struct answer answers[ANSWERS_MAX];
    uint32_t answers_count;
};

static inline struct weir_engine *new_engine(void)
{
    struct weir_engine *engine;
    struct weir_err err = {0};
    assert_int_equal(weir_engine_new(&engine, NULL), WEIR_OK);
    if (weir_engine_load_policies(engine, wr_span_of(policies), &err))
        fail_msg("%s", err.text);
    return engine;
}

static inline struct world *open_world(void **state)
{
    static struct world world; /* too large for a stack; one at a time */
    struct world *w = &world;
    *w = (struct world){.is_on_disk = *state != NULL, .engine = new_engine()};
    if (w->is_on_disk)
        w->dir = wr_test_dir_fast();
    test_store_open(&w->store, w->is_on_disk ? w->dir.path : NULL);
    return w;
}

static inline void close_world(struct world *w)
{
    for (uint32_t i = 0; i < w->answers_count; i++) {
        wr_buf_release(&w->answers[i].input);
        wr_buf_release(&w->answers[i].body);
    }
    weir_engine_free(w->engine);
    weir_store_close(&w->store.store);
    if (w->is_on_disk)
        wr_test_dir_remove(&w->dir);
}

/* Another process: its memory is gone, the store is not. */
static inline void restart(struct world *w)
{
    weir_engine_free(w->engine);
    w->engine = new_engine();
    if (!w->is_on_disk)
        return;
    weir_store_close(&w->store.store);
    test_store_open(&w->store, w->dir.path);
}

static inline void take_word(char out[WORD_BYTES], weir_span report, const char *key)
{
    size_t at = wr_span_find(report, wr_span_of(key), 0);
    out[0] = 0;
    if (at == SIZE_MAX)
        return;
    weir_span rest = wr_span_cut(report, at + strlen(key), report.len);
    size_t len = 0;
    while (len < rest.len && len < WORD_BYTES - 1 && !strchr("\",}", rest.ptr[len]))
        len++;
    memcpy(out, rest.ptr, len);
    out[len] = 0;
}

/* Law L2: whatever leaves, all that it names comes back. */
static inline void check_recall(struct world *w, weir_span body, weir_span tenant)
{
    weir_handle handle;
    for (size_t at = 0; (at = weir_handle_find(body, at, &handle)) != SIZE_MAX; at++) {
        struct weir_lookup lookup = {.tenant = tenant.len ? tenant : WR_LIT("local"),
                                     .handle = handle};
        struct weir_artifact artifact;
        if (weir_store_get(w->store.inner, &lookup, &artifact, NULL, NULL))
            fail_msg("a handle was sent whose original is not in the store");
    }
}

static inline void keep_answer(struct answer *a, const struct weir_projected *p)
{
    char window[WORD_BYTES];
    wr_buf_init(&a->body, TEST_BODY_BYTES_MAX);
    wr_buf_append(&a->body, p->body);
    a->is_changed = p->is_changed;
    a->is_step = p->is_step;
    a->is_pending = p->is_pending;
    a->tokens_after = p->tokens_after;
    (void)snprintf(a->reason, WORD_BYTES, "%s", p->step_reason ? p->step_reason : "");
    (void)snprintf(a->held, WORD_BYTES, "%s", p->held_back ? p->held_back : "");
    take_word(a->policy, p->report, "\"policy\":\"");
    take_word(window, p->report, "\"model_context_window_tokens\":");
    a->window_tokens = strtoull(window, NULL, 10);
    take_word(window, p->report, "\"effective_usable_context_tokens\":");
    a->room_tokens = strtoull(window, NULL, 10);
}

static inline struct answer *ask(struct world *w, const struct test_talk *talk,
                                 struct weir_project_options options)
{
    assert_true(w->answers_count < ANSWERS_MAX);
    struct answer *a = &w->answers[w->answers_count++];
    struct weir_projected p;
    struct weir_request *request;
    struct weir_err err = {0};

    a->dialect = talk->dialect;
    wr_buf_init(&a->input, TEST_BODY_BYTES_MAX);
    test_talk_write(&a->input, talk);
    options.store = &w->store.store;
    if (weir_engine_request(w->engine, wr_buf_view(&a->input), NULL, &request, &err) ||
        weir_engine_project(w->engine, request, &options, &p, &err))
        fail_msg("%s", err.text);
    check_recall(w, p.body, options.tenant);
    keep_answer(a, &p);
    weir_request_free(request);
    return a;
}

static inline bool is_same(const struct answer *a, const struct answer *b)
{
    return wr_span_eq(wr_buf_view(&a->body), wr_buf_view(&b->body));
}

static inline bool extends(const struct answer *before, const struct answer *after)
{
    struct wr_arena arena;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    bool ok = fold_laws_extends(wr_buf_view(&before->body), wr_buf_view(&after->body),
                                after->dialect, &arena);
    wr_arena_release(&arena);
    return ok;
}

/* Whether the n-th result leaves as it came. */
static inline bool is_whole(const struct answer *a, uint32_t n)
{
    char line[WORD_BYTES];
    (void)snprintf(line, sizeof(line), "line %d: ", TEST_LINES_OF_RESULT / 2);
    for (size_t at = 0;
         (at = wr_span_find(wr_buf_view(&a->body), wr_span_of(line), at)) != SIZE_MAX; at++) {
        weir_span before = wr_span_cut(wr_buf_view(&a->body), at - 24, at);
        char name[WORD_BYTES];
        (void)snprintf(name, sizeof(name), "result %u ", n);
        if (wr_span_find(before, wr_span_of(name), 0) != SIZE_MAX)
            return true;
    }
    return false;
}

static const struct test_talk claude = {
    .dialect = WEIR_DIALECT_MESSAGES, .model = "claude-sonnet-4-5", .ttl = "5m", .results = 7};
static const struct test_talk gpt = {.dialect = WEIR_DIALECT_CHAT, .model = "gpt-5", .results = 7};

static inline struct test_talk with_results(const struct test_talk *talk, uint32_t results)
{
    struct test_talk t = *talk;
    t.results = results;
    return t;
}

static inline struct weir_project_options at(const char *policy, int64_t now_ms)
{
    return (struct weir_project_options){.policy = policy, .now_ms = now_ms};
}

static int on_disk = 1; /* its address is the state of a test that wants a store on disk */

#define BOTH(test)                                                                 \
    cmocka_unit_test(test),                                                        \
    {                                                                              \
        .name = #test " (on disk)", .test_func = (test), .initial_state = &on_disk \
    }

#endif
