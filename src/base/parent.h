/* parent.h -- a child that ends with its parent, however the parent ended.
 *
 * A parent that is killed tells nobody. How a child hears of it is the system's affair, and all of
 * that is in parent.c.
 */
#ifndef WR_BASE_PARENT_H
#define WR_BASE_PARENT_H

#include <stdbool.h>
#include <sys/types.h>

/* Called by a child right after fork(), with the pid that getpid() gave before it: from then on
 * signal `number` comes when the parent is gone. False: it is gone already, and no signal comes. */
bool wr_parent_watch(pid_t parent, int number);

#endif
