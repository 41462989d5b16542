/* settings.h -- where telemetry is sent by OTLP, and as whose.
 *
 * It comes from `otel` in weir.yaml, then from the variables that every OpenTelemetry program knows
 * (OTEL_EXPORTER_OTLP_ENDPOINT and its kin, docs/otel.md). Neither: nothing is sent.
 */
#ifndef WR_OTEL_SETTINGS_H
#define WR_OTEL_SETTINGS_H

#include "base/arena.h"
#include "base/limits.h"
#include "base/yaml.h"
#include "net/http.h"

struct wr_otel_settings {
    const char *traces_url, *metrics_url; /* whole; NULL: none are sent */
    const char *service;                  /* service.name */
    struct wr_header headers[WR_OTEL_HEADERS_MAX];
    size_t headers_count;
    struct wr_header resource[WR_OTEL_RESOURCE_MAX]; /* more of its attributes */
    size_t resource_count;
    uint32_t interval_ms, timeout_ms;
};

/* Nothing is sent. */
void wr_otel_settings_init(struct wr_otel_settings *settings);

static inline bool wr_otel_is_on(const struct wr_otel_settings *settings)
{
    return settings->traces_url || settings->metrics_url;
}

/* Reads `otel: {endpoint, headers, interval, service}`. Texts are kept in `arena`. */
WEIR_MUST_USE weir_status wr_otel_settings_read(struct wr_otel_settings *settings,
                                                struct wr_arena *arena, struct wr_yaml *yaml,
                                                yaml_node_t *value);

/* The variables: `get` is getenv() outside of tests. A value that is wrong is refused, and named in
 * `err`. */
typedef const char *wr_otel_getenv_fn(const char *name);
WEIR_MUST_USE weir_status wr_otel_settings_environment(struct wr_otel_settings *settings,
                                                       struct wr_arena *arena,
                                                       wr_otel_getenv_fn *get,
                                                       struct weir_err *err);

#endif
