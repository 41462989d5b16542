/* own_kept.h -- what the store keeps of the proxy's own recall: pins of definitions, marks and
 * texts of exchanges.
 *
 * 1. The store says what a session has. What a thread remembers (own_memo.h) is written into a
 *    store that has lost it by the first who goes on with the session, all in one commit; whoever
 *    comes later goes by the store, whatever he remembers.
 * 2. What was lost for good is said to be so there: an empty definition, a mark that has left.
 */
#ifndef WR_PROXY_OWN_KEPT_H
#define WR_PROXY_OWN_KEPT_H

#include "proxy/own.h"
#include "proxy/own_memo.h"

/* Pins and marks are looked for in the files that are open, wherever those are by now: this sees to
 * it that they are the ones at the path, unless those cannot be opened. */
void wr_own_follow(const struct wr_own_input *in);

/* ---- the definition ---- */

/* The pin of a model's definition, without its first turn; its name is NULL without memory. */
struct weir_pin wr_own_pin_of(const struct wr_own_input *in, weir_span model);
WEIR_MUST_USE weir_status wr_own_read_pin(const struct wr_own_input *in, struct weir_pin *pin);

/* With a second pin, without the first turn, for requests that do not show it. */
bool wr_own_keep_definition(const struct wr_own_input *in, struct weir_pin pin,
                            weir_span definition, bool replaces);
/* The session goes on without: for all who serve it, whatever they remember. */
bool wr_own_keep_none(const struct wr_own_input *in, struct weir_pin pin);
/* The definition that is remembered and all exchanges. False: the store does not take them, or it
 * has another definition. */
bool wr_own_keep_all(const struct wr_own_input *in, struct weir_pin pin,
                     const struct wr_own_memo *memo);

/* ---- exchanges ---- */

weir_hash wr_own_exchange_key(weir_span session, wr_hash128 before, wr_hash128 seen);

/* A mark that was found. */
struct wr_own_hit {
    uint32_t key; /* its number */
    bool is_left; /* out for good */
    weir_handle handle;
};
/* In the arena, in the order of the keys. */
WEIR_MUST_USE weir_status wr_own_read_hits(const struct wr_own_input *in, const weir_hash *keys,
                                           size_t count, const struct wr_own_hit **hits,
                                           uint32_t *hits_count);
WEIR_MUST_USE weir_status wr_own_read_original(const struct wr_own_input *in,
                                               const struct weir_lookup *lookup,
                                               struct weir_artifact *original);
/* The exchange is out for good. */
bool wr_own_keep_left(const struct wr_own_input *in, weir_hash key, weir_handle handle);
/* As a mark, and under the id that the client knows the answer by. */
bool wr_own_keep_exchange(const struct wr_own_input *in, struct wr_join *join, weir_span exchange,
                          weir_hash key);

/* What is kept of an answer under the id that the client knows: the last leg's id, and the handle
 * of the exchange. */
struct wr_own_alias {
    struct wr_arena *arena;
    weir_span id, handle; /* empty: there is none */
};
struct wr_own_alias wr_own_alias_find(const struct wr_own_input *in, weir_span id);

#endif
