#include "proxy/tls_settings.h"

#include "base/span.h"
#include "net/tls.h"

enum { MEMBERS_MAX = 4 };

struct reading {
    struct wr_config *config;
    struct wr_yaml *yaml;
};

static weir_status on_member(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reading *r = user;
    struct wr_tls_files *files = &r->config->tls;
    weir_span name = wr_yaml_text(key), text = wr_yaml_text(value);
    const char **field = wr_span_is(name, "cert")        ? &files->cert
                         : wr_span_is(name, "key")       ? &files->key
                         : wr_span_is(name, "client_ca") ? &files->client_ca
                                                         : NULL;

    if (!field || !text.len)
        return wr_yaml_fail(r->yaml, key, WEIR_INVALID,
                            "tls has cert, key and client_ca, the paths of PEM files");
    const char *copy = wr_arena_string(&r->config->arena, text);
    if (!copy)
        return WEIR_NOMEM;
    *field = copy;
    return WEIR_OK;
}

weir_status wr_tls_settings_read(struct wr_config *config, struct wr_yaml *yaml, yaml_node_t *value)
{
    struct reading r = {config, yaml};
    weir_status status;

    config->tls = (struct wr_tls_files){.cert = NULL};
    status = wr_yaml_each(yaml, value, MEMBERS_MAX, on_member, &r);
    if (!status && !config->tls.cert)
        return wr_yaml_fail(yaml, value, WEIR_INVALID, "tls has a cert");
    return status;
}

weir_status wr_tls_settings_load(const struct wr_config *config, struct wr_tls **tls,
                                 struct weir_err *err)
{
    *tls = NULL;
    return config->tls.cert ? wr_tls_new(tls, &config->tls, err) : WEIR_OK;
}
