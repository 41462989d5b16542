/* The keys of weir.yaml by name, for the question whether another one is meant. What each of them
 * holds is read in config.c; config_test.c holds the two together. */
#include "proxy/config_keys.h"

#include "api/clouds.h"
#include "base/ascii.h"
#include "base/span.h"
#include "proxy/config.h"

const char *const wr_config_keys[] = {
    "listen",        "mode",
    "policy",        "policies",
    "recall",        "upstreams",
    "rollout",       "models",
    "aliases",       "store",
    "keep",          "learning",
    "workers",       "threads",
    "limits",        "log",
    "audit",         "otel",
    "ca_file",       "tls",
    "tokens",        "users",
    "tenant_by",     "budgets",
    "metrics_token", "budgets_without_store",
    "other_paths",   "allow_origins",
    "allow_hosts",   NULL,
};

const char *const wr_config_upstream_keys[] = {
    "base_url",  "http2",  "key",    "sign",    "proxy", "api",
    "alternate", "places", "weight", "balance", NULL,
};

const char *const wr_config_limit_keys[] = {
    "connections",   "head_ms",    "body_idle_ms", "keep_ms",
    "write_idle_ms", "project_ms", "new_ms",       NULL,
};

weir_status wr_config_fail_key(struct wr_yaml *yaml, yaml_node_t *key, const char *said,
                               const char *const *keys)
{
    weir_span name = wr_yaml_text(key);
    struct wr_near near = wr_near_to(name);

    for (; *keys; keys++)
        wr_near_offer(&near, *keys, "");
    return wr_yaml_fail(yaml, key, WEIR_INVALID, "%s '%.*s'%s", said, (int)name.len, name.ptr,
                        wr_near_end(&near));
}

static bool is_letters(weir_span name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!wr_is_alpha(name.ptr[i]))
            return false;
    return true;
}

struct wr_near wr_config_upstream_near(const struct wr_config *config, weir_span name)
{
    struct wr_near near = wr_near_to(name);
    const struct wr_cloud *cloud;

    for (size_t i = 0; i < config->upstreams_count; i++)
        if (!wr_span_is(name, config->upstreams[i].name))
            wr_near_offer(&near, config->upstreams[i].name, "");
    for (size_t i = 0; (cloud = wr_cloud_at(i)) != NULL; i++)
        wr_near_offer(&near, cloud->name, "");
    return near;
}

bool wr_config_upstream_is_slip(const struct wr_config *config, weir_span name,
                                struct wr_near *near)
{
    *near = wr_config_upstream_near(config, name);
    return !wr_cloud_named(name) && is_letters(name) && wr_near_is_found(near);
}
