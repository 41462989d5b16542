/* pack.h -- how a text is kept: compressed with zstd where that makes it smaller. */
#ifndef WR_STORE_PACK_H
#define WR_STORE_PACK_H

#include "base/buf.h"

/* The numbers are kept in stores. */
enum wr_codec { WR_CODEC_PLAIN = 0, WR_CODEC_ZSTD = 1 };

/* The compressor's working memory, kept between calls; zero is a good start. */
struct wr_packer {
    void *compress, *decompress; /* owned */
};

void wr_packer_release(struct wr_packer *packer);

/* Appends `text` as it is to be kept, and says how. */
WEIR_MUST_USE weir_status wr_pack(struct wr_packer *packer, weir_span text, struct wr_buf *out,
                                  enum wr_codec *codec);

/* Appends the text of `text_bytes` that was packed. WEIR_SYNTAX when that is not what it holds. */
WEIR_MUST_USE weir_status wr_unpack(struct wr_packer *packer, weir_span data, int64_t codec,
                                    uint64_t text_bytes, struct wr_buf *out);

/* What tells a row that changed on disk from one that did not, without unpacking; never 0. */
int64_t wr_pack_checksum(weir_span data, int64_t codec, uint64_t text_bytes, weir_span hash);

#endif
