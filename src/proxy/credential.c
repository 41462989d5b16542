/* Two tables: the providers with the hosts that are theirs, and the shapes of their credentials.
 *
 * Only shapes that one provider alone has are listed (or one house: Google's keys and logins open
 * the Gemini API and Vertex alike). "sk-" is not one: half of the world's servers speak OpenAI's
 * API with keys that begin so. A path counts as a shape where only one provider has it, for what
 * comes with it is that provider's whatever it looks like (Azure takes tokens of its directory,
 * which look like anybody's).
 */
#include "proxy/credential.h"

#include <strings.h>

#include "base/span.h"
#include "net/host.h"

static const struct provider {
    const char *name;
    const char *hosts[3]; /* each is this host and all below it; "-x": all that end so */
    const char *base_url;
} providers[] = {
    {"openai", {"api.openai.com"}, "https://api.openai.com/v1"},
    {"chatgpt", {"chatgpt.com"}, "https://chatgpt.com/backend-api/codex"},
    {"anthropic", {"api.anthropic.com"}, "https://api.anthropic.com/v1"},
    {"gemini", {"generativelanguage.googleapis.com"}, "https://generativelanguage.googleapis.com"},
    {"vertex",
     {"aiplatform.googleapis.com", "-aiplatform.googleapis.com", "rep.googleapis.com"},
     "https://aiplatform.googleapis.com"},
    {"azure",
     {"openai.azure.com", "cognitiveservices.azure.com", "services.ai.azure.com"},
     "https://NAME.openai.azure.com"},
    {"bedrock", {"amazonaws.com"}, "https://bedrock-runtime.REGION.amazonaws.com"},
    {"openrouter", {"openrouter.ai"}, "https://openrouter.ai/api/v1"},
    {"groq", {"api.groq.com"}, "https://api.groq.com/openai/v1"},
    {"xai", {"api.x.ai"}, "https://api.x.ai/v1"},
};

enum shape_place { IN_HEADER, IN_BEARER, IN_QUERY, IN_PATH };

static const struct shape {
    enum shape_place place;
    const char *name;         /* of the header or the parameter */
    const char *begins;       /* its value, or the path; "": any value that is not empty */
    const char *providers[2]; /* the first is asked if the path names none */
    const char *shown;
} shapes[] = {
    {IN_HEADER, "api-key", "", {"azure"}, "the header api-key"},
    {IN_PATH, NULL, "/openai/deployments/", {"azure"}, "the path /openai/deployments/"},
    {IN_HEADER, "x-goog-api-key", "", {"gemini", "vertex"}, "the header x-goog-api-key"},
    {IN_QUERY, "key", "", {"gemini", "vertex"}, "the parameter key"},
    {IN_BEARER, NULL, "AIza", {"gemini", "vertex"}, "the Authorization of Google's API"},
    {IN_BEARER, NULL, "ya29.", {"vertex", "gemini"}, "the Authorization of Google's cloud"},
    {IN_HEADER, "authorization", "AWS4-", {"bedrock"}, "the Authorization that AWS signs"},
    {IN_HEADER, "x-amz-security-token", "", {"bedrock"}, "the header x-amz-security-token"},
    {IN_QUERY, "X-Amz-Signature", "", {"bedrock"}, "the parameter X-Amz-Signature"},
    {IN_QUERY, "X-Amz-Credential", "", {"bedrock"}, "the parameter X-Amz-Credential"},
    {IN_BEARER, NULL, "ABSK", {"bedrock"}, "the Authorization of Bedrock"},
    {IN_BEARER, NULL, "bedrock-api-key-", {"bedrock"}, "the Authorization of Bedrock"},
    {IN_HEADER, "x-api-key", "sk-ant-", {"anthropic"}, "the header x-api-key"},
    {IN_BEARER, NULL, "sk-ant-", {"anthropic"}, "the Authorization of Anthropic"},
    {IN_BEARER, NULL, "sk-proj-", {"openai"}, "the Authorization of OpenAI"},
    {IN_BEARER, NULL, "sk-svcacct-", {"openai"}, "the Authorization of OpenAI"},
    {IN_BEARER, NULL, "sk-admin-", {"openai"}, "the Authorization of OpenAI"},
    {IN_BEARER, NULL, "sk-or-", {"openrouter"}, "the Authorization of OpenRouter"},
    {IN_BEARER, NULL, "gsk_", {"groq"}, "the Authorization of Groq"},
    {IN_BEARER, NULL, "xai-", {"xai"}, "the Authorization of xAI"},
};

/* ---- what a request carries ---- */

