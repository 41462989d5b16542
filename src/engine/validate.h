/* validate.h -- whether a changed request may leave: laws L1, L4 and L5 asked of the result.
 *
 * The result is read again from its bytes and compared with the original. A finding about one
 * segment costs that segment its change; any other finding costs the request all of them.
 */
#ifndef WR_ENGINE_VALIDATE_H
#define WR_ENGINE_VALIDATE_H

#include "engine/plan.h"

struct wr_finding {
    bool found;
    uint32_t segment; /* of the original; NONE: the structure is wrong, all changes go */
    const char *what; /* a constant sentence */
    weir_span detail; /* the signal, id or line it is about; may be empty */
};

/* Checks what concerns the plan as a whole: groups leave whole, signed thinking from its start,
 * reasoning with what it led to. */
void wr_validate_shape(const struct wr_plan *plan, struct wr_finding *finding);

/* Checks one change before anything is written: encoding, room, reference, signals, doubled lines.
 * Taking another segment's change back never makes this one wrong. Fails only for lack of memory.
 */
WEIR_MUST_USE weir_status wr_validate_change(const struct wr_plan *plan,
                                             const struct wr_change *change, struct wr_arena *arena,
                                             struct wr_finding *finding);

/* Checks the written result: that it is the original but for `touches`, and that its provider would
 * refuse nothing in it that it would not have refused in the original. */
WEIR_MUST_USE weir_status wr_validate_result(const struct wr_plan *plan,
                                             const struct wr_touches *touches, weir_span result,
                                             struct wr_arena *arena, struct wr_finding *finding);

/* ---- compare ----
 *
 * Whether a result is its original but for what was meant (law L1).
 *
 * Where a touch was meant the result must show it; everywhere else both documents must have the
 * same bytes in the same order. Only beside what was taken out or put in may commas and white space
 * differ.
 */

/* Fails only for lack of memory. */
WEIR_MUST_USE weir_status wr_compare_documents(const struct wr_json *before,
                                               const struct wr_json *after,
                                               const struct wr_touches *touches,
                                               struct wr_arena *arena, bool *is_same);

/* ---- arguments ----
 *
 * Whether pruned arguments of a call are still its arguments.
 *
 * They are JSON, byte for byte what they were but for whole string values; each of those became
 * shorter, is not empty, and ends with the marker that brings it back (law L2).
 */

/* Judges a change of form PRUNED. Fails only for lack of memory. */
WEIR_MUST_USE weir_status wr_arguments_check(const struct wr_plan *plan,
                                             const struct wr_change *change, struct wr_arena *arena,
                                             struct wr_finding *finding);

#endif
