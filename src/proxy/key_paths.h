/* key_paths.h -- the paths at which a key that Weir holds is shown for whoever brings a token.
 *
 * To its provider one key is one account, whoever asks with it. What Weir does not know as a
 * request to a model would pass every budget (images, batches, an odd spelling of a known path),
 * and what reads the account (files, stored answers, batches) would show one user what another
 * left there. So what is known passes: conversations and their counts, an answer by its id, lists
 * of models. A conversation, too, is asked for at no path that the provider may read as another
 * one: what it costs is counted by what Weir read. `other_paths` of weir.yaml adds to it, or lets
 * everything pass.
 */
#ifndef WR_PROXY_KEY_PATHS_H
#define WR_PROXY_KEY_PATHS_H

#include "base/arena.h"
#include "base/limits.h"
#include "base/yaml.h"
#include "net/head.h"

struct wr_key_paths {
    weir_span fronts[WR_PROXY_KEY_PATHS_MAX]; /* whole parts of paths; "/": all of them */
    size_t count;
};

/* Reads `other_paths: [/v1/embeddings, ...]`. */
WEIR_MUST_USE weir_status wr_key_paths_read(struct wr_key_paths *paths, struct wr_arena *arena,
                                            struct wr_yaml *yaml, yaml_node_t *value);

/* Whether `target`, without the upstream's name in front, may be asked with such a key. `is_model`:
 * it is a request with a conversation in it. */
bool wr_key_paths_allow(const struct wr_key_paths *paths, const struct wr_head *head,
                        weir_span target, bool is_model);

#endif
