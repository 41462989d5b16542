/* originals.h -- what was taken out of a session, and where a text stands in it (docs/page.md). */
#ifndef WR_TRAFFIC_ORIGINALS_H
#define WR_TRAFFIC_ORIGINALS_H

#include "base/arena.h"
#include "json/write.h"
#include "store/ledger.h"

struct wr_originals {
    struct wr_ledger *ledger;
    struct weir_store *store;
    struct wr_arena *arena;
    weir_span tenant, session;
};

/* Members of an open object: `originals`, what the newest prompt of the session has handles for;
 * `recalls`, the calls of the recall tool in it. */
WEIR_MUST_USE weir_status wr_originals_list(const struct wr_originals *from,
                                            struct wr_json_writer *writer, struct weir_err *err);

/* Members of an open object: `hits`, lines of those originals that match. A pattern is PCRE2's, or
 * plain text. WEIR_SYNTAX: the pattern is wrong. */
WEIR_MUST_USE weir_status wr_originals_search(const struct wr_originals *from, weir_span pattern,
                                              bool is_plain, struct wr_json_writer *writer,
                                              struct weir_err *err);

#endif
