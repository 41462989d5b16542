/* option_list.h -- lists of options and commands, as programs print with --help.
 *
 * Their first column is what a caller types next; the words behind it mostly say what the name says
 * already. So a line of such a list that there is no room for stands as its first column:
 *
 *   -n, --limit int …
 */
#ifndef WR_CONDENSE_OPTION_LIST_H
#define WR_CONDENSE_OPTION_LIST_H

#include "condense/keep.h"

/* End of the first column of "  -n, --limit int    how many there are"; 0 where the line is not one
 * of such a list. */
size_t wr_option_list_column(weir_span line);

/* Where the text has such a list, keeps its lines that are not kept yet by their first column,
 * while `percent` of what is left of the budget lasts. Failure: that of the arena. */
WEIR_MUST_USE weir_status wr_option_list_keep(struct wr_keep *keep, uint32_t percent);

#endif
