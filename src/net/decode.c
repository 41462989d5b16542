/* Undoes a content coding as its bytes come: gzip and deflate with zlib, br with brotli, zstd.
 *
 * All three libraries are driven alike. A chunk goes in, and what comes out goes to the sink in
 * pieces of PIECE_BYTES, until the library wants more input. is_complete says whether the coding's
 * own end has been seen, so that a caller can tell a whole body from one that was cut off.
 *
 * Two things that a body may be without being wrong: several gzip streams one behind the other, and
 * several zstd frames. After an end, more bytes begin the next one. Brotli has no such thing: bytes
 * behind its end are an error.
 *
 * What may come out is bounded, not what goes in: a few kilobytes can unpack to gigabytes.
 */
#include "net/decode.h"

#include <brotli/decode.h>
#include <stdlib.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>

#include "base/span.h"

enum {
    PIECE_BYTES = 16 * 1024,
    ZLIB_WINDOW_BITS = 15,
    ZLIB_ANY_WRAPPER = 32, /* added to the window: zlib and gzip are told apart by their heads */
    ZSTD_WINDOW_LOG_MAX = 23,
};

struct wr_decoder {
    enum wr_coding coding;
    size_t bytes_max, bytes_count; /* of what came out */
    wr_decode_fn *sink;
    void *user;
    z_stream zlib;
    BrotliDecoderState *brotli;
    ZSTD_DStream *zstd;
    bool is_open, is_complete;
    char piece[PIECE_BYTES];
};

enum wr_coding wr_coding_of(weir_span value)
{
    static const struct {
        const char *name;
        enum wr_coding coding;
    } codings[] = {
        {"identity", WR_CODING_IDENTITY}, {"gzip", WR_CODING_GZIP}, {"x-gzip", WR_CODING_GZIP},
        {"deflate", WR_CODING_DEFLATE},   {"br", WR_CODING_BR},     {"zstd", WR_CODING_ZSTD}};

    value = wr_span_trim(value);
    if (!value.len)
        return WR_CODING_IDENTITY;
    for (size_t i = 0; i < WR_COUNT_OF(codings); i++)
        if (strlen(codings[i].name) == value.len &&
            !strncasecmp(codings[i].name, value.ptr, value.len))
            return codings[i].coding;
    return WR_CODING_UNKNOWN;
}

struct wr_decoder *wr_decoder_new(enum wr_coding coding, size_t bytes_max, wr_decode_fn *sink,
                                  void *user)
{
    struct wr_decoder *d = coding == WR_CODING_UNKNOWN ? NULL : calloc(1, sizeof(*d));

    if (!d)
        return NULL;
    d->coding = coding;
    d->bytes_max = bytes_max;
    d->sink = sink;
    d->user = user;
    d->is_open = true;
    if (coding == WR_CODING_IDENTITY)
        d->is_complete = true;
    else if (coding == WR_CODING_BR)
        d->is_open = (d->brotli = BrotliDecoderCreateInstance(NULL, NULL, NULL));
    else if (coding == WR_CODING_ZSTD)
        d->is_open = (d->zstd = ZSTD_createDStream()) &&
                     !ZSTD_isError(
                         ZSTD_DCtx_setParameter(d->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG_MAX));
    else
        d->is_open = inflateInit2(&d->zlib, ZLIB_WINDOW_BITS + ZLIB_ANY_WRAPPER) == Z_OK;
    if (d->is_open)
        return d;
    wr_decoder_free(d);
    return NULL;
}

void wr_decoder_free(struct wr_decoder *decoder)
{
    if (!decoder)
        return;
    if (decoder->brotli)
        BrotliDecoderDestroyInstance(decoder->brotli);
    ZSTD_freeDStream(decoder->zstd);
    if (decoder->is_open &&
        (decoder->coding == WR_CODING_GZIP || decoder->coding == WR_CODING_DEFLATE))
        (void)inflateEnd(&decoder->zlib);
    free(decoder);
}

static weir_status give_decoded(struct wr_decoder *d, weir_span bytes)
{
    if (!bytes.len)
        return WEIR_OK;
    if (bytes.len > d->bytes_max - d->bytes_count)
        return WEIR_LIMIT;
    d->bytes_count += bytes.len;
    return d->sink(d->user, bytes);
}

