#include "replay/import_gzip.h"

#include <limits.h>
#include <zlib.h>

#include "base/err.h"
#include "base/span.h"

enum { PIECE_BYTES = 256 * 1024, WINDOW_BITS_GZIP_ONLY = 15 + 16 };

bool wr_gzip_is(weir_span bytes)
{
    return wr_span_starts(bytes, WR_LIT("\x1f\x8b"));
}

/* Inflates until the input ends; members follow one another without a word. */
static int inflate_all(z_stream *z, struct wr_buf *out, const char *end)
{
    int got = Z_OK;
    do {
        wr_buf_reserve(out, PIECE_BYTES);
        if (out->status)
            return Z_OK;
        size_t left = (size_t)(end - (const char *)z->next_in);
        z->avail_in = left < UINT_MAX ? (uInt)left : UINT_MAX;
        z->next_out = (Bytef *)(out->bytes + out->len);
        z->avail_out = PIECE_BYTES;
        got = inflate(z, Z_NO_FLUSH);
        out->len += PIECE_BYTES - z->avail_out;
        bool is_more = (const char *)z->next_in < end;
        if (got == Z_STREAM_END && is_more)
            got = inflateReset(z);
        else if (got == Z_OK && !is_more && z->avail_out)
            got = Z_BUF_ERROR; /* all is read, and the stream has not ended */
    } while (got == Z_OK);
    return got;
}

weir_status wr_gzip_inflate(struct wr_buf *out, weir_span bytes, struct weir_err *err)
{
    z_stream z = {.next_in = (z_const Bytef *)bytes.ptr};
    if (inflateInit2(&z, WINDOW_BITS_GZIP_ONLY) != Z_OK)
        return wr_fail(err, WEIR_NOMEM, 0, "no memory to undo gzip");
    int got = inflate_all(&z, out, bytes.ptr + bytes.len);
    size_t at = (size_t)((const char *)z.next_in - bytes.ptr);
    (void)inflateEnd(&z);
    if (out->status)
        return wr_fail(err, out->status, at, "the log inflates to more than %zu bytes",
                       out->cap_max);
    if (got == Z_MEM_ERROR)
        return wr_fail(err, WEIR_NOMEM, at, "no memory to undo gzip");
    if (got != Z_STREAM_END)
        return wr_fail(err, WEIR_SYNTAX, at, "the gzip stream is broken or ends early");
    return WEIR_OK;
}
