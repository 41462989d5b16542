/* arguments.h -- whether pruned arguments of a call are still its arguments.
 *
 * They are JSON, byte for byte what they were but for whole string values; each of those became
 * shorter, is not empty, and ends with the marker that brings it back (law L2).
 */
#ifndef WR_ENGINE_ARGUMENTS_H
#define WR_ENGINE_ARGUMENTS_H

#include "engine/plan.h"
#include "engine/validate.h"

/* Judges a change of form PRUNED. Fails only for lack of memory. */
WEIR_MUST_USE weir_status wr_arguments_check(const struct wr_plan *plan,
                                             const struct wr_change *change, struct wr_arena *arena,
                                             struct wr_finding *finding);

#endif
