/* The keys at the top of weir.yaml by name, for the question whether another one is meant. What
 * each of them holds is read in config.c; config_test.c holds the two together. */
#include "base/span.h"
#include "models/name.h"
#include "proxy/config.h"

enum { SLIPS_MAX = 2 }; /* so many letters may be wrong */

const char *const wr_config_keys[] = {
    "listen",
    "mode",
    "policy",
    "policies",
    "recall",
    "upstreams",
    "rollout",
    "models",
    "aliases",
    "store",
    "keep",
    "learning",
    "workers",
    "threads",
    "limits",
    "log",
    "audit",
    "otel",
    "ca_file",
    "tls",
    "tokens",
    "users",
    "tenant_by",
    "budgets",
    "metrics_token",
    "budgets_without_store",
    "allow_origins",
    "allow_hosts",
    NULL,
};

const char *wr_config_key_near(weir_span name)
{
    uint32_t nearest = SLIPS_MAX + 1;
    const char *meant = NULL;

    for (const char *const *key = wr_config_keys; *key; key++) {
        uint32_t distance = wr_name_distance(name, wr_span_of(*key));
        if (distance < nearest && distance < name.len) {
            nearest = distance;
            meant = *key;
        }
    }
    return meant;
}
