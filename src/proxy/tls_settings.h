/* tls_settings.h -- `tls` in weir.yaml: which certificate the server shows, and whose it wants. */
#ifndef WR_PROXY_TLS_SETTINGS_H
#define WR_PROXY_TLS_SETTINGS_H

#include "base/yaml.h"
#include "proxy/config.h"

/* Reads `tls: {cert, key, client_ca}`: paths. What is in the files is looked at when they are used.
 */
WEIR_MUST_USE weir_status wr_tls_settings_read(struct wr_config *config, struct wr_yaml *yaml,
                                               yaml_node_t *value);

/* What the files hold. *tls is NULL where there is no TLS. */
WEIR_MUST_USE weir_status wr_tls_settings_load(const struct wr_config *config, struct wr_tls **tls,
                                               struct weir_err *err);

#endif
