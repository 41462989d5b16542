/* marks.h -- what a session's earlier requests decided, read before a fold and written after it.
 *
 * 1. A mark is found by the session, the hashes of the turns before it (engine/trail.h), the policy
 *    and the window: never by a number, so rewinds and shared session names do not mix, and what
 *    one session decides is nothing to another that has the same turns.
 * 2. The mark `sent` of a request says when it left, under what, and a hash of what was sent. The
 *    next request compares itself with it: a step is declared exactly where they differ.
 * 3. The mark `session` is the only one that all sessions of a tenant share: it names the session
 *    that sent these turns last. The first request that a session sends of a conversation copies
 *    the marks of the session so named with the longest equal chain, once, so that a fork keeps its
 *    forms. The copies are committed with it; later marks of that session are not seen.
 * 4. Stores of before marks were keyed by session have marks that are keyed by the turns alone and
 *    no `session`. They are read as those of one session without a name, and copied alike.
 * 5. Marks that could not be written are held in memory until the store takes them.
 * 6. Marks that were lost with their store, and are still remembered, are written into the one that
 *    has taken its place: what was sent keeps its form (law L6).
 */
#ifndef WR_ENGINE_MARKS_H
#define WR_ENGINE_MARKS_H

#include "engine/trail.h"
#include "policy/fold.h"
#include "weir/store.h"

struct wr_marks_held; /* marks that wait for the store */

WEIR_MUST_USE weir_status wr_marks_held_new(struct wr_marks_held **held);
void wr_marks_held_free(struct wr_marks_held *held); /* NULL is fine */

struct wr_marks_input {
    const struct wr_trail *trail;
    struct weir_store *store;
    weir_span tenant, session;
    const struct wr_policy *policy;
    uint64_t window_tokens;
    struct wr_marks_held *held; /* what another node has sent since is held no longer */
    /* What is remembered of the first turns, where the last request sent is the one named; else, or
     * where nothing is remembered, all is read. */
    const struct wr_fold_turn *known_turns; /* NULL: nothing */
    uint32_t known_turns_count;
    const struct wr_sent *known_sent;
    bool is_replaced; /* another store has taken the place of the one in which that was committed */
};

struct wr_marks {
    struct wr_arena *arena;
    struct wr_trail trail;
    wr_hash128 session; /* of its name */
    uint64_t policy;    /* hash */
    uint64_t window_tokens;
    struct wr_fold_turn *turns; /* for the fold */
    bool is_remembered;         /* the first of them are those that were known */
    bool is_cached;             /* of this request: as in wr_sent */
    bool is_exact;              /* of this request: as in wr_sent, as what follows */
    uint64_t orders;
    bool is_copied;         /* this is the session's first request: all is another session's */
    struct wr_sent last;    /* the newest request that this one extends or repeats */
    struct weir_mark *list; /* what the projection rests on: to be committed with it */
    uint32_t list_count, list_cap;
};

/* Reads the marks of every turn. A failure is the store's. */
WEIR_MUST_USE weir_status wr_marks_read(struct wr_marks *marks, struct wr_arena *arena,
                                        const struct wr_marks_input *input);

/* How the provider counts, from this turn on: as of struct wr_fold_input. */
WEIR_MUST_USE weir_status wr_marks_add_count(struct wr_marks *marks, uint32_t turn,
                                             uint32_t factor_bp);

/* What the answers take of the window, from this turn on. */
WEIR_MUST_USE weir_status wr_marks_add_answer(struct wr_marks *marks, uint32_t turn, bool is_named,
                                              uint64_t tokens);

/* Forgets what was copied of another session: the turns were not sent as that one sent them. */
void wr_marks_drop_copies(struct wr_marks *marks);

/* What a mark `step` says: the cache had expired, or another policy was in force before. */
#define WR_STEP_COLD_WORD   "cold"
#define WR_STEP_POLICY_WORD "policy"

/* Adds a mark at a turn. `value` is borrowed. */
WEIR_MUST_USE weir_status wr_marks_add(struct wr_marks *marks, weir_mark_kind kind, uint32_t turn,
                                       weir_span value);

/* Adds that time was up at a turn: its segments from `from` on, counted within it, stay whole. */
WEIR_MUST_USE weir_status wr_marks_add_late(struct wr_marks *marks, uint32_t turn, uint32_t from);

/* Adds that from a turn on the provider takes no more than this. */
WEIR_MUST_USE weir_status wr_marks_add_window(struct wr_marks *marks, uint32_t turn,
                                              uint64_t window_tokens);

/* Adds what was said before a turn came, a line each, to what it has already. */
WEIR_MUST_USE weir_status wr_marks_add_orders(struct wr_marks *marks, uint32_t turn,
                                              weir_span orders);

/* Handles, with a blank behind each, that stood in what looked like markers at a turn and that the
 * store did not know: they are text for good, even if the store learns them later. */
weir_span wr_marks_look_alikes(const struct wr_marks *marks, uint32_t turn);
WEIR_MUST_USE weir_status wr_marks_set_look_alikes(struct wr_marks *marks, uint32_t turn,
                                                   weir_span handles);

/* Adds that the request of a turn was sent, as `forms`, and by whom; `*sent` is what is written of
 * it. */
WEIR_MUST_USE weir_status wr_marks_add_sent(struct wr_marks *marks, uint32_t turn, int64_t at_ms,
                                            wr_hash128 forms, struct wr_sent *sent);

/* The newest turn was sent whole, and nobody could write that down yet. */
void wr_marks_hold(struct wr_marks_held *held, weir_span tenant, const struct wr_marks *marks);

/* What is held for this tenant joins the list; after the commit it is held no longer. */
WEIR_MUST_USE weir_status wr_marks_add_held(struct wr_marks *marks,
                                            const struct wr_marks_held *held, weir_span tenant);
void wr_marks_release_held(struct wr_marks_held *held, weir_span tenant);

#endif
