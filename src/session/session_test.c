#include "tests/test_agent.h"

#include "base/span.h"
#include "session/disk.h"

static const char config[] = "model: {name: gpt-5}\nsession: {policy: exact}\n";

static void begin(struct test_agent *agent, const char *yaml)
{
    test_agent_init(agent);
    test_agent_open(agent, yaml);
}

static weir_status try_request(struct test_agent *agent, struct weir_session_turn *turn)
{
    struct weir_session_want want = {.dialect = WEIR_DIALECT_CHAT, .now_ms = ++agent->now_ms};
    return weir_session_request(agent->session, &want, turn, &agent->err);
}

static void assert_body(struct test_agent *agent, weir_dialect dialect, const char *wanted)
{
    weir_span body = test_agent_request(agent, dialect);
    if (!wr_span_is(body, wanted))
        fail_msg("got    %.*s\nwanted %s", (int)body.len, body.ptr, wanted);
}

/* ---- requests ---- */

static void a_conversation_in_each_api(void **state)
{
    struct weir_tool tool = {WR_LIT("Bash"), WR_LIT("runs"), WR_LIT("")};
    struct test_agent agent;
    (void)state;
    begin(&agent, "model: {name: gpt-5, max_output_tokens: 100}\nsession: {policy: exact}\n");
    TEST_OK(&agent, weir_session_set_prompt(agent.session, WR_LIT("P"), 1, &agent.err));
    TEST_OK(&agent, weir_session_set_tools(agent.session, &tool, 1, &agent.err));
    test_agent_say(&agent, "go");
    (void)test_agent_request(&agent, WEIR_DIALECT_CHAT);
    test_agent_call(&agent, "c1", "Bash", "{\"command\":\"ls\"}");
    test_agent_result(&agent, "c1", "");
    assert_body(&agent, WEIR_DIALECT_CHAT,
                "{\"model\":\"gpt-5\",\"max_tokens\":100,\"tools\":[{\"type\":\"function\","
                "\"function\":{\"name\":\"Bash\",\"description\":\"runs\",\"parameters\":{\"type\":"
                "\"object\"}}}],\"messages\":[{\"role\":\"system\",\"content\":\"P\"},{\"role\":"
                "\"user\",\"content\":\"go\"},{\"role\":\"assistant\",\"content\":null,"
                "\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":"
                "\"Bash\",\"arguments\":\"{\\\"command\\\":\\\"ls\\\"}\"}}]},{\"role\":\"tool\","
                "\"tool_call_id\":\"c1\",\"content\":\"(no output)\"}]}");
    assert_body(&agent, WEIR_DIALECT_RESPONSES,
                "{\"model\":\"gpt-5\",\"max_output_tokens\":100,\"store\":false,\"tools\":[{"
                "\"type\":\"function\",\"name\":\"Bash\",\"description\":\"runs\",\"parameters\":{"
                "\"type\":\"object\"}}],\"instructions\":\"P\",\"input\":[{\"type\":\"message\","
                "\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"go\"}]},{"
                "\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"Bash\",\"arguments\":"
                "\"{\\\"command\\\":\\\"ls\\\"}\"},{\"type\":\"function_call_output\",\"call_id\":"
                "\"c1\",\"output\":\"(no output)\"}]}");
    assert_body(
        &agent, WEIR_DIALECT_MESSAGES,
        "{\"model\":\"gpt-5\",\"max_tokens\":100,\"tools\":[{\"name\":\"Bash\","
        "\"description\":\"runs\",\"input_schema\":{\"type\":\"object\"}}],\"system\":[{"
        "\"type\":\"text\",\"text\":\"P\",\"cache_control\":{\"type\":\"ephemeral\"}}],"
        "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"go\","
        "\"cache_control\":{\"type\":\"ephemeral\"}}]},{\"role\":\"assistant\",\"content\":["
        "{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"Bash\",\"input\":{\"command\":"
        "\"ls\"}}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
        "\"tool_use_id\":\"c1\",\"content\":\"(no output)\",\"cache_control\":{\"type\":"
        "\"ephemeral\"}}]}]}");
    test_agent_release(&agent);
}

static void the_moment_stands_behind_the_newest_words_and_stays_there(void **state)
{
    struct weir_session_want want = {.dialect = WEIR_DIALECT_CHAT,
                                     .context = WR_LIT("<context>\nclock: noon\n</context>")};
    struct weir_session_turn turn;
    struct test_agent agent;
    (void)state;
    begin(&agent, config);
    test_agent_say(&agent, "go");
    TEST_OK(&agent, weir_session_request(agent.session, &want, &turn, &agent.err));
    assert_has(turn.body, "\"go\\n\\n<context>\\nclock: noon\\n</context>\"");
    test_agent_call(&agent, "c1", "Bash", "{}");
    test_agent_result(&agent, "c1", "ok");
    want.context = WR_LIT("<context>\nclock: later\n</context>");
    TEST_OK(&agent, weir_session_request(agent.session, &want, &turn, &agent.err));
    assert_has(turn.body, "clock: noon");      /* what was sent is sent again */
    assert_has_not(turn.body, "clock: later"); /* the user said nothing new */
    test_agent_release(&agent);
}

