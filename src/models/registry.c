/* The registry of models: made once, then only looked at.
 *
 *   wr_models_new    copies the JSON (the embedded file, unless another is given) into its arena,
 *                    reads it (registry_json.c), and lays the user's YAML over it (overrides.c)
 *   wr_models_find   a model, a family or the fallback by its id; all other rules are in lookup.c
 *
 * Both readers call wr_model_check() for every model, so what holds for all of them is said once.
 * While they read, a model may still move in memory: aliases hold its index, not its address.
 */
#include "models/registry.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/embed.h"
#include "base/err.h"
#include "models/lookup.h"
#include "models/registry_inside.h"

WR_EMBED(wr_models_data, "data/models.json");

struct wr_rule_book wr_models_rule_book(const struct wr_models *models)
{
    return (struct wr_rule_book){models->caches, models->caches_count, models->images,
                                 models->images_count};
}

struct wr_model *wr_models_append(struct wr_models *models)
{
    size_t bytes = models->models_count * sizeof(*models->models);
    struct wr_model *grown =
        wr_arena_grow(&models->arena, models->models, bytes, bytes + sizeof(*models->models));
    if (!grown)
        return NULL;
    models->models = grown;
    grown[models->models_count] = wr_model_blank();
    return &grown[models->models_count++];
}

const struct wr_model *wr_models_find(const struct wr_models *models, weir_span id)
{
    for (uint32_t i = 0; i < models->models_count; i++)
        if (wr_same_any_case(models->models[i].id, id))
            return &models->models[i];
    for (uint32_t i = 0; i < models->families_count; i++)
        if (wr_same_any_case(models->families[i].model.id, id))
            return &models->families[i].model;
    return wr_same_any_case(models->fallback.id, id) ? &models->fallback : NULL;
}

struct wr_model *wr_models_find_part(struct wr_models *models, weir_span id)
{
    /* The registry is ours to change here, so dropping const is honest. */
    return (struct wr_model *)(uintptr_t)wr_models_find(models, id);
}

/* White space and control bytes: a name in a request is trimmed, so an id must not end in them. */
static bool has_blank(weir_span id)
{
    for (size_t i = 0; i < id.len; i++)
        if ((unsigned char)id.ptr[i] <= ' ' || id.ptr[i] == 0x7f)
            return true;
    return false;
}

weir_status wr_model_check(const struct wr_model *model, struct weir_err *err)
{
    if (!model->id.len || model->id.len > WR_MODEL_NAME_BYTES_MAX || has_blank(model->id))
        return wr_fail(err, WEIR_INVALID, 0, "a model's id must have 1 to %d bytes and no blanks",
                       WR_MODEL_NAME_BYTES_MAX);
    for (uint32_t i = 1; i < model->tiers_count; i++)
        if (model->tiers[i].above_tokens <= model->tiers[i - 1].above_tokens)
            return wr_fail(err, WEIR_INVALID, 0, "tiers must be in rising order of `above`");
    if ((model->prices.input == WR_PRICE_UNSET) != (model->prices.output == WR_PRICE_UNSET))
        return wr_fail(err, WEIR_INVALID, 0, "give both an input and an output price, or neither");
    for (uint32_t i = 0; i < model->tiers_count; i++)
        if (model->tiers[i].prices.input == WR_PRICE_UNSET ||
            model->tiers[i].prices.output == WR_PRICE_UNSET)
            return wr_fail(err, WEIR_INVALID, 0, "a tier needs an input and an output price");
    if (!model->cache || !model->image)
        return wr_fail(err, WEIR_INVALID, 0, "a model needs a cache rule and an image rule");
    return WEIR_OK;
}

static weir_status read_sources(struct wr_models *models, const struct wr_models_source *source,
                                struct weir_err *err)
{
    weir_span text = source->registry.len ? source->registry : WR_EMBEDDED(wr_models_data);
    if (text.len > WR_MODELS_TEXT_BYTES_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "a registry has at most %d bytes",
                       WR_MODELS_TEXT_BYTES_MAX);
    weir_span copy = wr_arena_copy(&models->arena, text);
    if (!copy.ptr)
        return wr_fail(err, wr_arena_status(&models->arena), 0, "no memory for the registry");

    weir_status status = wr_models_read_json(models, copy, err);
    if (!status && source->overrides.len)
        status = wr_models_read_yaml(models, source->overrides, source->overrides_shared, err);
    return status;
}

weir_status wr_models_new(struct wr_models **models, const struct wr_models_source *source,
                          struct weir_err *err)
{
    const struct wr_models_source embedded = {0};
    struct wr_models *made = calloc(1, sizeof(*made));

    *models = NULL;
    if (err)
        *err = (struct weir_err){0};
    if (!made)
        return wr_fail(err, WEIR_NOMEM, 0, "no memory for the registry");
    wr_arena_init(&made->arena, WR_MODELS_BYTES_MAX);
    weir_status status = read_sources(made, source ? source : &embedded, err);
    if (!status) {
        *models = made;
        return WEIR_OK;
    }
    wr_models_free(made);
    /* A reader that ran out of memory may have left no words. */
    if (err && !err->text[0])
        return wr_fail(err, status, 0, "%s", weir_status_text(status));
    return status;
}

void wr_models_free(struct wr_models *models)
{
    if (!models)
        return;
    wr_arena_release(&models->arena);
    free(models);
}

weir_span wr_models_generated(const struct wr_models *models)
{
    return models->generated;
}

uint32_t wr_models_count(const struct wr_models *models)
{
    return models->models_count;
}

const struct wr_model *wr_models_at(const struct wr_models *models, uint32_t index)
{
    WR_ASSERT(index < models->models_count);
    return &models->models[index];
}

uint32_t wr_models_alias_count(const struct wr_models *models)
{
    return models->aliases_count;
}

struct wr_alias wr_models_alias_at(const struct wr_models *models, uint32_t index)
{
    WR_ASSERT(index < models->aliases_count);
    const struct wr_alias_part *alias = &models->aliases[index];
    return (struct wr_alias){alias->name, &models->models[alias->model]};
}
