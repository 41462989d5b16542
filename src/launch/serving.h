/* serving.h -- a server for one run: one that is there, or one that is started for it.
 *
 * Whoever started a server ends it; one that was found is left alone. A started one is unlisted, so
 * that no other run comes to depend on it; it dies with the process that started it.
 */
#ifndef WR_LAUNCH_SERVING_H
#define WR_LAUNCH_SERVING_H

#include <sys/types.h>

#include "launch/agents.h"
#include "launch/lock.h"

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