static void opaque_items_go_back_byte_for_byte_and_only_to_their_model(void **state)
{
    static const char items[] =
        "{\"type\":\"thinking\",  \"thinking\":\"\", \"signature\":\"a+/=\\u0041\"},"
        "{\"type\":\"text\",\"text\":\"hm\"},"
        "{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\",\"input\":{ \"a\" : 1 }}";
    struct test_agent agent;
    char body[1024];
    (void)state;
    begin(&agent, "model: {name: claude-sonnet-4-5}\nsession: {policy: exact}\n");
    test_agent_say(&agent, "go");
    (void)test_agent_request(&agent, WEIR_DIALECT_MESSAGES);
    (void)snprintf(body, sizeof(body), "{\"content\":[%s],\"usage\":{\"input_tokens\":3}}", items);
    TEST_OK(&agent, weir_session_answer_body(agent.session, WEIR_DIALECT_MESSAGES, wr_span_of(body),
                                             5, &agent.err));
    test_agent_result(&agent, "t1", "r");
    test_agent_close(&agent);
    test_agent_open(&agent, "model: {name: claude-sonnet-4-5}\nsession: {policy: exact}\n");
    assert_has(test_agent_request(&agent, WEIR_DIALECT_MESSAGES), items);
    weir_span chat = test_agent_request(&agent, WEIR_DIALECT_CHAT);
    assert_has_not(chat, "signature");
    assert_has(chat, "\"content\":\"hm\",\"tool_calls\":[{\"id\":\"t1\"");
    TEST_OK(&agent, weir_session_switch_model(agent.session, "claude-opus-4-5", 0, 6, &agent.err));
    weir_span other = test_agent_request(&agent, WEIR_DIALECT_MESSAGES);
    assert_has_not(other, "signature");
    assert_has(other, "{\"type\":\"text\",\"text\":\"hm\"}");
    test_agent_release(&agent);
}

static const struct {
    const char *behaviour;
    weir_dialect dialect;
    const char *body, *text, *name, *arguments;
    uint64_t tokens;
} answers[] = {
    {"chat", WEIR_DIALECT_CHAT,
     "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"hi\",\"tool_calls\":[{"
     "\"id\":"
     "\"c\",\"type\":\"function\",\"function\":{\"name\":\"n\",\"arguments\":\"{}\"}}]}}],"
     "\"usage\":"
     "{\"prompt_tokens\":10,\"completion_tokens\":2,\"prompt_tokens_details\":{\"cached_tokens\":4}"
     "}}",
     "hi", "n", "{}", 12},
    {"responses", WEIR_DIALECT_RESPONSES,
     "{\"output\":[{\"type\":\"reasoning\",\"id\":\"r\",\"encrypted_content\":\"x\"},{\"type\":"
     "\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"hi\"}]},{\"type\":"
     "\"function_call\",\"call_id\":\"c\",\"name\":\"n\",\"arguments\":\"{}\"}],\"usage\":{"
     "\"input_tokens\":10,\"output_tokens\":2}}",
     "hi", "n", "{}", 12},
    {"messages", WEIR_DIALECT_MESSAGES,
     "{\"content\":[{\"type\":\"text\",\"text\":\"hi\"},{\"type\":\"tool_use\",\"id\":\"c\","
     "\"name\":\"n\",\"input\":{\"x\": 1}}],\"usage\":{\"input_tokens\":3,"
     "\"cache_read_input_tokens\":4,\"cache_creation_input_tokens\":3,\"output_tokens\":2}}",
     "hi", "n", "{\"x\": 1}", 12},
};

static void a_whole_answer_is_read_in_each_api(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(answers); i++) {
        const struct weir_call *calls;
        struct weir_session_run run;
        struct test_agent agent;
        print_message("%s\n", answers[i].behaviour);
        begin(&agent, config);
        test_agent_say(&agent, "go");
        (void)test_agent_request(&agent, answers[i].dialect);
        TEST_OK(&agent, weir_session_answer_body(agent.session, answers[i].dialect,
                                                 wr_span_of(answers[i].body), 3, &agent.err));
        assert_int_equal(weir_session_pending(agent.session, &calls), 1);
        assert_true(wr_span_is(calls[0].name, answers[i].name));
        assert_true(wr_span_is(calls[0].arguments, answers[i].arguments));
        weir_session_run(agent.session, 4, &run);
        assert_int_equal(run.tokens, answers[i].tokens);
        assert_true(run.cost_micro_usd > 0);
        test_agent_release(&agent);
    }
}

