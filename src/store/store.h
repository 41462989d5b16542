/* store.h -- what all kinds of store share: where one is, what it refused, how a text is kept.
 *
 * For whoever serves from a store and watches over it; weir/store_host.h has the operations of one.
 */
#ifndef WR_STORE_STORE_H
#define WR_STORE_STORE_H

#include <stdbool.h>

#include "base/buf.h"
#include "weir/store.h"

/* Whether the store is there, or with `writes` whether something could be kept now. */
WEIR_MUST_USE weir_status wr_store_probe(struct weir_store *store, bool writes,
                                         struct weir_err *err);

/* A number for what it is kept in: another file, another number. 0: it has none. */
uint64_t wr_store_place(const struct weir_store *store);

/* ==== where it is ==== */

enum wr_where {
    WR_WHERE_DIRECTORY,
    WR_WHERE_POSTGRES,
    WR_WHERE_UNKNOWN, /* a scheme that is none of ours */
};

enum wr_where wr_where(const char *store);

enum { WR_WHERE_SHOWN_BYTES = 512 };

/* Writes it as it may be shown, without a password, and returns `shown`. */
const char *wr_where_shown(const char *store, char shown[WR_WHERE_SHOWN_BYTES]);

/* ==== what the operating system refused ==== */

/* `what` could not be done for the reason in errno: fills `trouble` and `err` (which may be NULL),
 * and gives WEIR_LIMIT where there is no room, WEIR_IO otherwise. */
weir_status wr_os_error(const char *what, weir_trouble *trouble, struct weir_err *err);

/* ==== how a text is kept ==== */

/* Compressed with zstd where that makes it smaller. */

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
