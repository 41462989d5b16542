/* moment.h -- what is said of the moment at the end of the user's words: the clock, and what was
 * done last.
 *
 * It stays where it was said, so the prompt before it stays cached (docs/session.md, "The prompt").
 */
#ifndef WR_AGENT_MOMENT_H
#define WR_AGENT_MOMENT_H

#include "weir/session.h"
#include "base/buf.h"

/* The last calls of the session, a line each, the oldest first: "- process_start make: failed".
 * Nothing where there was none. */
void wr_moment_footprint(const struct weir_session *session, struct wr_buf *out);

/* Both sections, as the prompt writes them. Nothing is appended where words of the user do not
 * wait, since it would not be sent. */
WEIR_MUST_USE weir_status wr_moment_write(const struct weir_session *session, int64_t now_ms,
                                          struct wr_buf *out, struct weir_err *err);

#endif
