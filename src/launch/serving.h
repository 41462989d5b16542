/* serving.h -- a server for one run: one that is there, or one that is started for it.
 *
 * Whoever started a server ends it; one that was found is left alone. A started one is unlisted, so
 * that no other run comes to depend on it; it dies with the process that started it.
 */
#ifndef WR_LAUNCH_SERVING_H
#define WR_LAUNCH_SERVING_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "launch/agents.h"

/* ---- the lock of a server: a file in its store's directory, by which it is found ----
 *
 * The file says who serves and where (JSON); a lock of the operating system on it says that this is
 * still so. What was left by a server that was killed is therefore known for what it is. One server
 * of a store is found: a second one serves as well, but does not get the lock.
 */

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

/* ---- one GET ---- */

struct wr_http_answer {
    int status;          /* 0: there was no answer, `why` says why not */
    const char *why;     /* static */
    int64_t date_s;      /* of its Date header, since 1970; -1: it has none */
    uint32_t connect_ms; /* TCP, and TLS where it is spoken */
    bool has_connected;  /* TCP at least */
};

/* A server of ours on this machine: never by a proxy. What of the body fits goes to `body`, which
 * may be NULL. */
void wr_http_get_local(const char *url, uint32_t ms_max, struct wr_buf *body,
                       struct wr_http_answer *answer);

/* An upstream, as net/fetch.h asks it; `proxy` is what was told of it there. */
void wr_http_get(const char *url, const char *proxy, const char *ca_file, uint32_t ms_max,
                 struct wr_http_answer *answer);

/* ---- a server for one run ---- */

struct wr_serving_wishes {
    const char *weir;              /* this program */
    const char *store;             /* its directory */
    const char *mode, *policy;     /* NULL: any */
    const char *config;            /* weir.yaml for a server of its own; NULL: none */
    const char *upstream;          /* that it must have; NULL: any */
    const struct wr_provider *own; /* addresses of the user's: a server of its own has them */
    size_t own_count;
    const char *shadow_dir;  /* where it keeps what shadow decides: one of its own; NULL: nowhere */
    const char *stderr_path; /* where a started one writes what it has to say */
};

struct wr_serving {
    struct wr_server_facts facts;
    const char *store; /* how its store is, "ok" or what is wrong; NULL: it did not say */
    pid_t child;       /* 0: it was found */
};

/* A listed server that answers and is as wished. WEIR_NOTFOUND: there is none, and `*why_not` says
 * what was wrong with the one that is there (NULL: there is none). */
WEIR_MUST_USE weir_status wr_serving_find(struct wr_serving *serving, struct wr_arena *arena,
                                          const struct wr_serving_wishes *wishes,
                                          const char **why_not);

/* Starts one on a free port of loopback and returns when it answers. */
WEIR_MUST_USE weir_status wr_serving_start(struct wr_serving *serving, struct wr_arena *arena,
                                           const struct wr_serving_wishes *wishes,
                                           struct weir_err *err);

/* Whether a server that was started has ended by itself. */
bool wr_serving_has_died(const struct wr_serving *serving);

/* Ends a server that was started, once its last request is written down. */
void wr_serving_end(struct wr_serving *serving);

#endif
