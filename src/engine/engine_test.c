/* The public engine: what comes back, what is in the store, and what happens when it cannot be. */
#include "weir/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/span.h"
#include "weir/weir.h"

enum { BODY_BYTES_MAX = 1 << 22, RESULTS_COUNT = 12, RESULT_BYTES = 8000 };

static void write_session(struct wr_buf *out, const char *tools)
{
    wr_buf_printf(
        out,
        "{\"model\":\"gpt-5\",\"tools\":[%s],\"messages\":[{\"role\":\"user\",\"content\":"
        "\"start\"}",
        tools);
    for (int i = 0; i < RESULTS_COUNT; i++) {
        wr_buf_printf(out,
                      ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c%d\","
                      "\"type\":\"function\",\"function\":{\"name\":\"run\",\"arguments\":\"{}\"}}"
                      "]},{\"role\":\"tool\",\"tool_call_id\":\"c%d\",\"content\":\"result %d ",
                      i, i, i);
        for (int b = 0; b < RESULT_BYTES; b++)
            wr_buf_printf(out, "%c", b % 7 ? 'a' + (b + i) % 26 : ' ');
        wr_buf_text(out, "\"}");
    }
    wr_buf_text(out, "]}");
}

static const char recall_tool[] = "{\"type\":\"function\",\"function\":{\"name\":\"weir_recall\"}}";

struct world {
    struct wr_buf body;
    struct weir_engine *engine;
    struct weir_store *store;
    struct weir_request *request;
};

static void open_world(struct world *w, const char *tools, size_t store_bytes_max)
{
    wr_buf_init(&w->body, BODY_BYTES_MAX);
    write_session(&w->body, tools);
    assert_int_equal(weir_engine_new(&w->engine, NULL), WEIR_OK);
    assert_int_equal(weir_store_new_memory(store_bytes_max, &w->store), WEIR_OK);
    assert_int_equal(weir_request_new(wr_buf_view(&w->body), NULL, &w->request, NULL), WEIR_OK);
}

static void close_world(struct world *w)
{
    weir_request_free(w->request);
    weir_store_close(w->store);
    weir_engine_free(w->engine);
    wr_buf_release(&w->body);
}

static void project(struct world *w, const char *policy, struct weir_projected *p)
{
    struct weir_project_options options = {
        .policy = policy, .window_tokens = 16000, .store = w->store};
    assert_int_equal(weir_engine_project(w->engine, w->request, &options, p, NULL), WEIR_OK);
}

static void what_is_taken_out_comes_back_whole(void **state)
{
    struct world w;
    struct weir_projected p;
    weir_handle handle;
    size_t found = 0;
    (void)state;

    open_world(&w, recall_tool, 0);
    project(&w, "tiered", &p);
    assert_true(p.is_changed);
    assert_true(p.tokens_after < p.tokens_before);
    for (size_t at = 0; (at = weir_handle_find(p.body, at, &handle)) != SIZE_MAX; at++) {
        struct weir_lookup lookup = {.tenant = WR_LIT("local"), .handle = handle};
        struct weir_artifact artifact;
        assert_int_equal(weir_store_get(w.store, &lookup, &artifact, NULL, NULL), WEIR_OK);
        assert_true(artifact.text.len > RESULT_BYTES);
        found++;
    }
    assert_true(found >= 4);
    close_world(&w);
}

static void another_tenant_gets_nothing_back(void **state)
{
    struct world w;
    struct weir_projected p;
    weir_handle handle;
    struct weir_artifact artifact;
    (void)state;

    open_world(&w, recall_tool, 0);
    project(&w, "tiered", &p);
    assert_true(weir_handle_find(p.body, 0, &handle) != SIZE_MAX);
    struct weir_lookup lookup = {.tenant = WR_LIT("somebody else"), .handle = handle};
    assert_int_equal(weir_store_get(w.store, &lookup, &artifact, NULL, NULL), WEIR_NOTFOUND);
    close_world(&w);
}

static void a_store_that_is_full_leaves_the_request_as_it_came(void **state)
{
    struct world w;
    struct weir_projected p;
    (void)state;

    open_world(&w, recall_tool, 4096);
    project(&w, "tiered", &p);
    assert_false(p.is_changed);
    assert_ptr_equal(p.body.ptr, w.body.bytes);
    assert_non_null(p.held_back);
    close_world(&w);
}

