/* Answers that call the proxy's own recall: what the client is shown, and what it is told when a
 * later leg goes wrong. tests/upstream/own_cases.py has whole sessions. */
#include <zlib.h>

#include "tests/test_service.h"

#define CHAT "/v1/chat/completions"
#define BODY                                                                                  \
    "{\"model\":\"gpt-4o\",%s\"tools\":[{\"type\":\"function\",\"function\":{\"name\":"       \
    "\"read_file\",\"parameters\":{\"type\":\"object\"}}}],\"messages\":[{\"role\":\"user\"," \
    "\"content\":\"Good morning.\"}]}"
#define RECALL                                                                     \
    "{\"id\":\"r1\",\"type\":\"function\",\"function\":{\"name\":\"weir_recall\"," \
    "\"arguments\":\"{\\\"handle\\\":\\\"wr_0123456789abcdef0123\\\"}\"}}"
#define CALLS                                                                                  \
    "{\"id\":\"a1\",\"object\":\"chat.completion\",\"model\":\"m\",\"choices\":[{\"index\":0," \
    "\"message\":{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[" RECALL "]},"       \
    "\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":10,"                      \
    "\"completion_tokens\":3,\"total_tokens\":13}}"
#define WORDS                                                                                   \
    "{\"id\":\"a2\",\"object\":\"chat.completion\",\"model\":\"m\",\"choices\":[{\"index\":0,"  \
    "\"message\":{\"role\":\"assistant\",\"content\":\"Found.\"},\"finish_reason\":\"stop\"}]," \
    "\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":4,\"total_tokens\":24}}"
#define STREAM "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nconnection: close\r\n\r\n"
#define CHUNK(id, delta, finish)                                                                   \
    "data: {\"id\":\"" id "\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{" \
    "\"index\":0,\"delta\":" delta ",\"finish_reason\":" finish "}]}\n\n"
#define CALLS_STREAM                                                               \
    STREAM CHUNK("a1", "{\"role\":\"assistant\",\"content\":null}", "null")        \
        CHUNK("a1",                                                                \
              "{\"tool_calls\":[{\"index\":0,\"id\":\"r1\",\"type\":\"function\"," \
              "\"function\":{\"name\":\"weir_recall\",\"arguments\":\"{}\"}}]}",   \
              "null") CHUNK("a1", "{}", "\"tool_calls\"") "data: [DONE]\n\n"
#define WORDS_STREAM                                                        \
    STREAM CHUNK("a2", "{\"role\":\"assistant\",\"content\":\"\"}", "null") \
        CHUNK("a2", "{\"content\":\"Found.\"}", "null")                     \
            CHUNK("a2", "{}", "\"stop\"") "data: [DONE]\n\n"
#define HALF_STREAM STREAM CHUNK("a2", "{\"content\":\"Fou\"}", "null")

static struct test_client *post(struct test_service *s, bool is_stream)
{
    char body[1024];
    (void)snprintf(body, sizeof(body), BODY, is_stream ? "\"stream\":true," : "");
    return test_client_post(s, CHAT, "", wr_span_of(body));
}

static void expect(const struct test_client *c, const char *behaviour, const char *has,
                   const char *lacks)
{
    if (has && !test_has(&c->got, has))
        fail_msg("%s: %s is not in %s", behaviour, has, test_text(&c->got));
    if (lacks && test_has(&c->got, lacks))
        fail_msg("%s: %s is in %s", behaviour, lacks, test_text(&c->got));
    if (test_has(&c->got, "weir_recall"))
        fail_msg("%s: our tool is shown: %s", behaviour, test_text(&c->got));
}

