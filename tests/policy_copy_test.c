/* Nothing hangs on a policy's name: a copy of a preset under another name does the same, in the
 * engine and in a session, byte for byte. */
#include "tests/test_agent.h"

#include "base/limits.h"
#include "base/span.h"
#include "policy/policy.h"

enum { ROUNDS = 14, BODIES_BYTES_MAX = 64 << 20 };

static const char copy_name[] = "of-my-own";

static void write_copy(struct wr_buf *yaml, const struct wr_policy *preset)
{
    wr_buf_init(yaml, 1 << 16);
    wr_policy_yaml_begin(yaml);
    wr_policy_yaml_write(yaml, preset, copy_name);
    assert_int_equal(wr_buf_status(yaml), WEIR_OK);
}

static void assert_same(const char *preset, const char *what, const struct wr_buf *a,
                        const struct wr_buf *b)
{
    if (!wr_span_eq(wr_buf_view(a), wr_buf_view(b)))
        fail_msg("a copy of %s has %s of its own (%zu and %zu bytes)", preset, what, a->len,
                 b->len);
    assert_true(a->len > 0);
}

/* ---- the engine ---- */

/* A conversation of `rounds` calls, whose results are long and now and then the same. */
static void write_request(struct wr_buf *out, int rounds)
{
    wr_buf_init(out, 1 << 24);
    wr_buf_text(out, "{\"model\":\"claude-sonnet-4-5\",\"max_tokens\":500,\"tools\":[{\"name\":"
                     "\"weir_recall\",\"input_schema\":{\"type\":\"object\"}}],\"messages\":["
                     "{\"role\":\"user\",\"content\":\"mend the gate\"}");
    for (int i = 0; i < rounds; i++) {
        wr_buf_printf(
            out,
            ",{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"c%d\","
            "\"name\":\"Bash\",\"input\":{\"command\":\"make %d\"}}]},{\"role\":\"user\","
            "\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c%d\",\"content\":\"",
            i, i, i);
        for (int line = 0; line < 120; line++)
            wr_buf_printf(out, "step %d, line %d: the sill holds\\n", i % 5, line);
        wr_buf_text(out, "\"}]}");
        if (i % 4 == 3)
            wr_buf_printf(out,
                          ",{\"role\":\"assistant\",\"content\":\"done %d\"},{\"role\":\"user\","
                          "\"content\":\"and the next, %d\"}",
                          i, i);
    }
    wr_buf_text(out, "]}");
}

/* The bodies that the engine makes of a conversation as it grows. */
static void run_engine(struct wr_buf *bodies, weir_span yaml, const char *policy)
{
    struct weir_engine *engine;
    struct weir_store *store;
    struct weir_err err = {0};

    wr_buf_init(bodies, BODIES_BYTES_MAX);
    assert_int_equal(weir_engine_new(&engine, &err), WEIR_OK);
    assert_int_equal(weir_store_new_memory(0, &store), WEIR_OK);
    if (yaml.len && weir_engine_load_policies(engine, yaml, &err))
        fail_msg("%s", err.text);
    for (int round = 1; round <= ROUNDS; round++) {
        struct weir_project_options options = {.policy = policy,
                                               .store = store,
                                               .session = WR_LIT("one"),
                                               .window_tokens = 20000,
                                               .now_ms = round * 1000};
        struct weir_projected projected;
        struct weir_request *request;
        struct wr_buf body;
        write_request(&body, round);
        if (weir_engine_request(engine, wr_buf_view(&body), NULL, &request, &err) ||
            weir_engine_project(engine, request, &options, &projected, &err))
            fail_msg("%s: %s", policy, err.text);
        wr_buf_append(bodies, projected.body);
        wr_buf_printf(bodies, "\n%llu %s\n", (unsigned long long)projected.tokens_after,
                      projected.step_reason ? projected.step_reason : "-");
        weir_request_free(request);
        wr_buf_release(&body);
    }
    weir_store_close(store);
    weir_engine_free(engine);
}

static void a_copy_projects_the_same(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < wr_policy_count(); i++) {
        const struct wr_policy *preset = wr_policy_at(i);
        struct wr_buf yaml, a, b;
        write_copy(&yaml, preset);
        run_engine(&a, (weir_span){"", 0}, preset->name);
        run_engine(&b, wr_buf_view(&yaml), copy_name);
        assert_same(preset->name, "bodies", &a, &b);
        wr_buf_release(&a);
        wr_buf_release(&b);
        wr_buf_release(&yaml);
    }
}

