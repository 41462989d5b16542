/* The table of clouds and the table of their credentials.
 *
 * Only shapes that one provider alone has are listed (or one house: Google's keys and logins open
 * the Gemini API and Vertex alike). "sk-" is not one: half of the world's servers speak OpenAI's
 * API with keys that begin so. A path counts as a shape where only one provider has it, for what
 * comes with it is that provider's whatever it looks like. A JSON Web Token says who issued it: so
 * Microsoft's tokens for Azure and OpenAI's for ChatGPT can be told apart.
 *
 * Servers of one's own (Ollama, vLLM, ...) have a row for their usual address alone: they speak
 * Chat Completions at the usual path and take whatever key they were told.
 */
#include "api/clouds.h"

#include "base/span.h"
#include "base/words.h"

/* Azure takes the deployment from the path. The body's model, where there is one, is mostly the
 * same; the newer /openai/v1 has it in the body alone. */
static const struct wr_cloud_path azure_paths[] = {
    {.pattern = "/openai/deployments/{model}/chat/completions",
     .api = &wr_api_chat,
     .row = {"", "/openai/deployments/*/chat/completions", true}},
    {.pattern = "/openai/deployments/{model}/responses",
     .api = &wr_api_responses,
     .row = {"", "/openai/deployments/*/responses", true}},
    {.pattern = NULL}};

static const struct wr_cloud_path vertex_paths[] = {
    {.pattern = "/publishers/anthropic/models/count-tokens:rawPredict",
     .api = &wr_api_messages,
     .row = {"", "/publishers/anthropic/models/count-tokens:rawPredict", false}},
    {.pattern = "/publishers/anthropic/models/{model}:rawPredict",
     .api = &wr_api_messages,
     .row = {"", "/publishers/anthropic/models/*:rawPredict", true}},
    {.pattern = "/publishers/anthropic/models/{model}:streamRawPredict",
     .api = &wr_api_messages,
     .row = {"", "/publishers/anthropic/models/*:streamRawPredict", true}},
    {.pattern = "/publishers/google/models/{model}:generateContent",
     .api = &wr_api_gemini,
     .row = {"", "/publishers/google/models/*:generateContent", true}},
    {.pattern = "/publishers/google/models/{model}:streamGenerateContent",
     .api = &wr_api_gemini,
     .row = {"", "/publishers/google/models/*:streamGenerateContent", true}},
    {.pattern = "/publishers/google/models/{model}:countTokens",
     .api = &wr_api_gemini,
     .row = {"", "/publishers/google/models/*:countTokens", false}},
    {.pattern = NULL}};

/* Every maker's models have a body of their own at `invoke`; Anthropic's says its version. At
 * `converse` all have one (docs/bedrock.md). */
static const struct wr_cloud_path bedrock_paths[] = {
    {.pattern = "/model/{model}/invoke",
     .api = &wr_api_messages,
     .row = {"", "/model/*/invoke", true},
     .needs = "anthropic_version"},
    {.pattern = "/model/{model}/invoke-with-response-stream",
     .api = &wr_api_messages,
     .row = {"", "/model/*/invoke-with-response-stream", true},
     .stream = WR_CLOUD_FRAMES,
     .needs = "anthropic_version"},
    {.pattern = "/model/{model}/converse",
     .api = &wr_api_converse,
     .row = {"", "/model/*/converse", true}},
    {.pattern = "/model/{model}/converse-stream",
     .api = &wr_api_converse,
     .row = {"", "/model/*/converse-stream", true},
     .stream = WR_CLOUD_FRAMES},
    {.pattern = NULL}};