static void legs_make_one_answer(void **state)
{
    static const struct {
        const char *behaviour;
        bool is_stream;
        const char *first, *second;
        int status;
        const char *has, *lacks, *log;
    } cases[] = {
        {"two whole answers are one", false, TEST_WHOLE("200 OK", CALLS),
         TEST_WHOLE("200 OK", WORDS), 200, "\"completion_tokens\":7", "\"r1\"",
         "\"own_recall_leg\":1"},
        {"two streams are one", true, CALLS_STREAM, WORDS_STREAM, 200, "Found.", "\"a2\"",
         "\"own_recalls\":1"},
        {"a whole answer whose second leg is refused is an error", false,
         TEST_WHOLE("200 OK", CALLS), TEST_WHOLE("429 No", "{\"error\":{}}"), 502, "HTTP 429",
         "chat.completion", "own_recall_failed"},
        {"a stream whose second leg is refused ends with an error", true, CALLS_STREAM,
         TEST_WHOLE("500 No", "{\"error\":{}}"), 200, "HTTP 500", "[DONE]", "own_recall_failed"},
        {"one that breaks off is not called complete", true, CALLS_STREAM, HALF_STREAM, 200,
         "could not go on", "\"stop\"", "own_recall_failed"},
        {"a second leg that is no answer is told of", false, TEST_WHOLE("200 OK", CALLS),
         TEST_WHOLE("200 OK", "{\"what\":1}"), 502, "could not go on", "chat.completion",
         "own_recall_failed"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct test_service *s = test_service_new("");
        test_upstream_says(s, cases[i].first);
        test_upstream_says(s, cases[i].second);
        struct test_client *c = post(s, cases[i].is_stream);
        test_until(s, test_is_told(s, 2));
        test_until(s, c->got.len && (test_is_answered(c) || test_has(&c->got, "0\r\n\r\n")));
        assert_int_equal(test_status(c), cases[i].status);
        expect(c, cases[i].behaviour, cases[i].has, cases[i].lacks);
        if (!strstr(test_log(s), cases[i].log))
            fail_msg("%s: %s is not in %s", cases[i].behaviour, cases[i].log, test_log(s));
        assert_int_equal(s->asked_count, 2);
        assert_non_null(strstr(test_text(&s->asked[0]), "weir_recall"));
        assert_non_null(strstr(test_text(&s->asked[1]), "\"tool_call_id\":\"r1\""));
        test_service_free(s);
    }
}

/* It may hold calls of ours, and nobody could tell. */
static void an_answer_that_cannot_be_read_is_not_shown(void **state)
{
    struct test_service *s = test_service_new("");
    (void)state;
    test_upstream_says(s, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: "
                          "rot13\r\nconnection: close\r\n\r\n" CALLS);
    struct test_client *c = post(s, false);
    test_until(s, test_is_answered(c));
    assert_int_equal(test_status(c), 502);
    expect(c, "an answer in a coding that is not known", "\"error\"", "chat.completion");
    test_until(s, test_is_told(s, 1));
    test_service_free(s);
}

/* An answer in gzip, of which the last bytes do not come. */
static void say_coded(struct test_service *s, const char *type, const char *text, size_t cut_bytes)
{
    unsigned char coded[4096];
    char head[256];
    z_stream z = {.next_in = (Bytef *)(uintptr_t)text,
                  .avail_in = (uInt)strlen(text),
                  .next_out = coded,
                  .avail_out = sizeof(coded)};

    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    (void)deflateEnd(&z);
    assert_true(z.total_out > cut_bytes);
    (void)snprintf(head, sizeof(head),
                   "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Encoding: gzip\r\nconnection: "
                   "close\r\n\r\n",
                   type);
    test_send(s->asker, head);
    test_send_bytes(s->asker, (weir_span){(const char *)coded, z.total_out - cut_bytes});
    test_leave(s->asker);
}

static void what_a_coding_lacks_is_told(void **state)
{
    static const char chunks[] = CHUNK("a2", "{\"content\":\"Found.\"}", "null")
        CHUNK("a2", "{}", "\"stop\"") "data: [DONE]\n\n";
    enum { SUM = 8, MOST = 60 }; /* of gzip's end, and of what stands before */
    static const struct {
        const char *behaviour;
        bool is_stream;
        size_t cut_bytes;
        const char *has, *lacks;
    } cases[] = {
        {"a stream", true, 0, "[DONE]", "could not be shown"},
        {"a stream without the end of its coding", true, SUM, "[DONE]", "could not be shown"},
        {"a stream that is cut off", true, MOST, "could not be shown", "[DONE]"},
        {"a whole answer", false, 0, "Found.", "could not be shown"},
        {"a whole answer that is cut off", false, MOST, "could not be shown", "chat.completion"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct test_service *s = test_service_new("");
        test_upstream_says(s, NULL);
        struct test_client *c = post(s, cases[i].is_stream);
        test_until(s, s->asked_count == 1);
        say_coded(s, cases[i].is_stream ? "text/event-stream" : "application/json",
                  cases[i].is_stream ? chunks : WORDS, cases[i].cut_bytes);
        test_until(s, test_is_told(s, 1));
        test_until(s, c->got.len && (test_is_answered(c) || test_has(&c->got, "0\r\n\r\n")));
        expect(c, cases[i].behaviour, cases[i].has, cases[i].lacks);
        test_service_free(s);
    }
}

static void a_client_that_leaves_ends_all_legs(void **state)
{
    struct test_service *s = test_service_new("");
    (void)state;
    test_upstream_says(s, CALLS_STREAM);
    test_upstream_says(s, NULL);
    struct test_client *c = post(s, true);
    test_until(s, s->asked_count == 2);
    test_leave(c);
    test_until(s, test_is_told(s, 2));
    test_until(s, !s->asker);
    assert_non_null(strstr(test_log(s), "\"end\":\"client_gone\""));
    test_service_free(s);
}

static void a_model_that_only_recalls_is_stopped(void **state)
{
    struct test_service *s = test_service_new("");
    (void)state;
    for (size_t i = 0; i < 2 * WR_OWN_LEGS_MAX; i++)
        test_upstream_says(s, TEST_WHOLE("200 OK", CALLS));
    struct test_client *c = post(s, false);
    test_until(s, test_is_answered(c));
    assert_int_equal(test_status(c), 502);
    assert_int_equal(s->asked_count, WR_OWN_LEGS_MAX);
    assert_non_null(strstr(test_text(&s->asked[WR_OWN_LEGS_MAX - 1]), "more than 4 recalls"));
    test_until(s, test_is_told(s, WR_OWN_LEGS_MAX));
    test_service_free(s);
}

static void an_answer_without_a_call_passes_as_it_came(void **state)
{
    struct test_service *s = test_service_new("");
    (void)state;
    test_upstream_says(s, TEST_WHOLE("200 OK", WORDS));
    test_upstream_says(s, WORDS_STREAM);
    struct test_client *c = post(s, false);
    test_until(s, test_is_answered(c));
    assert_non_null(strstr(test_text(&c->got), WORDS));
    struct test_client *stream = post(s, true);
    test_until(s, test_has(&stream->got, "[DONE]"));
    expect(stream, "a stream", CHUNK("a2", "{\"content\":\"Found.\"}", "null"), NULL);
    test_until(s, test_is_told(s, 2));
    test_service_free(s);
}

#define RESPONSE(id, output)                                                               \
    "{\"id\":\"" id "\",\"object\":\"response\",\"status\":\"completed\",\"model\":\"m\"," \
    "\"output\":[" output "],\"usage\":{\"input_tokens\":1,\"output_tokens\":1,"           \
    "\"total_tokens\":2}}"

/* The client knows the answer by the id of its first leg, the provider by that of its last. */
static void an_answer_is_asked_for_by_the_providers_id(void **state)
{
    static const char *const lines[] = {"GET /v1/responses/resp_1", "DELETE /v1/responses/resp_1",
                                        "GET /v1/responses/resp_1/input_items?limit=2"};
    static const char *const asked[] = {"GET /v1/responses/resp_2 ", "DELETE /v1/responses/resp_2 ",
                                        "GET /v1/responses/resp_2/input_items?limit=2 "};
    struct test_service *s = test_service_new("");
    (void)state;
    test_upstream_says(
        s, TEST_WHOLE("200 OK", RESPONSE("resp_1", "{\"type\":\"reasoning\",\"id\":\"r\"},"
                                                   "{\"type\":\"function_call\",\"id\":\"f\","
                                                   "\"call_id\":\"c\",\"name\":\"weir_recall\","
                                                   "\"arguments\":\"{}\"}")));
    test_upstream_says(s, TEST_WHOLE("200 OK", RESPONSE("resp_2", "")));
    struct test_client *c = test_client_post(
        s, "/v1/responses", "",
        WR_LIT("{\"model\":\"gpt-5\",\"input\":\"Good morning.\",\"tools\":[{\"type\":"
               "\"function\",\"name\":\"read_file\",\"parameters\":{\"type\":\"object\"}}]}"));
    test_until(s, test_is_answered(c));
    expect(c, "the id", "resp_1", "resp_2");
    test_upstream_says(
        s,
        TEST_WHOLE("200 OK",
                   "{\"id\":\"resp_2\",\"object\":\"response\",\"output\":[{\"type\":\"message\","
                   "\"id\":\"m2\"}],\"tools\":[{\"type\":\"function\",\"name\":\"read_file\"},"
                   "{\"type\":\"function\",\"name\":\"weir_recall\"}]}"));
    struct test_client *whole = test_client_ask(s, "GET /v1/responses/resp_1", "");
    test_until(s, test_is_answered(whole));
    expect(
        whole, "the answer is what the client was shown",
        "{\"id\":\"resp_1\",\"object\":\"response\",\"output\":[{\"type\":\"reasoning\",\"id\":"
        "\"r\"},{\"type\":\"message\",\"id\":\"m2\"}],\"tools\":[{\"type\":\"function\",\"name\":"
        "\"read_file\"}]}",
        "resp_2");
    test_upstream_says(s, TEST_WHOLE("200 OK",
                                     "{\"object\":\"list\",\"data\":[{\"type\":\"message\",\"id\":"
                                     "\"m\"},{\"type\":\"function_call\",\"name\":\"weir_recall\","
                                     "\"call_id\":\"c\"},{\"type\":\"function_call_output\","
                                     "\"call_id\":\"c\"}]}"));
    struct test_client *items = test_client_ask(s, "GET /v1/responses/resp_1/input_items", "");
    test_until(s, test_is_answered(items));
    expect(items, "so are its input items",
           "{\"object\":\"list\",\"data\":[{\"type\":\"message\",\"id\":\"m\"}]}", "function_call");
    for (size_t i = 0; i < WR_COUNT_OF(lines); i++) {
        test_upstream_says(s, TEST_WHOLE("200 OK", "{}"));
        struct test_client *next = test_client_ask(s, lines[i], "");
        test_until(s, test_is_answered(next));
        if (!strstr(test_text(&s->asked[4 + i]), asked[i]))
            fail_msg("%s is not in %s", asked[i], test_text(&s->asked[4 + i]));
    }
    test_until(s, test_is_told(s, 7));
    test_service_free(s);
}

/* Servers spell the type of a stream in their own ways, or leave it out. */
static void a_stream_of_another_type_is_not_held(void **state)
{
    static const char *const heads[] = {"Content-Type: Text/Event-Stream\r\n",
                                        "Content-Type: application/octet-stream\r\n", ""};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(heads); i++) {
        struct test_service *s = test_service_new("");
        char says[1024];
        (void)snprintf(says, sizeof(says), "HTTP/1.1 200 OK\r\n%s\r\n%s", heads[i],
                       CHUNK("a2", "{\"content\":\"Found.\"}", "null"));
        test_upstream_says(s, says); /* and it does not end */
        struct test_client *c = post(s, true);
        test_until(s, test_has(&c->got, "Found."));
        test_leave(c);
        test_until(s, test_is_told(s, 1));
        test_service_free(s);
    }
}

#define OLLAMA_LINES(message)                                                        \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nconnection: close\r\n\r\n" \
    "{\"model\":\"m\",\"message\":{\"role\":\"assistant\"," message                  \
    "},\"done\":false}\n{\"model\":\"m\",\"message\":{\"role\":\"assistant\","       \
    "\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"eval_count\":3}\n"

static void lines_that_are_called_json_are_joined(void **state)
{
    struct test_service *s = test_service_new("");
    (void)state;
    test_upstream_says(s, OLLAMA_LINES("\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":"
                                       "\"weir_recall\",\"arguments\":{}}}]"));
    test_upstream_says(s, OLLAMA_LINES("\"content\":\"Found.\""));
    struct test_client *c = test_client_post(
        s, "/api/chat", "",
        WR_LIT("{\"model\":\"m\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":"
               "\"read_file\",\"parameters\":{\"type\":\"object\"}}}],\"messages\":[{\"role\":"
               "\"user\",\"content\":\"Good morning.\"}]}"));
    test_until(s, test_has(&c->got, "\"done\":true"));
    expect(c, "lines that are called JSON", "Found.", "tool_calls");
    assert_int_equal(s->asked_count, 2);
    test_until(s, test_is_told(s, 2));
    test_service_free(s);
}

/* The path is the connection's: a thread that looks the id up may run longer than that lives. */
static void a_client_that_leaves_while_an_id_is_sought(void **state)
{
    struct test_service *s = test_service_new("");
    (void)state;
    sqlite3 *db = test_hold_store(s);
    struct test_client *first = post(s, false);
    struct test_client *c = test_client_ask(s, "GET /v1/responses/resp_1", "");
    test_until(s, atomic_load(s->service.exchanges_open) == 2);
    test_leave(c);
    test_leave(first);
    for (size_t i = 0; i < 3; i++) /* both are seen to be gone */
        (void)uv_run(&s->loop, UV_RUN_NOWAIT);
    test_let_store_go(db);
    test_until(s, test_is_told(s, 2));
    test_service_free(s);
}

#define SHARED(model, first, more)                                                           \
    "{\"model\":\"" model "\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":"     \
    "\"read_file\",\"parameters\":{\"type\":\"object\"}}}]" more ",\"messages\":[{\"role\":" \
    "\"user\",\"content\":\"" first "\"}"
#define GOES_ON                                                                           \
    ",{\"role\":\"assistant\",\"content\":\"Yes.\"},{\"role\":\"user\",\"content\":\"Go " \
    "on.\"}]}"

/* Agents run several conversations under one session id. */
static void conversations_of_one_session_keep_their_tools(void **state)
{
    static const struct {
        const char *behaviour, *body;
        bool has_tool;
    } steps[] = {
        {"one begins", SHARED("gpt-4o", "One.", "") "]}", true},
        {"it goes on", SHARED("gpt-4o", "One.", "") GOES_ON, true},
        {"a second is known from its middle on", SHARED("gpt-4o", "Two.", "") GOES_ON, false},
        {"a third begins", SHARED("gpt-4o", "Three.", "") "]}", true},
        {"the second goes on", SHARED("gpt-4o", "Two.", "") GOES_ON, false},
        {"the first goes on", SHARED("gpt-4o", "One.", "") GOES_ON, true},
        {"the first may not call for once",
         SHARED("gpt-4o", "One.", ",\"tool_choice\":\"none\"") GOES_ON, true},
        {"one begins that may not call",
         SHARED("gpt-4o", "Four.", ",\"tool_choice\":\"none\"") "]}", false},
        {"and may then", SHARED("gpt-4o", "Four.", "") GOES_ON, false},
    };
    struct test_service *s = test_service_new("");
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(steps); i++) {
        test_upstream_says(s, TEST_WHOLE("200 OK", WORDS));
        struct test_client *c =
            test_client_post(s, CHAT, "session_id: one\r\n", wr_span_of(steps[i].body));
        test_until(s, test_is_answered(c));
        if (test_has(&s->asked[i], "weir_recall") != steps[i].has_tool)
            fail_msg("%s: %s", steps[i].behaviour, test_text(&s->asked[i]));
    }
    test_until(s, test_is_told(s, WR_COUNT_OF(steps)));
    test_service_free(s);
}

