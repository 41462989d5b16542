/* grep.h -- one pattern, matched against line after line, within a bound of work and memory. */
#ifndef WR_STORE_GREP_H
#define WR_STORE_GREP_H

#include <stdbool.h>

#include "weir/span.h"
#include "weir/status.h"

struct wr_grep {
    void *code, *match, *context; /* owned */
};

/* `lines_count` is how many lines will be looked at: each gets its share of the work allowed. */
WEIR_MUST_USE weir_status wr_grep_init(struct wr_grep *grep, weir_span pattern,
                                       uint64_t lines_count, struct weir_err *err);
void wr_grep_release(struct wr_grep *grep);

/* WEIR_LIMIT when the line takes more than its share. */
WEIR_MUST_USE weir_status wr_grep_line(struct wr_grep *grep, weir_span line, bool *matches);

#endif
