#include "proxy/credential.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

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
                          !strcmp(found.provider, "anthropic");
        assert_int_equal(own != NULL, is_default);
        assert_true(wr_span_starts(wr_span_of(found.base_url), WR_LIT("https://")));
    }
    wr_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_credential_is_its_providers),
        cmocka_unit_test(every_provider_is_told_how_to_configure_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