static void ids_and_arguments_that_an_api_refuses_are_made_lawful(void **state)
{
    struct test_agent agent;
    (void)state;
    begin(&agent, config);
    test_agent_say(&agent, "go");
    (void)test_agent_request(&agent, WEIR_DIALECT_CHAT);
    test_agent_call(&agent, "call.1:x", "Bash", "ls -l");
    test_agent_result(&agent, "call.1:x", "r");
    weir_span body = test_agent_request(&agent, WEIR_DIALECT_MESSAGES);
    size_t id = wr_span_find(body, WR_LIT("\"id\":\"call_"), 0);
    assert_int_not_equal(id, SIZE_MAX);
    assert_has_not(body, "call.1:x");
    char made[64];
    (void)snprintf(made, sizeof(made), "\"tool_use_id\":%.22s\"", body.ptr + id + 5);
    assert_has(body, made); /* the result names the same one */
    assert_has(body, "\"input\":{\"input\":\"ls -l\"}");
    assert_has(test_agent_request(&agent, WEIR_DIALECT_CHAT), "\"tool_call_id\":\"call.1:x\"");
    test_agent_release(&agent);
}

/* ---- order ---- */

static void three_calls_make_four_messages(void **state)
{
    static const char *const ids[] = {"c1", "c2", "c3"};
    struct weir_session_context before, after;
    struct weir_call calls[3];
    struct test_agent agent;
    (void)state;
    begin(&agent, config);
    test_agent_say(&agent, "go");
    (void)test_agent_request(&agent, WEIR_DIALECT_CHAT);
    weir_session_context(agent.session, &before);
    for (size_t i = 0; i < 3; i++)
        calls[i] = (struct weir_call){wr_span_of(ids[i]), WR_LIT("Bash"), WR_LIT("{}")};
    struct weir_answer answer = {.calls = calls, .calls_count = 3};
    TEST_OK(&agent, weir_session_answer(agent.session, &answer, 2, &agent.err));
    for (size_t i = 0; i < 3; i++)
        test_agent_result(&agent, ids[i], "done");
    weir_session_context(agent.session, &after);
    assert_int_equal(after.messages_count, before.messages_count + 4);
    test_agent_release(&agent);
}

static void steering_flows_into_the_next_user_message(void **state)
{
    struct test_agent agent;
    (void)state;
    begin(&agent, config);
    test_agent_say(&agent, "go");
    (void)test_agent_request(&agent, WEIR_DIALECT_CHAT);
    /* While the model writes: it must not stand before the answer. */
    TEST_OK(&agent, weir_session_steer(agent.session, WR_LIT("s1"), 2, &agent.err));
    test_agent_call(&agent, "c1", "Bash", "{}");
    /* While the tool runs: behind its result. */
    TEST_OK(&agent, weir_session_steer(agent.session, WR_LIT("s2"), 3, &agent.err));
    test_agent_close(&agent);
    test_agent_open(&agent, config); /* the queue is in the journal */
    test_agent_result(&agent, "c1", "r1");
    assert_has(test_agent_request(&agent, WEIR_DIALECT_MESSAGES),
               "\"content\":[{\"type\":\"text\",\"text\":\"go\"");
    weir_span body = test_agent_request(&agent, WEIR_DIALECT_CHAT);
    assert_has(body, "\"tool_call_id\":\"c1\",\"content\":\"r1\"},{\"role\":\"user\",\"content\":"
                     "\"s1\\n\\ns2\"}]");
    body = test_agent_request(&agent, WEIR_DIALECT_MESSAGES);
    assert_has(body, "\"content\":\"r1\"},{\"type\":\"text\",\"text\":\"s1\"},{\"type\":\"text\","
                     "\"text\":\"s2\"");
    test_agent_release(&agent);
}

static void calls_that_wait_forbid_a_request_and_survive_a_crash(void **state)
{
    const struct weir_call *calls;
    struct weir_session_turn turn;
    struct test_agent agent;
    (void)state;
    begin(&agent, config);
    test_agent_say(&agent, "go");
    (void)test_agent_request(&agent, WEIR_DIALECT_CHAT);
    test_agent_call(&agent, "c1", "Bash", "{\"a\":1}");
    test_agent_close(&agent);
    test_agent_open(&agent, config);
    assert_int_equal(try_request(&agent, &turn), WEIR_INVALID);
    assert_has(wr_span_of(agent.err.text), "1 calls wait for their results, 'c1' first");
    assert_int_equal(weir_session_pending(agent.session, &calls), 1);
    assert_true(wr_span_is(calls[0].arguments, "{\"a\":1}"));
    assert_int_equal(
        weir_session_result(agent.session, WR_LIT("c2"), WR_LIT("x"), false, 1, &agent.err),
        WEIR_NOTFOUND);
    test_agent_say(&agent, "stop that"); /* closes the call, as aborted */
    weir_span body = test_agent_request(&agent, WEIR_DIALECT_CHAT);
    assert_has(body, "[aborted: this call was not carried out]\"},{\"role\":\"user\",\"content\":"
                     "\"stop that\"}");
    test_agent_release(&agent);
}

