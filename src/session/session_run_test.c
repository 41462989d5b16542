/* What a run used, whoever used it, and what of a session is not as it was when it was last open.
 */
#include "session/session.h"
#include "tests/test_agent.h"

static void begin(struct test_agent *agent, const char *yaml)
{
    test_agent_init(agent);
    test_agent_open(agent, yaml);
}

static struct weir_session_run run_of(struct test_agent *agent)
{
    struct weir_session_run run;
    weir_session_run(agent->session, agent->now_ms, &run);
    return run;
}

/* ---- the whole bill ---- */

static const char small_limits[] = "model: {name: gpt-5}\nsession: {policy: exact, limits: "
                                   "{tokens: 5000, turns: 20, cost_usd: 1.00}}\n";

static void what_a_subagent_uses_counts_towards_the_run(void **state)
{
    struct weir_session_usage usage = {.input_tokens = 4900, .output_tokens = 100};
    struct weir_session_turn turn;
    struct weir_session_want want = {.dialect = WEIR_DIALECT_CHAT};
    struct weir_session *child;
    struct test_agent agent, sub;
    (void)state;
    begin(&agent, small_limits);
    test_agent_say(&agent, "go");
    (void)test_agent_request(&agent, WEIR_DIALECT_CHAT);
    test_agent_call(&agent, "c", "spawn_agent", "{}");
    TEST_OK(&agent,
            weir_session_spawn(agent.session, weir_subagent_kind_find("explore"), WR_LIT("c"),
                               WR_LIT("look"), ++agent.now_ms, &child, &agent.err));
    sub = agent;
    sub.session = child;
    (void)test_agent_request(&sub, WEIR_DIALECT_CHAT);
    TEST_OK(&sub, weir_session_add_usage(child, &usage, ++sub.now_ms, &sub.err));
    test_agent_answer(&sub, "seen");
    struct weir_session_run before = run_of(&agent), alone = run_of(&sub);
    assert_int_equal(before.tokens, 0);
    TEST_OK(&agent, weir_session_join(agent.session, child, ++agent.now_ms, &agent.err));
    struct weir_session_run after = run_of(&agent);
    assert_int_equal(after.tokens, 5000);
    assert_int_equal(after.turns, before.turns + 1);
    assert_true(after.cost_micro_usd > 0 && after.cost_micro_usd == alone.cost_micro_usd);
    assert_string_equal(after.limit, "tokens");
    want.now_ms = ++agent.now_ms;
    assert_int_equal(weir_session_request(agent.session, &want, &turn, &agent.err), WEIR_LIMIT);
    test_agent_close(&agent);
    test_agent_open(&agent, small_limits); /* it is in the journal */
    assert_int_equal(run_of(&agent).tokens, 5000);
    test_agent_release(&agent);
}

static void a_subagent_works_within_what_is_left_of_the_run(void **state)
{
    struct weir_session_usage usage = {.input_tokens = 4000};
    struct weir_session *child;
    struct test_agent agent;
    (void)state;
    begin(&agent, small_limits);
    test_agent_say(&agent, "go");
    (void)test_agent_request(&agent, WEIR_DIALECT_CHAT);
    TEST_OK(&agent, weir_session_add_usage(agent.session, &usage, 2, &agent.err));
    test_agent_call(&agent, "c", "spawn_agent", "{}");
    TEST_OK(&agent, weir_session_spawn(agent.session, weir_subagent_kind_find("task"), WR_LIT("c"),
                                       WR_LIT("look"), ++agent.now_ms, &child, &agent.err));
    assert_int_equal(child->settings.limits.tokens_max, 1000);
    assert_int_equal(child->settings.limits.turns_max, 19);
    weir_session_close(child);
    test_agent_release(&agent);
}

static weir_status write_summary(void *user, const struct weir_summary_task *task, weir_span *text)
{
    *task->spent = (struct weir_session_spent){.model = user, .usage = {.input_tokens = 1000}};
    *text = WR_LIT("");
    return WEIR_OK;
}

