/* Reads the user's YAML (docs/models.md) and lays it over the registry.
 *
 *   check_section   every key at the top must be known, unless the file is shared (weir.yaml)
 *   read_model      for each model: begin with what is listed under that id; or with the model that
 *                   `like` names; or with what Weir would have believed of the name. Then set the
 *                   fields, check the whole, and put it into the registry
 *   read_aliases    after the models, wherever they stand in the file: an alias may name a new one
 *
 * libyaml builds the tree. The walk knows how deep the format goes, so nothing recurses, and every
 * complaint names the line and column it is about.
 */
#include "models/registry_inside.h"

#include <yaml.h>

#include "base/ascii.h"
#include "base/err.h"
#include "base/span.h"
#include "models/registry.h"

struct walk {
    struct wr_models *models;
    yaml_document_t *doc;
    bool shared_file;
    struct weir_err *err;
};

typedef weir_status member_fn(struct walk *walk, void *user, yaml_node_t *key, yaml_node_t *value);

static weir_status complain_at(struct walk *walk, const yaml_mark_t *mark, weir_status code,
                               const char *what)
{
    return wr_fail(walk->err, code, mark->index, "line %zu, column %zu: %s", mark->line + 1,
                   mark->column + 1, what);
}

/* Adds line and column to what a setter complained about. */
static weir_status with_line(struct walk *walk, const yaml_node_t *node, weir_status status)
{
    char said[WEIR_ERR_TEXT_BYTES];
    if (!status || !walk->err)
        return status == WEIR_NOTFOUND ? WEIR_INVALID : status;
    memcpy(said, walk->err->text, sizeof(said));
    return complain_at(walk, &node->start_mark, status == WEIR_NOTFOUND ? WEIR_INVALID : status,
                       said);
}

static weir_span scalar_text(const yaml_node_t *node)
{
    return (weir_span){(const char *)node->data.scalar.value, node->data.scalar.length};
}

static weir_status need_scalar(struct walk *walk, const yaml_node_t *node)
{
    return node->type == YAML_SCALAR_NODE ? WEIR_OK
                                          : complain_at(walk, &node->start_mark, WEIR_INVALID,
                                                        "a single value is wanted here");
}

/* A copy in the registry, which outlives the YAML. */
static weir_status keep_scalar(struct walk *walk, const yaml_node_t *node, weir_span *text)
{
    weir_status status = need_scalar(walk, node);
    if (status)
        return status;
    *text = wr_arena_copy(&walk->models->arena, scalar_text(node));
    return text->ptr ? WEIR_OK : wr_arena_status(&walk->models->arena);
}

static yaml_node_t *node_at(struct walk *walk, int index)
{
    return yaml_document_get_node(walk->doc, index);
}

static weir_status check_repeated(struct walk *walk, const yaml_node_t *mapping,
                                  const yaml_node_pair_t *pair)
{
    const yaml_node_t *key = node_at(walk, pair->key);
    for (const yaml_node_pair_t *p = mapping->data.mapping.pairs.start; p < pair; p++) {
        const yaml_node_t *earlier = node_at(walk, p->key);
        if (wr_same_any_case(scalar_text(earlier), scalar_text(key)))
            return complain_at(walk, &key->start_mark, WEIR_INVALID, "this key is here twice");
    }
    return WEIR_OK;
}

static weir_status each_member(struct walk *walk, yaml_node_t *mapping, member_fn *fn, void *user)
{
    if (mapping->type != YAML_MAPPING_NODE)
        return complain_at(walk, &mapping->start_mark, WEIR_INVALID,
                           "key: value pairs are wanted here");
    const yaml_node_pair_t *start = mapping->data.mapping.pairs.start;
    const yaml_node_pair_t *top = mapping->data.mapping.pairs.top;
    if (top - start > WR_MODELS_COUNT_MAX)
        return complain_at(walk, &mapping->start_mark, WEIR_LIMIT, "too many entries");
    for (const yaml_node_pair_t *pair = start; pair < top; pair++) {
        weir_status status = need_scalar(walk, node_at(walk, pair->key));
        if (!status)
            status = check_repeated(walk, mapping, pair);
        if (!status)
            status = fn(walk, user, node_at(walk, pair->key), node_at(walk, pair->value));
        if (status)
            return status;
    }
    return WEIR_OK;
}

static weir_status set_price(struct walk *walk, void *user, yaml_node_t *key, yaml_node_t *value)
{
    weir_status status = need_scalar(walk, value);
    if (!status)
        status = with_line(walk, key,
                           wr_prices_set(user, scalar_text(key), scalar_text(value), walk->err));
    return status;
}

