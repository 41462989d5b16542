/* weir.yaml and the options of `weir serve`, read into struct wr_config.
 *
 * Defaults first, then the file, then the command line, each replacing what it names. Every value
 * is checked where it is read, so that the message can name line and column. Two things can only
 * be checked when all is read: that the upstreams that rules name exist, and that no user's token
 * opens the metrics. Policies are checked later, when they are known: wr_config_set_policies().
 *
 * A file with anything wrong in it is refused whole: a server that runs with half of its settings
 * would do something that nobody wrote.
 */
#include "proxy/config.h"

#include <stdlib.h>

#include "api/clouds.h"
#include "base/err.h"
#include "base/os.h"
#include "base/span.h"
#include "base/yaml.h"
#include "models/registry.h"
#include "net/http.h"
#include "proxy/config_keys.h"
#include "proxy/credential.h"
#include "proxy/places.h"
#include "proxy/references.h"
#include "proxy/tls_settings.h"
#include "store/store.h"

#define ONE_UPSTREAM "upstream" /* the name of the one that --upstream URL sets */

enum {
    CONFIG_BYTES_MAX = 4 * 1024 * 1024,
    KEYS_MAX = 64,
    WORKERS_MAX = 64,
    THREADS_MAX = 64,
    KEEP_DAYS = 30,
    KEEP_DAYS_MAX = 100000,
    RULE_SIGN_BYTES = 8, /* of a tool's or a path's rule beside its name */
};

/* ---- texts ---- */

static weir_status no_memory(struct weir_err *err)
{
    return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
}

weir_status wr_config_set_text(struct wr_config *config, const char **field, const char *text,
                               struct weir_err *err)
{
    *field = wr_arena_string(&config->arena, wr_span_of(text));
    return *field ? WEIR_OK : no_memory(err);
}

#define RECALL_WANTED "recall is auto, client, own or off"

weir_status wr_config_set_recall(struct wr_config *config, const char *text, struct weir_err *err)
{
    if (wr_recall_parse(wr_span_of(text), &config->recall))
        return WEIR_OK;
    return wr_fail(err, WEIR_INVALID, 0, RECALL_WANTED ", not '%s'", text);
}

weir_status wr_config_set_mode(struct wr_config *config, const char *text, struct weir_err *err)
{
    if (wr_mode_parse(wr_span_of(text), &config->mode, &config->percent))
        return WEIR_OK;
    return wr_fail(err, WEIR_INVALID, 0, WR_MODE_WANTED ", not '%s'", text);
}

/* ---- addresses ---- */

#define LISTEN_WANTED                                                                             \
    "an address to listen on is HOST:PORT, the port from 0 (any that is free) to 65535, IPv6 in " \
    "[]"

static bool is_address(weir_span text)
{
    struct wr_host host;
    return wr_host_parse(text, &host) && host.port != WR_PORT_NONE;
}

weir_status wr_config_set_listen(struct wr_config *config, const char *listen, struct weir_err *err)
{
    if (is_address(wr_span_of(listen)))
        return wr_config_set_text(config, &config->listen, listen, err);
    return wr_fail(err, WEIR_INVALID, 0, LISTEN_WANTED ", not '%.40s'", listen);
}

/* ---- upstreams ---- */

static bool is_url(weir_span url, size_t *host_at, struct wr_host *host)
{
    if (wr_span_starts(url, WR_LIT("http://")))
        *host_at = strlen("http://");
    else if (wr_span_starts(url, WR_LIT("https://")))
        *host_at = strlen("https://");
    else
        return false;
    for (size_t i = 0; i < url.len; i++)
        if ((unsigned char)url.ptr[i] <= ' ' || strchr("?#@", url.ptr[i]))
            return false;
    return wr_host_of_url(url, host);
}

weir_status wr_config_set_url(struct wr_config *config, struct wr_upstream *upstream, weir_span url)
{
    struct wr_host host;
    size_t host_at;
    while (url.len && url.ptr[url.len - 1] == '/')
        url.len--;
    if (!is_url(url, &host_at, &host))
        return WEIR_INVALID;
    if (!upstream->is_alternates_said)
        upstream->alternates = wr_host_is_private(host.name);
    const char *slash = memchr(url.ptr + host_at, '/', url.len - host_at);
    size_t path_at = slash ? (size_t)(slash - url.ptr) : url.len;
    upstream->base_url = wr_arena_string(&config->arena, url);
    upstream->path = upstream->base_url ? upstream->base_url + path_at : NULL;
    return upstream->path ? WEIR_OK : WEIR_NOMEM;
}