#define BLOCKS(more)                                                                         \
    "{\"model\":\"claude-sonnet-4-5\",\"max_tokens\":9,\"tools\":[{\"name\":\"read_file\","  \
    "\"input_schema\":{\"type\":\"object\"}}],\"messages\":[{\"role\":\"user\",\"content\":" \
    "\"One.\"}" more "]}"
#define BLOCKS_GO_ON                                                                        \
    BLOCKS(",{\"role\":\"assistant\",\"content\":\"Yes.\"},{\"role\":\"user\",\"content\":" \
           "\"Go on.\"}")

/* What is counted is what would be sent, but nobody has sent it. */
static void a_count_begins_no_session(void **state)
{
    static const struct {
        const char *behaviour, *path, *body;
        bool has_tool;
    } steps[] = {
        {"what would begin is counted with the tool", "/v1/messages/count_tokens", BLOCKS(""),
         true},
        {"what goes on had begun without", "/v1/messages", BLOCKS_GO_ON, false},
        {"and is counted so", "/v1/messages/count_tokens", BLOCKS_GO_ON, false},
    };
    struct test_service *s = test_service_new("");
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(steps); i++) {
        test_upstream_says(s, TEST_WHOLE("200 OK", "{\"input_tokens\":1}"));
        struct test_client *c =
            test_client_post(s, steps[i].path, "session_id: one\r\n", wr_span_of(steps[i].body));
        test_until(s, test_is_answered(c));
        if (test_has(&s->asked[i], "weir_recall") != steps[i].has_tool)
            fail_msg("%s: %s", steps[i].behaviour, test_text(&s->asked[i]));
    }
    test_until(s, test_is_told(s, WR_COUNT_OF(steps)));
    test_service_free(s);
}

