/* config_keys.h -- what weir.yaml may name, for "did you mean". */
#ifndef WR_PROXY_CONFIG_KEYS_H
#define WR_PROXY_CONFIG_KEYS_H

#include "base/ascii.h"
#include "base/yaml.h"

struct wr_config;

/* At the top, of an upstream, under `limits`; each ends with NULL. */
extern const char *const wr_config_keys[];
extern const char *const wr_config_upstream_keys[];
extern const char *const wr_config_limit_keys[];

/* Refuses a key: what is `said`, its name, and the one of `keys` that may be meant. */
weir_status wr_config_fail_key(struct wr_yaml *yaml, yaml_node_t *key, const char *said,
                               const char *const *keys);

/* The upstream, named in `config` or known, that is nearest to a name. */
struct wr_near wr_config_upstream_near(const struct wr_config *config, weir_span name);

/* Whether a new upstream's name looks like a known one's that was mistyped: requests would go on
 * to where the known one is. openai2 and openai-eu are names of their own. */
bool wr_config_upstream_is_slip(const struct wr_config *config, weir_span name,
                                struct wr_near *near);

#endif