static struct wr_upstream *get_upstream(struct wr_config *config, weir_span name)
{
    for (size_t i = 0; i < config->upstreams_count; i++)
        if (wr_span_is(name, config->upstreams[i].name))
            return &config->upstreams[i];
    if (config->upstreams_count == WR_PROXY_UPSTREAMS_MAX)
        return NULL;
    struct wr_upstream *upstream = &config->upstreams[config->upstreams_count];
    *upstream = (struct wr_upstream){.name = wr_arena_string(&config->arena, name)};
    if (!upstream->name)
        return NULL;
    config->upstreams_count++;
    return upstream;
}

const struct wr_upstream *wr_config_find(const struct wr_config *config, weir_span name)
{
    for (size_t i = 0; i < config->upstreams_count; i++)
        if (wr_span_is(name, config->upstreams[i].name))
            return &config->upstreams[i];
    return NULL;
}

weir_status wr_config_set_upstream(struct wr_config *config, const char *url, struct weir_err *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t name_bytes = strspn(url, letters);
    weir_span name = WR_LIT(ONE_UPSTREAM);

    if (name_bytes && url[name_bytes] == '=') {
        name = (weir_span){url, name_bytes};
        url += name_bytes + 1;
    } else {
        config->upstreams_count = 0;
        config->has_one_upstream = true;
    }
    struct wr_near near;
    if (!wr_config_find(config, name) && wr_config_upstream_is_slip(config, name, &near))
        return wr_fail(err, WEIR_INVALID, 0, "no upstream is called '%.*s'%s", (int)name.len,
                       name.ptr, near.text);
    struct wr_upstream *upstream = get_upstream(config, name);
    if (!upstream)
        return no_memory(err);
    weir_status status = wr_config_set_url(config, upstream, wr_span_of(url));
    if (status)
        return wr_fail(err, status, 0,
                       "an upstream is http://HOST[:PORT][/PATH] or https://..., not '%s'", url);
    return WEIR_OK;
}

/* ---- weir.yaml ---- */

struct reading {
    struct wr_config *config;
    struct wr_yaml yaml;
    void *at;                 /* the upstream or rule that is being read */
    yaml_node_t *places_node; /* of that upstream; NULL: none */
    const yaml_node_t *upstream_nodes[WR_PROXY_RULES_MAX]; /* where the rules name them */
    const yaml_node_t *metrics_token_node;
    size_t tools_bytes;
    bool has_models;
};

static weir_status read_words(struct reading *r, yaml_node_t *value, const char **field)
{
    weir_span text = wr_yaml_text(value);
    if (!wr_yaml_is_scalar(value) || !text.len)
        return wr_yaml_fail(&r->yaml, value, WEIR_INVALID, "a text is wanted here");
    *field = wr_arena_string(&r->config->arena, text);
    return *field ? WEIR_OK : WEIR_NOMEM;
}

static weir_status read_count(struct reading *r, yaml_node_t *value, uint32_t max, uint32_t *number)
{
    uint64_t n;
    if (!wr_span_u64(wr_yaml_text(value), &n) || n < 1 || n > max)
        return wr_yaml_fail(&r->yaml, value, WEIR_INVALID, "a number from 1 to %u is wanted here",
                            max);
    *number = (uint32_t)n;
    return WEIR_OK;
}

static weir_status read_mode(struct reading *r, yaml_node_t *value, enum wr_mode *mode,
                             uint32_t *percent)
{
    if (wr_mode_parse(wr_yaml_text(value), mode, percent))
        return WEIR_OK;
    return wr_yaml_fail(&r->yaml, value, WEIR_INVALID, WR_MODE_WANTED);
}

static weir_status read_recall(struct reading *r, yaml_node_t *value, enum wr_recall *recall)
{
    if (wr_recall_parse(wr_yaml_text(value), recall))
        return WEIR_OK;
    return wr_yaml_fail(&r->yaml, value, WEIR_INVALID, RECALL_WANTED);
}

