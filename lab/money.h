/* money.h -- what a session's prompts were paid for, by what stood in them.
 *
 * Every request is split in the same way: a block pays what the provider charges for it, as read
 * from the cache, written to it or plain input. Three things are set apart, because no block is
 * what they buy: the model's output, the prefix that is read once more for a recall, and what it
 * costs beyond a read to write again what had been sent before (a step, or a cache that expired).
 *
 * The sums are pico-dollars, since a token may cost less than a micro-dollar; together they are the
 * lane's cost but for the rounding of each request.
 */
#ifndef WR_LAB_MONEY_H
#define WR_LAB_MONEY_H

#include "models/cache.h"
#include "transcript/transcript.h"

/* ---- a request as the blocks that the model of a provider's cache counts ---- */

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

/* ---- money ---- */

#define WR_MONEY_MAP(X)                                                             \
    X(READS, "file reads")                                                          \
    X(SEARCHES, "searches and lists")                                               \
    X(RUNS, "output of commands")                                                   \
    X(EDITS, "results of edits")                                                    \
    X(RESULTS, "other results")                                                     \
    X(RECALLED, "recalled text")                                                    \
    X(SUMMARIES, "summaries")                                                       \
    X(WRITE_CALLS, "calls that edit")                                               \
    X(CALLS, "other calls")                                                         \
    X(WORDS, "the model's words")                                                   \
    X(USER, "user, system, tools")                                                  \
    X(AGAIN, "written again")               /* what that costs beyond reading it */ \
    X(RECALL_REQUESTS, "recalls' requests") /* the prefix, read again; the calls */ \
    X(OUTPUT, "output")

enum wr_money {
#define X(name, text) WR_MONEY_##name,
    WR_MONEY_MAP(X)
#undef X
        WR_MONEY_KINDS
};

const char *wr_money_text(enum wr_money kind);

/* The kind of every segment of a request as it came. `kinds` has room for all. */
void wr_money_kinds(const struct wr_transcript *original, uint8_t *kinds);

/* The same for what was made of it, whose results and calls are known by their ids: `sent` was read
 * without handles. */
void wr_money_kinds_sent(const struct wr_transcript *original, const uint8_t *original_kinds,
                         const struct wr_transcript *sent, uint8_t *kinds);

struct wr_money_request {
    const struct wr_model *model;
    const struct wr_cache_prompt *prompt;
    const uint8_t *kinds; /* by block */
    const bool *is_known; /* by block: it was in the request before; or NULL */
    bool asks;            /* its answer is a recall */
    bool follows_recall;  /* it is sent again with what was recalled */
};

/* Splits what `usage` says that a request cost. */
void wr_money_add(uint64_t pico_usd[WR_MONEY_KINDS], const struct wr_money_request *request,
                  const struct wr_cache_usage *usage);

#endif
