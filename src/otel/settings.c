/* Where telemetry is sent: weir.yaml, then the environment.
 *
 * The variables are OpenTelemetry's, with their meaning there: OTEL_EXPORTER_OTLP_ENDPOINT is a
 * base that /v1/traces and /v1/metrics are put behind, ..._TRACES_ENDPOINT and ..._METRICS_ENDPOINT
 * are whole. They replace what weir.yaml says, as all variables do. A protocol that Weir does not
 * speak is refused at the start: spans sent to a gRPC port would be lost without a word.
 */
#include "otel/settings.h"

#include "base/err.h"
#include "base/span.h"
#include "net/http.h"

#define URL_WANTED "an endpoint is http://HOST[:PORT][/PATH] or https://..."

enum { MS_PER_S = 1000, MEMBERS_MAX = 8, VALUE_BYTES_MAX = 8 * 1024 };

void wr_otel_settings_init(struct wr_otel_settings *settings)
{
    *settings = (struct wr_otel_settings){
        .service = "weir", .interval_ms = WR_OTEL_INTERVAL_MS, .timeout_ms = WR_OTEL_TIMEOUT_MS};
}

static const char *join_text(struct wr_arena *arena, weir_span a, const char *b)
{
    size_t b_bytes = strlen(b);
    char *text = wr_arena_alloc(arena, a.len + b_bytes + 1);

    if (!text)
        return NULL;
    if (a.len)
        memcpy(text, a.ptr, a.len);
    memcpy(text + a.len, b, b_bytes + 1);
    return text;
}

static bool is_url(weir_span url)
{
    struct wr_host host;

    for (size_t i = 0; i < url.len; i++)
        if ((unsigned char)url.ptr[i] <= ' ' || strchr("#@", url.ptr[i]))
            return false;
    return (wr_span_starts(url, WR_LIT("http://")) || wr_span_starts(url, WR_LIT("https://"))) &&
           wr_host_of_url(url, &host);
}

static weir_status set_base(struct wr_otel_settings *s, struct wr_arena *arena, weir_span url)
{
    while (url.len && url.ptr[url.len - 1] == '/')
        url.len--;
    if (!is_url(url))
        return WEIR_INVALID;
    s->traces_url = join_text(arena, url, "/v1/traces");
    s->metrics_url = join_text(arena, url, "/v1/metrics");
    return s->traces_url && s->metrics_url ? WEIR_OK : WEIR_NOMEM;
}

/* It stands in the head of a request, or in JSON: one line of printable text. */
static bool is_line(weir_span text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < ' ' || (unsigned char)text.ptr[i] > '~')
            return false;
    return text.len <= VALUE_BYTES_MAX;
}

static bool is_name(weir_span name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.",
                    name.ptr[i]))
            return false;
    return name.len > 0;
}

static weir_status add_pair(struct wr_arena *arena, struct wr_header *pairs, size_t *count,
                            size_t count_max, struct wr_header pair)
{
    if (!is_name(pair.name) || !is_line(pair.value))
        return WEIR_INVALID;
    if (*count == count_max)
        return WEIR_LIMIT;
    const char *name = join_text(arena, pair.name, ""), *value = join_text(arena, pair.value, "");
    if (!name || !value)
        return WEIR_NOMEM;
    pairs[(*count)++] = (struct wr_header){{name, pair.name.len}, {value, pair.value.len}};
    return WEIR_OK;
}

/* ---- weir.yaml ---- */

struct reading {
    struct wr_otel_settings *settings;
    struct wr_arena *arena;
    struct wr_yaml *yaml;
};

static weir_status on_header(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reading *r = user;
    struct wr_header pair = {wr_yaml_text(key), wr_yaml_text(value)};
    weir_status status = wr_yaml_is_scalar(value)
                             ? add_pair(r->arena, r->settings->headers, &r->settings->headers_count,
                                        WR_OTEL_HEADERS_MAX, pair)
                             : WEIR_INVALID;

    if (status == WEIR_INVALID || status == WEIR_LIMIT)
        return wr_yaml_fail(r->yaml, value, status, "a header is NAME: one line; %d at most",
                            WR_OTEL_HEADERS_MAX);
    return status;
}