static void a_summary_is_paid_for_also_where_it_is_not_used(void **state)
{
    static char priced[] = "gpt-5", unpriced[] = "nobody-knows-it";
    char *const models[] = {priced, unpriced};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct weir_compacted compacted;
        struct test_agent agent;
        begin(&agent, "model: {name: gpt-5, max_input_tokens: 1000}\nsession: {policy: exact}\n");
        for (int turn = 0; turn < 12; turn++) {
            test_agent_say(&agent, "look");
            (void)test_agent_request(&agent, WEIR_DIALECT_CHAT);
            test_agent_answer(&agent, "I looked at it for a very long time and I saw a lot. "
                                      "The river is wide, and the gate is shut, as it was.");
        }
        weir_session_set_summary(agent.session, write_summary, models[i]);
        TEST_OK(&agent, weir_session_compact(agent.session, "asked", ++agent.now_ms, &compacted,
                                             &agent.err));
        assert_string_equal(compacted.fell_back, "it is empty");
        assert_int_equal(run_of(&agent).tokens, 2000); /* it was asked twice */
        assert_int_equal(run_of(&agent).is_cost_known, i == 0);
        assert_int_equal(run_of(&agent).cost_micro_usd > 0, i == 0);
        test_agent_release(&agent);
    }
}

static void a_model_without_a_price_has_no_cost_that_is_known(void **state)
{
    struct weir_session_usage usage = {.input_tokens = 1000};
    struct test_agent agent;
    uint64_t micro_usd;
    (void)state;
    begin(&agent, "model: {name: nobody-knows-it}\n");
    assert_true(run_of(&agent).is_cost_known); /* nothing was asked */
    TEST_OK(&agent, weir_session_add_usage(agent.session, &usage, 2, &agent.err));
    assert_false(run_of(&agent).is_cost_known);
    assert_false(weir_session_price(agent.session, NULL, &usage, &micro_usd));
    assert_true(weir_session_price(agent.session, "gpt-5", &usage, &micro_usd));
    test_agent_close(&agent);
    test_agent_open(&agent, "model: {name: nobody-knows-it}\n");
    assert_false(run_of(&agent).is_cost_known);
    TEST_OK(&agent, weir_session_start_run(agent.session, 3, &agent.err));
    assert_true(run_of(&agent).is_cost_known);
    test_agent_release(&agent);
}

/* ---- a session and its runs ---- */

static weir_status try_request(struct test_agent *agent)
{
    struct weir_session_want want = {.dialect = WEIR_DIALECT_CHAT, .now_ms = ++agent->now_ms};
    struct weir_session_turn turn;
    return weir_session_request(agent->session, &want, &turn, &agent->err);
}

static void a_session_has_no_age(void **state)
{
    struct weir_session_usage usage = {.input_tokens = 10000};
    struct test_agent agent;
    (void)state;
    begin(&agent, "model: {name: gpt-4o-mini}\nsession: {policy: exact}\n");
    for (int i = 0; i < 205; i++) { /* each limit of a run is passed in sum */
        agent.now_ms += 60 * 1000;
        test_agent_say(&agent, "go");
        TEST_OK(&agent, try_request(&agent));
        TEST_OK(&agent, weir_session_add_usage(agent.session, &usage, agent.now_ms, &agent.err));
        test_agent_answer(&agent, "gone");
    }
    assert_null(run_of(&agent).limit);
    assert_int_equal(run_of(&agent).turns, 1);
    test_agent_close(&agent);
    test_agent_open(&agent, "model: {name: gpt-4o-mini}\nsession: {policy: exact}\n");
    assert_int_equal(run_of(&agent).turns, 1); /* the journal tells the same */
    test_agent_release(&agent);
}

static void new_words_lift_the_limit_of_a_run(void **state)
{
    struct test_agent agent;
    (void)state;
    begin(&agent, "model: {name: gpt-5}\nsession: {limits: {turns: 1}}\n");
    test_agent_say(&agent, "go");
    TEST_OK(&agent, try_request(&agent));
    test_agent_call(&agent, "c", "Bash", "{}");
    test_agent_result(&agent, "c", "r");
    assert_int_equal(try_request(&agent), WEIR_LIMIT);
    assert_has(wr_span_of(agent.err.text), "the user's next words begin another run");
    TEST_OK(&agent, weir_session_steer(agent.session, WR_LIT("left"), agent.now_ms, &agent.err));
    assert_int_equal(try_request(&agent), WEIR_LIMIT); /* they are of the same run */
    test_agent_say(&agent, "go on");
    TEST_OK(&agent, try_request(&agent));
    test_agent_release(&agent);
}

