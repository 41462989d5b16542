#include "agent/client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/test_agent.h"
#include "tests/test_server.h"

/* ---- endpoint ---- */

static const char *const *variables; /* NAME, VALUE, ..., NULL */

static const char *get(const char *name)
{
    for (const char *const *at = variables; at && *at; at += 2)
        if (!strcmp(*at, name))
            return at[1];
    return NULL;
}

static void endpoints_are_found(void **state)
{
    static const struct {
        const char *behaviour;
        struct wr_endpoint_options options;
        const char *environment[5];
        const char *url;   /* NULL: refused */
        const char *error; /* what the refusal says */
    } cases[] = {
        {"a key of OpenAI's: Responses",
         {0},
         {"OPENAI_API_KEY", "k"},
         "https://api.openai.com/v1/responses",
         NULL},
        {"a key of Anthropic's: Messages",
         {0},
         {"ANTHROPIC_API_KEY", "k"},
         "https://api.anthropic.com/v1/messages",
         NULL},
        {"a Claude model with both keys",
         {.model = "claude-x"},
         {"OPENAI_API_KEY", "k", "ANTHROPIC_API_KEY", "k"},
         "https://api.anthropic.com/v1/messages",
         NULL},
        {"a base without a path has /v1",
         {.api = "messages"},
         {"ANTHROPIC_BASE_URL", "http://127.0.0.1:4141/"},
         "http://127.0.0.1:4141/v1/messages",
         NULL},
        {"a base with a path keeps it",
         {.base_url = "http://localhost:11434/v1"},
         {NULL},
         "http://localhost:11434/v1/chat/completions",
         NULL},
        {"a server in a private network needs no key",
         {.base_url = "http://192.168.1.7:8000"},
         {NULL},
         "http://192.168.1.7:8000/v1/chat/completions",
         NULL},
        {"a name that only looks like this machine does",
         {.base_url = "http://127.0.0.1.evil.example"},
         {NULL},
         NULL,
         "set OPENAI_API_KEY"},
        {"the command line comes before the environment",
         {.base_url = "http://127.0.0.1:1", .api = "responses"},
         {"OPENAI_BASE_URL", "http://x"},
         "http://127.0.0.1:1/v1/responses",
         NULL},
        {"a path that names the model",
         {.api = "gemini"},
         {"GEMINI_API_KEY", "k"},
         "https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse",
         NULL},
        {"the model's name says whom to ask",
         {.model = "gemini-3.8-flash"},
         {"GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1"},
         "http://127.0.0.1:1/v1beta/models/m:streamGenerateContent?alt=sse",
         NULL},
        {"no key for a provider", {0}, {NULL}, NULL, "set OPENAI_API_KEY"},
        {"an API that is none", {.api = "soap"}, {NULL}, NULL, "--api is chat"},
        {"an address that is none", {.base_url = "here"}, {NULL}, NULL, "is no address"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_endpoint endpoint;
        struct weir_err err = {0};
        struct wr_buf url;
        variables = cases[i].environment;
        wr_buf_init(&url, 4096);
        bool ok = !wr_endpoint_find(&endpoint, &cases[i].options, get, &err);
        if (ok)
            wr_endpoint_url(&endpoint, WR_LIT("{\"model\":\"models/m\"}"), &url);
        if (ok != (cases[i].url != NULL) || (ok && strcmp(url.bytes, cases[i].url)) ||
            (!ok && !strstr(err.text, cases[i].error)))
            fail_msg("%s: %s%s", cases[i].behaviour, ok ? url.bytes : "", err.text);
        wr_buf_release(&url);
    }
}

static void keys_go_where_each_api_wants_them(void **state)
{
    static const struct {
        weir_dialect dialect;
        const char *header, *value;
    } cases[] = {{WEIR_DIALECT_CHAT, "authorization", "Bearer k"},
                 {WEIR_DIALECT_MESSAGES, "x-api-key", "k"},
                 {WEIR_DIALECT_GEMINI, "x-goog-api-key", "k"}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_endpoint endpoint = {.api = wr_api_of(cases[i].dialect), .key = "k"};
        struct wr_header headers[WR_ENDPOINT_HEADERS_MAX];
        struct wr_buf text;
        bool found = false;
        wr_buf_init(&text, 4096);
        size_t count = wr_endpoint_headers(&endpoint, "s", &text, headers);
        for (size_t j = 0; j < count; j++)
            found |= wr_span_is(headers[j].name, cases[i].header) &&
                     wr_span_is(headers[j].value, cases[i].value);
        assert_true(found);
        wr_buf_release(&text);
    }
}

/* ---- client ---- */

struct bench {
    struct wr_client client;
    struct wr_endpoint endpoint;
    struct wr_buf pieces;
    uint64_t waited_s;
    char why[300];
};

static void on_piece(void *user, enum wr_piece kind, weir_span text)
{
    struct bench *b = user;
    if (kind == WR_PIECE_TEXT)
        wr_buf_append(&b->pieces, text);
}

static void on_wait(void *user, const char *why, uint64_t seconds)
{
    struct bench *b = user;
    b->waited_s += seconds;
    (void)snprintf(b->why, sizeof(b->why), "%s", why);
}

static void begin(struct bench *b, int port)
{
    struct weir_err err = {0};
    *b = (struct bench){.endpoint = {.api = &wr_api_chat, .is_local = true}};
    (void)snprintf(b->endpoint.base_url, sizeof(b->endpoint.base_url), "http://127.0.0.1:%d/v1",
                   port);
    wr_buf_init(&b->pieces, 100000);
    assert_int_equal(wr_client_init(&b->client, NULL, &err), WEIR_OK);
}

static void end(struct bench *b)
{
    wr_client_release(&b->client);
    wr_buf_release(&b->pieces);
}

static void ask(struct bench *b, struct wr_asked_result *result)
{
    struct wr_ask what = {.endpoint = &b->endpoint,
                          .session = "s",
                          .body = WR_LIT("{\"model\":\"m\",\"messages\":[]}"),
                          .on_piece = on_piece,
                          .on_wait = on_wait,
                          .user = b};
    wr_client_ask(&b->client, &what, result);
}

#define PLAIN(status, type, body) \
    "HTTP/1.1 " status "\r\ncontent-type: " type "\r\nconnection: close\r\n\r\n" body

static const struct {
    const char *behaviour;
    const char *answers[3];
    size_t count;
    enum wr_asked asked;
    int status;
    const char *pieces;
} rows[] = {
    {"a stream is shown as it comes", {TEST_CHAT("hello")}, 1, WR_ASKED_DONE, 200, "hello"},
    {"an answer at once is taken too",
     {PLAIN("200 OK", "application/json",
            "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"hi\"}}]}")},
     1,
     WR_ASKED_DONE,
     200,
     ""},
    {"a refusal is what the provider said",
     {PLAIN("400 Bad Request", "application/json", "{\"error\":{\"message\":\"no\"}}")},
     1,
     WR_ASKED_REFUSED,
     400,
     ""},
    {"a stream that breaks off is no answer",
     {TEST_STREAM "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hal\"}}]}\n\n"},
     1,
     WR_ASKED_BROKEN,
     200,
     "hal"},
    {"a busy provider is asked again",
     {"HTTP/1.1 503 Busy\r\nretry-after: 1\r\nconnection: close\r\n\r\n", TEST_CHAT("at last")},
     2,
     WR_ASKED_DONE,
     200,
     "at last"},
    {"one that wants to be asked tomorrow is not waited for",
     {"HTTP/1.1 429 Busy\r\nretry-after: 86400\r\nconnection: close\r\n\r\nlater"},
     1,
     WR_ASKED_REFUSED,
     429,
     ""},
};

static void answers_are_taken_for_what_they_are(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct test_server server = test_server_start(rows[i].answers, rows[i].count);
        struct wr_asked_result result;
        struct bench b;
        begin(&b, server.port);
        ask(&b, &result);
        if (result.asked != rows[i].asked || result.status != rows[i].status ||
            !wr_span_is(wr_buf_view(&b.pieces), rows[i].pieces))
            fail_msg("%s: asked %d, status %d, '%.*s', %s", rows[i].behaviour, result.asked,
                     result.status, (int)b.pieces.len, b.pieces.bytes, result.why);
        assert_int_equal(b.waited_s > 0, rows[i].count > 1);
        wr_asked_release(&result);
        end(&b);
        test_server_stop(&server);
    }
}

