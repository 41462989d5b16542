/* simulate_models.h -- one simulation under the prices of several models: policies x models.
 *
 * Each report is a whole run of the same sessions and policies at one model's prices, tokens and
 * cache rules. The reports are given in the order they are shown in.
 */
#ifndef WR_LAB_SIMULATE_MODELS_H
#define WR_LAB_SIMULATE_MODELS_H

#include "json/write.h"
#include "lab/import.h"
#include "lab/simulate_folds.h"

enum { WR_SIMULATE_MODELS_MAX = 16 };

struct wr_simulate_set {
    struct wr_simulate_report *reports[WR_SIMULATE_MODELS_MAX]; /* borrowed */
    uint32_t count;
    struct wr_import_troubles *troubles;   /* with the logs; or NULL */
    const struct wr_simulate_folds *folds; /* or NULL; the report is the held out one */
};

/* Ranked by what the first model charges. */
void wr_simulate_models_table(const struct wr_simulate_set *set, struct wr_buf *out);

/* The whole report of the first model; of several also "by_model", behind its members; "troubles"
 * at the end. */
void wr_simulate_models_json(const struct wr_simulate_set *set, struct wr_buf *out);

#endif