static weir_status read_bool(struct reading *r, yaml_node_t *value, bool *is_set)
{
    weir_span text = wr_yaml_text(value);
    *is_set = wr_span_is(text, "true");
    if (*is_set || wr_span_is(text, "false"))
        return WEIR_OK;
    return wr_yaml_fail(&r->yaml, value, WEIR_INVALID, "true or false is wanted here");
}

static weir_status read_switch(struct reading *r, yaml_node_t *node, bool *value)
{
    weir_span text = wr_yaml_text(node);

    *value = wr_span_is(text, "on");
    if (*value || wr_span_is(text, "off"))
        return WEIR_OK;
    return wr_yaml_fail(&r->yaml, node, WEIR_INVALID, "on or off is wanted here");
}

/* Its address may hold a name and a password. */
static bool is_proxy(weir_span url)
{
    static const char *const schemes[] = {"http",    "https",  "socks4",
                                          "socks4a", "socks5", "socks5h"};
    size_t scheme_bytes = wr_span_find(url, WR_LIT("://"), 0);
    struct wr_host host;

    for (size_t i = 0; i < WR_COUNT_OF(schemes); i++) {
        if (scheme_bytes != strlen(schemes[i]) || !wr_span_starts(url, wr_span_of(schemes[i])))
            continue;
        weir_span rest = wr_span_cut(url, scheme_bytes + strlen("://"), url.len);
        const char *user_end = wr_os_last_byte(rest.ptr, '@', rest.len);
        if (user_end)
            rest = wr_span_cut(rest, (size_t)(user_end - rest.ptr) + 1, rest.len);
        if (rest.len && rest.ptr[rest.len - 1] == '/')
            rest.len--;
        return wr_host_parse(rest, &host);
    }
    return false;
}

static weir_status read_proxy(struct reading *r, yaml_node_t *value, const char **proxy)
{
    weir_span text = wr_yaml_text(value);

    *proxy = "";
    if (wr_span_is(text, "none"))
        return WEIR_OK;
    if (is_proxy(text))
        return read_words(r, value, proxy);
    return wr_yaml_fail(&r->yaml, value, WEIR_INVALID,
                        "a proxy is http://HOST[:PORT], https://... or socks5h://..., or none");
}

static weir_status on_upstream_member(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reading *r = user;
    struct wr_upstream *upstream = r->at;
    weir_span name = wr_yaml_text(key);

    if (wr_span_is(name, "base_url")) {
        weir_status status = wr_config_set_url(r->config, upstream, wr_yaml_text(value));
        return status == WEIR_INVALID
                   ? wr_yaml_fail(&r->yaml, value, status,
                                  "base_url is http://HOST[:PORT][/PATH] or https://...")
                   : status;
    }
    if (wr_span_is(name, "http2"))
        return read_bool(r, value, &upstream->http2);
    if (wr_span_is(name, "alternate")) {
        upstream->is_alternates_said = true;
        return read_bool(r, value, &upstream->alternates);
    }
    if (wr_span_is(name, "proxy"))
        return read_proxy(r, value, &upstream->proxy);
    if (wr_span_is(name, "key"))
        return wr_upstream_key_read(r->config, &r->yaml, value, upstream);
    if (wr_span_is(name, "sign"))
        return wr_upstream_sign_read(r->config, &r->yaml, value, upstream);
    if (wr_span_is(name, "api"))
        return WEIR_OK; /* the path says it */
    if (wr_span_is(name, "places")) {
        r->places_node = value;
        return WEIR_OK;
    }
    if (wr_span_is(name, "weight"))
        return read_count(r, value, WR_PROXY_WEIGHT_MAX, &upstream->weight);
    if (wr_span_is(name, "balance")) {
        upstream->is_weighted = wr_span_is(wr_yaml_text(value), "weight");
        return upstream->is_weighted || wr_span_is(wr_yaml_text(value), "order")
                   ? WEIR_OK
                   : wr_yaml_fail(&r->yaml, value, WEIR_INVALID, "balance is order or weight");
    }
    return wr_config_fail_key(&r->yaml, key, "an upstream has no", wr_config_upstream_keys);
}

