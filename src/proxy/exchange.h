/* exchange.h -- one request and its answer, from the client through the engine to the upstream.
 *
 *               ┌─ over the cap, or nothing to read ─────────────┐
 *   begin ──────┤                                                ▼
 *               └─ body collected ─▶ projected ─▶ sent ─▶ answer begins ─▶ answer ends
 *                                       ▲                   │
 *                                       └── refused: once ──┘
 *
 * 1. No byte of an answer waits for anything but the client's socket. Only a refusal (400, 413) of
 * a request that was collected is looked at before it goes on: nothing was streamed yet.
 * 2. The client is gone: the upstream is cancelled. The upstream breaks off: so does the answer.
 * 3. An exchange is freed when the client, the upstream and the engine are all done with it.
 */
#ifndef WR_PROXY_EXCHANGE_H
#define WR_PROXY_EXCHANGE_H

#include "net/fetch.h"
#include "net/server.h"
#include "proxy/ledger_writer.h"
#include "proxy/log.h"
#include "proxy/metrics.h"

struct wr_exchange;

/* What the exchanges of a worker share; its owner is the worker. */
struct wr_service {
    uv_loop_t *loop;
    const struct wr_config *config; /* for requests that begin now */
    struct wr_fetcher *fetcher;
    struct wr_projector *projector;
    struct wr_sessions *sessions;
    struct wr_answers *answers;
    struct wr_mcp_page *mcp;
    struct wr_sidecar_page *sidecar;
    struct wr_watch *watch;           /* NULL: none */
    struct wr_loaded_windows *loaded; /* NULL: none */
    struct wr_counts *counts;         /* NULL: none */
    struct wr_metrics *metrics;
    _Atomic int64_t *exchanges_open; /* one of the metrics */
    struct wr_log *log;              /* NULL: none */
    struct wr_ledger_writer *ledger; /* NULL: none */
    struct wr_notes *notes;          /* NULL: none */
    struct wr_arena events;          /* for taps */
    struct wr_buf line;              /* for the log */
    struct wr_exchange *waiting;     /* for a projection, the oldest last */
    uv_timer_t deadline;             /* of those */
    uint64_t requests_count;
    int64_t started_ms;
    bool is_draining;
};

/* The user of the handler is the service. */
extern const struct wr_server_handler wr_exchange_handler;

#endif
