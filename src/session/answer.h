/* answer.h -- what a model said, out of what its provider sent.
 *
 * Text and calls are found in the items of each API; what is of another kind (thinking, searches
 * the provider ran) is in the items alone. Everything is in the arena or borrowed from the input.
 */
#ifndef WR_SESSION_ANSWER_H
#define WR_SESSION_ANSWER_H

#include "json/json.h"
#include "weir/session.h"

/* Fills in text and calls from `answer->items`, each of which must be a JSON object. Where the
 * caller has given calls, the items must have the same. WEIR_INVALID otherwise. */
WEIR_MUST_USE weir_status wr_answer_complete(struct weir_answer *answer, struct wr_arena *arena,
                                             struct weir_err *err);

/* The items and the usage of a whole answer that is no stream. `has_usage` false: it says none.
 * WEIR_SYNTAX or WEIR_INVALID: it is no answer of this API. */
WEIR_MUST_USE weir_status wr_answer_read(struct weir_answer *answer, struct wr_arena *arena,
                                         weir_dialect dialect, weir_span body,
                                         struct weir_session_usage *usage, bool *has_usage,
                                         struct weir_err *err);

#endif
