/* Reads data/models.json into an empty registry.
 *
 * The sections come in the order in which they need each other, wherever they stand in the file:
 * cache rules and image rules first, because models refer to them by name; then the fallback, the
 * families, the models.
 *
 * The reader is strict. The file is versioned with the library, so a field that the reader does not
 * know is a mistake and not the future. Errors name the byte.
 */
#include "models/registry_inside.h"

#include "base/ascii.h"
#include "base/err.h"
#include "base/span.h"
#include "json/json.h"
#include "models/registry.h"

struct reader {
    struct wr_models *models;
    struct wr_json doc;
    struct weir_err *err;
};

static weir_status fail_at(struct reader *r, wr_json_id id, weir_status code, const char *what)
{
    return wr_fail(r->err, code, r->doc.nodes[id].start, "registry: %s", what);
}

/* A string's text, or a number or flag as it is written. */
static weir_status read_scalar(struct reader *r, wr_json_id id, weir_span *text)
{
    enum wr_json_kind kind = wr_json_kind(&r->doc, id);
    if (kind == WR_JSON_ARRAY || kind == WR_JSON_OBJECT || kind == WR_JSON_NULL)
        return fail_at(r, id, WEIR_INVALID, "a text, number or flag is wanted here");
    *text = kind == WR_JSON_STRING ? wr_json_text(&r->doc, &r->models->arena, id)
                                   : wr_json_raw(&r->doc, id);
    return text->ptr ? WEIR_OK : wr_arena_status(&r->models->arena);
}

/* Gives the failure of a setter its place. */
static weir_status with_byte(struct reader *r, wr_json_id id, weir_status status)
{
    if (status && r->err)
        r->err->at_byte = r->doc.nodes[id].start;
    return status == WEIR_NOTFOUND ? WEIR_INVALID : status;
}

static weir_status read_prices(struct reader *r, wr_json_id object, struct wr_prices *prices,
                               uint32_t *above_tokens)
{
    weir_status status = WEIR_OK;
    if (!wr_json_is(&r->doc, object, WR_JSON_OBJECT))
        return fail_at(r, object, WEIR_INVALID, "prices are an object");
    for (wr_json_id key = wr_json_first(&r->doc, object); key != WR_JSON_NONE && !status;
         key = wr_json_next(&r->doc, object, key)) {
        weir_span name = wr_json_inner(&r->doc, key), value;
        status = read_scalar(r, wr_json_value(key), &value);
        if (status)
            break;
        if (above_tokens && wr_span_is(name, "above"))
            status = wr_token_count(value, above_tokens)
                         ? WEIR_OK
                         : fail_at(r, key, WEIR_INVALID, "`above` is a number of tokens");
        else
            status = with_byte(r, key, wr_prices_set(prices, name, value, r->err));
    }
    return status;
}

static weir_status read_tiers(struct reader *r, wr_json_id array, struct wr_model *model)
{
    weir_status status = WEIR_OK;
    if (!wr_json_is(&r->doc, array, WR_JSON_ARRAY))
        return fail_at(r, array, WEIR_INVALID, "tiers are an array");
    for (wr_json_id id = wr_json_first(&r->doc, array); id != WR_JSON_NONE && !status;
         id = wr_json_next(&r->doc, array, id)) {
        if (model->tiers_count == WR_MODEL_TIERS_MAX)
            return fail_at(r, id, WEIR_LIMIT, "too many tiers");
        struct wr_price_tier *tier = &model->tiers[model->tiers_count++];
        tier->prices = wr_model_blank().prices;
        status = read_prices(r, id, &tier->prices, &tier->above_tokens);
    }
    return status;
}

static weir_status read_patterns(struct reader *r, wr_json_id array, struct wr_family *family)
{
    if (!wr_json_is(&r->doc, array, WR_JSON_ARRAY))
        return fail_at(r, array, WEIR_INVALID, "`match` is an array of patterns");
    for (wr_json_id id = wr_json_first(&r->doc, array); id != WR_JSON_NONE;
         id = wr_json_next(&r->doc, array, id)) {
        if (family->patterns_count == WR_MODEL_PATTERNS_MAX)
            return fail_at(r, id, WEIR_LIMIT, "too many patterns");
        weir_span *pattern = &family->patterns[family->patterns_count++];
        weir_status status = read_scalar(r, id, pattern);
        if (status)
            return status;
        if (!pattern->len)
            return fail_at(r, id, WEIR_INVALID, "an empty pattern would fit every name");
    }
    return WEIR_OK;
}

/* `family` is NULL for a plain model. */
static weir_status read_field(struct reader *r, wr_json_id key, struct wr_model *model,
                              struct wr_family *family)
{
    weir_span name = wr_json_inner(&r->doc, key), text;
    wr_json_id value = wr_json_value(key);
    struct wr_rule_book book = wr_models_rule_book(r->models);

