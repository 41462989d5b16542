#include "base/buf.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

enum { BUF_CAP_FIRST_BYTES = 256 };

bool wr_buf_grow(struct wr_buf *buf, size_t need)
{
    WR_ASSERT(buf->len <= buf->cap);
    if (buf->status)
        return false;
    if (need <= buf->cap - buf->len)
        return true;
    if (need > buf->cap_max - buf->len) {
        buf->status = WEIR_LIMIT;
        return false;
    }

    size_t cap = buf->cap ? buf->cap : BUF_CAP_FIRST_BYTES;
    while (cap - buf->len < need)
        cap = cap > buf->cap_max / 2 ? buf->cap_max : cap * 2;
    if (cap > buf->cap_max)
        cap = buf->cap_max;

    /* One byte more for the NUL of vsnprintf, which is not content. */
    char *bytes = realloc(buf->bytes, cap + 1);
    if (!bytes) {
        buf->status = WEIR_NOMEM;
        return false;
    }
    buf->bytes = bytes;
    buf->cap = cap;
    return true;
}

void wr_buf_init(struct wr_buf *buf, size_t cap_max)
{
    *buf = (struct wr_buf){.cap_max = cap_max < SIZE_MAX ? cap_max : SIZE_MAX - 1};
}

void wr_buf_reserve(struct wr_buf *buf, size_t bytes)
{
    (void)wr_buf_grow(buf, bytes);
}

bool wr_buf_try_reserve(struct wr_buf *buf, size_t bytes)
{
    weir_status before = buf->status;
    bool ok = wr_buf_grow(buf, bytes);
    buf->status = before;
    return ok;
}

void wr_buf_text(struct wr_buf *buf, const char *text)
{
    wr_buf_append(buf, (weir_span){text, strlen(text)});
}

void wr_buf_printf(struct wr_buf *buf, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int need = vsnprintf(NULL, 0, format, args);
    va_end(args);
    WR_ASSERT(need >= 0);
    if (need > 0 && wr_buf_grow(buf, (size_t)need)) {
        (void)vsnprintf(buf->bytes + buf->len, (size_t)need + 1, format, again);
        buf->len += (size_t)need;
    }
    va_end(again);
}

void wr_buf_reset(struct wr_buf *buf)
{
    buf->len = 0;
}

void wr_buf_release(struct wr_buf *buf)
{
    free(buf->bytes);
    *buf = (struct wr_buf){0};
}

weir_span wr_buf_view(const struct wr_buf *buf)
{
    return (weir_span){buf->bytes, buf->len};
}

weir_status wr_buf_status(const struct wr_buf *buf)
{
    return buf->status;
}
