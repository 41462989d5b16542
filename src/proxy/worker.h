/* worker.h -- one process that serves: a loop, its connections, its upstreams, its threads. */
#ifndef WR_PROXY_WORKER_H
#define WR_PROXY_WORKER_H

#include "proxy/answers.h"
#include "proxy/config.h"
#include "proxy/crash.h"
#include "proxy/metrics.h"

/* Makes a configuration from the files and the command line; NULL: it is wrong, and stderr says
 * why. */
typedef struct wr_config *wr_config_fn(void *user);

struct wr_worker_options {
    struct wr_config *config; /* taken */
    int listener;
    struct wr_metrics *metrics;
    struct wr_crash_table *crashes;
    struct wr_answers *answers; /* NULL: none are kept */
    uint32_t index;             /* which of the workers this is */
    weir_span policies;         /* YAML of the user's own; empty: none */
    wr_config_fn *reload;       /* on SIGHUP */
    void *user;
};

/* Serves until SIGTERM or SIGINT, then finishes what is open. Failure: `err` says why it could not
 * begin. */
WEIR_MUST_USE weir_status wr_worker_run(const struct wr_worker_options *options,
                                        struct weir_err *err);

#endif
