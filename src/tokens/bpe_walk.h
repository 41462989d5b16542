/* bpe_walk.h -- counting piece by piece, with a place to stop; private to src/tokens. */
#ifndef WR_TOKENS_BPE_WALK_H
#define WR_TOKENS_BPE_WALK_H

#include "tokens/bpe.h"

struct wr_bpe_walk {
    const uint8_t *at; /* in, out: the start of a piece */
    const uint8_t
        *seen;     /* in, out: what the pieces so far depend on ends here, or a few bytes on */
    size_t tokens; /* in, out */

    const uint8_t *stop_at; /* stop at the first piece that starts here or later; NULL: do not */
    size_t tokens_max;      /* stop above this */
    bool closed_only;       /* stop at a piece that more text after the end could change */
};

WEIR_MUST_USE weir_status wr_bpe_walk(struct wr_bpe_scratch *scratch, const uint8_t *end,
                                      struct wr_bpe_walk *walk);

#endif