static weir_status on_upstream(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reading *r = user;
    struct wr_upstream *upstream = get_upstream(r->config, wr_yaml_text(key));

    if (!upstream)
        return wr_yaml_fail(&r->yaml, key, WEIR_LIMIT, "too many upstreams");
    r->at = upstream;
    /* Those that are known have an address unless told. */
    const struct wr_cloud *cloud = wr_cloud_named(wr_yaml_text(key));
    if (!upstream->base_url && cloud && wr_cloud_has_address(cloud) &&
        wr_config_set_url(r->config, upstream, wr_span_of(cloud->base_url)))
        return WEIR_NOMEM;
    upstream->key = upstream->key_header = NULL;
    upstream->aws = NULL;
    upstream->places = NULL;
    upstream->places_count = 0;
    r->places_node = NULL;
    weir_status status = wr_yaml_each(&r->yaml, value, KEYS_MAX, on_upstream_member, r);
    if (!status && !upstream->base_url) {
        struct wr_near near = wr_config_upstream_near(r->config, wr_yaml_text(key));
        return wr_yaml_fail(&r->yaml, value, WEIR_INVALID, "an upstream has a base_url%s%s",
                            cloud ? ", such as " : "",
                            cloud ? cloud->base_url : wr_near_end(&near));
    }
    if (!status && upstream->key && upstream->aws)
        return wr_yaml_fail(&r->yaml, value, WEIR_INVALID, "an upstream has `key` or `sign`");
    if (!status && r->places_node)
        status = wr_places_read(r->config, &r->yaml, r->places_node, upstream);
    return status;
}

static struct wr_config_place yaml_place(const yaml_node_t *node)
{
    return (struct wr_config_place){(uint32_t)node->start_mark.line + 1,
                                    (uint32_t)node->start_mark.column + 1};
}

/* Checked when all is read, since upstreams may follow the rules in the file. The upstream of
 * --upstream has a name too. */
static weir_status check_rule_upstreams(struct reading *r)
{
    for (size_t i = 0; i < r->config->rules_count; i++) {
        const char *name = r->config->rules[i].upstream;
        if (!name || !strcmp(name, ONE_UPSTREAM) || wr_config_find(r->config, wr_span_of(name)))
            continue;
        struct wr_near near = wr_config_upstream_near(r->config, wr_span_of(name));
        return wr_yaml_fail(&r->yaml, r->upstream_nodes[i], WEIR_INVALID,
                            "no upstream is called '%s'%s", name, wr_near_end(&near));
    }
    return WEIR_OK;
}

static weir_status on_rule_member(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reading *r = user;
    struct wr_rule *rule = r->at;
    weir_span name = wr_yaml_text(key);
    const char **text = wr_span_is(name, "model")    ? &rule->model
                        : wr_span_is(name, "tool")   ? &rule->tool
                        : wr_span_is(name, "path")   ? &rule->path
                        : wr_span_is(name, "policy") ? &rule->policy
                                                     : NULL;

    if (text == &rule->policy)
        rule->policy_at = yaml_place(value);
    if (text)
        return read_words(r, value, text);
    if (wr_span_is(name, "upstream")) {
        r->upstream_nodes[rule - r->config->rules] = value;
        return read_words(r, value, &rule->upstream);
    }
    if (wr_span_is(name, "mode"))
        return read_mode(r, value, &rule->mode, &rule->percent);
    if (wr_span_is(name, "recall")) {
        rule->says_recall = true;
        return read_recall(r, value, &rule->recall);
    }
    return wr_yaml_fail(&r->yaml, key, WEIR_INVALID,
                        "a rule has upstream, model, tool, path, mode, policy, recall, not '%.*s'",
                        (int)name.len, name.ptr);
}

static weir_status read_list(struct reading *r, yaml_node_t *list, size_t count_max,
                             weir_status (*item)(struct reading *r, yaml_node_t *node))
{
    weir_status status = WEIR_OK;

    if (list->type != YAML_SEQUENCE_NODE)
        return wr_yaml_fail(&r->yaml, list, WEIR_INVALID, "a list is wanted here");
    size_t count = (size_t)(list->data.sequence.items.top - list->data.sequence.items.start);
    if (count > count_max)
        return wr_yaml_fail(&r->yaml, list, WEIR_LIMIT, "%zu items at most", count_max);
    for (size_t i = 0; i < count && !status; i++)
        status = item(r, yaml_document_get_node(&r->yaml.doc, list->data.sequence.items.start[i]));
    return status;
}

