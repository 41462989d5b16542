/* strict_store.h -- a store in memory that can be damaged, to see what a projection makes of it.
 *
 * What was stored before the damage is gone, or comes back with other bytes, which the store's
 * front (weir_store_get) then notices; a text that is committed again is sound again.
 */
#ifndef WR_LAB_STRICT_STORE_H
#define WR_LAB_STRICT_STORE_H

#include "lab/strict_case.h"
#include "weir/store.h"

/* WEIR_NOMEM. Closed with weir_store_close(). */
WEIR_MUST_USE weir_status wr_strict_store_new(struct weir_store **store);

/* Damages what is stored now. WR_CASE_LOCKED lasts until the next call, WR_CASE_SOUND repairs
 * nothing. */
void wr_strict_store_damage(struct weir_store *store, enum wr_case_trouble trouble);

/* ---- what a turn requires and must recall ---- */

/* A required text that is not in the prompt, and the handle that leads to it. */
struct wr_strict_want {
    weir_handle handle;
    weir_span text;
};

struct wr_strict_wants {
    struct wr_strict_want *items;
    uint32_t count;
    weir_span lost; /* the first that no handle leads to; empty: none */
};

/* Seeks those of `required` that `words` lack in what `handles` lead to. */
WEIR_MUST_USE weir_status wr_strict_find_wants(
    struct wr_strict_wants *wants, struct wr_arena *arena, const struct wr_case_texts *required,
    weir_span words, const struct wr_strict_handles *handles, struct weir_store *store);

/* Appends to a list of messages or items the turn in which the model recalls them (lab/recall.h):
 * the lines around each text, by weir_recall(). `*call_bytes` is how much of it the model wrote. */
WEIR_MUST_USE weir_status wr_strict_recall(struct wr_buf *out, size_t *call_bytes,
                                           struct wr_arena *arena,
                                           const struct wr_strict_wants *wants,
                                           weir_dialect dialect, uint64_t number,
                                           struct weir_store *store);

#endif
