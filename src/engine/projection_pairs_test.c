/* A second result for a call that was answered long ago, in Responses: whatever has become of the
 * call since, the request stays lawful, and a change of what was sent is declared. */
#include "engine/projection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/test_world.h"

enum { CALLS = 26, LATE_AT = 18, LOOP_CALLS = 6, WINDOW_TOKENS = 24000 };

/* `calls` calls and their results; behind the LATE_AT-th, one more result of call `again`. */
static void write_talk(struct wr_buf *out, uint32_t calls, uint32_t again)
{
    struct test_talk talk = {.dialect = WEIR_DIALECT_RESPONSES, .model = "claude-sonnet-4-5"};

    wr_buf_init(out, TEST_BODY_BYTES_MAX);
    test_talk_head(out, &talk);
    wr_buf_text(out, "{\"role\":\"user\",\"content\":\"start\"}");
    for (uint32_t i = 1; i <= calls; i++) {
        test_talk_responses(out, &talk, i);
        if (again && i == LATE_AT)
            wr_buf_printf(out,
                          ",{\"type\":\"function_call_output\",\"call_id\":\"c%u\",\"output\":"
                          "\"and this came later\"}",
                          again);
        if (i % LOOP_CALLS == 0)
            wr_buf_text(out, ",{\"role\":\"assistant\",\"content\":\"done\"},"
                             "{\"role\":\"user\",\"content\":\"go on\"}");
    }
    wr_buf_text(out, "]}");
}

static struct answer *ask_talk(struct world *w, const char *policy, uint32_t calls, uint32_t again)
{
    struct weir_project_options options = at(policy, NOON_MS + calls);
    struct answer *a = &w->answers[w->answers_count++ % ANSWERS_MAX];
    struct weir_projected p;
    struct weir_request *request;

    if (w->answers_count > ANSWERS_MAX) {
        wr_buf_release(&a->input);
        wr_buf_release(&a->body);
    }
    a->dialect = WEIR_DIALECT_RESPONSES;
    write_talk(&a->input, calls, again);
    options.store = &w->store.store;
    options.window_tokens = WINDOW_TOKENS;
    assert_int_equal(weir_engine_request(w->engine, wr_buf_view(&a->input), NULL, &request, NULL),
                     WEIR_OK);
    assert_int_equal(weir_engine_project(w->engine, request, &options, &p, NULL), WEIR_OK);
    check_recall(w, p.body, options.tenant);
    keep_answer(a, &p);
    weir_request_free(request);
    return a;
}

static void forget(struct world *w)
{
    assert_int_equal(weir_engine_load_policies(w->engine, wr_span_of(policies), NULL), WEIR_OK);
}

static bool has_text(const struct answer *a, const char *text)
{
    return wr_span_find(wr_buf_view(&a->body), wr_span_of(text), 0) != SIZE_MAX;
}

/* The steps that the second result brought, of one policy. */
static uint32_t walk(void **state, const char *policy, uint32_t again)
{
    struct world *w = open_world(state);
    struct answer *last = NULL;
    uint32_t late_steps = 0;

    for (uint32_t calls = 1; calls <= CALLS; calls++) {
        struct answer *now = ask_talk(w, policy, calls, again);
        assert_string_equal(now->held, "");
        if (now->is_step && !strcmp(now->reason, "unexplained"))
            fail_msg("%s, call %u: a step that nothing explains", policy, calls);
        if (last && !now->is_step && !extends(last, now))
            fail_msg("%s, call %u: the prefix changed without a step", policy, calls);
        if (calls == LATE_AT)
            assert_true(has_text(now, "and this came later"));
        late_steps += now->is_step && !strcmp(now->reason, "late result");
        forget(w);
        if (!is_same(now, ask_talk(w, policy, calls, again)))
            fail_msg("%s, call %u: an engine that remembers nothing sends other bytes", policy,
                     calls);
        last = now;
    }
    w->answers_count = w->answers_count < ANSWERS_MAX ? w->answers_count : ANSWERS_MAX;
    close_world(w);
    return late_steps;
}

static void a_second_result_breaks_no_law(void **state)
{
    uint32_t late_steps = 0;
    for (uint32_t p = 0; p < wr_policy_count(); p++)
        for (uint32_t again = 2; again < LATE_AT; again += 11)
            late_steps += walk(state, wr_policy_at(p)->name, again);
    assert_true(late_steps > 0); /* or nothing was tried here */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(a_second_result_breaks_no_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
