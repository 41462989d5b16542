/* test_agent.h -- for tests: a session with a directory of its own, and a scripted model.
 *
 * What the model says and the tools give back follows from numbers, so that a session that is
 * killed and opened again goes on as it would have.
 */
#ifndef WR_TESTS_TEST_AGENT_H
#define WR_TESTS_TEST_AGENT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/span.h"
#include "weir/weir.h"

enum { TEST_NOW_MS = 1000 };

struct test_agent {
    char root[64];
    char dir[128];
    struct weir_store *store;
    struct weir_session *session;
    struct weir_err err;
    int64_t now_ms;
};

static inline int test_agent_unlink(const char *path, const struct stat *found, int flag,
                                    struct FTW *walk)
{
    (void)found;
    (void)flag;
    (void)walk;
    return remove(path);
}

static inline void test_agent_init(struct test_agent *agent)
{
    *agent = (struct test_agent){.now_ms = TEST_NOW_MS};
    (void)snprintf(agent->root, sizeof(agent->root), "%s/weir-agent-XXXXXX",
                   access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    assert_non_null(mkdtemp(agent->root));
    (void)snprintf(agent->dir, sizeof(agent->dir), "%s/main", agent->root);
    assert_int_equal(weir_store_new_memory(0, &agent->store), WEIR_OK);
}

static inline weir_status test_agent_try_open(struct test_agent *agent, const char *config)
{
    struct weir_session_options options = {.dir = agent->dir,
                                           .config = wr_span_of(config),
                                           .store = agent->store,
                                           .now_ms = agent->now_ms};
    return weir_session_open(&options, &agent->session, &agent->err);
}

static inline void test_agent_open(struct test_agent *agent, const char *config)
{
    weir_status status = test_agent_try_open(agent, config);
    if (status)
        fail_msg("%s", agent->err.text);
}

static inline void test_agent_close(struct test_agent *agent)
{
    weir_session_close(agent->session);
    agent->session = NULL;
}

static inline void test_agent_release(struct test_agent *agent)
{
    test_agent_close(agent);
    weir_store_close(agent->store);
    (void)nftw(agent->root, test_agent_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

#define TEST_OK(agent, call)                                                                 \
    do {                                                                                     \
        weir_status test_status = (call);                                                    \
        if (test_status)                                                                     \
            fail_msg("%s: %s: %s", #call, weir_status_text(test_status), (agent)->err.text); \
    } while (0)

static inline void test_agent_say(struct test_agent *agent, const char *text)
{
    TEST_OK(agent,
            weir_session_say(agent->session, wr_span_of(text), ++agent->now_ms, &agent->err));
}

static inline weir_span test_agent_request(struct test_agent *agent, weir_dialect dialect)
{
    struct weir_session_want want = {.dialect = dialect, .now_ms = ++agent->now_ms};
    struct weir_session_turn turn = {0};
    TEST_OK(agent, weir_session_request(agent->session, &want, &turn, &agent->err));
    return turn.body;
}

static inline void test_agent_answer(struct test_agent *agent, const char *text)
{
    struct weir_answer answer = {.text = wr_span_of(text)};
    TEST_OK(agent, weir_session_answer(agent->session, &answer, ++agent->now_ms, &agent->err));
}

/* One call, `id` of tool `name`. */
static inline void test_agent_call(struct test_agent *agent, const char *id, const char *name,
                                   const char *arguments)
{
    struct weir_call call = {wr_span_of(id), wr_span_of(name), wr_span_of(arguments)};
    struct weir_answer answer = {.calls = &call, .calls_count = 1};
    TEST_OK(agent, weir_session_answer(agent->session, &answer, ++agent->now_ms, &agent->err));
}

static inline void test_agent_result(struct test_agent *agent, const char *id, const char *text)
{
    TEST_OK(agent, weir_session_result(agent->session, wr_span_of(id), wr_span_of(text), false,
                                       ++agent->now_ms, &agent->err));
}

static inline bool test_has(weir_span text, const char *word)
{
    return wr_span_find(text, wr_span_of(word), 0) != SIZE_MAX;
}

static inline void assert_has(weir_span text, const char *word)
{
    if (!test_has(text, word))
        fail_msg("'%s' is not in: %.*s", word, (int)(text.len < 3000 ? text.len : 3000), text.ptr);
}

static inline void assert_has_not(weir_span text, const char *word)
{
    if (test_has(text, word))
        fail_msg("'%s' is in: %.*s", word, (int)(text.len < 3000 ? text.len : 3000), text.ptr);
}

#endif
