#include "agent/agent_prompt.h"

#include "tests/test_agent.h"

/* ---- moment ---- */

static const char config[] = "model: {name: gpt-5}\n";

static void call_and_result(struct test_agent *agent, int n, const char *name,
                            const char *arguments, bool is_error)
{
    char id[16];

    (void)snprintf(id, sizeof(id), "c%d", n);
    (void)test_agent_request(agent, WEIR_DIALECT_CHAT);
    test_agent_call(agent, id, name, arguments);
    TEST_OK(agent, weir_session_result(agent->session, wr_span_of(id), WR_LIT("x"), is_error,
                                       ++agent->now_ms, &agent->err));
}

/* The last six, the oldest first, also by whoever opens the session again. */
static void the_last_calls_are_told_with_their_outcome(void **state)
{
    struct test_agent agent;
    struct wr_buf text;
    (void)state;

    test_agent_init(&agent);
    wr_buf_init(&text, 100000);
    test_agent_open(&agent, config);
    test_agent_say(&agent, "go");
    wr_moment_footprint(agent.session, &text);
    assert_int_equal(text.len, 0);
    for (int n = 0; n < 6; n++)
        call_and_result(&agent, n, "read_file", "{\"path\":\"a.c\"}", false);
    call_and_result(&agent, 6, "process_start", "{\"command\":\"make\\ntest\"}", true);
    test_agent_close(&agent);
    test_agent_open(&agent, config);
    wr_moment_footprint(agent.session, &text);
    static const char read[] = "- read_file a.c: done\n";
    for (size_t n = 0; n < 5; n++)
        assert_true(wr_span_starts(wr_span_from(wr_buf_view(&text), n * (sizeof(read) - 1)),
                                   wr_span_of(read)));
    assert_true(wr_span_is(wr_span_from(wr_buf_view(&text), 5 * (sizeof(read) - 1)),
                           "- process_start make test: failed"));
    wr_buf_release(&text);
    test_agent_release(&agent);
}

/* Behind words of the user: the time as it is then, and what was done before them. */
static void the_moment_goes_with_the_users_words(void **state)
{
    struct test_agent agent;
    struct wr_buf text;
    (void)state;

    test_agent_init(&agent);
    wr_buf_init(&text, 100000);
    test_agent_open(&agent, config);
    test_agent_say(&agent, "go");
    call_and_result(&agent, 0, "read_file", "{\"path\":\"a.c\"}", false);
    TEST_OK(&agent, wr_moment_write(agent.session, 1790000000000, &text, &agent.err));
    assert_int_equal(text.len, 0); /* nobody spoke: it would not be sent */
    test_agent_say(&agent, "and now?");
    TEST_OK(&agent, wr_moment_write(agent.session, 1790000000000, &text, &agent.err));
    assert_true(wr_span_is(wr_buf_view(&text),
                           "<context>\nclock: 2026-09-21T14:13Z\nrecent actions:\n"
                           "- read_file a.c: done\n</context>"));
    wr_buf_release(&text);
    test_agent_release(&agent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_calls_are_told_with_their_outcome),
        cmocka_unit_test(the_moment_goes_with_the_users_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