static weir_status set_tier_field(struct walk *walk, void *user, yaml_node_t *key,
                                  yaml_node_t *value)
{
    struct wr_price_tier *tier = user;
    if (!wr_span_is(scalar_text(key), "above"))
        return set_price(walk, &tier->prices, key, value);
    weir_status status = need_scalar(walk, value);
    if (!status && !wr_token_count(scalar_text(value), &tier->above_tokens))
        status =
            complain_at(walk, &value->start_mark, WEIR_INVALID, "above must be a number of tokens");
    return status;
}

static weir_status set_tiers(struct walk *walk, struct wr_model *model, yaml_node_t *value)
{
    if (value->type != YAML_SEQUENCE_NODE)
        return complain_at(walk, &value->start_mark, WEIR_INVALID, "tiers must be a list");
    const yaml_node_item_t *item = value->data.sequence.items.start;
    const yaml_node_item_t *top = value->data.sequence.items.top;
    if (top - item > WR_MODEL_TIERS_MAX)
        return complain_at(walk, &value->start_mark, WEIR_LIMIT, "at most 4 tiers");
    model->tiers_count = 0;
    for (; item < top; item++) {
        struct wr_price_tier *tier = &model->tiers[model->tiers_count++];
        *tier = (struct wr_price_tier){.prices = wr_model_blank().prices};
        weir_status status = each_member(walk, node_at(walk, *item), set_tier_field, tier);
        if (!status && !tier->above_tokens)
            status = complain_at(walk, &node_at(walk, *item)->start_mark, WEIR_INVALID,
                                 "a tier needs `above: TOKENS`");
        if (status)
            return status;
    }
    return WEIR_OK;
}

static weir_status set_field(struct walk *walk, void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct wr_model *model = user;
    struct wr_rule_book book = wr_models_rule_book(walk->models);
    weir_span name = scalar_text(key), text;

    if (wr_span_is(name, "like"))
        return WEIR_OK; /* read before the others, wherever it stands */
    if (wr_span_is(name, "price"))
        return each_member(walk, value, set_price, &model->prices);
    if (wr_span_is(name, "tiers"))
        return set_tiers(walk, model, value);
    weir_status status = keep_scalar(walk, value, &text);
    if (!status)
        status = with_line(walk, key, wr_model_set(model, &book, name, text, walk->err));
    return status;
}

static yaml_node_t *find_member(struct walk *walk, const yaml_node_t *mapping, const char *name)
{
    if (mapping->type != YAML_MAPPING_NODE)
        return NULL;
    for (const yaml_node_pair_t *p = mapping->data.mapping.pairs.start;
         p < mapping->data.mapping.pairs.top; p++) {
        const yaml_node_t *key = node_at(walk, p->key);
        if (key->type == YAML_SCALAR_NODE && wr_span_is(scalar_text(key), name))
            return node_at(walk, p->value);
    }
    return NULL;
}

/* What a new model starts from: the model it is like, or what Weir would have believed of its
 * name. */
static weir_status starting_point(struct walk *walk, yaml_node_t *key, yaml_node_t *value,
                                  struct wr_model *model)
{
    yaml_node_t *like = find_member(walk, value, "like");
    struct wr_model_match match;

    if (like) {
        weir_status status = need_scalar(walk, like);
        if (status)
            return status;
        match = wr_models_lookup(walk->models, scalar_text(like));
        if (match.rule == WR_RULE_FALLBACK)
            return complain_at(walk, &like->start_mark, WEIR_INVALID,
                               "no model or family of this name");
    } else {
        match = wr_models_lookup(walk->models, scalar_text(key));
    }
    *model = *match.model;
    model->note = (weir_span){"", 0};
    return WEIR_OK;
}

/* Works on a copy: a registry under construction moves its models when one is added. */
static weir_status read_model(struct walk *walk, void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct wr_model *listed = wr_models_find_part(walk->models, scalar_text(key));
    struct wr_model model;
    weir_status status = WEIR_OK;

    (void)user;
    if (listed && find_member(walk, value, "like"))
        return complain_at(walk, &key->start_mark, WEIR_INVALID, "`like` is for new models only");
    if (listed)
        model = *listed;
    else
        status = starting_point(walk, key, value, &model);
    if (!status && !listed)
        status = keep_scalar(walk, key, &model.id);
    if (!status)
        status = each_member(walk, value, set_field, &model);
    if (!status)
        status = with_line(walk, key, wr_model_check(&model, walk->err));
    if (!status && !listed && walk->models->models_count >= WR_MODELS_COUNT_MAX)
        status = complain_at(walk, &key->start_mark, WEIR_LIMIT, "too many models");
    if (!status && !listed) {
        listed = wr_models_append(walk->models);
        status = listed ? WEIR_OK : wr_arena_status(&walk->models->arena);
    }
    model.overridden = true;
    model.is_window_set =
        find_member(walk, value, "window") || find_member(walk, value, "max_input");
    if (!status)
        *listed = model;
    return status;
}

