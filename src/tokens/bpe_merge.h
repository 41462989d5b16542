/* bpe_merge.h -- the tokens of a piece that is no token itself; private to src/tokens. */
#ifndef WR_TOKENS_BPE_MERGE_H
#define WR_TOKENS_BPE_MERGE_H

#include "tokens/bpe_table.h"

/* Memory that grows to the longest piece seen. */
struct wr_bpe_stack {
    uint32_t *ranks; /* the tokens of the piece, after wr_bpe_merge() */
    uint64_t *dead;  /* bits, by place in the piece: no encoding has a token end here */
    size_t bytes_max;
};

void wr_bpe_stack_release(struct wr_bpe_stack *stack);

/* Encodes the bytes [at, piece_end) by merging; `end` is where the text ends that may be read. The
 * tokens are in stack->ranks. Failure: WEIR_NOMEM. */
WEIR_MUST_USE weir_status wr_bpe_merge(const struct wr_bpe *bpe, struct wr_bpe_stack *stack,
                                       const uint8_t *at, const uint8_t *piece_end,
                                       const uint8_t *end, size_t *tokens);

/* Whether merging the text of both tokens gives just these two. */
bool wr_bpe_is_stable_pair(const struct wr_bpe *bpe, uint32_t left, uint32_t right);

#endif
