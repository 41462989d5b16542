#include "tokens/bpe_stream.h"

#include "base/limits.h"
#include "base/span.h"

enum { STEP_BYTES = 4096 };

void wr_bpe_stream_init(struct wr_bpe_stream *stream, struct wr_bpe_scratch *scratch)
{
    *stream = (struct wr_bpe_stream){.scratch = scratch};
    wr_buf_init(&stream->held, WR_TOKENS_PIECE_BYTES_MAX);
}

void wr_bpe_stream_release(struct wr_bpe_stream *stream)
{
    wr_buf_release(&stream->held);
}

/* Drops the first `bytes` of what is held. */
static void drop_held(struct wr_bpe_stream *stream, size_t bytes)
{
    memmove(stream->held.bytes, stream->held.bytes + bytes, stream->held.len - bytes);
    stream->held.len -= bytes;
}

/* Moves the first `bytes` of the chunk behind what is held, and counts what that closes. `*used` is
 * how much of the chunk is then done with or held. */
static weir_status feed_held(struct wr_bpe_stream *stream, weir_span chunk, size_t bytes,
                             size_t *used)
{
    struct wr_bpe_mark mark = {0, stream->tokens};

    wr_buf_append(&stream->held, wr_span_cut(chunk, 0, bytes));
    weir_status status = wr_buf_status(&stream->held);
    *used = bytes;
    if (status || stream->held.len < stream->held_bytes_next)
        return status;
    status = wr_bpe_mark_move(stream->scratch, wr_buf_view(&stream->held), &mark);
    if (status)
        return status;
    stream->tokens = mark.tokens;
    drop_held(stream, mark.bytes);
    /* A long piece that stays open is scanned again only when it has doubled: linear in all. */
    stream->held_bytes_next = mark.bytes ? 0 : stream->held.len * 2;
    if (stream->held.len <= bytes) {
        /* All that is left came with this chunk, so it can be counted there. */
        *used = bytes - stream->held.len;
        wr_buf_reset(&stream->held);
    }
    return WEIR_OK;
}

weir_status wr_bpe_stream_feed(struct wr_bpe_stream *stream, weir_span chunk)
{
    weir_status status = WEIR_OK;

    while (stream->held.len && chunk.len && !status) {
        size_t bytes = stream->held.len > STEP_BYTES ? stream->held.len : STEP_BYTES, used = 0;
        status = feed_held(stream, chunk, bytes < chunk.len ? bytes : chunk.len, &used);
        chunk = wr_span_cut(chunk, used, chunk.len);
    }
    if (status || !chunk.len)
        return status;

    struct wr_bpe_mark mark = {0, stream->tokens};
    status = wr_bpe_mark_move(stream->scratch, chunk, &mark);
    stream->tokens = mark.tokens;
    wr_buf_append(&stream->held, wr_span_cut(chunk, mark.bytes, chunk.len));
    stream->held_bytes_next = 0;
    return status ? status : wr_buf_status(&stream->held);
}

weir_status wr_bpe_stream_count(struct wr_bpe_stream *stream, size_t *tokens)
{
    size_t rest = 0;
    weir_status status = wr_bpe_count(stream->scratch, wr_buf_view(&stream->held), &rest);
    *tokens = stream->tokens + rest;
    return status;
}
