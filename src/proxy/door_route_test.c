#include "proxy/door.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

static const struct {
    const char *behaviour, *method, *target, *url;
    const struct wr_api *api;
    bool is_answer;
} cases[] = {
    {"chat goes to openai, /v1 once", "POST", "/v1/chat/completions",
     "https://api.openai.com/v1/chat/completions", &wr_api_chat, true},
    {"responses too", "POST", "/v1/responses", "https://api.openai.com/v1/responses",
     &wr_api_responses, true},
    {"compaction is projected", "POST", "/v1/responses/compact",
     "https://api.openai.com/v1/responses/compact", &wr_api_responses, true},
    {"a count is projected, but its answer is no model's", "POST", "/v1/responses/input_tokens",
     "https://api.openai.com/v1/responses/input_tokens", &wr_api_responses, false},
    {"messages go to anthropic with their query", "POST", "/v1/messages?beta=true",
     "https://api.anthropic.com/v1/messages?beta=true", &wr_api_messages, true},
    {"so do their counts", "POST", "/v1/messages/count_tokens",
     "https://api.anthropic.com/v1/messages/count_tokens", &wr_api_messages, false},
    {"batches pass", "POST", "/v1/messages/batches",
     "https://api.anthropic.com/v1/messages/batches", NULL, false},
    {"a GET passes", "GET", "/v1/responses/resp_1", "https://api.openai.com/v1/responses/resp_1",
     NULL, false},
    {"a path that only ends like one passes by method", "GET", "/v1/chat/completions",
     "https://api.openai.com/v1/chat/completions", NULL, false},
    {"a name in front chooses", "POST", "/anthropic/v1/messages",
     "https://api.anthropic.com/v1/messages", &wr_api_messages, true},
    {"and need not say /v1", "POST", "/openai/responses", "https://api.openai.com/v1/responses",
     &wr_api_responses, true},
    {"/p/ too", "POST", "/p/local/v1/chat/completions",
     "http://127.0.0.1:11434/v1/chat/completions", &wr_api_chat, true},
    {"Codex's own backend by its path", "POST", "/backend-api/codex/responses",
     "https://chatgpt.com/backend-api/codex/responses", &wr_api_responses, true},
    {"and what it asks beside the model", "GET", "/backend-api/wham/accounts/check?x=1",
     "https://chatgpt.com/backend-api/wham/accounts/check?x=1", NULL, false},
    {"or by name", "GET", "/chatgpt/models?client_version=1",
     "https://chatgpt.com/backend-api/codex/models?client_version=1", NULL, false},
    {"an unknown name goes nowhere", "GET", "/p/nobody/x", NULL, NULL, false},
    {"whatever it asks for", "POST", "/p/Local/v1/messages", NULL, &wr_api_messages, true},
    {"nor does no name", "GET", "/p/", NULL, NULL, false},
    {"/p alone is a path", "GET", "/p", "https://api.openai.com/v1/p", NULL, false},
    {"Gemini's API, by name", "POST", "/gemini/v1beta/models/m:generateContent",
     "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent", &wr_api_gemini,
     true},
    {"and by its path", "POST", "/v1beta/models/m:streamGenerateContent?alt=sse",
     "https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse",
     &wr_api_gemini, true},
    {"where tokens are counted no model answers", "POST", "/v1beta/models/m:countTokens",
     "https://generativelanguage.googleapis.com/v1beta/models/m:countTokens", &wr_api_gemini,
     false},
    {"its models pass", "GET", "/v1beta/models",
     "https://generativelanguage.googleapis.com/v1beta/models", NULL, false},
    {"gemini-cli's own backend", "POST", "/v1internal:streamGenerateContent?alt=sse",
     "https://cloudcode-pa.googleapis.com/v1internal:streamGenerateContent?alt=sse", &wr_api_gemini,
     true},
    {"and what it asks beside the model", "POST", "/v1internal:loadCodeAssist",
     "https://cloudcode-pa.googleapis.com/v1internal:loadCodeAssist", NULL, false},
    {"another version takes the place of the base's", "GET", "/v2/x", "https://api.openai.com/v2/x",
     NULL, false},
    {"/v1- is no version", "GET", "/v1-x", "https://api.openai.com/v1/v1-x", NULL, false},
};