static weir_status read_interval(struct reading *r, yaml_node_t *value)
{
    uint64_t seconds;

    if (!wr_span_u64(wr_yaml_text(value), &seconds) || !seconds ||
        seconds > WR_OTEL_INTERVAL_MS_MAX / MS_PER_S)
        return wr_yaml_fail(r->yaml, value, WEIR_INVALID, "interval is in seconds, 1 to %d",
                            WR_OTEL_INTERVAL_MS_MAX / MS_PER_S);
    r->settings->interval_ms = (uint32_t)seconds * MS_PER_S;
    return WEIR_OK;
}

static weir_status on_member(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reading *r = user;
    weir_span name = wr_yaml_text(key), text = wr_yaml_text(value);

    if (wr_span_is(name, "endpoint")) {
        weir_status status = set_base(r->settings, r->arena, text);
        return status == WEIR_INVALID ? wr_yaml_fail(r->yaml, value, status, URL_WANTED) : status;
    }
    if (wr_span_is(name, "headers"))
        return wr_yaml_each(r->yaml, value, WR_OTEL_HEADERS_MAX, on_header, r);
    if (wr_span_is(name, "interval"))
        return read_interval(r, value);
    if (wr_span_is(name, "service") && text.len && is_line(text)) {
        r->settings->service = join_text(r->arena, text, "");
        return r->settings->service ? WEIR_OK : WEIR_NOMEM;
    }
    return wr_yaml_fail(r->yaml, key, WEIR_INVALID,
                        "otel has endpoint, headers, interval and service, one line each");
}

weir_status wr_otel_settings_read(struct wr_otel_settings *settings, struct wr_arena *arena,
                                  struct wr_yaml *yaml, yaml_node_t *value)
{
    struct reading r = {settings, arena, yaml};
    weir_status status;

    wr_otel_settings_init(settings);
    status = wr_yaml_each(yaml, value, MEMBERS_MAX, on_member, &r);
    if (!status && !settings->traces_url)
        return wr_yaml_fail(yaml, value, WEIR_INVALID, "otel has an endpoint");
    return status;
}

/* ---- the environment ---- */

struct variables {
    struct wr_otel_settings *settings;
    struct wr_arena *arena;
    wr_otel_getenv_fn *get;
    struct weir_err *err;
};

/* NULL where it is not set, or empty, which is the same to OpenTelemetry. */
static const char *find_variable(const struct variables *v, const char *name)
{
    const char *text = v->get(name);
    return text && *text ? text : NULL;
}

