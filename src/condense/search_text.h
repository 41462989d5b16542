/* search_text.h -- the part of a found line that is shown where there is no room for all of it.
 *
 * The rule: the line without its indent is cut to its front or, where the first word of the query
 * in it stands further on, to the part around that word; "… " before it and " …" behind it say
 * what was cut. Characters of UTF-8 are never cut in two.
 */
#ifndef WR_CONDENSE_SEARCH_TEXT_H
#define WR_CONDENSE_SEARCH_TEXT_H

#include <stdbool.h>

#include "base/arena.h"

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