/* The tools do not change in mid-session, not even to what they should have been. */
static void a_session_whose_first_request_was_late_has_no_tool(void **state)
{
    static const char *const bodies[] = {SHARED("gpt-4o", "One.", "") GOES_ON,
                                         SHARED("gpt-4o", "One.", "") "]}"};
    struct test_service *s = test_service_new("");
    (void)state;
    s->config->project_ms_max = 0;
    sqlite3 *held = test_hold_store(s);
    test_upstream_says(s, TEST_WHOLE("200 OK", WORDS));
    struct test_client *c = test_client_post(s, CHAT, "session_id: one\r\n", wr_span_of(bodies[1]));
    test_until(s, test_is_answered(c));
    test_let_store_go(held);
    test_until(s, test_is_told(s, 1));
    s->config->project_ms_max = TEST_PATIENCE_S * 1000;
    for (size_t i = 0; i < WR_COUNT_OF(bodies); i++) {
        test_upstream_says(s, TEST_WHOLE("200 OK", WORDS));
        c = test_client_post(s, CHAT, "session_id: one\r\n", wr_span_of(bodies[i]));
        test_until(s, test_is_answered(c));
        assert_false(test_has(&s->asked[1 + i], "weir_recall"));
    }
    test_until(s, test_is_told(s, 3));
    test_service_free(s);
}