static void on_timer(uv_timer_t *timer)
{
    wr_client_interrupt(timer->data);
    uv_close((uv_handle_t *)timer, NULL);
}

static void an_interruption_ends_the_waiting(void **state)
{
    static const char *const nothing[] = {""};
    struct test_server server = test_server_start(nothing, 1);
    struct wr_asked_result result;
    uv_timer_t timer;
    struct bench b;
    (void)state;
    begin(&b, server.port);
    assert_int_equal(uv_timer_init(&b.client.loop, &timer), 0);
    timer.data = &b.client;
    assert_int_equal(uv_timer_start(&timer, on_timer, 50, 0), 0);
    ask(&b, &result);
    assert_int_equal(result.asked, WR_ASKED_INTERRUPTED);
    wr_asked_release(&result);
    end(&b);
    test_server_stop(&server);
}

/* Of llama.cpp the second path is answered; what says no or says nonsense is passed over. */
static void what_a_server_says_of_itself_is_read(void **state)
{
    static const char *const answers[] = {
        PLAIN("404 Not Found", "text/plain",
              "{\"models\":[{\"name\":\"m\",\"context_length\":1}]}"),
        PLAIN("200 OK", "application/json", "{\"default_generation_settings\":{\"n_ctx\":8192}}")};
    struct test_server server = test_server_start(answers, 2);
    struct bench b;
    (void)state;
    begin(&b, server.port);
    assert_int_equal(wr_local_window(&b.client, &b.endpoint, "m"), 8192);
    end(&b);
    test_server_stop(&server);
}