static void new_words_do_not_deny_a_call_that_was_running(void **state)
{
    struct test_agent agent;
    (void)state;
    begin(&agent, config);
    test_agent_say(&agent, "go");
    (void)test_agent_request(&agent, WEIR_DIALECT_CHAT);
    struct weir_call calls[] = {{WR_LIT("c1"), WR_LIT("Read"), WR_LIT("{}")},
                                {WR_LIT("c2"), WR_LIT("Bash"), WR_LIT("{}")}};
    struct weir_answer answer = {.calls = calls, .calls_count = 2};
    TEST_OK(&agent, weir_session_answer(agent.session, &answer, ++agent.now_ms, &agent.err));
    TEST_OK(&agent,
            weir_session_begin_call(agent.session, WR_LIT("c2"), ++agent.now_ms, &agent.err));
    test_agent_close(&agent);
    test_agent_open(&agent, config);
    test_agent_say(&agent, "go on");
    weir_span body = test_agent_request(&agent, WEIR_DIALECT_CHAT);
    assert_has(body,
               "\"tool_call_id\":\"c1\",\"content\":\"[aborted: this call was not carried out]\"");
    assert_has(body,
               "\"tool_call_id\":\"c2\",\"content\":\"[aborted: this call was running when the "
               "session ended; its outcome is unknown]\"");
    test_agent_release(&agent);
}

static void nothing_queued_is_lost_on_abort(void **state)
{
    struct test_agent agent;
    (void)state;
    begin(&agent, config);
    test_agent_say(&agent, "go");
    (void)test_agent_request(&agent, WEIR_DIALECT_CHAT);
    TEST_OK(&agent, weir_session_steer(agent.session, WR_LIT("s1"), 2, &agent.err));
    test_agent_call(&agent, "c1", "Bash", "{}");
    TEST_OK(&agent, weir_session_abort(agent.session, WR_LIT("stopped"), 3, &agent.err));
    assert_has(test_agent_request(&agent, WEIR_DIALECT_CHAT), "\"s1\"");
    test_agent_release(&agent);
}

static void a_request_that_failed_is_made_again(void **state)
{
    struct test_agent agent;
    struct weir_session_run run;
    char first[1024];
    (void)state;
    begin(&agent, config);
    test_agent_say(&agent, "go");
    weir_span body = test_agent_request(&agent, WEIR_DIALECT_CHAT);
    (void)snprintf(first, sizeof(first), "%.*s", (int)body.len, body.ptr);
    assert_body(&agent, WEIR_DIALECT_CHAT, first);
    weir_session_run(agent.session, 9, &run);
    assert_int_equal(run.turns, 1);
    test_agent_say(&agent, "and"); /* more words before any answer: one message still */
    assert_has(test_agent_request(&agent, WEIR_DIALECT_CHAT), "\"go\\n\\nand\"");
    test_agent_release(&agent);
}

static const struct {
    const char *behaviour;
    weir_dialect dialect;
    const char *items, *says;
} refused_answers[] = {
    {"an item that is no JSON", WEIR_DIALECT_MESSAGES, "{", ""},
    {"an item that is no object", WEIR_DIALECT_MESSAGES, "[]", "no object"},
    {"a call without an id", WEIR_DIALECT_MESSAGES, "{\"type\":\"tool_use\",\"name\":\"n\"}",
     "no id"},
};

static void an_answer_that_cannot_be_sent_back_is_refused(void **state)
{
    struct test_agent agent;
    (void)state;
    begin(&agent, config);
    struct weir_answer early = {.text = WR_LIT("x")};
    assert_int_equal(weir_session_answer(agent.session, &early, 1, &agent.err), WEIR_INVALID);
    assert_has(wr_span_of(agent.err.text), "without a request");
    assert_int_equal(weir_session_say(agent.session, WR_LIT(" \n"), 1, &agent.err), WEIR_INVALID);
    test_agent_say(&agent, "go");
    (void)test_agent_request(&agent, WEIR_DIALECT_MESSAGES);
    uint64_t last = weir_session_last_event(agent.session);
    for (size_t i = 0; i < WR_COUNT_OF(refused_answers); i++) {
        weir_span item = wr_span_of(refused_answers[i].items);
        struct weir_answer answer = {
            .dialect = refused_answers[i].dialect, .items = &item, .items_count = 1};
        print_message("%s\n", refused_answers[i].behaviour);
        assert_int_not_equal(weir_session_answer(agent.session, &answer, 1, &agent.err), WEIR_OK);
        assert_has(wr_span_of(agent.err.text), refused_answers[i].says);
        assert_int_equal(weir_session_last_event(agent.session), last);
    }
    test_agent_answer(&agent, "fine");
    struct weir_session_turn turn;
    assert_int_equal(try_request(&agent, &turn), WEIR_INVALID);
    assert_has(wr_span_of(agent.err.text), "nothing to answer");
    test_agent_release(&agent);
}

/* ---- limits ---- */

static const struct {
    const char *behaviour, *limits;
    int64_t after_ms;
    const char *limit;
} limits[] = {
    {"tokens", "{tokens: 1000}", 10, "tokens"},
    {"turns", "{turns: 2}", 10, "turns"},
    {"tool calls", "{tool_calls: 2}", 10, "tool_calls"},
    {"cost", "{cost_usd: 0.001}", 10, "cost"},
    {"time", "{minutes: 1}", 61000, "time"},
    {"none of them", "{tokens: 0, turns: 0, tool_calls: 0, cost_usd: 0, minutes: 0}", 99000000,
     NULL},
};

