/* plan_keep.h -- what a session's last request foretells (engine/foretell.h), kept for `weir plan`
 * and whoever else wants to say something of the session (ledger/steer.h). */
#ifndef WR_PROXY_PLAN_KEEP_H
#define WR_PROXY_PLAN_KEEP_H

#include "proxy/notes.h"
#include "weir/request.h"

/* When the request, which was projected, has left. Where there is nothing to tell, or no room,
 * nothing is kept. */
void wr_plan_keep(struct wr_notes *notes, struct weir_request *request, weir_span tenant,
                  weir_span session, int64_t now_ms);

#endif
