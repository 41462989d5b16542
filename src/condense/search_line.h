/* search_line.h -- what one line of a search result says: a place, a path, or text around a match.
 *
 * One reader for those who look for signals and those who shorten, so that both see the same.
 */
#ifndef WR_CONDENSE_SEARCH_LINE_H
#define WR_CONDENSE_SEARCH_LINE_H

#include "base/span.h"

enum wr_search_line_kind {
    WR_SEARCH_OTHER,      /* text around a match, separators, words of the tool */
    WR_SEARCH_HEADING,    /* "path", "path:", "main:path", "File: path": of the rows below */
    WR_SEARCH_ROW,        /* "12:text", "  Line 12: text", "L12: text" */
    WR_SEARCH_MATCH,      /* "path:12:text", "path:12", "main:path:12:text" */
    WR_SEARCH_FILE_MATCH, /* "path:text", as a search without numbers gives */
};

struct wr_search_line {
    enum wr_search_line_kind kind;
    weir_span path, number; /* empty where the line has none */
    size_t text_at;         /* offset of what was found; the line's end where nothing is shown */
};

/* `line` is not blank, and has no line end. */
struct wr_search_line wr_search_line_read(weir_span line);

#endif
