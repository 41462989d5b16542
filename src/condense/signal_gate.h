/* signal_gate.h -- the quick look that lets most lines of a text pass without a signal.
 *
 * A line is looked at closely only where four bytes of some word of trouble stand in it, or where
 * its shape is that of a frame, a place or a heading. The gate may open in vain, never stay shut in
 * vain.
 */
#ifndef WR_CONDENSE_SIGNAL_GATE_H
#define WR_CONDENSE_SIGNAL_GATE_H

#include <stdbool.h>

#include "weir/span.h"

enum {
    WR_GATE_BITS = 1 << 14,
    WR_GATE_KEYS_MAX = 512, /* places of a table that is at most half full */
};

struct wr_signal_gate {
    uint64_t bits[WR_GATE_BITS / 64];
    uint32_t keys[WR_GATE_KEYS_MAX]; /* 0: free */
};

void wr_signal_gate_init(struct wr_signal_gate *gate);

/* Whether `line` needs a close look. */
bool wr_signal_gate_opens(const struct wr_signal_gate *gate, weir_span line);

#endif
