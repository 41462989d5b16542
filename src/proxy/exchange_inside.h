/* exchange_inside.h -- the inside of an exchange, for the files that carry it out: exchange.c has
 * the request and its answer, leave.c what a refusal may lead to, own_legs.c answers that call
 * the proxy's own recall.
 */
#ifndef WR_PROXY_EXCHANGE_INSIDE_H
#define WR_PROXY_EXCHANGE_INSIDE_H

#include "api/events.h"
#include "proxy/admit.h"
#include "proxy/answers.h"
#include "proxy/door.h"
#include "proxy/exchange.h"
#include "proxy/leave.h"
#include "proxy/projector.h"

/* The answers of the provider that make one for the client (own_legs.c). Zeroed: there is only
 * one. */
struct wr_own_legs {
    struct wr_join *join;       /* NULL: the answer passes as it comes */
    struct wr_decoder *decoder; /* NULL: it comes in no coding */
    bool is_undecodable;        /* the decoder has failed: it is fed no more */
    struct wr_bridge *bridge;   /* NULL: it comes in no frames */
    struct wr_buf out;          /* for the client, as events or whole */
    struct wr_buf framed;       /* what comes out of, or goes into, the bridge */
    struct wr_task keep;
    bool is_keeping; /* `keep` runs */
    bool is_held;    /* the answer comes whole: its head is with `refusal` until the end */
    uint32_t count;  /* legs before this one */
    bool is_quiet;   /* nothing was shown since the last pulse */
    bool is_linked;  /* among service->recalling, by */
    struct wr_exchange *next;
    struct wr_buf named;  /* of an answer that was asked for by its id: what it hides */
    bool is_named;        /* the provider tells of such an answer: it is held, to be edited */
    struct wr_buf target; /* with the id that the provider knows; empty: the one that came */
    int refused;          /* status of a later leg that is no answer; 0: it is one */
};

/* What the budgets of its user and team say of a request (admit.c draws the states). */
struct wr_admission {
    enum { WR_ADMIT_FREE, WR_ADMIT_DUE, WR_ADMIT_ASKING, WR_ADMIT_GIVEN } state;
    struct wr_gate_job job; /* the gate's while ASKING */
    char names[WR_SPEND_SCOPES_MAX][WR_PROXY_USER_NAME_BYTES_MAX + sizeof("user:")];
    char note[160];               /* what is said of it in the log and a header; "": nothing */
    int64_t tokens, micro_usd;    /* that it did cost so far */
    uint64_t output_tokens;       /* that its answer, or all of them, may have */
    bool is_background;           /* its usage comes later, to somebody who asks by an id */
    uint64_t lost_count, lost_us; /* tries that left whole and got no answer, and for how long they
                                   * were waited for */
};

struct wr_exchange {
    struct wr_service *service;
    const struct wr_config *config;
    struct wr_conn *conn;       /* NULL: the client is done, or gone */
    const struct wr_head *head; /* the request's; as long as `conn` */
    struct wr_route route;
    const struct wr_upstream *place; /* of the route's upstream, that is asked; NULL: it has one, or
                                      * none was chosen yet */
    unsigned places_tried;           /* bits by index: they failed, or may not see the credential */
    size_t place_next;               /* where it goes when this answer, a refusal, has ended */
    bool is_moving;                  /* it is to go there */
    struct wr_entry entry;
    char mode[16], policy[WR_POLICY_NAME_BYTES_MAX + 1], recall[16]; /* headers that a task reads:
                                                                      * it may run longer than the
                                                                      * connection lives */
    struct wr_buf path; /* likewise: of the upstream, with a NUL */
    enum wr_exchange_state state;
    struct wr_exchange *next_waiting;

    struct wr_buf body; /* collected; or of a streamed one what the upstream has not taken */
    size_t body_taken_bytes;
    enum {
        WR_UPLOAD_WHOLE,
        WR_UPLOAD_STREAMED,
        WR_UPLOAD_REPLAYED
    } upload; /* when all of it is here; as it comes; so, but kept to be sent once more */
    bool is_upload_paused;

    struct wr_task task;
    enum {
        WR_TASK_NONE,
        WR_TASK_RUNNING, /* task and record are the thread's, but for what the loop alone writes */
        WR_TASK_READY,   /* it says what to send, and still runs */
        WR_TASK_MISSED,  /* the same, but nobody waited for it any more */
        WR_TASK_DONE
    } task_state;
    bool is_late;         /* the task ran longer than it may be waited for */
    bool is_sent_changed; /* what left is task.out */
    bool is_fresh;        /* it left on a connection of its own */
    bool is_answer_kept;

    struct wr_fetch *fetch; /* NULL: none runs */
    struct wr_tap tap;
    struct wr_refusal refusal; /* an answer that is looked at before it goes on */
    struct wr_remedy remedy;   /* of the second try */
    struct wr_own_legs own;
    struct wr_admission admission;

    uint64_t started_us, body_ended_us, task_started_us, sent_us, first_byte_us;
    struct wr_record record; /* of this request */
};

static inline bool wr_exchange_is_task_running(const struct wr_exchange *ex)
{
    return ex->task_state != WR_TASK_NONE && ex->task_state != WR_TASK_DONE;
}

/* What the task says of the request may be read. */
static inline bool wr_exchange_is_task_ready(const struct wr_exchange *ex)
{
    return ex->task_state >= WR_TASK_READY;
}

