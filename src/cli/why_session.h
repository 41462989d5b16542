/* why_session.h -- the report that `weir why` reads: a file, or what the store keeps of a session.
 */
#ifndef WR_CLI_WHY_SESSION_H
#define WR_CLI_WHY_SESSION_H

#include "cli/cmd.h"

/* Appends the report in the file `name`, or, where there is no such file, of the session that is
 * called so (as wr_session_find() takes it) in the store in `dir` (NULL: the user's own). False:
 * said on stderr. */
bool wr_why_read(const char *name, const char *dir, const char *tenant, struct wr_buf *report);

#endif
