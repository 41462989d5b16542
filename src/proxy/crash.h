/* crash.h -- bodies that were being projected when a worker died, remembered across its death.
 *
 * The table is memory shared by the supervisor and its workers. A worker notes a body before it
 * reads it and takes the note back behind it; what is still noted when it dies is suspected. A body
 * suspected twice is passed on unread.
 */
#ifndef WR_PROXY_CRASH_H
#define WR_PROXY_CRASH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "weir/span.h"

struct wr_crash_table;

/* NULL: there is no memory to share. It lives until the process ends, and after that in those it
 * has forked. */
struct wr_crash_table *wr_crash_table_new(void);

/* Tells bodies of a session apart, which differ in their length and at their end, without reading
 * all of them. */
uint64_t wr_crash_hash(weir_span body);

/* Notes that worker `pid` is reading a body of this hash. `*note` is for wr_crash_leave(). False:
 * it was in flight in two crashes and is to be left alone; nothing is noted then. `table` may be
 * NULL. */
bool wr_crash_enter(struct wr_crash_table *table, pid_t pid, uint64_t body_hash, int *note);
void wr_crash_leave(struct wr_crash_table *table, int note);

/* The supervisor's: worker `pid` has died. Returns how many bodies are suspected by it. */
int wr_crash_blame(struct wr_crash_table *table, pid_t pid);

#endif
