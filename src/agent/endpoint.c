#include "agent/endpoint.h"

#include <stdio.h>

#include "base/err.h"
#include "base/span.h"
#include "net/host.h"
#include "weir/version.h"

const char *const wr_endpoint_key_names[] = {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", NULL};

static bool is_claude(const char *model)
{
    return model && strstr(model, "claude");
}

static bool find_dialect(struct wr_endpoint *e, const struct wr_endpoint_options *o,
                         wr_getenv_fn *get)
{
    static const char *const names[] = {[WEIR_DIALECT_CHAT] = "chat",
                                        [WEIR_DIALECT_RESPONSES] = "responses",
                                        [WEIR_DIALECT_MESSAGES] = "messages"};
    bool has_openai = get("OPENAI_API_KEY") || get("OPENAI_BASE_URL");
    bool has_anthropic = get("ANTHROPIC_API_KEY") || get("ANTHROPIC_BASE_URL");

    for (size_t i = 0; o->api && i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(o->api, names[i])) {
            e->dialect = (weir_dialect)i;
            return true;
        }
    if (o->api)
        return false;
    if (!o->base_url && (is_claude(o->model) || (has_anthropic && !has_openai)))
        e->dialect = WEIR_DIALECT_MESSAGES;
    else
        e->dialect = o->base_url ? WEIR_DIALECT_CHAT : WEIR_DIALECT_RESPONSES;
    return true;
}

/* Somebody's own server: it may take no key, tells its window, and may want turns to be taken. */
static bool is_near(const char *url)
{
    struct wr_host host;
    return wr_host_of_url(wr_span_of(url), &host) && wr_host_is_private(host.name);
}

/* An address without a path means its /v1. */
static bool set_base(struct wr_endpoint *e, const char *url)
{
    size_t bytes = strlen(url);
    const char *host = strstr(url, "://");

    while (bytes && url[bytes - 1] == '/')
        bytes--;
    if (!host || bytes <= (size_t)(host - url) + 3 || bytes + 4 > sizeof(e->base_url))
        return false;
    bool has_path = memchr(host + 3, '/', bytes - (size_t)(host - url) - 3);
    (void)snprintf(e->base_url, sizeof(e->base_url), "%.*s%s", (int)bytes, url,
                   has_path ? "" : "/v1");
    e->is_local = is_near(url);
    return true;
}

weir_status wr_endpoint_find(struct wr_endpoint *e, const struct wr_endpoint_options *o,
                             wr_getenv_fn *get, struct weir_err *err)
{
    *e = (struct wr_endpoint){.key = NULL};
    if (!find_dialect(e, o, get))
        return wr_fail(err, WEIR_INVALID, 0, "--api is chat, responses or messages, not '%s'",
                       o->api);
    bool is_messages = e->dialect == WEIR_DIALECT_MESSAGES;
    const char *url = o->base_url;
    if (!url)
        url = get(is_messages ? "ANTHROPIC_BASE_URL" : "OPENAI_BASE_URL");
    if (!url)
        url = is_messages ? "https://api.anthropic.com" : "https://api.openai.com";
    if (!set_base(e, url))
        return wr_fail(err, WEIR_INVALID, 0, "'%s' is no address such as http://127.0.0.1:11434",
                       url);
    e->key = get(is_messages ? "ANTHROPIC_API_KEY" : "OPENAI_API_KEY");
    if (e->key && !*e->key)
        e->key = NULL;
    if (!e->key && !e->is_local)
        return wr_fail(err, WEIR_INVALID, 0,
                       "no key for %s: set %s, or give --base-url of a local server", e->base_url,
                       is_messages ? "ANTHROPIC_API_KEY" : "OPENAI_API_KEY");
    return WEIR_OK;
}

void wr_endpoint_url(const struct wr_endpoint *e, struct wr_buf *url)
{
    static const char *const paths[] = {[WEIR_DIALECT_CHAT] = "/chat/completions",
                                        [WEIR_DIALECT_RESPONSES] = "/responses",
                                        [WEIR_DIALECT_MESSAGES] = "/messages"};
    wr_buf_text(url, e->base_url);
    wr_buf_text(url, paths[e->dialect]);
    wr_buf_byte(url, '\0');
}

size_t wr_endpoint_headers(const struct wr_endpoint *e, const char *session, struct wr_buf *text,
                           struct wr_header headers[WR_ENDPOINT_HEADERS_MAX])
{
    size_t count = 0;

    wr_buf_text(text, e->key ? "Bearer " : "");
    wr_buf_text(text, e->key ? e->key : "");
    headers[count++] = (struct wr_header){WR_LIT("content-type"), WR_LIT("application/json")};
    headers[count++] = (struct wr_header){WR_LIT("accept"), WR_LIT("text/event-stream")};
    headers[count++] =
        (struct wr_header){WR_LIT("user-agent"), WR_LIT("weir-agent/" WEIR_VERSION_STRING)};
    headers[count++] = (struct wr_header){WR_LIT("x-weir-session"), wr_span_of(session)};
    if (e->dialect == WEIR_DIALECT_MESSAGES) {
        headers[count++] = (struct wr_header){WR_LIT("anthropic-version"), WR_LIT("2023-06-01")};
        if (e->key)
            headers[count++] = (struct wr_header){WR_LIT("x-api-key"), wr_span_of(e->key)};
    } else if (e->key && !wr_buf_status(text)) {
        headers[count++] = (struct wr_header){WR_LIT("authorization"), wr_buf_view(text)};
    }
    return count;
}
