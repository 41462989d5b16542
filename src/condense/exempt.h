/* exempt.h -- outputs that are never condensed, whatever their size and the budget.
 *
 * Recalled text and plans: who asked for them needs all of them. What a tool says of an edit: it is
 * short, and the next action quotes it. That a file is unchanged: it points at a result that was
 * read before.
 *
 * Elsewhere: what is too small to be worth it, errors of the newest turn, results such a stub
 * points at, and all that is no tool's output (instructions, the user's words) never come this far;
 * that is the policy's rule (policy/fold.h). Ids of processes that still run stay in whatever is
 * condensed (note.h).
 */
#ifndef WR_CONDENSE_EXEMPT_H
#define WR_CONDENSE_EXEMPT_H

#include <stdbool.h>

#include "condense/output_kind.h"

bool wr_exempt_is(enum wr_output_origin origin, weir_span text);

#endif