static void check(const struct wr_config *config, size_t i, const char *url)
{
    struct wr_head head = {.method = wr_span_of(cases[i].method)};
    struct wr_route route = wr_route_find(config, &head, wr_span_of(cases[i].target));
    struct wr_buf out;

    if (!route.upstream != !url)
        fail_msg("%s: %s", cases[i].behaviour, route.upstream ? route.upstream->name : "nowhere");
    if (!url)
        return;
    wr_buf_init(&out, 4096);
    wr_route_url(&route, &out);
    if (strcmp(out.bytes, url) || route.api != cases[i].api ||
        route.is_answer != cases[i].is_answer)
        fail_msg("%s: %s", cases[i].behaviour, out.bytes);
    wr_buf_release(&out);
}

static void paths_find_their_upstream(void **state)
{
    struct wr_config *config = wr_config_new();
    (void)state;
    assert_non_null(config);
    assert_int_equal(wr_config_read(config,
                                    WR_LIT("upstreams:\n  local:\n    base_url: "
                                           "http://127.0.0.1:11434/v1/\n"),
                                    NULL),
                     WEIR_OK);
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        check(config, i, cases[i].url);
    wr_config_free(config);
}

static void one_upstream_has_all_paths(void **state)
{
    struct wr_config *config = wr_config_new();
    struct wr_head head = {.method = WR_LIT("POST")};
    struct wr_buf out;
    (void)state;
    assert_non_null(config);
    assert_int_equal(wr_config_set_upstream(config, "http://h:1/", NULL), WEIR_OK);
    struct wr_route route = wr_route_find(config, &head, WR_LIT("/v1/messages"));
    wr_buf_init(&out, 4096);
    wr_route_url(&route, &out);
    assert_string_equal(out.bytes, "http://h:1/v1/messages");
    wr_buf_release(&out);
    wr_config_free(config);
}

static void a_chatgpt_account_chooses_its_backend(void **state)
{
    struct wr_config *config = wr_config_new();
    struct wr_head head = {.method = WR_LIT("POST"), .headers_count = 1};
    struct wr_buf out;
    (void)state;
    assert_non_null(config);
    head.headers[0] = (struct wr_header){WR_LIT("ChatGPT-Account-ID"), WR_LIT("a")};
    struct wr_route route = wr_route_find(config, &head, WR_LIT("/v1/responses"));
    wr_buf_init(&out, 4096);
    wr_route_url(&route, &out);
    assert_string_equal(out.bytes, "https://chatgpt.com/backend-api/codex/responses");
    assert_int_equal(route.api, &wr_api_responses);
    wr_buf_release(&out);
    wr_config_free(config);
}

static void a_version_header_chooses_anthropic(void **state)
{
    struct wr_config *config = wr_config_new();
    struct wr_head head = {.method = WR_LIT("GET"), .headers_count = 1};
    (void)state;
    head.headers[0] = (struct wr_header){WR_LIT("anthropic-version"), WR_LIT("2023-06-01")};
    struct wr_route route = wr_route_find(config, &head, WR_LIT("/v1/models"));
    assert_string_equal(route.upstream->name, "anthropic");
    wr_config_free(config);
}

