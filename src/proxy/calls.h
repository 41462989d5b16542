/* calls.h -- the tool calls of an answer, gathered from its events.
 *
 * Everything is capped: what is over a cap is not kept.
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
    struct wr_buf answer_id, conversation_id; /* empty: it said none */
};

void wr_calls_init(struct wr_calls *calls);
void wr_calls_release(struct wr_calls *calls);

/* The call whose pieces have this index, made where there is none; NULL: no room for it. */
struct wr_call *wr_calls_at(struct wr_calls *calls, int64_t index);
/* A call that comes whole. */
void wr_calls_add(struct wr_calls *calls, weir_span id, weir_span name, weir_span arguments);
void wr_call_add_arguments(struct wr_call *call, weir_span piece);

#endif