static bool begins_with(weir_span value, const char *begins)
{
    size_t bytes = strlen(begins);
    return value.len >= (bytes ? bytes : 1) && !strncasecmp(value.ptr, begins, bytes);
}

static bool is_in_headers(const struct shape *shape, const struct wr_head *head)
{
    bool is_bearer = shape->place == IN_BEARER;
    const char *name = is_bearer ? "authorization" : shape->name;

    for (size_t i = 0; i < head->headers_count; i++) {
        weir_span value = wr_span_trim(head->headers[i].value);
        if (!wr_header_is(&head->headers[i], name))
            continue;
        if (is_bearer && begins_with(value, "Bearer "))
            value = wr_span_trim(wr_span_cut(value, strlen("Bearer "), value.len));
        else if (is_bearer)
            continue;
        if (begins_with(value, shape->begins))
            return true;
    }
    return false;
}

static bool is_in_query(const struct shape *shape, weir_span target)
{
    const char *question = target.len ? memchr(target.ptr, '?', target.len) : NULL;
    size_t name_bytes = strlen(shape->name);

    if (!question)
        return false;
    weir_span rest = wr_span_cut(target, (size_t)(question - target.ptr) + 1, target.len);
    while (rest.len) {
        const char *next = memchr(rest.ptr, '&', rest.len);
        size_t bytes = next ? (size_t)(next - rest.ptr) : rest.len;
        if (bytes > name_bytes + 1 && rest.ptr[name_bytes] == '=' &&
            !strncasecmp(rest.ptr, shape->name, name_bytes))
            return true;
        rest = wr_span_cut(rest, bytes + (next ? 1 : 0), rest.len);
    }
    return false;
}

static bool is_carried(const struct shape *shape, const struct wr_head *head, weir_span target)
{
    switch (shape->place) {
    case IN_HEADER:
    case IN_BEARER:
        return is_in_headers(shape, head);
    case IN_QUERY:
        return is_in_query(shape, target);
    case IN_PATH:
        return begins_with(target, shape->begins);
    }
    return false;
}

/* ---- whose an upstream is ---- */

static bool is_host_of(weir_span host, const char *name)
{
    size_t bytes = strlen(name);

    if (*name != '-')
        return wr_host_is_below(host, name);
    if (host.len && host.ptr[host.len - 1] == '.')
        host.len--;
    return host.len > bytes && !strncasecmp(host.ptr + host.len - bytes, name, bytes);
}

static bool is_at_provider(const struct wr_upstream *upstream, const struct provider *provider)
{
    struct wr_host host;

    if (!wr_host_of_url(wr_span_of(upstream->base_url), &host))
        return false;
    for (size_t i = 0; i < WR_COUNT_OF(provider->hosts); i++)
        if (provider->hosts[i] && is_host_of(host.name, provider->hosts[i]))
            return true;
    return false;
}

static const struct provider *get_provider(const char *name)
{
    size_t i = 0;
    while (strcmp(providers[i].name, name) != 0)
        i++;
    return &providers[i];
}

static bool is_of_any(const struct wr_upstream *upstream)
{
    for (size_t i = 0; i < WR_COUNT_OF(providers); i++)
        if (is_at_provider(upstream, &providers[i]))
            return true;
    return false;
}

static bool is_for(const struct shape *shape, const struct wr_upstream *upstream)
{
    for (size_t i = 0; i < WR_COUNT_OF(shape->providers); i++)
        if (shape->providers[i] && is_at_provider(upstream, get_provider(shape->providers[i])))
            return true;
    return false;
}

bool wr_credential_find_strange(const struct wr_head *head, weir_span target,
                                const struct wr_upstream *upstream,
                                struct wr_credential *credential)
{
    if (!is_of_any(upstream))
        return false;
    for (size_t i = 0; i < WR_COUNT_OF(shapes); i++) {
        if (!is_carried(&shapes[i], head, target) || is_for(&shapes[i], upstream))
            continue;
        const struct provider *provider = get_provider(shapes[i].providers[0]);
        *credential = (struct wr_credential){shapes[i].shown, provider->name, provider->base_url};
        return true;
    }
    return false;
}

const struct wr_upstream *wr_credential_upstream(const char *provider_name,
                                                 const struct wr_config *config)
{
    const struct provider *provider = get_provider(provider_name);
    const struct wr_upstream *named = wr_config_find(config, wr_span_of(provider->name));

    for (size_t i = 0; i < config->upstreams_count && !named; i++)
        if (is_at_provider(&config->upstreams[i], provider))
            named = &config->upstreams[i];
    return named;
}
