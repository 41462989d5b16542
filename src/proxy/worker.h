/* worker.h -- the processes of a server: one or more that serve, and the one that keeps them alive.
 */
#ifndef WR_PROXY_WORKER_H
#define WR_PROXY_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proxy/answers.h"
#include "proxy/config.h"
#include "proxy/metrics.h"
#include "weir/span.h"

/* ==== bodies that kill ====
 *
 * Bodies that were being projected when a worker died, remembered across its death.
 *
 * The table is memory shared by the supervisor and its workers. A worker notes a body before it
 * reads it and takes the note back behind it; what is still noted when it dies is suspected. A body
 * suspected twice is passed on unread.
 */

struct wr_crash_table;

/* NULL: there is no memory to share. It lives until the process ends, and after that in those it
 * has forked. */
struct wr_crash_table *wr_crash_table_new(void);

/* Tells bodies of a session apart, which differ in their length and at their end, without reading
 * all of them. */
uint64_t wr_crash_hash(weir_span body);

/* Notes that worker `pid` is reading a body of this hash. `*note` is for wr_crash_leave(). False:
 * it was in flight in two crashes and is to be left alone; nothing is noted then. `table` may be
 * NULL. */
bool wr_crash_enter(struct wr_crash_table *table, pid_t pid, uint64_t body_hash, int *note);
void wr_crash_leave(struct wr_crash_table *table, int note);

/* The supervisor's: worker `pid` has died. Returns how many bodies are suspected by it. */
int wr_crash_blame(struct wr_crash_table *table, pid_t pid);

/* ==== one process that serves ====
 *
 * A loop, its connections, its upstreams, its threads. */

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

/* ==== the supervisor ====
 *
 * Keeps workers alive on one listening socket.
 *
 * The socket is the supervisor's, so a client that connects while a worker is dead waits a moment
 * and is served by the next one. The supervisor itself does nothing that could fail: it reads no
 * request. It may be killed all the same: its workers then stop listening, finish what is open and
 * end, as if they had been told to.
 */

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