static void unless_told_tools_may_be_called_up_to_the_turns_of_the_run(void **state)
{
    struct test_agent agent;
    (void)state;
    begin(&agent, "model: {name: gpt-5}\nsession: {policy: exact}\n");
    test_agent_say(&agent, "go");
    for (int i = 0; i < 200; i++) {
        TEST_OK(&agent, try_request(&agent));
        test_agent_call(&agent, "c", "Bash", "{}");
        test_agent_result(&agent, "c", "r");
    }
    assert_int_equal(try_request(&agent), WEIR_LIMIT);
    assert_string_equal(run_of(&agent).limit, "turns");
    test_agent_release(&agent);
}

static const struct {
    const char *behaviour, *limits, *limit;
} session_limits[] = {
    {"turns of all runs", "turns: 5", "session turns"},
    {"tokens of all runs", "tokens: 5000", "session tokens"},
    {"cost of all runs", "cost_usd: 0.006", "session cost"},
    {"time of all runs, not what lies between them", "minutes: 10", "session time"},
};

/* Five runs, each by a process of its own, an hour apart: two minutes of work and 1,000 tokens. */
static void runs_count_towards_the_limits_of_the_session(void **state)
{
    struct weir_session_usage usage = {.input_tokens = 1000};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(session_limits); i++) {
        struct test_agent agent;
        char yaml[256];
        print_message("%s\n", session_limits[i].behaviour);
        (void)snprintf(yaml, sizeof(yaml),
                       "model: {name: gpt-5}\nsession: {policy: exact, limits: {session: {%s}}}\n",
                       session_limits[i].limits);
        test_agent_init(&agent);
        for (int run = 0; run < 5; run++) {
            agent.now_ms += 60 * 60 * 1000;
            test_agent_open(&agent, yaml);
            test_agent_say(&agent, "go");
            TEST_OK(&agent, try_request(&agent));
            agent.now_ms += 2 * 60 * 1000;
            TEST_OK(&agent,
                    weir_session_add_usage(agent.session, &usage, agent.now_ms, &agent.err));
            test_agent_answer(&agent, "gone");
            test_agent_close(&agent);
        }
        test_agent_open(&agent, yaml);
        test_agent_say(&agent, "once more");
        if (!run_of(&agent).limit || strcmp(run_of(&agent).limit, session_limits[i].limit) != 0)
            fail_msg("%s", run_of(&agent).limit ? run_of(&agent).limit : "none");
        assert_int_equal(try_request(&agent), WEIR_LIMIT);
        assert_has(wr_span_of(agent.err.text), "the session's limit of ");
        test_agent_release(&agent);
    }
}

/* ---- what is not as it was ---- */

static const struct weir_tool tools[] = {{{"read_file", 9}, {"reads", 5}, {"{}", 2}},
                                         {{"edit", 4}, {"edits", 5}, {"{}", 2}},
                                         {{"grep", 4}, {"looks", 5}, {"{}", 2}}};

static void give_tools(struct test_agent *agent, size_t first, size_t count)
{
    TEST_OK(agent, weir_session_set_tools(agent->session, tools + first, count, &agent->err));
}

static struct weir_session_turn turn_of(struct test_agent *agent, const char *words)
{
    struct weir_session_want want = {.dialect = WEIR_DIALECT_MESSAGES, .now_ms = ++agent->now_ms};
    struct weir_session_turn turn;
    test_agent_say(agent, words);
    want.now_ms = ++agent->now_ms;
    TEST_OK(agent, weir_session_request(agent->session, &want, &turn, &agent->err));
    test_agent_answer(agent, "yes");
    return turn;
}

static void other_tools_are_seen_said_and_a_step(void **state)
{
    static const char yaml[] = "model: {name: claude-sonnet-5-5}\n";
    struct weir_session_turn turn;
    struct test_agent agent;
    (void)state;
    begin(&agent, yaml);
    give_tools(&agent, 0, 2);
    turn = turn_of(&agent, "one");
    assert_false(turn.is_step);
    assert_int_equal(weir_session_changes(agent.session).len, 0);
    turn = turn_of(&agent, "two");
    assert_false(turn.is_step);
    uint64_t events = weir_session_last_event(agent.session);
    give_tools(&agent, 0, 2); /* the same again */
    assert_int_equal(weir_session_last_event(agent.session), events);
    test_agent_close(&agent);
    test_agent_open(&agent, yaml);
    give_tools(&agent, 1, 2);
    assert_true(wr_span_is(weir_session_changes(agent.session), "tools: +grep -read_file"));
    turn = turn_of(&agent, "three");
    assert_true(turn.is_step && !turn.is_compacted);
    assert_string_equal(turn.step_reason, "tools");
    turn = turn_of(&agent, "four"); /* from here on they are the session's */
    assert_false(turn.is_step);
    assert_int_equal(weir_session_changes(agent.session).len, 0);
    test_agent_release(&agent);
}

