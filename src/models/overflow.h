/* overflow.h -- recognising that a provider refused a request as too long, and how long it may be.
 *
 * Providers have no common code for it, so their texts are known by heart. Give it the body of an
 * error as it came, JSON or not. Never give it the body of a success: a model may write such words
 * itself.
 */
#ifndef WR_MODELS_OVERFLOW_H
#define WR_MODELS_OVERFLOW_H

#include <stdbool.h>

#include "weir/span.h"

struct wr_overflow {
    const char *provider;   /* whose wording it is; static text */
    uint32_t window_tokens; /* 0: the text does not say */
    uint32_t used_tokens;   /* by the prompt; 0: the text does not say */
};

/* False: the text is not about the window (a rate limit, an output cap, anything else). */
bool wr_overflow_read(weir_span text, struct wr_overflow *overflow);

/* The request that was refused, as we counted it. 0 for any: not known. */
struct wr_overflow_sent {
    uint32_t window_tokens; /* that was believed */
    uint32_t prompt_tokens;
    uint32_t answer_tokens; /* that the request let its answer take */
};

/* The window to believe from now on, in tokens as we count them. It is what the text said; where
 * the text also says how long the prompt was by the provider's count, it is scaled by the ratio of
 * our count to theirs. (A count below half or above double of ours is of something else, and is not
 * used.) Where the text names no window it is nine tenths of the window believed, or of the prompt
 * that was refused, whichever is less. Never above `window_tokens`. 0 when nothing is known. */
uint32_t wr_overflow_cap(const struct wr_overflow *overflow, const struct wr_overflow_sent *sent);

/* Whether a provider's count and ours can be of the same prompt. */
bool wr_counts_agree(uint64_t ours_tokens, uint64_t theirs_tokens);

#endif
