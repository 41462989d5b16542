/* Sessions held to what two systems publish of themselves (../shared/fixtures, where it is there):
 * the actor's limits, the thresholds, and a recorded session that reads one file in pages. */
#include "tests/test_agent.h"

#include "base/limits.h"
#include "tests/test_file.h"
#include "api/lawful.h"
#include "api/api.h"

struct fixture {
    struct wr_buf text;
    struct wr_arena arena;
    struct wr_json doc;
};

static void open_fixture(struct fixture *f, const char *path)
{
    wr_buf_init(&f->text, 1 << 24);
    wr_arena_init(&f->arena, WR_ARENA_BYTES_MAX);
    if (!wr_test_file(path, &f->text)) {
        wr_buf_release(&f->text);
        skip();
    }
    assert_int_equal(wr_json_parse(&f->doc, &f->arena, wr_buf_view(&f->text), NULL, NULL), WEIR_OK);
}

static void close_fixture(struct fixture *f)
{
    wr_arena_release(&f->arena);
    wr_buf_release(&f->text);
}

static uint64_t number(const struct fixture *f, wr_json_id object, const char *key)
{
    int64_t value = 0;
    wr_json_id id = wr_json_find(&f->doc, object, key);
    return id != WR_JSON_NONE && wr_json_i64(&f->doc, id, &value) ? (uint64_t)value : 0;
}

static struct weir_session_context context_of(uint64_t window_tokens, const char *policy)
{
    struct weir_session_context context;
    struct test_agent agent;
    char yaml[128];

    (void)snprintf(yaml, sizeof(yaml),
                   "model: {name: m, max_input_tokens: %llu}\nsession: {policy: %s}\n",
                   (unsigned long long)window_tokens, policy);
    test_agent_init(&agent);
    test_agent_open(&agent, yaml);
    weir_session_context(agent.session, &context);
    test_agent_release(&agent);
    return context;
}

static void the_actors_limits_are_the_published_ones(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f, "../shared/fixtures/duragent.json");
    wr_json_id list = wr_json_find(&f.doc, 0, "actor_message_limit");
    assert_true(wr_json_count(&f.doc, list) > 0);
    for (wr_json_id id = wr_json_first(&f.doc, list); id != WR_JSON_NONE;
         id = wr_json_next(&f.doc, list, id))
        assert_int_equal(context_of(number(&f, id, "max_input_tokens"), "layers").messages_max,
                         number(&f, id, "limit"));
    close_fixture(&f);
}

static void the_thresholds_are_the_published_ones(void **state)
{
    static const char *const names[] = {"clear_trigger", "summarize_trigger"};
    struct fixture f;
    (void)state;
    open_fixture(&f, "../shared/fixtures/jutul.json");
    for (size_t n = 0; n < 2; n++) {
        wr_json_id list = wr_json_find(&f.doc, 0, names[n]);
        assert_true(wr_json_count(&f.doc, list) > 0);
        for (wr_json_id id = wr_json_first(&f.doc, list); id != WR_JSON_NONE;
             id = wr_json_next(&f.doc, list, id)) {
            uint64_t window = number(&f, id, "window");
            if (!window)
                continue; /* a session always has one */
            struct weir_session_context context = context_of(window, "tiered");
            assert_int_equal(n ? context.summarise_at_tokens : context.clear_at_tokens,
                             number(&f, id, "trigger"));
        }
    }
    close_fixture(&f);
}

/* ---- a recorded session ---- */

static void check_lawful(weir_span body, weir_dialect dialect)
{
    struct wr_api_options options = {.dialect = weir_dialect_name(dialect)};
    struct wr_breaches breaches = {0};
    struct wr_transcript t;
    struct wr_arena arena;
    struct wr_json doc;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_json_parse(&doc, &arena, body, NULL, NULL), WEIR_OK);
    assert_int_equal(wr_api_read(&t, &arena, &doc, &options, NULL), WEIR_OK);
    assert_int_equal(wr_lawful_check(&t, &arena, &breaches), WEIR_OK);
    assert_int_equal(breaches.count, 0);
    wr_arena_release(&arena);
}

static void request_everywhere(struct test_agent *agent)
{
    for (int d = WEIR_DIALECT_CHAT; d <= WEIR_DIALECT_CONVERSE; d++)
        check_lawful(test_agent_request(agent, (weir_dialect)d), (weir_dialect)d);
}

static void play_answer(struct test_agent *agent, struct fixture *f, wr_json_id content)
{
    weir_span items[16];
    struct weir_answer answer = {.dialect = WEIR_DIALECT_MESSAGES, .items = items};

    if (wr_json_is(&f->doc, content, WR_JSON_STRING))
        answer.text = wr_json_text(&f->doc, &f->arena, content);
    else
        for (wr_json_id block = wr_json_first(&f->doc, content); block != WR_JSON_NONE;
             block = wr_json_next(&f->doc, content, block))
            items[answer.items_count++] = wr_json_raw(&f->doc, block);
    TEST_OK(agent, weir_session_answer(agent->session, &answer, ++agent->now_ms, &agent->err));
}

static void a_recorded_session_is_played(void **state)
{
    struct test_agent agent;
    struct fixture f;
    (void)state;
    open_fixture(&f, "../shared/fixtures/deepagents-messages.json");
    test_agent_init(&agent);
    test_agent_open(&agent, "model: {name: claude-sonnet-4-5}\nsession: {policy: tiered}\n");
    for (wr_json_id m = wr_json_first(&f.doc, 0); m != WR_JSON_NONE;
         m = wr_json_next(&f.doc, 0, m)) {
        wr_json_id kwargs = wr_json_find(&f.doc, m, "kwargs");
        wr_json_id content = wr_json_find(&f.doc, kwargs, "content");
        wr_json_id call_id = wr_json_find(&f.doc, kwargs, "tool_call_id");
        if (call_id != WR_JSON_NONE) {
            TEST_OK(&agent,
                    weir_session_result(agent.session, wr_json_text(&f.doc, &f.arena, call_id),
                                        wr_json_text(&f.doc, &f.arena, content), false,
                                        ++agent.now_ms, &agent.err));
        } else if (wr_json_text_is(&f.doc, wr_json_find(&f.doc, kwargs, "type"), "human")) {
            TEST_OK(&agent, weir_session_say(agent.session, wr_json_text(&f.doc, &f.arena, content),
                                             ++agent.now_ms, &agent.err));
        } else {
            request_everywhere(&agent);
            play_answer(&agent, &f, content);
        }
    }
    test_agent_say(&agent, "and now?");
    request_everywhere(&agent);
    /* Blocks go back as they came, what nobody here knows of them included. */
    assert_has(test_agent_request(&agent, WEIR_DIALECT_MESSAGES), "\"caller\"");
    test_agent_release(&agent);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_actors_limits_are_the_published_ones),
        cmocka_unit_test(the_thresholds_are_the_published_ones),
        cmocka_unit_test(a_recorded_session_is_played),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
