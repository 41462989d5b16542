/* What a request carries is held against the shapes of the table of clouds (api/clouds.h), and the
 * host of an upstream against the hosts there.
 */
#include "proxy/credential.h"

#include <strings.h>

#include "base/base64.h"
#include "base/span.h"
#include "json/json.h"
#include "net/host.h"

enum { TOKEN_BYTES_MAX = 16 * 1024, ISSUER_BYTES_MAX = 256 };

/* ---- what a request carries ---- */

static bool begins_with(weir_span value, const char *begins)
{
    size_t bytes = strlen(begins);
    return value.len >= (bytes ? bytes : 1) && !strncasecmp(value.ptr, begins, bytes);
}

/* The issuer that a JSON Web Token names: HEADER.PAYLOAD.SIGNATURE, the payload JSON in base64. */
static bool is_issued_by(weir_span token, const char *begins)
{
    const char *dot = memchr(token.ptr, '.', token.len);
    const char *end = dot ? memchr(dot + 1, '.', token.len - (size_t)(dot + 1 - token.ptr)) : NULL;
    struct wr_json doc;
    struct wr_buf payload;
    struct wr_arena arena;
    bool is = false;

    if (!begins_with(token, "eyJ") || !end || token.len > TOKEN_BYTES_MAX)
        return false;
    wr_buf_init(&payload, TOKEN_BYTES_MAX);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_span inner = {dot + 1, (size_t)(end - dot) - 1};
    if (wr_base64_decode(inner, &payload) &&
        !wr_json_parse(&doc, &arena, wr_buf_view(&payload), NULL, NULL)) {
        wr_json_id issuer = wr_json_find(&doc, 0, "iss");
        if (wr_json_is(&doc, issuer, WR_JSON_STRING)) {
            weir_span text = wr_json_text(&doc, &arena, issuer);
            is = text.ptr && begins_with(text, begins);
        }
    }
    wr_arena_release(&arena);
    wr_buf_release(&payload);
    return is;
}

static bool is_in_headers(const struct wr_credential_shape *shape, const struct wr_head *head)
{
    bool is_issuer = shape->place == WR_IN_ISSUER;
    bool is_bearer = is_issuer || shape->place == WR_IN_BEARER;
    const char *name = is_bearer ? "authorization" : shape->name;

    for (size_t i = 0; i < head->headers_count; i++) {
        weir_span value = wr_span_trim(head->headers[i].value);
        if (!wr_header_is(&head->headers[i], name))
            continue;
        if (is_bearer && begins_with(value, "Bearer "))
            value = wr_span_trim(wr_span_cut(value, strlen("Bearer "), value.len));
        else if (is_bearer)
            continue;
        if (is_issuer ? is_issued_by(value, shape->begins) : begins_with(value, shape->begins))
            return true;
    }
    return false;
}

static bool is_in_query(const struct wr_credential_shape *shape, weir_span target)
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

static bool is_carried(const struct wr_credential_shape *shape, const struct wr_head *head,
                       weir_span target)
{
    switch (shape->place) {
    case WR_IN_HEADER:
    case WR_IN_BEARER:
    case WR_IN_ISSUER:
        return is_in_headers(shape, head);
    case WR_IN_QUERY:
        return is_in_query(shape, target);
    case WR_IN_PATH:
        return begins_with(target, shape->begins);
    }
    return false;
}

bool wr_credential_is_signed(const struct wr_head *head, weir_span target)
{
    static const struct wr_credential_shape signatures[] = {
        {.place = WR_IN_HEADER, .name = "authorization", .begins = "AWS4-"},
        {.place = WR_IN_QUERY, .name = "X-Amz-Signature", .begins = ""}};

    return is_carried(&signatures[0], head, target) || is_carried(&signatures[1], head, target);
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

/* Empty: its address has none. It is read once for all clouds: every request asks for its cloud. */
static weir_span host_of(const struct wr_upstream *upstream)
{
    struct wr_host host;
    return wr_host_of_url(wr_span_of(upstream->base_url), &host) ? host.name : WR_LIT("");
}

static bool is_at_cloud(weir_span host, const struct wr_cloud *cloud)
{
    for (size_t i = 0; i < WR_COUNT_OF(cloud->hosts) && host.len; i++)
        if (cloud->hosts[i] && is_host_of(host, cloud->hosts[i]))
            return true;
    return false;
}

static const struct wr_cloud *get_cloud(const char *name)
{
    return wr_cloud_named(wr_span_of(name));
}

const struct wr_cloud *wr_credential_cloud_at(const struct wr_upstream *upstream)
{
    const struct wr_cloud *cloud;
    weir_span host = host_of(upstream);

    for (size_t i = 0; (cloud = wr_cloud_at(i)); i++)
        if (is_at_cloud(host, cloud))
            return cloud;
    return NULL;
}

const char *wr_credential_provider(const struct wr_upstream *upstream, const struct wr_api *api)
{
    const struct wr_cloud *cloud = wr_credential_cloud_at(upstream);

    if (!cloud)
        cloud = get_cloud(upstream->name);
    if (!cloud && api && api->upstreams)
        cloud = get_cloud(api->upstreams[0].name);
    if (!cloud)
        return NULL;
    return cloud->semconv ? cloud->semconv : cloud->name;
}

static bool is_for(const struct wr_credential_shape *shape, const struct wr_upstream *upstream)
{
    weir_span host = host_of(upstream);

    for (size_t i = 0; i < WR_COUNT_OF(shape->clouds); i++)
        if (shape->clouds[i] && is_at_cloud(host, get_cloud(shape->clouds[i])))
            return true;
    return false;
}

bool wr_credential_find_strange(const struct wr_head *head, weir_span target,
                                const struct wr_upstream *upstream,
                                struct wr_credential *credential)
{
    const struct wr_credential_shape *shape;

    if (!wr_credential_cloud_at(upstream))
        return false;
    for (size_t i = 0; (shape = wr_credential_shape_at(i)); i++) {
        if (!is_carried(shape, head, target) || is_for(shape, upstream))
            continue;
        const struct wr_cloud *cloud = get_cloud(shape->clouds[0]);
        *credential = (struct wr_credential){shape->shown, cloud->name, cloud->base_url};
        return true;
    }
    return false;
}

const struct wr_upstream *wr_credential_upstream(const char *name, const struct wr_config *config)
{
    const struct wr_upstream *named = wr_config_find(config, wr_span_of(name));

    for (size_t i = 0; i < config->upstreams_count && !named; i++)
        if (is_at_cloud(host_of(&config->upstreams[i]), get_cloud(name)))
            named = &config->upstreams[i];
    return named;
}
