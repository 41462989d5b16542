/* cache.h -- what a provider's prompt cache makes of a row of requests, and what they cost.
 *
 * A request is a list of blocks, each a hash and a number of tokens; the key of a block is the
 * chained hash of everything up to its end. The rules (how a hit is found, what is written, how
 * long it lives) are the model's (models/registry.h):
 *
 *   explicit    reads at a live key that stands at a marker or at most `lookback_blocks - 1` blocks
 *               before one; writes at markers; a fifth marker is refused
 *   breakpoint  one implicit marker at the newest input, and the latest explicit ones; reads at the
 *               longest live key among the `keys_max` that were used last
 *   prefix      reads the longest prefix that is live, rounded down to `step_tokens`; writing costs
 *               nothing extra. Where the rule has a `hit_percent` the provider promises no hit:
 *               that much of it is counted as read, what such a cache reads on average
 *
 * 1. Pure and deterministic: time comes with each request. For a log without time stamps, give
 * every request the same time; then there are no pauses.
 * 2. uncached + written + read tokens are the whole prompt, always.
 * 3. One cache holds one session. Its memory is bounded (WR_PROMPT_CACHE_KEYS_MAX); beyond that the
 *    keys that were not used for longest are forgotten.
 * 4. Below the model's minimum nothing is read or written.
 */
#ifndef WR_MODELS_CACHE_H
#define WR_MODELS_CACHE_H

#include "base/arena.h"
#include "models/registry.h"

/* How long a key lives where the provider does not publish it. */
enum { WR_CACHE_UNPUBLISHED_TTL_S = 3600 };

enum wr_block_part {
    WR_BLOCK_TOOLS,
    WR_BLOCK_SYSTEM,
    WR_BLOCK_INPUT,  /* the user's, and results */
    WR_BLOCK_OUTPUT, /* the model's */
};

enum wr_block_mark { WR_MARK_NONE, WR_MARK_SHORT, WR_MARK_LONG }; /* of a cache marker, its life */

struct wr_cache_block {
    uint64_t hash; /* of its content; markers are no content */
    uint32_t tokens;
    enum wr_block_part part;
    enum wr_block_mark mark;
};

struct wr_cache_prompt {
    uint64_t seed; /* hash of what else a key rests on: the model, parameters, a cache key */
    const struct wr_cache_block *blocks;
    uint32_t blocks_count;
    uint64_t output_tokens;
    bool is_bust; /* the provider lost the cache for no reason that is known: nothing is read */
};

struct wr_cache_options {
    bool use_long_ttl;      /* breakpoint and prefix: the longer of the two lifetimes */
    bool explicit_only;     /* breakpoint: no implicit marker */
    uint32_t ttl_s_unknown; /* 0: WR_CACHE_UNPUBLISHED_TTL_S */
};

struct wr_cache_usage {
    uint64_t uncached_tokens; /* plain input */
    uint64_t written_tokens;  /* charged as writes; 0 where writing costs nothing extra */
    uint64_t read_tokens;
    uint32_t read_blocks; /* how many blocks, from the first, were read */
    struct wr_usage usage;
    struct wr_cost cost; /* in micro-dollars; not known where the model has no price */
};

struct wr_cache_key;

struct wr_cache { /* private; visible only so that callers can hold one */
    const struct wr_model *model;
    struct wr_cache_options options;
    struct wr_arena *arena;
    struct wr_cache_key *keys; /* open addressing */
    uint32_t keys_count, keys_cap;
    uint64_t used; /* the clock of the keys' last use */
    uint64_t *chain, *sums;
    uint32_t blocks_cap;
};

/* `model` and `arena` are borrowed for as long as the cache is used; `options` may be NULL. */
WEIR_MUST_USE weir_status wr_cache_init(struct wr_cache *cache, struct wr_arena *arena,
                                        const struct wr_model *model,
                                        const struct wr_cache_options *options);

/* Sends one request. Times must not go back; a time that does shortens no key's life. Failure:
 * WEIR_INVALID where the provider would refuse the markers (too many, or a long one behind a short
 * one), which changes nothing; WEIR_NOMEM, after which the cache is of no use. */
WEIR_MUST_USE weir_status wr_cache_request(struct wr_cache *cache,
                                           const struct wr_cache_prompt *prompt, int64_t at_ms,
                                           struct wr_cache_usage *usage);

#endif
