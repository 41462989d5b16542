/* places.h -- several places of one upstream: base URLs, keys, or both, and which one is asked.
 *
 * A provider's prompt cache is at one place and of one key. So a session is not spread: it has one
 * place, and leaves it only when that fails.
 *
 *   by order    the first that does not rest
 *   by weight   each session at the place that a hash of its name falls to, as often as that
 *               weighs; all nodes and restarts agree without asking each other
 *   moved       the place of a session failed: the next in that order, and there it stays, because
 *               there its cache is now, until that one fails too or the cache is long cold
 *
 * A place that fails rests: as long as its Retry-After says, else WR_PROXY_REST_MS. Where all rest
 * the session's own is asked all the same: it knows best when it is free again.
 *
 * The tables are in memory that all workers share (metrics.h), one word an entry, as in
 * leave.h. Where one is full an older entry gives way: a session then begins where it would
 * have begun.
 */
#ifndef WR_PROXY_PLACES_H
#define WR_PROXY_PLACES_H

#include <stdatomic.h>

#include "base/yaml.h"
#include "proxy/config.h"

enum { WR_PLACES_RESTS = 256 };

struct wr_places {
    _Atomic uint64_t moved[WR_PROXY_PLACED_MAX]; /* 0: free */
    struct {
        _Atomic uint64_t place; /* 0: free */
        _Atomic int64_t until_ms;
    } rests[WR_PLACES_RESTS];
};

static inline bool wr_upstream_has_places(const struct wr_upstream *upstream)
{
    return upstream->places_count > 1;
}

/* The index of the place for a session, known by a hash; none of `barred` (bits by index). `own` is
 * the one where its cache is, which may rest. SIZE_MAX: all are barred. */
size_t wr_places_choose(struct wr_places *places, const struct wr_upstream *upstream,
                        uint64_t session, unsigned barred, int64_t now_ms, size_t *own);

/* The same without the places in `tried`, and only those that do not rest. SIZE_MAX:
 * there is none. */
size_t wr_places_next(struct wr_places *places, const struct wr_upstream *upstream,
                      uint64_t session, unsigned tried, int64_t now_ms);

/* Reads `places` of an upstream, whose other members are read: a list of {base_url, key, sign,
 * weight, name}, each as the upstream itself but for what it names. */
WEIR_MUST_USE weir_status wr_places_read(struct wr_config *config, struct wr_yaml *yaml,
                                         yaml_node_t *list, struct wr_upstream *upstream);

/* It failed, and rests; 0: for as long as usual. */
void wr_places_rest(struct wr_places *places, const struct wr_upstream *upstream, size_t index,
                    uint64_t rest_ms, int64_t now_ms);

/* The session's cache is at that place from now on. */
void wr_places_keep(struct wr_places *places, const struct wr_upstream *upstream, uint64_t session,
                    size_t index, int64_t now_ms);

#endif