static weir_status read_alias(struct walk *walk, void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct wr_models *models = walk->models;
    (void)user;
    weir_status status = need_scalar(walk, value);
    if (status)
        return status;
    if (wr_models_find(models, scalar_text(key)) || !scalar_text(key).len)
        return complain_at(walk, &key->start_mark, WEIR_INVALID,
                           "this is a model already: change it under `models:`");
    const struct wr_model *model = wr_models_find(models, scalar_text(value));
    if (!model || model < models->models || model >= models->models + models->models_count)
        return complain_at(walk, &value->start_mark, WEIR_INVALID, "no model has this id");

    struct wr_alias_part *alias = &models->aliases[models->aliases_count];
    alias->model = (uint32_t)(model - models->models);
    status = keep_scalar(walk, key, &alias->name);
    models->aliases_count += !status;
    return status;
}

static weir_status read_aliases(struct walk *walk, yaml_node_t *mapping)
{
    if (mapping->type != YAML_MAPPING_NODE)
        return complain_at(walk, &mapping->start_mark, WEIR_INVALID,
                           "aliases are `name: model id` pairs");
    size_t count = (size_t)(mapping->data.mapping.pairs.top - mapping->data.mapping.pairs.start);
    walk->models->aliases = WR_ARENA_ARRAY(&walk->models->arena, struct wr_alias_part, count);
    if (!walk->models->aliases)
        return wr_arena_status(&walk->models->arena);
    return each_member(walk, mapping, read_alias, NULL);
}

static weir_status check_section(struct walk *walk, void *user, yaml_node_t *key,
                                 yaml_node_t *value)
{
    weir_span name = scalar_text(key);
    (void)user;
    if (wr_span_is(name, "models") || wr_span_is(name, "aliases"))
        return WEIR_OK;
    if (wr_span_is(name, "model") || wr_span_is(name, "alias"))
        return complain_at(walk, &key->start_mark, WEIR_INVALID,
                           "did you mean `models` or `aliases`?");
    if (wr_span_is(name, "schema") && !walk->shared_file)
        return value->type == YAML_SCALAR_NODE && wr_span_is(scalar_text(value), "1")
                   ? WEIR_OK
                   : complain_at(walk, &value->start_mark, WEIR_INVALID,
                                 "schema 1 is the one read here");
    if (walk->shared_file)
        return WEIR_OK;
    return complain_at(walk, &key->start_mark, WEIR_INVALID,
                       "the sections are `schema`, `models` and `aliases`");
}

static weir_status read_document(struct walk *walk)
{
    yaml_node_t *root = yaml_document_get_root_node(walk->doc);
    if (!root)
        return WEIR_OK; /* an empty file changes nothing */
    weir_status status = each_member(walk, root, check_section, NULL);
    yaml_node_t *models = find_member(walk, root, "models");
    yaml_node_t *aliases = find_member(walk, root, "aliases");
    /* Models first, whatever their place in the file: an alias may name a new one. */
    if (!status && models)
        status = each_member(walk, models, read_model, NULL);
    if (!status && aliases)
        status = read_aliases(walk, aliases);
    return status;
}

static weir_status fail_overrides(const yaml_parser_t *parser, struct weir_err *err)
{
    yaml_mark_t mark = parser->problem_mark;
    /* libyaml does not always report that it ran out of memory. But it names every other problem,
     * so an error without a problem is one of memory. */
    if (parser->error == YAML_MEMORY_ERROR || !parser->problem)
        return wr_fail(err, WEIR_NOMEM, 0, "no memory for the overrides");
    if (parser->error == YAML_READER_ERROR)
        return wr_fail(err, WEIR_SYNTAX, parser->problem_offset, "byte %zu: %s",
                       parser->problem_offset, parser->problem);
    return wr_fail(err, WEIR_SYNTAX, mark.index, "line %zu, column %zu: %s", mark.line + 1,
                   mark.column + 1, parser->problem);
}

weir_status wr_models_read_yaml(struct wr_models *models, weir_span text, bool shared_file,
                                struct weir_err *err)
{
    yaml_parser_t parser;
    yaml_document_t doc;

    if (text.len > WR_MODELS_OVERRIDE_BYTES_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "overrides have at most %d bytes",
                       WR_MODELS_OVERRIDE_BYTES_MAX);
    if (!yaml_parser_initialize(&parser))
        return wr_fail(err, WEIR_NOMEM, 0, "no memory for the overrides");
    yaml_parser_set_input_string(&parser, (const unsigned char *)text.ptr, text.len);
    if (!yaml_parser_load(&parser, &doc)) {
        weir_status status = fail_overrides(&parser, err);
        yaml_parser_delete(&parser);
        return status;
    }
    struct walk walk = {models, &doc, shared_file, err};
    weir_status status = read_document(&walk);
    yaml_document_delete(&doc);
    yaml_parser_delete(&parser);
    return status;
}