static void signed_thinking_of_before_other_tools_is_not_sent_again(void **state)
{
    weir_span items[] = {WR_LIT("{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"sig\"}"),
                         WR_LIT("{\"type\":\"text\",\"text\":\"hm\"}")};
    struct weir_answer answer = {
        .text = WR_LIT("hm"), .dialect = WEIR_DIALECT_MESSAGES, .items = items, .items_count = 2};
    struct test_agent agent;
    (void)state;
    begin(&agent, "model: {name: claude-sonnet-5-5}\n");
    give_tools(&agent, 0, 2);
    test_agent_say(&agent, "one");
    (void)test_agent_request(&agent, WEIR_DIALECT_MESSAGES);
    TEST_OK(&agent, weir_session_answer(agent.session, &answer, ++agent.now_ms, &agent.err));
    test_agent_say(&agent, "two");
    assert_has(test_agent_request(&agent, WEIR_DIALECT_MESSAGES), "\"sig\"");
    test_agent_answer(&agent, "yes");
    give_tools(&agent, 0, 3);
    test_agent_say(&agent, "three");
    assert_has_not(test_agent_request(&agent, WEIR_DIALECT_MESSAGES), "\"sig\"");
    test_agent_release(&agent);
}

static void put_prompt(struct test_agent *agent, const char *memory)
{
    struct weir_section sections[] = {
        {.name = "identity", .phase = WEIR_PHASE_CONSTRAINT, .text = WR_LIT("You keep the weir.")},
        {.name = "memory", .phase = WEIR_PHASE_MEMORY, .text = wr_span_of(memory)},
        {.name = "clock", .is_volatile = true, .text = wr_span_of(memory)}};
    struct weir_prompt *prompt;

    TEST_OK(agent, weir_prompt_new(&prompt));
    for (size_t i = 0; i < 3; i++)
        TEST_OK(agent, weir_prompt_add(prompt, &sections[i], &agent->err));
    TEST_OK(agent, weir_prompt_build(prompt, NULL, 0, &agent->err));
    TEST_OK(agent, weir_session_use_prompt(agent->session, prompt, ++agent->now_ms, &agent->err));
    weir_prompt_free(prompt);
}

static void another_prompt_is_told_by_its_sections(void **state)
{
    static const char yaml[] = "model: {name: gpt-5}\n";
    struct weir_session_options options = {.model = "gpt-4o", .now_ms = 9};
    struct weir_session_turn turn;
    struct test_agent agent;
    (void)state;
    begin(&agent, yaml);
    put_prompt(&agent, "a note");
    (void)turn_of(&agent, "one");
    test_agent_close(&agent);
    test_agent_open(&agent, yaml);
    put_prompt(&agent, "a note");
    assert_int_equal(weir_session_changes(agent.session).len, 0);
    put_prompt(&agent, "another note");
    assert_true(wr_span_is(weir_session_changes(agent.session), "prompt: ~memory"));
    turn = turn_of(&agent, "two");
    assert_true(turn.is_step && !turn.is_compacted);
    assert_string_equal(turn.step_reason, "prompt");
    test_agent_close(&agent);
    options.dir = agent.dir;
    options.config = wr_span_of(yaml);
    TEST_OK(&agent, weir_session_open(&options, &agent.session, &agent.err));
    assert_true(wr_span_is(weir_session_changes(agent.session), "model: gpt-4o, was gpt-5"));
    test_agent_release(&agent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_has_no_age),
        cmocka_unit_test(new_words_lift_the_limit_of_a_run),
        cmocka_unit_test(unless_told_tools_may_be_called_up_to_the_turns_of_the_run),
        cmocka_unit_test(runs_count_towards_the_limits_of_the_session),
        cmocka_unit_test(what_a_subagent_uses_counts_towards_the_run),
        cmocka_unit_test(a_subagent_works_within_what_is_left_of_the_run),
        cmocka_unit_test(a_summary_is_paid_for_also_where_it_is_not_used),
        cmocka_unit_test(a_model_without_a_price_has_no_cost_that_is_known),
        cmocka_unit_test(other_tools_are_seen_said_and_a_step),
        cmocka_unit_test(signed_thinking_of_before_other_tools_is_not_sent_again),
        cmocka_unit_test(another_prompt_is_told_by_its_sections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
