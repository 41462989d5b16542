/* credential.c -- credentials that requests bring, and the keys of providers that Weir holds.
 *
 * Each leaves for one provider alone. The first part knows whose a credential is that a request
 * brings; the second puts a key of our own in its place; the third says at which paths it may.
 */
#include "proxy/credential.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <strings.h>

#include "api/api.h"
#include "base/ascii.h"
#include "base/base64.h"
#include "base/span.h"
#include "json/json.h"
#include "net/http.h"
#include "net/sigv4.h"
#include "proxy/door.h"

/* ==== whose a credential is ====
 *
 * What a request carries is held against the shapes of the table of clouds (api/clouds.h), and the
 * host of an upstream against the hosts there.
 */

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

/* ==== keys that Weir holds ====
 *
 * Where keys come from, and how they leave.
 *
 * The header of a key is the first of: what weir.yaml says, what the cloud at the upstream's host
 * wants, what the cloud of the upstream's name wants, what the API of the request wants.
 */

enum { KEY_BYTES_MAX = 16 * 1024, MEMBERS_MAX = 8 };

struct reading {
    struct wr_config *config;
    struct wr_yaml *yaml;
    struct wr_upstream *upstream;
    const char *value, *header;
    struct wr_aws_keys *aws;
};

/* ---- where a key is ---- */

/* It stands in a header: what would end one is no key. */
static weir_status keep_key(struct reading *r, yaml_node_t *node, weir_span key, const char *from)
{
    key = wr_span_trim(key);
    for (size_t i = 0; i < key.len; i++)
        if ((unsigned char)key.ptr[i] < ' ' || (unsigned char)key.ptr[i] > '~')
            return wr_yaml_fail(r->yaml, node, WEIR_INVALID, "%s holds no key: it is one line",
                                from);
    if (!key.len)
        return wr_yaml_fail(r->yaml, node, WEIR_INVALID, "%s holds no key: it is empty", from);
    r->value = wr_arena_string(&r->config->arena, key);
    return r->value ? WEIR_OK : WEIR_NOMEM;
}

static weir_status read_variable(struct reading *r, yaml_node_t *node)
{
    weir_span name = wr_yaml_text(node);
    char text[128], from[160];

    if (!name.len || name.len >= sizeof(text))
        return wr_yaml_fail(r->yaml, node, WEIR_INVALID, "the name of a variable is wanted here");
    (void)snprintf(text, sizeof(text), "%.*s", (int)name.len, name.ptr);
    const char *value = getenv(text);
    if (!value)
        return wr_yaml_fail(r->yaml, node, WEIR_INVALID, "the variable %s is not set", text);
    (void)snprintf(from, sizeof(from), "the variable %s", text);
    return keep_key(r, node, wr_span_of(value), from);
}

static weir_status read_key_file(struct reading *r, yaml_node_t *node)
{
    const char *path = wr_arena_string(&r->config->arena, wr_yaml_text(node));
    char text[KEY_BYTES_MAX + 1];

    if (!path)
        return WEIR_NOMEM;
    FILE *file = fopen(path, "re");
    if (!file)
        return wr_yaml_fail(r->yaml, node, WEIR_INVALID, "this file cannot be read: %s",
                            strerror(errno));
    size_t bytes = fread(text, 1, sizeof(text), file);
    (void)fclose(file);
    weir_status status =
        bytes > KEY_BYTES_MAX
            ? wr_yaml_fail(r->yaml, node, WEIR_LIMIT, "a key has %d bytes at most", KEY_BYTES_MAX)
            : keep_key(r, node, (weir_span){text, bytes}, "this file");
    OPENSSL_cleanse(text, sizeof(text));
    return status;
}

static bool is_header_name(weir_span name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_",
                    name.ptr[i]))
            return false;
    return name.len > 0;
}

static weir_status on_key_member(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reading *r = user;
    weir_span name = wr_yaml_text(key);
    bool is_place = wr_span_is(name, "env") || wr_span_is(name, "file");

    if (is_place && r->value)
        return wr_yaml_fail(r->yaml, key, WEIR_INVALID, "a key has one place: env or file");
    if (wr_span_is(name, "env"))
        return read_variable(r, value);
    if (wr_span_is(name, "file"))
        return read_key_file(r, value);
    if (!wr_span_is(name, "header") || !is_header_name(wr_yaml_text(value)))
        return wr_yaml_fail(r->yaml, key, WEIR_INVALID,
                            "a key has env or file, and header, the name of one");
    r->header = wr_arena_string(&r->config->arena, wr_yaml_text(value));
    return r->header ? WEIR_OK : WEIR_NOMEM;
}