static weir_status read_url(const struct variables *v, const char *name, const char **url)
{
    const char *text = find_variable(v, name);

    if (!text)
        return WEIR_OK;
    if (!is_url(wr_span_of(text)))
        return wr_fail(v->err, WEIR_INVALID, 0, "%s: " URL_WANTED, name);
    *url = join_text(v->arena, wr_span_of(text), "");
    return *url ? WEIR_OK : wr_fail(v->err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
}

static weir_status read_urls(const struct variables *v)
{
    const char *base = find_variable(v, "OTEL_EXPORTER_OTLP_ENDPOINT");
    weir_status status = base ? set_base(v->settings, v->arena, wr_span_of(base)) : WEIR_OK;

    if (status)
        return wr_fail(v->err, status, 0, "OTEL_EXPORTER_OTLP_ENDPOINT: " URL_WANTED);
    status = read_url(v, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &v->settings->traces_url);
    if (!status)
        status = read_url(v, "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", &v->settings->metrics_url);
    return status;
}

static int hex_digit(char c)
{
    const char *at = c ? strchr("0123456789abcdef", c | 0x20) : NULL;
    return at ? (int)(at - "0123456789abcdef") : -1;
}

/* The values of such lists are percent-encoded. */
static weir_span decode_percent(struct wr_arena *arena, weir_span text)
{
    char *out = wr_arena_alloc(arena, text.len + 1);
    size_t len = 0;

    for (size_t i = 0; out && i < text.len; i++) {
        int high = i + 2 < text.len && text.ptr[i] == '%' ? hex_digit(text.ptr[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(text.ptr[i + 2]) : -1;
        out[len++] = low >= 0 ? (char)(high * 16 + low) : text.ptr[i];
        i += low >= 0 ? 2 : 0;
    }
    return (weir_span){out, len};
}

/* "name=value,name=value". */
static weir_status read_pairs(const struct variables *v, const char *name, struct wr_header *pairs,
                              size_t *count, size_t count_max)
{
    const char *text = find_variable(v, name);
    weir_status status = WEIR_OK;

    for (const char *at = text; at && *at && !status;) {
        size_t bytes = strcspn(at, ",");
        weir_span item = wr_span_trim((weir_span){at, bytes});
        const char *equals = item.len ? memchr(item.ptr, '=', item.len) : NULL;
        at += bytes + (at[bytes] == ',');
        if (!item.len)
            continue;
        size_t name_bytes = equals ? (size_t)(equals - item.ptr) : item.len;
        struct wr_header pair = {wr_span_trim(wr_span_cut(item, 0, name_bytes)), {NULL, 0}};
        if (equals)
            pair.value =
                decode_percent(v->arena, wr_span_trim(wr_span_cut(item, name_bytes + 1, item.len)));
        status = equals ? add_pair(v->arena, pairs, count, count_max, pair) : WEIR_INVALID;
    }
    return status ? wr_fail(v->err, status, 0, "%s is NAME=VALUE,NAME=VALUE, %zu at most", name,
                            count_max)
                  : WEIR_OK;
}

static weir_status read_ms(const struct variables *v, const char *name, uint32_t *ms)
{
    const char *text = find_variable(v, name);
    uint64_t number;

    if (!text)
        return WEIR_OK;
    if (!wr_span_u64(wr_span_of(text), &number) || !number || number > WR_OTEL_INTERVAL_MS_MAX)
        return wr_fail(v->err, WEIR_INVALID, 0, "%s is in milliseconds, 1 to %d", name,
                       WR_OTEL_INTERVAL_MS_MAX);
    *ms = (uint32_t)number;
    return WEIR_OK;
}

/* JSON goes to the same ports and paths as Protobuf over HTTP; gRPC has others. */
static weir_status check_protocol(const struct variables *v)
{
    const char *said = find_variable(v, "OTEL_EXPORTER_OTLP_PROTOCOL");

    if (!said || !strcmp(said, "http/json") || !strcmp(said, "http/protobuf") ||
        !wr_otel_is_on(v->settings))
        return WEIR_OK;
    return wr_fail(v->err, WEIR_INVALID, 0,
                   "OTEL_EXPORTER_OTLP_PROTOCOL is '%.20s': Weir speaks http/json; name the "
                   "receiver's HTTP port (often 4318) and http/json",
                   said);
}

static void obey_switches(const struct variables *v)
{
    const char *is_off = find_variable(v, "OTEL_SDK_DISABLED");
    const char *traces = find_variable(v, "OTEL_TRACES_EXPORTER");
    const char *metrics = find_variable(v, "OTEL_METRICS_EXPORTER");
    bool is_all_off = is_off && !strcmp(is_off, "true");

    if (is_all_off || (traces && !strcmp(traces, "none")))
        v->settings->traces_url = NULL;
    if (is_all_off || (metrics && !strcmp(metrics, "none")))
        v->settings->metrics_url = NULL;
}

weir_status wr_otel_settings_environment(struct wr_otel_settings *settings, struct wr_arena *arena,
                                         wr_otel_getenv_fn *get, struct weir_err *err)
{
    struct variables v = {settings, arena, get, err};
    const char *service = find_variable(&v, "OTEL_SERVICE_NAME");
    weir_status status = read_urls(&v);

    obey_switches(&v);
    if (status || !wr_otel_is_on(settings))
        return status;
    if (service && is_line(wr_span_of(service)))
        settings->service = join_text(arena, wr_span_of(service), "");
    if (!settings->service)
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    status = check_protocol(&v);
    if (!status)
        status = read_ms(&v, "OTEL_METRIC_EXPORT_INTERVAL", &settings->interval_ms);
    if (!status)
        status = read_ms(&v, "OTEL_EXPORTER_OTLP_TIMEOUT", &settings->timeout_ms);
    if (!status)
        status = read_pairs(&v, "OTEL_EXPORTER_OTLP_HEADERS", settings->headers,
                            &settings->headers_count, WR_OTEL_HEADERS_MAX);
    if (!status)
        status = read_pairs(&v, "OTEL_RESOURCE_ATTRIBUTES", settings->resource,
                            &settings->resource_count, WR_OTEL_RESOURCE_MAX);
    return status;
}
