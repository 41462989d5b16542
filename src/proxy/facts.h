/* facts.h -- the figures of an engine's report, for a line of the log.
 *
 * Numbers, truth values and short words on the first level are taken, and short lists of them; what
 * could be long is not. What the engine learns to report the log has without being told.
 */
#ifndef WR_PROXY_FACTS_H
#define WR_PROXY_FACTS_H

#include "base/buf.h"

/* Appends `,"PREFIXname":value` for each. A report that cannot be read adds nothing. */
void wr_facts_from_report(weir_span report, const char *prefix, struct wr_buf *out);

#endif
