/* lock.h -- the file in a store's directory by which the server on it is found.
 *
 * The file says who serves and where (JSON); a lock of the operating system on it says that this is
 * still so. What was left by a server that was killed is therefore known for what it is. One server
 * of a store is found: a second one serves as well, but does not get the lock.
 */
#ifndef WR_LAUNCH_LOCK_H
#define WR_LAUNCH_LOCK_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/limits.h"

#define WR_LOCK_NAME "serve.lock"

struct wr_server_facts {
    int64_t pid, started_ms;
    const char *host; /* as a URL has it: "127.0.0.1", "[::1]" */
    uint32_t port;
    const char *mode, *policy;
    bool is_mode_said, is_policy_said; /* typed when it was started: they hold for old sessions too.
                                          The server tells this, the file does not */
    const char *upstreams[WR_PROXY_UPSTREAMS_MAX]; /* their names */
    size_t upstreams_count;
    bool has_one_upstream; /* all paths go there */
    bool needs_token;
};

struct wr_lock; /* held until it is released, or the process ends */

/* Makes the file in `dir`. WEIR_INVALID: somebody else holds it, `*holder` is his process;
 * WEIR_IO: `err` says why. */
WEIR_MUST_USE weir_status wr_lock_take(struct wr_lock **lock, const char *dir,
                                       const struct wr_server_facts *facts, int64_t *holder,
                                       struct weir_err *err);
void wr_lock_release(struct wr_lock *lock); /* takes the file away; NULL is fine */

/* Who holds the lock in `dir`; the texts live in `arena`. WEIR_NOTFOUND: nobody does. */
WEIR_MUST_USE weir_status wr_lock_find(const char *dir, struct wr_arena *arena,
                                       struct wr_server_facts *facts);

#endif
