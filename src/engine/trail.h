/* trail.h -- the turns of a request as a chain of hashes, by which a later request is known again.
 *
 * 1. The hash of turn k stands for the whole conversation up to the inputs of turn k, which is what
 *    the request of that turn held. A request that extends it has the same hash at turn k.
 * 2. Cache markers are not in it, nor are instructions and tools: clients change those under a
 *    running conversation. `head` stands for them.
 */
#ifndef WR_ENGINE_TRAIL_H
#define WR_ENGINE_TRAIL_H

#include "base/hash.h"
#include "policy/fold.h"
#include "transcript/transcript.h"
#include "weir/store.h"

struct wr_trail {
    wr_hash128 *turns; /* of each turn */
    wr_hash128 *heads; /* of each turn: what of `head` had come by then, and where it stood */
    uint32_t *ends;    /* of each turn: behind the last segment that its request held */
    uint32_t turns_count;
    uint64_t head;  /* instructions and tools */
    uint64_t model; /* its name */
};

/* Everything is in `arena`. */
WEIR_MUST_USE weir_status wr_trail_read(struct wr_trail *trail, struct wr_arena *arena,
                                        const struct wr_transcript *transcript);

/* A request that was sent. */
struct wr_sent {
    bool is_known;
    uint32_t turn;
    int64_t at_ms;
    uint64_t model, head, policy; /* hashes */
    uint64_t window_tokens;
    wr_hash128 forms; /* of what was sent */
    bool is_cached;   /* it had no cache marker, and the provider caches the session all the same */
    bool is_exact;    /* somebody had said that it goes as it came */
    uint64_t orders;  /* so many of the session's orders were heard by then (engine/steer.h) */
};

/* ---- folds ----
 *
 * Folds of earlier requests, for the next ones of their sessions to go on from.
 *
 * 1. A fold is found by a hash of everything it depends on: the conversation up to its end, head
 *    and order included, whose it is, the policy, the window and the facts. So a rewind, a fork or
 *    another tenant never finds what is not its own (laws L3 and L7).
 * 2. It also stands for a commit, and names what that put into the store. Whoever goes on from it
 *    sees first that the mark `sent` and all of that are still there (law L2).
 * 3. Forgetting changes nothing but time. One owner, one thread at a time.
 */

struct wr_fold_memo;

struct wr_folded {
    wr_hash128 key;
    struct wr_sent sent;         /* as it was committed */
    struct wr_fold_state *state; /* owned by the memo */
    weir_hash *originals;        /* that the session has in the store; owned by the memo */
    uint32_t originals_count;
    uint64_t replaced_count; /* of the store, when it was committed there */
};

WEIR_MUST_USE weir_status wr_fold_memo_new(struct wr_fold_memo **memo);
void wr_fold_memo_free(struct wr_fold_memo *memo); /* NULL is fine */
void wr_fold_memo_clear(struct wr_fold_memo *memo);

/* Without a memo (NULL) nothing is found and nothing is kept.
 *
 * NULL: there is none. What is found lives until the next put. */
const struct wr_folded *wr_fold_memo_find(struct wr_fold_memo *memo, wr_hash128 key);

/* Keeps a copy of the fold. Out of memory or room: nothing is kept, which is no failure. */
struct wr_fold_commit {
    const struct wr_sent *sent;
    const weir_hash *originals;
    uint32_t originals_count;
    uint64_t replaced_count;
};
void wr_fold_memo_put(struct wr_fold_memo *memo, wr_hash128 key,
                      const struct wr_fold_commit *commit, const struct wr_fold *fold);

/* What `whose` (a hash) and `input` say, to begin keys with; the turns are not in it. */
wr_hash128 wr_fold_memo_seed(const struct wr_fold_input *input, uint64_t whose);

/* The key of a fold that ended with this turn. */
wr_hash128 wr_fold_memo_key(wr_hash128 seed, const struct wr_trail *trail, uint32_t turn);

#endif
