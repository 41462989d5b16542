/* compare.h -- whether a result is its original but for what was meant (law L1).
 *
 * Where a touch was meant the result must show it; everywhere else both documents must have the
 * same bytes in the same order. Only beside what was taken out or put in may commas and white space
 * differ.
 */
#ifndef WR_ENGINE_COMPARE_H
#define WR_ENGINE_COMPARE_H

#include "engine/apply.h"

/* Fails only for lack of memory. */
WEIR_MUST_USE weir_status wr_compare_documents(const struct wr_json *before,
                                               const struct wr_json *after,
                                               const struct wr_touches *touches,
                                               struct wr_arena *arena, bool *is_same);

#endif
