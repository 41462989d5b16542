/* overflow.h -- recognising that a provider refused a request as too long, and how long it may be.
 *
 * Providers have no common code for it, so the texts are known by heart. Give the error's body as
 * it came, JSON or not; a success body must not be given, since a model may write such words
 * itself.
 */
#ifndef WR_MODELS_OVERFLOW_H
#define WR_MODELS_OVERFLOW_H

#include <stdbool.h>

#include "weir/span.h"

struct wr_overflow {
    const char *provider;   /* whose wording it is; static text */
    uint32_t window_tokens; /* 0: the text does not say */
    uint32_t used_tokens;   /* 0: the text does not say */
};

/* False: the text is not about the window (a rate limit, an output cap, anything else). */
bool wr_overflow_read(weir_span text, struct wr_overflow *overflow);

/* The window to believe from now on: what the text said, else nine tenths of the smaller of the
 * window believed and the request that was refused; 0 for either: not known. Never above
 * `window_tokens`. 0 when nothing at all is known. */
uint32_t wr_overflow_cap(const struct wr_overflow *overflow, uint32_t window_tokens,
                         uint32_t sent_tokens);

#endif
