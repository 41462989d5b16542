/* decode.h -- content codings undone as the bytes come: gzip, deflate, br, zstd.
 *
 * Every way of cutting one stream into chunks yields the same bytes. What comes out is bounded: a
 * small body that unpacks to a huge one fails with WEIR_LIMIT.
 */
#ifndef WR_NET_DECODE_H
#define WR_NET_DECODE_H

#include <stdbool.h>

#include "base/buf.h"
#include "weir/span.h"
#include "weir/status.h"

enum wr_coding {
    WR_CODING_IDENTITY,
    WR_CODING_GZIP,
    WR_CODING_DEFLATE,
    WR_CODING_BR,
    WR_CODING_ZSTD,
    WR_CODING_UNKNOWN
};

/* The value of a Content-Encoding. Several codings one over the other are UNKNOWN. */
enum wr_coding wr_coding_of(weir_span value);

/* `bytes` die with the call. A failure stops the feed and is returned by it. */
typedef weir_status wr_decode_fn(void *user, weir_span bytes);

struct wr_decoder;

/* NULL: out of memory, or the coding is UNKNOWN. */
struct wr_decoder *wr_decoder_new(enum wr_coding coding, size_t bytes_max, wr_decode_fn *sink,
                                  void *user);
void wr_decoder_free(struct wr_decoder *decoder); /* NULL is fine */

/* WEIR_SYNTAX: not what the coding says. After a failure: free only. */
WEIR_MUST_USE weir_status wr_decoder_feed(struct wr_decoder *decoder, weir_span bytes);

/* Whether what was fed ends where the coding says that it ends. */
bool wr_decoder_is_complete(const struct wr_decoder *decoder);

/* The whole of `coded`, at most as much as `out` takes. False: it is not, or has no end, or there
 * is no memory. */
bool wr_decode_whole(enum wr_coding coding, weir_span coded, struct wr_buf *out);

#endif