static weir_status on_rule(struct reading *r, yaml_node_t *node)
{
    struct wr_rule *rule = &r->config->rules[r->config->rules_count++];
    *rule = (struct wr_rule){.mode = r->config->mode, .percent = r->config->percent};
    r->at = rule;
    weir_status status = wr_yaml_each(&r->yaml, node, KEYS_MAX, on_rule_member, r);
    if (status || (!rule->tool && !rule->path))
        return status;
    const char *name = rule->tool ? rule->tool : rule->path;
    if (rule->policy || rule->says_recall || (rule->tool && rule->path) ||
        strpbrk(name, rule->tool ? " \t\n" : "\t\n"))
        return wr_yaml_fail(&r->yaml, node, WEIR_INVALID,
                            "a rule is for a tool or for a path; it has no policy and no recall, "
                            "a tool's name no space and a path no tab");
    r->tools_bytes += strlen(name) + RULE_SIGN_BYTES;
    if (strlen(name) > WR_ORDER_BYTES_MAX / 2 ||
        r->tools_bytes > WR_TOOLS_BYTES_MAX - WR_TOOLS_LEARNED_BYTES)
        return wr_yaml_fail(&r->yaml, node, WEIR_LIMIT,
                            "rules for tools and paths have %d bytes at most, each of them %d",
                            WR_TOOLS_BYTES_MAX - WR_TOOLS_LEARNED_BYTES, WR_ORDER_BYTES_MAX / 2);
    return WEIR_OK;
}

static weir_status on_limit(void *user, yaml_node_t *key, yaml_node_t *value)
{
    enum { HOUR_MS = 3600 * 1000, CONNECTIONS_MAX = 1024 * 1024 };
    struct reading *r = user;
    struct wr_config *c = r->config;
    const struct {
        const char *name;
        uint32_t *field, max;
    } limits[] = {{"connections", &c->limits.connections_max, CONNECTIONS_MAX},
                  {"head_ms", &c->limits.head_ms_max, HOUR_MS},
                  {"body_idle_ms", &c->limits.body_idle_ms_max, HOUR_MS},
                  {"keep_ms", &c->limits.keep_ms_max, HOUR_MS},
                  {"write_idle_ms", &c->limits.write_idle_ms_max, HOUR_MS},
                  {"project_ms", &c->project_ms_max, HOUR_MS},
                  {"new_ms", &c->new_ms_max, HOUR_MS}};
    weir_span name = wr_yaml_text(key);

    for (size_t i = 0; i < WR_COUNT_OF(limits); i++)
        if (wr_span_is(name, limits[i].name))
            return read_count(r, value, limits[i].max, limits[i].field);
    return wr_config_fail_key(&r->yaml, key, "there is no limit", wr_config_limit_keys);
}

static weir_status on_store_member(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reading *r = user;
    weir_span name = wr_yaml_text(key);
    bool is_days = wr_span_is(name, "keep_days");
    uint64_t number, max = is_days ? KEEP_DAYS_MAX : INT64_MAX;

    if (wr_span_is(name, "dir"))
        return read_words(r, value, &r->config->store_dir);
    if (!is_days && !wr_span_is(name, "max_bytes"))
        return wr_yaml_fail(&r->yaml, key, WEIR_INVALID,
                            "a store has dir, keep_days and max_bytes, not '%.*s'", (int)name.len,
                            name.ptr);
    if (!wr_span_u64(wr_yaml_text(value), &number) || number > max)
        return wr_yaml_fail(&r->yaml, value, WEIR_INVALID,
                            "a number up to %llu is wanted here; 0: no limit",
                            (unsigned long long)max);
    if (is_days)
        r->config->keep_days = (uint32_t)number;
    else
        r->config->store_bytes_max = number;
    return WEIR_OK;
}

/* Either the folder alone, or a mapping. */
static weir_status read_store(struct reading *r, yaml_node_t *value)
{
    if (wr_yaml_is_scalar(value))
        return read_words(r, value, &r->config->store_dir);
    return wr_yaml_each(&r->yaml, value, KEYS_MAX, on_store_member, r);
}

