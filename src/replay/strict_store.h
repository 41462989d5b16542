/* strict_store.h -- a store in memory that can be damaged, to see what a projection makes of it.
 *
 * What was stored before the damage is gone, or comes back with other bytes, which the store's
 * front (weir_store_get) then notices; a text that is committed again is sound again.
 */
#ifndef WR_REPLAY_STRICT_STORE_H
#define WR_REPLAY_STRICT_STORE_H

#include "replay/strict_case.h"
#include "weir/store.h"

/* WEIR_NOMEM. Closed with weir_store_close(). */
WEIR_MUST_USE weir_status wr_strict_store_new(struct weir_store **store);

/* Damages what is stored now. WR_CASE_LOCKED lasts until the next call, WR_CASE_SOUND repairs
 * nothing. */
void wr_strict_store_damage(struct weir_store *store, enum wr_case_trouble trouble);

#endif