static void a_limit_that_is_reached_stops_the_run_and_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(limits); i++) {
        struct weir_session_usage usage = {.input_tokens = 600, .output_tokens = 10};
        struct weir_session_want want = {.dialect = WEIR_DIALECT_CHAT};
        struct weir_session_turn turn;
        struct weir_session_run run;
        struct test_agent agent;
        char yaml[256];
        print_message("%s\n", limits[i].behaviour);
        (void)snprintf(yaml, sizeof(yaml),
                       "model: {name: gpt-5}\nsession: {policy: exact, limits: %s}\n",
                       limits[i].limits);
        begin(&agent, yaml);
        test_agent_say(&agent, "go");
        for (int turns = 0; turns < 2; turns++) {
            (void)test_agent_request(&agent, WEIR_DIALECT_CHAT);
            TEST_OK(&agent, weir_session_add_usage(agent.session, &usage, 2, &agent.err));
            test_agent_call(&agent, "c", "Bash", "{}");
            test_agent_result(&agent, "c", "r");
        }
        test_agent_close(&agent);
        test_agent_open(&agent, yaml); /* what was used is in the journal */
        want.now_ms = TEST_NOW_MS + limits[i].after_ms;
        weir_session_run(agent.session, want.now_ms, &run);
        weir_status status = weir_session_request(agent.session, &want, &turn, &agent.err);
        if (limits[i].limit) {
            assert_string_equal(run.limit, limits[i].limit);
            assert_int_equal(status, WEIR_LIMIT);
            assert_has(wr_span_of(agent.err.text), limits[i].limit);
            TEST_OK(&agent, weir_session_start_run(agent.session, want.now_ms, &agent.err));
            TEST_OK(&agent, weir_session_request(agent.session, &want, &turn, &agent.err));
        } else {
            assert_null(run.limit);
            assert_int_equal(status, WEIR_OK);
        }
        test_agent_release(&agent);
    }
}

static void tool_iterations_have_a_limit_until_the_user_speaks(void **state)
{
    struct weir_session_turn turn;
    struct test_agent agent;
    (void)state;
    begin(&agent, "model: {name: gpt-5}\nsession: {max_tool_iterations: 2}\n");
    test_agent_say(&agent, "go");
    for (int i = 0; i < 2; i++) {
        (void)test_agent_request(&agent, WEIR_DIALECT_CHAT);
        test_agent_call(&agent, "c", "Bash", "{}");
        test_agent_result(&agent, "c", "r");
    }
    assert_int_equal(try_request(&agent, &turn), WEIR_LIMIT);
    assert_has(wr_span_of(agent.err.text), "max_tool_iterations: 2 answers in a row");
    test_agent_say(&agent, "go on");
    TEST_OK(&agent, try_request(&agent, &turn));
    test_agent_release(&agent);
}

static void a_disconnect_pauses_until_resumed(void **state)
{
    struct weir_session_turn turn;
    struct test_agent agent;
    (void)state;
    begin(&agent, config);
    test_agent_say(&agent, "go");
    TEST_OK(&agent, weir_session_disconnect(agent.session, 2, &agent.err));
    test_agent_close(&agent);
    test_agent_open(&agent, config);
    assert_int_equal(try_request(&agent, &turn), WEIR_INVALID);
    assert_has(wr_span_of(agent.err.text), "paused");
    TEST_OK(&agent, weir_session_resume(agent.session, 3, &agent.err));
    TEST_OK(&agent, try_request(&agent, &turn));
    test_agent_release(&agent);
    begin(&agent, "model: {name: gpt-5}\nsession: {on_disconnect: continue}\n");
    test_agent_say(&agent, "go");
    TEST_OK(&agent, weir_session_disconnect(agent.session, 2, &agent.err));
    TEST_OK(&agent, try_request(&agent, &turn));
    test_agent_release(&agent);
}

static const struct {
    const char *behaviour, *yaml, *says;
    weir_status status;
} bad_opens[] = {
    {"a policy that is none", "session: {policy: no-such}", "no policy is called 'no-such'",
     WEIR_NOTFOUND},
    {"settings that are wrong", "session: {max_tool_iterations: 0}", "line 1, column 32",
     WEIR_INVALID},
};

static void what_a_session_cannot_be_opened_with_is_said(void **state)
{
    struct weir_session_options options = {.must_exist = true};
    struct test_agent agent;
    (void)state;
    test_agent_init(&agent);
    for (size_t i = 0; i < WR_COUNT_OF(bad_opens); i++) {
        print_message("%s\n", bad_opens[i].behaviour);
        assert_int_equal(test_agent_try_open(&agent, bad_opens[i].yaml), bad_opens[i].status);
        assert_has(wr_span_of(agent.err.text), bad_opens[i].says);
        assert_null(agent.session);
    }
    options.dir = agent.dir;
    assert_int_equal(weir_session_open(&options, &agent.session, &agent.err), WEIR_NOTFOUND);
    assert_has(wr_span_of(agent.err.text), "there is no such session");
    options.dir = "bad name";
    assert_int_equal(weir_session_open(&options, &agent.session, &agent.err), WEIR_INVALID);
    assert_has(wr_span_of(agent.err.text), "is no name for a session");
    test_agent_release(&agent);
}

/* ---- models ---- */

