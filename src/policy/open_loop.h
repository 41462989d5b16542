/* open_loop.h -- the calls and results that still go on, folded into one message of the user's.
 *
 * Signed thinking is bound to all that stands before it, and calls whose results have just come are
 * refused without theirs (law L4). So between a call and its result nothing older can be changed,
 * and a prompt that grows there reaches its window. What remains is what agents do when they
 * compact: all of the running calls and results leave together with their thinking, and one message
 * of the user's tells what they did and shows the newest results. What the provider then sees is a
 * conversation that the user has just spoken in.
 *
 *   user   fix the test                     user   fix the test
 *   model  thinking, call, result     ──▶   user   [CONVERSATION SUMMARY]
 *   model  thinking, call, result                  files, commands, errors, decisions
 *   model  thinking, call, result                  [RESULTS OF THE NEWEST CALLS]
 *                                                  the newest results, older ones as far as they go
 *                                                  [weir wr_...: ~61200 tokens left out; ...]
 *
 * 1. Whatever the user said in between stays where it is.
 * 2. The next such fold takes the place of this one and stands for both.
 */
#ifndef WR_POLICY_OPEN_LOOP_H
#define WR_POLICY_OPEN_LOOP_H

#include "policy/fold.h"

/* What such a fold is called in reports; `stage` of its insert. */
extern const char wr_open_loop_name[];

/* Not taken where the newest input holds no result, something of it cannot leave, or it would not
 * be smaller. Is this turn's step where any of it was sent. */
WEIR_MUST_USE weir_status wr_open_loop_fold(struct wr_fold *fold, bool *taken);

#endif
