/* import_gzip.h -- logs that were compressed. Private to the importers. */
#ifndef WR_REPLAY_IMPORT_GZIP_H
#define WR_REPLAY_IMPORT_GZIP_H

#include <stdbool.h>

#include "base/buf.h"

bool wr_gzip_is(weir_span bytes);

/* Appends what `bytes`, one or more gzip members, hold. WEIR_SYNTAX with the byte where the stream
 * breaks or ends early; WEIR_LIMIT past the buffer's cap. */
WEIR_MUST_USE weir_status wr_gzip_inflate(struct wr_buf *out, weir_span bytes,
                                          struct weir_err *err);

#endif