static const struct wr_cloud clouds[] = {
    {.name = "openai",
     .title = "OpenAI",
     .hosts = {"api.openai.com"},
     .base_url = "https://api.openai.com/v1"},
    {.name = "chatgpt",
     .title = "ChatGPT, for Codex",
     .hosts = {"chatgpt.com"},
     .base_url = "https://chatgpt.com/backend-api/codex",
     .semconv = "openai"},
    {.name = "anthropic",
     .title = "Anthropic",
     .hosts = {"api.anthropic.com"},
     .base_url = "https://api.anthropic.com/v1",
     .key_header = "x-api-key"},
    {.name = "gemini",
     .title = "Gemini API",
     .hosts = {"generativelanguage.googleapis.com"},
     .base_url = "https://generativelanguage.googleapis.com",
     .key_header = "x-goog-api-key",
     .semconv = "gcp.gemini"},
    {.name = "codeassist",
     .title = "gemini-cli with a login",
     .hosts = {"cloudcode-pa.googleapis.com"},
     .base_url = "https://cloudcode-pa.googleapis.com",
     .semconv = "gcp.gemini"},
    {.name = "vertex",
     .title = "Vertex AI",
     .hosts = {"aiplatform.googleapis.com", "-aiplatform.googleapis.com", "rep.googleapis.com"},
     .base_url = "https://aiplatform.googleapis.com/v1",
     .regions = {{"global", "https://aiplatform.googleapis.com/v1"},
                 {"us|eu", "https://aiplatform.REGION.rep.googleapis.com/v1"},
                 {NULL, "https://REGION-aiplatform.googleapis.com/v1"}},
     .fronts = {"/projects/", "/v1/projects/", "/v1beta1/projects/", "/publishers/",
                "/v1/publishers/", "/v1beta1/publishers/"},
     .paths = vertex_paths,
     .semconv = "gcp.vertex_ai"},
    {.name = "azure",
     .title = "Azure OpenAI",
     .hosts = {"openai.azure.com", "cognitiveservices.azure.com", "services.ai.azure.com"},
     .base_url = "https://NAME.openai.azure.com",
     .fronts = {"/openai/deployments/"},
     .shared = {"/openai", "/anthropic"},
     .paths = azure_paths,
     .key_header = "api-key",
     .semconv = "azure.ai.openai"},
    {.name = "bedrock",
     .title = "Amazon Bedrock",
     .hosts = {"amazonaws.com", "amazonaws.com.cn", "api.aws"},
     .base_url = "https://bedrock-runtime.REGION.amazonaws.com",
     .fronts = {"/model/"},
     .paths = bedrock_paths,
     .service = "bedrock",
     .semconv = "aws.bedrock"},
    {.name = "openrouter",
     .title = "OpenRouter",
     .hosts = {"openrouter.ai"},
     .base_url = "https://openrouter.ai/api/v1"},
    {.name = "groq",
     .title = "Groq",
     .hosts = {"api.groq.com"},
     .base_url = "https://api.groq.com/openai/v1"},
    {.name = "xai",
     .title = "xAI",
     .hosts = {"api.x.ai"},
     .base_url = "https://api.x.ai/v1",
     .semconv = "x_ai"},
    {.name = "huggingface",
     .title = "Hugging Face",
     .hosts = {"router.huggingface.co"},
     .base_url = "https://router.huggingface.co/v1"},
    {.name = "github",
     .title = "GitHub Models and Copilot",
     .hosts = {"models.github.ai", "githubcopilot.com"},
     .base_url = "https://models.github.ai/inference"},
    {.name = "vllm", .title = "vLLM", .base_url = "http://127.0.0.1:8000/v1"},
    {.name = "llamacpp", .title = "llama.cpp", .base_url = "http://127.0.0.1:8080/v1"},
    {.name = "lmstudio", .title = "LM Studio", .base_url = "http://127.0.0.1:1234/v1"},
    {.name = "tgi", .title = "TGI", .base_url = "http://127.0.0.1:3000/v1"},
    {.name = "ollama", .title = "Ollama", .base_url = "http://127.0.0.1:11434"},
};

