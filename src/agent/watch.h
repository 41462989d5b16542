/* watch.h -- what another process does in a session, shown as it happens.
 *
 * The journal is read and nothing is written (session/follow.h). As text: what the user said, what
 * the model said and called, the first line of each result. As JSON: the lines of the journal as
 * they stand (docs/session.md, "Events").
 */
#ifndef WR_AGENT_WATCH_H
#define WR_AGENT_WATCH_H

#include <stdbool.h>
#include <stdio.h>

#include "weir/status.h"

struct wr_watch {
    FILE *out;
    bool is_json;
};

/* Everything from the first event on, until nobody has had the session open for two seconds, or
 * nobody reads `out`. */
WEIR_MUST_USE weir_status wr_watch_session(const struct wr_watch *watch, const char *dir,
                                           struct weir_err *err);

#endif