#define GOES_ON_FROM(more)                                                          \
    "{\"model\":\"gpt-5\",\"previous_response_id\":\"resp_1\"," more "\"input\":[{" \
    "\"role\":\"user\",\"content\":\"Go on.\"}]}"
#define A_TOOL                                                                           \
    "\"tools\":[{\"type\":\"function\",\"name\":\"read_file\",\"parameters\":{\"type\":" \
    "\"object\"}}],"

/* The answer that the client knows ends with a call that nobody has answered there. */
static void a_chain_goes_on_from_the_last_leg(void **state)
{
    static const struct {
        const char *behaviour, *headers, *body;
        bool has_tool;
    } cases[] = {
        {"with tools", "", GOES_ON_FROM(A_TOOL), true},
        {"without tools", "", GOES_ON_FROM(""), false},
        {"with no calls allowed", "", GOES_ON_FROM(A_TOOL "\"tool_choice\":\"none\","), true},
        {"in the background", "", GOES_ON_FROM(A_TOOL "\"background\":true,"), false},
        {"where nothing else is changed", "x-weir-mode: exact\r\n", GOES_ON_FROM(A_TOOL), false},
    };
    struct test_service *s = test_service_new("");
    (void)state;
    test_upstream_says(
        s, TEST_WHOLE("200 OK", RESPONSE("resp_1", "{\"type\":\"function_call\",\"id\":\"f\","
                                                   "\"call_id\":\"c\",\"name\":\"weir_recall\","
                                                   "\"arguments\":\"{}\"}")));
    test_upstream_says(s, TEST_WHOLE("200 OK", RESPONSE("resp_2", "")));
    struct test_client *c = test_client_post(
        s, "/v1/responses", "",
        WR_LIT("{\"model\":\"gpt-5\",\"input\":\"Good morning.\"," A_TOOL "\"store\":true}"));
    test_until(s, test_is_answered(c));
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        test_upstream_says(s, TEST_WHOLE("200 OK", RESPONSE("resp_3", "")));
        struct test_client *next =
            test_client_post(s, "/v1/responses", cases[i].headers, wr_span_of(cases[i].body));
        test_until(s, test_is_answered(next));
        const char *asked = test_text(&s->asked[2 + i]);
        if (!strstr(asked, "\"previous_response_id\":\"resp_2\"") ||
            (strstr(asked, "weir_recall") != NULL) != cases[i].has_tool)
            fail_msg("%s: %s", cases[i].behaviour, asked);
        expect(next, cases[i].behaviour, "resp_3", NULL);
    }
    test_until(s, test_is_told(s, 2 + WR_COUNT_OF(cases)));
    test_service_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(legs_make_one_answer),
        cmocka_unit_test(an_answer_that_cannot_be_read_is_not_shown),
        cmocka_unit_test(what_a_coding_lacks_is_told),
        cmocka_unit_test(a_client_that_leaves_ends_all_legs),
        cmocka_unit_test(a_model_that_only_recalls_is_stopped),
        cmocka_unit_test(an_answer_without_a_call_passes_as_it_came),
        cmocka_unit_test(an_answer_is_asked_for_by_the_providers_id),
        cmocka_unit_test(a_stream_of_another_type_is_not_held),
        cmocka_unit_test(lines_that_are_called_json_are_joined),
        cmocka_unit_test(a_client_that_leaves_while_an_id_is_sought),
        cmocka_unit_test(conversations_of_one_session_keep_their_tools),
        cmocka_unit_test(a_count_begins_no_session),
        cmocka_unit_test(a_session_whose_first_request_was_late_has_no_tool),
        cmocka_unit_test(a_chain_goes_on_from_the_last_leg),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
