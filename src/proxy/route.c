#include "proxy/route.h"

#include "base/span.h"

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

/* Azure's own paths begin with what is the name of OpenAI's upstream too. This one is Azure's (or
 * for a gateway that speaks like it), whatever comes with it. */
static bool is_azure_path(weir_span target)
{
    return wr_span_starts(target, WR_LIT("/openai/deployments/"));
}

/* Takes "/NAME" off the front of `target`, where an upstream has that name. */
static const struct wr_upstream *take_name(const struct wr_config *config, weir_span *target)
{
    weir_span rest = *target;
    if (is_azure_path(rest))
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

static const struct wr_upstream *by_path(const struct wr_config *config, const struct wr_head *head,
                                         weir_span target)
{
    const struct wr_upstream *azure = wr_credential_upstream("azure", config);
    const char *own = wr_api_upstream_of(target);

    if (azure && is_azure_path(target))
        return azure;
    if (is_below(target, WR_LIT("/backend-api")) || wr_head_find(head, "chatgpt-account-id").ptr)
        return wr_config_find(config, WR_LIT("chatgpt"));
    if (own)
        return wr_config_find(config, wr_span_of(own));
    if (is_below(target, WR_LIT("/v1/messages")) || wr_head_find(head, "anthropic-version").ptr)
        return wr_config_find(config, WR_LIT("anthropic"));
    return wr_config_find(config, WR_LIT("openai"));
}

/* If the path names no upstream the credential may decide: the upstream of its provider gets the
 * whole path. If the path names one, only that one is asked. One exception: "/openai/v1" with a key
 * of Azure's is Azure's own path. */
static void obey_credential(struct wr_route *route, const struct wr_config *config,
                            const struct wr_head *head, weir_span target, bool is_named)
{
    struct wr_credential strange;

    if (!wr_credential_find_strange(head, target, route->upstream, &strange))
        return;
    const struct wr_upstream *own = wr_credential_upstream(strange.provider, config);
    bool is_azures = !strcmp(strange.provider, "azure") && is_below(target, WR_LIT("/openai"));
    route->upstream = NULL;
    route->credential = strange;
    if (own && (!is_named || is_azures) &&
        !wr_credential_find_strange(head, target, own, &strange)) {
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
    if (route.upstream && !config->has_one_upstream)
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
    route.path = row ? row->usual : NULL;
    route.is_answer = row && row->is_answer;
    return route;
}

void wr_route_url(const struct wr_route *route, struct wr_buf *url)
{
    weir_span target = route->target, base = wr_span_of(route->upstream->path);

    /* Codex asks ChatGPT for other things than the model at paths beside it: /backend-api/wham/...
     */
    bool is_beside = is_below(base, WR_LIT("/backend-api")) && !is_below(target, base) &&
                     is_below(target, WR_LIT("/backend-api"));

    if (is_beside)
        target = wr_span_cut(target, strlen("/backend-api"), target.len);
    else if (base.len && is_below(target, base))
        target = wr_span_cut(target, base.len, target.len);
    else if (wr_span_ends(base, WR_LIT("/v1")) && is_below(target, WR_LIT("/v1")))
        target = wr_span_cut(target, strlen("/v1"), target.len);
    size_t beside_bytes = is_beside ? base.len - strlen("/backend-api") : 0;
    weir_span base_url = wr_span_of(route->upstream->base_url);
    wr_buf_append(url, wr_span_cut(base_url, 0, base_url.len - beside_bytes));
    wr_buf_append(url, target);
    wr_buf_byte(url, '\0');
}