static void a_credential_goes_to_its_provider_or_nowhere(void **state)
{
    static const struct {
        const char *behaviour, *yaml, *header, *value, *target, *url; /* NULL: nowhere */
    } rows[] = {
        {"Azure's key where there is no Azure", "", "api-key", "k", "/v1/chat/completions", NULL},
        {"even under OpenAI's name", "", "api-key", "k", "/openai/deployments/d/chat/completions",
         NULL},
        {"or called for by name", "", "api-key", "k", "/p/openai/v1/chat/completions", NULL},
        {"with Azure there it goes there, whole", "upstreams: {azure: {base_url: \"http://z\"}}\n",
         "api-key", "k", "/openai/deployments/d/chat/completions?api-version=1",
         "http://z/openai/deployments/d/chat/completions?api-version=1"},
        {"but not where the path names another", "upstreams: {azure: {base_url: \"http://z\"}}\n",
         "api-key", "k", "/p/openai/v1/responses", NULL},
        {"under its host too", "upstreams: {mine: {base_url: \"https://a.openai.azure.com\"}}\n",
         "api-key", "k", "/openai/v1/responses", "https://a.openai.azure.com/openai/v1/responses"},
        {"the user's own upstream, by name", "upstreams: {mine: {base_url: \"http://m\"}}\n",
         "api-key", "k", "/p/mine/v1/responses", "http://m/v1/responses"},
        {"a login of Google's, by the path", "", "Authorization", "Bearer ya29.x",
         "/v1beta/models/m:generateContent",
         "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent"},
        {"and of gemini-cli", "", "Authorization", "Bearer ya29.x", "/v1internal:countTokens",
         "https://cloudcode-pa.googleapis.com/v1internal:countTokens"},
        {"Gemini is there unless told", "", "x-goog-api-key", "k",
         "/v1beta/models/m:generateContent",
         "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent"},
        {"by its parameter too", "", "x", "y", "/v1beta/models?key=k",
         "https://generativelanguage.googleapis.com/v1beta/models?key=k"},
        {"Vertex takes Google's key, by name",
         "upstreams: {vertex: {base_url: \"https://aiplatform.googleapis.com\"}}\n",
         "x-goog-api-key", "k", "/vertex/v1/publishers/google/models/m:generateContent",
         "https://aiplatform.googleapis.com/v1/publishers/google/models/m:generateContent"},
        {"and by /p/", "upstreams: {vertex: {base_url: \"https://aiplatform.googleapis.com\"}}\n",
         "x-goog-api-key", "k", "/p/vertex/v1/x", "https://aiplatform.googleapis.com/v1/x"},
        {"Gemini takes a login of Google's cloud, by name",
         "upstreams: {vertex: {base_url: \"https://aiplatform.googleapis.com\"}}\n",
         "Authorization", "Bearer ya29.x", "/gemini/v1beta/models",
         "https://generativelanguage.googleapis.com/v1beta/models"},
        {"and by /p/", "", "Authorization", "Bearer ya29.x", "/p/gemini/v1beta/models",
         "https://generativelanguage.googleapis.com/v1beta/models"},
        {"without a name it goes to Vertex",
         "upstreams: {vertex: {base_url: \"https://aiplatform.googleapis.com\"}}\n",
         "Authorization", "Bearer ya29.x", "/v1/projects/p",
         "https://aiplatform.googleapis.com/v1/projects/p"},
        {"or nowhere", "", "Authorization", "Bearer ya29.x", "/v1/projects/p", NULL},
        {"a name in front is obeyed or refused", "", "Authorization", "Bearer sk-ant-x",
         "/gemini/v1beta/models", NULL},
        {"refused though the key's provider is there", "", "x-goog-api-key", "k",
         "/anthropic/v1/messages", NULL},
        {"a gateway in OpenAI's place takes Azure's key",
         "upstreams: {openai: {base_url: \"http://g/v1\"}}\n", "api-key", "k",
         "/v1/chat/completions", "http://g/v1/chat/completions"},
        {"by name too", "upstreams: {openai: {base_url: \"http://g/v1\"}}\n", "api-key", "k",
         "/openai/v1/chat/completions", "http://g/v1/chat/completions"},
        {"and Azure's path whole", "upstreams: {openai: {base_url: \"http://g\"}}\n", "api-key",
         "k", "/openai/deployments/d/chat/completions",
         "http://g/openai/deployments/d/chat/completions"},
        {"unless there is an Azure",
         "upstreams: {openai: {base_url: \"http://g\"}, azure: {base_url: \"http://z\"}}\n",
         "api-key", "k", "/openai/deployments/d/chat/completions",
         "http://z/openai/deployments/d/chat/completions"},
        {"Azure's path with what is not Azure's",
         "upstreams: {azure: {base_url: \"https://a.openai.azure.com\"}}\n", "x-goog-api-key", "k",
         "/openai/deployments/d/chat/completions", NULL},
        {"a router in Anthropic's place takes OpenRouter's key",
         "upstreams: {anthropic: {base_url: \"http://r\"}}\n", "Authorization", "Bearer sk-or-x",
         "/v1/messages", "http://r/v1/messages"},
        {"AWS is not", "", "Authorization", "AWS4-HMAC-SHA256 x", "/model/m/converse", NULL},
        {"a token of Microsoft's under OpenAI's name",
         "upstreams: {azure: {base_url: \"https://a.openai.azure.com\"}}\n", "Authorization",
         "Bearer eyJhbGciOiJub25lIn0.eyJpc3MiOiJodHRwczovL3N0cy53aW5kb3dzLm5ldC90LyJ9.c2ln",
         "/openai/v1/responses", "https://a.openai.azure.com/openai/v1/responses"},
        {"or nowhere", "", "Authorization",
         "Bearer eyJhbGciOiJub25lIn0.eyJpc3MiOiJodHRwczovL3N0cy53aW5kb3dzLm5ldC90LyJ9.c2ln",
         "/v1/responses", NULL},
        {"OpenAI's own token is OpenAI's to see", "", "Authorization",
         "Bearer eyJhbGciOiJub25lIn0.eyJpc3MiOiJodHRwczovL2F1dGgub3BlbmFpLmNvbSJ9.c2ln",
         "/v1/responses", "https://api.openai.com/v1/responses"},
        {"and not Anthropic's", "", "Authorization",
         "Bearer eyJhbGciOiJub25lIn0.eyJpc3MiOiJodHRwczovL2F1dGgub3BlbmFpLmNvbSJ9.c2ln",
         "/anthropic/v1/messages", NULL},
        {"Bedrock's path without a Bedrock", "", "Authorization", "Bearer k", "/model/m/invoke",
         NULL},
        {"with one", "upstreams: {bedrock: {base_url: \"http://b\"}}\n", "Authorization",
         "Bearer k", "/model/m/invoke", "http://b/model/m/invoke"},
        {"Vertex without a version in its path",
         "upstreams: {vertex: {base_url: \"https://aiplatform.googleapis.com/v1\"}}\n",
         "Authorization", "Bearer k",
         "/projects/p/locations/l/publishers/anthropic/models/m:rawPredict",
         "https://aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/anthropic/models/"
         "m:rawPredict"},
        {"a Bearer may be anybody's", "", "Authorization", "Bearer k", "/v1/responses",
         "https://api.openai.com/v1/responses"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_config *config = wr_config_new();
        struct wr_head head = {.method = WR_LIT("POST"), .headers_count = 1};
        struct wr_buf out;
        assert_non_null(config);
        assert_int_equal(wr_config_read(config, wr_span_of(rows[i].yaml), NULL), WEIR_OK);
        head.headers[0] = (struct wr_header){wr_span_of(rows[i].header), wr_span_of(rows[i].value)};
        struct wr_route route = wr_route_find(config, &head, wr_span_of(rows[i].target));
        wr_buf_init(&out, 4096);
        if (route.upstream)
            wr_route_url(&route, &out);
        if (!route.upstream != !rows[i].url || (rows[i].url && strcmp(out.bytes, rows[i].url) != 0))
            fail_msg("%s: %s", rows[i].behaviour, route.upstream ? out.bytes : "nowhere");
        assert_true(route.upstream || route.credential.provider);
        wr_buf_release(&out);
        wr_config_free(config);
    }
}

static void the_one_upstream_takes_every_credential_at_a_host_of_ones_own(void **state)
{
    struct wr_config *config = wr_config_new();
    struct wr_head head = {.method = WR_LIT("POST"), .headers_count = 1};
    (void)state;
    assert_non_null(config);
    assert_int_equal(wr_config_set_upstream(config, "https://api.openai.com/v1", NULL), WEIR_OK);
    head.headers[0] = (struct wr_header){WR_LIT("api-key"), WR_LIT("k")};
    assert_null(wr_route_find(config, &head, WR_LIT("/v1/responses")).upstream);
    assert_int_equal(wr_config_set_upstream(config, "https://gateway.example/v1", NULL), WEIR_OK);
    assert_non_null(wr_route_find(config, &head, WR_LIT("/v1/responses")).upstream);
    wr_config_free(config);
}

/* Nobody sees the client's credential there, so none bars the way. */
static void an_upstream_with_a_key_of_its_own_is_asked(void **state)
{
    static const struct {
        const char *header, *value, *target, *url;
    } rows[] = {
        {"x-api-key", "sk-ant-x", "/v1/responses", "https://api.openai.com/v1/responses"},
        {"api-key", "k", "/v1/responses", "https://api.openai.com/v1/responses"},
        {"api-key", "k", "/openai/v1/responses", "http://z/openai/v1/responses"},
        {"api-key", "k", "/openai/deployments/d/chat/completions",
         "http://z/openai/deployments/d/chat/completions"},
        {"x-api-key", "sk-ant-x", "/p/gemini/v1beta/models", NULL},
    };
    struct wr_config *config = wr_config_new();
    (void)state;
    assert_non_null(config);
    assert_int_equal(
        wr_config_read(config, WR_LIT("upstreams: {azure: {base_url: \"http://z\"}}\n"), NULL),
        WEIR_OK);
    for (size_t i = 0; i < config->upstreams_count; i++)
        if (strcmp(config->upstreams[i].name, "gemini") != 0)
            config->upstreams[i].key = "k";
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_head head = {.method = WR_LIT("POST"), .headers_count = 1};
        struct wr_buf out;
        head.headers[0] = (struct wr_header){wr_span_of(rows[i].header), wr_span_of(rows[i].value)};
        struct wr_route route = wr_route_find(config, &head, wr_span_of(rows[i].target));
        wr_buf_init(&out, 4096);
        if (route.upstream)
            wr_route_url(&route, &out);
        if (!route.upstream != !rows[i].url || (rows[i].url && strcmp(out.bytes, rows[i].url) != 0))
            fail_msg("%s: %s", rows[i].target, route.upstream ? out.bytes : "nowhere");
        wr_buf_release(&out);
    }
    wr_config_free(config);
}