/* ---- a session ---- */

static const char *const configs[] = {
    "model: {name: gpt-4o, max_input_tokens: 12000, max_output_tokens: 500}\n"
    "session: {policy: %s, max_tool_iterations: 1000}\n",
    "model: {name: gpt-4o}\nsession: {policy: %s, max_tool_iterations: 1000}\n",
    "model: {name: nobody-knows-it}\nsession: {policy: %s}\n",
    "model: {name: gpt-4o, max_input_tokens: 12000}\n"
    "session:\n"
    "  policy: %s\n"
    "  compression_threshold: 0.5\n"
    "  context: {max_history_tokens: 3000, max_tool_result_tokens: 900}\n",
};

static void tell_context(struct wr_buf *out, const struct weir_session *session)
{
    struct weir_session_context c;
    weir_session_context((struct weir_session *)session, &c);
    wr_buf_printf(out, "\n%llu %llu %llu %llu %llu\n", (unsigned long long)c.window_tokens,
                  (unsigned long long)c.clear_at_tokens, (unsigned long long)c.summarise_at_tokens,
                  (unsigned long long)c.messages_count, (unsigned long long)c.messages_omitted);
}

static void work(struct test_agent *agent, struct wr_buf *bodies)
{
    char text[16384], id[32];
    for (int i = 0; i < ROUNDS; i++) {
        size_t len = 0;
        if (i % 3 == 0) {
            (void)snprintf(text, sizeof(text), "the task of round %d", i);
            test_agent_say(agent, text);
        }
        wr_buf_append(bodies, test_agent_request(agent, WEIR_DIALECT_CHAT));
        (void)snprintf(id, sizeof(id), "c%d", i);
        test_agent_call(agent, id, "Bash", "{\"command\":\"make\"}");
        for (int line = 0; line < 150; line++)
            len += (size_t)snprintf(text + len, sizeof(text) - len,
                                    "round %d, line %d: the gate holds the level\n", i, line);
        test_agent_result(agent, id, text);
        if (i % 3 == 2) {
            wr_buf_append(bodies, test_agent_request(agent, WEIR_DIALECT_CHAT));
            test_agent_answer(agent, "done");
        }
        tell_context(bodies, agent->session);
    }
}

/* Both run in the same directory, one after the other: its path stands in what they send. */
static void run_session(struct test_agent *agent, struct wr_buf *bodies, weir_span yaml,
                        const char *config, const char *policy)
{
    const struct weir_tool tools[] = {{WR_LIT("Bash"), WR_LIT(""), WR_LIT("")},
                                      {WR_LIT("weir_recall"), WR_LIT(""), WR_LIT("")}};
    char text[512];

    (void)snprintf(text, sizeof(text), config, policy);
    agent->now_ms = TEST_NOW_MS;
    assert_int_equal(weir_store_new_memory(0, &agent->store), WEIR_OK);
    struct weir_session_options options = {.dir = agent->dir,
                                           .config = wr_span_of(text),
                                           .policies = yaml,
                                           .store = agent->store,
                                           .now_ms = agent->now_ms};
    wr_buf_init(bodies, BODIES_BYTES_MAX);
    TEST_OK(agent, weir_session_open(&options, &agent->session, &agent->err));
    TEST_OK(agent, weir_session_set_tools(agent->session, tools, 2, &agent->err));
    work(agent, bodies);
    test_agent_close(agent);
    weir_store_close(agent->store);
    agent->store = NULL;
    (void)nftw(agent->dir, test_agent_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

static void a_session_does_the_same_with_a_copy(void **state)
{
    struct test_agent agent;
    (void)state;
    test_agent_init(&agent);
    weir_store_close(agent.store);
    for (uint32_t i = 0; i < wr_policy_count(); i++)
        for (size_t c = 0; c < WR_COUNT_OF(configs); c++) {
            const struct wr_policy *preset = wr_policy_at(i);
            struct wr_buf yaml, a, b;
            write_copy(&yaml, preset);
            run_session(&agent, &a, (weir_span){"", 0}, configs[c], preset->name);
            run_session(&agent, &b, wr_buf_view(&yaml), configs[c], copy_name);
            print_message("%s, settings %zu\n", preset->name, c);
            assert_same(preset->name, "requests", &a, &b);
            wr_buf_release(&a);
            wr_buf_release(&b);
            wr_buf_release(&yaml);
        }
    (void)nftw(agent.root, test_agent_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_projects_the_same),
        cmocka_unit_test(a_session_does_the_same_with_a_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
