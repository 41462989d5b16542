#include "proxy/sidecar.h"

#include <sys/stat.h>

#include "base/span.h"
#include "json/json.h"
#include "tests/test_agent.h"

struct bench {
    struct test_agent files; /* its directory is the store's */
    struct wr_sidecar sidecar;
    struct wr_buf answer;
};

static int set_up(void **state)
{
    struct bench *b = calloc(1, sizeof(*b));
    assert_non_null(b);
    test_agent_init(&b->files);
    b->sidecar = (struct wr_sidecar){.dir = b->files.root};
    wr_buf_init(&b->answer, 1000000);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    wr_buf_release(&b->answer);
    test_agent_release(&b->files);
    free(b);
    return 0;
}

static int ask(struct bench *b, const char *tenant, const char *method, const char *path,
               const char *body)
{
    struct wr_sidecar_call call = {.tenant = wr_span_of(tenant),
                                   .method = wr_span_of(method),
                                   .path = wr_span_of(path),
                                   .body = wr_span_of(body),
                                   .now_ms = ++b->files.now_ms};
    struct wr_arena arena;
    struct wr_json doc;

    wr_buf_reset(&b->answer);
    int status = wr_sidecar_answer(&b->sidecar, &call, &b->answer);
    wr_arena_init(&arena, 10 * 1000 * 1000);
    if (wr_json_parse(&doc, &arena, wr_buf_view(&b->answer), NULL, NULL))
        fail_msg("%s %s: no JSON: %.*s", method, path, (int)b->answer.len, b->answer.bytes);
    wr_arena_release(&arena);
    return status;
}

static const char made[] = "{\"id\":\"a\",\"model\":\"gpt-4o-mini\",\"system\":\"Be brief.\"}";

#define SESSIONS "/weir/v1/sessions"

static void calls_are_dispatched(void **state)
{
    static const struct {
        const char *behaviour, *method, *path, *body;
        int status;
        const char *holds;
    } rows[] = {
        {"a session is created", "POST", SESSIONS, made, 201, "\"id\":\"a\""},
        {"not twice", "POST", SESSIONS, made, 409, "append to it"},
        {"it is in the list", "GET", SESSIONS, "", 200, "[\"a\"]"},
        {"words go in", "POST", SESSIONS "/a/events",
         "{\"events\":[{\"kind\":\"user\",\"text\":\"Hi\"}]}", 200, "\"appended\":1"},
        {"the next request comes out", "POST", SESSIONS "/a/render", "{\"dialect\":\"chat\"}", 200,
         "\"content\":\"Be brief.\""},
        {"but in a dialect that there is", "POST", SESSIONS "/a/render", "{\"dialect\":\"tall\"}",
         400, "is chat, responses, messages, gemini, ollama or converse"},
        {"and so is an answer's body", "POST", SESSIONS "/a/events",
         "{\"events\":[{\"kind\":\"assistant\",\"dialect\":\"tall\",\"body\":{}}]}", 400,
         "is chat, responses, messages, gemini, ollama or converse"},
        {"calls of an answer wait", "POST", SESSIONS "/a/events",
         "{\"events\":[{\"kind\":\"assistant\",\"calls\":[{\"id\":\"c\",\"name\":\"f\","
         "\"arguments\":\"{}\"}]}]}",
         200, "\"pending\":[{\"id\":\"c\",\"name\":\"f\",\"arguments\":\"{}\"}]"},
        {"a request meanwhile is refused", "POST", SESSIONS "/a/render", "{\"dialect\":\"chat\"}",
         400, "error"},
        {"their results end that", "POST", SESSIONS "/a/events",
         "{\"events\":[{\"kind\":\"result\",\"call_id\":\"c\",\"text\":\"x\"}]}", 200,
         "\"pending\":[]"},
        {"what fills the window", "GET", SESSIONS "/a/context", "", 200, "\"results_tokens\":"},
        {"an id that leads elsewhere", "POST", SESSIONS "/../render", "{}", 404, "nothing at"},
        {"nor spelled otherwise", "POST", SESSIONS "/%2e%2e/render", "{}", 404, "nothing at"},
        {"a path of no verb", "GET", SESSIONS "/a", "", 404, "nothing at"},
        {"a window larger than any", "POST", SESSIONS,
         "{\"id\":\"w\",\"model\":\"m\",\"window_tokens\":4294967297}", 400, "larger than any"},
        {"nor by an event", "POST", SESSIONS "/a/events",
         "{\"events\":[{\"kind\":\"model\",\"model\":\"m\",\"window_tokens\":4294967297}]}", 400,
         "larger than any"},
        {"a long kind is cut between characters", "POST", SESSIONS "/a/events",
         "{\"events\":[{\"kind\":\"dance \xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4"
         "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4"
         "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4"
         "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4"
         "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4"
         "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4"
         "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4"
         "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\"}]}",
         400, "; 0 before it were appended"},
    };
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        int status = ask(*state, "local", rows[i].method, rows[i].path, rows[i].body);
        struct bench *b = *state;
        if (status != rows[i].status || !test_has(wr_buf_view(&b->answer), rows[i].holds))
            fail_msg("%s: %d %.*s", rows[i].behaviour, status, (int)b->answer.len, b->answer.bytes);
    }
}

