/* task.h -- what a thread that projects needs beside the projection: what a task says of itself,
 * the stores of the thread, and what is kept of a projection. */
#ifndef WR_PROXY_TASK_H
#define WR_PROXY_TASK_H

#include "engine/record.h"
#include "proxy/answers.h"
#include "proxy/projector.h"
#include "proxy/rollout.h"
#include "proxy/store_state.h"
#include "weir/request.h"

void wr_task_release(struct wr_task *task); /* what it holds, not the struct */

/* Why it was not projected. The engine says WEIR_LIMIT of what is too large as well as of what
 * takes too long. */
weir_span wr_task_failure(weir_status status, uint64_t took_us);
/* Whose recall its request may use: what the header says, else the rules. */
enum wr_recall wr_task_recall(const struct wr_task *task);
/* Whether a session that begins with it may have something taken out. */
bool wr_task_may_take_out(const struct wr_task *task);

/* ---- the stores of a thread ---- */

/* The one on disk, and for what is only decided and not sent one in memory. */
struct wr_thread_stores {
    const char *dir;            /* given; NULL: there is none on disk */
    struct wr_metrics *metrics; /* given: where it is told how the store is */
    struct weir_store *store;   /* NULL: not open */
    uint64_t place;             /* of it, as wr_store_state_seen() knows it */
    struct weir_store *shadow;  /* made when it is first needed */
};

/* A store that cannot be opened is tried again by the next request: without it nothing that needs a
 * way back is taken out, and the requests still go (law L6). */
void wr_thread_stores_open(struct wr_thread_stores *stores);
void wr_thread_stores_close(struct wr_thread_stores *stores);

/* The one for what was decided; NULL: none. */
struct weir_store *wr_thread_stores_for(struct wr_thread_stores *stores,
                                        const struct wr_decision *decision);

/* How the store was while it was used for a task. */
void wr_thread_stores_note(struct wr_thread_stores *stores, weir_trouble trouble);

/* A store in memory that is full is begun anew: shadow decisions are figures, not promises. */
void wr_thread_stores_empty_shadow(struct wr_thread_stores *stores);

/* ---- what is kept of a projection ---- */

/* What a session's last request foretells (engine/steer.h), kept for `weir plan` and whoever
 * else wants to say something of the session (ledger/steer.h): when the request, which was
 * projected, has left. Where there is nothing to tell, or no room, nothing is kept. */
void wr_plan_keep(struct wr_notes *notes, struct weir_request *request, weir_span tenant,
                  weir_span session, int64_t now_ms);

/* What shadow decides of a session's newest request, kept for people to look at: three files in a
 * folder that the user named, with a number for each session and model. N.came.json and N.made.json
 * are what `weir diff` compares, N.report.json is what `weir why` reads. They hold what was said,
 * so they are readable for their owner alone; without --keep-shadow there are none. Each file is
 * replaced whole, or stays as it was: what cannot be written is no failure. */
void wr_shadow_keep(const char *dir, const struct wr_record *record, weir_span came,
                    weir_span made);

/* A recall tool that was only imagined for the decision is no part of what came. */
void wr_shadow_forget_tool(struct wr_record *record);

#endif
