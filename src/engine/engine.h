/* engine.h -- a model's prices as a fold reckons with them: in percent of plain input. */
#ifndef WR_ENGINE_ENGINE_H
#define WR_ENGINE_ENGINE_H

#include "models/registry.h"
#include "policy/fold.h"

/* All zero where the model's price of input is not known. */
struct wr_fold_prices wr_fold_prices_of(const struct wr_model *model);

#endif