static const struct wr_credential_shape shapes[] = {
    {WR_IN_HEADER, "api-key", "", {"azure"}, "the header api-key"},
    {WR_IN_ISSUER, NULL, "https://sts.windows.net/", {"azure"}, "the Authorization of Azure"},
    {WR_IN_ISSUER,
     NULL,
     "https://login.microsoftonline.com/",
     {"azure"},
     "the Authorization of Azure"},
    {WR_IN_ISSUER,
     NULL,
     "https://auth.openai.com",
     {"chatgpt", "openai"},
     "the Authorization of ChatGPT"},
    {WR_IN_HEADER,
     "chatgpt-account-id",
     "",
     {"chatgpt", "openai"},
     "the header chatgpt-account-id"},
    {WR_IN_HEADER, "x-goog-api-key", "", {"gemini", "vertex"}, "the header x-goog-api-key"},
    {WR_IN_QUERY, "key", "", {"gemini", "vertex"}, "the parameter key"},
    {WR_IN_BEARER, NULL, "AIza", {"gemini", "vertex"}, "the Authorization of Google's API"},
    {WR_IN_BEARER,
     NULL,
     "ya29.",
     {"vertex", "gemini", "codeassist"},
     "the Authorization of Google's cloud"},
    {WR_IN_ISSUER,
     NULL,
     "https://accounts.google.com",
     {"vertex", "gemini", "codeassist"},
     "the Authorization of Google's cloud"},
    {WR_IN_HEADER, "authorization", "AWS4-", {"bedrock"}, "the Authorization that AWS signs"},
    {WR_IN_HEADER, "x-amz-security-token", "", {"bedrock"}, "the header x-amz-security-token"},
    {WR_IN_QUERY, "X-Amz-Signature", "", {"bedrock"}, "the parameter X-Amz-Signature"},
    {WR_IN_QUERY, "X-Amz-Credential", "", {"bedrock"}, "the parameter X-Amz-Credential"},
    {WR_IN_BEARER, NULL, "ABSK", {"bedrock"}, "the Authorization of Bedrock"},
    {WR_IN_BEARER, NULL, "bedrock-api-key-", {"bedrock"}, "the Authorization of Bedrock"},
    {WR_IN_HEADER, "x-api-key", "sk-ant-", {"anthropic"}, "the header x-api-key"},
    {WR_IN_BEARER, NULL, "sk-ant-", {"anthropic"}, "the Authorization of Anthropic"},
    {WR_IN_BEARER, NULL, "sk-proj-", {"openai"}, "the Authorization of OpenAI"},
    {WR_IN_BEARER, NULL, "sk-svcacct-", {"openai"}, "the Authorization of OpenAI"},
    {WR_IN_BEARER, NULL, "sk-admin-", {"openai"}, "the Authorization of OpenAI"},
    {WR_IN_BEARER, NULL, "sk-or-", {"openrouter"}, "the Authorization of OpenRouter"},
    {WR_IN_BEARER, NULL, "gsk_", {"groq"}, "the Authorization of Groq"},
    {WR_IN_BEARER, NULL, "xai-", {"xai"}, "the Authorization of xAI"},
    {WR_IN_BEARER, NULL, "hf_", {"huggingface"}, "the Authorization of Hugging Face"},
    {WR_IN_BEARER, NULL, "gho_", {"github"}, "the Authorization of GitHub"},
    {WR_IN_BEARER, NULL, "ghp_", {"github"}, "the Authorization of GitHub"},
    {WR_IN_BEARER, NULL, "ghu_", {"github"}, "the Authorization of GitHub"},
    {WR_IN_BEARER, NULL, "github_pat_", {"github"}, "the Authorization of GitHub"},
    /* What comes to a cloud's own path; after what can be told from itself. */
    {WR_IN_PATH, NULL, "/openai/deployments/", {"azure"}, "the path /openai/deployments/"},
    {WR_IN_PATH, NULL, "/model/", {"bedrock"}, "the path /model/"},
    {WR_IN_PATH, NULL, "/projects/", {"vertex"}, "the path /projects/"},
    {WR_IN_PATH, NULL, "/v1/projects/", {"vertex"}, "the path /v1/projects/"},
    {WR_IN_PATH, NULL, "/v1beta1/projects/", {"vertex"}, "the path /v1beta1/projects/"},
    {WR_IN_PATH, NULL, "/v1beta1/publishers/", {"vertex"}, "the path /v1beta1/publishers/"},
    {WR_IN_PATH, NULL, "/v1/publishers/", {"vertex"}, "the path /v1/publishers/"},
    {WR_IN_PATH, NULL, "/publishers/", {"vertex"}, "the path /publishers/"},
};