/* What was made of it is to be sent in its place. */
static inline bool wr_exchange_is_projected(const struct wr_exchange *ex)
{
    bool is_made = ex->record.deed == WR_DEED_PROJECTED && ex->record.is_changed;
    return wr_exchange_is_task_ready(ex) && ex->task_state != WR_TASK_MISSED &&
           (is_made || ex->task.is_chained);
}

/* What is sent: what came, or what was made of it. */
static inline weir_span wr_exchange_body(const struct wr_exchange *ex, bool is_changed)
{
    return wr_buf_view(is_changed ? &ex->task.out : &ex->body);
}

/* ---- exchange.c ---- */

/* Gives what came to the engine; meanwhile the exchange is in `state`. False: it cannot be. */
bool wr_exchange_project(struct wr_exchange *ex, enum wr_exchange_state state);
/* Asks the upstream with this body, which is empty where it is streamed. False: the client was
 * told, and `ex` may be no more. */
bool wr_exchange_ask(struct wr_exchange *ex, weir_span body);
/* The client gets the head of an answer of so many bytes; -1: not known. */
void wr_exchange_begin_answer(struct wr_exchange *ex, const struct wr_head *head,
                              int64_t content_bytes);
/* The refusal that was looked at goes to the client as it came. */
void wr_exchange_show_refusal(struct wr_exchange *ex);
void wr_exchange_finish(struct wr_exchange *ex);
/* Hands the task to a thread; meanwhile the exchange is in `state`. False: too many wait. */
bool wr_exchange_start_task(struct wr_exchange *ex, enum wr_exchange_state state);
/* An answer of our own, in the API's shape, where none has begun; else the answer is cut. */
void wr_exchange_fail(struct wr_exchange *ex, int status, const char *end, const char *why);
void wr_exchange_free_if_over(struct wr_exchange *ex);

/* ---- admit.c ---- */

/* A request begins: whether a budget is for it. */
void wr_admit_begin(struct wr_exchange *ex);
/* It is about to leave. True: it waits for its budget, and goes on from there; it may be no more.
 */
bool wr_admit_hold(struct wr_exchange *ex);
/* It has left whole, and nobody waits for its answer any more: it may have been carried out. */
void wr_admit_note_lost(struct wr_exchange *ex);
/* Its record is complete, and it is over. */
void wr_admit_count(struct wr_exchange *ex);
void wr_admit_settle(struct wr_exchange *ex);

/* ---- leave.c ---- */

/* Asks the upstream with what came, or with what was made of it. */
void wr_exchange_send(struct wr_exchange *ex);
/* What the task has made leaves no more, and its marks are in the store all the same. */
void wr_exchange_tell_missed(struct wr_exchange *ex);
/* What the answer hides could not be kept: the next request of the client lacks it for good. */
void wr_exchange_tell_lost(struct wr_exchange *ex);

/* ---- tell.c ---- */

/* What happened is told; the record is then done with. */
void wr_exchange_tell(struct wr_exchange *ex);

/* ---- leave.c: its place ---- */

/* Who is asked: a place of the upstream, or the upstream itself. */
static inline const struct wr_upstream *wr_exchange_asked(const struct wr_exchange *ex)
{
    return ex->place ? ex->place : ex->route.upstream;
}

/* Before a request leaves: which place it goes to. */
void wr_exchange_choose_place(struct wr_exchange *ex);
/* The head of an answer: whether its place has failed and another can be asked. The rest of the
 * answer is then thrown away. */
bool wr_exchange_leaves_place(struct wr_exchange *ex, const struct wr_head *head);
/* An answer has ended, or there was none. True: what is here of the request leaves once more, on a
 * fresh connection or to another place. */
bool wr_exchange_sends_again(struct wr_exchange *ex, enum wr_fetch_result result);

/* ---- leave.c: a second try ---- */

/* A refusal has come whole. True: the request goes out again, or may; nothing of the refusal is
 * shown yet. */
bool wr_second_try_begin(struct wr_exchange *ex);
void wr_second_try_project(struct wr_exchange *ex); /* once the first task is done */
void wr_second_try_send(struct wr_exchange *ex);    /* once it is projected */
void wr_second_try_give_up(struct wr_exchange *ex); /* nothing is sent again after all */

/* ---- own_legs.c ---- */

/* The head of an answer to a request that has our own recall tool. False: nothing is to be joined,
 * the answer passes. */
bool wr_own_legs_head(struct wr_exchange *ex, const struct wr_head *head);
void wr_own_legs_data(struct wr_exchange *ex, weir_span bytes);
/* The provider has sent all, or has failed for a reason. */
void wr_own_legs_end(struct wr_exchange *ex);
void wr_own_legs_fail(struct wr_exchange *ex, const char *why);
void wr_own_legs_next(struct wr_exchange *ex);  /* once the last task is done */
void wr_own_legs_ready(struct wr_exchange *ex); /* once the next request is projected */
/* A first request that was to have our tool went out as it came: the session has none. */
void wr_own_legs_forget(struct wr_exchange *ex);
void wr_own_legs_release(struct wr_exchange *ex);
/* A request that names an answer (to get, delete or cancel it) goes out with the id by which the
 * provider knows it. False: it goes as it came, now. */
bool wr_own_legs_name(struct wr_exchange *ex);
/* What the provider says of it is held and shown as the client knows it. False: it passes. */
bool wr_own_legs_hold_named(struct wr_exchange *ex, const struct wr_head *head);
void wr_own_legs_show_named(struct wr_exchange *ex);

/* Whether what left has our own recall tool. */
static inline bool wr_own_legs_may_come(const struct wr_exchange *ex)
{
    return ex->is_sent_changed && ex->task.own.is_offered && ex->route.is_answer;
}

#endif