static void what_is_signed_is_known(void **state)
{
    struct wr_config *config = wr_config_new();
    struct wr_head head = {.method = WR_LIT("POST"), .headers_count = 1};
    struct wr_aws_keys keys = {"a", "s", NULL, "r"};
    (void)state;
    assert_non_null(config);
    assert_int_equal(
        wr_config_read(config, WR_LIT("upstreams: {bedrock: {base_url: \"http://z\"}}\n"), NULL),
        WEIR_OK);
    head.headers[0] = (struct wr_header){WR_LIT("Authorization"), WR_LIT("AWS4-HMAC-SHA256 x")};
    assert_true(wr_route_find(config, &head, WR_LIT("/model/m/invoke")).is_signed);
    config->upstreams[config->upstreams_count - 1].aws = &keys;
    assert_false(wr_route_find(config, &head, WR_LIT("/model/m/invoke")).is_signed);
    wr_config_free(config);
}

static void what_base_and_path_share_is_written_once(void **state)
{
    static const struct {
        const char *base, *target, *url;
    } rows[] = {
        {"http://h/api/v1", "/api/v1/chat/completions", "http://h/api/v1/chat/completions"},
        {"http://h/api/v1", "/v1/chat/completions", "http://h/api/v1/chat/completions"},
        {"http://h/api/v1", "/chat/completions", "http://h/api/v1/chat/completions"},
        {"http://h/gw/api/v1", "/api/v1/models?x=1", "http://h/gw/api/v1/models?x=1"},
        {"http://h/gw/v1", "/v1", "http://h/gw/v1"},
        {"http://h/openai/v1", "/openai/deployments/d/chat/completions?api-version=1",
         "http://h/openai/deployments/d/chat/completions?api-version=1"},
        {"http://h/openai", "/openai/v1/responses", "http://h/openai/v1/responses"},
        {"http://h/v1", "/v1beta1/projects/p", "http://h/v1beta1/projects/p"},
        {"http://h/v1", "/projects/p", "http://h/v1/projects/p"},
        {"http://h/gw/models", "/models/m", "http://h/gw/models/models/m"},
        {"http://h", "/v1/v1", "http://h/v1/v1"},
        {"http://h/v1", "/v1/v1", "http://h/v1/v1"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_config *config = wr_config_new();
        struct wr_buf out;
        assert_non_null(config);
        wr_buf_init(&out, 4096);
        assert_int_equal(wr_config_set_upstream(config, rows[i].base, NULL), WEIR_OK);
        struct wr_route route = {.upstream = &config->upstreams[0],
                                 .target = wr_span_of(rows[i].target)};
        wr_route_url(&route, &out);
        assert_string_equal(out.bytes, rows[i].url);
        wr_buf_release(&out);
        wr_config_free(config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_find_their_upstream),
        cmocka_unit_test(a_credential_goes_to_its_provider_or_nowhere),
        cmocka_unit_test(the_one_upstream_takes_every_credential_at_a_host_of_ones_own),
        cmocka_unit_test(what_base_and_path_share_is_written_once),
        cmocka_unit_test(an_upstream_with_a_key_of_its_own_is_asked),
        cmocka_unit_test(what_is_signed_is_known),
        cmocka_unit_test(one_upstream_has_all_paths),
        cmocka_unit_test(a_version_header_chooses_anthropic),
        cmocka_unit_test(a_chatgpt_account_chooses_its_backend)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
