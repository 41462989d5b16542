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
#include "net/decode.h"
#include "proxy/answers.h"
#include "proxy/crash.h"
#include "proxy/identity.h"
#include "proxy/loaded_windows.h"
#include "proxy/quality_watch.h"
#include "proxy/rollout.h"
#include "weir/weir.h"

/* Why a request went as it came, in its line: its projection took longer than it may. */
#define WR_DEADLINE_HARD "deadline_hard"

struct wr_metrics;
struct wr_projector;
struct wr_task;
struct wr_counts;

typedef void wr_task_done_fn(void *user, struct wr_task *job);

/* One body. The caller fills in the first part; it and what it borrows stay until `done`. */
struct wr_task {
    const struct wr_config *config;
    weir_span body; /* as it came */
    enum wr_coding coding;
    const char *path;     /* of the API, such as "/v1/messages" */
    const char *upstream; /* its name */
    const char *base_url; /* of the upstream */
    bool alternates;      /* it wants user and model to take turns */
    weir_span tenant;
    weir_span run;            /* of `weir run`; empty: none */
    weir_span mode, policy;   /* headers; empty: none */
    uint32_t overflow_tokens; /* the provider took no more than this; 0: it has not said so */
    enum wr_bound bind;       /* the form that it asks for; PROJECTED is had only where an earlier
                               * request of the conversation was projected */
    bool is_watched;          /* the answer will be a model's: docs/quality.md */
    int64_t now_ms;
    /* What is to be sent is known: everything below but `facts` and `note`, which come with `done`.
     * Only where something was projected. */
    wr_task_done_fn *ready;
    wr_task_done_fn *done;
    void *user;
    struct wr_session_name session; /* from the headers, if they say; else filled in */

    struct wr_decision decision;
    bool is_read; /* false: `why` says why not, and the body goes as it came */
    const char *why;
    bool is_changed;      /* `out` is to be sent instead */
    bool is_unsent;       /* it was, and came too late: `facts` are of nothing that was sent */
    struct wr_buf out;    /* identity coded; released by wr_task_release() */
    struct wr_buf facts;  /* members of a JSON object, each with ',' before it: sizes and counts */
    struct wr_buf report; /* the engine's, of what was changed; empty: nothing was */
    bool would_change;    /* in shadow */
    bool is_delta;        /* the provider holds a part of the prompt */
    bool is_continued;    /* the provider keeps the answer: a later request may go on from it */
    bool is_step;
    bool is_pending; /* what was said waits for the user's next message */
    const char *step_reason, *held_back;
    uint64_t tokens_before, tokens_after;
    uint32_t answer_tokens; /* that the request lets its answer take; 0: it does not say */
    uint32_t loaded_tokens; /* that its server has loaded the model with; 0: not known */
    uint64_t decoded_bytes;
    uint64_t took_us;
    char model[64];
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
bool wr_projector_add(struct wr_projector *projector, struct wr_task *job);

/* Nothing of what it made was sent, and so nothing of it counts (law L8). */
void wr_task_leave_unchanged(struct wr_task *job, bool is_late);
void wr_task_release(struct wr_task *job); /* what it holds, not the struct */

/* Waits for the threads; jobs that are still waiting are not done. The loop must run once more
 * before wr_projector_free(). */
void wr_projector_close(struct wr_projector *projector);
void wr_projector_free(struct wr_projector *projector);

#endif
