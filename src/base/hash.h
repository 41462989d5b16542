/* hash.h -- content hashes: XXH3 for tables in memory, SHA-256 for what is kept; and what is
 * found by a hash: an index, and memos that may forget.
 */
#ifndef WR_BASE_HASH_H
#define WR_BASE_HASH_H

#include <stdbool.h>

#include "base/arena.h"

uint64_t wr_hash64(weir_span bytes);

/* Chains: the hash of `bytes` behind something whose hash is `seed`. */
uint64_t wr_hash64_seeded(weir_span bytes, uint64_t seed);

typedef struct wr_hash128 {
    uint64_t low, high;
} wr_hash128;

wr_hash128 wr_hash128_of(weir_span bytes);

/* Chains, as wr_hash64_seeded(). */
wr_hash128 wr_hash128_seeded(weir_span bytes, wr_hash128 seed);

/* The same for something whose hash is known. */
wr_hash128 wr_hash128_add(wr_hash128 hash, wr_hash128 seed);

enum { WR_SHA256_BYTES = 32, WR_SHA256_HEX_BYTES = 64 };

/* WEIR_NOMEM when the crypto library cannot get memory. */
WEIR_MUST_USE weir_status wr_sha256(weir_span bytes, unsigned char digest[WR_SHA256_BYTES]);

/* The same for a text that comes piece by piece. It may be copied; the copies are independent. */
struct wr_sha256_stream {
    uint64_t state[16]; /* private */
};

void wr_sha256_begin(struct wr_sha256_stream *stream);
void wr_sha256_add(struct wr_sha256_stream *stream, weir_span bytes);
/* The digest of all that was added so far. More may be added afterwards. */
void wr_sha256_digest(const struct wr_sha256_stream *stream, unsigned char digest[WR_SHA256_BYTES]);

/* ==== an index ==== */

/* A hash index over items the caller numbers: open addressing, sized once, in an arena.
 *
 * It stores numbers, not keys: the caller hashes its key, and compares each candidate itself:
 *
 *     at = wr_index_first(ix, hash);
 *     while ((item = wr_index_item(ix, at)) != WR_INDEX_NONE && !is_same(item))
 *         at = wr_index_next(ix, at, hash);
 *
 * wr_index_put(ix, at, hash, item) then writes over the item that was found, or into the free place
 * where the search ended.
 */
#define WR_INDEX_NONE UINT32_MAX

struct wr_index {
    uint32_t *items;
    uint32_t *tags; /* high bits of the hash: by them most wrong candidates are skipped */
    uint32_t mask;
};

/* Room for `count_max` items. */
WEIR_MUST_USE weir_status wr_index_init(struct wr_index *index, struct wr_arena *arena,
                                        uint32_t count_max);

/* The first place whose item may have `hash`, or the free place that ends the search. */
uint32_t wr_index_first(const struct wr_index *index, uint64_t hash);
uint32_t wr_index_next(const struct wr_index *index, uint32_t at, uint64_t hash);

static inline uint32_t wr_index_item(const struct wr_index *index, uint32_t at)
{
    return index->items[at];
}

void wr_index_put(struct wr_index *index, uint32_t at, uint64_t hash, uint32_t item);

/* ==== numbers, remembered ==== */

/* 64 bits by a hash of 128.
 *
 * 1. What was put in is found until some `count_max` others have been put in; then it may be gone.
 * 2. It begins small and doubles when there is no place for a key, so that who asks little touches
 *    little memory: each page that is touched for the first time costs a fault of the system.
 *    Without memory to grow it stays as it is.
 * 3. A key of zeros is never found. One owner, one thread at a time.
 */

enum { WR_HASH_MEMO_SET = 8 }; /* places that a key may be in */

struct wr_hash_memo_place {
    wr_hash128 key; /* zeros: free, and so are those behind it in the set */
    uint64_t value;
};

struct wr_hash_memo {
    struct wr_hash_memo_place *places; /* owned: sets */
    uint32_t sets_count, sets_max;     /* powers of two */
};

/* Failure: WEIR_NOMEM, and there is nothing to release. */
WEIR_MUST_USE weir_status wr_hash_memo_init(struct wr_hash_memo *memo, uint32_t count_max);
void wr_hash_memo_release(struct wr_hash_memo *memo); /* zeroed is fine */
void wr_hash_memo_clear(struct wr_hash_memo *memo);

bool wr_hash_memo_find(const struct wr_hash_memo *memo, wr_hash128 key, uint64_t *value);

/* Of a key that is put in twice one of the values is found. */
void wr_hash_memo_put(struct wr_hash_memo *memo, wr_hash128 key, uint64_t value);

/* Asks for the places of a key that will be looked for soon: a large memo is not in the caches. */
static inline void wr_hash_memo_expect(const struct wr_hash_memo *memo, wr_hash128 key)
{
    __builtin_prefetch(&memo->places[(key.low & (memo->sets_count - 1)) * WR_HASH_MEMO_SET]);
}

/* ==== texts, remembered ==== */

/* Texts that were made before, by a hash of what they were made from.
 *
 * Forgetting changes nothing but time: a text is a pure function of its key. One owner, one thread
 * at a time. What is found lives until the next wr_text_memo_begin().
 */

struct wr_text_memo;

/* Holds about `bytes_max`, and forgets everything when it has grown past that. */
WEIR_MUST_USE weir_status wr_text_memo_new(struct wr_text_memo **memo, size_t bytes_max);
void wr_text_memo_free(struct wr_text_memo *memo); /* NULL is fine */

/* Nobody uses what was found before: it may go now. */
void wr_text_memo_begin(struct wr_text_memo *memo);

/* Without a memo (NULL) nothing is found and nothing is kept. */
bool wr_text_memo_find(const struct wr_text_memo *memo, wr_hash128 key, weir_span *text);

/* Keeps a copy. Out of memory: nothing is kept, which is no failure. */
void wr_text_memo_put(struct wr_text_memo *memo, wr_hash128 key, weir_span text);

#endif
