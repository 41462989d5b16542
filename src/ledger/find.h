/* find.h -- the session that somebody means: by its name, by how it begins, or the latest. */
#ifndef WR_LEDGER_FIND_H
#define WR_LEDGER_FIND_H

#include "base/arena.h"
#include "store/ledger.h"

/* `word` is a session's whole name, or how it begins, with or without what stands before its first
 * ':' ("codex:"); empty: the most recently used. `tenant` may be empty: of all. The names in
 * `found` are in `arena`. WEIR_NOTFOUND: there is none; WEIR_INVALID: there are several. */
WEIR_MUST_USE weir_status wr_session_find(struct wr_ledger *ledger, weir_span tenant,
                                          weir_span word, struct wr_arena *arena,
                                          struct wr_ledger_session *found, struct weir_err *err);

#endif
