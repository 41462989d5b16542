/* answers.h -- the tool calls of past answers by the answers' ids, for all threads and all workers.
 *
 * A host whose provider holds the history sends results without the calls they answer; whoever
 * reads such a request finds the calls here, and the session that the answer belonged to.
 *
 * The memory is shared by the supervisor and its workers, so it does not matter which of them heard
 * the answer, and a worker that dies takes nothing with it. It is a ring: the oldest give way. What
 * it does not have may be among the notes of an earlier server (proxy/notes.h); what is not there
 * either is not known, and its results stay whole.
 */
#ifndef WR_PROXY_ANSWERS_H
#define WR_PROXY_ANSWERS_H

#include "api/answer.h"
#include "base/arena.h"
#include "proxy/notes.h"
#include "quality/bust.h"
#include "weir/engine.h"

struct wr_answers;

struct wr_known_answer {
    weir_span session;
    const struct weir_known_call *calls;
    size_t calls_count;
};

/* NULL: there is no memory to share. It lives until the process ends, and after that in those it
 * has forked. */
struct wr_answers *wr_answers_new(void);

/* Keeps a copy. What has no id is not kept; one without calls is, for its session. */
void wr_answers_keep(struct wr_answers *answers, weir_span tenant, weir_span session,
                     const struct wr_reply *answer);

/* By the id of an answer, or of a conversation: then its newest answer. What is found is copied
 * into `arena`. False: it is not known, or another tenant's. */
bool wr_answers_find(struct wr_answers *answers, struct wr_arena *arena, weir_span tenant,
                     weir_span id, struct wr_known_answer *known);

/* What the answer left in the provider's cache, for the next request that goes on from it. A newer
 * one replaces an older one of the same id. */
void wr_answers_keep_chain(struct wr_answers *answers, weir_span tenant, weir_span id,
                           const struct wr_bust_chain *chain);
bool wr_answers_find_chain(struct wr_answers *answers, weir_span tenant, weir_span id,
                           struct wr_bust_chain *chain);

/* An answer as bytes. `has_arguments`: with what its calls say; it is content. */
void wr_answer_encode(weir_span session, const struct wr_reply *answer, bool has_arguments,
                      struct wr_buf *out);
/* What is found points into `bytes`, and its list is in `arena`. False: they are damaged, or there
 * is no memory. */
bool wr_answer_decode(struct wr_arena *arena, weir_span bytes, struct wr_known_answer *known);

/* ---- answers in the store, for a server that was started since ---- */

/* Keeps an answer under its id and its conversation's. `has_arguments`: with the arguments of its
 * calls, which is for sessions whose originals are in the store anyway; they are left out if they
 * are too long for a note. `notes` may be NULL. */
void wr_answer_note_keep(struct wr_notes *notes, weir_span tenant, weir_span session,
                         const struct wr_reply *answer, bool has_arguments, int64_t now_ms);

/* As wr_answers_find(). `waits`: for another node that may be writing it (wr_notes_await()). */
bool wr_answer_note_find(struct wr_notes *notes, struct wr_arena *arena, weir_span tenant,
                         weir_span id, bool waits, struct wr_known_answer *known);

#endif
