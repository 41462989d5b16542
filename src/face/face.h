/* face.h -- what the public calls of this folder share: choosing how to count, and filling in what
 * is known of a model. */
#ifndef WR_FACE_FACE_H
#define WR_FACE_FACE_H

#include "models/registry.h"
#include "policy/meter.h"
#include "weir/models.h"
#include "weir/tokens.h"

/* Counts by `model` or by `encoding`, either of which may be NULL; see weir_tokens_new(). */
WEIR_MUST_USE weir_status wr_face_choose(struct wr_meter *meter, const struct wr_models *models,
                                         const char *model, const char *encoding,
                                         struct weir_err *err);

/* Fills as much of `model` as its struct_bytes says there is. */
void wr_face_model(const struct wr_models *models, weir_span name, struct weir_model *model);

/* A status as weir_call() names it: "WEIR_INVALID". */
const char *wr_face_status_name(weir_status status);

#endif
