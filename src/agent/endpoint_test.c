#include "agent/endpoint.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/span.h"

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

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(endpoints_are_found),
        cmocka_unit_test(keys_go_where_each_api_wants_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
