#include "agent/summary_call.h"

#include "tests/test_server.h"
#include "base/limits.h"
#include "base/span.h"
#include "tests/test_agent.h"

struct bench {
    struct test_agent agent;
    struct wr_client client;
    struct wr_endpoint endpoint;
    struct wr_summary_call call;
    struct weir_session_spent spent;
    struct weir_summary_task task;
};

static void begin(struct bench *b, int port)
{
    *b = (struct bench){.endpoint = {.api = &wr_api_chat}};
    test_agent_init(&b->agent);
    test_agent_open(&b->agent, "model: {name: gpt-5}\n");
    (void)snprintf(b->endpoint.base_url, sizeof(b->endpoint.base_url), "http://127.0.0.1:%d/v1",
                   port);
    TEST_OK(&b->agent, wr_client_init(&b->client, NULL, &b->agent.err));
    wr_summary_call_init(&b->call);
    b->call.client = &b->client;
    b->call.endpoint = &b->endpoint;
    b->call.model = "gpt-5";
    b->call.session = "s";
    b->call.live = b->agent.session;
    b->task = (struct weir_summary_task){.history = WR_LIT("## user\n\nmend it\n"),
                                         .extracted = WR_LIT("[CONVERSATION SUMMARY]"),
                                         .tokens_max = 100,
                                         .timeout_ms = 60000,
                                         .cost_micro_usd_max = 100000,
                                         .spent = &b->spent};
}

static void end(struct bench *b)
{
    wr_summary_call_release(&b->call);
    wr_client_release(&b->client);
    test_agent_release(&b->agent);
}

static void the_model_writes_and_what_it_used_is_told(void **state)
{
    static const char *const answers[] = {TEST_CHAT("The weir was mended.")};
    struct test_server server = test_server_start(answers, 1);
    struct bench b;
    weir_span text;
    (void)state;
    begin(&b, server.port);
    assert_int_equal(wr_summary_call(&b.call, &b.task, &text), WEIR_OK);
    assert_true(wr_span_is(text, "The weir was mended."));
    assert_int_equal(b.spent.usage.input_tokens, 100);
    assert_int_equal(b.spent.usage.output_tokens, 7);
    assert_string_equal(b.spent.model, "gpt-5");
    end(&b);
    test_server_stop(&server);
}

/* Nobody listens: whoever were asked would fail in another way. */
static void what_would_cost_too_much_is_not_asked_for(void **state)
{
    char *history = calloc(1, 1 << 20);
    struct bench b;
    weir_span text;
    (void)state;
    assert_non_null(history);
    (void)memset(history, 'x', 1 << 20);
    begin(&b, 1);
    b.task.history = (weir_span){history, 1 << 20};
    assert_int_equal(wr_summary_call(&b.call, &b.task, &text), WEIR_LIMIT);
    assert_int_equal(b.spent.usage.input_tokens, 0);
    end(&b);
    free(history);
}

static void one_that_takes_too_long_is_given_up(void **state)
{
    static const char *const nothing[] = {""};
    struct test_server server = test_server_start(nothing, 1);
    struct bench b;
    weir_span text;
    (void)state;
    begin(&b, server.port);
    b.task.timeout_ms = 50;
    assert_int_equal(wr_summary_call(&b.call, &b.task, &text), WEIR_IO);
    end(&b);
    test_server_stop(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_writes_and_what_it_used_is_told),
        cmocka_unit_test(what_would_cost_too_much_is_not_asked_for),
        cmocka_unit_test(one_that_takes_too_long_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