static weir_status feed_zlib(struct wr_decoder *d, weir_span bytes)
{
    weir_status status = WEIR_OK;
    bool is_full = true;

    d->zlib.next_in = (Bytef *)(uintptr_t)bytes.ptr;
    d->zlib.avail_in = (uInt)bytes.len;
    while (!status && (d->zlib.avail_in || is_full)) {
        if (d->is_complete && d->zlib.avail_in) {
            if (inflateReset(&d->zlib) != Z_OK)
                return WEIR_SYNTAX;
            d->is_complete = false;
        }
        d->zlib.next_out = (Bytef *)d->piece;
        d->zlib.avail_out = PIECE_BYTES;
        int result = inflate(&d->zlib, Z_NO_FLUSH);
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
            return WEIR_SYNTAX;
        is_full = !d->zlib.avail_out;
        d->is_complete = result == Z_STREAM_END;
        status = give_decoded(d, (weir_span){d->piece, PIECE_BYTES - d->zlib.avail_out});
        if (result == Z_BUF_ERROR)
            break;
    }
    return status;
}

static weir_status feed_brotli(struct wr_decoder *d, weir_span bytes)
{
    const uint8_t *in = (const uint8_t *)bytes.ptr;
    size_t left = bytes.len;
    weir_status status = WEIR_OK;
    BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;

    if (d->is_complete)
        return bytes.len ? WEIR_SYNTAX : WEIR_OK;
    while (!status && result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) {
        uint8_t *out = (uint8_t *)d->piece;
        size_t room = PIECE_BYTES;
        result = BrotliDecoderDecompressStream(d->brotli, &left, &in, &room, &out, NULL);
        status = give_decoded(d, (weir_span){d->piece, PIECE_BYTES - room});
    }
    if (result == BROTLI_DECODER_RESULT_ERROR || (result == BROTLI_DECODER_RESULT_SUCCESS && left))
        return WEIR_SYNTAX;
    d->is_complete = result == BROTLI_DECODER_RESULT_SUCCESS;
    return status;
}

static weir_status feed_zstd(struct wr_decoder *d, weir_span bytes)
{
    ZSTD_inBuffer in = {bytes.ptr, bytes.len, 0};
    bool is_full = true;
    weir_status status = WEIR_OK;

    while (!status && (in.pos < in.size || is_full)) {
        ZSTD_outBuffer out = {d->piece, PIECE_BYTES, 0};
        size_t hint = ZSTD_decompressStream(d->zstd, &out, &in);
        if (ZSTD_isError(hint))
            return WEIR_SYNTAX;
        /* A call that neither takes nor gives anything speaks of the next frame, not of ours. */
        if (out.pos || in.pos)
            d->is_complete = !hint;
        is_full = out.pos == out.size;
        status = give_decoded(d, (weir_span){d->piece, out.pos});
    }
    return status;
}

weir_status wr_decoder_feed(struct wr_decoder *decoder, weir_span bytes)
{
    if (!bytes.len)
        return WEIR_OK;
    switch (decoder->coding) {
    case WR_CODING_BR:
        return feed_brotli(decoder, bytes);
    case WR_CODING_ZSTD:
        return feed_zstd(decoder, bytes);
    case WR_CODING_GZIP:
    case WR_CODING_DEFLATE:
        return feed_zlib(decoder, bytes);
    case WR_CODING_IDENTITY:
        return give_decoded(decoder, bytes);
    case WR_CODING_UNKNOWN:
        break;
    }
    return WEIR_INVALID;
}

bool wr_decoder_is_complete(const struct wr_decoder *decoder)
{
    return decoder->is_complete;
}

static weir_status add_decoded(void *user, weir_span bytes)
{
    struct wr_buf *out = user;
    wr_buf_append(out, bytes);
    return wr_buf_status(out);
}

bool wr_decode_whole(enum wr_coding coding, weir_span coded, struct wr_buf *out)
{
    struct wr_decoder *decoder = wr_decoder_new(coding, out->cap_max, add_decoded, out);
    bool ok = decoder && !wr_decoder_feed(decoder, coded) && wr_decoder_is_complete(decoder);
    wr_decoder_free(decoder);
    return ok;
}
