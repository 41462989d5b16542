/* upstream_key.h -- keys of providers that Weir holds, so that its clients need none.
 *
 * weir.yaml says where a key is, never what it is: in a variable or in a file, read at the start
 * and at each reload. It is put into a request as that leaves, and is in no log, no store and no
 * answer. Whatever credential the client sent is then left out, Weir's own token among them: it is
 * not the provider's to see.
 */
#ifndef WR_PROXY_UPSTREAM_KEY_H
#define WR_PROXY_UPSTREAM_KEY_H

#include "api/api.h"
#include "base/yaml.h"
#include "net/head.h"
#include "proxy/config.h"

enum { WR_KEY_HEADERS_MAX = 3 };

/* Reads `key: {env: NAME, file: PATH, header: NAME}` of an upstream. */
WEIR_MUST_USE weir_status wr_upstream_key_read(struct wr_config *config, struct wr_yaml *yaml,
                                               yaml_node_t *value, struct wr_upstream *upstream);
/* Reads `sign: aws`, or a mapping with region, access_key, secret_key and session_token. */
WEIR_MUST_USE weir_status wr_upstream_sign_read(struct wr_config *config, struct wr_yaml *yaml,
                                                yaml_node_t *value, struct wr_upstream *upstream);

static inline bool wr_upstream_has_key(const struct wr_upstream *upstream)
{
    return upstream->key || upstream->aws;
}

/* Whether it, or a place of it, has one. */
static inline bool wr_upstream_shows_key(const struct wr_upstream *upstream)
{
    bool has_key = wr_upstream_has_key(upstream);

    for (size_t i = 0; i < upstream->places_count; i++)
        has_key |= wr_upstream_has_key(&upstream->places[i]);
    return has_key;
}

/* Whether a header is one that credentials come in. */
bool wr_key_is_credential(const struct wr_header *header);
/* Whether it stays here because Weir shows this upstream a key of its own: it is one of those, or
 * has the name that the configuration gives the key. */
bool wr_key_replaces(const struct wr_upstream *upstream, const struct wr_header *header);
/* The credential in such a header; "Bearer " is taken off. */
weir_span wr_key_value(const struct wr_header *header);

/* Appends a target as it may leave for an upstream: without parameters that hold a token of Weir's,
 * and, where the upstream's key is Weir's, without all that credentials come in. */
void wr_key_clean_target(const struct wr_config *config, const struct wr_upstream *upstream,
                         weir_span target, struct wr_buf *out);

/* A request that is about to leave. */
struct wr_key_call {
    const struct wr_upstream *upstream;
    const struct wr_api *api; /* NULL: of none */
    weir_span method, url, body;
    int64_t now_ms;
};

/* Fills in the headers that show the upstream's key: their number, 0 where there is no memory. They
 * point into `text`, whose owner empties it with wr_key_forget(). */
size_t wr_key_headers(const struct wr_key_call *call, struct wr_header headers[WR_KEY_HEADERS_MAX],
                      struct wr_buf *text);
void wr_key_forget(struct wr_buf *text);

#endif
