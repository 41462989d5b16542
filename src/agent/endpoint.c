#include "agent/endpoint.h"

#include <stdio.h>

#include "base/err.h"
#include "base/span.h"
#include "net/host.h"
#include "weir/version.h"

/* The API that the model's name suggests, or the only one that there is a key for. */
static const struct wr_api *api_told(const char *model, wr_getenv_fn *get)
{
    const struct wr_api *only = NULL;

    for (size_t i = 0; model && i < WR_APIS_COUNT; i++)
        if (wr_apis[i]->model_word && strstr(model, wr_apis[i]->model_word))
            return wr_apis[i];
    for (size_t i = 0; i < WR_APIS_COUNT; i++) {
        const struct wr_api *api = wr_apis[i];
        if (!api->url || (!get(api->key_variable) && !get(api->url_variable)))
            continue;
        if (only && strcmp(only->key_variable, api->key_variable))
            return NULL;
        only = api;
    }
    return only && only->model_word ? only : NULL;
}

static const struct wr_api *find_api(const struct wr_endpoint_options *o, wr_getenv_fn *get)
{
    if (o->api)
        return wr_api_named(wr_span_of(o->api));
    if (o->base_url)
        return &wr_api_chat; /* every server of one's own speaks it */
    const struct wr_api *told = api_told(o->model, get);
    return told ? told : &wr_api_responses;
}

/* Somebody's own server: it may take no key, tells its window, and may want turns to be taken. */
static bool is_near(const char *url)
{
    struct wr_host host;
    return wr_host_of_url(wr_span_of(url), &host) && wr_host_is_private(host.name);
}

/* An address without a path means its /v1, or what its API has there. */
static bool set_base(struct wr_endpoint *e, const char *url)
{
    size_t bytes = strlen(url);
    const char *host = strstr(url, "://");

    while (bytes && url[bytes - 1] == '/')
        bytes--;
    if (!host || bytes <= (size_t)(host - url) + 3 || bytes + 16 > sizeof(e->base_url))
        return false;
    bool has_path = memchr(host + 3, '/', bytes - (size_t)(host - url) - 3);
    (void)snprintf(e->base_url, sizeof(e->base_url), "%.*s%s", (int)bytes, url,
                   has_path            ? ""
                   : e->api->base_path ? e->api->base_path
                                       : "/v1");
    e->is_local = is_near(url);
    return true;
}

weir_status wr_endpoint_find(struct wr_endpoint *e, const struct wr_endpoint_options *o,
                             wr_getenv_fn *get, struct weir_err *err)
{
    *e = (struct wr_endpoint){.key = NULL};
    e->api = find_api(o, get);
    if (!e->api)
        return wr_fail(err, WEIR_INVALID, 0, "--api is " WR_API_NAMES ", not '%s'", o->api);
    if (!e->api->url)
        return wr_fail(err, WEIR_INVALID, 0,
                       "weir agent does not speak %s; clients of it may go through weir serve",
                       e->api->name);
    const char *url = o->base_url;
    if (!url)
        url = get(e->api->url_variable);
    if (!url)
        url = e->api->url;
    if (!set_base(e, url))
        return wr_fail(err, WEIR_INVALID, 0, "'%s' is no address such as http://127.0.0.1:11434",
                       url);
    e->key = get(e->api->key_variable);
    if (e->key && !*e->key)
        e->key = NULL;
    if (!e->key && !e->is_local)
        return wr_fail(err, WEIR_INVALID, 0,
                       "no key for %s: set %s, or give --base-url of a local server", e->base_url,
                       e->api->key_variable);
    return WEIR_OK;
}

void wr_endpoint_url(const struct wr_endpoint *e, weir_span body, struct wr_buf *url)
{
    wr_buf_text(url, e->base_url);
    if (e->api->write_path)
        e->api->write_path(url, body);
    else
        wr_buf_text(url, e->api->paths[0].end);
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
    if (e->api->version_header)
        headers[count++] =
            (struct wr_header){wr_span_of(e->api->version_header), wr_span_of(e->api->version)};
    if (e->key && e->api->key_header)
        headers[count++] = (struct wr_header){wr_span_of(e->api->key_header), wr_span_of(e->key)};
    else if (e->key && !wr_buf_status(text))
        headers[count++] = (struct wr_header){WR_LIT("authorization"), wr_buf_view(text)};
    return count;
}