/* A mapping with `env` or `file`; the key itself is in r->value. */
static weir_status read_place(struct reading *r, yaml_node_t *value)
{
    r->value = r->header = NULL;
    if (wr_yaml_is_scalar(value))
        return wr_yaml_fail(r->yaml, value, WEIR_INVALID,
                            "a key does not stand in weir.yaml: {env: NAME} or {file: PATH} says "
                            "where it is");
    weir_status status = wr_yaml_each(r->yaml, value, MEMBERS_MAX, on_key_member, r);
    if (!status && !r->value)
        return wr_yaml_fail(r->yaml, value, WEIR_INVALID, "a key has env or file");
    return status;
}

weir_status wr_upstream_key_read(struct wr_config *config, struct wr_yaml *yaml, yaml_node_t *value,
                                 struct wr_upstream *upstream)
{
    struct reading r = {.config = config, .yaml = yaml, .upstream = upstream};
    weir_status status = read_place(&r, value);

    upstream->key = r.value;
    upstream->key_header = r.header;
    return status;
}

/* ---- keys that sign ---- */

static weir_status on_sign_member(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reading *r = user;
    weir_span name = wr_yaml_text(key);
    const struct {
        const char *name;
        const char **field;
    } rows[] = {{"access_key", &r->aws->access_key},
                {"secret_key", &r->aws->secret_key},
                {"session_token", &r->aws->session_token}};

    if (wr_span_is(name, "region") && wr_yaml_text(value).len) {
        r->aws->region = wr_arena_string(&r->config->arena, wr_yaml_text(value));
        return r->aws->region ? WEIR_OK : WEIR_NOMEM;
    }
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        if (wr_span_is(name, rows[i].name)) {
            weir_status status = read_place(r, value);
            *rows[i].field = r->value;
            return status;
        }
    return wr_yaml_fail(r->yaml, key, WEIR_INVALID,
                        "sign has region, access_key, secret_key and session_token");
}

/* "bedrock-runtime.us-east-1.amazonaws.com": the second part. NULL: there is none, or no memory. */
static const char *region_of_host(struct reading *r)
{
    struct wr_host host;

    if (!r->upstream->base_url || !wr_host_of_url(wr_span_of(r->upstream->base_url), &host))
        return NULL;
    const char *dot = memchr(host.name.ptr, '.', host.name.len);
    if (!dot || !wr_credential_cloud_at(r->upstream))
        return NULL;
    weir_span rest = wr_span_from(host.name, (size_t)(dot - host.name.ptr) + 1);
    const char *end = memchr(rest.ptr, '.', rest.len);
    return end ? wr_arena_string(&r->config->arena, wr_span_cut(rest, 0, (size_t)(end - rest.ptr)))
               : NULL;
}

/* The variables that AWS' own programs read. */
static void read_environment(struct wr_aws_keys *aws)
{
    const char *region = getenv("AWS_REGION");

    aws->access_key = getenv("AWS_ACCESS_KEY_ID");
    aws->secret_key = getenv("AWS_SECRET_ACCESS_KEY");
    aws->session_token = getenv("AWS_SESSION_TOKEN");
    aws->region = region ? region : getenv("AWS_DEFAULT_REGION");
}

