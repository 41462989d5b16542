/* fold_state.h -- a fold as it stood after a request, for the next request to go on from.
 *
 * 1. A state owns copies of all it needs: it outlives the request it was taken of.
 * 2. It fits a later request where everything up to its end is the same: tokens, framing, and which
 *    segments are turns, loops, groups and pairs. What the segments say, the policy and the facts
 *    are for the caller to compare (engine/fold_memo.h).
 * 3. A fold that goes on from a state that fits gives the same forms as one from the start.
 */
#ifndef WR_POLICY_FOLD_STATE_H
#define WR_POLICY_FOLD_STATE_H

#include "policy/fold.h"

struct wr_fold_state;

/* Of a fold that has run to its end. WEIR_NOMEM and WEIR_LIMIT: there is no state, which is no harm
 * but time. */
WEIR_MUST_USE weir_status wr_fold_state_new(struct wr_fold_state **state,
                                            const struct wr_fold *fold);
void wr_fold_state_free(struct wr_fold_state *state); /* NULL is fine */

size_t wr_fold_state_bytes(const struct wr_fold_state *state);
bool wr_fold_state_fits(const struct wr_fold_state *state, const struct wr_fold_input *input);

/* What was decided about the turns it covers, as of struct wr_fold_input. */
const struct wr_fold_turn *wr_fold_state_turns(const struct wr_fold_state *state, uint32_t *count);

/* How many segments it covers. */
uint32_t wr_fold_state_segments(const struct wr_fold_state *state);

/* Sets a fold that has just begun to where the state's stood. Texts stay the state's own, which
 * must live as long. */
WEIR_MUST_USE weir_status wr_fold_state_restore(const struct wr_fold_state *state,
                                                struct wr_fold *fold);

#endif
