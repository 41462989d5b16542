#include "proxy/credential.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "api/api.h"
#include "base/span.h"

/* Tokens that name who issued them: of Azure's, OpenAI's and somebody else's. */
#define BY_AZURE  "eyJhbGciOiJ4In0.eyJpc3MiOiJodHRwczovL3N0cy53aW5kb3dzLm5ldC9hYmMifQ.sig"
#define BY_OPENAI "eyJhbGciOiJ4In0.eyJpc3MiOiJodHRwczovL2F1dGgub3BlbmFpLmNvbSJ9.sig"
#define BY_OTHERS "eyJhbGciOiJ4In0.eyJpc3MiOiJodHRwczovL2V4YW1wbGUuY29tIn0.sig"

static const struct {
    const char *behaviour, *header, *value, *target, *name, *base_url;
    const char *provider; /* NULL: the upstream may see all of it */
} cases[] = {
    {"Azure's key is not OpenAI's", "api-key", "k", "/v1/chat/completions", "openai",
     "https://api.openai.com/v1", "azure"},
    {"in any case", "API-Key", "k", "/", "openai", "https://api.openai.com/v1", "azure"},
    {"a gateway in OpenAI's place may see it", "api-key", "k", "/", "openai", "http://127.0.0.1:1",
     NULL},
    {"one in Anthropic's place too", "Authorization", "Bearer sk-or-v1-x", "/v1/messages",
     "anthropic", "http://127.0.0.1:1", NULL},
    {"Anthropic itself may not", "Authorization", "Bearer sk-or-v1-x", "/v1/messages", "anthropic",
     "https://api.anthropic.com/v1", "openrouter"},
    {"nor OpenAI's host under another spelling", "api-key", "k", "/", "openai",
     "https://EU.API.OpenAI.com.:443/v1", "azure"},
    {"Azure's host may see it under any name", "api-key", "k", "/", "openai",
     "https://mine.openai.azure.com/openai/v1", NULL},
    {"a host that only begins like OpenAI's is the user's", "api-key", "k", "/", "openai",
     "https://api.openai.com.gateway.example", NULL},
    {"so is one without the dot", "api-key", "k", "/", "openai", "https://myapi.openai.com", NULL},
    {"an upstream of that name may", "api-key", "k", "/", "azure", "https://gateway.example", NULL},
    {"one of the user's own may", "api-key", "k", "/", "mine", "https://gateway.example", NULL},
    {"but not where its host is another's", "api-key", "k", "/", "mine",
     "https://api.openai.com/v1", "azure"},
    {"an empty key is none", "api-key", "", "/", "openai", "https://api.openai.com/v1", NULL},
    {"Azure's path is Azure's, whatever comes with it", "authorization", "Bearer eyJ",
     "/openai/deployments/d/chat/completions?api-version=1", "openai", "https://api.openai.com/v1",
     "azure"},
    {"Google's header", "x-goog-api-key", "AIza1", "/", "openai", "https://api.openai.com/v1",
     "gemini"},
    {"Google's parameter", NULL, NULL, "/v1beta/models?alt=sse&key=AIza1", "openai",
     "https://api.openai.com/v1", "gemini"},
    {"Google may see it", NULL, NULL, "/v1beta/models?key=AIza1", "gemini",
     "https://generativelanguage.googleapis.com", NULL},
    {"Google's clouds take one key: its header at Vertex", "x-goog-api-key", "AIza1", "/", "vertex",
     "https://aiplatform.googleapis.com", NULL},
    {"its parameter", NULL, NULL, "/v1/publishers/google/models/m?key=AIza1", "vertex",
     "https://europe-west1-aiplatform.googleapis.com", NULL},
    {"a login of its cloud at Gemini", "Authorization", "Bearer ya29.x", "/v1beta/models", "gemini",
     "https://generativelanguage.googleapis.com", NULL},
    {"and at a region of Vertex", "Authorization", "Bearer ya29.x", "/", "mine",
     "https://us-central1-aiplatform.googleapis.com", NULL},
    {"a region of Vertex may see no other's", "Authorization", "Bearer sk-ant-x", "/", "vertex",
     "https://us-central1-aiplatform.googleapis.com", "anthropic"},
    {"nor OpenAI that login", "Authorization", "Bearer ya29.x", "/", "openai",
     "https://api.openai.com/v1", "vertex"},
    {"another parameter is none", NULL, NULL, "/v1/models?monkey=1&keys=2&key=", "openai",
     "https://api.openai.com/v1", NULL},
    {"Google's key as a Bearer", "authorization", "bearer  AIza1", "/", "openai",
     "https://api.openai.com/v1", "gemini"},
    {"a signature of AWS", "Authorization", "AWS4-HMAC-SHA256 Credential=x", "/model/m/invoke",
     "openai", "https://api.openai.com/v1", "bedrock"},
    {"to Anthropic too", "Authorization", "AWS4-HMAC-SHA256 Credential=x", "/v1/messages",
     "anthropic", "https://api.anthropic.com/v1", "bedrock"},
    {"a signed address", NULL, NULL, "/x?X-Amz-Credential=a&X-Amz-Signature=b", "openai",
     "https://api.openai.com/v1", "bedrock"},
    {"a session of AWS", "x-amz-security-token", "t", "/", "openai", "https://api.openai.com/v1",
     "bedrock"},
    {"a key of Bedrock", "Authorization", "Bearer ABSKx", "/", "openai",
     "https://api.openai.com/v1", "bedrock"},
    {"AWS may see it", "Authorization", "AWS4-HMAC-SHA256 Credential=x", "/", "mine",
     "https://bedrock-runtime.eu-west-1.amazonaws.com", NULL},
    {"Anthropic's key is not OpenAI's", "x-api-key", "sk-ant-api03-x", "/v1/models", "openai",
     "https://api.openai.com/v1", "anthropic"},
    {"nor OpenAI's Anthropic's", "Authorization", "Bearer sk-proj-x", "/v1/messages", "anthropic",
     "https://api.anthropic.com/v1", "openai"},
    {"OpenRouter's key may go where OpenAI was moved to it", "Authorization", "Bearer sk-or-v1-x",
     "/", "openai", "https://openrouter.ai/api/v1", NULL},
    {"a key that may be anybody's goes anywhere", "Authorization", "Bearer sk-x", "/", "anthropic",
     "https://api.anthropic.com/v1", NULL},
    {"so does a login of ChatGPT", "Authorization", "Bearer eyJhbGci", "/", "chatgpt",
     "https://chatgpt.com/backend-api/codex", NULL},
    {"a login of Azure's", "Authorization", "Bearer " BY_AZURE, "/", "openai",
     "https://api.openai.com/v1", "azure"},
    {"Azure may see it", "Authorization", "Bearer " BY_AZURE, "/", "mine",
     "https://mine.openai.azure.com", NULL},
    {"OpenAI's own", "Authorization", "Bearer " BY_OPENAI, "/", "openai",
     "https://api.openai.com/v1", NULL},
    {"which Anthropic may not see", "Authorization", "Bearer " BY_OPENAI, "/v1/messages",
     "anthropic", "https://api.anthropic.com/v1", "chatgpt"},
    {"another issuer's", "Authorization", "Bearer " BY_OTHERS, "/", "openai",
     "https://api.openai.com/v1", NULL},
    {"one without a signature is read no more", "Authorization",
     "Bearer eyJhbGciOiJ4In0.eyJpc3MiOiJodHRwczovL3N0cy53aW5kb3dzLm5ldC9hYmMifQ", "/", "openai",
     "https://api.openai.com/v1", NULL},
    {"nor one that is none", "Authorization",
     "Bearer xyJhbGciOiJ4In0.eyJpc3MiOiJodHRwczovL3N0cy53aW5kb3dzLm5ldC9hYmMifQ.sig", "/", "openai",
     "https://api.openai.com/v1", NULL},
    {"in another scheme", "Authorization", "Basic " BY_AZURE, "/", "openai",
     "https://api.openai.com/v1", NULL},
    {"a parameter in capitals", NULL, NULL, "/v1beta/models?KEY=AIza1", "openai",
     "https://api.openai.com/v1", "gemini"},
    {"the first of several", NULL, NULL, "/v1beta/models?key=k&alt=sse", "openai",
     "https://api.openai.com/v1", "gemini"},
    {"not what stands in its value", NULL, NULL, "/v1/models?a=key=AIza", "openai",
     "https://api.openai.com/v1", NULL},
    {"and another scheme", "Authorization", "Basic AIza", "/", "openai",
     "https://api.openai.com/v1", NULL},
    {"and no credential at all", NULL, NULL, "/v1/models", "openai", "https://api.openai.com/v1",
     NULL},
};