weir_status wr_upstream_sign_read(struct wr_config *config, struct wr_yaml *yaml,
                                  yaml_node_t *value, struct wr_upstream *upstream)
{
    struct wr_aws_keys *aws = wr_arena_alloc(&config->arena, sizeof(*aws));
    struct reading r = {.config = config, .yaml = yaml, .upstream = upstream, .aws = aws};
    weir_status status = WEIR_OK;

    if (!aws)
        return WEIR_NOMEM;
    *aws = (struct wr_aws_keys){.access_key = NULL};
    if (wr_span_is(wr_yaml_text(value), "aws"))
        read_environment(aws);
    else
        status = wr_yaml_each(yaml, value, MEMBERS_MAX, on_sign_member, &r);
    if (!status && !aws->region)
        aws->region = region_of_host(&r);
    if (!status && (!aws->access_key || !aws->secret_key))
        return wr_yaml_fail(yaml, value, WEIR_INVALID,
                            "to sign, access_key and secret_key are needed; `sign: aws` takes "
                            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
    if (!status && !aws->region)
        return wr_yaml_fail(yaml, value, WEIR_INVALID,
                            "to sign, a region is needed: sign: {region: ...}, AWS_REGION, or a "
                            "base_url that has it, named before `sign`");
    upstream->aws = aws;
    return status;
}

/* ---- what the client sent ---- */

/* Those that belong to no API and no cloud, or only stand beside a signature. */
static bool is_common_credential(const struct wr_header *header)
{
    static const char *const names[] = {"authorization", "cookie", "x-amz-date",
                                        "x-amz-content-sha256"};
    for (size_t i = 0; i < WR_COUNT_OF(names); i++)
        if (wr_header_is(header, names[i]))
            return true;
    return false;
}

bool wr_key_is_credential(const struct wr_header *header)
{
    const struct wr_credential_shape *shape;
    const struct wr_cloud *cloud;

    for (size_t i = 0; (shape = wr_credential_shape_at(i)); i++)
        if (shape->place == WR_IN_HEADER && wr_header_is(header, shape->name))
            return true;
    for (size_t i = 0; (cloud = wr_cloud_at(i)); i++)
        if (cloud->key_header && wr_header_is(header, cloud->key_header))
            return true;
    for (size_t i = 0; i < WR_APIS_COUNT; i++)
        if (wr_apis[i]->key_header && wr_header_is(header, wr_apis[i]->key_header))
            return true;
    return is_common_credential(header);
}

bool wr_key_replaces(const struct wr_upstream *upstream, const struct wr_header *header)
{
    return wr_upstream_has_key(upstream) &&
           (wr_key_is_credential(header) ||
            (upstream->key_header && wr_header_is(header, upstream->key_header)));
}

weir_span wr_key_value(const struct wr_header *header)
{
    static const char scheme[] = "Bearer ";
    weir_span value = wr_span_trim(header->value);

    if (wr_header_is(header, "authorization") && value.len > strlen(scheme) &&
        !strncasecmp(value.ptr, scheme, strlen(scheme)))
        value = wr_span_trim(wr_span_from(value, strlen(scheme)));
    return value;
}

static bool is_credential_parameter(weir_span parameter)
{
    static const char *const names[] = {"key=", "access_token=", "api_key=", "api-key=", "x-amz-"};

    for (size_t i = 0; i < WR_COUNT_OF(names); i++)
        if (parameter.len >= strlen(names[i]) &&
            !strncasecmp(parameter.ptr, names[i], strlen(names[i])))
            return true;
    return false;
}

/* "key=TOKEN", whatever the name of the parameter is, or "TOKEN". */
static bool holds_token(const struct wr_config *config, weir_span parameter)
{
    const char *equals = parameter.len ? memchr(parameter.ptr, '=', parameter.len) : NULL;
    size_t name_bytes = equals ? (size_t)(equals - parameter.ptr) + 1 : 0;

    return wr_door_is_token(config, wr_span_from(parameter, name_bytes));
}

void wr_key_clean_target(const struct wr_config *config, const struct wr_upstream *upstream,
                         weir_span target, struct wr_buf *out)
{
    const char *question = target.len ? memchr(target.ptr, '?', target.len) : NULL;
    size_t path_bytes = question ? (size_t)(question - target.ptr) : target.len;
    char before = '?';

    wr_buf_append(out, wr_span_cut(target, 0, path_bytes));
    weir_span rest = wr_span_from(target, path_bytes + (question ? 1 : 0));
    while (rest.len) {
        const char *next = memchr(rest.ptr, '&', rest.len);
        size_t bytes = next ? (size_t)(next - rest.ptr) : rest.len;
        weir_span parameter = wr_span_cut(rest, 0, bytes);
        bool stays_here = wr_upstream_has_key(upstream) && is_credential_parameter(parameter);
        if (!stays_here && !holds_token(config, parameter)) {
            wr_buf_byte(out, before);
            wr_buf_append(out, parameter);
            before = '&';
        }
        rest = wr_span_from(rest, bytes + (next ? 1 : 0));
    }
}

/* ---- what leaves ---- */

static const char *header_for(const struct wr_key_call *call)
{
    const struct wr_cloud *cloud = wr_credential_cloud_at(call->upstream);

    if (call->upstream->key_header)
        return call->upstream->key_header;
    if (!cloud)
        cloud = wr_cloud_named(wr_span_of(call->upstream->name));
    if (cloud)
        return cloud->key_header;
    return call->api ? call->api->key_header : NULL;
}

/* As the Host header has it: a port that the scheme implies is not said. */
static weir_span host_and_target(weir_span url, weir_span *target)
{
    size_t at = wr_span_find(url, WR_LIT("://"), 0);
    weir_span rest = wr_span_from(url, at == SIZE_MAX ? 0 : at + strlen("://"));
    const char *slash = rest.len ? memchr(rest.ptr, '/', rest.len) : NULL;
    size_t bytes = slash ? (size_t)(slash - rest.ptr) : rest.len;
    weir_span host = wr_span_cut(rest, 0, bytes);
    bool is_tls = wr_span_starts(url, WR_LIT("https:"));

    *target = wr_span_from(rest, bytes);
    if (wr_span_ends(host, is_tls ? WR_LIT(":443") : WR_LIT(":80")))
        host.len -= is_tls ? strlen(":443") : strlen(":80");
    return host;
}

static size_t sign(const struct wr_key_call *call, struct wr_header headers[WR_KEY_HEADERS_MAX],
                   struct wr_buf *text)
{
    const struct wr_aws_keys *aws = call->upstream->aws;
    const struct wr_cloud *cloud = wr_credential_cloud_at(call->upstream);
    struct wr_aws_request request = {.method = call->method,
                                     .body = call->body,
                                     .service =
                                         cloud && cloud->service ? cloud->service : "bedrock",
                                     .now_ms = call->now_ms};
    char date[WR_AWS_DATE_BYTES];

    wr_buf_reserve(text, WR_NET_HEAD_BYTES_MAX); /* so that nothing moves any more */
    request.host = host_and_target(call->url, &request.target);
    if (wr_buf_status(text) || !wr_aws_sign(aws, &request, date, text))
        return 0;
    size_t at = text->len;
    headers[0] = (struct wr_header){WR_LIT("Authorization"), wr_buf_view(text)};
    wr_buf_text(text, date);
    headers[1] = (struct wr_header){WR_LIT("X-Amz-Date"), wr_span_from(wr_buf_view(text), at)};
    if (!aws->session_token)
        return wr_buf_status(text) ? 0 : 2;
    headers[2] = (struct wr_header){WR_LIT("X-Amz-Security-Token"), wr_span_of(aws->session_token)};
    return wr_buf_status(text) ? 0 : 3;
}

size_t wr_key_headers(const struct wr_key_call *call, struct wr_header headers[WR_KEY_HEADERS_MAX],
                      struct wr_buf *text)
{
    const char *name = header_for(call);

    if (call->upstream->aws)
        return sign(call, headers, text);
    if (name && strcasecmp(name, "authorization") != 0) {
        headers[0] = (struct wr_header){wr_span_of(name), wr_span_of(call->upstream->key)};
        return 1;
    }
    wr_buf_printf(text, "Bearer %s", call->upstream->key);
    headers[0] = (struct wr_header){WR_LIT("Authorization"), wr_buf_view(text)};
    return wr_buf_status(text) ? 0 : 1;
}

void wr_key_forget(struct wr_buf *text)
{
    if (text->len)
        OPENSSL_cleanse(text->bytes, text->len);
    wr_buf_release(text);
}

/* ==== where a key that Weir holds is shown ==== */

static bool is_below_front(weir_span path, weir_span front)
{
    return wr_span_starts(path, front) && (path.len == front.len || path.ptr[front.len] == '/');
}

/* Whether one of these stands at `at` in digits. */
static bool is_coded(weir_span path, size_t at, const char *const *codes, size_t codes_count)
{
    for (size_t k = 0; k < codes_count && path.ptr[at] == '%' && path.len - at > 2; k++)
        if (wr_lower(path.ptr[at + 1]) == codes[k][0] && wr_lower(path.ptr[at + 2]) == codes[k][1])
            return true;
    return false;
}

/* Whether some server may end the path before its end, or read a part of it as leading elsewhere:
 * what Weir counts goes by the end of a path, and the model may stand in it. A slash in digits is
 * one to some servers, and belongs to names of models (of Bedrock's) to others. */
static bool is_misleading(weir_span path)
{
    static const char *const ends[] = {"00", "23", "25", "2e", "3b", "3f", "5c"};
    static const char *const slash[] = {"2f"};
    size_t part_at = 0;

    for (size_t i = 0; i <= path.len; i++) {
        bool is_coded_slash = i < path.len && is_coded(path, i, slash, WR_COUNT_OF(slash));
        char c = i < path.len && !is_coded_slash ? path.ptr[i] : '/';
        weir_span part = wr_span_cut(path, part_at, i);
        if (c == '\\' || c == '#' || c == ';' ||
            (c == '%' && is_coded(path, i, ends, WR_COUNT_OF(ends))))
            return true;
        if (c != '/')
            continue;
        if (wr_span_is(part, ".") || wr_span_is(part, ".."))
            return true;
        part_at = i + (is_coded_slash ? 3 : 1);
    }
    return false;
}

/* A path that no server takes for another one: it has no parts that are empty or hidden, either. */
static bool is_plain(weir_span path)
{
    static const char *const slash[] = {"2f"};

    for (size_t i = 0; i < path.len; i++)
        if (is_coded(path, i, slash, WR_COUNT_OF(slash)) ||
            (i && path.ptr[i] == '/' && path.ptr[i - 1] == '/'))
            return false;
    return !is_misleading(path);
}

static bool lists_models(weir_span path)
{
    static const char *const others[] = {"/api/tags", "/api/ps", "/api/version"};

    for (size_t i = 0; i < WR_COUNT_OF(others); i++)
        if (wr_span_is(path, others[i]))
            return true;
    return wr_span_ends(path, WR_LIT("/models")) ||
           wr_span_find(path, WR_LIT("/models/"), 0) != SIZE_MAX;
}

/* An answer that is there is read, deleted, or cancelled. Whatever else is posted below answers may
 * be another spelling of what begins one, in capitals for instance, and nobody would count it. */
static bool asks_answer(const struct wr_head *head, weir_span path, bool is_read)
{
    weir_span id = wr_api_answer_id(path);
    weir_span verb = wr_span_from(path, id.len ? (size_t)(id.ptr + id.len - path.ptr) : 0);

    return id.len && (is_read || (wr_span_is(head->method, "DELETE") && !verb.len) ||
                      (wr_span_is(head->method, "POST") && wr_span_is(verb, "/cancel")));
}

bool wr_key_paths_allow(const struct wr_key_paths *paths, const struct wr_head *head,
                        weir_span target, bool is_model)
{
    bool is_read = wr_span_is(head->method, "GET") || wr_span_is(head->method, "HEAD");
    weir_span path = wr_target_path(target);
    bool is_known = asks_answer(head, path, is_read) || (is_read && lists_models(path));

    for (size_t i = 0; i < paths->count; i++)
        if (wr_span_is(paths->fronts[i], "/"))
            return true;
    if (is_model)
        return !is_misleading(path);
    for (size_t i = 0; i < paths->count && !is_known; i++)
        is_known = is_below_front(path, paths->fronts[i]);
    return is_known && is_plain(path);
}

static weir_status read_front(struct wr_key_paths *paths, struct wr_arena *arena,
                              struct wr_yaml *yaml, const yaml_node_t *node)
{
    weir_span text = wr_yaml_text(node);

    if (!wr_yaml_is_scalar(node) || !wr_span_starts(text, WR_LIT("/")) || !is_plain(text) ||
        wr_span_find(text, WR_LIT("?"), 0) != SIZE_MAX ||
        (text.len > 1 && text.ptr[text.len - 1] == '/'))
        return wr_yaml_fail(yaml, node, WEIR_INVALID,
                            "the beginning of a path is wanted here, such as /v1/embeddings, or "
                            "\"/\" for all");
    paths->fronts[paths->count++] = wr_arena_copy(arena, text);
    return wr_arena_status(arena);
}

weir_status wr_key_paths_read(struct wr_key_paths *paths, struct wr_arena *arena,
                              struct wr_yaml *yaml, yaml_node_t *value)
{
    weir_status status = WEIR_OK;

    paths->count = 0;
    if (value->type != YAML_SEQUENCE_NODE)
        return wr_yaml_fail(yaml, value, WEIR_INVALID, "a list of paths is wanted here");
    size_t count = (size_t)(value->data.sequence.items.top - value->data.sequence.items.start);
    if (count > WR_PROXY_KEY_PATHS_MAX)
        return wr_yaml_fail(yaml, value, WEIR_LIMIT, "%d paths at most", WR_PROXY_KEY_PATHS_MAX);
    for (size_t i = 0; i < count && !status; i++)
        status =
            read_front(paths, arena, yaml,
                       yaml_document_get_node(&yaml->doc, value->data.sequence.items.start[i]));
    return status;
}
