/* facts_merge.h -- facts of a long past, put together from those of its parts.
 *
 * A past that is larger than one document can be is read part by part. Files and tasks that several
 * parts tell of are one; what is newest counts, as if it had been read at once
 * (policy/summary_facts.h).
 */
#ifndef WR_SESSION_FACTS_MERGE_H
#define WR_SESSION_FACTS_MERGE_H

#include "policy/summary_facts.h"

/* Adds the facts of the next part to `all`, with everything copied into `arena`. `segments_before`
 * are those of the parts before it. */
WEIR_MUST_USE weir_status wr_facts_merge(struct wr_facts *all, struct wr_arena *arena,
                                         const struct wr_facts *part, uint32_t segments_before);

#endif
