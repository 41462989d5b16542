/* calls.h -- the tool calls of an answer, gathered from its events, and answers kept by their id.
 *
 * A host whose provider holds the history sends results without the calls they answer; whoever
 * reads such a request finds the calls here. Everything is capped: what is over a cap is not kept.
 */
#ifndef WR_PROXY_CALLS_H
#define WR_PROXY_CALLS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/limits.h"

struct wr_call {
    int64_t index; /* where the stream says that its pieces belong; -1: it comes whole */
    struct wr_buf id, name, arguments;
    bool is_cut; /* its arguments were too long: they are empty */
};

struct wr_calls { /* of one answer */
    struct wr_call *items;
    size_t count;
    struct wr_buf answer_id;
};

void wr_calls_init(struct wr_calls *calls);
void wr_calls_release(struct wr_calls *calls);

/* The call whose pieces have this index, made where there is none; NULL: no room for it. */
struct wr_call *wr_calls_at(struct wr_calls *calls, int64_t index);
/* A call that comes whole. */
void wr_calls_add(struct wr_calls *calls, weir_span id, weir_span name, weir_span arguments);
void wr_call_add_arguments(struct wr_call *call, weir_span piece);

struct wr_answers; /* of many answers; the oldest give way */

struct wr_answers *wr_answers_new(void);          /* NULL: out of memory */
void wr_answers_free(struct wr_answers *answers); /* NULL is fine */

/* Keeps them, leaving `calls` empty. What has no id or no call is not kept. */
void wr_answers_take(struct wr_answers *answers, weir_span tenant, struct wr_calls *calls);

/* NULL: not known, or another tenant's. Lives until the next take. */
const struct wr_calls *wr_answers_find(const struct wr_answers *answers, weir_span tenant,
                                       weir_span answer_id);

#endif
