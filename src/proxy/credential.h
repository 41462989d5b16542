/* credential.h -- credentials that requests bring, and the keys of providers that Weir holds. */
#ifndef WR_PROXY_CREDENTIAL_H
#define WR_PROXY_CREDENTIAL_H

#include "api/api.h"
#include "api/clouds.h"
#include "base/arena.h"
#include "base/limits.h"
#include "base/yaml.h"
#include "net/http.h"
#include "proxy/config.h"

/* ==== whose a credential is ====
 *
 * Whose credential a request carries, and who may see it.
 *
 * A key of one provider is not for another to see. Which provider a credential belongs to is known
 * by its shape: the header or the parameter it comes in, how it begins, who issued it. The table of
 * those shapes is api/clouds.c's. What has no shape of its own (a Bearer that could be
 * anybody's) goes where the path says.
 *
 * An upstream is a provider's where its address is one of that provider's hosts; its name says
 * nothing, for a gateway of the user's may stand in OpenAI's place. One with another host takes
 * every credential: the user has named that host.
 */

struct wr_credential {
    const char *shown;    /* "the header api-key" */
    const char *provider; /* "azure": the name of an upstream for it, its first if it has two */
    const char *base_url; /* how the address of one looks */
};

/* Finds the first credential in a request that is not for `upstream` to see. False: there is none.
 */
bool wr_credential_find_strange(const struct wr_head *head, weir_span target,
                                const struct wr_upstream *upstream,
                                struct wr_credential *credential);

/* Whether the client has signed the request, body and all, as AWS wants it. */
bool wr_credential_is_signed(const struct wr_head *head, weir_span target);

/* The cloud at whose host an upstream is; NULL: at none that is known. */
const struct wr_cloud *wr_credential_cloud_at(const struct wr_upstream *upstream);

/* Who an upstream is, as OpenTelemetry calls it: by its host, by its name, or by the API that it is
 * asked in (NULL: in none). NULL: nobody knows. */
const char *wr_credential_provider(const struct wr_upstream *upstream, const struct wr_api *api);

/* The upstream of a cloud of the table, by name, else by host; NULL: none is configured. */
const struct wr_upstream *wr_credential_upstream(const char *name, const struct wr_config *config);

/* ==== keys that Weir holds ====
 *
 * Keys of providers that Weir holds, so that its clients need none.
 *
 * weir.yaml says where a key is, never what it is: in a variable or in a file, read at the start
 * and at each reload. It is put into a request as that leaves, and is in no log, no store and no
 * answer. Whatever credential the client sent is then left out, Weir's own token among them: it is
 * not the provider's to see.
 */

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

/* ==== where a key that Weir holds is shown ====
 *
 * The paths at which a key that Weir holds is shown for whoever brings a token.
 *
 * To its provider one key is one account, whoever asks with it. What Weir does not know as a
 * request to a model would pass every budget (images, batches, an odd spelling of a known path),
 * and what reads the account (files, stored answers, batches) would show one user what another
 * left there. So what is known passes: conversations and their counts, an answer by its id, lists
 * of models. A conversation, too, is asked for at no path that the provider may read as another
 * one: what it costs is counted by what Weir read. `other_paths` of weir.yaml adds to it, or lets
 * everything pass.
 */

/* Reads `other_paths: [/v1/embeddings, ...]`. */
WEIR_MUST_USE weir_status wr_key_paths_read(struct wr_key_paths *paths, struct wr_arena *arena,
                                            struct wr_yaml *yaml, yaml_node_t *value);

/* Whether `target`, without the upstream's name in front, may be asked with such a key. `is_model`:
 * it is a request with a conversation in it. */
bool wr_key_paths_allow(const struct wr_key_paths *paths, const struct wr_head *head,
                        weir_span target, bool is_model);

#endif
