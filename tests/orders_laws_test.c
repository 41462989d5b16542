/* What users say in the middle of sessions (pins, undo, now, exact), at random and by other
 * processes than the one that projects: what a request repeats of the one before has the same bytes
 * unless a step is declared, another process gives the same bytes, every marker that is sent leads
 * to its original, and what was said is done.
 *
 * The same for a fleet: sessions that hop at every request between three nodes on one PostgreSQL,
 * each with an engine and a connection of its own. Each request must be what a node that is alone,
 * with a store of its own, makes of it, to the byte. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "engine/engine.h"
#include "engine/steer.h"
#include "policy/marker.h"
#include "tests/fold_laws.h"
#include "tests/test_fleet.h"
#include "tests/traces.h"
#include "weir/weir.h"

enum { SESSIONS_TRIED = 4, REQUESTS_TRIED = 20, PAUSE_EVERY = 8, RESTART_EVERY = 5, SAY_EVERY = 2 };
enum { REQUEST_MS = 20000, PAUSE_MS = 4 * 3600 * 1000, HANDLES_MAX = 64 };
enum { NODES = 3, FLEET_SESSIONS_TRIED = 2 };

struct node {
    struct weir_engine *engine;
    struct weir_store *store;
};

struct walk {
    struct weir_engine *engine; /* of the node whose turn it is */
    struct weir_store *store;
    const char *url; /* of a fleet's database; NULL: there is one node */
    struct node nodes[NODES], alone;
    struct weir_store *elsewhere; /* what another node has of it */
    const char *policy;
    char session[32];
    weir_dialect dialect;
    uint32_t window_tokens;
    int64_t now_ms;
    bool without_recall, thinks;
    struct fold_laws_signed *signed_over;
    struct wr_buf last, last_came; /* as it was sent, and as the client had written it */
    bool has_last;
    bool is_open, was_open; /* it ends with the model's own words; so did the one before */
    uint64_t random;
    weir_handle handles[HANDLES_MAX]; /* that stand in the last body */
    size_t handles_count;
    uint64_t requests, said, pending, by_reason[4], exact, markers, back, not_compared;
};

static const char *const reasons[] = {"asked", "pinned", "undone", "policy"};

static uint64_t dice(struct walk *w, uint64_t sides)
{
    w->random = w->random * 6364136223846793005u + 1442695040888963407u;
    return (w->random >> 33) % sides;
}

static struct weir_project_options options_of(const struct walk *w)
{
    return (struct weir_project_options){.policy_default = w->policy,
                                         .window_tokens = w->window_tokens,
                                         .store = w->store,
                                         .tenant = wr_span_of(w->policy),
                                         .session = wr_span_of(w->session),
                                         .now_ms = w->now_ms};
}

/* ---- saying ---- */

static void say(struct walk *w, const struct wr_order *orders, size_t count)
{
    struct wr_order_said said = {.tenant = wr_span_of(w->policy),
                                 .session = wr_span_of(w->session),
                                 .orders = orders,
                                 .orders_count = count,
                                 .now_ms = w->now_ms};
    struct wr_order_head head;
    assert_int_equal(wr_order_say(w->elsewhere, &said, &head, NULL), WEIR_OK);
    if (w->url)
        assert_int_equal(wr_order_say(w->alone.store, &said, &head, NULL), WEIR_OK);
    w->said++;
}

