/* exchange.h -- one request and its answer, from the client through the engine to the upstream.
 *
 *   on_begin ──▶ COLLECTING ──on_body_end: project──▶ PROJECTING
 *      │             │                                    │ on_task_ready: send
 *      │ ask         │ on_body: too long;                 │ on_deadline: send
 *      │ (streamed)  │ on_body_end: not to be read        ▼
 *      └─────────────┴────────────────────────────────▶ ASKING ◀───────────────────────────┐
 *                                                         │                                │
 *                           on_answer_head: pass_answer   │ on_answer_head: 400, 413       │
 *             ANSWERING ◀─────────────────────────────────┤                                │
 *              │   ▲                                      ▼                                │
 *              │   │ show_refusal: no remedy, too long  REFUSED                            │
 *              │   ├──────────────────────────────────────┤ on_answer_end: try_begin       │
 *              │   │                                      ▼                                │
 *              │   │                        RETRY_DUE: the first task still runs           │
 *              │   │                                      │ on_task_done: try_project      │
 *              │   │ on_deadline: try_give_up;            ▼                                │
 *              │   └────────────────────────────── REPROJECTING ──on_task_ready: try_send──┘
 *              ▼ on_answer_end: finish     (also where try_send has nothing else to send)
 *            OVER ◀── from any state: on_gone (the client left), fail
 *
 * (project, ask, send, show_refusal, finish and fail are wr_exchange_...; try_... is
 * wr_second_try_...) Where there is no first task to wait for, try_begin goes on to REPROJECTING
 * itself. An answer that never began may be asked for again, on a fresh connection or at another
 * place: then ASKING is followed by ASKING (wr_exchange_sends_again).
 *
 * Where its user or team has a budget (admit.c), send stops on its first way to ASKING in
 * ADMITTING, until the store has said whether it may go. A request that names an answer by the id
 * that the client knows goes from COLLECTING to ASKING by NAMING, where the provider's id is looked
 * up (wr_own_legs_name).
 *
 * Where the proxy offers a recall tool of its own (own_legs.c), an answer that calls it does not
 * end there:
 *
 *   ANSWERING ──wr_own_legs_end──▶ LEG_DUE: the last task still runs ──▶ RECALLING ──▶ ASKING
 *       └─────────────────────────▶ KEEPING: what was hidden is put into the store ──▶ OVER
 *
 * A request that names an answer by its id (own_legs.c) is in NAMING first, until the id that the
 * provider knows is found: on_body_end: wr_own_legs_name ──▶ NAMING ──on_named──▶ ASKING.
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
#include "otel/exporter.h"
#include "proxy/metrics.h"
#include "proxy/tell.h"

struct wr_exchange;

enum wr_exchange_state {
    WR_EXCHANGE_COLLECTING,   /* its body comes in and is kept */
    WR_EXCHANGE_PROJECTING,   /* the engine has it */
    WR_EXCHANGE_ADMITTING,    /* its budget is asked (admit.c) */
    WR_EXCHANGE_ASKING,       /* it has left, or leaves as it comes */
    WR_EXCHANGE_REFUSED,      /* the answer is held: it may be our doing */
    WR_EXCHANGE_RETRY_DUE,    /* it is to be projected otherwise, */
    WR_EXCHANGE_REPROJECTING, /* and is; the refusal is still held */
    WR_EXCHANGE_ANSWERING,    /* the answer passes */
    WR_EXCHANGE_LEG_DUE,      /* the model has called our own recall: it is to be asked again, */
    WR_EXCHANGE_RECALLING,    /* and what it asked for is read and projected */
    WR_EXCHANGE_KEEPING,      /* the answer is here; the calls that it hides are being kept */
    WR_EXCHANGE_NAMING,       /* the provider's id of the answer in its path is looked up */
    WR_EXCHANGE_OVER          /* the client is done, or gone; what still runs is waited for */
};

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
    struct wr_traffic_page *traffic;
    const struct wr_models *models; /* the page's: for prices; NULL: none are known */
    struct wr_steer_page *steer;
    struct wr_call_page *calls;
    struct wr_watch *watch;           /* NULL: none */
    struct wr_loaded_windows *loaded; /* NULL: none */
    struct wr_counts *counts;         /* NULL: none */
    struct wr_gate *gate;             /* NULL: nobody counts what users and teams use */
    struct wr_metrics *metrics;
    _Atomic int64_t *exchanges_open; /* one of the metrics */
    struct wr_log *log;              /* NULL: none */
    struct wr_audit *audit;          /* NULL: none */
    struct wr_ledger_writer *ledger; /* NULL: none */
    struct wr_notes *notes;          /* NULL: none */
    struct wr_otel *otel;            /* NULL: none */
    struct wr_arena events;          /* for taps */
    struct wr_buf line;              /* for the log */
    struct wr_exchange *waiting;     /* for a projection, the oldest last */
    uv_timer_t deadline;             /* of those */
    struct wr_exchange *recalling;   /* between legs, or in a later one */
    uv_timer_t pulse;                /* of those */
    uint64_t requests_count;
    int64_t started_ms;
    bool is_draining;
};

/* The user of the handler is the service. */
extern const struct wr_server_handler wr_exchange_handler;

#endif