static void another_model_has_another_budget_on_the_same_thread(void **state)
{
    struct weir_session_context context;
    struct weir_session_turn turn;
    struct test_agent agent;
    (void)state;
    begin(&agent, "model: {name: gpt-4o}\n");
    test_agent_say(&agent, "go");
    TEST_OK(&agent, try_request(&agent, &turn));
    assert_int_equal(turn.window_tokens, 128000);
    test_agent_answer(&agent, "yes");
    TEST_OK(&agent, weir_session_switch_model(agent.session, "gpt-5", 0, 5, &agent.err));
    test_agent_say(&agent, "more");
    TEST_OK(&agent, try_request(&agent, &turn));
    assert_true(turn.window_tokens > 128000);
    assert_has(turn.body, "\"model\":\"gpt-5\"");
    assert_has(turn.body, "\"content\":\"yes\"");
    test_agent_close(&agent);
    test_agent_open(&agent, "model: {name: gpt-4o}\n"); /* the journal's newest goes first */
    assert_string_equal(weir_session_model(agent.session), "gpt-5");
    TEST_OK(&agent, weir_session_switch_model(agent.session, "small", 4000, 5, &agent.err));
    weir_session_context(agent.session, &context);
    assert_int_equal(context.window_tokens, 4000);
    test_agent_release(&agent);
}

static void thresholds_are_those_of_the_policy(void **state)
{
    static const struct {
        const char *policy;
        uint64_t clear_at_tokens, summarise_at_tokens;
    } cases[] = {
        {"auto", 80750, 95000}, /* 85 % of what the answer leaves; then nearly all of the window */
        {"tiered", 60000, 85000},
        {"compress", 80000, 80000},
        {"smart", 50000, 95000},
        {"guarded-mid", 80000, 95000},
        {"layers", 0, 0},
        {"exact", 0, 0},
        {"auto\n  summary: {at: 0.7}", 80750, 70000},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct weir_session_context context;
        struct test_agent agent;
        char yaml[256];
        (void)snprintf(yaml, sizeof(yaml),
                       "model: {name: some, max_input_tokens: 100000}\nsession:\n  policy: %s\n",
                       cases[i].policy);
        begin(&agent, yaml);
        weir_session_context(agent.session, &context);
        if (context.clear_at_tokens != cases[i].clear_at_tokens ||
            context.summarise_at_tokens != cases[i].summarise_at_tokens)
            fail_msg("%s: %llu, %llu", cases[i].policy, (unsigned long long)context.clear_at_tokens,
                     (unsigned long long)context.summarise_at_tokens);
        test_agent_release(&agent);
    }
}

static void the_context_is_told_by_category(void **state)
{
    struct weir_session_usage usage = {.input_tokens = 3000, .cache_read_tokens = 700};
    struct weir_session_context c;
    struct test_agent agent;
    (void)state;
    begin(&agent, "model: {name: gpt-4o, max_input_tokens: 4000}\n");
    TEST_OK(&agent, weir_session_set_prompt(agent.session, WR_LIT("be brief"), 1, &agent.err));
    test_agent_say(&agent, "one two three");
    (void)test_agent_request(&agent, WEIR_DIALECT_CHAT);
    test_agent_call(&agent, "c", "Bash", "{\"command\":\"ls\"}");
    test_agent_result(&agent, "c", "a b c d e f");
    weir_session_context(agent.session, &c);
    assert_true(c.system_tokens && c.user_tokens && c.calls_tokens && c.results_tokens);
    assert_int_equal(c.total_tokens, c.system_tokens + c.tools_tokens + c.user_tokens +
                                         c.assistant_tokens + c.calls_tokens + c.results_tokens);
    assert_string_equal(c.colour, "plain");
    assert_int_equal(c.messages_max, 100);
    TEST_OK(&agent, weir_session_add_usage(agent.session, &usage, 1, &agent.err));
    weir_session_context(agent.session, &c);
    assert_int_equal(c.last_input_tokens, 3700);               /* as measured, not as estimated */
    assert_int_equal(c.usable_tokens, 3800);                   /* the rest is the answer's */
    assert_true(c.used_tokens > 3700 && c.used_tokens < 3730); /* with the call and its result */
    assert_int_equal(c.used_percent, c.used_tokens * 100 / 3800);
    assert_string_equal(c.colour, "red");
    usage = (struct weir_session_usage){.input_tokens = 2700};
    TEST_OK(&agent, weir_session_add_usage(agent.session, &usage, 1, &agent.err));
    weir_session_context(agent.session, &c);
    assert_int_equal(c.used_percent, 71);
    assert_string_equal(c.colour, "yellow");
    test_agent_release(&agent);
    begin(&agent, ""); /* nothing is known of a model: the default */
    weir_session_context(agent.session, &c);
    assert_int_equal(c.messages_max, 1000);
    test_agent_release(&agent);
}

