/* registry_inside.h -- the inside of a registry, for the files that build and search one. */
#ifndef WR_MODELS_REGISTRY_INSIDE_H
#define WR_MODELS_REGISTRY_INSIDE_H

#include "base/arena.h"
#include "models/fields.h"
#include "models/registry.h"

struct wr_alias_part {
    weir_span name;
    uint32_t model; /* index; models may still move while overrides are read */
};

struct wr_models {
    struct wr_arena arena; /* owns everything below */
    weir_span generated;
    struct wr_model *models;
    uint32_t models_count;
    struct wr_family *families;
    uint32_t families_count;
    struct wr_alias_part *aliases;
    uint32_t aliases_count;
    struct wr_cache_rule *caches;
    uint32_t caches_count;
    struct wr_image_rule *images;
    uint32_t images_count;
    struct wr_model fallback;
};

struct wr_rule_book wr_models_rule_book(const struct wr_models *models);

/* Fills an empty registry from JSON. `text` must be in the registry's arena. */
WEIR_MUST_USE weir_status wr_models_read_json(struct wr_models *models, weir_span text,
                                              struct weir_err *err);

/* Lays the user's YAML over a registry. */
WEIR_MUST_USE weir_status wr_models_read_yaml(struct wr_models *models, weir_span text,
                                              bool shared_file, struct weir_err *err);

/* One more model, blank, at the end; NULL on failure (see the arena). Moves the others. */
struct wr_model *wr_models_append(struct wr_models *models);

/* As wr_models_find(), for whoever is still building. */
struct wr_model *wr_models_find_part(struct wr_models *models, weir_span id);

/* Rules that hold for every model, whoever wrote it. */
WEIR_MUST_USE weir_status wr_model_check(const struct wr_model *model, struct weir_err *err);

#endif
