/* projector.h -- threads that read and project request bodies, so that the loop never waits.
 *
 * Each thread has its own engine and its own handle on the store, for neither is made for two
 * threads at once. A session's requests go to one thread, in the order they came: its engine still
 * knows the last request, and a turn costs what is new in it.
 */
#ifndef WR_PROXY_PROJECTOR_H
#define WR_PROXY_PROJECTOR_H

#include <uv.h>

#include "base/buf.h"
#include "engine/record.h"
#include "net/http.h"
#include "proxy/answers.h"
#include "proxy/counts.h"
#include "proxy/door.h"
#include "proxy/leave.h"
#include "proxy/own.h"
#include "proxy/quality_watch.h"
#include "proxy/rollout.h"
#include "proxy/worker.h"
#include "weir/weir.h"

struct wr_metrics;
struct wr_projector;
struct wr_task;
struct wr_counts;

typedef void wr_task_done_fn(void *user, struct wr_task *task);

enum wr_task_kind {
    WR_TASK_REQUEST, /* a body that came */
    WR_TASK_LEG,     /* the model has called our own recall: answer it, and project what is next */
    WR_TASK_KEEP,    /* an answer that hides such calls is about to end: keep them */
    WR_TASK_FORGET,  /* a session's first request has left without our own recall: none has it */
    WR_TASK_NAME     /* by which id does the provider know the answer that the path names? */
};

/* One body on its way through a projector's thread. The caller fills in the first part; it and what
 * it borrows stay until `done`. */
struct wr_task {
    enum wr_task_kind kind;
    struct wr_join *join; /* of a leg, and to be kept; else NULL. The thread's until `done` */
    uint32_t worker;      /* the one that had this conversation's last task, from 1; 0: any */
    const struct wr_config *config;
    const struct wr_route *route; /* its target is the loop's: the client may be gone */
    const char *path;             /* a copy of that; NULL: there is none */
    weir_span body;               /* as it came; WR_TASK_NAME: the id that the path names */
    enum wr_coding coding;
    weir_span mode, policy, recall; /* headers; empty: none */
    uint32_t overflow_tokens;       /* the provider took no more than this; 0: it has not said so */
    enum wr_bound bind; /* the form that it asks for; PROJECTED is had only where an earlier
                         * request of the conversation was projected */
    int64_t now_ms;
    /* What is to be sent is known: everything below but `report` and `note`, which come with
     * `done`. Only where something was projected. */
    wr_task_done_fn *ready;
    wr_task_done_fn *done;
    void *user;
    struct wr_record *record;       /* who asked is in it; what was done is filled in by `ready`.
                                     * Its lists are gone by `done` */
    struct wr_session_name session; /* from the headers, if they say; else filled in */
    struct wr_own_part own;         /* of a leg, and to be kept: as the last task left it */

    struct wr_decision decision;
    struct wr_buf out;    /* to be sent where record->is_changed; identity coded. WR_TASK_NAME: the
                           * id; empty: that same one. `report` then has what it hides */
    struct wr_buf report; /* of what was changed; empty: nothing was */
    struct wr_own_recalls recalls;
    struct wr_departure departure; /* how it leaves, if it leaves as this says */
    bool is_unread;                /* there was no memory to read it */
    bool is_chained;               /* `out` is what came but for the answer that it goes on from */
    bool is_failed;                /* of a leg: the next request cannot be made */
    bool is_continued; /* the provider keeps the answer: a later request may go on from it */
    struct wr_watch_note note;

    struct wr_task *next, *next_ready; /* the projector's */
};

struct wr_projector_options {
    const struct wr_config *config; /* how many threads, which policies */
    weir_span policies;             /* YAML of the user's own; empty: none. Used while it is made */
    const char *store_dir;          /* NULL: no store */
    struct wr_sessions *sessions;
    struct wr_answers *answers;       /* may be NULL */
    struct wr_notes *notes;           /* may be NULL */
    struct wr_watch *watch;           /* may be NULL */
    struct wr_crash_table *crashes;   /* may be NULL */
    struct wr_metrics *metrics;       /* where it is told how the store is */
    struct wr_loaded_windows *loaded; /* may be NULL */
    struct wr_counts *counts;         /* may be NULL */
};

/* `options` is copied; what it points at outlives the projector. */
WEIR_MUST_USE weir_status wr_projector_new(struct wr_projector **projector, uv_loop_t *loop,
                                           const struct wr_projector_options *options,
                                           struct weir_err *err);

/* False: too many are waiting; the request goes as it came. */
bool wr_projector_add(struct wr_projector *projector, struct wr_task *task);

/* ---- the end ---- */

/* Waits for the threads; tasks that are still waiting are not done. The loop must run once more
 * before wr_projector_free(). */
void wr_projector_close(struct wr_projector *projector);
void wr_projector_free(struct wr_projector *projector);

#endif