static void say_something(struct walk *w)
{
    static const char *const tools[] = {"Read", "Bash", "exec_command", "shell*", "read_file", "*"};
    static const char *const paths[] = {"*.c", "README.md", "src/*", "*.py"};
    struct wr_order orders[2] = {{.kind = WR_ORDER_PIN, .pin = WR_PIN_TOOL},
                                 {.kind = WR_ORDER_BACK}};
    char handle[WEIR_HANDLE_TEXT_BYTES + 1];
    size_t count = 1;

    switch (dice(w, 10)) {
    case 0:
        orders[0].name = wr_span_of(tools[dice(w, WR_COUNT_OF(tools) - 1)]);
        break;
    case 1:
        orders[0].pin = WR_PIN_PATH;
        orders[0].name = wr_span_of(paths[dice(w, WR_COUNT_OF(paths))]);
        break;
    case 2:
    case 3:
        if (!w->handles_count)
            return;
        weir_handle_format(w->handles[dice(w, w->handles_count)], handle);
        orders[0].pin = WR_PIN_HANDLE;
        orders[0].name = wr_span_of(handle);
        count += dice(w, 2);
        break;
    case 4:
        orders[0].kind = WR_ORDER_UNPIN;
        orders[0].name = wr_span_of(tools[dice(w, WR_COUNT_OF(tools))]);
        break;
    case 5:
    case 6:
        orders[0].kind = WR_ORDER_UNDO;
        break;
    case 7:
        orders[0].kind = WR_ORDER_NOW;
        break;
    case 8:
        orders[0].kind = WR_ORDER_EXACT;
        break;
    default:
        orders[0].kind = WR_ORDER_RESUME;
        break;
    }
    say(w, orders, count);
}

/* ---- what must hold ---- */

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

/* Every handle in a marker of ours leads to its original (law L2). The recorded sessions hold no
 * markers of their own. */
static bool markers_lead_back(struct walk *w, weir_span body)
{
    const weir_span front = WR_LIT("[weir wr_");

    w->handles_count = 0;
    for (size_t at = 0; (at = wr_span_find(body, front, at)) != SIZE_MAX; at++) {
        struct weir_lookup lookup = {.tenant = wr_span_of(w->policy)};
        struct weir_artifact artifact;
        size_t from = at + front.len - strlen("wr_");
        if (!weir_handle_parse(wr_span_cut(body, from, from + WEIR_HANDLE_TEXT_BYTES),
                               &lookup.handle))
            continue;
        if (weir_store_get(w->elsewhere, &lookup, &artifact, NULL, NULL))
            return false;
        if (w->handles_count < HANDLES_MAX)
            w->handles[w->handles_count++] = lookup.handle;
        w->markers++;
    }
    return true;
}

/* One that is alone, and has had all requests before. */
static bool is_same_alone(const struct walk *w, weir_span body, weir_span expected)
{
    struct weir_project_options options = options_of(w);
    struct weir_projected projected;
    struct weir_request *read;

    options.store = w->alone.store;
    assert_int_equal(weir_engine_request(w->alone.engine, body, NULL, &read, NULL), WEIR_OK);
    assert_int_equal(weir_engine_project(w->alone.engine, read, &options, &projected, NULL),
                     WEIR_OK);
    bool same = wr_span_eq(projected.body, expected);
    weir_request_free(read);
    return same;
}

static bool is_exact_said(const struct walk *w)
{
    struct wr_order_head head;
    assert_int_equal(
        wr_order_head_read(w->store, wr_span_of(w->policy), wr_span_of(w->session), &head),
        WEIR_OK);
    return head.is_exact;
}

/* Whether the request before can be compared with: the client goes on from it. One whose last words
 * are the model's own ends within a turn: what the model says next joins them, as the client writes
 * its history then (Messages has one message of both), and the marks of that turn are those of the
 * turn without them. Both are seen by the bodies that come. */
static bool is_compared(const struct walk *w, weir_span body, struct wr_arena *scratch)
{
    return w->has_last && !w->is_open && !w->was_open &&
           fold_laws_extends(wr_buf_view(&w->last_came), body, w->dialect, scratch);
}

static const char *what_is_wrong(struct walk *w, const struct weir_projected *p, weir_span body,
                                 uint32_t n)
{
    struct wr_arena scratch;
    wr_arena_init(&scratch, WR_ARENA_BYTES_MAX);
    bool extends =
        !w->has_last || fold_laws_extends(wr_buf_view(&w->last), p->body, w->dialect, &scratch);
    bool is_due = is_compared(w, body, &scratch);
    w->not_compared += w->has_last && !is_due;
    const char *unbound = w->thinks ? fold_laws_unbound(w->signed_over, p->body, &scratch) : NULL;
    wr_arena_release(&scratch);
    bool is_exact = is_exact_said(w) && !p->is_pending;
    if (unbound)
        return unbound;
    if (p->held_back)
        return p->held_back;
    if (!extends && !p->is_step && is_due)
        return "the prefix changed without a step";
    if (extends && p->is_step && is_due)
        return "a step was declared, and nothing changed";
    if (p->is_step && !strcmp(p->step_reason, "unexplained"))
        return "a step that nothing explains";
    if (is_exact && !w->thinks && !wr_span_eq(p->body, body))
        return "exact was said, and the body is not what came";
    if (!markers_lead_back(w, p->body))
        return "a marker leads nowhere";
    if (n % RESTART_EVERY == 0 && !is_same_after_restart(w, body, p->body))
        return "another process gives other bytes";
    if (w->url && !is_same_alone(w, body, p->body))
        return "a node that is alone gives other bytes";
    w->exact += is_exact;
    return NULL;
}

