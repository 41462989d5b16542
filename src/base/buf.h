/* buf.h -- growable bytes with a hard cap and a sticky failure.
 *
 * Appends return nothing: the first failure is kept, later appends do nothing,
 * and the caller asks once with wr_buf_status(). A buffer never exceeds its cap.
 */
#ifndef WR_BASE_BUF_H
#define WR_BASE_BUF_H

#include <stdbool.h>
#include <string.h>

#include "weir/span.h"
#include "weir/status.h"

struct wr_buf {
    char *bytes; /* owned; NULL until the first append */
    size_t len;
    size_t cap;
    size_t cap_max;     /* never grows past this */
    weir_status status; /* first failure, WEIR_OK until then */
};

void wr_buf_init(struct wr_buf *buf, size_t cap_max);

/* Makes room for `bytes` more, or keeps why it cannot. */
bool wr_buf_grow(struct wr_buf *buf, size_t bytes);

/* Most appends find room: a writer of JSON makes hundreds for a line, so that is looked for here
 * and only growing is a call. */
static inline bool wr_buf_has_room(struct wr_buf *buf, size_t bytes)
{
    return (bytes <= buf->cap - buf->len && !buf->status) || wr_buf_grow(buf, bytes);
}

/* What is appended may not be part of the buffer itself. */
static inline void wr_buf_append(struct wr_buf *buf, weir_span bytes)
{
    if (!bytes.len || !wr_buf_has_room(buf, bytes.len))
        return;
    memcpy(buf->bytes + buf->len, bytes.ptr, bytes.len);
    buf->len += bytes.len;
}

static inline void wr_buf_byte(struct wr_buf *buf, char byte)
{
    if (wr_buf_has_room(buf, 1))
        buf->bytes[buf->len++] = byte;
}

void wr_buf_text(struct wr_buf *buf, const char *text);
void wr_buf_printf(struct wr_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes room for `bytes` more without changing the content. */
void wr_buf_reserve(struct wr_buf *buf, size_t bytes);

/* The same, but without room for them it returns false and the buffer stays usable. */
bool wr_buf_try_reserve(struct wr_buf *buf, size_t bytes);

/* Empties the buffer, keeping its memory. Does not forgive a failure. */
void wr_buf_reset(struct wr_buf *buf);
void wr_buf_release(struct wr_buf *buf);

/* The view lives until the next append, reset or release. */
weir_span wr_buf_view(const struct wr_buf *buf);
WEIR_MUST_USE weir_status wr_buf_status(const struct wr_buf *buf);

#endif
