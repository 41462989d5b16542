/* cache_blocks.h -- a request as the blocks that the model of a provider's cache counts. */
#ifndef WR_LAB_CACHE_BLOCKS_H
#define WR_LAB_CACHE_BLOCKS_H

#include "models/cache.h"
#include "transcript/transcript.h"

/* The blocks of a request, one a segment: `tokens` and `overheads` (framing; NULL: none) by
 * segment. `blocks` has room for all. Cache markers that the request carries are taken over. */
void wr_cache_blocks(const struct wr_transcript *transcript, const uint64_t *tokens,
                     const uint32_t *overheads, struct wr_cache_block *blocks);

/* A block that says `text` instead, in `tokens` tokens, framing included. */
struct wr_cache_block wr_cache_block_of(const struct wr_cache_block *original, weir_span text,
                                        uint64_t tokens);

/* Puts markers where agents put them: at the end of the tools, of the instructions and of the whole
 * request; all others are taken away. */
void wr_cache_mark_like_agents(struct wr_cache_block *blocks, uint32_t blocks_count,
                               enum wr_block_mark mark);

#endif
