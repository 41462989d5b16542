/* fold_change.h -- what the files of the fold share: how a change is noted. Not for stages. */
#ifndef WR_POLICY_FOLD_CHANGE_H
#define WR_POLICY_FOLD_CHANGE_H

#include "policy/fold.h"

/* What was sent is changed from this segment on, at least. */
void wr_fold_note_change(struct wr_fold *fold, uint32_t segment);

/* After the change was noted. */
WEIR_MUST_USE weir_status wr_fold_declare_step(struct wr_fold *fold, enum wr_step_reason reason);

void wr_fold_drop(struct wr_fold *fold, uint32_t segment, const char *reason);

/* The signed thinking before a step goes with it, from the start. */
void wr_fold_drop_thinking(struct wr_fold *fold);

/* `first` and the marker on a line of its own, in the fold's arena. */
WEIR_MUST_USE weir_status wr_fold_text_with_marker(struct wr_fold *fold, weir_span first,
                                                   const struct wr_marker *marker, weir_span *text);

/* A result that shows a file is found by its path from now on; any other segment is passed over. */
void wr_fold_add_read(struct wr_fold *fold, uint32_t segment);

#endif
