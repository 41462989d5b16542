/* bpe_memo.h -- counts remembered by content, so that a text seen before costs a hash.
 *
 * The memo has a fixed number of entries and forgets the one of a set that was used longest ago.
 * Forgetting changes nothing but time. One owner, one thread at a time.
 */
#ifndef WR_TOKENS_BPE_MEMO_H
#define WR_TOKENS_BPE_MEMO_H

#include "tokens/bpe.h"

struct wr_bpe_memo;

/* At least `entries_count` entries of 32 bytes. `scratch` is borrowed: it counts, and its encoding
 * is the memo's. Failure: WEIR_NOMEM. */
WEIR_MUST_USE weir_status wr_bpe_memo_new(struct wr_bpe_memo **memo, struct wr_bpe_scratch *scratch,
                                          size_t entries_count);
void wr_bpe_memo_free(struct wr_bpe_memo *memo);

/* Counts as wr_bpe_count() does. Two texts with the same XXH3 of 128 bits are taken for one. */
WEIR_MUST_USE weir_status wr_bpe_memo_count(struct wr_bpe_memo *memo, weir_span text,
                                            size_t *tokens);

struct wr_bpe_memo_use {
    uint64_t found, counted; /* texts; short ones, which are never kept, are in neither */
};
struct wr_bpe_memo_use wr_bpe_memo_use(const struct wr_bpe_memo *memo);

#endif
