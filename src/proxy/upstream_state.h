/* upstream_state.h -- whether upstreams can be reached, as the requests of all workers found out.
 *
 * Nothing is asked for this: an upstream is down where the last tries of requests did not reach it,
 * and up again with the first answer, whatever that says. It is in the metrics' memory.
 */
#ifndef WR_PROXY_UPSTREAM_STATE_H
#define WR_PROXY_UPSTREAM_STATE_H

#include <stdatomic.h>

#include "base/buf.h"
#include "proxy/config.h"

enum { WR_UPSTREAM_TRIES_MIN = 3 }; /* in a row, before it is called down */

struct wr_upstream_states {
    struct wr_upstream_state {
        _Atomic uint64_t name;     /* hash; 0: free */
        _Atomic uint64_t failures; /* in a row */
        _Atomic int64_t since_ms;  /* of the first of those */
    } items[WR_PROXY_UPSTREAMS_MAX * 2];
};

void wr_upstream_state_note(struct wr_upstream_states *states, const char *name, bool is_reached,
                            int64_t now_ms);

/* Whether one is down, and since when. */
bool wr_upstream_is_down(const struct wr_upstream_states *states, const char *name,
                         int64_t *since_ms);

/* Whether any request was for it. */
bool wr_upstream_is_known(const struct wr_upstream_states *states, const char *name);

#endif