static bool request_holds(struct walk *w, const struct wr_session *session, uint32_t n)
{
    static const char *const models[] = {[WEIR_DIALECT_CHAT] = "gpt-5",
                                         [WEIR_DIALECT_RESPONSES] = "gpt-5",
                                         [WEIR_DIALECT_MESSAGES] = "claude-sonnet-4-5",
                                         [WEIR_DIALECT_GEMINI] = "gemini-2.5-pro"};
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
    if (w->url) {
        w->engine = w->nodes[n % NODES].engine;
        w->store = w->nodes[n % NODES].store;
    }
    w->elsewhere = w->url ? w->nodes[(n + 1) % NODES].store : w->store;
    if (!dice(w, SAY_EVERY))
        say_something(w);
    struct weir_project_options options = options_of(w);
    wr_buf_init(&body, WR_OUTPUT_BYTES_MAX);
    wr_session_write(session, &request, &body);
    assert_true(!w->thinks || fold_laws_think(&body, w->dialect));
    assert_int_equal(weir_engine_request(w->engine, wr_buf_view(&body), NULL, &read, NULL),
                     WEIR_OK);
    assert_int_equal(weir_engine_project(w->engine, read, &options, &projected, NULL), WEIR_OK);
    w->is_open = read->transcript.segments[read->transcript.segments_count - 1].from_model;
    const char *wrong = what_is_wrong(w, &projected, wr_buf_view(&body), n);
    if (wrong)
        printf("BROKEN: %s, %s, request %u%s%s: %s\n", w->policy, weir_dialect_name(w->dialect), n,
               w->without_recall ? ", no recall" : "", w->thinks ? ", thinking" : "", wrong);
    wr_buf_reset(&w->last);
    wr_buf_append(&w->last, projected.body);
    wr_buf_reset(&w->last_came);
    wr_buf_append(&w->last_came, wr_buf_view(&body));
    w->was_open = w->is_open;
    w->has_last = true;
    w->requests++;
    w->pending += projected.is_pending;
    for (size_t i = 0; i < WR_COUNT_OF(reasons); i++)
        w->by_reason[i] += projected.is_step && !strcmp(projected.step_reason, reasons[i]);
    weir_request_free(read);
    wr_buf_release(&body);
    return !wrong;
}

static bool session_holds(struct walk *w, const struct wr_session *session, size_t index)
{
    uint32_t total = session->requests_count;
    uint32_t wanted = traces_setting("WEIR_REQUESTS", REQUESTS_TRIED);
    uint32_t first = total > wanted ? total - wanted : 0;
    bool ok = true;
    (void)snprintf(w->session, sizeof(w->session), "session %zu", index);
    w->random = index * 977 + w->window_tokens + (uint64_t)w->dialect;
    w->handles_count = 0;
    wr_buf_init(&w->last, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&w->last_came, WR_OUTPUT_BYTES_MAX);
    w->has_last = w->was_open = false;
    w->signed_over = calloc(1, sizeof(*w->signed_over));
    assert_non_null(w->signed_over);
    for (uint32_t n = first; n < total && ok; n++)
        ok = request_holds(w, session, n);
    wr_buf_release(&w->last);
    wr_buf_release(&w->last_came);
    free(w->signed_over);
    return ok;
}

