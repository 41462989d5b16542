/* supervisor.h -- keeps workers alive on one listening socket.
 *
 * The socket is the supervisor's, so a client that connects while a worker is dead waits a moment
 * and is served by the next one. The supervisor itself does nothing that could fail: it reads no
 * request. It may be killed all the same: its workers then stop listening, finish what is open and
 * end, as if they had been told to.
 */
#ifndef WR_PROXY_SUPERVISOR_H
#define WR_PROXY_SUPERVISOR_H

#include <stdint.h>

#include "proxy/crash.h"
#include "proxy/metrics.h"

/* The exit status of a worker that cannot serve and has said why. If a first worker ends so,
 * everything ends: trying again would not help. A worker that replaces a dead one is tried again,
 * and so is any once another serves (wr_metrics.has_begun).
 */
enum { WR_WORKER_CANNOT_BEGIN = 2 };

/* Runs in a process of its own, until it is told to stop; its result is the exit status. `index`
 * counts the workers; one that is started anew has the index of the one that died. */
typedef int wr_worker_fn(void *user, uint32_t index);

struct wr_supervisor_options {
    uint32_t workers_count;
    struct wr_crash_table *crashes; /* may be NULL */
    struct wr_metrics *metrics;
    wr_worker_fn *run;
    void *user;
};

/* Returns when all workers have ended because they were told to (SIGTERM, SIGINT), or because one
 * could not even begin: its exit status. A worker that dies otherwise is started anew. */
int wr_supervisor_run(const struct wr_supervisor_options *options);

#endif
