/* log.h -- lines into a file that is rotated: FILE, FILE.1 (newer) to FILE.5 (oldest).
 *
 * Lines are gathered and written a few times a second, so a request never waits for the disk. What
 * cannot be written is counted and lost: a full disk stops nobody's work.
 */
#ifndef WR_PROXY_LOG_H
#define WR_PROXY_LOG_H

#include <stdbool.h>

#include "base/buf.h"

struct wr_log;

/* Opens or makes the file (0600). NULL: it cannot be; errno says why. */
struct wr_log *wr_log_open(const char *path);
void wr_log_close(struct wr_log *log); /* writes what is gathered; NULL is fine */

/* A line, LF included. */
void wr_log_add(struct wr_log *log, weir_span line);
void wr_log_flush(struct wr_log *log);
uint64_t wr_log_take_lost(struct wr_log *log); /* lines, since it was asked last */

#endif
