/* estimate_runs.h -- the estimate of the `smart` preset's document: by runs of letters and digits.
 */
#ifndef WR_TOKENS_ESTIMATE_RUNS_H
#define WR_TOKENS_ESTIMATE_RUNS_H

#include "weir/span.h"

/* Text that is not UTF-8 counts a token for four bytes begun. */
size_t wr_estimate_runs(weir_span text);

#endif
