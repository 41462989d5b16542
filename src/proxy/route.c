/* Which upstream a request goes to, and at which address.
 *
 * In this order: the name in the path (/p/NAME/, /NAME/), what only one cloud's paths begin with,
 * headers and fronts of the APIs, else the first upstream. Then the credential is asked: what its
 * provider alone may see goes to that provider, or nowhere. The tables are in src/api (clouds.c,
 * and `fronts` of the APIs); here is the order alone.
 */
#include "proxy/route.h"

#include "base/os.h"
#include "base/span.h"
#include "proxy/upstream_key.h"

/* Whether `path` begins with the whole parts of `prefix`. */
static bool is_below(weir_span path, weir_span prefix)
{
    return wr_span_starts(path, prefix) &&
           (path.len == prefix.len || path.ptr[prefix.len] == '/' || path.ptr[prefix.len] == '?');
}

static bool names_upstream(weir_span target)
{
    return wr_span_starts(target, WR_LIT("/p/"));
}

/* Takes "/NAME" off the front of `target`, where an upstream has that name. */
static const struct wr_upstream *take_name(const struct wr_config *config, weir_span *target)
{
    weir_span rest = *target;
    /* Azure's own paths begin with what is the name of OpenAI's upstream too. */
    if (wr_cloud_of_front(rest))
        return NULL;
    if (names_upstream(rest))
        rest = wr_span_cut(rest, strlen("/p"), rest.len);
    const char *slash = rest.len > 1 ? memchr(rest.ptr + 1, '/', rest.len - 1) : NULL;
    if (!slash)
        return NULL;
    size_t end = (size_t)(slash - rest.ptr);
    const struct wr_upstream *upstream = wr_config_find(config, wr_span_cut(rest, 1, end));
    if (upstream)
        *target = wr_span_cut(rest, end, rest.len);
    return upstream;
}

/* Whose version of an API a request names. */
static const char *by_version(const struct wr_head *head)
{
    for (size_t i = 0; i < WR_APIS_COUNT; i++) {
        const struct wr_api *api = wr_apis[i];
        if (api->version_header && wr_head_find(head, api->version_header).ptr)
            return api->upstreams->name;
    }
    return NULL;
}

static const struct wr_upstream *by_path(const struct wr_config *config, const struct wr_head *head,
                                         weir_span target)
{
    const struct wr_cloud *cloud = wr_cloud_of_front(target);
    const struct wr_upstream *at = cloud ? wr_credential_upstream(cloud->name, config) : NULL;
    const char *own = wr_api_upstream_of(target);

    if (at)
        return at;
    if (is_below(target, WR_LIT("/backend-api")) || wr_head_find(head, "chatgpt-account-id").ptr)
        return wr_config_find(config, WR_LIT("chatgpt"));
    if (!own)
        own = by_version(head);
    return wr_config_find(config, wr_span_of(own ? own : wr_api_upstream_at(0)->name));
}

static bool shares_front(const char *name, weir_span target)
{
    const struct wr_cloud *cloud = wr_cloud_named(wr_span_of(name));

    for (size_t i = 0; i < WR_COUNT_OF(cloud->shared); i++)
        if (cloud->shared[i] && is_below(target, wr_span_of(cloud->shared[i])))
            return true;
    return false;
}

/* If the path names no upstream the credential may decide: the upstream of its provider gets the
 * whole path. If the path names one, only that one is asked. One exception: "/openai/v1" with a key
 * of Azure's is Azure's own path (`shared` of the table of clouds). */
static void obey_credential(struct wr_route *route, const struct wr_config *config,
                            const struct wr_head *head, weir_span target, bool is_named)
{
    struct wr_credential strange;

    if (!wr_credential_find_strange(head, target, route->upstream, &strange))
        return;
    const struct wr_upstream *own = wr_credential_upstream(strange.provider, config);
    bool is_kept_back = !wr_upstream_has_key(route->upstream);
    bool is_shared = shares_front(strange.provider, target);
    /* Where Weir shows a key of its own the client's credential stays here: nobody sees it. */
    if (!is_kept_back && !(is_shared && own))
        return;
    route->upstream = NULL;
    route->credential = strange;
    if (own && (!is_named || is_shared) &&
        (wr_upstream_has_key(own) || !wr_credential_find_strange(head, target, own, &strange))) {
        route->upstream = own;
        route->target = target;
    }
}