static void a_program_may_say_the_threshold(void **state)
{
    struct weir_session_options options = WEIR_SESSION_OPTIONS_INIT;
    struct weir_session_context context;
    struct test_agent agent;
    (void)state;
    test_agent_init(&agent);
    options.dir = agent.dir;
    options.config = WR_LIT("model: {name: some, max_input_tokens: 100000}\n"
                            "session: {policy: compress, compression_threshold: 0.6}\n");
    options.now_ms = agent.now_ms;
    options.compression_threshold_bp = 3000;
    TEST_OK(&agent, weir_session_open(&options, &agent.session, &agent.err));
    weir_session_context(agent.session, &context);
    assert_int_equal(context.summarise_at_tokens, 30000);
    test_agent_release(&agent);
}

/* A page of text a call, until the policy has taken most of it out again. */
static void the_context_is_that_of_the_request_as_it_left(void **state)
{
    static const char yaml[] = "model: {name: gpt-4o, max_input_tokens: 20000}\n"
                               "session: {policy: tiered}\n";
    struct weir_session_want want = {.dialect = WEIR_DIALECT_CHAT};
    struct weir_session_context c;
    struct weir_session_turn turn = {0};
    struct test_agent agent;
    char page[3000];
    (void)state;
    for (size_t i = 0; i < sizeof(page) - 1; i++)
        page[i] = i % 7 ? (char)('a' + (i * i) % 26) : ' ';
    page[sizeof(page) - 1] = 0;
    begin(&agent, yaml);
    TEST_OK(&agent, weir_session_set_tools(
                        agent.session, &(struct weir_tool){WR_LIT("weir_recall"), {"", 0}, {"", 0}},
                        1, &agent.err));
    test_agent_say(&agent, "read them all");
    for (int i = 0; i < 40 && !turn.is_changed; i++) {
        want.now_ms = ++agent.now_ms;
        TEST_OK(&agent, weir_session_request(agent.session, &want, &turn, &agent.err));
        weir_session_context(agent.session, &c);
        assert_true(c.is_sent);
        assert_int_equal(c.total_tokens, turn.tokens_after);
        assert_int_equal(c.used_tokens, turn.tokens_after);
        test_agent_call(&agent, "c", "Bash", "{}");
        test_agent_result(&agent, "c", page);
    }
    assert_true(turn.is_changed && turn.tokens_after < turn.tokens_before);
    struct weir_session_context before;
    weir_session_context(agent.session, &before);
    test_agent_close(&agent);
    test_agent_open(&agent, yaml); /* another process asks: by checkpoint, and by the journal */
    weir_session_context(agent.session, &c);
    assert_true(c.is_sent);
    assert_int_equal(c.total_tokens, before.total_tokens);
    assert_int_equal(c.used_tokens, before.used_tokens);
    assert_int_equal(c.usable_tokens, before.usable_tokens);
    assert_int_equal(c.results_tokens, before.results_tokens);
    test_agent_close(&agent);
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/state.yaml", agent.dir);
    assert_int_equal(unlink(path), 0);
    test_agent_open(&agent, yaml);
    weir_session_context(agent.session, &c);
    assert_int_equal(c.total_tokens, before.total_tokens);
    test_agent_release(&agent);
}

/* The window is that of the one resolver, and the actor's bound follows from it. */
static void windows_are_those_of_the_model_and_its_settings(void **state)
{
    static const struct {
        const char *behaviour, *config;
        uint64_t window_tokens, messages_max;
    } rows[] = {
        {"a prompt may have the input limit, not the context", "model: {name: gpt-5}\n", 272000,
         2000},
        {"what is configured wins", "model: {name: gpt-5, max_input_tokens: 150000}\n", 150000,
         1500},
        {"also over what a server has loaded", "model: {name: qwen3, max_input_tokens: 6000}\n",
         6000, 100},
        {"`layers` has the table of its document",
         "model: {name: gpt-5}\nsession: {policy: layers}\n", 400000, 2000},
        {"a model that nobody knows", "model: {name: nobody-knows-it}\n", 128000, 1280},
        {"no model at all: the actor's default", "session: {policy: layers}\n", 128000, 1000},
    };
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct weir_session_context c;
        struct test_agent agent;
        test_agent_init(&agent);
        test_agent_open(&agent, rows[i].config);
        weir_session_context(agent.session, &c);
        if (c.window_tokens != rows[i].window_tokens || c.messages_max != rows[i].messages_max)
            fail_msg("%s: window %llu, messages %llu", rows[i].behaviour,
                     (unsigned long long)c.window_tokens, (unsigned long long)c.messages_max);
        test_agent_release(&agent);
    }
}

/* ---- other files ---- */

