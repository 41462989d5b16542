/* own_kept.h -- what is kept of the proxy's own recall: by the store pins of definitions, marks and
 * texts of exchanges; by a thread what it found there.
 *
 * 1. The store says what a session has. What a thread remembers is written into a
 *    store that has lost it by the first who goes on with the session, all in one commit; whoever
 *    comes later goes by the store, whatever he remembers.
 * 2. What was lost for good is said to be so there: an empty definition, a mark that has left.
 */
#ifndef WR_PROXY_OWN_KEPT_H
#define WR_PROXY_OWN_KEPT_H

#include "proxy/own.h"

/* ---- what a thread remembers ----
 *
 * Of each session the definition of the tool that it began with, and the exchanges found for its
 * first answers. Forgetting costs a look into the store and changes no byte. There is room for so
 * many sessions, and for so many bytes of them all; the session that was not used for longest gives
 * way. What is found lives until the next wr_own_memo_of(). */

/* An exchange that was found. */
struct wr_own_found {
    uint32_t answer; /* its number among the client's answers */
    bool is_left;    /* out, for good */
    weir_hash key;   /* of its mark */
    weir_span exchange;
};

/* One session. Texts are copies of the memo's own. */
struct wr_own_memo {
    wr_hash128 session;      /* with its tenant */
    wr_hash128 pin;          /* of the model and the first turn that these are of: */
    bool has_none;           /* it is known to have no definition */
    weir_span definition;    /* kept also for a store that was lost, to be told again */
    uint64_t replaced_count; /* of the store in which all of this is (weir_store_replacements) */
    wr_hash128 keys;         /* of the answers looked up so far, chained */
    uint32_t answers_count;
    struct wr_own_found *found;
    uint32_t found_count, found_cap;
    uint64_t used;
    size_t bytes;
};

struct wr_own_memos;

struct wr_own_memos *wr_own_memos_new(size_t bytes_max); /* NULL: no memory */
void wr_own_memos_free(struct wr_own_memos *memos);      /* NULL is fine */

/* That of a session, empty where nothing is remembered. Others give way where there are too many
 * bytes. */
struct wr_own_memo *wr_own_memo_of(struct wr_own_memos *memos, weir_span tenant, weir_span session);

/* The exchange is copied. False: no memory, and nothing was added. */
bool wr_own_memo_add(struct wr_own_memo *memo, const struct wr_own_found *found);
/* The newest are taken out, until `count` are left. */
void wr_own_memo_shorten(struct wr_own_memo *memo, uint32_t count);
void wr_own_memo_forget_found(struct wr_own_memo *memo);
/* Empty: the session is known to have none. Out of memory: it stays as it was. */
void wr_own_memo_define(struct wr_own_memo *memo, wr_hash128 pin, weir_span definition);

/* ---- what the store has ---- */

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