static void a_credential_is_its_providers(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_upstream upstream = {.name = cases[i].name, .base_url = cases[i].base_url};
        struct wr_credential found = {.provider = NULL};
        struct wr_head head = {.headers_count = 1};
        head.headers[0] = (struct wr_header){WR_LIT("Host"), WR_LIT("localhost")};
        if (cases[i].header)
            head.headers[head.headers_count++] =
                (struct wr_header){wr_span_of(cases[i].header), wr_span_of(cases[i].value)};
        bool is_strange =
            wr_credential_find_strange(&head, wr_span_of(cases[i].target), &upstream, &found);
        if (is_strange != (cases[i].provider != NULL) ||
            (is_strange && strcmp(found.provider, cases[i].provider) != 0))
            fail_msg("%s: %s", cases[i].behaviour, found.provider ? found.provider : "nobody's");
    }
}

static void every_provider_is_told_how_to_configure_it(void **state)
{
    struct wr_config *config = wr_config_new();
    (void)state;
    assert_non_null(config);
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_upstream upstream = {.name = cases[i].name, .base_url = cases[i].base_url};
        struct wr_credential found;
        struct wr_head head = {.headers_count = 0};
        if (cases[i].header)
            head.headers[head.headers_count++] =
                (struct wr_header){wr_span_of(cases[i].header), wr_span_of(cases[i].value)};
        if (!wr_credential_find_strange(&head, wr_span_of(cases[i].target), &upstream, &found))
            continue;
        const struct wr_upstream *own = wr_credential_upstream(found.provider, config);
        bool is_default = !strcmp(found.provider, "openai") || !strcmp(found.provider, "gemini") ||
                          !strcmp(found.provider, "anthropic") ||
                          !strcmp(found.provider, "chatgpt");
        assert_int_equal(own != NULL, is_default);
        assert_true(wr_span_starts(wr_span_of(found.base_url), WR_LIT("https://")));
    }
    wr_config_free(config);
}

