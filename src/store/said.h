/* said.h -- what requests said, kept in pieces: of a session each piece is kept once.
 *
 * A conversation is sent again with every request, so nearly all of a body is in the last one too.
 * A body is cut where its own bytes say so (not at fixed distances), hence what is inserted or
 * appended changes the pieces it touches and no others, whatever the API is. Pieces belong to their
 * session and leave with it.
 */
#ifndef WR_STORE_SAID_H
#define WR_STORE_SAID_H

#include "store/ledger.h"
#include "store/sqlite.h"

/* The length of the first piece of `text`, which is not empty. */
size_t wr_said_cut(weir_span text);

/* A request whose row has this number. */
struct wr_said_row {
    int64_t session_id, request_id;
    const struct wr_ledger_row *row;
};

/* Keeps what these requests said, and their reports, dozens in a transaction: a transaction each
 * cost more than all else that is written of a small request. How many could be kept. What takes
 * time is done before the store is locked. */
size_t wr_said_keep(struct wr_sqlite *sqlite, const struct wr_said_row *rows, size_t rows_count);

/* wr_ledger_said(), but for what the database says of its failure. */
WEIR_MUST_USE weir_status wr_said_read(struct wr_sqlite *sqlite,
                                       const struct wr_ledger_which *which,
                                       struct wr_ledger_row *said, struct weir_err *err);

#endif