    if (wr_span_is(name, "price"))
        return read_prices(r, value, &model->prices, NULL);
    if (wr_span_is(name, "tiers"))
        return read_tiers(r, value, model);
    if (family && wr_span_is(name, "match"))
        return read_patterns(r, value, family);
    weir_status status = read_scalar(r, value, &text);
    if (status)
        return status;
    if (family && wr_span_is(name, "table"))
        family->in_table = wr_span_is(text, "true");
    else if (wr_span_is(name, "id"))
        model->id = text;
    else
        status = with_byte(r, key, wr_model_set(model, &book, name, text, r->err));
    return status;
}

static weir_status read_model(struct reader *r, wr_json_id object, struct wr_model *model,
                              struct wr_family *family)
{
    weir_status status = WEIR_OK;
    if (!wr_json_is(&r->doc, object, WR_JSON_OBJECT))
        return fail_at(r, object, WEIR_INVALID, "a model is an object");
    for (wr_json_id key = wr_json_first(&r->doc, object); key != WR_JSON_NONE && !status;
         key = wr_json_next(&r->doc, object, key))
        status = read_field(r, key, model, family);
    if (!status)
        status = with_byte(r, object, wr_model_check(model, r->err));
    return status;
}

static weir_status check_new_id(struct reader *r, wr_json_id object, weir_span id)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < r->models->models_count; i++)
        seen += wr_same_any_case(r->models->models[i].id, id);
    for (uint32_t i = 0; i < r->models->families_count; i++)
        seen += wr_same_any_case(r->models->families[i].model.id, id);
    seen += wr_same_any_case(r->models->fallback.id, id);
    return seen == 1 ? WEIR_OK : fail_at(r, object, WEIR_INVALID, "this id is listed twice");
}

static weir_status read_models(struct reader *r, wr_json_id array)
{
    weir_status status = WEIR_OK;
    for (wr_json_id id = wr_json_first(&r->doc, array); id != WR_JSON_NONE && !status;
         id = wr_json_next(&r->doc, array, id)) {
        struct wr_model *model = wr_models_append(r->models);
        if (!model)
            return wr_arena_status(&r->models->arena);
        status = read_model(r, id, model, NULL);
        if (!status && !model->window_tokens)
            status = fail_at(r, id, WEIR_INVALID, "a listed model needs a window");
        if (!status)
            status = check_new_id(r, id, model->id);
    }
    return status;
}

static weir_status read_families(struct reader *r, wr_json_id array, size_t count)
{
    weir_status status = WEIR_OK;
    struct wr_models *models = r->models;
    models->families = WR_ARENA_ARRAY(&models->arena, struct wr_family, count);
    if (!models->families)
        return wr_arena_status(&models->arena);
    for (wr_json_id id = wr_json_first(&r->doc, array); id != WR_JSON_NONE && !status;
         id = wr_json_next(&r->doc, array, id)) {
        struct wr_family *family = &models->families[models->families_count++];
        family->model = wr_model_blank();
        status = read_model(r, id, &family->model, family);
        if (!status)
            status = check_new_id(r, id, family->model.id);
    }
    return status;
}

typedef weir_status set_fn(void *rule, weir_span key, weir_span value, struct weir_err *err);

static weir_status set_cache(void *rule, weir_span key, weir_span value, struct weir_err *err)
{
    return wr_cache_rule_set(rule, key, value, err);
}

static weir_status set_image(void *rule, weir_span key, weir_span value, struct weir_err *err)
{
    return wr_image_rule_set(rule, key, value, err);
}

/* All members of the object `id`. */
static weir_status read_rule(struct reader *r, wr_json_id id, const char *what, set_fn *set,
                             void *rule)
{
    if (!wr_json_is(&r->doc, id, WR_JSON_OBJECT))
        return fail_at(r, id, WEIR_INVALID, what);
    for (wr_json_id key = wr_json_first(&r->doc, id); key != WR_JSON_NONE;
         key = wr_json_next(&r->doc, id, key)) {
        weir_span value;
        weir_status status = read_scalar(r, wr_json_value(key), &value);
        if (!status)
            status = with_byte(r, key, set(rule, wr_json_inner(&r->doc, key), value, r->err));
        if (status)
            return status;
    }
    return WEIR_OK;
}

static weir_status read_caches(struct reader *r, wr_json_id array, size_t count)
{
    struct wr_models *models = r->models;
    models->caches = WR_ARENA_ARRAY(&models->arena, struct wr_cache_rule, count);
    if (!models->caches)
        return wr_arena_status(&models->arena);
    for (wr_json_id id = wr_json_first(&r->doc, array); id != WR_JSON_NONE;
         id = wr_json_next(&r->doc, array, id)) {
        struct wr_cache_rule *rule = &models->caches[models->caches_count++];
        weir_status status = read_rule(r, id, "a cache rule is an object", set_cache, rule);
        if (status)
            return status;
    }
    return WEIR_OK;
}

