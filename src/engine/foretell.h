/* foretell.h -- a session's plan: what is out of its prompt, what the next step would take, and
 * what it would cost to take that now, to undo the last step, or to send everything as it came.
 *
 * It is found out by the stages themselves: the fold that has just run is gone on from, as if the
 * next request came and somebody had said `now`, `undo` or `exact` (policy/orders.h) before it. The
 * engine alone can: the transcript is there only while its request is. So whoever wants to show a
 * plan later keeps what is written here (docs/steer.md has the format).
 *
 * Prices are what is written into the provider's cache again, less what reading it would have cost,
 * as the ledger has it afterwards (ledger/tally.c). Names of tools, paths and how command lines
 * begin are in it; nothing else that was said.
 */
#ifndef WR_ENGINE_FORETELL_H
#define WR_ENGINE_FORETELL_H

#include "base/buf.h"
#include "engine/projection.h"

/* Appends it as one JSON object. WEIR_NOTFOUND: there is nothing to tell of this request: it has no
 * marks, or was sent as it came because something was wrong. */
WEIR_MUST_USE weir_status wr_foretell(struct wr_projection *p, struct wr_buf *out);

#endif