/* Nothing but a window that would refuse the request takes something out then. */
static void without_a_recall_tool_only_the_window_takes(void **state)
{
    struct world w;
    struct weir_projected p;
    (void)state;

    open_world(&w, "", 0);
    project(&w, "tiered", &p);
    assert_true(p.is_changed);
    assert_true(wr_span_find(p.report, WR_LIT("\"way\":\"operator\""), 0) != SIZE_MAX);
    close_world(&w);
    open_world(&w, "", 0);
    project(&w, "smart", &p);
    assert_true(p.tokens_after <= 16000);
    close_world(&w);
}

static void an_unknown_policy_is_refused_and_the_body_is_still_there(void **state)
{
    struct world w;
    struct weir_projected p;
    struct weir_err err = {0};
    struct weir_project_options options = {.policy = "nope"};
    (void)state;

    open_world(&w, recall_tool, 0);
    assert_int_equal(weir_engine_project(w.engine, w.request, &options, &p, &err), WEIR_NOTFOUND);
    assert_ptr_equal(p.body.ptr, w.body.bytes);
    close_world(&w);
}

/* A request whose history the provider holds: one result, and no call in sight. */
static void write_delta(struct wr_buf *out)
{
    wr_buf_text(out,
                "{\"model\":\"gpt-5\",\"previous_response_id\":\"resp_1\",\"tools\":[{\"type\":"
                "\"function\",\"name\":\"weir_recall\"}],\"input\":[{\"type\":"
                "\"function_call_output\",\"call_id\":\"call_1\",\"output\":\"");
    for (int i = 0; i < 2000; i++)
        wr_buf_printf(out, "line %d of what was printed\\n", i);
    wr_buf_text(out, "\"}]}");
}

static void a_result_of_a_call_the_provider_holds_is_cut_where_the_call_is_known(void **state)
{
    static const struct weir_known_call calls[] = {
        {{"call_0", 6}, {"read_file", 9}, {"{}", 2}},
        {{"call_1", 6}, {"bash", 4}, {"{\"command\":\"make\"}", 18}}};
    static const char yaml[] = "policies: {short: {stages: [{stage: cap, max_tokens: 500}]}}";
    struct world w = {0};
    struct weir_projected p;
    (void)state;

    wr_buf_init(&w.body, BODY_BYTES_MAX);
    write_delta(&w.body);
    assert_int_equal(weir_engine_new(&w.engine, NULL), WEIR_OK);
    assert_int_equal(weir_engine_load_policies(w.engine, wr_span_of(yaml), NULL), WEIR_OK);
    assert_int_equal(weir_store_new_memory(0, &w.store), WEIR_OK);
    for (int known = 0; known < 2; known++) {
        struct weir_project_options options = {.policy = "short",
                                               .store = w.store,
                                               .calls = known ? calls : NULL,
                                               .calls_count = known ? 2 : 0};
        assert_int_equal(weir_request_new(wr_buf_view(&w.body), NULL, &w.request, NULL), WEIR_OK);
        assert_int_equal(weir_engine_project(w.engine, w.request, &options, &p, NULL), WEIR_OK);
        assert_int_equal(p.is_changed, known);
        weir_request_free(w.request);
    }
    w.request = NULL;
    close_world(&w);
}

/* As a language with finalizers may do it: the engine first, then what came from it. */
static void a_request_may_be_freed_after_its_engine(void **state)
{
    struct weir_request *requests[2];
    struct weir_segment segment;
    struct world w;
    weir_span body, text;
    (void)state;

    open_world(&w, recall_tool, 0);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(
            weir_engine_request(w.engine, wr_buf_view(&w.body), NULL, &requests[i], NULL), WEIR_OK);
    weir_engine_free(w.engine);
    w.engine = NULL;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(weir_request_segment(requests[i], 1, &segment), WEIR_OK);
        assert_int_equal(weir_request_text(requests[i], 1, &text), WEIR_OK);
        assert_int_equal(weir_request_write(requests[i], &body, NULL, NULL), WEIR_OK);
        assert_true(wr_span_eq(body, wr_buf_view(&w.body)));
        weir_request_free(requests[i]);
    }
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_taken_out_comes_back_whole),
        cmocka_unit_test(another_tenant_gets_nothing_back),
        cmocka_unit_test(a_store_that_is_full_leaves_the_request_as_it_came),
        cmocka_unit_test(without_a_recall_tool_only_the_window_takes),
        cmocka_unit_test(a_result_of_a_call_the_provider_holds_is_cut_where_the_call_is_known),
        cmocka_unit_test(a_request_may_be_freed_after_its_engine),
        cmocka_unit_test(an_unknown_policy_is_refused_and_the_body_is_still_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
