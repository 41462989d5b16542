#include "base/span.h"
#include "proxy/credential.h"
#include "proxy/places.h"

enum { MEMBERS_MAX = 8 };

struct reading {
    struct wr_config *config;
    struct wr_yaml *yaml;
    struct wr_upstream *place;
    bool has_address, has_key;
};

static weir_status read_weight(struct reading *r, yaml_node_t *value)
{
    uint64_t weight;

    if (!wr_span_u64(wr_yaml_text(value), &weight) || !weight || weight > WR_PROXY_WEIGHT_MAX)
        return wr_yaml_fail(r->yaml, value, WEIR_INVALID, "a weight is from 1 to %d",
                            WR_PROXY_WEIGHT_MAX);
    r->place->weight = (uint32_t)weight;
    return WEIR_OK;
}

static weir_status read_name(struct reading *r, yaml_node_t *value)
{
    weir_span text = wr_yaml_text(value);

    if (!text.len)
        return wr_yaml_fail(r->yaml, value, WEIR_INVALID, "a name is wanted here");
    r->place->place_name = wr_arena_string(&r->config->arena, text);
    return r->place->place_name ? WEIR_OK : WEIR_NOMEM;
}

static weir_status on_place_member(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reading *r = user;
    weir_span name = wr_yaml_text(key);

    if (wr_span_is(name, "base_url")) {
        r->has_address = true;
        weir_status status = wr_config_set_url(r->config, r->place, wr_yaml_text(value));
        return status == WEIR_INVALID
                   ? wr_yaml_fail(r->yaml, value, status,
                                  "base_url is http://HOST[:PORT][/PATH] or https://...")
                   : status;
    }
    if (wr_span_is(name, "key") || wr_span_is(name, "sign")) {
        r->has_key = true;
        r->place->key = r->place->key_header = NULL;
        r->place->aws = NULL;
        return wr_span_is(name, "key") ? wr_upstream_key_read(r->config, r->yaml, value, r->place)
                                       : wr_upstream_sign_read(r->config, r->yaml, value, r->place);
    }
    if (wr_span_is(name, "weight"))
        return read_weight(r, value);
    if (wr_span_is(name, "name"))
        return read_name(r, value);
    return wr_yaml_fail(r->yaml, key, WEIR_INVALID,
                        "a place has base_url, key, sign, weight and name, not '%.*s'",
                        (int)name.len, name.ptr);
}

/* A key is for the host that it was named with. */
static weir_status read_place(struct reading *r, yaml_node_t *node)
{
    weir_status status = wr_yaml_each(r->yaml, node, MEMBERS_MAX, on_place_member, r);

    if (status)
        return status;
    if (!r->has_address && !r->has_key)
        return wr_yaml_fail(r->yaml, node, WEIR_INVALID,
                            "a place has a base_url or a key of its own, or both");
    if (r->has_address && !r->has_key && wr_upstream_has_key(r->place))
        return wr_yaml_fail(r->yaml, node, WEIR_INVALID,
                            "a place with a base_url of its own has a key of its own too: that of "
                            "the upstream is for another host");
    return WEIR_OK;
}

weir_status wr_places_read(struct wr_config *config, struct wr_yaml *yaml, yaml_node_t *list,
                           struct wr_upstream *upstream)
{
    static const char *const numbers[WR_PROXY_PLACES_MAX] = {"1", "2", "3", "4",
                                                             "5", "6", "7", "8"};
    size_t count = 0;

    if (list->type == YAML_SEQUENCE_NODE)
        count = (size_t)(list->data.sequence.items.top - list->data.sequence.items.start);
    if (!count || count >= WR_PROXY_PLACES_MAX)
        return wr_yaml_fail(yaml, list, WEIR_INVALID,
                            "a list of 1 to %d more places is wanted here",
                            WR_PROXY_PLACES_MAX - 1);
    struct wr_upstream *places = wr_arena_alloc(&config->arena, (count + 1) * sizeof(*places));
    if (!places)
        return WEIR_NOMEM;
    places[0] = *upstream;
    places[0].place_name = numbers[0];
    places[0].weight = upstream->weight ? upstream->weight : 1;
    for (size_t i = 1; i <= count; i++) {
        struct reading r = {.config = config, .yaml = yaml, .place = &places[i]};
        places[i] = places[0];
        places[i].weight = 1;
        places[i].place_name = numbers[i];
        weir_status status = read_place(
            &r, yaml_document_get_node(&yaml->doc, list->data.sequence.items.start[i - 1]));
        if (status)
            return status;
    }
    upstream->places = places;
    upstream->places_count = count + 1;
    return WEIR_OK;
}
