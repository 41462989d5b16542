/* fold_inside.h -- what the files of a fold share: fold.c (the run), fold_change.c (what stages may
 * do to it) and orders.c (what the user may). Nobody else includes it. */
#ifndef WR_POLICY_FOLD_INSIDE_H
#define WR_POLICY_FOLD_INSIDE_H

#include "policy/fold.h"

/* ---- fold_change.c ---- */

/* What was sent changes from this segment on, at this turn. */
void wr_fold_note_change(struct wr_fold *fold, uint32_t segment);
WEIR_MUST_USE weir_status wr_fold_declare_step(struct wr_fold *fold, enum wr_step_reason reason);

/* The tokens of a segment's form, and with them the sum. */
void wr_fold_set_tokens(struct wr_fold *fold, struct wr_fold_segment *now, uint64_t tokens);

/* `first`, and on a line of its own the marker. */
WEIR_MUST_USE weir_status wr_fold_with_marker(struct wr_fold *fold, weir_span first,
                                              const struct wr_marker *marker, weir_span *text);

WEIR_MUST_USE weir_status wr_fold_add_insert(struct wr_fold *fold,
                                             const struct wr_fold_insert *insert);
void wr_fold_let_go(struct wr_fold *fold, uint32_t insert);
void wr_fold_set_handle(struct wr_fold_insert *insert); /* from its hash */

/* All segments that an insert stands for; NULL: no memory. */
uint32_t *wr_fold_list_of(const struct wr_fold *fold, uint32_t insert, uint32_t *count);

/* The group that answers an input of the user's: without that some providers refuse its calls. */
uint32_t wr_fold_led_by(const struct wr_fold *fold, uint32_t segment);

/* ---- fold.c ---- */

/* All stages of the policy, at a request's end. */
WEIR_MUST_USE weir_status wr_fold_run_stages(struct wr_fold *fold, bool may_step);

/* ---- orders.c ---- */

/* A turn begins: what was said before it is heard. */
WEIR_MUST_USE weir_status wr_fold_hear(struct wr_fold *fold, weir_span orders);

/* A segment has arrived: a pin may keep it whole. */
WEIR_MUST_USE weir_status wr_fold_keep(struct wr_fold *fold, uint32_t segment);

/* A segment is about to change at a request: how it was is noted. */
WEIR_MUST_USE weir_status wr_fold_note_was(struct wr_fold *fold, uint32_t segment);

/* Before the stages of a request, and behind them. */
WEIR_MUST_USE weir_status wr_fold_obey_before(struct wr_fold *fold, bool may_step);
WEIR_MUST_USE weir_status wr_fold_obey_after(struct wr_fold *fold, bool may_step);

/* The request was sent as it came: what was said for it is over. */
void wr_fold_disobey(struct wr_fold *fold);

/* Makes all that was said `arena`'s own. */
void wr_fold_said_copy(struct wr_fold_said *said, struct wr_arena *arena);

#endif