struct wr_route wr_route_find(const struct wr_config *config, const struct wr_head *head,
                              weir_span target)
{
    struct wr_route route = {.target = target};

    if (config->has_one_upstream)
        route.upstream = &config->upstreams[0];
    else
        route.upstream = take_name(config, &route.target);
    bool is_named = route.upstream != NULL;
    /* A credential meant for one provider is not for another to see: no guess after /p/. */
    if (!route.upstream && !names_upstream(target))
        route.upstream = by_path(config, head, route.target);
    if (route.upstream)
        obey_credential(&route, config, head, target, is_named);
    /* Codex has one base URL for both logins, and only OpenAI's API has a /v1. */
    if (route.upstream && !strcmp(route.upstream->name, "chatgpt") &&
        is_below(route.target, WR_LIT("/v1")))
        route.target = wr_span_cut(route.target, strlen("/v1"), route.target.len);
    const struct wr_api_path *row = NULL;
    if (wr_span_is(head->method, "POST"))
        route.api = wr_api_by_path(route.target, &row);
    if (!route.api)
        route.answer_id = wr_api_answer_id(route.target);
    route.is_signed = route.upstream && !wr_upstream_has_key(route.upstream) &&
                      wr_credential_is_signed(head, target);
    route.path = row ? row->usual : NULL;
    route.is_answer = row && row->is_answer;
    return route;
}

/* ---- the address ---- */

/* "v1", "v1beta1", ...: where a path has it, it says which version of an API is asked. */
static bool is_version(weir_span part)
{
    if (part.len < 2 || part.ptr[0] != 'v' || part.ptr[1] < '0' || part.ptr[1] > '9')
        return false;
    for (size_t i = 1; i < part.len; i++)
        if (!memchr("0123456789abcdefghijklmnopqrstuvwxyz", part.ptr[i], 36))
            return false;
    return true;
}

/* The base path without a version at its end; all of it where it has none. */
static size_t version_at(weir_span base)
{
    const char *slash = wr_os_last_byte(base.ptr, '/', base.len);
    size_t at = slash ? (size_t)(slash - base.ptr) : base.len;

    return slash && is_version(wr_span_from(base, at + 1)) ? at : base.len;
}

static bool begins_with_version(weir_span target)
{
    size_t end = 1;

    while (end < target.len && !memchr("/?", target.ptr[end], 2))
        end++;
    return target.len > 1 && target.ptr[0] == '/' && is_version(wr_span_cut(target, 1, end));
}

/* How much of the base path stays in front of the target: what both have is written once.
 *
 *   /api/v1      /api/v1/chat      all of it is in the target
 *   /gw/api/v1   /api/v1/chat      its end is, up to a version
 *   /openai/v1   /openai/x         what stands before its version is
 *   /gw/v1       /v1beta1/x        the target says another version
 */
static size_t kept_of_base(weir_span base, weir_span target)
{
    size_t version = version_at(base);

    for (size_t at = 0; at < base.len; at++)
        if (base.ptr[at] == '/' && (!at || version < base.len) &&
            is_below(target, wr_span_from(base, at)))
            return at;
    if (version && version < base.len && is_below(target, wr_span_cut(base, 0, version)))
        return 0;
    return version < base.len && begins_with_version(target) ? version : base.len;
}

void wr_route_url(const struct wr_route *route, struct wr_buf *url)
{
    weir_span target = route->target, base = wr_span_of(route->upstream->path);
    weir_span base_url = wr_span_of(route->upstream->base_url);
    size_t kept = kept_of_base(base, target);

    /* Codex asks ChatGPT for other things than the model at paths beside it: /backend-api/wham/...
     */
    if (is_below(base, WR_LIT("/backend-api")) && is_below(target, WR_LIT("/backend-api")))
        kept = 0;
    wr_buf_append(url, wr_span_cut(base_url, 0, base_url.len - base.len + kept));
    wr_buf_append(url, target);
    wr_buf_byte(url, '\0');
}
