/* query.h -- the words behind the `?` of a path: `session=a%20b&limit=50`. */
#ifndef WR_TRAFFIC_QUERY_H
#define WR_TRAFFIC_QUERY_H

#include "base/arena.h"

/* The value of `name`, percent signs and plus signs undone, in `arena`; empty: it is not there, or
 * is empty. */
weir_span wr_query_text(weir_span query, const char *name, struct wr_arena *arena);

/* The same as a number; `unless` where it is none. */
uint64_t wr_query_number(weir_span query, const char *name, uint64_t unless);

#endif
