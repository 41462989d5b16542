#include "tests/test_agent.h"

#include "base/hash.h"
#include "session/disk.h"

static const char config[] = "model: {name: gpt-5}\nsession: {policy: exact}\n";

static void begin(struct test_agent *agent)
{
    const struct weir_tool tools[] = {{WR_LIT("Read"), WR_LIT(""), WR_LIT("")},
                                      {WR_LIT("Edit"), WR_LIT(""), WR_LIT("")},
                                      {WR_LIT("agent"), WR_LIT(""), WR_LIT("")}};
    test_agent_init(agent);
    test_agent_open(agent, config);
    TEST_OK(agent, weir_session_set_tools(agent->session, tools, 3, &agent->err));
    test_agent_say(agent, "go");
    (void)test_agent_request(agent, WEIR_DIALECT_CHAT);
    test_agent_call(agent, "c1", "agent", "{}");
}

static struct weir_session *spawn(struct test_agent *agent, const struct weir_subagent_kind *kind)
{
    struct weir_session *child;
    TEST_OK(agent, weir_session_spawn(agent->session, kind, WR_LIT("c1"), WR_LIT("where is main?"),
                                      ++agent->now_ms, &child, &agent->err));
    return child;
}

static weir_span ask(struct test_agent *agent, struct weir_session *child)
{
    struct weir_session_want want = {.dialect = WEIR_DIALECT_CHAT, .now_ms = agent->now_ms};
    struct weir_session_turn turn;
    TEST_OK(agent, weir_session_request(child, &want, &turn, &agent->err));
    return turn.body;
}

static void explore(struct test_agent *agent, struct weir_session *child, const char *conclusion)
{
    struct weir_call call = {WR_LIT("r1"), WR_LIT("Read"), WR_LIT("{\"path\":\"main.c\"}")};
    struct weir_answer calls = {.calls = &call, .calls_count = 1};
    struct weir_answer end = {.text = wr_span_of(conclusion)};
    TEST_OK(agent, weir_session_answer(child, &calls, 5, &agent->err));
    TEST_OK(agent, weir_session_result(child, WR_LIT("r1"), WR_LIT("int main(void) { EXPLORED }"),
                                       false, 6, &agent->err));
    (void)ask(agent, child);
    TEST_OK(agent, weir_session_answer(child, &end, 7, &agent->err));
}

static void the_parent_pays_for_the_conclusion(void **state)
{
    struct test_agent agent;
    struct wr_buf journal;
    char path[256];
    (void)state;
    begin(&agent);
    struct weir_session *child = spawn(&agent, weir_subagent_kind_find("explore"));
    weir_span body = ask(&agent, child);
    assert_has(body, "You explore source code");
    assert_has(body, "where is main?");
    assert_has(body, "\"name\":\"Read\"");
    assert_has_not(body, "\"name\":\"Edit\""); /* not one of its kind's tools */
    assert_has_not(body, "\"content\":\"go\"");
    explore(&agent, child, "main.c:1");
    TEST_OK(&agent, weir_session_join(agent.session, child, 8, &agent.err));
    body = test_agent_request(&agent, WEIR_DIALECT_CHAT);
    assert_has(body, "\"tool_call_id\":\"c1\",\"content\":\"main.c:1\"");
    assert_has_not(body, "EXPLORED");
    /* Its directory is named after the kind and the call. */
    (void)snprintf(path, sizeof(path), "%s/subagents/explore-%08llx/events.jsonl", agent.dir,
                   (unsigned long long)(wr_hash64(WR_LIT("c1")) >> 32));
    wr_buf_init(&journal, 1 << 20);
    assert_int_equal(wr_disk_read(path, &journal, NULL), WEIR_OK);
    assert_has(wr_buf_view(&journal), "EXPLORED"); /* in a journal of its own */
    wr_buf_release(&journal);
    test_agent_release(&agent);
}

static void a_long_conclusion_is_cut_with_the_way_to_the_rest(void **state)
{
    struct weir_subagent_kind kind = *weir_subagent_kind_find("task");
    struct test_agent agent;
    struct wr_buf text;
    (void)state;
    kind.answer_tokens_max = 10;
    begin(&agent);
    struct weir_session *child = spawn(&agent, &kind);
    (void)ask(&agent, child);
    wr_buf_init(&text, 1 << 16);
    for (int i = 0; i < 200; i++)
        wr_buf_printf(&text, "é%d ", i);
    wr_buf_byte(&text, 0);
    explore(&agent, child, text.bytes);
    wr_buf_release(&text);
    TEST_OK(&agent, weir_session_join(agent.session, child, 8, &agent.err));
    weir_span body = test_agent_request(&agent, WEIR_DIALECT_CHAT);
    assert_has(body, "[cut to ~10 tokens; the whole answer is the last line of ");
    assert_has_not(body, "é199");
    test_agent_release(&agent);
}

static void a_subagent_that_was_killed_goes_on_where_it_was(void **state)
{
    struct test_agent agent;
    (void)state;
    begin(&agent);
    struct weir_session *child = spawn(&agent, weir_subagent_kind_find("explore"));
    (void)ask(&agent, child);
    weir_session_close(child);
    test_agent_close(&agent);
    test_agent_open(&agent, config);
    child = spawn(&agent, weir_subagent_kind_find("explore"));
    weir_span body = ask(&agent, child);
    size_t first = wr_span_find(body, WR_LIT("where is main?"), 0);
    assert_int_equal(wr_span_find(body, WR_LIT("where is main?"), first + 1), SIZE_MAX);
    /* And one that says nothing is a failed call, not a silent one. */
    TEST_OK(&agent, weir_session_join(agent.session, child, 8, &agent.err));
    assert_has(test_agent_request(&agent, WEIR_DIALECT_MESSAGES),
               "[the subagent ended without an answer; ");
    test_agent_release(&agent);
}

static void there_is_a_kind_for_exploring_sources(void **state)
{
    (void)state;
    assert_string_equal(weir_subagent_kind_at(0)->name, "explore");
    assert_null(weir_subagent_kind_at(2));
    assert_null(weir_subagent_kind_find("no"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_parent_pays_for_the_conclusion),
        cmocka_unit_test(a_long_conclusion_is_cut_with_the_way_to_the_rest),
        cmocka_unit_test(a_subagent_that_was_killed_goes_on_where_it_was),
        cmocka_unit_test(there_is_a_kind_for_exploring_sources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