static void each_kind_of_event_goes_in(void **state)
{
    static const struct {
        const char *behaviour, *method, *path, *body;
        int status;
        const char *holds;
    } rows[] = {
        {"a session", "POST", SESSIONS, made, 201, "{\"id\":\"a\",\"model\":\"gpt-4o-mini\"}"},
        {"another prompt", "POST", SESSIONS "/a/events",
         "{\"events\":[{\"kind\":\"system\",\"text\":\"Be long.\"},{\"kind\":\"user\",\"text\":"
         "\"Go.\"}]}",
         200, "\"appended\":2"},
        {"a word beside", "POST", SESSIONS "/a/events",
         "{\"events\":[{\"kind\":\"steer\",\"text\":\"And look there.\"}]}", 200, "\"appended\":1"},
        {"a note", "POST", SESSIONS "/a/events",
         "{\"events\":[{\"kind\":\"note\",\"text\":\"of the host\"}]}", 200, "\"appended\":1"},
        {"are in the request", "POST", SESSIONS "/a/render", "{\"dialect\":\"chat\"}", 200,
         "Go.\\n\\nAnd look there."},
        {"an answer as it came", "POST", SESSIONS "/a/events",
         "{\"events\":[{\"kind\":\"assistant\",\"dialect\":\"chat\",\"body\":{\"choices\":[{"
         "\"message\":"
         "{\"role\":\"assistant\",\"content\":\"As you say.\"}}]}}]}",
         200, "\"appended\":1"},
        {"is in the next", "POST", SESSIONS "/a/events",
         "{\"events\":[{\"kind\":\"user\",\"text\":\"Go on.\"}]}", 200, "\"appended\":1"},
        {"as it was said", "POST", SESSIONS "/a/render", "{\"dialect\":\"messages\"}", 200,
         "As you say."},
        {"what it cost", "POST", SESSIONS "/a/events",
         "{\"events\":[{\"kind\":\"usage\",\"input_tokens\":1000,\"cache_read_tokens\":200,"
         "\"cache_write_tokens\":30,\"output_tokens\":4}]}",
         200, "\"appended\":1"},
        {"is told", "GET", SESSIONS "/a/context", "", 200, "\"last_input_tokens\":1230,"},
        {"another model", "POST", SESSIONS "/a/events",
         "{\"events\":[{\"kind\":\"model\",\"model\":\"gpt-4o\",\"window_tokens\":50000}]}", 200,
         "\"appended\":1"},
        {"has its window", "GET", SESSIONS "/a/context", "", 200, "\"window_tokens\":50000,"},
        {"a model without a name", "POST", SESSIONS "/a/events",
         "{\"events\":[{\"kind\":\"model\"}]}", 400, "model is missing"},
        {"a refusal", "POST", SESSIONS "/a/events",
         "{\"events\":[{\"kind\":\"refused\",\"body\":{\"error\":{\"message\":\"too long\"}}}]}",
         200, "\"appended\":1"},
        {"one that says nothing", "POST", SESSIONS "/a/events",
         "{\"events\":[{\"kind\":\"refused\"}]}", 200, "\"appended\":1"},
        {"an end", "POST", SESSIONS "/a/events",
         "{\"events\":[{\"kind\":\"abort\",\"text\":\"enough\"}]}", 200, "\"appended\":1"},
        {"no kind", "POST", SESSIONS "/a/events", "{\"events\":[{\"kind\":\"\"}]}", 400,
         "'' is no kind of event"},
        {"a member that it lacks", "POST", SESSIONS "/a/events",
         "{\"events\":[{\"kind\":\"user\",\"text\":\"x\"},{\"kind\":\"user\",\"txet\":\"x\"}]}",
         400, "an event has no \\\"txet\\\"; 1 before it were appended"},
        {"no list", "POST", SESSIONS "/a/events", "{}", 400, "\\\"events\\\" is missing"},
        {"nor another thing", "POST", SESSIONS "/a/events", "{\"events\":{}}", 400,
         "\\\"events\\\" is missing"},
        {"a summary", "POST", SESSIONS "/a/compact", "", 200, "{\"is_taken\":"},
        {"takes no words", "POST", SESSIONS "/a/compact", "{\"x\":1}", 400,
         "there is no member \\\"x\\\" here: the body is empty"},
        {"a body that is none", "POST", SESSIONS "/a/events", "[", 400,
         "the body is no JSON object: "},
        {"nor a list", "POST", SESSIONS "/a/events", "[]", 400, "the body is no JSON object: "},
        {"a session that is not there", "GET", SESSIONS "/b/context", "", 404, "error"},
        {"a member of none", "POST", SESSIONS, "{\"id\":\"b\",\"modle\":\"m\"}", 400,
         "there is no member \\\"modle\\\" here: id "},
        {"part of a member's name", "POST", SESSIONS, "{\"i\":\"b\"}", 400, "no member \\\"i\\\""},
        {"an id of our own", "POST", SESSIONS, "{\"model\":\"gpt-5\"}", 201, "{\"id\":\""},
        {"one with a way out", "POST", SESSIONS, "{\"id\":\"..\",\"model\":\"m\"}", 400,
         "128 at most"},
        {"one that is too long", "POST", SESSIONS,
         "{\"id\":"
         "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"model\":\"m\"}",
         400, "128 at most"},
        {"one that is not", "POST", SESSIONS,
         "{\"id\":"
         "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"model\":\"m\"}",
         201, "{\"id\":\"aaaa"},
        {"with a window", "POST", SESSIONS,
         "{\"id\":\"w\",\"model\":\"gpt-5\",\"window_tokens\":9000}", 201, "{\"id\":\"w\""},
        {"of its own", "GET", SESSIONS "/w/context", "", 200, "\"window_tokens\":9000,"},
        {"the longest there is", "POST", SESSIONS,
         "{\"id\":\"l\",\"model\":\"m\",\"window_tokens\":4294967296}", 400, "larger than any"},
        {"with tools", "POST", SESSIONS,
         "{\"id\":\"t\",\"model\":\"gpt-5\",\"tools\":[{\"name\":\"f\",\"description\":\"does it\","
         "\"schema\":{\"type\":\"object\"}}]}",
         201, "{\"id\":\"t\""},
        {"which are offered", "POST", SESSIONS "/t/events",
         "{\"events\":[{\"kind\":\"user\",\"text\":\"Hi\"}]}", 200, "\"pending\":[]"},
        {"with what they do", "POST", SESSIONS "/t/render", "{\"dialect\":\"chat\"}", 200,
         "\"does it\""},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        int status = ask(*state, "local", rows[i].method, rows[i].path, rows[i].body);
        struct bench *b = *state;
        if (status != rows[i].status || !test_has(wr_buf_view(&b->answer), rows[i].holds))
            fail_msg("%s: %d %.*s", rows[i].behaviour, status, (int)b->answer.len, b->answer.bytes);
    }
}

