#include "store/pack.h"

#include <zstd.h>

#include "base/hash.h"
#include "base/limits.h"

/* Level 1 is within a tenth of level 3 in size on code and logs, at a third more speed; below
 * PACK_BYTES_MIN a text seldom shrinks enough to be worth it. */
enum { PACK_LEVEL = 1, PACK_BYTES_MIN = 64 };

void wr_packer_release(struct wr_packer *packer)
{
    (void)ZSTD_freeCCtx(packer->compress);
    (void)ZSTD_freeDCtx(packer->decompress);
    *packer = (struct wr_packer){NULL, NULL};
}

weir_status wr_pack(struct wr_packer *packer, weir_span text, struct wr_buf *out,
                    enum wr_codec *codec)
{
    size_t room_bytes = ZSTD_compressBound(text.len);

    *codec = WR_CODEC_PLAIN;
    wr_buf_reserve(out, room_bytes);
    if (wr_buf_status(out))
        return wr_buf_status(out);
    if (!packer->compress)
        packer->compress = ZSTD_createCCtx();
    if (!packer->compress)
        return WEIR_NOMEM;
    if (text.len >= PACK_BYTES_MIN) {
        size_t packed_bytes = ZSTD_compressCCtx(packer->compress, out->bytes + out->len, room_bytes,
                                                text.ptr, text.len, PACK_LEVEL);
        if (ZSTD_isError(packed_bytes))
            return WEIR_NOMEM; /* the only way it fails with enough room */
        if (packed_bytes < text.len) {
            *codec = WR_CODEC_ZSTD;
            out->len += packed_bytes;
            return WEIR_OK;
        }
    }
    wr_buf_append(out, text);
    return wr_buf_status(out);
}

weir_status wr_unpack(struct wr_packer *packer, weir_span data, int64_t codec, uint64_t text_bytes,
                      struct wr_buf *out)
{
    if (text_bytes > WR_STORE_ARTIFACT_BYTES_MAX)
        return WEIR_SYNTAX;
    if (codec == WR_CODEC_PLAIN) {
        wr_buf_append(out, data);
        return data.len == text_bytes ? wr_buf_status(out) : WEIR_SYNTAX;
    }
    if (codec != WR_CODEC_ZSTD)
        return WEIR_SYNTAX;
    if (!packer->decompress)
        packer->decompress = ZSTD_createDCtx();
    if (!packer->decompress)
        return WEIR_NOMEM;
    wr_buf_reserve(out, (size_t)text_bytes);
    if (wr_buf_status(out))
        return wr_buf_status(out);
    size_t got_bytes = ZSTD_decompressDCtx(packer->decompress, out->bytes + out->len,
                                           (size_t)text_bytes, data.ptr, data.len);
    if (ZSTD_isError(got_bytes) || got_bytes != text_bytes)
        return WEIR_SYNTAX;
    out->len += got_bytes;
    return WEIR_OK;
}

int64_t wr_pack_checksum(weir_span data, int64_t codec, uint64_t text_bytes, weir_span hash)
{
    uint64_t seed = wr_hash64_seeded(hash, text_bytes * 4 + (uint64_t)codec);
    uint64_t sum = wr_hash64_seeded(data, seed);
    return (int64_t)(sum ? sum : 1);
}
