/* estimate_weights.h -- tokens a feature, times 65536; printed by tools/fit-estimate. */
#ifndef WR_TOKENS_ESTIMATE_WEIGHTS_H
#define WR_TOKENS_ESTIMATE_WEIGHTS_H

#include <stdint.h>

/* ORDER ESTIMATE_FEATURES */
static const int32_t wr_estimate_weights[] = {
    10564, -10499, 46961, -4103, -7882, 19994,  1587,  45815, 16585, 67911, 44866,  18731,
    2507,  -17065, -131,  50359, 68937, 113954, 85567, 43800, 48958, 36656, 138155, 65290,
};

#endif
