/* memo.h -- what was found out about a call and its result, remembered by their content.
 *
 * A session's next request repeats all of the last one; with a memo it costs the hash of what it
 * repeats and the work of what is new. Forgetting changes nothing but time: an entry is a pure
 * function of its key. One owner, one thread at a time. What is found lives until the next
 * wr_memo_begin().
 */
#ifndef WR_TRANSCRIPT_MEMO_H
#define WR_TRANSCRIPT_MEMO_H

#include "base/hash.h"
#include "transcript/tool.h"

struct wr_memo;

struct wr_memo_entry {
    struct wr_tool_handles handles;
    bool has_slack; /* a lossless transform would shorten the result's first part */
};

/* Holds about `bytes_max`, and forgets everything when it has grown past that. */
WEIR_MUST_USE weir_status wr_memo_new(struct wr_memo **memo, size_t bytes_max);
void wr_memo_free(struct wr_memo *memo); /* NULL is fine */

/* A request begins: what was found for earlier ones may go now. */
void wr_memo_begin(struct wr_memo *memo);

const struct wr_memo_entry *wr_memo_find(const struct wr_memo *memo, wr_hash128 key);

/* Asks for the place of a key that will be looked for soon: the memo is larger than the caches. */
void wr_memo_expect(const struct wr_memo *memo, wr_hash128 key);

/* Keeps a deep copy. Out of memory: nothing is kept, which is no failure. */
void wr_memo_put(struct wr_memo *memo, wr_hash128 key, const struct wr_memo_entry *entry);

#endif
