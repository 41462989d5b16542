/* Markdown as it comes: what can no longer change is finished, the rest is drawn again with every
 * piece.
 *
 * A block is over at an empty line behind which a line begins at the left edge: what is indented
 * may belong to a list before it. A code block at the left edge ends whatever is open, and its
 * lines are finished one by one, because nothing that follows changes them; an answer is often one
 * long code block, and nobody wants to wait for its end.
 */
#include <stdint.h>
#include <stdio.h>

#include "agent/markdown.h"
#include "base/ascii.h"
#include "base/limits.h"
#include "base/span.h"

enum { FENCE_BYTES_MIN = 3 };

void wr_md_stream_init(struct wr_md_stream *s)
{
    *s = (struct wr_md_stream){.has_blocks = false};
    wr_buf_init(&s->source, WR_AGENT_ANSWER_BYTES_MAX);
}

void wr_md_stream_release(struct wr_md_stream *s)
{
    wr_buf_release(&s->source);
}

/* How many ` or ~ begin the line; 0: it is no fence. */
static size_t fence_of(weir_span line, char *fence)
{
    size_t bytes = 0;

    if (!line.len || (line.ptr[0] != '`' && line.ptr[0] != '~'))
        return 0;
    *fence = line.ptr[0];
    while (bytes < line.len && line.ptr[bytes] == *fence)
        bytes++;
    bool is_inline = *fence == '`' && bytes < line.len &&
                     memchr(line.ptr + bytes, '`', line.len - bytes); /* ```code``` in a text */
    return bytes >= FENCE_BYTES_MIN && !is_inline ? bytes : 0;
}

static bool ends_fence(const struct wr_md_stream *s, weir_span line)
{
    char fence = 0;
    weir_span trimmed = wr_span_trim(line);
    size_t bytes = fence_of(trimmed, &fence);
    return bytes >= s->fence_bytes && fence == s->fence && bytes == trimmed.len;
}

/* Bytes at the beginning whose blocks are over; SIZE_MAX: all that is there. A fence behind them is
 * where they end. */
static size_t ready_bytes(weir_span source)
{
    size_t ready = 0, at = 0;
    bool is_behind_blank = false;
    char fence;

    while (at < source.len) {
        const char *end = memchr(source.ptr + at, '\n', source.len - at);
        weir_span line = wr_span_cut(source, at, end ? (size_t)(end - source.ptr) : source.len);
        bool is_blank = !wr_span_trim(line).len;
        if (is_behind_blank && !is_blank && !wr_is_blank(line.ptr[0]))
            ready = at;
        if (!end)
            break;
        if (fence_of(line, &fence))
            return at;
        is_behind_blank = is_blank;
        at += line.len + 1;
    }
    return ready;
}

static void drop_source(struct wr_md_stream *s, size_t bytes)
{
    if (bytes)
        memmove(s->source.bytes, s->source.bytes + bytes, s->source.len - bytes);
    s->source.len -= bytes;
}

static void part(struct wr_md_stream *s, struct wr_buf *out)
{
    if (s->has_blocks)
        wr_buf_byte(out, '\n');
    s->has_blocks = true;
}

static void finish_blocks(struct wr_md_stream *s, size_t bytes, const struct wr_md_look *look,
                          struct wr_buf *out)
{
    weir_span blocks = wr_span_cut(wr_buf_view(&s->source), 0, bytes);

    if (wr_span_trim(blocks).len) {
        part(s, out);
        wr_markdown(out, blocks, look);
    }
    drop_source(s, bytes);
}

static void begin_code(struct wr_md_stream *s, weir_span line, struct wr_buf *out)
{
    s->fence_bytes = fence_of(line, &s->fence);
    weir_span language = wr_span_trim(wr_span_from(line, s->fence_bytes));
    (void)snprintf(s->language, sizeof(s->language), "%.*s",
                   (int)(language.len < 15 ? language.len : 15), language.len ? language.ptr : "");
    part(s, out);
}

/* True: a line was taken off the source. */
static bool take_code_line(struct wr_md_stream *s, const struct wr_md_look *look,
                           struct wr_buf *out)
{
    weir_span source = wr_buf_view(&s->source);
    const char *end = source.len ? memchr(source.ptr, '\n', source.len) : NULL;
    char fence;

    if (!end)
        return false;
    weir_span line = wr_span_cut(source, 0, (size_t)(end - source.ptr));
    if (!s->fence_bytes && !fence_of(line, &fence))
        return false;
    if (!s->fence_bytes)
        begin_code(s, line, out);
    else if (ends_fence(s, line))
        s->fence_bytes = 0;
    else
        wr_md_code_line(out, line, wr_span_of(s->language), look);
    drop_source(s, line.len + 1);
    return true;
}

void wr_md_stream_feed(struct wr_md_stream *s, weir_span piece, const struct wr_md_look *look,
                       struct wr_buf *out)
{
    wr_buf_append(&s->source, piece);
    for (;;) {
        if (take_code_line(s, look, out))
            continue;
        size_t ready = s->fence_bytes ? 0 : ready_bytes(wr_buf_view(&s->source));
        if (!ready)
            return;
        finish_blocks(s, ready, look, out);
    }
}

static void put_rest(const struct wr_md_stream *s, const struct wr_md_look *look,
                     struct wr_buf *out)
{
    weir_span rest = wr_buf_view(&s->source);

    if (s->fence_bytes && rest.len && !ends_fence(s, rest))
        wr_md_code_line(out, rest, wr_span_of(s->language), look);
    if (s->fence_bytes || !wr_span_trim(rest).len)
        return;
    if (s->has_blocks)
        wr_buf_byte(out, '\n');
    wr_markdown(out, rest, look);
}

void wr_md_stream_tail(const struct wr_md_stream *s, const struct wr_md_look *look,
                       struct wr_buf *out)
{
    put_rest(s, look, out);
}

void wr_md_stream_end(struct wr_md_stream *s, const struct wr_md_look *look, struct wr_buf *out)
{
    put_rest(s, look, out);
    wr_buf_reset(&s->source);
    s->has_blocks = false;
    s->fence_bytes = 0;
}
