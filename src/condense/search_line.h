/* search_line.h -- what one line of a search result says: a place, a path, or text around a match.
 *
 * One reader for those who look for signals and those who shorten, so that both see the same.
 */
#ifndef WR_CONDENSE_SEARCH_LINE_H
#define WR_CONDENSE_SEARCH_LINE_H

#include "base/span.h"
#include "base/arena.h"

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

/* ---- the part of a found line that is shown where there is no room for all ---- */

/* The rule: the line without its indent is cut to its front or, where the first word of the query
 * in it stands further on, to the part around that word; "… " before it and " …" behind it say what
 * was cut. Characters of UTF-8 are never cut in two. */

enum { WR_SEARCH_WORDS_MAX = 8 };

/* The plain words of a pattern, without what its signs mean. */
struct wr_search_query {
    weir_span words[WR_SEARCH_WORDS_MAX]; /* borrowed from the query */
    size_t count;
    bool is_first[256]; /* bytes that begin a word, in either case */
};

void wr_search_query_init(struct wr_search_query *query, weir_span pattern);

/* Where the first word stands in `text`, in either case; SIZE_MAX where none does. */
size_t wr_search_query_find(const struct wr_search_query *query, weir_span text);

/* Bytes that wr_search_text_cut() gives at most more than it was allowed of the text. */
enum { WR_SEARCH_MARKS_BYTES = 8 };

/* `prefix` as it is, then at most `text_bytes_max` bytes of `text`. In `arena`; ptr is NULL on
 * failure only. */
weir_span wr_search_text_cut(const struct wr_search_query *query, struct wr_arena *arena,
                             weir_span prefix, weir_span text, size_t text_bytes_max);

#endif
