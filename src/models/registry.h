/* registry.h -- the models Weir knows: read once, then only looked at.
 *
 * The base is data/models.json, which is part of the library; a user's YAML is laid over it
 * (docs/models.md has both formats). A registry never changes after wr_models_new(), so it may be
 * shared by threads, and the pointers it gives live until wr_models_free().
 */
#ifndef WR_MODELS_REGISTRY_H
#define WR_MODELS_REGISTRY_H

#include "models/model.h"
#include "weir/status.h"

enum { WR_MODELS_SCHEMA = 1 };

struct wr_models;

struct wr_models_source {
    weir_span registry;    /* JSON; empty: the embedded one */
    weir_span overrides;   /* YAML; empty: none */
    bool overrides_shared; /* the YAML has other sections as well (weir.yaml): they are skipped */
};

struct wr_alias {
    weir_span name; /* lower case */
    const struct wr_model *model;
};

/* `source` may be NULL: the embedded registry alone. The texts are copied. Failure: WEIR_SYNTAX or
 * WEIR_INVALID, with err->text naming line and column for the YAML, err->at_byte for the JSON;
 * WEIR_LIMIT; WEIR_NOMEM. */
WEIR_MUST_USE weir_status wr_models_new(struct wr_models **models,
                                        const struct wr_models_source *source,
                                        struct weir_err *err);
void wr_models_free(struct wr_models *models); /* NULL is fine */

weir_span wr_models_generated(const struct wr_models *models); /* the date of its facts */

uint32_t wr_models_count(const struct wr_models *models);
const struct wr_model *wr_models_at(const struct wr_models *models, uint32_t index);
uint32_t wr_models_alias_count(const struct wr_models *models);
struct wr_alias wr_models_alias_at(const struct wr_models *models, uint32_t index);

/* The model, family or fallback whose id is `id`, letter case aside, or NULL. No other rule. */
const struct wr_model *wr_models_find(const struct wr_models *models, weir_span id);

#endif