static void the_trace_tells_usage_calls_and_times_and_is_never_sent(void **state)
{
    struct weir_session_usage usage = {.input_tokens = 5};
    struct test_agent agent;
    struct wr_buf trace;
    char path[256];
    (void)state;
    begin(&agent, config);
    test_agent_say(&agent, "go");
    (void)test_agent_request(&agent, WEIR_DIALECT_CHAT);
    TEST_OK(&agent, weir_session_add_usage(agent.session, &usage, 2, &agent.err));
    test_agent_call(&agent, "c", "Bash", "{}");
    test_agent_result(&agent, "c", "rrr");
    TEST_OK(&agent,
            weir_session_trace(agent.session, "remark", WR_LIT("\"secret\":1"), 3, &agent.err));
    assert_has_not(test_agent_request(&agent, WEIR_DIALECT_CHAT), "secret");
    test_agent_close(&agent);
    (void)snprintf(path, sizeof(path), "%s/trace.jsonl", agent.dir);
    wr_buf_init(&trace, 1 << 20);
    assert_int_equal(wr_disk_read(path, &trace, NULL), WEIR_OK);
    assert_has(wr_buf_view(&trace),
               "\"kind\":\"model_usage\",\"model\":\"gpt-5\",\"input_tokens\":5");
    assert_has(wr_buf_view(&trace), "\"kind\":\"tool_call\",\"name\":\"Bash\",\"call_id\":\"c\"");
    assert_has(wr_buf_view(&trace), "\"bytes\":3,\"ms\":1,\"is_error\":0");
    assert_has(wr_buf_view(&trace), "\"kind\":\"remark\",\"secret\":1}");
    wr_buf_release(&trace);
    test_agent_release(&agent);
}

static void the_state_is_bounded_and_made_from_the_journal(void **state)
{
    struct test_agent agent;
    struct wr_buf yaml, again;
    struct weir_pin pin = {.model = WR_LIT("weir:checkpoint")};
    char path[256];
    (void)state;
    begin(&agent, "model: {name: gpt-5, max_input_tokens: 1000}\nsession: {policy: exact}\n");
    for (int i = 0; i < 130; i++) {
        char text[400];
        (void)snprintf(text, sizeof(text), "words %d %0300d", i, i);
        test_agent_say(&agent, text);
        (void)test_agent_request(&agent, WEIR_DIALECT_CHAT);
        test_agent_answer(&agent, "ok");
    }
    test_agent_close(&agent);
    (void)snprintf(path, sizeof(path), "%s/state.yaml", agent.dir);
    wr_buf_init(&yaml, 1 << 20);
    wr_buf_init(&again, 1 << 20);
    assert_int_equal(wr_disk_read(path, &yaml, NULL), WEIR_OK);
    size_t messages = 0;
    for (size_t at = 0;
         (at = wr_span_find(wr_buf_view(&yaml), WR_LIT("  - {seq:"), at)) != SIZE_MAX; at++)
        messages++;
    assert_true(messages > 50 && messages <= 100);
    assert_has(wr_buf_view(&yaml), "messages_max: 100\n");
    assert_has(wr_buf_view(&yaml), "words 129");
    assert_has_not(wr_buf_view(&yaml), "\"words 3 ");
    TEST_OK(&agent, weir_store_pin(agent.store, WR_LIT("local"), WR_LIT("main"), &pin, &agent.err));
    assert_has(pin.value, "checkpoint_seq: ");
    (void)unlink(path);
    test_agent_open(&agent,
                    "model: {name: gpt-5, max_input_tokens: 1000}\nsession: {policy: exact}\n");
    TEST_OK(&agent, weir_session_note(agent.session, WR_LIT("n"), 1, &agent.err));
    test_agent_close(&agent);
    assert_int_equal(wr_disk_read(path, &again, NULL), WEIR_OK);
    assert_has(wr_buf_view(&again), "words 129");
    wr_buf_release(&yaml);
    wr_buf_release(&again);
    test_agent_release(&agent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_conversation_in_each_api),
        cmocka_unit_test(the_moment_stands_behind_the_newest_words_and_stays_there),
        cmocka_unit_test(opaque_items_go_back_byte_for_byte_and_only_to_their_model),
        cmocka_unit_test(a_whole_answer_is_read_in_each_api),
        cmocka_unit_test(ids_and_arguments_that_an_api_refuses_are_made_lawful),
        cmocka_unit_test(three_calls_make_four_messages),
        cmocka_unit_test(steering_flows_into_the_next_user_message),
        cmocka_unit_test(calls_that_wait_forbid_a_request_and_survive_a_crash),
        cmocka_unit_test(new_words_do_not_deny_a_call_that_was_running),
        cmocka_unit_test(nothing_queued_is_lost_on_abort),
        cmocka_unit_test(a_request_that_failed_is_made_again),
        cmocka_unit_test(an_answer_that_cannot_be_sent_back_is_refused),
        cmocka_unit_test(a_limit_that_is_reached_stops_the_run_and_is_named),
        cmocka_unit_test(tool_iterations_have_a_limit_until_the_user_speaks),
        cmocka_unit_test(a_disconnect_pauses_until_resumed),
        cmocka_unit_test(what_a_session_cannot_be_opened_with_is_said),
        cmocka_unit_test(another_model_has_another_budget_on_the_same_thread),
        cmocka_unit_test(the_context_is_told_by_category),
        cmocka_unit_test(the_context_is_that_of_the_request_as_it_left),
        cmocka_unit_test(windows_are_those_of_the_model_and_its_settings),
        cmocka_unit_test(thresholds_are_those_of_the_policy),
        cmocka_unit_test(a_program_may_say_the_threshold),
        cmocka_unit_test(the_trace_tells_usage_calls_and_times_and_is_never_sent),
        cmocka_unit_test(the_state_is_bounded_and_made_from_the_journal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
