/* bpe_stream.h -- counting text that comes in chunks.
 *
 * Invariant: every way of cutting one text into chunks gives the same count as the whole text. Only
 * the last piece, which more text could change, is kept.
 */
#ifndef WR_TOKENS_BPE_STREAM_H
#define WR_TOKENS_BPE_STREAM_H

#include "base/buf.h"
#include "tokens/bpe.h"

struct wr_bpe_stream {
    struct wr_bpe_scratch *scratch; /* borrowed */
    struct wr_buf held;             /* what is not counted for good yet */
    size_t held_bytes_next;         /* not worth looking at `held` again before it is this long */
    size_t tokens;                  /* of everything before `held` */
};

/* `scratch` must outlive the stream, and may serve others meanwhile. */
void wr_bpe_stream_init(struct wr_bpe_stream *stream, struct wr_bpe_scratch *scratch);
void wr_bpe_stream_release(struct wr_bpe_stream *stream);

/* Failure: WEIR_NOMEM; WEIR_LIMIT for a piece above WR_TOKENS_PIECE_BYTES_MAX. The stream is then
 * of no further use. */
WEIR_MUST_USE weir_status wr_bpe_stream_feed(struct wr_bpe_stream *stream, weir_span chunk);

/* The count of all that was fed, as if the text ended here. Feeding may go on. */
WEIR_MUST_USE weir_status wr_bpe_stream_count(struct wr_bpe_stream *stream, size_t *tokens);

#endif
