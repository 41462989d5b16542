/* odd_rows.h -- rows of a table that differ from nearly all others in a column of few values: the
 * one job that ended with another status or code. */
#ifndef WR_CONDENSE_ODD_ROWS_H
#define WR_CONDENSE_ODD_ROWS_H

#include "condense/keep.h"

/* Keeps such rows, spread over all of them, while the budget lasts. Lines are rows of a table where
 * nearly all have the same number of fields, parted by a comma, a tab, a semicolon or a bar outside
 * of quotes. Keeps nothing of other texts. */
WEIR_MUST_USE weir_status wr_odd_rows_keep(struct wr_keep *keep);

#endif
