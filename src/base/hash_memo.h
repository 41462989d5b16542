/* hash_memo.h -- 64 bits by a hash of 128, for what may be forgotten.
 *
 * 1. What was put in is found until some `count_max` others have been put in; then it may be gone.
 * 2. It begins small and doubles when there is no place for a key, so that who asks little touches
 *    little memory: each page that is touched for the first time costs a fault of the system.
 *    Without memory to grow it stays as it is.
 * 3. A key of zeros is never found. One owner, one thread at a time.
 */
#ifndef WR_BASE_HASH_MEMO_H
#define WR_BASE_HASH_MEMO_H

#include <stdbool.h>

#include "base/hash.h"
#include "weir/status.h"

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

#endif