static weir_status read_token(struct reading *r, yaml_node_t *node, const char **token)
{
    enum { TOKEN_BYTES_MIN = 16 };
    weir_span text = wr_yaml_text(node);
    if (text.len < TOKEN_BYTES_MIN || memchr(text.ptr, '/', text.len))
        return wr_yaml_fail(&r->yaml, node, WEIR_INVALID,
                            "a token has at least %d characters and no '/'", TOKEN_BYTES_MIN);
    return read_words(r, node, token);
}

static weir_status on_token(struct reading *r, yaml_node_t *node)
{
    return read_token(r, node, &r->config->tokens[r->config->tokens_count++]);
}

/* If a tenant's token opened the metrics too, the tenant would be an operator. */
static weir_status check_metrics_token(struct reading *r)
{
    const struct wr_config *c = r->config;
    bool is_users = c->metrics_token && wr_users_find(&c->users, wr_span_of(c->metrics_token));

    for (size_t i = 0; i < c->tokens_count; i++)
        is_users |= c->metrics_token && !strcmp(c->metrics_token, c->tokens[i]);
    return is_users ? wr_yaml_fail(&r->yaml, r->metrics_token_node, WEIR_INVALID,
                                   "metrics_token is none of the `tokens` and none of a user's")
                    : WEIR_OK;
}

/* A '*' that stands for all pages of the web would allow what this list is there to refuse. */
static weir_status on_origin(struct reading *r, yaml_node_t *node)
{
    weir_span text = wr_yaml_text(node);
    size_t name_at = wr_span_find(text, WR_LIT("://"), 0);
    const char *star = text.len ? memchr(text.ptr, '*', text.len) : NULL;
    bool is_web = wr_span_starts(text, WR_LIT("http:")) || wr_span_starts(text, WR_LIT("https:"));

    if (name_at == SIZE_MAX || !name_at || name_at + strlen("://") == text.len ||
        (star && (is_web || star != text.ptr + text.len - 1)))
        return wr_yaml_fail(&r->yaml, node, WEIR_INVALID,
                            "an origin is SCHEME://HOST[:PORT]; `*` may end one that is not http");
    return read_words(r, node, &r->config->origins[r->config->origins_count++]);
}

/* No `*`: names that others give out are what the check of the Host is there to refuse. */
static weir_status on_host(struct reading *r, yaml_node_t *node)
{
    struct wr_host host;

    if (!wr_host_parse(wr_yaml_text(node), &host) || host.port != WR_PORT_NONE)
        return wr_yaml_fail(&r->yaml, node, WEIR_INVALID,
                            "a host is a name or an address, IPv6 in [], without a port");
    return read_words(r, node, &r->config->hosts[r->config->hosts_count++]);
}

static weir_status read_listen(struct reading *r, yaml_node_t *value)
{
    if (!is_address(wr_yaml_text(value)))
        return wr_yaml_fail(&r->yaml, value, WEIR_INVALID, "%s", LISTEN_WANTED);
    return read_words(r, value, &r->config->listen);
}

static weir_status read_keep(struct reading *r, yaml_node_t *value)
{
    weir_span text = wr_yaml_text(value);

    if (!wr_span_is(text, "transcript") && !wr_span_is(text, "originals"))
        return wr_yaml_fail(&r->yaml, value, WEIR_INVALID, "keep is transcript or originals");
    r->config->keep = wr_span_is(text, "transcript") ? WR_KEEP_TRANSCRIPT : WR_KEEP_ORIGINALS;
    return WEIR_OK;
}

