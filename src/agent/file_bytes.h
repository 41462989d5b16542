/* file_bytes.h -- a file read whole, and replaced whole. */
#ifndef WR_AGENT_FILE_BYTES_H
#define WR_AGENT_FILE_BYTES_H

#include "base/buf.h"

/* Appends a regular file's bytes. NULL: done; else why not. */
const char *wr_file_read(const char *path, struct wr_buf *into);

/* Puts `content` in its place in one move: whoever reads sees the old bytes or the new ones. What
 * the name leads to through links is replaced, and keeps its mode. NULL: done; else why not. */
const char *wr_file_replace(const char *path, weir_span content);

#endif
