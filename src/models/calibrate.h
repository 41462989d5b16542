/* calibrate.h -- learning from a provider's `usage` how far our totals are off, for each model.
 *
 * 1. What is learnt moves the thresholds of later steps. A session takes it up by a mark (law L3):
 *    no form that was sent changes because a number was learnt meanwhile.
 * 2. Robust and bounded. A sample is the ratio of the provider's count to ours, in basis points.
 *    Samples of requests under 512 tokens are dropped, and so are ratios below a half or above two:
 *    such a count is of something else. The factor is the median of the last nine samples, and 1
 *    while there are fewer than three.
 * 3. The state is explicit, has a fixed size, and can be written and read back: same samples in the
 *    same order give the same bytes.
 */
#ifndef WR_MODELS_CALIBRATE_H
#define WR_MODELS_CALIBRATE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/limits.h"

enum {
    WR_CALIBRATION_SAMPLES_MAX = 9,
    WR_CALIBRATION_SAMPLES_MIN = 3,
    WR_CALIBRATION_TOKENS_MIN = 512,
    WR_CALIBRATION_RATIO_BP_MIN = 5000, /* of a sample that is believed */
    WR_CALIBRATION_RATIO_BP_MAX = 20000,
};

struct wr_calibration_entry {
    char id[WR_MODEL_NAME_BYTES_MAX]; /* a canonical id: wr_models_lookup() */
    uint32_t id_len;
    uint32_t ratios_bp[WR_CALIBRATION_SAMPLES_MAX]; /* oldest first */
    uint32_t ratios_count;
};

struct wr_calibration { /* entries in the order of their latest sample, oldest first */
    struct wr_calibration_entry entries[WR_CALIBRATION_MODELS_MAX];
    uint32_t entries_count;
};

void wr_calibration_init(struct wr_calibration *calibration);

/* `counted_tokens` is our uncalibrated total, `usage_tokens` the provider's of the same request
 * (cached tokens included). False: the sample was dropped. */
bool wr_calibration_add(struct wr_calibration *calibration, weir_span id, uint64_t counted_tokens,
                        uint64_t usage_tokens);

/* Basis points; 10000 until enough is known. `samples` may be NULL. */
uint32_t wr_calibration_factor_bp(const struct wr_calibration *calibration, weir_span id,
                                  uint32_t *samples);

/* One model's samples, as another process or an earlier one had them; NULL: there are none. */
const struct wr_calibration_entry *wr_calibration_find(const struct wr_calibration *calibration,
                                                       weir_span id);
void wr_calibration_put(struct wr_calibration *calibration,
                        const struct wr_calibration_entry *entry);

/* Adds the newest `count` samples of one entry behind those of another of the same model. */
void wr_calibration_append(struct wr_calibration_entry *entry,
                           const struct wr_calibration_entry *newer, uint32_t count);

/* One JSON object. */
void wr_calibration_write(const struct wr_calibration *calibration, struct wr_buf *out);

/* On failure the state is empty. WEIR_SYNTAX, WEIR_INVALID, WEIR_LIMIT or WEIR_NOMEM. */
WEIR_MUST_USE weir_status wr_calibration_read(struct wr_calibration *calibration, weir_span text,
                                              struct weir_err *err);

/* How a total came about, and so how much it may be trusted. */
enum wr_count_source {
    WR_COUNT_UNKNOWN,
    WR_COUNT_ESTIMATE, /* by the fitted estimator or bytes/4 */
    WR_COUNT_EXACT,    /* by the model's own tokenizer */
    WR_COUNT_OBSERVED, /* the provider's usage */
};

enum wr_confidence { WR_CONFIDENCE_LOW, WR_CONFIDENCE_MEDIUM, WR_CONFIDENCE_HIGH };

/* Exact and observed are high, an estimate is medium, the rest low; a window that is unknown, zero
 * or eaten up by the output reserve (`window_usable` false) makes any total low. */
enum wr_confidence wr_confidence_of(enum wr_count_source source, bool window_usable);
const char *wr_confidence_text(enum wr_confidence confidence);

#endif