/* A create that is refused leaves the session as it was: model, prompt and journal. */
static void a_session_that_is_there_is_not_changed(void **state)
{
    struct bench *b = *state;
    char path[256];
    struct stat before, after;

    assert_int_equal(ask(b, "local", "POST", SESSIONS, made), 201);
    (void)snprintf(path, sizeof(path), "%s/sessions/a/events.jsonl", b->files.root);
    assert_int_equal(stat(path, &before), 0);
    assert_int_equal(ask(b, "local", "POST", SESSIONS,
                         "{\"id\":\"a\",\"model\":\"gpt-5\",\"system\":\"Be long.\"}"),
                     409);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(after.st_size, before.st_size);
}

/* So that it can be created again, rightly. */
static void tools_that_are_wrong_leave_no_session(void **state)
{
    struct bench *b = *state;

    assert_int_equal(ask(b, "local", "POST", SESSIONS,
                         "{\"id\":\"t\",\"model\":\"gpt-5\",\"system\":\"x\","
                         "\"tools\":[{\"name\":\"f\",\"schema\":7}]}"),
                     400);
    assert_int_equal(ask(b, "local", "POST", SESSIONS, "{\"id\":\"t\",\"model\":\"gpt-5\"}"), 201);
}

/* 429 is the answer of a run that has reached a limit, and never of the session for good. */
static void new_words_begin_a_run(void **state)
{
    static const char words[] = "{\"events\":[{\"kind\":\"user\",\"text\":\"Hi\"}]}";
    static const char answer[] = "{\"events\":[{\"kind\":\"assistant\",\"text\":\"Ho\"}]}";
    struct bench *b = *state;

    assert_int_equal(ask(b, "local", "POST", SESSIONS, made), 201);
    for (int hour = 0; hour < 3; hour++) {
        b->files.now_ms += 60 * 60 * 1000;
        assert_int_equal(ask(b, "local", "POST", SESSIONS "/a/events", words), 200);
        b->files.now_ms += 31 * 60 * 1000;
        assert_int_equal(ask(b, "local", "POST", SESSIONS "/a/render", "{\"dialect\":\"chat\"}"),
                         429);
        assert_int_equal(ask(b, "local", "POST", SESSIONS "/a/events", words), 200);
        assert_int_equal(ask(b, "local", "POST", SESSIONS "/a/render", "{\"dialect\":\"chat\"}"),
                         200);
        assert_int_equal(ask(b, "local", "POST", SESSIONS "/a/events", answer), 200);
    }
}

static void tenants_have_their_own(void **state)
{
    struct bench *b = *state;

    assert_int_equal(ask(b, "alpha", "POST", SESSIONS, made), 201);
    assert_int_equal(ask(b, "beta", "GET", SESSIONS "/a/context", ""), 404);
    assert_int_equal(ask(b, "local", "GET", SESSIONS "/a/context", ""), 404);
    assert_int_equal(ask(b, "alpha", "GET", SESSIONS "/a/context", ""), 200);
    assert_int_equal(ask(b, "../local", "GET", SESSIONS, ""), 400);
    assert_int_equal(ask(b, "", "GET", SESSIONS, ""), 400);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(calls_are_dispatched, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_kind_of_event_goes_in, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_session_that_is_there_is_not_changed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tools_that_are_wrong_leave_no_session, set_up, tear_down),
        cmocka_unit_test_setup_teardown(new_words_begin_a_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tenants_have_their_own, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
