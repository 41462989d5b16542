/* answer_stream.h -- a streamed answer of any of the three APIs, put together to the body that the
 * same answer has without streaming.
 *
 * 1. What is shown while it comes are pieces of text and of thinking, in order.
 * 2. Thinking and its signature, encrypted items and whatever else a provider wants back are in the
 *    body as they came.
 * 3. A stream that breaks off, says that something went wrong, or holds an event that cannot be
 *    read is not complete: there is no body, only what the provider said.
 * 4. A Chat call without an id of its own is given one: its result needs it.
 */
#ifndef WR_AGENT_ANSWER_STREAM_H
#define WR_AGENT_ANSWER_STREAM_H

#include "base/arena.h"
#include "net/sse.h"
#include "weir/segment.h"

enum wr_piece { WR_PIECE_TEXT, WR_PIECE_THINKING };

typedef void wr_piece_fn(void *user, enum wr_piece kind, weir_span text);

struct wr_answer_block { /* of Messages a content block, of Chat a call */
    int64_t index;
    struct wr_buf type, id, name;
    struct wr_buf text;      /* or thinking, or the JSON of arguments */
    struct wr_buf signature; /* of thinking */
    struct wr_buf raw;       /* of a kind not known here: as it began */
};

struct wr_answer_stream {
    weir_dialect dialect;
    wr_piece_fn *on_piece;
    void *user;
    struct wr_sse sse;
    struct wr_arena arena; /* of one event */
    struct wr_buf model, text, usage, stop, body, error;
    struct wr_answer_block *blocks;
    size_t blocks_count;
    bool has_ended; /* the provider said that the answer is whole */
    bool has_error; /* or that it failed: `error` is what it said */
    weir_status status;
};

/* `on_piece` may be NULL. Released in any case. */
void wr_answer_stream_init(struct wr_answer_stream *stream, weir_dialect dialect,
                           wr_piece_fn *on_piece, void *user);
void wr_answer_stream_release(struct wr_answer_stream *stream);

void wr_answer_stream_feed(struct wr_answer_stream *stream, weir_span bytes);

/* The body of a whole answer, which lives until the release. WEIR_INVALID: it is not whole.
 * WEIR_SYNTAX, WEIR_LIMIT, WEIR_NOMEM: a part of it could not be read or kept. Asked once. */
WEIR_MUST_USE weir_status wr_answer_stream_end(struct wr_answer_stream *stream, weir_span *body);

#endif