static void a_request_is_signed_or_not(void **state)
{
    static const struct {
        const char *header, *value, *target;
        bool is_signed;
    } rows[] = {{"Authorization", "AWS4-HMAC-SHA256 Credential=x", "/", true},
                {"authorization", "aws4-hmac", "/", true},
                {"Authorization", "Bearer AWS4-HMAC", "/", false},
                {"x-authorization", "AWS4-HMAC-SHA256", "/", false},
                {"a", "b", "/x?X-Amz-Signature=b", true},
                {"a", "b", "/x?c=d&x-amz-signature=b&e", true},
                {"a", "b", "/x?X-Amz-Signature=", false},
                {"a", "b", "/X-Amz-Signature=b", false},
                {"a", "b", "/x?X-Amz-Date=b", false}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_head head = {.headers_count = 1};
        head.headers[0] = (struct wr_header){wr_span_of(rows[i].header), wr_span_of(rows[i].value)};
        if (wr_credential_is_signed(&head, wr_span_of(rows[i].target)) != rows[i].is_signed)
            fail_msg("%s: %s %s", rows[i].header, rows[i].value, rows[i].target);
    }
}

static void an_upstream_is_known_by_host_name_or_api(void **state)
{
    static const struct {
        const char *name, *base_url;
        const struct wr_api *api;
        const char *provider; /* NULL: nobody knows */
    } rows[] = {
        {"x", "https://api.anthropic.com", &wr_api_chat, "anthropic"},
        {"anthropic", "http://127.0.0.1:1", &wr_api_chat, "anthropic"},
        {"x", "http://127.0.0.1:1", &wr_api_messages, "anthropic"},
        {"x", "http://127.0.0.1:1", &wr_api_chat, "openai"},
        {"x", "http://127.0.0.1:1", NULL, NULL},
        {"x", "https://bedrock-runtime.r.amazonaws.com", NULL, "aws.bedrock"},
        {"x", "https://bedrock-runtime.r.amazonaws.com.", NULL, "aws.bedrock"},
        {"x", "https://europe-west1-aiplatform.googleapis.com", NULL, "gcp.vertex_ai"},
        {"x", "https://-aiplatform.googleapis.com", NULL, NULL},
        {"x", "none", NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_upstream upstream = {.name = rows[i].name, .base_url = rows[i].base_url};
        const char *provider = wr_credential_provider(&upstream, rows[i].api);
        if ((provider == NULL) != (rows[i].provider == NULL) ||
            (provider && strcmp(provider, rows[i].provider) != 0))
            fail_msg("%s %s: %s", rows[i].name, rows[i].base_url, provider ? provider : "nobody");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_signed_or_not),
        cmocka_unit_test(an_upstream_is_known_by_host_name_or_api),
        cmocka_unit_test(a_credential_is_its_providers),
        cmocka_unit_test(every_provider_is_told_how_to_configure_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
