/* measure.h -- models and meters for the commands that count. */
#ifndef WR_CLI_MEASURE_H
#define WR_CLI_MEASURE_H

#include "cli/cmd.h"
#include "models/lookup.h"
#include "policy/meter.h"

/* A registry, what it says of one model, and a meter that counts as that model does. */
struct wr_ruler {
    struct wr_models *models;
    struct wr_model_match match;
    struct wr_meter *meter;
};

/* `model` may be empty: then nothing is known of it. With `must_know` a name that no rule but the
 * fallback fits is refused, and the nearest names suggested. False: said on stderr. */
bool wr_ruler_open(struct wr_ruler *ruler, const char *command, weir_span model, bool must_know);
void wr_ruler_close(struct wr_ruler *ruler);

#endif