/* An agent that begins asks this first. */
static void a_server_that_hangs_tells_no_window(void **state)
{
    static const char *const nothing[] = {""};
    struct test_server server = test_server_start(nothing, 1);
    struct bench b;
    (void)state;
    begin(&b, server.port);
    (void)alarm(600); /* the end of a test that waits as long as for an answer */
    assert_int_equal(wr_local_window(&b.client, &b.endpoint, "m"), 0);
    (void)alarm(0);
    assert_false(b.client.is_interrupted);
    end(&b);
    test_server_stop(&server);
}

/* ---- a summary, asked for ---- */

struct summary_bench {
    struct test_agent agent;
    struct wr_client client;
    struct wr_endpoint endpoint;
    struct wr_summary_call call;
    struct weir_session_spent spent;
    struct weir_summary_task task;
};

static void begin_summary(struct summary_bench *b, int port)
{
    *b = (struct summary_bench){.endpoint = {.api = &wr_api_chat}};
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

static void end_summary(struct summary_bench *b)
{
    wr_summary_call_release(&b->call);
    wr_client_release(&b->client);
    test_agent_release(&b->agent);
}

static void the_model_writes_and_what_it_used_is_told(void **state)
{
    static const char *const answers[] = {TEST_CHAT("The weir was mended.")};
    struct test_server server = test_server_start(answers, 1);
    struct summary_bench b;
    weir_span text;
    (void)state;
    begin_summary(&b, server.port);
    assert_int_equal(wr_summary_call(&b.call, &b.task, &text), WEIR_OK);
    assert_true(wr_span_is(text, "The weir was mended."));
    assert_int_equal(b.spent.usage.input_tokens, 100);
    assert_int_equal(b.spent.usage.output_tokens, 7);
    assert_string_equal(b.spent.model, "gpt-5");
    end_summary(&b);
    test_server_stop(&server);
}

/* Nobody listens: whoever were asked would fail in another way. */
static void what_would_cost_too_much_is_not_asked_for(void **state)
{
    char *history = calloc(1, 1 << 20);
    struct summary_bench b;
    weir_span text;
    (void)state;
    assert_non_null(history);
    (void)memset(history, 'x', 1 << 20);
    begin_summary(&b, 1);
    b.task.history = (weir_span){history, 1 << 20};
    assert_int_equal(wr_summary_call(&b.call, &b.task, &text), WEIR_LIMIT);
    assert_int_equal(b.spent.usage.input_tokens, 0);
    end_summary(&b);
    free(history);
}

static void one_that_takes_too_long_is_given_up(void **state)
{
    static const char *const nothing[] = {""};
    struct test_server server = test_server_start(nothing, 1);
    struct summary_bench b;
    weir_span text;
    (void)state;
    begin_summary(&b, server.port);
    b.task.timeout_ms = 50;
    assert_int_equal(wr_summary_call(&b.call, &b.task, &text), WEIR_IO);
    end_summary(&b);
    test_server_stop(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(endpoints_are_found),
        cmocka_unit_test(keys_go_where_each_api_wants_them),
        cmocka_unit_test(answers_are_taken_for_what_they_are),
        cmocka_unit_test(an_interruption_ends_the_waiting),
        cmocka_unit_test(what_a_server_says_of_itself_is_read),
        cmocka_unit_test(a_server_that_hangs_tells_no_window),
        cmocka_unit_test(the_model_writes_and_what_it_used_is_told),
        cmocka_unit_test(what_would_cost_too_much_is_not_asked_for),
        cmocka_unit_test(one_that_takes_too_long_is_given_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