static weir_status on_member(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reading *r = user;
    struct wr_config *c = r->config;
    const struct {
        const char *name;
        const char **field;
    } texts[] = {{"policy", &c->policy},
                 {"policies", &c->policies_file},
                 {"log", &c->log_path},
                 {"audit", &c->audit_path},
                 {"ca_file", &c->ca_file}};
    weir_span name = wr_yaml_text(key);

    if (wr_span_is(name, "listen"))
        return read_listen(r, value);
    if (wr_span_is(name, "policy"))
        c->policy_at = yaml_place(value);
    for (size_t i = 0; i < WR_COUNT_OF(texts); i++)
        if (wr_span_is(name, texts[i].name))
            return read_words(r, value, texts[i].field);
    if (wr_span_is(name, "models") || wr_span_is(name, "aliases")) {
        r->has_models = true;
        return WEIR_OK;
    }
    if (wr_span_is(name, "mode"))
        return read_mode(r, value, &c->mode, &c->percent);
    if (wr_span_is(name, "recall"))
        return read_recall(r, value, &c->recall);
    if (wr_span_is(name, "store"))
        return read_store(r, value);
    if (wr_span_is(name, "keep"))
        return read_keep(r, value);
    if (wr_span_is(name, "learning"))
        return read_switch(r, value, &c->learns);
    if (wr_span_is(name, "workers"))
        return read_count(r, value, WORKERS_MAX, &c->workers);
    if (wr_span_is(name, "threads"))
        return read_count(r, value, THREADS_MAX, &c->threads);
    if (wr_span_is(name, "upstreams"))
        return wr_yaml_each(&r->yaml, value, WR_PROXY_UPSTREAMS_MAX, on_upstream, r);
    if (wr_span_is(name, "rollout"))
        return read_list(r, value, WR_PROXY_RULES_MAX, on_rule);
    if (wr_span_is(name, "tokens"))
        return read_list(r, value, WR_PROXY_TOKENS_MAX, on_token);
    if (wr_span_is(name, "users"))
        return wr_users_read(&c->users, &c->arena, &r->yaml, value);
    if (wr_span_is(name, "budgets"))
        return wr_budgets_read(&c->budgets, &c->arena, &r->yaml, value);
    if (wr_span_is(name, "budgets_without_store"))
        return wr_budgets_read_action(&c->budgets, &r->yaml, value);
    if (wr_span_is(name, "other_paths"))
        return wr_key_paths_read(&c->key_paths, &c->arena, &r->yaml, value);
    if (wr_span_is(name, "tenant_by"))
        return wr_users_read_tenant(&c->users, &r->yaml, value);
    if (wr_span_is(name, "metrics_token")) {
        r->metrics_token_node = value;
        return read_token(r, value, &c->metrics_token);
    }
    if (wr_span_is(name, "allow_origins"))
        return read_list(r, value, WR_PROXY_ORIGINS_MAX, on_origin);
    if (wr_span_is(name, "allow_hosts"))
        return read_list(r, value, WR_PROXY_HOSTS_MAX, on_host);
    if (wr_span_is(name, "limits"))
        return wr_yaml_each(&r->yaml, value, KEYS_MAX, on_limit, r);
    if (wr_span_is(name, "tls"))
        return wr_tls_settings_read(c, &r->yaml, value);
    if (wr_span_is(name, "otel"))
        return wr_otel_settings_read(&c->otel, &c->arena, &r->yaml, value);
    return wr_config_fail_key(&r->yaml, key, "weir.yaml has no", wr_config_keys);
}

/* The models' own reader reads what the file says of them; here it only checks. */
static weir_status keep_models(struct wr_config *config, weir_span yaml, struct weir_err *err)
{
    struct wr_models_source source = {.overrides = yaml, .overrides_shared = true};
    struct wr_models *models;
    weir_status status = wr_models_new(&models, &source, err);

    if (status)
        return status;
    wr_models_free(models);
    config->models_yaml = wr_arena_string(&config->arena, yaml);
    return config->models_yaml ? WEIR_OK : no_memory(err);
}

weir_status wr_config_read(struct wr_config *config, weir_span yaml, struct weir_err *err)
{
    struct reading r = {.config = config};
    weir_status status = wr_yaml_open(&r.yaml, yaml, err);

    if (status)
        return status;
    config->rules_count = config->tokens_count = 0;
    config->origins_count = config->hosts_count = config->key_paths.count = 0;
    config->users = (struct wr_users){.items = NULL};
    config->budgets = (struct wr_budgets){.items = NULL};
    config->metrics_token = NULL;
    yaml_node_t *root = wr_yaml_root(&r.yaml);
    config->names_people =
        root && (wr_yaml_find(&r.yaml, root, "tokens") || wr_yaml_find(&r.yaml, root, "users"));
    status = wr_references_resolve(&r.yaml);
    if (!status && root)
        status = wr_yaml_each(&r.yaml, root, KEYS_MAX, on_member, &r);
    if (!status)
        status = check_rule_upstreams(&r);
    if (!status)
        status = check_metrics_token(&r);
    if (!status)
        status = wr_budgets_check(&config->budgets, &config->users, err);
    wr_yaml_close(&r.yaml);
    if (!status && r.has_models)
        status = keep_models(config, yaml, err);
    return status;
}