static void open_stores(struct walk *w)
{
    struct weir_store **memory = w->url ? &w->alone.store : &w->store;

    assert_int_equal(weir_store_new_memory(0, memory), WEIR_OK);
    for (size_t i = 0; i < NODES && w->url; i++)
        assert_int_equal(weir_store_open(w->url, NULL, &w->nodes[i].store, NULL, NULL), WEIR_OK);
}

static void close_stores(struct walk *w)
{
    weir_store_close(w->url ? w->alone.store : w->store);
    for (size_t i = 0; i < NODES && w->url; i++)
        weir_store_close(w->nodes[i].store);
}

static bool policies_hold(void *user, struct wr_session *session, size_t index, size_t place)
{
    struct walk *w = user;
    static const char *const policies[] = {"guarded-mid", "compress", "layers",
                                           "tiered",      "smart",    "auto"};
    static const weir_dialect dialects[] = {WEIR_DIALECT_CHAT, WEIR_DIALECT_RESPONSES,
                                            WEIR_DIALECT_MESSAGES, WEIR_DIALECT_GEMINI};
    static const uint32_t windows[] = {16000, 48000, 120000};
    bool ok = true;

    (void)place;
    for (size_t p = 0; p < WR_COUNT_OF(policies); p++) {
        w->policy = policies[p];
        w->dialect = dialects[(index + p) % 4];
        w->window_tokens = windows[(index / 3 + p) % 3];
        w->without_recall = (index / 4 + p) % 3 == 2;
        w->thinks = (index / 2 + p) % 2 && w->dialect != WEIR_DIALECT_RESPONSES &&
                    w->dialect != WEIR_DIALECT_GEMINI;
        open_stores(w);
        ok &= session_holds(w, session, index);
        close_stores(w);
    }
    return ok;
}

static void open_engines(struct walk *w)
{
    if (!w->url)
        assert_int_equal(weir_engine_new(&w->engine, NULL), WEIR_OK);
    else
        assert_int_equal(weir_engine_new(&w->alone.engine, NULL), WEIR_OK);
    for (size_t i = 0; i < NODES && w->url; i++)
        assert_int_equal(weir_engine_new(&w->nodes[i].engine, NULL), WEIR_OK);
}

static void close_engines(struct walk *w)
{
    weir_engine_free(w->url ? w->alone.engine : w->engine);
    for (size_t i = 0; i < NODES && w->url; i++)
        weir_engine_free(w->nodes[i].engine);
}

static void walk_sessions(struct walk *w, uint32_t sessions)
{
    open_engines(w);
    bool ok = traces_all_hold(traces_setting("WEIR_SESSIONS", sessions), policies_hold, w);
    printf("note: %llu requests%s, %llu times something was said, %llu pending, %llu sent as they "
           "came, %llu markers, %llu that did not go on from the one before; steps:",
           (unsigned long long)w->requests, w->url ? " to three nodes in turn" : "",
           (unsigned long long)w->said, (unsigned long long)w->pending,
           (unsigned long long)w->exact, (unsigned long long)w->markers,
           (unsigned long long)w->not_compared);
    for (size_t i = 0; i < WR_COUNT_OF(reasons); i++)
        printf(" %llu %s", (unsigned long long)w->by_reason[i], reasons[i]);
    putchar('\n');
    assert_true(ok);
    assert_true(w->markers > 0 && w->said > 0);
    close_engines(w);
}

static void what_is_said_keeps_the_laws(void **state)
{
    struct walk w = {0};
    (void)state;

    walk_sessions(&w, SESSIONS_TRIED);
    for (size_t i = 0; i < WR_COUNT_OF(reasons); i++)
        assert_true(w.by_reason[i] > 0);
    assert_true(w.pending > 0 && w.exact > 0);
    assert_true(w.not_compared * 20 < w.requests); /* they are the exception */
}

static void a_fleet_is_as_one_that_is_alone(void **state)
{
    struct walk w = {.url = wr_test_postgres()};
    (void)state;

    if (!w.url)
        skip();
    walk_sessions(&w, FLEET_SESSIONS_TRIED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_said_keeps_the_laws),
                                       cmocka_unit_test(a_fleet_is_as_one_that_is_alone)};
    test_fleet_filter();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