static weir_status check_image(struct reader *r, wr_json_id id, const struct wr_image_rule *rule)
{
    if (!rule->unknown_tokens)
        return fail_at(r, id, WEIR_INVALID, "an image rule needs unknown_tokens");
    if (rule->kind == WR_IMAGE_PATCH && (!rule->patch_px || !rule->multiplier_bp))
        return fail_at(r, id, WEIR_INVALID, "a patch rule needs patch_px and multiplier");
    if (rule->kind == WR_IMAGE_TILE && (!rule->tile_px || !rule->tile_tokens))
        return fail_at(r, id, WEIR_INVALID, "a tile rule needs tile_px and tile_tokens");
    return WEIR_OK;
}

static weir_status read_images(struct reader *r, wr_json_id array, size_t count)
{
    struct wr_models *models = r->models;
    models->images = WR_ARENA_ARRAY(&models->arena, struct wr_image_rule, count);
    if (!models->images)
        return wr_arena_status(&models->arena);
    for (wr_json_id id = wr_json_first(&r->doc, array); id != WR_JSON_NONE;
         id = wr_json_next(&r->doc, array, id)) {
        struct wr_image_rule *rule = &models->images[models->images_count++];
        weir_status status = read_rule(r, id, "an image rule is an object", set_image, rule);
        if (!status)
            status = check_image(r, id, rule);
        if (status)
            return status;
    }
    return WEIR_OK;
}

enum { SCHEMA, GENERATED, CACHES, IMAGES, FALLBACK, FAMILIES, MODELS, SECTIONS_COUNT };

static weir_status find_sections(struct reader *r, wr_json_id sections[SECTIONS_COUNT])
{
    static const char *const names[SECTIONS_COUNT] = {
        "schema", "generated", "cache_rules", "image_rules", "fallback", "families", "models"};
    int64_t schema;
    if (!wr_json_is(&r->doc, 0, WR_JSON_OBJECT))
        return fail_at(r, 0, WEIR_INVALID, "the registry is an object");
    if (!wr_json_pick(&r->doc, 0, names, SECTIONS_COUNT, sections))
        return fail_at(r, 0, WEIR_INVALID, "a section is repeated");
    for (int i = 0; i < SECTIONS_COUNT; i++)
        if (sections[i] == WR_JSON_NONE)
            return wr_fail(r->err, WEIR_INVALID, 0, "registry: there is no \"%s\"", names[i]);
    if (!wr_json_i64(&r->doc, sections[SCHEMA], &schema) || schema != WR_MODELS_SCHEMA)
        return fail_at(r, sections[SCHEMA], WEIR_INVALID, "schema 1 is the one read here");
    for (int i = CACHES; i < SECTIONS_COUNT; i++) {
        if (i == FALLBACK)
            continue;
        if (!wr_json_is(&r->doc, sections[i], WR_JSON_ARRAY))
            return fail_at(r, sections[i], WEIR_INVALID, "this section is an array");
        if (wr_json_count(&r->doc, sections[i]) > WR_MODELS_COUNT_MAX)
            return fail_at(r, sections[i], WEIR_LIMIT, "this section has too many entries");
    }
    return WEIR_OK;
}

static weir_status read_sections(struct reader *r)
{
    wr_json_id at[SECTIONS_COUNT];
    struct wr_models *models = r->models;
    weir_status status = find_sections(r, at);
    if (!status)
        status = read_scalar(r, at[GENERATED], &models->generated);
    if (!status)
        status = read_caches(r, at[CACHES], wr_json_count(&r->doc, at[CACHES]));
    if (!status)
        status = read_images(r, at[IMAGES], wr_json_count(&r->doc, at[IMAGES]));
    if (!status) {
        models->fallback = wr_model_blank();
        status = read_model(r, at[FALLBACK], &models->fallback, NULL);
    }
    if (!status)
        status = read_families(r, at[FAMILIES], wr_json_count(&r->doc, at[FAMILIES]));
    if (!status)
        status = read_models(r, at[MODELS]);
    return status;
}

weir_status wr_models_read_json(struct wr_models *models, weir_span text, struct weir_err *err)
{
    struct reader r = {.models = models, .err = err};
    struct wr_arena scratch;

    wr_arena_init(&scratch, WR_MODELS_BYTES_MAX);
    weir_status status = wr_json_parse(&r.doc, &scratch, text, NULL, err);
    if (!status)
        status = read_sections(&r);
    wr_arena_release(&scratch);
    return status;
}
