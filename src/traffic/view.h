/* view.h -- one request before and after, from what was kept of it (docs/page.md). */
#ifndef WR_TRAFFIC_VIEW_H
#define WR_TRAFFIC_VIEW_H

#include "base/arena.h"
#include "json/write.h"
#include "store/ledger.h"

enum { WR_VIEW_EXCERPT_CHARS = 160 };

/* Members of an open object: the segments of both bodies side by side, and what was done to which,
 * in words. WEIR_INVALID and others: what was kept cannot be read as a request. */
WEIR_MUST_USE weir_status wr_view_write(const struct wr_ledger_row *said, struct wr_arena *arena,
                                        struct wr_json_writer *writer, struct weir_err *err);

/* The text of a segment, whole, of the body as it came or as it was sent; valid UTF-8, in `arena`.
 * WEIR_NOTFOUND: there is no such. */
WEIR_MUST_USE weir_status wr_view_text(const struct wr_ledger_row *said, bool is_sent,
                                       uint64_t segment, struct wr_arena *arena, weir_span *text,
                                       struct weir_err *err);

/* One line that says which call or message a segment is: `make test`, a path, a query. In `arena`;
 * may be empty. */
struct weir_segment;
weir_span wr_view_what(const struct weir_segment *segment, struct wr_arena *arena);

#endif
