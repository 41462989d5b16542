/* Where keys come from, and how they leave.
 *
 * The header of a key is the first of: what weir.yaml says, what the cloud at the upstream's host
 * wants, what the cloud of the upstream's name wants, what the API of the request wants.
 */
#include "proxy/upstream_key.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <strings.h>

#include "base/span.h"
#include "net/host.h"
#include "net/sigv4.h"
#include "proxy/credential.h"
#include "proxy/door.h"

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
static weir_span host_of(weir_span url, weir_span *target)
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
    request.host = host_of(call->url, &request.target);
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