const struct wr_cloud *wr_cloud_at(size_t index)
{
    return index < WR_COUNT_OF(clouds) ? &clouds[index] : NULL;
}

const struct wr_cloud *wr_cloud_named(weir_span name)
{
    for (size_t i = 0; i < WR_COUNT_OF(clouds); i++)
        if (wr_span_is(name, clouds[i].name))
            return &clouds[i];
    return NULL;
}

const struct wr_cloud *wr_cloud_of_front(weir_span target)
{
    for (size_t i = 0; i < WR_COUNT_OF(clouds); i++)
        for (size_t k = 0; k < WR_COUNT_OF(clouds[i].fronts) && clouds[i].fronts[k]; k++)
            if (wr_span_starts(target, wr_span_of(clouds[i].fronts[k])))
                return &clouds[i];
    return NULL;
}

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

bool wr_cloud_has_address(const struct wr_cloud *cloud)
{
    for (const char *c = cloud->base_url; *c; c++)
        if (is_capital(*c))
            return false;
    return true;
}

void wr_cloud_fill_address(const char *address, weir_span place, struct wr_buf *out)
{
    for (const char *c = address; *c; c++) {
        if (!is_capital(*c))
            wr_buf_byte(out, *c);
        else if (c == address || !is_capital(c[-1]))
            wr_buf_append(out, place);
    }
}

void wr_cloud_write_address(const struct wr_cloud *cloud, weir_span place, struct wr_buf *out)
{
    const char *address = cloud->base_url;

    for (size_t i = 0; i < WR_COUNT_OF(cloud->regions) && cloud->regions[i].base_url; i++)
        if (!cloud->regions[i].names || wr_is_any_of(place, cloud->regions[i].names)) {
            address = cloud->regions[i].base_url;
            break;
        }
    wr_cloud_fill_address(address, place, out);
}

const struct wr_credential_shape *wr_credential_shape_at(size_t index)
{
    return index < WR_COUNT_OF(shapes) ? &shapes[index] : NULL;
}

/* ---- paths ---- */

#define MODEL_WORD "{model}"

/* Whether all of `path` is as the pattern says. A wild place takes as much of its part as lets the
 * rest fit. */
static bool fits(const char *pattern, weir_span path, weir_span *model)
{
    bool is_model = !strncmp(pattern, MODEL_WORD, strlen(MODEL_WORD));

    if (!*pattern)
        return !path.len;
    if (!is_model && *pattern != '*')
        return path.len && path.ptr[0] == *pattern &&
               fits(pattern + 1, wr_span_from(path, 1), model);
    size_t bytes = 0;
    while (bytes < path.len && path.ptr[bytes] != '/')
        bytes++;
    for (; bytes; bytes--) {
        if (!fits(pattern + (is_model ? strlen(MODEL_WORD) : 1), wr_span_from(path, bytes), model))
            continue;
        if (is_model)
            *model = wr_span_cut(path, 0, bytes);
        return true;
    }
    return false;
}

static bool fits_end(const char *pattern, weir_span path, weir_span *model)
{
    for (size_t i = 0; i < path.len; i++)
        if (path.ptr[i] == '/' && fits(pattern, wr_span_from(path, i), model))
            return true;
    return false;
}

const struct wr_cloud_path *wr_cloud_path_of(weir_span path, weir_span *model)
{
    *model = (weir_span){"", 0};
    for (size_t i = 0; i < path.len; i++)
        if (path.ptr[i] == '?' || path.ptr[i] == '#')
            path.len = i;
    while (wr_span_ends(path, WR_LIT("/")))
        path.len--;
    for (size_t i = 0; i < WR_COUNT_OF(clouds); i++)
        for (const struct wr_cloud_path *p = clouds[i].paths; p && p->pattern; p++)
            if (fits_end(p->pattern, path, model))
                return p;
    return NULL;
}