/* ---- policies ---- */

static weir_status keep_names(struct wr_config *config)
{
    struct wr_buf names;

    wr_buf_init(&names, CONFIG_BYTES_MAX);
    for (uint32_t i = 0; i < wr_policies_count(config->policies); i++)
        wr_buf_printf(&names, "%s%s", i ? ", " : "", wr_policies_at(config->policies, i)->name);
    config->policy_names =
        wr_buf_status(&names) ? NULL : wr_arena_string(&config->arena, wr_buf_view(&names));
    wr_buf_reset(&names);
    wr_buf_printf(&names, "x-weir-policy: there is no such policy; there are %s",
                  config->policy_names ? config->policy_names : "");
    config->no_policy =
        wr_buf_status(&names) ? NULL : wr_arena_string(&config->arena, wr_buf_view(&names));
    wr_buf_release(&names);
    return config->policy_names && config->no_policy ? WEIR_OK : WEIR_NOMEM;
}

static weir_status check_policy(const struct wr_config *config, const char *name,
                                struct wr_config_place at, struct weir_err *err)
{
    char place[64] = "";

    if (wr_config_has_policy(config, wr_span_of(name)))
        return WEIR_OK;
    if (at.line)
        (void)snprintf(place, sizeof(place), "line %u, column %u: ", at.line, at.column);
    struct wr_near near = wr_near_to(wr_span_of(name));
    for (uint32_t i = 0; i < wr_policies_count(config->policies); i++)
        wr_near_offer(&near, wr_policies_at(config->policies, i)->name, "");
    return wr_fail(err, WEIR_INVALID, 0, "%sno policy is called '%s'%s there are %s", place, name,
                   near.text, config->policy_names);
}

weir_status wr_config_set_policies(struct wr_config *config, const struct wr_policies *policies,
                                   struct weir_err *err)
{
    config->policies = policies;
    weir_status status = keep_names(config);

    if (status)
        return no_memory(err);
    status = check_policy(config, config->policy, config->policy_at, err);
    for (size_t i = 0; i < config->rules_count && !status; i++)
        if (config->rules[i].policy)
            status = check_policy(config, config->rules[i].policy, config->rules[i].policy_at, err);
    return status;
}

bool wr_config_has_policy(const struct wr_config *config, weir_span name)
{
    return !config->policies || wr_policies_find(config->policies, name);
}

uint32_t wr_config_threads(const struct wr_config *config, const char *store_dir)
{
    return config->threads                                         ? config->threads
           : store_dir && wr_where(store_dir) == WR_WHERE_POSTGRES ? WR_PROXY_DATABASE_THREADS
                                                                   : WR_PROXY_THREADS;
}

bool wr_config_keeps_transcripts(const struct wr_config *config)
{
    struct wr_host host;

    if (!config->store_dir)
        return false;
    if (config->keep)
        return config->keep == WR_KEEP_TRANSCRIPT;
    return wr_host_parse(wr_span_of(config->listen), &host) && wr_host_is_loopback(host.name);
}

/* ---- life ---- */

struct wr_config *wr_config_new(void)
{
    struct wr_config *config = calloc(1, sizeof(*config));

    if (!config)
        return NULL;
    wr_arena_init(&config->arena, CONFIG_BYTES_MAX);
    config->listen = "127.0.0.1:4141";
    config->mode = WR_MODE_ACTIVE;
    config->policy = "auto";
    config->workers = 1;
    config->learns = true;
    config->keep_days = KEEP_DAYS;
    config->project_ms_max = WR_PROXY_PROJECT_MS_MAX;
    config->new_ms_max = WR_PROXY_DEADLINE_MS;
    config->limits = wr_server_limits_default;
    wr_otel_settings_init(&config->otel);
    const struct wr_api_upstream *known;
    for (size_t i = 0; (known = wr_api_upstream_at(i)); i++) {
        struct wr_upstream *upstream = get_upstream(config, wr_span_of(known->name));
        if (!upstream || wr_config_set_url(config, upstream, wr_span_of(known->base_url))) {
            wr_config_free(config);
            return NULL;
        }
    }
    return config;
}

void wr_config_free(struct wr_config *config)
{
    if (!config)
        return;
    wr_arena_release(&config->arena);
    free(config);
}
